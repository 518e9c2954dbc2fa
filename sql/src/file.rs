//! A database file under the limits of the sandbox.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use tabsegnet_records::{RecordsError, sqlite};

use crate::error::{QueryError, classify};
use crate::sandbox::{Clock, Sandbox, restrict};

/// Opens a database for reading and puts the connection under the limits.
pub(crate) fn connect(path: &Path, sandbox: &Sandbox, clock: &Arc<Clock>) -> Result<Connection, QueryError> {
    let explain = |error: QueryError| match error {
        QueryError::Failed { message } => {
            QueryError::failed(format!("{} cannot be read: {}", path.display(), sqlite::explained(path, message)))
        }
        other => other,
    };
    let mut connection = sqlite::open(path).map_err(|error| match error {
        RecordsError::Sqlite { error, .. } => explain(classify(&error)),
        RecordsError::File { path, message } => QueryError::failed(format!("{} {message}", path.display())),
        other => QueryError::failed(other.to_string()),
    })?;
    restrict(&mut connection, sandbox, clock).map_err(explain)?;
    Ok(connection)
}
