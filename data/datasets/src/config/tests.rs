use std::fs;

use super::*;
use crate::registry;

/// A directory with some files, and a config whose root it is.
fn config(kind: &str) -> (tempfile::TempDir, DataConfig) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("tables")).unwrap();
    for file in ["train.json", "dev.json", "tables/b.json", "tables/a.json", "tables/notes.txt", "t.jsonl"] {
        fs::write(dir.path().join(file), "{}").unwrap();
    }
    let root = dir.path().display().to_string();
    let config = DataConfig {
        kind: kind.into(),
        root,
        train: vec!["train.json".into()],
        dev: vec!["dev.json".into()],
        ..DataConfig::default()
    };
    (dir, config)
}

fn message(config: &DataConfig) -> String {
    config.source(Part::Train, &registry()).unwrap_err().to_string()
}

#[test]
fn a_directory_of_tables_stands_for_its_json_files() {
    let (dir, mut config) = config("hitab");
    config.tables = vec!["t.jsonl".into(), "tables".into()];
    let Source::Dataset { inputs, labels: Labels::Required, .. } = config.source(Part::Dev, &registry()).unwrap()
    else {
        panic!("another kind")
    };
    let names = ["t.jsonl", "tables/a.json", "tables/b.json"].map(|name| dir.path().join(name));
    assert_eq!(inputs.tables, names);
}

#[test]
fn files_that_a_kind_lacks_or_has_no_use_for_are_named() {
    let (_dir, hitab) = config("hitab");
    assert!(message(&hitab).contains("data.tables: names no file; hitab has its tables in files of their own"));
    let missing = DataConfig { tables: vec!["none.jsonl".into()], ..hitab.clone() };
    assert!(message(&missing).contains("none.jsonl: there is no such file"));
    let (_dir, mut tatqa) = config("tatqa");
    tatqa.tables = vec!["tables".into()];
    assert!(message(&tatqa).contains("data.tables: is for hybridqa, hitab and aitqa"));
    tatqa.tables.clear();
    tatqa.passages = vec!["tables".into()];
    assert!(message(&tatqa).contains("data.passages: is for hybridqa, not for tatqa"));
    tatqa.passages.clear();
    tatqa.pool = vec!["train.json".into()];
    assert!(message(&tatqa).contains("data.pool: is for finqa, not for tatqa"));
    tatqa.pool.clear();
    tatqa.parts = vec![hitab];
    assert!(message(&tatqa).contains("data.parts: is for data.kind = \"mix\""));
}

#[test]
fn a_mix_has_each_part_that_has_files() {
    let (_dir, tatqa) = config("tatqa");
    let finqa = DataConfig { kind: "finqa".into(), limit: 5, distractors: 2, ..tatqa.clone() };
    let dev_only = DataConfig { kind: "multihiertt".into(), train: Vec::new(), ..tatqa.clone() };
    let mix = DataConfig { kind: "mix".into(), parts: vec![tatqa.clone(), finqa, dev_only], ..DataConfig::default() };
    let names =
        |part| mix.source(part, &registry()).unwrap().datasets().into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(names(Part::Train), ["tatqa", "finqa"]);
    assert_eq!(names(Part::Dev), ["tatqa", "finqa", "multihiertt"]);
    let Source::Mix(parts) = mix.source(Part::Train, &registry()).unwrap() else { panic!("another kind") };
    assert!(matches!(&parts[1].1, Source::Limited { questions: 5, .. }));
    let Source::Mix(parts) = mix.source(Part::Dev, &registry()).unwrap() else { panic!("another kind") };
    let Source::Dataset { dataset, inputs, config, .. } = &parts[1].1 else { panic!("another kind") };
    assert_eq!((dataset.name(), inputs.part, inputs.pool.len(), config.distractors), ("finqa", Part::Dev, 2, 2));
    let distractors = mix.parts.iter().map(|part| part.distractors(&registry()));
    assert_eq!(distractors.collect::<Vec<_>>(), [0, 2, 0]);
    assert_eq!((mix.of_kind("finqa").limit, mix.of_kind("hitab").limit), (5, 0));

    let below = DataConfig { root: "tables".into(), dev: vec!["a.json".into()], ..tatqa.clone() };
    let mix = DataConfig { kind: "mix".into(), root: tatqa.root, parts: vec![below], ..DataConfig::default() };
    assert!(mix.source(Part::Dev, &registry()).is_ok());
}

#[test]
fn parts_that_do_not_go_together_are_refused() {
    let (_dir, part) = config("tatqa");
    let of = |parts: Vec<DataConfig>| message(&DataConfig { kind: "mix".into(), parts, ..DataConfig::default() });
    assert!(of(vec![]).contains("data.parts: no part has train files"));
    assert!(of(vec![part.clone(), part.clone()]).contains("data.parts: tatqa: two parts have this name"));
    assert!(
        of(vec![DataConfig { name: "a/b".into(), ..part.clone() }]).contains("a/b: data.name holds a blank or '/'")
    );
    assert!(of(vec![DataConfig { kind: "mix".into(), ..part.clone() }]).contains("a mix cannot be part of a mix"));
    let lost = DataConfig { train: vec!["lost.json".into()], ..part.clone() };
    assert!(of(vec![lost]).contains("data.parts: tatqa: data.train: "));
    let files = DataConfig { kind: "mix".into(), ..part };
    assert!(message(&files).contains("data.train: a mix has no files of its own"));
}

#[test]
fn a_kind_that_is_not_registered_is_refused_with_those_that_are() {
    let (_dir, unknown) = config("finqq");
    let expected =
        "data.kind: is \"finqq\"; expected finqa, multihiertt, tatqa, hybridqa, hitab, aitqa, native, files or mix";
    assert_eq!(message(&unknown), expected);
    let mix = DataConfig { kind: MIX.into(), parts: vec![unknown], ..DataConfig::default() };
    assert_eq!(mix.check_kinds(&registry()).unwrap_err().to_string(), expected);
}
