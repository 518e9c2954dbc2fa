use std::fs;

use super::*;

fn model() -> (TabSegNet, Manifest) {
    let config = ModelConfig { d_in: 3, d_out: 4, d_edge: 2, ..ModelConfig::default() };
    (TabSegNet::new(&config, 5, 1, &Device::flex()), Manifest::new(&config, 5, "encoder", "none", 1))
}

fn written() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("best");
    let (model, manifest) = model();
    write(&path, &model, None, manifest, "[model]\n", "# card\n").unwrap();
    (dir, path)
}

fn error(path: &Path) -> String {
    read(path, &Device::flex()).unwrap_err().to_string()
}

/// Writes a file and its digest, as somebody who means it would.
fn replace(path: &Path, name: &str, bytes: &[u8]) {
    fs::write(path.join(name), bytes).unwrap();
    let mut manifest: Manifest = serde_json::from_str(&fs::read_to_string(path.join(MANIFEST)).unwrap()).unwrap();
    manifest.files.insert(name.into(), sha256_file(&path.join(name)).unwrap());
    fs::write(path.join(MANIFEST), serde_json::to_string(&manifest).unwrap()).unwrap();
}

#[test]
fn a_checkpoint_round_trips() {
    let (_dir, path) = written();
    let checkpoint = read(&path, &Device::flex()).unwrap();
    let bytes =
        |model: &TabSegNet| model.parameters().iter().flat_map(|(_, d)| d.as_bytes().to_vec()).collect::<Vec<_>>();
    assert_eq!(bytes(&checkpoint.model), bytes(&model().0));
    assert_eq!(checkpoint.config, "[model]\n");
    assert_eq!(checkpoint.manifest.files.len(), 3);
    assert_eq!(checkpoint.manifest.model.layers, 1);
}

#[test]
fn damage_is_named() {
    let (_dir, path) = written();
    let whole = fs::read(path.join(MODEL)).unwrap();
    fs::write(path.join(MODEL), &whole[..whole.len() - 4]).unwrap();
    assert!(error(&path).contains("model.safetensors: has SHA-256"), "{}", error(&path));
    replace(&path, MODEL, &whole[..whole.len() - 4]);
    assert!(error(&path).contains("is no whole safetensors file"), "{}", error(&path));

    let mut bad = whole.clone();
    let end = bad.len();
    bad[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    replace(&path, MODEL, &bad);
    assert!(error(&path).contains("holds NaN"), "{}", error(&path));
    replace(&path, MODEL, &whole);
    read(&path, &Device::flex()).unwrap();

    fs::remove_file(path.join(MODEL)).unwrap();
    assert!(error(&path).contains("model.safetensors: could not read"));
    assert!(error(&path.join("nowhere")).contains("is no directory"));
}

#[test]
fn another_format_or_graph_is_refused() {
    let (_dir, path) = written();
    let json = fs::read_to_string(path.join(MANIFEST)).unwrap();
    let with = |from: &str, to: &str| {
        assert!(json.contains(from));
        fs::write(path.join(MANIFEST), json.replace(from, to)).unwrap();
        error(&path)
    };
    assert!(with("\"format_version\": 1", "\"format_version\": 2").contains("format version 2, this program reads 1"));
    assert!(with("\"row_header\"", "\"line_header\"").contains("names node kinds or edge types"));
    assert!(with("\"d_enc\": 5", "\"d_enc\": 6").contains("has shape [5, 3], expected [6, 3]"));
    fs::write(path.join(MANIFEST), &json[..json.len() / 2]).unwrap();
    assert!(error(&path).contains("is no manifest"));
}

#[test]
fn writing_again_replaces_whole_and_a_failed_write_changes_nothing() {
    let (dir, path) = written();
    let (model, manifest) = model();
    write(&path, &model, None, manifest.clone(), "changed", "").unwrap();
    assert_eq!(read(&path, &Device::flex()).unwrap().config, "changed");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    // A file stands where the parent directory should be.
    let blocked = path.join(CONFIG).join("best");
    assert!(write(&blocked, &model, None, manifest, "", "").is_err());
    assert_eq!(read(&path, &Device::flex()).unwrap().config, "changed");
}
