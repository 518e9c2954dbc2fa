//! The segments of prepared questions as lines that a segmenter is trained on.

use std::path::Path;

use serde::Serialize;
use tabsegnet_datasets::prepared::{Prepared, PreparedQuestion};
use tabsegnet_store::{FileError, write_bytes_atomic};

/// One line: a question, its segments, and for each the ids of the nodes that answer it.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    question: &'a str,
    segments: Vec<&'a str>,
    nodes: Vec<Vec<&'a str>>,
}

/// Writes the questions that have segments as JSON lines
/// `{"id", "question", "segments": [text…], "nodes": [[id…]…]}`, whole or not at all, and returns how
/// many have and how many have none.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, prepared: &Prepared) -> Result<(usize, usize), FileError> {
    let (with, without): (Vec<_>, Vec<_>) =
        prepared.questions.iter().partition(|question| !question.segments.is_empty());
    let lines: String = with.iter().map(|question| line(prepared, question) + "\n").collect();
    write_bytes_atomic(path, lines.as_bytes())?;
    Ok((with.len(), without.len()))
}

fn line(prepared: &Prepared, question: &PreparedQuestion) -> String {
    let document = &prepared.documents[question.document];
    let ids = |nodes: &[u32]| nodes.iter().map(|&node| document.nodes()[node as usize].id.as_str()).collect();
    let line = Line {
        id: &question.id,
        question: &question.text,
        segments: question.segments.iter().map(|segment| segment.text.as_str()).collect(),
        nodes: question.segments.iter().map(|segment| ids(&segment.nodes)).collect(),
    };
    // Texts and lists of them: there is nothing here that JSON cannot hold.
    serde_json::to_string(&line).unwrap_or_default()
}
