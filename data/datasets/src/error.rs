//! What can be wrong with data from outside.

use std::path::Path;

use tabsegnet_document::ReadError;
use tabsegnet_store::FileError;

/// An input could not be used. Every variant says which file, where in it, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not the JSON that was expected.
    #[error("{file}: {place}: {message}")]
    Json {
        /// The file.
        file: String,
        /// The field as a path (`[3].qa.program`), or "the whole file".
        place: String,
        /// What was expected, with line and column.
        message: String,
    },
    /// A record is JSON of the right form but cannot be used.
    #[error("{file}: record {record}, field {field}: {message}")]
    Record {
        /// The file.
        file: String,
        /// The record's id, or its position where it has none.
        record: String,
        /// The field as a path.
        field: String,
        /// What was expected, what was found, what to do.
        message: String,
    },
    /// A document of a form that cannot be read, or beyond a limit.
    #[error(transparent)]
    Document(ReadError),
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

impl From<ReadError> for DataError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::File(error) => Self::File(error),
            ReadError::Json { file, place, message } => Self::Json { file, place, message },
            ReadError::Record { file, record, field, message } => Self::Record { file, record, field, message },
            other => Self::Document(other),
        }
    }
}

/// Reads JSON with errors that name the field.
pub(crate) fn from_json<T: serde::de::DeserializeOwned>(file: &Path, text: &str) -> Result<T, DataError> {
    Ok(tabsegnet_document::from_json(file, text)?)
}
