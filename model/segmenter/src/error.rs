//! What can go wrong between a model's files and the segments of a question.

use std::path::PathBuf;

use tabsegnet_encoder::EncoderError;
use tabsegnet_store::FileError;

/// A segmenter could not be opened or failed on a question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmenterError {
    /// The configuration names a kind that does not exist.
    #[error("segmenter.kind = {kind:?}: expected rules, t5, given or none")]
    UnknownKind {
        /// What it was set to.
        kind: String,
    },
    /// A command line names a segmenter that does not exist.
    #[error("segmenter {name:?}: expected rules, t5, none or the folder of a T5 in Hugging Face layout")]
    UnknownName {
        /// What it names.
        name: String,
    },
    /// The segments that a data set gives were requested a question that is of none.
    #[error(
        "segmenter.kind = \"given\" takes the segments that a data set gives with its questions, an upper bound for measurement only; a question of your own has none: train with segmenter.kind = \"rules\" or \"t5\""
    )]
    Given,
    /// A value of the configuration cannot be used.
    #[error("{key} = {value}: expected {expected}")]
    Setting {
        /// The key.
        key: &'static str,
        /// What it was set to.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// The model's directory is not there.
    #[error(
        "{}: there is no such directory; give `{key}` the directory of a T5 in Hugging Face layout, or a hub name such as \"google/flan-t5-small\"",
        .path.display()
    )]
    NoDirectory {
        /// The directory that was requested.
        path: PathBuf,
        /// The key of the configuration.
        key: &'static str,
    },
    /// The hub did not give a file.
    #[error(transparent)]
    Hub(#[from] EncoderError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file that every T5 has is not there.
    #[error("{place}: there is no {file}; a T5 has config.json, tokenizer.json and model.safetensors{hint}")]
    MissingFile {
        /// The directory or the hub repository.
        place: String,
        /// The file's name.
        file: &'static str,
        /// What may be done about it.
        hint: &'static str,
    },
    /// A file is not what it should be.
    #[error("{}: {reason}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was read and what was expected.
        reason: String,
    },
    /// A line of a training file is not what it should be.
    #[error("{}, line {line}: {reason}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What was read and what was expected.
        reason: String,
    },
    /// A tokenizer could not be trained.
    #[error("no tokenizer could be trained on {texts} texts with a vocabulary of {vocabulary}: {reason}")]
    Vocabulary {
        /// Texts given.
        texts: usize,
        /// Tokens requested.
        vocabulary: usize,
        /// Why not and what to do.
        reason: String,
    },
    /// The tokenizer refused a text.
    #[error("could not split the question {question:?} into tokens: {reason}")]
    Tokenise {
        /// The question.
        question: String,
        /// The tokenizer's reason.
        reason: String,
    },
    /// The engine failed on a question that should have been within its limits.
    #[error("the segmenter's engine failed: {reason}")]
    Engine {
        /// The engine's own words.
        reason: String,
    },
    /// A segmenter that is no model of this crate.
    #[error("no segments of {question:?} from {segmenter}")]
    Other {
        /// The question.
        question: String,
        /// Its identity.
        segmenter: String,
        /// Its own words.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Logits that are no numbers.
    #[error(
        "the segmenter's logits are not finite at token {position} of its output; the weights are damaged or not meant for f32"
    )]
    NotFinite {
        /// From 0.
        position: usize,
    },
}

impl SegmenterError {
    /// Whether the configuration is at fault.
    pub fn is_setting(&self) -> bool {
        match self {
            Self::UnknownKind { .. } | Self::UnknownName { .. } | Self::Setting { .. } | Self::NoDirectory { .. } => {
                true
            }
            Self::Hub(error) => error.is_setting(),
            _ => false,
        }
    }
}

impl From<candle_core::Error> for SegmenterError {
    fn from(error: candle_core::Error) -> Self {
        Self::Engine { reason: error.to_string() }
    }
}
