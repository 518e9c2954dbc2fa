use std::fs;

use super::*;

/// A directory with some files, and a config whose root it is.
fn config(kind: DataKind) -> (tempfile::TempDir, DataConfig) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("tables")).unwrap();
    for file in ["train.json", "dev.json", "tables/b.json", "tables/a.json", "tables/notes.txt", "t.jsonl"] {
        fs::write(dir.path().join(file), "{}").unwrap();
    }
    let root = dir.path().display().to_string();
    let config = DataConfig {
        kind,
        root,
        train: vec!["train.json".into()],
        dev: vec!["dev.json".into()],
        ..DataConfig::default()
    };
    (dir, config)
}

fn message(config: &DataConfig) -> String {
    config.source(Part::Train).unwrap_err().to_string()
}

#[test]
fn a_directory_of_tables_stands_for_its_json_files() {
    let (dir, mut config) = config(DataKind::Hitab);
    config.tables = vec!["t.jsonl".into(), "tables".into()];
    let Source::Hitab(files, Labels::Required) = config.source(Part::Dev).unwrap() else { panic!("another kind") };
    let names = ["t.jsonl", "tables/a.json", "tables/b.json"].map(|name| dir.path().join(name));
    assert_eq!(files.tables, names);
}

#[test]
fn files_that_a_kind_lacks_or_has_no_use_for_are_named() {
    let (_dir, hitab) = config(DataKind::Hitab);
    assert!(message(&hitab).contains("data.tables: names no file; hitab has its tables in files of their own"));
    let missing = DataConfig { tables: vec!["none.jsonl".into()], ..hitab.clone() };
    assert!(message(&missing).contains("none.jsonl: there is no such file"));
    let (_dir, mut tatqa) = config(DataKind::Tatqa);
    tatqa.tables = vec!["tables".into()];
    assert!(message(&tatqa).contains("data.tables: is for hybridqa and hitab"));
    tatqa.tables.clear();
    tatqa.passages = vec!["tables".into()];
    assert!(message(&tatqa).contains("data.passages: is for hybridqa, not for tatqa"));
    tatqa.passages.clear();
    tatqa.parts = vec![hitab];
    assert!(message(&tatqa).contains("data.parts: is for data.kind = \"mix\""));
}

#[test]
fn a_mix_has_each_part_that_has_files() {
    let (_dir, tatqa) = config(DataKind::Tatqa);
    let finqa = DataConfig { kind: DataKind::Finqa, limit: 5, distractors: 2, ..tatqa.clone() };
    let dev_only = DataConfig { kind: DataKind::Multihiertt, train: Vec::new(), ..tatqa.clone() };
    let mix = DataConfig { kind: DataKind::Mix, parts: vec![tatqa.clone(), finqa, dev_only], ..DataConfig::default() };
    let names = |part| mix.source(part).unwrap().datasets().into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(names(Part::Train), ["tatqa", "finqa"]);
    assert_eq!(names(Part::Dev), ["tatqa", "finqa", "multihiertt"]);
    let Source::Mix(parts) = mix.source(Part::Train).unwrap() else { panic!("another kind") };
    assert!(matches!(&parts[1].1, Source::Limited { questions: 5, .. }));
    let Source::Mix(parts) = mix.source(Part::Dev).unwrap() else { panic!("another kind") };
    assert!(matches!(&parts[1].1, Source::Finqa { distractors, .. } if distractors.count == 2));
    assert_eq!((mix.distractors(), tatqa.distractors()), (2, 0));

    let below = DataConfig { root: "tables".into(), dev: vec!["a.json".into()], ..tatqa.clone() };
    let mix = DataConfig { kind: DataKind::Mix, root: tatqa.root, parts: vec![below], ..DataConfig::default() };
    assert!(mix.source(Part::Dev).is_ok());
}

#[test]
fn parts_that_do_not_go_together_are_refused() {
    let (_dir, part) = config(DataKind::Tatqa);
    let of = |parts: Vec<DataConfig>| message(&DataConfig { kind: DataKind::Mix, parts, ..DataConfig::default() });
    assert!(of(vec![]).contains("data.parts: no part has train files"));
    assert!(of(vec![part.clone(), part.clone()]).contains("data.parts: tatqa: two parts have this name"));
    assert!(
        of(vec![DataConfig { name: "a/b".into(), ..part.clone() }]).contains("a/b: data.name holds a blank or '/'")
    );
    assert!(of(vec![DataConfig { kind: DataKind::Mix, ..part.clone() }]).contains("a mix cannot be part of a mix"));
    let lost = DataConfig { train: vec!["lost.json".into()], ..part.clone() };
    assert!(of(vec![lost]).contains("data.parts: tatqa: data.train: "));
    let files = DataConfig { kind: DataKind::Mix, ..part };
    assert!(message(&files).contains("data.train: a mix has no files of its own"));
}
