//! The prepared data set: documents as graphs, questions with the nodes that answer them, and their segments. The
//! crate `tabsegnet-prepared` keeps it as files.

mod statistics;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use statistics::Statistics;

use crate::error::DataError;
use crate::source::{Source, json};
use tabsegnet_document::ReadError;
use tabsegnet_document::model::Document;
use tabsegnet_graph::{Graph, GraphConfig, Node};
use tabsegnet_store::Digest;

/// Changes when the schema of the files that keep it or the meaning of a setting does.
const FORMAT: u32 = 8;

/// Changes with the sources that read files and make graphs of them: what an earlier program read is not taken for what this
/// one would read.
pub const READER: &str = env!("TABSEGNET_READER");

/// A document ready for training and ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedDocument {
    /// The document's name.
    pub id: String,
    /// Its graph.
    pub graph: Graph,
    /// `[nodes]`: what the encoder and the lexical rankers read.
    pub ranking_texts: Vec<String>,
}

impl PreparedDocument {
    /// Builds the graph of a document.
    pub fn new(document: &Document, config: &GraphConfig) -> Self {
        let graph = Graph::of(document);
        let ranking_texts = graph.nodes().iter().map(|node| node.ranking_text(config.cell_text)).collect();
        Self { id: document.id.clone(), graph, ranking_texts }
    }

    /// Nodes in document order.
    pub fn nodes(&self) -> &[Node] {
        self.graph.nodes()
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

/// A segment of a question and the nodes that show what it asks for.
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

/// Prepares `source` without files: nothing is read back or kept.
///
/// # Errors
/// What is wrong with the inputs; a gold id that names no node.
pub fn prepare_in_memory(source: &Source, settings: &PrepareSettings) -> Result<Prepared, DataError> {
    make(source, settings, digest(source, settings)?)
}

/// Prepares `source`, whose [`digest`] with these settings is given.
///
/// # Errors
/// What is wrong with the inputs; a gold id that names no node.
pub fn make(source: &Source, settings: &PrepareSettings, digest: String) -> Result<Prepared, DataError> {
    let (place, samples) = (source.describe(), source.read()?);
    let mut documents = Vec::with_capacity(samples.samples.len());
    let mut questions = Vec::new();
    let mut seen = HashMap::new();
    for sample in samples.samples {
        let document = PreparedDocument::new(&sample.document, &settings.graph);
        let numbers: HashMap<&str, u32> =
            document.nodes().iter().zip(0..).map(|(node, number)| (node.id.as_str(), number)).collect();
        for (position, question) in sample.questions.into_iter().enumerate() {
            let error = |field: String, message: String| {
                let (file, record) = (place.clone(), sample.document.id.clone());
                let field = format!("questions[{position}] ({}).{field}", question.id);
                DataError::from(ReadError::Record { file, record, field, message })
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

/// A digest of everything that the prepared data set depends on, 64 hexadecimal digits.
///
/// # Errors
/// Inputs that cannot be read.
pub fn digest(source: &Source, settings: &PrepareSettings) -> Result<String, DataError> {
    let digest = Digest::new().part(b"prepared").part(FORMAT.to_le_bytes()).part(READER).part(json(settings));
    Ok(source.digest(digest)?.hex())
}

#[cfg(test)]
#[path = "../sources.rs"]
mod sources;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn what_is_kept_goes_with_the_sources_that_read() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("src");
        fs::create_dir_all(folder.join("html")).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("a.rs", "1");
        write("html/b.rs", "2");
        let digest = || sources::digest(std::slice::from_ref(&folder)).unwrap();
        let first = digest();
        write("words.toml", "words");
        assert_eq!(digest(), first);
        write("html/b.rs", "3");
        let changed = digest();
        assert_ne!(changed, first);
        fs::rename(folder.join("a.rs"), folder.join("c.rs")).unwrap();
        assert_ne!(digest(), changed);
        assert!(sources::digest(&[folder.join("none")]).is_err());
    }

    #[test]
    fn the_reader_is_that_of_the_sources_here() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = sources::FOLDERS.map(|folder| root.join(folder));
        assert_eq!(READER, format!("{:016x}", sources::digest(&folders).unwrap()));
    }
}
