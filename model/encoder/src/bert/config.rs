//! `config.json` of a BERT-family model.

use std::path::Path;

use serde::Deserialize;

use crate::EncoderError;
use crate::math::Activation;

/// The shapes and settings of a model, under one name for all architectures.
#[derive(Debug)]
pub(crate) struct ModelConfig {
    pub(crate) family: Family,
    pub(crate) vocab: usize,
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) layers: usize,
    /// Width of the feed-forward layer.
    pub(crate) inner: usize,
    /// Rows of the position embedding.
    pub(crate) position_rows: usize,
    /// Row of the position embedding that the first token has.
    pub(crate) first_position: usize,
    /// Rows of the token-type embedding; 0 where there is none.
    pub(crate) types: usize,
    pub(crate) activation: Activation,
    pub(crate) eps: f32,
}

/// How an architecture names its tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Family {
    /// BERT, RoBERTa and their kin.
    Bert,
    /// DistilBERT.
    DistilBert,
}

#[derive(Deserialize)]
struct File {
    model_type: Option<String>,
    vocab_size: usize,
    #[serde(alias = "dim")]
    hidden_size: usize,
    #[serde(alias = "n_heads")]
    num_attention_heads: usize,
    #[serde(alias = "n_layers")]
    num_hidden_layers: usize,
    #[serde(alias = "hidden_dim")]
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default)]
    type_vocab_size: usize,
    #[serde(alias = "activation")]
    hidden_act: String,
    layer_norm_eps: Option<f64>,
    pad_token_id: Option<usize>,
    position_embedding_type: Option<String>,
}

impl ModelConfig {
    /// Reads `bytes`, the content of `path`.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, EncoderError> {
        let malformed = |reason: String| EncoderError::Malformed { path: path.to_owned(), reason };
        let file: File = serde_json::from_slice(bytes)
            .map_err(|error| malformed(format!("not the config of a BERT-family model: {error}")))?;
        let model_type = file.model_type.as_deref().unwrap_or("bert");
        let family = match model_type {
            "bert" | "roberta" | "xlm-roberta" | "camembert" => Family::Bert,
            "distilbert" => Family::DistilBert,
            other => {
                return Err(malformed(format!(
                    "model_type {other:?} is not supported; supported are bert, roberta, xlm-roberta, camembert and distilbert"
                )));
            }
        };
        match file.position_embedding_type.as_deref() {
            None | Some("absolute") => {}
            Some(other) => {
                return Err(malformed(format!(
                    "position_embedding_type {other:?} is not supported; expected \"absolute\""
                )));
            }
        }
        let activation = match file.hidden_act.as_str() {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            other => {
                return Err(malformed(format!(
                    "activation {other:?} is not supported; supported are gelu, gelu_new, gelu_pytorch_tanh, gelu_fast and relu"
                )));
            }
        };
        // RoBERTa counts positions from after the padding token's number.
        let first_position = match model_type {
            "bert" | "distilbert" => 0,
            _ => file.pad_token_id.unwrap_or(1) + 1,
        };
        let sizes = [
            ("hidden_size", file.hidden_size),
            ("num_attention_heads", file.num_attention_heads),
            ("intermediate_size", file.intermediate_size),
            ("vocab_size", file.vocab_size),
        ];
        if let Some((name, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(malformed(format!("{name} is 0; expected at least 1")));
        }
        if !file.hidden_size.is_multiple_of(file.num_attention_heads) {
            return Err(malformed(format!(
                "hidden_size {} is no multiple of num_attention_heads {}",
                file.hidden_size, file.num_attention_heads
            )));
        }
        if file.max_position_embeddings <= first_position {
            return Err(malformed(format!(
                "max_position_embeddings {} leaves no position; the first token's is {first_position}",
                file.max_position_embeddings
            )));
        }
        Ok(Self {
            family,
            vocab: file.vocab_size,
            hidden: file.hidden_size,
            heads: file.num_attention_heads,
            layers: file.num_hidden_layers,
            inner: file.intermediate_size,
            position_rows: file.max_position_embeddings,
            first_position,
            types: if family == Family::Bert { file.type_vocab_size } else { 0 },
            activation,
            eps: file.layer_norm_eps.unwrap_or(1e-12) as f32,
        })
    }

    /// Tokens that have a position.
    pub(crate) fn positions(&self) -> usize {
        self.position_rows - self.first_position
    }
}
