//! The prepared data set: documents, nodes, edges, questions and their segments as five Parquet files, kept under
//! a digest of everything they were made from, so that the same data are prepared once.
//!
//! | file | columns |
//! |---|---|
//! | `documents.parquet` | `document` u32, `id` str, `tables` u32, `passages` u32 |
//! | `nodes.parquet` | `document` u32, `node` u32, `id` str, `kind` str, `text` str, `ranking_text` str, and for nodes of a table (else null) `table`, `row`, `col`, `rowspan`, `colspan` u32, `row_path`, `column_path` str |
//! | `edges.parquet` | `document` u32, `source` u32, `destination` u32, `type` str, by document, destination, source, type |
//! | `questions.parquet` | `id` str, `document` u32, `question` str, `gold` list of u32 (node numbers) |
//! | `segments.parquet` | `question` u32, `text` str, `nodes` list of u32, by question, then in the question's order |
//!
//! `document` and `question` count from 0, `node` counts the nodes of a document from 0, in order.
//! `statistics.json` beside them holds [`Statistics`].

mod parquet;
mod statistics;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use statistics::Statistics;

use crate::document::Document;
use crate::error::{DataError, from_json};
use crate::graph::{CompressedGraph, DocumentGraph, GraphConfig, Node, NodeKind};
use crate::source::Source;
use tabsegnet_store::{Digest, Staging, read_text, write_bytes_atomic};

/// Changes when the files' schema or the meaning of a setting does.
const FORMAT: u32 = 5;

/// A document ready for training and ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedDocument {
    /// The document's name.
    pub id: String,
    /// Nodes in document order.
    pub nodes: Vec<Node>,
    /// `[nodes]`: what the encoder and the lexical rankers read.
    pub ranking_texts: Vec<String>,
    /// The edges.
    pub graph: CompressedGraph,
}

impl PreparedDocument {
    /// Builds the graph of a document.
    pub fn new(document: &Document, config: &GraphConfig) -> Self {
        let graph = DocumentGraph::new(document);
        let nodes: Vec<Node> = graph.nodes().cloned().collect();
        let ranking_texts = nodes.iter().map(|node| node.ranking_text(config.cell_text)).collect();
        Self { id: document.id.clone(), nodes, ranking_texts, graph: graph.compress() }
    }
}

/// A question ready for training and measuring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedQuestion {
    /// The question's id.
    pub id: String,
    /// Index of its document.
    pub document: usize,
    /// The question's text.
    pub text: String,
    /// Gold nodes by number, rising.
    pub gold: Vec<u32>,
    /// The parts of the question that ask for one thing each, in its order; empty where the data
    /// set does not say which they are.
    pub segments: Vec<PreparedSegment>,
}

/// A segment of a question and the nodes that tell what it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedSegment {
    /// The phrase.
    pub text: String,
    /// Its nodes by number, rising.
    pub nodes: Vec<u32>,
}

/// A prepared part of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Digest of the inputs and settings, 64 hexadecimal digits.
    pub digest: String,
    /// The documents.
    pub documents: Vec<PreparedDocument>,
    /// The questions, by document.
    pub questions: Vec<PreparedQuestion>,
    /// What is in it.
    pub statistics: Statistics,
}

/// How samples become a prepared data set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrepareSettings {
    /// How a document becomes a graph.
    pub graph: GraphConfig,
}

/// Where a prepared data set came from in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Made now and written to this directory.
    Prepared(PathBuf),
    /// Read from this directory.
    Read(PathBuf),
}

/// Prepares `source`, or reads what an earlier run prepared from the same bytes with the same
/// settings under `cache`.
///
/// # Errors
/// What is wrong with the inputs; a gold id that names no node; a prepared file that cannot be
/// written, or read back (delete its directory then).
pub fn prepare(source: &Source, settings: &PrepareSettings, cache: &Path) -> Result<(Prepared, Origin), DataError> {
    let digest = digest(source, settings)?;
    let directory = cache.join("prepared").join(&digest[..32]);
    if directory.join(STATISTICS).is_file() {
        let prepared = read(&directory, digest)?;
        return Ok((prepared, Origin::Read(directory)));
    }
    let prepared = make(source, settings, digest)?;
    write(&prepared, &directory)?;
    Ok((prepared, Origin::Prepared(directory)))
}

