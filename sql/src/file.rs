//! Opening a database file for reading, without a write to it or beside it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rusqlite::{Connection, OpenFlags};

use crate::error::{QueryError, classify};
use crate::sandbox::{Clock, Sandbox, restrict};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The first bytes that are looked at.
const HEADER: usize = 20;

/// Opens a database for reading and puts the connection under the limits.
///
/// A database in WAL mode is read without its locks where its log is empty or missing (`immutable`), else with the
/// index of the log as it lies beside it (`readonly_shm`): SQLite would otherwise make or change files.
pub(crate) fn connect(path: &Path, sandbox: &Sandbox, clock: &Arc<Clock>) -> Result<Connection, QueryError> {
    let shown = path.display();
    let failed = |error: std::io::Error| QueryError::failed(format!("{shown} cannot be read: {error}"));
    // SQLite looks for the log beside the file that a link leads to.
    let file = std::fs::canonicalize(path).map_err(failed)?;
    if !file.is_file() {
        return Err(QueryError::failed(format!("{shown} is not a regular file")));
    }
    let mut header = [0; HEADER];
    let mut read = 0;
    let mut handle = File::open(&file).map_err(failed)?;
    while let Some(free @ [_, ..]) = header.get_mut(read..) {
        match handle.read(free).map_err(failed)? {
            0 => break,
            more => read += more,
        }
    }
    if !header.starts_with(MAGIC) {
        let found = if read == 0 { "is empty" } else { "is not a SQLite database, or is encrypted" };
        return Err(QueryError::failed(format!("{shown} {found}")));
    }
    let mode = if is_in_wal_mode(header) { wal_mode(&file)? } else { "" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(format!("{}?mode=ro{mode}", uri(&file)), flags);
    let explain = |error: QueryError| match error {
        QueryError::Failed { message } => {
            QueryError::failed(format!("{shown} cannot be read: {}", explained(&file, message)))
        }
        other => other,
    };
    let mut connection = opened.map_err(|error| explain(classify(&error)))?;
    restrict(&mut connection, sandbox, clock).map_err(explain)?;
    Ok(connection)
}

/// Whether a database's first bytes say so: the last two are what is needed to write it and to read it.
fn is_in_wal_mode([.., write_version, read_version]: [u8; HEADER]) -> bool {
    write_version == 2 || read_version == 2
}

/// What tells whether a database that is read without its locks was written since: size and time of change of the file,
/// and size of its log.
pub(crate) type State = (u64, Option<SystemTime>, u64);

/// The state of a database in WAL mode; `None` for others, which SQLite watches itself.
pub(crate) fn state_without_locks(path: &Path) -> Option<State> {
    let file = std::fs::canonicalize(path).ok()?;
    let mut header = [0; HEADER];
    File::open(&file).and_then(|mut handle| handle.read_exact(&mut header)).ok()?;
    let about = std::fs::metadata(&file).ok()?;
    let log = std::fs::metadata(beside(&file, "-wal")).map_or(0, |data| data.len());
    is_in_wal_mode(header).then(|| (about.len(), about.modified().ok(), log))
}

/// How a database in WAL mode is opened.
fn wal_mode(file: &Path) -> Result<&'static str, QueryError> {
    let log = beside(file, "-wal");
    if std::fs::metadata(&log).map_or(0, |data| data.len()) == 0 {
        return Ok("&immutable=1");
    }
    if beside(file, "-shm").is_file() {
        return Ok("&readonly_shm=1");
    }
    Err(QueryError::failed(format!(
        "{} is in WAL mode and its last changes are in {}, which cannot be read without making a file beside it; \
         open the database once with a program that may write (PRAGMA wal_checkpoint)",
        file.display(),
        log.display()
    )))
}

/// Why a database cannot be read, where SQLite says no more than that it would have to write.
fn explained(file: &Path, message: String) -> String {
    let journal = beside(file, "-journal");
    if message.contains("readonly database") && journal.is_file() {
        return format!(
            "a change to it was broken off, and is in {}; open the database once with a program that may write, which takes it back",
            journal.display()
        );
    }
    message
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    PathBuf::from(name)
}

/// A path as a URI; without one SQLite could be told options by the name of a file.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    let text = path.as_os_str().as_encoded_bytes();
    if cfg!(windows) {
        uri.push('/');
    }
    for &byte in text {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => uri.push(char::from(byte)),
            b'\\' | b':' if cfg!(windows) => uri.push(if byte == b':' { ':' } else { '/' }),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn names_of_files_give_no_options() {
        assert_eq!(uri(Path::new("/a b?mode=rw#%.db")), "file:/a%20b%3Fmode%3Drw%23%25.db");
    }
}
