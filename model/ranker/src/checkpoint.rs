//! Checkpoints: a directory with `model.safetensors`, `config.toml`, `manifest.json` and
//! `README.md`; `model-1.safetensors` and so on where several models score together, and `reranker.safetensors` where the
//! ranker has a reranker.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use tabsegnet_graph::{GraphError, NodeKind, TypeNames};
use tabsegnet_store::{FileError, Staging, read_bytes, read_text, sha256_file, write_bytes_atomic};

use crate::config::ModelConfig;
use crate::reranker::Reranker;
use crate::scorer::TabSegNet;
use crate::tensors::{NamedTensors, serialize};

/// The format this program writes and reads. 2: the words of docs/glossary.md, edge types by name, trees with integers.
pub const FORMAT_VERSION: u32 = 2;

const MODEL: &str = "model.safetensors";
const RERANKER: &str = "reranker.safetensors";

/// File of the `number`th model beside the first.
fn more(number: usize) -> String {
    format!("model-{number}.safetensors")
}

const CONFIG: &str = "config.toml";
const MANIFEST: &str = "manifest.json";
const CARD: &str = "README.md";

/// What a checkpoint says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] at writing.
    pub format_version: u32,
    /// SHA-256 of each other file, as `sha256sum` prints it.
    pub files: BTreeMap<String, String>,
    /// The model's settings, widths filled in.
    pub model: ModelConfig,
    /// Width of the encoder's vectors.
    pub d_enc: usize,
    /// Identity of the encoder whose vectors the model reads.
    pub encoder: String,
    /// Identity of the segmenter.
    pub segmenter: String,
    /// Identity of the word vectors that its features use; empty without.
    #[serde(default)]
    pub words: String,
    /// Node kinds by name, in the order of their numbers.
    pub node_kinds: Vec<String>,
    /// Edge types that the weights were trained with, by name, in the order of the rows of `R`. They are mapped onto
    /// a graph's by name; edges of a type that is not here carry no message, as if they were not there.
    pub edge_types: Vec<String>,
    /// SHA-256 of the weights that the training began with; empty where they were random.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub started_from: String,
    /// Whether a reranker is to follow that is not trained yet: the training goes on, or broke off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reranker_pending: bool,
    /// Seed of the training.
    pub seed: u64,
    /// Epoch of these weights, from 1.
    pub epoch: usize,
    /// Digests of the prepared data, by part.
    pub data: BTreeMap<String, String>,
    /// Measures on the dev part, by name.
    pub dev: BTreeMap<String, f64>,
}

impl Manifest {
    /// A manifest for weights that nothing was measured of yet.
    pub fn new(model: &ModelConfig, d_enc: usize, encoder: &str, segmenter: &str, seed: u64) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            files: BTreeMap::new(),
            model: model.resolved(),
            d_enc,
            encoder: encoder.to_owned(),
            segmenter: segmenter.to_owned(),
            words: String::new(),
            node_kinds: node_kinds(),
            edge_types: model.edge_type_names.iter().map(str::to_owned).collect(),
            started_from: String::new(),
            reranker_pending: false,
            seed,
            epoch: 0,
            data: BTreeMap::new(),
            dev: BTreeMap::new(),
        }
    }

    /// SHA-256 of the weights; empty before they are written.
    pub fn weights(&self) -> &str {
        self.files.get(MODEL).map_or("", String::as_str)
    }
}

fn node_kinds() -> Vec<String> {
    NodeKind::ALL.iter().map(|kind| kind.name().to_owned()).collect()
}

/// The edge types of a manifest. All must be known: what a program does not know it cannot put into a graph, and the
/// name is misspelt or the program older than the checkpoint.
fn known_edge_types(names: &[String]) -> Result<TypeNames, GraphError> {
    let known = TypeNames::default();
    names.iter().try_for_each(|name| known.number(name).map(drop))?;
    TypeNames::new(names)
}

/// A checkpoint could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A file is missing or cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file's content is not what it should be.
    #[error("{file}: {message}")]
    Content {
        /// The file.
        file: String,
        /// What was expected, what was found, what to do.
        message: String,
    },
}

pub(crate) fn content(path: &Path, message: impl Into<String>) -> CheckpointError {
    CheckpointError::Content { file: path.display().to_string(), message: message.into() }
}

