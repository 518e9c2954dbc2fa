use std::fs;

use tabsegnet_datasets::Inputs;
use tabsegnet_datasets::config::DataConfig;
use tabsegnet_datasets::native::Native;
use tabsegnet_datasets::prepared::PreparedSegment;
use tabsegnet_datasets::sample::Labels;
use tabsegnet_graph::{CellText, GraphConfig};

use super::*;

const LABELLED: &str = r#"{"id": "r", "blocks": [{"passage": "Revenue rose."}, {"table": {"caption": "Revenue", "header_rows": 1, "header_cols": 1, "rows": [["", "2018"], ["Products", "12"]]}}], "questions": [{"id": "q", "question": "revenue?", "gold": ["t0:r1c1", "p0"], "segments": [{"text": "revenue", "nodes": ["t0:r1c1", "p0"]}]}, {"id": "open", "question": "?", "gold": []}]}
{"id": "empty", "blocks": []}"#;

fn native(dir: &Path, content: &str) -> Source {
    let file = dir.join("data.jsonl");
    fs::write(&file, content).unwrap();
    let inputs = Inputs { files: vec![file], ..Inputs::default() };
    Source::new(&Native, inputs, &DataConfig::default(), Labels::Optional)
}

#[test]
fn a_second_run_reads_what_the_first_prepared() {
    let dir = tempfile::tempdir().unwrap();
    let source = native(dir.path(), LABELLED);
    let settings = PrepareSettings::default();
    let (prepared, origin) = prepare(&source, &settings, dir.path()).unwrap();
    let Origin::Prepared(directory) = origin else { panic!("nothing was prepared before") };
    assert_eq!(prepared.questions[0].gold, [0, 5]);
    assert_eq!(prepared.questions[0].segments, [PreparedSegment { text: "revenue".into(), nodes: vec![0, 5] }]);
    assert_eq!(prepared.documents[0].ranking_texts[5], "Products | 2018 | 12");
    assert_eq!((prepared.statistics.nodes, prepared.statistics.tables, prepared.statistics.gold), (6, 1, 2));

    let (read, origin) = prepare(&source, &settings, dir.path()).unwrap();
    assert_eq!(origin, Origin::Read(directory));
    assert_eq!(read, prepared);
}

#[test]
fn other_bytes_or_settings_are_prepared_anew() {
    let dir = tempfile::tempdir().unwrap();
    let source = native(dir.path(), LABELLED);
    let bare = PrepareSettings { graph: GraphConfig { cell_text: CellText::Bare } };
    let (path, _) = prepare(&source, &PrepareSettings::default(), dir.path()).unwrap();
    let (bare, _) = prepare(&source, &bare, dir.path()).unwrap();
    assert_ne!(path.digest, bare.digest);
    assert_eq!(bare.documents[0].ranking_texts[5], "12");
    let source = native(dir.path(), &LABELLED.replace("12", "13"));
    let (changed, origin) = prepare(&source, &PrepareSettings::default(), dir.path()).unwrap();
    assert!(matches!(origin, Origin::Prepared(_)));
    assert_ne!(path.digest, changed.digest);
}

#[test]
fn gold_that_names_no_node_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let source = native(dir.path(), &LABELLED.replace("t0:r1c1", "t0:r9c1"));
    let error = prepare(&source, &PrepareSettings::default(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("record r, field questions[0] (q).gold: \"t0:r9c1\" is no node"), "{error}");
    let source = native(dir.path(), &LABELLED.replace("\"nodes\": [\"t0:r1c1\"", "\"nodes\": [\"t0:r9c1\""));
    let error = prepare(&source, &PrepareSettings::default(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("questions[0] (q).segments[0].nodes: \"t0:r9c1\" is no node"), "{error}");
    assert!(!dir.path().join("prepared").exists());
}

#[test]
fn damaged_files_are_named_with_a_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let source = native(dir.path(), LABELLED);
    let (_, origin) = prepare(&source, &PrepareSettings::default(), dir.path()).unwrap();
    let Origin::Prepared(directory) = origin else { panic!("nothing was prepared before") };
    for name in ["documents.parquet", "nodes.parquet", "edges.parquet", "questions.parquet", "segments.parquet"] {
        let path = directory.join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let error = prepare(&source, &PrepareSettings::default(), dir.path()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("delete"), "{error}");
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn statistics_print_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let source = native(dir.path(), LABELLED);
    let (prepared, _) = prepare(&source, &PrepareSettings::default(), dir.path()).unwrap();
    let text = prepared.statistics.to_string();
    assert!(
        text.contains("questions         2   2 gold nodes, 1.00 a question; by number of gold nodes: 0: 1, 2: 1"),
        "{text}"
    );
    assert!(text.contains("caption_to_cell"));
}
