//! What can go wrong before a question is answered.

use tabsegnet_corpus::CorpusError;
use tabsegnet_encoder::EncoderError;
use tabsegnet_ranker::checkpoint::CheckpointError;
use tabsegnet_records::RecordsError;
use tabsegnet_sql::QueryError;
use tabsegnet_sql::tables::ImportError;

/// Documents could not be taken in, or not be searched.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// A setting.
    #[error("chunks: {0}")]
    Setting(String),
    /// Two documents of one name.
    #[error("two documents are named {0:?}; expected each to have its own name")]
    Twice(String),
    /// A file that was named.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// Files and folders in which nothing can be read.
    #[error("{0}")]
    Files(String),
    /// The index of chunks.
    #[error(transparent)]
    Index(#[from] CorpusError),
    /// The encoder.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// The database of tables.
    #[error(transparent)]
    Tables(#[from] ImportError),
    /// The database of tables could not be read.
    #[error("the tables cannot be read: {0}")]
    Database(#[from] QueryError),
    /// No place for the index.
    #[error("no temporary folder could be made for the index: {0}")]
    Temporary(#[from] std::io::Error),
    /// The weights that come with the project.
    #[error("the reranker of chunks cannot be read: {0}")]
    Reranker(String),
}

impl From<CheckpointError> for LibraryError {
    fn from(error: CheckpointError) -> Self {
        Self::Reranker(error.to_string())
    }
}