/// [`prepare`] without files: nothing is read back or kept.
///
/// # Errors
/// What is wrong with the inputs; a gold id that names no node.
pub fn prepare_in_memory(source: &Source, settings: &PrepareSettings) -> Result<Prepared, DataError> {
    make(source, settings, digest(source, settings)?)
}

fn make(source: &Source, settings: &PrepareSettings, digest: String) -> Result<Prepared, DataError> {
    let (place, samples) = (source.describe(), source.read()?);
    let mut documents = Vec::with_capacity(samples.samples.len());
    let mut questions = Vec::new();
    let mut seen = HashMap::new();
    for sample in samples.samples {
        let document = PreparedDocument::new(&sample.document, &settings.graph);
        let numbers: HashMap<&str, u32> =
            document.nodes.iter().zip(0..).map(|(node, number)| (node.id.as_str(), number)).collect();
        for (position, question) in sample.questions.into_iter().enumerate() {
            let error = |field: String, message: String| DataError::Record {
                file: place.clone(),
                record: sample.document.id.clone(),
                field: format!("questions[{position}] ({}).{field}", question.id),
                message,
            };
            if let Some(other) = seen.insert(question.id.clone(), sample.document.id.clone()) {
                return Err(error("id".into(), format!("document {other} has a question of this id already")));
            }
            let node_numbers = |ids: &[String], field: &str| -> Result<Vec<u32>, DataError> {
                let number = |id: &String| {
                    let message = || format!("{id:?} is no node of the document; expected ids such as p0 or t0:r1c2");
                    numbers.get(id.as_str()).copied().ok_or_else(|| error(field.to_owned(), message()))
                };
                let mut nodes: Vec<u32> = ids.iter().map(number).collect::<Result<_, _>>()?;
                nodes.sort_unstable();
                nodes.dedup();
                Ok(nodes)
            };
            let gold = node_numbers(&question.gold, "gold")?;
            let mut segments = Vec::with_capacity(question.segments.len());
            for (position, segment) in question.segments.iter().enumerate() {
                let nodes = node_numbers(&segment.nodes, &format!("segments[{position}].nodes"))?;
                segments.push(PreparedSegment { text: segment.text.clone(), nodes });
            }
            let document = documents.len();
            questions.push(PreparedQuestion { id: question.id, document, text: question.text, gold, segments });
        }
        documents.push(document);
    }
    let statistics = Statistics::new(&documents, &questions, &samples.left_out, &source.datasets());
    Ok(Prepared { digest, documents, questions, statistics })
}

fn digest(source: &Source, settings: &PrepareSettings) -> Result<String, DataError> {
    let digest = Digest::new().part(b"prepared").part(FORMAT.to_le_bytes()).part(json(settings));
    Ok(source.digest(digest)?.hex())
}

/// Settings are numbers, names and lists of them: there is nothing JSON cannot hold.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

const STATISTICS: &str = "statistics.json";

fn write(prepared: &Prepared, directory: &Path) -> Result<(), DataError> {
    let staging = Staging::new(directory)?;
    parquet::write(prepared, staging.path())?;
    write_bytes_atomic(&staging.path().join(STATISTICS), json(&prepared.statistics).as_bytes())?;
    // Another program may have made the same meanwhile, and be reading it.
    let made = || directory.join(STATISTICS).is_file();
    if made() {
        return Ok(());
    }
    match staging.commit() {
        Err(_) if made() => Ok(()),
        result => Ok(result?),
    }
}

fn read(directory: &Path, digest: String) -> Result<Prepared, DataError> {
    let path = directory.join(STATISTICS);
    let statistics = from_json(&path, &read_text(&path)?)?;
    let (documents, questions) = parquet::read(directory)?;
    Ok(Prepared { digest, documents, questions, statistics })
}

impl Prepared {
    /// The kinds of a question's gold nodes, for slices by evidence.
    pub fn gold_kinds(&self, question: &PreparedQuestion) -> Vec<NodeKind> {
        let nodes = &self.documents[question.document].nodes;
        question.gold.iter().map(|&node| nodes[node as usize].kind).collect()
    }
}

#[cfg(test)]
mod tests;
