use std::path::{Path, PathBuf};

use tabsegnet_document::ReadError;

/// A file of records could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// What is wrong with it.
    #[error("{}: {message}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What was found, what was expected.
        message: String,
    },
    /// It could not be read at all, or is too large.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It has no columns.
    #[error("{}: no table was found; expected records with fields", .0.display())]
    Empty(PathBuf),
    /// What SQLite says of a database.
    #[error("{}: cannot be read: {error}", path.display())]
    Sqlite {
        /// Which.
        path: PathBuf,
        /// As SQLite says it.
        error: rusqlite::Error,
    },
}

impl RecordsError {
    pub(crate) fn file(path: &Path, message: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), message: message.into() }
    }

    pub(crate) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |error| Self::Sqlite { path: path.to_owned(), error }
    }
}
