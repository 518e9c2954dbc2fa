//! From documents and questions to ranked nodes.
//!
//! [`embedded`] puts vectors to prepared documents and questions, [`scores`] lets a model or a
//! [`baselines`] method score their nodes, [`ranker`] is the whole way from a checkpoint, a
//! document and a question to a ranking. [`open`] keeps a document ready for many questions,
//! [`documents`] its [`encoded`] form between runs.
//!
//! ```no_run
//! use std::path::Path;
//! use tabsegnet_datasets::prepared::PreparedDocument;
//! use tabsegnet_document::{ReadOptions, read};
//! use tabsegnet_ranker::device::DeviceChoice;
//! use tabsegnet::Ranker;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (device, _) = DeviceChoice::Auto.open()?;
//! let ranker = Ranker::open(Path::new("runs/quickstart/best"), device)?;
//! let report = read(Path::new("report.html"), &ReadOptions::default())?;
//! let document = ranker.encode(PreparedDocument::new(&report.document, &ranker.settings().graph), None)?;
//! let open = ranker.open_document(document)?;
//! for question in ["What was revenue in 2019?", "And in 2018?"] {
//!     println!("{}", open.rank("", question, 10)?.nodes[0].id);
//! }
//! # Ok(())
//! # }
//! ```

pub mod baselines;
pub mod context;
pub mod documents;
pub mod embedded;
pub mod encoded;
pub mod features;
pub mod open;
pub mod ranker;
pub mod scores;
pub mod settings;
pub mod table;

pub use documents::{DocumentCache, DocumentKey};
pub use embedded::Embedded;
pub use encoded::EncodedDocument;
pub use open::OpenDocument;
pub use ranker::{RankedNode, Ranker, Ranking};

use std::path::Path;

use tabsegnet_datasets::DataError;
use tabsegnet_encoder::EncoderError;
use tabsegnet_ranker::batch::BatchError;
use tabsegnet_ranker::checkpoint::CheckpointError;
use tabsegnet_ranker::device::DeviceError;
use tabsegnet_segmenter::SegmenterError;

/// A ranking could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RankingError {
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The encoder or its cache.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
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
    /// A question without a word.
    #[error("the question is blank; expected a question in words")]
    BlankQuestion,
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
