//! What can be wrong with data from outside.

use tabsegnet_document::ReadError;
use tabsegnet_store::FileError;

/// An input could not be used. Every variant says which file, where in it, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file, or a record or document in it, could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Settings that do not fit together or do not fit the data.
    #[error("{key}: {message}")]
    Setting {
        /// The setting's key, such as `data.train`.
        key: &'static str,
        /// What is wrong and what to do.
        message: String,
    },
    /// A prepared data set could not be written or read through polars.
    #[error("{file}: {message}")]
    Prepared {
        /// The Parquet file.
        file: String,
        /// What went wrong and what to do.
        message: String,
    },
}

impl From<FileError> for DataError {
    fn from(error: FileError) -> Self {
        Self::Read(error.into())
    }
}
