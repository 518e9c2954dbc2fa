//! Which encoder: the `[encoder]` table of a configuration.

use std::path::Path;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::bert::is_cpu;
use crate::math::Precision;
use crate::source::{Source, hub_name};
use crate::{BertEncoder, Encoder, EncoderError, Shipped, StaticEncoder, shipped_for};

/// The kinds of encoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EncoderKind {
    /// A BERT-family sentence encoder in Hugging Face layout.
    Bert,
    /// A table of token vectors.
    #[default]
    Static,
}

/// Which encoder to use and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderConfig {
    /// The kind of encoder; `static` by default.
    pub kind: EncoderKind,
    /// A directory, or a hub name: a string with exactly one `/` that is no directory here. Empty
    /// stands for the static encoder that comes with the project.
    pub model: String,
    /// Branch, tag or commit of a hub name; `main` by default.
    pub revision: String,
    /// The numbers that a `bert` encoder's linear maps are computed with.
    pub precision: Precision,
    /// Tokens of a text that count, the model's special tokens included; the model's own limit
    /// holds where it is lower.
    pub max_tokens: usize,
    /// Tokens that one thread takes through a `bert` encoder at a time; a GPU takes 32 times as
    /// many. Sets memory and speed; the vectors stay the same within 1e-5.
    pub batch_tokens: usize,
}

impl Default for EncoderConfig {
    fn default() -> Self {
        Self {
            kind: EncoderKind::default(),
            model: String::new(),
            revision: "main".to_owned(),
            precision: Precision::default(),
            max_tokens: 128,
            batch_tokens: 512,
        }
    }
}

/// Opens the encoder that `config` names, on the CPU.
///
/// # Errors
///
/// A value out of range, a directory or file that is not there, a file that is not what it should
/// be, a hub that does not answer: each says what was read, where, and what was expected.
pub fn load(config: &EncoderConfig) -> Result<Box<dyn Encoder>, EncoderError> {
    load_on(config, &Device::flex())
}

/// Opens the encoder that `config` names: a `bert` encoder on `device`, a `static` one on the CPU,
/// where a look-up is quickest. The vectors and the identity do not depend on the device, but for
/// 1e-5 a component.
///
/// # Errors
///
/// As [`load`]; a setting that is for the CPU alone with another device.
pub fn load_on(config: &EncoderConfig, device: &Device) -> Result<Box<dyn Encoder>, EncoderError> {
    load_with(config, device, !is_cpu(device), None)
}

/// As [`load_on`] for a checkpoint: beside it the encoder that comes with the project is looked for first.
///
/// # Errors
///
/// As [`load_on`].
pub fn load_for(config: &EncoderConfig, device: &Device, checkpoint: &Path) -> Result<Box<dyn Encoder>, EncoderError> {
    load_with(config, device, !is_cpu(device), Some(checkpoint))
}

/// As [`load`], with a `bert` encoder's forward pass in tensors, as it is on a GPU: for comparing
/// the two on one machine.
///
/// # Errors
///
/// As [`load_on`] for a GPU.
pub fn load_in_tensors(config: &EncoderConfig) -> Result<Box<dyn Encoder>, EncoderError> {
    load_with(config, &Device::flex(), true, None)
}

fn load_with(
    config: &EncoderConfig,
    device: &Device,
    in_tensors: bool,
    checkpoint: Option<&Path>,
) -> Result<Box<dyn Encoder>, EncoderError> {
    let refused =
        |key, value: String, expected: &str| Err(EncoderError::Config { key, value, expected: expected.to_owned() });
    for (key, value) in [("max_tokens", config.max_tokens), ("batch_tokens", config.batch_tokens)] {
        if value == 0 {
            return refused(key, value.to_string(), "expected at least 1");
        }
    }
    if config.precision == Precision::Int8 && (config.kind != EncoderKind::Bert || in_tensors) {
        let expected = "int8 is for encoder.kind = \"bert\" on the CPU; expected \"f32\"";
        return refused("precision", "\"int8\"".to_owned(), expected);
    }
    match config.kind {
        EncoderKind::Static => {
            let source = match config.model.as_str() {
                "" => Source::directory(&shipped_for(Shipped::StaticEncoder, checkpoint)?),
                _ => source(config, "static", checkpoint)?,
            };
            Ok(Box::new(StaticEncoder::open(&source, config.max_tokens)?))
        }
        EncoderKind::Bert => {
            let source = source(config, "bert", checkpoint)?;
            Ok(Box::new(BertEncoder::open(&source, config, device, in_tensors)?))
        }
    }
}

