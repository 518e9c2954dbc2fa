//! Rankings and gold nodes as files that `trec_eval` and its relatives read.
//!
//! | file | a line |
//! |---|---|
//! | run | `question_id Q0 node_id rank score tag` |
//! | qrels | `question_id 0 node_id 1` |
//!
//! `trec_eval` ignores the rank: it sorts by score, read as 32-bit floats, and equal scores by
//! falling node id. Scores are therefore written so that they strictly fall (see [`write_run`]),
//! and a file is read in that same order ([`read_run`]); both sides see one ranking.
//!
//! Fields are separated by white space. Ids and tags are percent-encoded ([`encode_id`]) where they
//! hold some, so every id that is not empty can be written and comes back the same.

mod ids;
mod read;
mod scores;

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use tabsegnet_store::{FileError, write_atomic};

pub use ids::encode_id;
pub use read::{Run, read_qrels, read_run};

/// The ranking of one question, best node first.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedQuestion {
    /// Id of the question.
    pub question: String,
    /// Node id and score, in rank order.
    pub nodes: Vec<(String, f32)>,
}

/// The gold nodes of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedQuestion {
    /// Id of the question.
    pub question: String,
    /// Ids of its gold nodes.
    pub gold: Vec<String>,
}

/// A run or qrels file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TrecError {
    /// The file itself.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line that is not of the form.
    #[error("{path}, line {line}, field {field}: found {found:?}, expected {expected}")]
    Field {
        /// The file.
        path: String,
        /// Line, counted from 1.
        line: usize,
        /// The field's name in the line's form.
        field: &'static str,
        /// What stands there.
        found: String,
        /// What can be read, or what to do.
        expected: String,
    },
    /// A file without a line.
    #[error("{path}: the file holds no line, expected lines `{form}`")]
    NoLines {
        /// The file.
        path: String,
        /// The form of a line.
        form: &'static str,
    },
    /// Content that the format cannot hold.
    #[error("{path}: could not write question {question:?}: {reason}")]
    Unwritable {
        /// The file that was to be written.
        path: String,
        /// Id of the question.
        question: String,
        /// Why not, and what to do.
        reason: String,
    },
}

/// Writes a run file, whole or not at all; see [`write_run_to`].
///
/// # Errors
/// As [`write_run_to`], and a file that cannot be written.
pub fn write_run<'a>(
    path: &Path,
    tag: &str,
    questions: impl IntoIterator<Item = &'a RankedQuestion>,
) -> Result<(), TrecError> {
    write_atomic(path, |file| write_run_to(file, path, tag, questions))
}

/// Writes a run's lines to `out`; `place` names it in messages.
///
/// Ranks are the order given. Scores strictly fall, also when read as 32-bit floats: a score that
/// is not below the one before it is lowered to the next 32-bit float below that one. Scores that
/// are no finite number are written as the nearest that is (NaN as the lowest).
///
/// # Errors
/// A question or node that comes twice, an empty id or tag, and a question without nodes (which
/// `trec_eval` would leave out of its means without a word).
pub fn write_run_to<'a>(
    out: &mut impl Write,
    place: &Path,
    tag: &str,
    questions: impl IntoIterator<Item = &'a RankedQuestion>,
) -> Result<(), TrecError> {
    if tag.is_empty() {
        let reason = "the run's tag is empty, give it the method's name".to_owned();
        return Err(unwritable(place, "", reason));
    }
    let tag = encode_id(tag);
    let mut seen = HashSet::new();
    for RankedQuestion { question, nodes } in questions {
        check_question(place, question, &mut seen)?;
        check_nodes(place, question, nodes.iter().map(|(node, _)| node.as_str()))?;
        let id = encode_id(question);
        let falling = scores::strictly_falling(nodes.iter().map(|(_, score)| *score));
        for ((rank, (node, _)), score) in (1..).zip(nodes).zip(falling) {
            // Debug prints the shortest decimals that are read back as the same float, with an
            // exponent where that is shorter.
            writeln!(out, "{id} Q0 {} {rank} {score:?} {tag}", encode_id(node))
                .map_err(FileError::at(place, "write"))?;
        }
    }
    Ok(())
}

/// Writes a qrels file, whole or not at all.
///
/// # Errors
/// A question or node that comes twice, an empty id, and a question without gold nodes.
pub fn write_qrels<'a>(path: &Path, questions: impl IntoIterator<Item = &'a JudgedQuestion>) -> Result<(), TrecError> {
    let mut seen = HashSet::new();
    write_atomic(path, |file| {
        for JudgedQuestion { question, gold } in questions {
            check_question(path, question, &mut seen)?;
            check_nodes(path, question, gold.iter().map(String::as_str))?;
            let id = encode_id(question);
            for node in gold {
                writeln!(file, "{id} 0 {} 1", encode_id(node)).map_err(FileError::at(path, "write"))?;
            }
        }
        Ok(())
    })
}

fn check_question<'a>(path: &Path, question: &'a str, seen: &mut HashSet<&'a str>) -> Result<(), TrecError> {
    if question.is_empty() {
        return Err(unwritable(path, question, "its id is empty".to_owned()));
    }
    if !seen.insert(question) {
        return Err(unwritable(path, question, "it comes twice, make ids unique".to_owned()));
    }
    Ok(())
}

fn check_nodes<'a>(path: &Path, question: &str, nodes: impl Iterator<Item = &'a str>) -> Result<(), TrecError> {
    let mut seen = HashSet::new();
    for node in nodes {
        if node.is_empty() {
            return Err(unwritable(path, question, "the id of a node is empty".to_owned()));
        }
        if !seen.insert(node) {
            return Err(unwritable(path, question, format!("node {node:?} comes twice")));
        }
    }
    if seen.is_empty() {
        let reason = "it has no nodes, leave it out and count it as left out".to_owned();
        return Err(unwritable(path, question, reason));
    }
    Ok(())
}

fn unwritable(path: &Path, question: &str, reason: String) -> TrecError {
    TrecError::Unwritable { path: path.display().to_string(), question: question.to_owned(), reason }
}

#[cfg(test)]
mod tests;
