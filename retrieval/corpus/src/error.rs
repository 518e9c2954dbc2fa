//! What can go wrong with a corpus.

use tabsegnet_datasets::DataError;
use tabsegnet_encoder::EncoderError;
use tabsegnet_store::FileError;

use crate::gtr::GtrError;

/// A corpus could not be made, changed, opened or searched.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file or directory could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line of a file of tables or questions.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Texts could not be encoded.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// A file of the index is not what it should be.
    #[error("{file}: {message}")]
    Damaged {
        /// The file.
        file: String,
        /// What was expected, what was found and what to do.
        message: String,
    },
    /// An index of another version of the program.
    #[error(
        "{file}: is of version {found} of corpora, this program reads {expected}; index its files again, into a new folder"
    )]
    OtherVersion {
        /// Its list of segments.
        file: String,
        /// Its version.
        found: u64,
        /// That of this program.
        expected: u64,
    },
    /// Graph-table retrieval.
    #[error(transparent)]
    Gtr(#[from] GtrError),
    /// There is no index where one was expected.
    #[error("{directory}: holds no corpus (no corpus.json); make one with index --output {directory} FILES…")]
    Missing {
        /// The directory.
        directory: String,
    },
    /// There is a file where the folder of an index was expected.
    #[error("{file}: is a file; expected the folder of a corpus, which index --output makes")]
    NoFolder {
        /// The file.
        file: String,
    },
    /// A folder that is no index has files that would be taken for an index' own.
    #[error("{file}: has a name as a corpus gives its own files; expected a folder without such, or a new one")]
    NoRoom {
        /// The file.
        file: String,
    },
    /// The index holds vectors of another encoder.
    #[error(
        "{directory}: its vectors are of {of_index}, this encoder is {given}; open it with the one that it was made \
         with, or make it anew"
    )]
    OtherEncoder {
        /// The index.
        directory: String,
        /// Identity and width of the index's.
        of_index: String,
        /// Those of the encoder given.
        given: String,
    },
    /// The encoder that the index was made with cannot be opened.
    #[error(
        "{directory}: the encoder that it was made with, {model}, could not be opened ({source}); if its folder lies elsewhere now, \
         index --output {directory} --encoder FOLDER says so"
    )]
    NoEncoder {
        /// The index.
        directory: String,
        /// The encoder's folder or name.
        model: String,
        /// Why not.
        source: Box<EncoderError>,
    },
    /// Another process is changing the index.
    #[error("{directory}: another process is changing this corpus; wait until it is done")]
    Locked {
        /// The index.
        directory: String,
    },
    /// A way to rank that is none, or whose settings cannot be.
    #[error("{given}: {message}")]
    Retriever {
        /// As it was given.
        given: String,
        /// What is wrong, and what is expected.
        message: String,
    },
    /// A setting out of its range.
    #[error("{key} is {value}; expected {expected}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// Its value.
        value: String,
        /// What may be.
        expected: &'static str,
    },
    /// A table that the index does not hold.
    #[error("{directory}: holds no table {id:?}")]
    NoTable {
        /// The index.
        directory: String,
        /// The id.
        id: String,
    },
}

impl CorpusError {
    /// Whether it is a setting that was given, and nothing of the corpus.
    pub fn is_of_settings(&self) -> bool {
        matches!(self, Self::Setting { .. } | Self::Retriever { .. } | Self::Gtr(GtrError::Setting { .. }))
    }
}

/// A damaged file of an index; the message says what to do.
pub(crate) fn damaged(file: &std::path::Path, message: impl std::fmt::Display) -> CorpusError {
    CorpusError::Damaged { file: file.display().to_string(), message: format!("{message}; make the corpus anew") }
}
