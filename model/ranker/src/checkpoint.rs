//! Checkpoints: a directory with `model.safetensors`, `config.toml`, `manifest.json` and
//! `README.md`, and `reranker.safetensors` where the ranker has a reranker.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use tabsegnet_graph::{EdgeType, NodeKind};
use tabsegnet_store::{FileError, Staging, read_bytes, read_text, sha256_file, write_bytes_atomic};

use crate::config::ModelConfig;
use crate::reranker::Reranker;
use crate::scorer::TabSegNet;

/// The format this program writes and reads.
pub const FORMAT_VERSION: u32 = 1;

const MODEL: &str = "model.safetensors";
const RERANKER: &str = "reranker.safetensors";
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
    /// Edge types by name, in the order of the rows of `R`.
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
            edge_types: edge_types(),
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

fn edge_types() -> Vec<String> {
    EdgeType::ALL.iter().map(|edge_type| edge_type.name().to_owned()).collect()
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

fn content(path: &Path, message: impl Into<String>) -> CheckpointError {
    CheckpointError::Content { file: path.display().to_string(), message: message.into() }
}

/// A checkpoint read back.
#[derive(Debug)]
pub struct Checkpoint {
    /// Where it was read from.
    pub directory: PathBuf,
    /// The model on the device that was requested.
    pub model: TabSegNet,
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
    reranker: Option<&Reranker>,
    mut manifest: Manifest,
    config: &str,
    card: &str,
) -> Result<(), CheckpointError> {
    let staging = Staging::new(directory)?;
    let at = |name: &str| staging.path().join(name);
    write_model(&at(MODEL), model)?;
    write_bytes_atomic(&at(CONFIG), config.as_bytes())?;
    write_bytes_atomic(&at(CARD), card.as_bytes())?;
    if let Some(reranker) = reranker {
        reranker.write(&at(RERANKER))?;
    }
    manifest.files.clear();
    let written = [MODEL, CONFIG, CARD].into_iter().chain(reranker.map(|_| RERANKER));
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
/// short, of another shape or not finite; node kinds or edge types that this program does not have.
pub fn read(directory: &Path, device: &Device) -> Result<Checkpoint, CheckpointError> {
    let at = |name: &str| directory.join(name);
    if !directory.is_dir() {
        return Err(content(directory, "is no directory; expected a checkpoint, such as `train` writes"));
    }
    let path = at(MANIFEST);
    let text = read_text(&path)?;
    check_version(&path, &text)?;
    let manifest: Manifest = serde_json::from_str(&text)
        .map_err(|error| content(&path, format!("is no manifest of a checkpoint: {error}")))?;
    let has_reranker = manifest.files.contains_key(RERANKER);
    for name in [MODEL, CONFIG].into_iter().chain(has_reranker.then_some(RERANKER)) {
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
    if manifest.node_kinds != node_kinds() || manifest.edge_types != edge_types() {
        return Err(content(
            &path,
            "names node kinds or edge types that this version does not have; use the version that wrote it",
        ));
    }
    let model = read_model(&at(MODEL), &manifest.model, manifest.d_enc, device)?;
    let reranker = match has_reranker {
        true => Some(Reranker::read(&at(RERANKER), manifest.model.features)?),
        false => None,
    };
    let config = read_text(&at(CONFIG))?;
    Ok(Checkpoint { directory: directory.to_owned(), model, reranker, manifest, config })
}

/// Looked at first, since another version may have other fields.
fn check_version(path: &Path, text: &str) -> Result<(), CheckpointError> {
    #[derive(Deserialize)]
    struct Version {
        format_version: u32,
    }
    let Version { format_version } = serde_json::from_str(text)
        .map_err(|error| content(path, format!("is no manifest of a checkpoint: {error}")))?;
    if format_version != FORMAT_VERSION {
        return Err(content(
            path,
            format!(
                "has format version {format_version}, this program reads {FORMAT_VERSION}; use the version that wrote it, or train again"
            ),
        ));
    }
    Ok(())
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
    let bytes = read_bytes(path)?;
    let tensors = deserialize(path, &bytes)?;
    TabSegNet::build(config, d_enc, &mut |name, shape| {
        let (found, values) = tensors.get(name).ok_or_else(|| content(path, format!("has no tensor {name}")))?;
        if found != shape {
            return Err(content(path, format!("tensor {name} has shape {found:?}, expected {shape:?}")));
        }
        if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
            return Err(content(
                path,
                format!("tensor {name} holds {} at position {bad}; expected finite numbers", values[bad]),
            ));
        }
        Ok(Tensor::from_data(TensorData::new(values.clone(), [values.len()]), device))
    })
}

/// Named f32 tensors as the bytes of a safetensors file.
pub fn serialize(tensors: &[(String, TensorData)], path: &Path) -> Result<Vec<u8>, CheckpointError> {
    let failed = |error: safetensors::SafeTensorError| content(path, format!("cannot be written: {error}"));
    let mut views = Vec::with_capacity(tensors.len());
    for (name, data) in tensors {
        let shape = data.shape().iter().copied().collect();
        views.push((name.as_str(), TensorView::new(Dtype::F32, shape, data.as_bytes()).map_err(failed)?));
    }
    safetensors::serialize(views, None).map_err(failed)
}

/// Tensors by name, each as its shape and its row-major values.
pub type NamedTensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// The f32 tensors of a safetensors file.
pub fn deserialize(path: &Path, bytes: &[u8]) -> Result<NamedTensors, CheckpointError> {
    let tensors = SafeTensors::deserialize(bytes)
        .map_err(|error| content(path, format!("is no whole safetensors file: {error}")))?;
    let mut values = BTreeMap::new();
    for (name, view) in tensors.iter() {
        if view.dtype() != Dtype::F32 {
            return Err(content(path, format!("tensor {name} is {:?}, expected F32", view.dtype())));
        }
        let numbers = view.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        values.insert(name.to_owned(), (view.shape().to_vec(), numbers.collect()));
    }
    Ok(values)
}

#[cfg(test)]
mod tests;
