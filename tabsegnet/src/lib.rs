//! Ranks the cells, headers and sentences of a document by how much a question needs them, and says where each stands.
//!
//! ```
//! use tabsegnet::Session;
//!
//! # std::env::set_current_dir("..")?;
//! let session = Session::open("checkpoints/general")?;
//! let report = session.open_document("tabsegnet/examples/report.json")?;
//! for node in report.rank("What was long-term deferred revenue on June 30, 2009?")?.nodes {
//!     println!("{:>2}. {:8} {}", node.rank, node.id, node.text);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Session`] is a checkpoint opened for ranking, an [`OpenDocument`] a document opened with it: it answers
//! questions ([`OpenDocument::rank`]), says where scores come from ([`OpenDocument::explain`]) and puts the best
//! nodes into a text for a language model ([`OpenDocument::context`]). Both are owned, cheap to clone and shared
//! by threads; what they return goes through serde both ways. The examples tell the rest, one thing each.
//!
//! Training and evaluation use the same path for many documents at once: [`embedded`] puts vectors to the documents and
//! questions of a data set, [`scores`] lets a model score their nodes as an open document does, [`baselines`] are what
//! it is measured beside.

pub mod baselines;
pub mod context;
pub mod corpus;
mod dataset;
mod documents;
pub mod duplicates;
pub mod embedded;
mod encoded;
pub mod features;
mod language;
mod open;
pub mod progress;
pub mod questions;
pub mod ranking;
pub mod scores;
mod session;
pub mod settings;
pub mod table;

pub use context::Context;
pub use corpus::{Corpus, TableRanking};
pub use dataset::JudgedRanking;
pub use embedded::Embedded;
pub use open::{Explained, OpenDocument, Question};
pub use ranking::{RankedNode, Ranking};
pub use session::{Opening, Session, SessionOptions};
pub use tabsegnet_datasets::document;
pub use tabsegnet_document::{Format, Location, Locations, ReadDocument, ReadOptions};
pub use tabsegnet_encoder as encoder;
pub use tabsegnet_graph::{Graph, Node, NodeKind, NodeRef};
pub use tabsegnet_ranker::device::DeviceChoice;
pub use tabsegnet_segmenter as segmenter;

use std::path::Path;

use tabsegnet_corpus::CorpusError;
use tabsegnet_datasets::DataError;
use tabsegnet_datasets::document::TableError;
use tabsegnet_document::ReadError;
use tabsegnet_encoder::EncoderError;
use tabsegnet_lexical::glossary::GlossaryError;
use tabsegnet_lexical::question::UnfitQuestion;
use tabsegnet_ranker::batch::BatchError;
use tabsegnet_ranker::checkpoint::CheckpointError;
use tabsegnet_ranker::device::{DeviceError, DeviceFailure};
use tabsegnet_segmenter::SegmenterError;
use tabsegnet_store::{StoreError, USAGE};

/// A ranking could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RankingError {
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The document.
    #[error(transparent)]
    Document(#[from] ReadError),
    /// The corpus of tables.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// A table of the corpus that fits into no document.
    #[error(
        "table {id:?}: {reason}; its nodes cannot be ranked and it has no page: ask for fewer tables, or for tables alone"
    )]
    Table {
        /// Its id.
        id: String,
        /// Why it does not.
        reason: TableError,
    },
    /// What is kept between runs.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The encoder or its cache.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// A glossary.
    #[error(transparent)]
    Glossary(#[from] GlossaryError),
    /// The segmenter.
    #[error(transparent)]
    Segmenter(#[from] SegmenterError),
    /// What goes into the model.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A device that failed at work.
    #[error(transparent)]
    Failure(#[from] DeviceFailure),
    /// A context with no room for a node.
    #[error(transparent)]
    Context(#[from] context::TooSmall),
    /// The config of a checkpoint.
    #[error("{file}: {message}")]
    Settings {
        /// The file.
        file: String,
        /// What was expected.
        message: String,
    },
    /// The checkpoint was trained with another encoder or segmenter.
    #[error(
        "{checkpoint}: was trained with the {what} {expected}, but the config names one that is {found}; \
             give the {what} it was trained with"
    )]
    Identity {
        /// The checkpoint.
        checkpoint: String,
        /// `encoder` or `segmenter`.
        what: &'static str,
        /// Identity in the manifest.
        expected: String,
        /// Identity of what was opened.
        found: String,
    },
    /// A baseline without what it takes.
    #[error("the baseline {name} takes {what}")]
    Baseline {
        /// Its name.
        name: &'static str,
        /// What is missing and how to give it.
        what: &'static str,
    },
    /// Who names nodes for a baseline failed.
    #[error("question {question}: no nodes were named")]
    Retriever {
        /// The question's id.
        question: String,
        /// Its own words.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A score that no order can be made of.
    #[error(
        "question {question}: the score of node {node} is {score}; the weights do not fit the vectors, train again"
    )]
    NotFinite {
        /// The question's id.
        question: String,
        /// The node's id.
        node: String,
        /// The score.
        score: f32,
    },
    /// A vector that no score can be made of.
    #[error(
        "{of}: component {component} of its vector is {value}; the encoder's weights or the cache of vectors are damaged"
    )]
    VectorNotFinite {
        /// Whose vector, in words.
        of: String,
        /// From 0.
        component: usize,
        /// The value.
        value: f32,
    },
    /// A question without a word, or one that is too long.
    #[error(transparent)]
    Question(#[from] UnfitQuestion),
}

impl RankingError {
    /// Whether the command line or a config is at fault: programs end with exit code 2 then.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Glossary(_)
            | Self::Question(_)
            | Self::Device(DeviceError::NotBuilt(_) | DeviceError::Unknown(_)) => true,
            Self::Corpus(error) => error.is_of_settings(),
            Self::Segmenter(error) => error.is_setting(),
            _ => false,
        }
    }
}

/// The exit code of a program of questions for an error, where that is its own: for `tabsegnet_store::exit`.
pub fn exit_code(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    let is_usage = cause.downcast_ref().is_some_and(RankingError::is_usage)
        || matches!(cause.downcast_ref(), Some(questions::QuestionError::Given(_)));
    is_usage.then_some(USAGE)
}

/// That a checkpoint is used with what it was trained with: `parts` names each, its identity in the manifest and that of what was
/// opened.
///
/// # Errors
/// [`RankingError::Identity`] for the first that is another.
pub fn check_identities(checkpoint: &Path, parts: &[(&'static str, &str, &str)]) -> Result<(), RankingError> {
    match parts.iter().find(|(_, expected, found)| expected != found) {
        None => Ok(()),
        Some(&(what, expected, found)) => Err(RankingError::Identity {
            checkpoint: checkpoint.display().to_string(),
            what,
            expected: expected.to_owned(),
            found: found.to_owned(),
        }),
    }
}
