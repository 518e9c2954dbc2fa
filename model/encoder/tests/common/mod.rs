//! What several tests share.

#![allow(dead_code)]

use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use tabsegnet_encoder::{Encoder, EncoderConfig, EncoderError, load, load_in_tensors};

/// The reference models that `make_reference.py` writes.
pub const MODELS: [&str; 3] = ["bert", "roberta", "distilbert"];

/// A directory of the reference data.
pub fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

/// The reference texts.
pub fn texts() -> Vec<String> {
    serde_json::from_slice(&std::fs::read(reference("texts.json")).unwrap()).unwrap()
}

pub fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Numbers of one tensor of a file.
pub fn tensor(path: &Path, name: &str) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let data = tensors.tensor(name).unwrap().data();
    data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// A configuration of the `bert` kind.
pub fn bert(model: &Path) -> EncoderConfig {
    let mut config: EncoderConfig = serde_json::from_str(r#"{"kind": "bert"}"#).unwrap();
    config.model = model.display().to_string();
    config
}

pub fn open(config: &EncoderConfig) -> Box<dyn Encoder> {
    load(config).unwrap_or_else(|error| panic!("{error}"))
}

/// With the forward pass of a GPU.
pub fn open_in_tensors(config: &EncoderConfig) -> Box<dyn Encoder> {
    load_in_tensors(config).unwrap_or_else(|error| panic!("{error}"))
}

/// The message of the error that opening `config` gives.
pub fn refused(config: &EncoderConfig) -> String {
    match load(config) {
        Ok(_) => panic!("{config:?} was opened"),
        Err(error) => error.to_string(),
    }
}

pub fn encode(encoder: &dyn Encoder, texts: &[&str]) -> Vec<f32> {
    try_encode(encoder, texts).unwrap_or_else(|error| panic!("{error}"))
}

pub fn try_encode(encoder: &dyn Encoder, texts: &[&str]) -> Result<Vec<f32>, EncoderError> {
    encoder.encode(texts, &mut |_| ())
}

/// A copy of a directory that a test may change.
pub fn copy(from: &Path) -> tempfile::TempDir {
    let target = tempfile::tempdir().unwrap();
    copy_into(from, target.path());
    target
}

fn copy_into(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy_into(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

/// Replaces a piece of text in a file, which must hold it.
pub fn replace(path: &Path, from: &str, to: &str) {
    let content = std::fs::read_to_string(path).unwrap();
    assert!(content.contains(from), "{} has no {from}", path.display());
    std::fs::write(path, content.replace(from, to)).unwrap();
}

pub fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |most, (a, b)| most.max((a - b).abs()))
}

pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Runs `work` with so many rayon threads.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
