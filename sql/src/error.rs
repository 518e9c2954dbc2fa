//! Why a statement was not answered.

use rusqlite::ErrorCode;
use serde::{Deserialize, Serialize};

/// Why a statement was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum QueryError {
    /// The statement is at fault: it is not SQL, names what is not there, or asks for what is not allowed.
    #[error("refused: {reason}")]
    Refused {
        /// What is wrong with it, in one line. A hidden table reads here like one that does not exist.
        reason: String,
    },
    /// The statement is allowed but asks for too much.
    #[error("stopped: {limit}")]
    Stopped {
        /// The limit that was reached: its name, a colon, its value.
        limit: String,
    },
    /// The database could not be read: no file, no SQLite database, corrupt, locked.
    #[error("{message}")]
    Failed {
        /// What was read, what was found, what to do.
        message: String,
    },
}

impl QueryError {
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }

    pub(crate) fn stopped(limit: impl Into<String>) -> Self {
        Self::Stopped { limit: limit.into() }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into() }
    }
}

/// What SQLite says where a statement is over one of its limits and the code is that of any other error.
const LIMITS: [&str; 11] = [
    "Expression tree is too large", "too many terms in", "too many columns", "too many arguments on function",
    "too many FROM clause terms", "too many references to", "tables in a join", "parser stack overflow",
    "Recursion limit", "nested too deep", "LIKE or GLOB pattern too complex",
];

/// The code and the words of an error of SQLite; none where it is an error of the bindings.
pub(crate) fn code_and_message(error: &rusqlite::Error) -> Option<(ErrorCode, String)> {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => {
            Some((code.code, message.clone().unwrap_or_else(|| code.to_string())))
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => Some((error.code, msg.clone())),
        _ => None,
    }
}

/// What an error of SQLite means for whoever sent the statement.
pub(crate) fn classify(error: &rusqlite::Error) -> QueryError {
    let Some((code, message)) = code_and_message(error) else {
        return match error {
            rusqlite::Error::MultipleStatement => QueryError::refused("more than one statement"),
            rusqlite::Error::Empty => QueryError::refused("no statement"),
            other => QueryError::refused(other.to_string()),
        };
    };
    match code {
        ErrorCode::OperationInterrupted => QueryError::stopped("time"),
        ErrorCode::OutOfMemory => QueryError::stopped("memory"),
        ErrorCode::TooBig => QueryError::stopped(format!("length: {message}")),
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::SystemIoFailure
        | ErrorCode::CannotOpen
        | ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::ReadOnly
        | ErrorCode::PermissionDenied
        | ErrorCode::DiskFull
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::SchemaChanged
        | ErrorCode::InternalMalfunction => QueryError::failed(message),
        _ if LIMITS.iter().any(|limit| message.contains(limit)) => QueryError::stopped(format!("statement: {message}")),
        _ if message.contains("too many SQL variables") || message.contains("variable number must be") => {
            QueryError::refused("parameters (?, :name, @name, $name) have no value here")
        }
        _ => QueryError::refused(message),
    }
}