/// The `tokenizer.json` of the `bert` encoder that `config` names, as for one that is distilled
/// from it.
///
/// # Errors
///
/// As [`load`] for a model whose files are not there.
pub fn tokenizer_json(config: &EncoderConfig) -> Result<Vec<u8>, EncoderError> {
    Ok(source(config, "bert", None)?.read("bert", "tokenizer.json")?.1)
}

/// The project's folder of encoders that `tools/scripts/fetch_encoder.sh` brings; no owner of repositories of the hub.
const BROUGHT: &str = "encoders";

fn source(config: &EncoderConfig, kind: &'static str, checkpoint: Option<&Path>) -> Result<Source, EncoderError> {
    let path = Path::new(&config.model);
    if path.is_dir() {
        return Ok(Source::directory(path));
    }
    if path.starts_with(BROUGHT) {
        // Beside the folder of the checkpoints, wherever the program runs.
        let project = checkpoint.and_then(|checkpoint| checkpoint.parent()?.parent());
        let brought = project.map(|project| project.join(path)).filter(|path| path.is_dir());
        let missing = || EncoderError::NotBrought { path: path.to_owned() };
        return brought.map(|path| Source::directory(&path)).ok_or_else(missing);
    }
    match hub_name(&config.model) {
        Some((owner, name)) => Source::hub(owner, name, &config.revision, "encoder.model"),
        _ if config.model.is_empty() => Err(EncoderError::Config {
            key: "model",
            value: "\"\"".to_owned(),
            expected: "a bert encoder does not come with the project; expected a directory, or a hub name such as \"sentence-transformers/all-MiniLM-L6-v2\"".to_owned(),
        }),
        _ => Err(EncoderError::NoDirectory { path: path.to_owned(), kind }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_refused_and_the_default_is_the_shipped_encoder() {
        let error = serde_json::from_str::<EncoderConfig>(r#"{"modle": "x"}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `modle`"), "{error}");
        let config: EncoderConfig = serde_json::from_str("{}").unwrap();
        assert_eq!(config, EncoderConfig::default());
        assert_eq!((config.kind, config.model.as_str()), (EncoderKind::Static, ""));
    }

    fn refused(config: EncoderConfig) -> String {
        load(&config).err().expect("an error").to_string()
    }

    #[test]
    fn a_limit_of_zero_and_a_bert_encoder_without_a_model_are_refused() {
        let zero = refused(EncoderConfig { max_tokens: 0, ..EncoderConfig::default() });
        assert_eq!(zero, "encoder.max_tokens = 0: expected at least 1");
        let nameless = refused(EncoderConfig { kind: EncoderKind::Bert, ..EncoderConfig::default() });
        assert!(nameless.contains("encoder.model = \"\""), "{nameless}");
    }

    #[test]
    fn an_encoder_that_is_brought_is_looked_for_beside_the_checkpoints_too() {
        let project = tempfile::tempdir().unwrap();
        let checkpoint = project.path().join("checkpoints/reports");
        let config =
            EncoderConfig { kind: EncoderKind::Bert, model: "encoders/mini".to_owned(), ..EncoderConfig::default() };
        let refused = || load_for(&config, &Device::flex(), &checkpoint).err().expect("an error").to_string();
        let missing = refused();
        assert!(missing.starts_with("encoders/mini: there is no such directory"), "{missing}");
        assert!(missing.contains("bash tools/scripts/fetch_encoder.sh encoders/all-MiniLM-L6-v2"), "{missing}");
        let brought = project.path().join("encoders/mini");
        std::fs::create_dir_all(&brought).unwrap();
        assert!(refused().starts_with(&format!("{}: there is no config.json", brought.display())), "{}", refused());
    }

    #[test]
    fn a_missing_path_is_not_taken_for_a_hub_name() {
        for model in ["./models/minilm", "../minilm", "/no/such/place", "minilm"] {
            let error =
                refused(EncoderConfig { kind: EncoderKind::Bert, model: model.to_owned(), ..EncoderConfig::default() });
            assert!(error.starts_with(&format!("{model}: there is no such directory")), "{error}");
        }
    }
}
