//! A small checkpoint that targets damage.

use std::path::PathBuf;
use std::sync::LazyLock;

use burn::tensor::Device;
use tabsegnet_features::rows::NO_FEATURES;
use tabsegnet_graph::{Node, NodeKind};
use tabsegnet_ranker::checkpoint::{Manifest, read, write};
use tabsegnet_ranker::config::ModelConfig;
use tabsegnet_ranker::reranker::{QueryContext, Reranker};
use tabsegnet_ranker::scorer::TabSegNet;
use tabsegnet_store::sha256_file;

/// A checkpoint in a directory that goes with the process.
static CHECKPOINT: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let path = directory.path().join("best");
    let config = ModelConfig { d_in: 3, d_out: 4, d_edge: 2, ..ModelConfig::default() };
    let model = TabSegNet::new(&config, 5, 1, &Device::flex());
    let manifest = Manifest::new(&config, 5, "encoder", "none", 1);
    write(&path, &model, &[], None, manifest, "[model]\n", "# card\n").unwrap_or_else(|error| panic!("{error}"));
    (directory, path)
});

/// Puts bytes in the place of one of the checkpoint's files, with digests that fit, and reads it.
/// The other files stay those of a whole checkpoint.
pub fn read_with(name: &str, bytes: &[u8]) {
    let path = &CHECKPOINT.1;
    let file = path.join(name);
    let Ok(whole) = std::fs::read(&file) else { panic!("{} is not there", file.display()) };
    put(&file, bytes);
    let kept = std::fs::read(path.join(MANIFEST)).unwrap_or_default();
    set_digests(path);
    if let Ok(checkpoint) = read(path, &Device::flex()) {
        assert!(checkpoint.model.parameters().iter().all(|(_, data)| !data.shape().is_empty()));
    }
    put(&path.join(MANIFEST), &kept);
    put(&file, &whole);
}

const MANIFEST: &str = "manifest.json";

/// Reads bytes as a reranker; one that is taken orders a small document anew, with its sentences as candidates.
pub fn rescore_with(bytes: &[u8]) {
    let file = CHECKPOINT.1.join("reranker.safetensors");
    put(&file, bytes);
    if let Ok(reranker) = Reranker::read(&file, 0) {
        let passage = |number| Node {
            id: format!("p{number}"),
            kind: NodeKind::Passage,
            text: String::new(),
            place: None,
            section: None,
        };
        let nodes: Vec<Node> = (0..4).map(passage).collect();
        let context = QueryContext { nodes: &nodes, features: NO_FEATURES, query: None };
        let mut scores = vec![0.5, 2.0, -1.0, 2.0];
        reranker.rescore(&context, &mut scores);
        assert!(scores.iter().all(|score| score.is_finite()), "a score is not finite: {scores:?}");
        reranker.explain(&context, &scores, &[0, 1, 2, 3]);
    }
    let _ = std::fs::remove_file(&file);
}

/// Damage beyond what digests tell: where the manifest is an object with `files`, they are set to
/// what the files have.
fn set_digests(path: &std::path::Path) {
    let Ok(text) = std::fs::read(path.join(MANIFEST)) else { return };
    let Ok(mut manifest) = serde_json::from_slice::<serde_json::Value>(&text) else { return };
    let Some(files) = manifest.get_mut("files").and_then(|files| files.as_object_mut()) else { return };
    for name in ["model.safetensors", "config.toml"] {
        if let Ok(digest) = sha256_file(&path.join(name)) {
            files.insert(name.into(), digest.into());
        }
    }
    put(&path.join(MANIFEST), manifest.to_string().as_bytes());
}

fn put(file: &std::path::Path, bytes: &[u8]) {
    if let Err(error) = std::fs::write(file, bytes) {
        panic!("{}: {error}", file.display());
    }
}