/// A checkpoint read back.
#[derive(Debug)]
pub struct Checkpoint {
    /// Where it was read from.
    pub directory: PathBuf,
    /// The model on the device that was requested.
    pub model: TabSegNet,
    /// Models that score beside it: a node's score is the mean.
    pub others: Vec<TabSegNet>,
    /// What looks at the best nodes again, where the ranker has it.
    pub reranker: Option<Reranker>,
    /// What it says of itself.
    pub manifest: Manifest,
    /// The whole config of the training, as TOML.
    pub config: String,
}

impl Checkpoint {
    /// What a user should know who ranks with it before its training has ended.
    pub fn warning(&self) -> Option<String> {
        self.manifest.reranker_pending.then(|| {
            format!(
                "{} is a checkpoint of a training that has not ended: it ranks without the reranker that its config asks for; \
                 wait for the end, or go on with train --resume",
                self.directory.display()
            )
        })
    }
}

/// Writes a checkpoint whole, in place of one that stands there.
pub fn write(
    directory: &Path,
    model: &TabSegNet,
    others: &[TabSegNet],
    reranker: Option<&Reranker>,
    mut manifest: Manifest,
    config: &str,
    card: &str,
) -> Result<(), CheckpointError> {
    let staging = Staging::new(directory)?;
    let at = |name: &str| staging.path().join(name);
    let others: Vec<(String, &TabSegNet)> = (1..).map(more).zip(others).collect();
    write_model(&at(MODEL), model)?;
    others.iter().try_for_each(|(name, other)| write_model(&at(name), other))?;
    write_bytes_atomic(&at(CONFIG), config.as_bytes())?;
    write_bytes_atomic(&at(CARD), card.as_bytes())?;
    if let Some(reranker) = reranker {
        reranker.write(&at(RERANKER))?;
    }
    manifest.files.clear();
    let others = others.iter().map(|(name, _)| name.as_str());
    let written = [MODEL, CONFIG, CARD].into_iter().chain(others).chain(reranker.map(|_| RERANKER));
    for name in written {
        manifest.files.insert(name.to_owned(), sha256_file(&at(name))?);
    }
    let json = serde_json::to_string_pretty(&manifest)
        .map_err(|error| content(&at(MANIFEST), format!("cannot be written: {error}")))?;
    write_bytes_atomic(&at(MANIFEST), json.as_bytes())?;
    Ok(staging.commit()?)
}

/// Reads a checkpoint onto a device and checks everything in it.
///
/// # Errors
/// A missing file; another format version; a digest that does not fit; weights that are cut
/// short, of another shape or not finite; node kinds or edge types that this program does not know.
pub fn read(directory: &Path, device: &Device) -> Result<Checkpoint, CheckpointError> {
    let at = |name: &str| directory.join(name);
    if !directory.is_dir() {
        return Err(content(directory, "is no directory; expected a checkpoint, such as `train` writes"));
    }
    let path = at(MANIFEST);
    let other_task = setting_of(directory, "task", "kind").filter(|kind| kind != "ranker");
    if let (false, Some(kind)) = (path.exists(), other_task) {
        let expected = "expected a ranker's, such as checkpoints/general";
        return Err(content(directory, format!("is a checkpoint of the task {kind:?}; {expected}")));
    }
    if !path.exists() {
        let expected = "expected a checkpoint as `train` writes it, such as checkpoints/general";
        return Err(content(&path, format!("could not read: there is no such file; {expected}")));
    }
    let text = read_text(&path)?;
    check_version(directory, &path, &text)?;
    let mut manifest: Manifest = serde_json::from_str(&text)
        .map_err(|error| content(&path, format!("is no manifest of a checkpoint: {error}")))?;
    let has_reranker = manifest.files.contains_key(RERANKER);
    let others: Vec<String> = (1..).map(more).take_while(|name| manifest.files.contains_key(name)).collect();
    let named = others.iter().map(String::as_str).chain(has_reranker.then_some(RERANKER));
    for name in [MODEL, CONFIG].into_iter().chain(named) {
        let (found, expected) = (sha256_file(&at(name))?, manifest.files.get(name));
        if expected != Some(&found) {
            let expected = expected.map_or("none", String::as_str);
            return Err(content(
                &at(name),
                format!(
                    "has SHA-256 {found}, but {MANIFEST} says {expected}; the file is damaged or was changed, copy the checkpoint again"
                ),
            ));
        }
    }
    let known = node_kinds();
    if manifest.node_kinds.iter().any(|kind| !known.contains(kind)) {
        return Err(content(&path, "names node kinds that this version does not have; use the version that wrote it"));
    }
    manifest.model.edge_type_names = known_edge_types(&manifest.edge_types)
        .map_err(|error| content(&path, format!("edge_types: {error}; use the version that wrote it")))?;
    let path = at(MODEL);
    let tensors = NamedTensors::read(&path, &read_bytes(&path)?)?;
    manifest.model.features =
        tensors.floats("node_init.C_f").map_or(0, |(shape, _)| shape.first().copied().unwrap_or(0));
    manifest.model.table_scorer = tensors.floats("table_scorer.W_1").is_ok();
    let model = build(&path, &tensors, &manifest.model, manifest.d_enc, device)?;
    let read_other = |name: &String| read_model(&at(name), &manifest.model, manifest.d_enc, device);
    let others = others.iter().map(read_other).collect::<Result<_, _>>()?;
    let reranker = match has_reranker {
        true => Some(Reranker::read(&at(RERANKER), manifest.model.features)?),
        false => None,
    };
    let config = read_text(&at(CONFIG))?;
    Ok(Checkpoint { directory: directory.to_owned(), model, others, reranker, manifest, config })
}

