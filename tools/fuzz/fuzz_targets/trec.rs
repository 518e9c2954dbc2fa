//! Run and qrels files: what can be read can be written, and then reads the same.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tabsegnet_evaluation::trec::{read_qrels, read_run, write_qrels, write_run};

/// One file in a directory that goes with the process.
static FILE: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let file = directory.path().join("x.trec");
    (directory, file)
});

fuzz_target!(|bytes: &[u8]| {
    let (_, file) = &*FILE;
    put(bytes);
    if let Ok(run) = read_run(file)
        && write_run(file, &run.tag, &run.questions).is_ok()
    {
        // Equal scores are written as falling ones: order and ids stay.
        let Ok(again) = read_run(file) else { panic!("a run that was written cannot be read") };
        let ids = |run: &tabsegnet_evaluation::trec::Run| -> Vec<(String, Vec<String>)> {
            let nodes = |nodes: &[(String, f32)]| nodes.iter().map(|(node, _)| node.clone()).collect();
            run.questions.iter().map(|question| (question.question.clone(), nodes(&question.nodes))).collect()
        };
        assert_eq!((&again.tag, ids(&again)), (&run.tag, ids(&run)));
    }
    put(bytes);
    if let Ok(judged) = read_qrels(file)
        && write_qrels(file, &judged).is_ok()
    {
        let Ok(again) = read_qrels(file) else { panic!("qrels that were written cannot be read") };
        assert_eq!(again, judged);
    }
});

fn put(bytes: &[u8]) {
    if let Err(error) = std::fs::write(&FILE.1, bytes) {
        panic!("{}: {error}", FILE.1.display());
    }
}
