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
    write(&path, &model, &[], None, manifest, "[model]\n", "# card\n").unwrap();
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
fn models_that_score_together_come_back_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("best");
    let (first, manifest) = model();
    let others: Vec<TabSegNet> = (2..4).map(|seed| TabSegNet::new(&manifest.model, 5, seed, &Device::flex())).collect();
    write(&path, &first, &others, None, manifest, "", "").unwrap();
    let found = read(&path, &Device::flex()).unwrap();
    let weights = |model: &TabSegNet| format!("{:?}", model.parameters());
    assert_eq!(weights(&found.model), weights(&first));
    assert_eq!(found.others.iter().map(weights).collect::<Vec<_>>(), others.iter().map(weights).collect::<Vec<_>>());

    fs::remove_file(path.join("model-2.safetensors")).unwrap();
    assert!(error(&path).contains("model-2.safetensors: could not read"), "{}", error(&path));
    fs::write(path.join("model-2.safetensors"), "cut").unwrap();
    assert!(error(&path).contains("model-2.safetensors: has SHA-256"), "{}", error(&path));
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
    let newer = with("\"format_version\": 2", "\"format_version\": 3");
    assert!(newer.contains("format version 3, this program reads 2; use the version that wrote it"), "{newer}");
    assert!(with("\"row_header\"", "\"line_header\"").contains("names node kinds that this version does not have"));
    let misspelt = with("\"cell_right_cell\"", "\"cell_rihgt_cell\"");
    assert!(
        misspelt.contains("there is no edge type \"cell_rihgt_cell\"; the nearest known one is \"cell_right_cell\""),
        "{misspelt}"
    );
    let twice = with("\"cell_right_cell\"", "\"cell_left_cell\"");
    assert!(twice.contains("two edge types are named \"cell_left_cell\""), "{twice}");
    let segmenter = with("\"format_version\": 2", "\"format_version\": 1, \"kind\": \"segmenter\"");
    assert!(segmenter.contains("is that of a segmenter; expected a ranker's"), "{segmenter}");
    assert!(with("\"d_enc\": 5", "\"d_enc\": 6").contains("has shape [5, 3], expected [6, 3]"));
    fs::write(path.join(MANIFEST), &json[..json.len() / 2]).unwrap();
    assert!(error(&path).contains("is no manifest"));
}

#[test]
fn an_old_checkpoint_says_which_command_makes_a_new_one() {
    let (_dir, path) = written();
    fs::write(path.join(MANIFEST), "{\"format_version\": 1, \"other\": []}").unwrap();
    for (config, name) in [
        ("", "general"),
        ("[task]\nkind = \"ranker\"\n[data]\nkind = \"finqa\"\n", "finqa"),
        ("[data]\nroot = \"x\"\n  kind='tatqa'\n", "tatqa"),
        ("[data]\nkind = \"mix\"\n[[data.parts]]\nkind = \"finqa\"\n", "general"),
        ("[data]\nroot = \"x\"\n[encoder]\nkind = \"finqa\"\n", "general"),
    ] {
        fs::write(path.join(CONFIG), config).unwrap();
        let error = error(&path);
        assert!(error.contains("it is an old checkpoint; make a new one with: train --config configs/"), "{error}");
        assert!(error.ends_with(&format!("configs/{name}.toml")), "{config:?}: {error}");
    }
}

#[test]
fn edge_types_of_the_manifest_are_the_rows_of_the_weights() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("best");
    let names = TypeNames::new(["cell_to_caption", "passage_next_passage"]).unwrap();
    let config = ModelConfig { edge_type_names: names.clone(), ..model().1.model };
    let few = TabSegNet::new(&config, 5, 1, &Device::flex());
    write(&path, &few, &[], None, Manifest::new(&config, 5, "encoder", "none", 1), "", "").unwrap();
    let checkpoint = read(&path, &Device::flex()).unwrap();
    assert_eq!(checkpoint.manifest.model.edge_type_names, names);
    assert_eq!(checkpoint.model.edge_strength.R.val().dims(), [2, 2]);
}

#[test]
fn writing_again_replaces_whole_and_a_failed_write_changes_nothing() {
    let (dir, path) = written();
    let (model, manifest) = model();
    write(&path, &model, &[], None, manifest.clone(), "changed", "").unwrap();
    assert_eq!(read(&path, &Device::flex()).unwrap().config, "changed");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    // A file stands where the parent directory should be.
    let blocked = path.join(CONFIG).join("best");
    assert!(write(&blocked, &model, &[], None, manifest, "", "").is_err());
    assert_eq!(read(&path, &Device::flex()).unwrap().config, "changed");
}