/// Looked at first, since another version may have other fields.
fn check_version(directory: &Path, path: &Path, text: &str) -> Result<(), CheckpointError> {
    #[derive(Deserialize)]
    struct Version {
        format_version: u32,
        /// Of what else has manifests; a ranker's has no kind.
        kind: Option<String>,
    }
    let Version { format_version, kind } = serde_json::from_str(text)
        .map_err(|error| content(path, format!("is no manifest of a checkpoint: {error}")))?;
    if let Some(kind) = kind {
        return Err(content(path, format!("is that of a {kind}; expected a ranker's, such as `train` writes")));
    }
    match format_version.cmp(&FORMAT_VERSION) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(content(
            path,
            format!(
                "has format version {format_version}, this program reads {FORMAT_VERSION}: it is an old checkpoint; make \
                 a new one with: train --config configs/{}.toml",
                config_of(directory)
            ),
        )),
        Ordering::Greater => Err(content(
            path,
            format!(
                "has format version {format_version}, this program reads {FORMAT_VERSION}; use the version that wrote it"
            ),
        )),
    }
}

/// Name of the config that trains a ranker for the data that an old checkpoint was trained on.
fn config_of(directory: &Path) -> String {
    let kind = setting_of(directory, "data", "kind").unwrap_or_default();
    match kind.as_str() {
        "aitqa" | "finqa" | "hitab" | "hybridqa" | "ixbrl" | "multihiertt" | "tatqa" => kind,
        "synthetic" => "quickstart".to_owned(),
        _ => "general".to_owned(),
    }
}

/// A text of a checkpoint's config, whose other keys may be other ones today.
fn setting_of(directory: &Path, section: &str, key: &str) -> Option<String> {
    let text = read_text(&directory.join(CONFIG)).ok()?;
    let header = format!("[{section}]");
    let lines = text.lines().map(str::trim).skip_while(|line| *line != header).skip(1);
    let mut settings = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    let (_, value) = settings.find(|(name, _)| name.trim() == key)?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

/// Writes a model's parameters alone.
pub fn write_model(path: &Path, model: &TabSegNet) -> Result<(), CheckpointError> {
    Ok(write_bytes_atomic(path, &serialize(&model.parameters(), path)?)?)
}

/// Reads a model's parameters onto a device.
///
/// # Errors
/// A file that is cut short, lacks a tensor, or holds one of another shape or with a number that
/// is not finite.
pub fn read_model(
    path: &Path,
    config: &ModelConfig,
    d_enc: usize,
    device: &Device,
) -> Result<TabSegNet, CheckpointError> {
    build(path, &NamedTensors::read(path, &read_bytes(path)?)?, config, d_enc, device)
}

fn build(
    path: &Path,
    tensors: &NamedTensors,
    config: &ModelConfig,
    d_enc: usize,
    device: &Device,
) -> Result<TabSegNet, CheckpointError> {
    TabSegNet::build(config, d_enc, &mut |name, shape| {
        let (found, values) = tensors.floats(name).map_err(|message| content(path, message))?;
        if found != shape {
            return Err(content(path, format!("tensor {name} has shape {found:?}, expected {shape:?}")));
        }
        if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
            return Err(content(
                path,
                format!("tensor {name} holds {} at position {bad}; expected finite numbers", values[bad]),
            ));
        }
        Ok(Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device))
    })
}

#[cfg(test)]
mod tests;
