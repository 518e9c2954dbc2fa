//! From documents and questions to ranked nodes.
//!
//! [`embedded`] puts vectors to prepared documents and questions, [`scores`] lets a model or a
//! [`baselines`] method score their nodes, [`ranker`] is the whole way from a checkpoint, a
//! document and a question to a ranking.

pub mod baselines;
pub mod embedded;
pub mod ranker;
pub mod scores;
pub mod settings;
pub mod table;

pub use embedded::Embedded;
pub use ranker::{RankedNode, Ranker, Ranking};

use tabsegnet_data::DataError;
use tabsegnet_encoder::{EncoderError, SegmenterError};
use tabsegnet_model::batch::BatchError;
use tabsegnet_model::checkpoint::CheckpointError;
use tabsegnet_model::device::DeviceError;

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
    /// A question without a word.
    #[error("the question is blank; expected a question in words")]
    BlankQuestion,
}
