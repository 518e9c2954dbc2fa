//! SQLite databases: opened for reading, without a write to them or beside them, and read as documents.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tabsegnet_document::{KnownTable, ReadOptions};

use crate::error::RecordsError;
use crate::records::{ReadFile, Records};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Bytes of the header that a database begins with, <https://www.sqlite.org/fileformat.html>.
const HEADER: usize = 100;

/// Whether a file begins as SQLite databases do.
pub fn is_database(path: &Path) -> bool {
    first_bytes(path).is_ok_and(|(first, _)| first.starts_with(MAGIC))
}

/// Whether changes of a database are in a log beside it, and not in its file.
pub fn has_log(path: &Path) -> bool {
    state_without_locks(path).is_some_and(|(.., log)| log > 0)
}

fn first_bytes(path: &Path) -> std::io::Result<([u8; HEADER], usize)> {
    let (mut header, mut read) = ([0; HEADER], 0);
    let mut handle = File::open(path)?;
    while let Some(free @ [_, ..]) = header.get_mut(read..) {
        match handle.read(free)? {
            0 => break,
            more => read += more,
        }
    }
    Ok((header, read))
}

/// Opens a database for reading, without a write to it or beside it.
///
/// A database in WAL mode is read without its locks where its log is empty or missing (`immutable`), else with the
/// index of the log as it lies beside it (`readonly_shm`): SQLite would otherwise make or change files.
///
/// # Errors
/// It cannot be read, is none, or is cut off.
pub fn open(path: &Path) -> Result<Connection, RecordsError> {
    let wrong = |message: String| RecordsError::file(path, message);
    let unreadable = |error: std::io::Error| wrong(format!("cannot be read: {error}"));
    // SQLite looks for the log beside the file that a link leads to.
    let file = std::fs::canonicalize(path).map_err(unreadable)?;
    if !file.is_file() {
        return Err(wrong("is not a regular file".to_owned()));
    }
    let (header, read) = first_bytes(&file).map_err(unreadable)?;
    if !header.starts_with(MAGIC) {
        let found = if read == 0 { "is empty" } else { "is not a SQLite database, or is encrypted" };
        return Err(wrong(found.to_owned()));
    }
    let mode = if is_in_wal_mode(header) { wal_mode(path, &file)? } else { "" };
    let has = std::fs::metadata(&file).map_err(unreadable)?.len();
    // SQLite reads zeros where pages are cut off. A change that was broken off has them in the file beside it.
    if let Some(said) = says_bytes(header).filter(|&said| has < said)
        && !["-wal", "-journal"].iter().any(|&ending| size(&beside(&file, ending)) > 0)
    {
        return Err(wrong(format!("is cut off: it has {has} bytes, and says that it has {said}")));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(format!("{}?mode=ro{mode}", uri(&file)), flags).map_err(RecordsError::sqlite(path))
}

/// Reads a database as a document: its tables, as they were made, each with its name as caption. Views and virtual tables are
/// left out, and so is what is no text or number.
///
/// # Errors
/// It cannot be read.
pub fn read_database(path: &Path, options: &ReadOptions) -> Result<ReadFile, RecordsError> {
    let failed = RecordsError::sqlite(path);
    let connection = open(path)?;
    let tables = restrict(&connection).and_then(|()| tables(&connection)).map_err(&failed)?;
    let (mut blocks, mut cuts, mut cells) = (Vec::new(), Vec::new(), 0);
    for (number, name) in tables.into_iter().enumerate() {
        let most = options.limits.max_cells_per_table.min(options.limits.max_cells.saturating_sub(cells));
        let (records, all) = texts(&connection, &name, most).map_err(&failed)?;
        cells += records.cells();
        let known = KnownTable { number, caption: name, ..KnownTable::default() };
        blocks.push(records.into_table(path, known, all, &mut cuts)?);
    }
    Ok(ReadFile::of_tables(path, blocks, cuts))
}

/// The bytes that a database's header says it has, where the last change was by a program that writes it.
fn says_bytes(header: [u8; HEADER]) -> Option<u64> {
    let number =
        |at: usize| header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes);
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    (number(24) == number(92)).then_some(page * u64::from(number(28)))
}

/// What a database is allowed that nobody vouches for: its own expressions are evaluated, of computed columns.
fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 64 << 20)?;
    connection.execute_batch("PRAGMA query_only=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0")
}

/// The names of the tables that hold records, as they were made.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(
        "SELECT s.name FROM sqlite_schema s JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name \
         WHERE s.type = 'table' AND t.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid",
    )?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// A table's first records, at most so many cells of them, and how many it has.
fn texts(connection: &Connection, table: &str, most: usize) -> rusqlite::Result<(Records, usize)> {
    let quoted = format!("main.\"{}\"", table.replace('"', "\"\""));
    let mut statement = connection.prepare(&format!("SELECT * FROM {quoted}"))?;
    let columns = statement.column_count();
    let mut records = Records::new(statement.column_names().map(str::to_owned).collect(), most);
    let (mut rows, mut all) = (statement.query([])?, 0);
    while let Some(row) = rows.next()? {
        if records.is_full() {
            let all: i64 = connection.query_row(&format!("SELECT count(*) FROM {quoted}"), [], |row| row.get(0))?;
            return Ok((records, usize::try_from(all).unwrap_or_default()));
        }
        records.push((0..columns).map(|column| row.get_ref(column).map(cell)).collect::<rusqlite::Result<_>>()?);
        all += 1;
    }
    Ok((records, all))
}

/// A value as a cell says it: of pictures and the like nothing.
fn cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => String::new(),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => value.to_string(),
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Whether a database's header says so: what is needed to write it, and to read it.
fn is_in_wal_mode(header: [u8; HEADER]) -> bool {
    header[18] == 2 || header[19] == 2
}

/// What tells whether a database that is read without its locks was written since: size and time of change of the file,
/// and size of its log.
pub type State = (u64, Option<SystemTime>, u64);

/// The state of a database in WAL mode; `None` for others, which SQLite watches itself.
pub fn state_without_locks(path: &Path) -> Option<State> {
    let file = std::fs::canonicalize(path).ok()?;
    let (header, _) = first_bytes(&file).ok()?;
    let about = std::fs::metadata(&file).ok()?;
    let log = size(&beside(&file, "-wal"));
    (header.starts_with(MAGIC) && is_in_wal_mode(header)).then(|| (about.len(), about.modified().ok(), log))
}

/// How a database in WAL mode is opened.
fn wal_mode(path: &Path, file: &Path) -> Result<&'static str, RecordsError> {
    let log = beside(file, "-wal");
    if size(&log) == 0 {
        return Ok("&immutable=1");
    }
    if beside(file, "-shm").is_file() {
        return Ok("&readonly_shm=1");
    }
    Err(RecordsError::file(
        path,
        format!(
            "is in WAL mode and its last changes are in {}, which cannot be read without making a file beside it; \
             open the database once with a program that may write (PRAGMA wal_checkpoint)",
            log.display()
        ),
    ))
}

/// Why a database cannot be read, where SQLite says no more than that it would have to write.
pub fn explained(path: &Path, message: String) -> String {
    let journal = beside(&std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()), "-journal");
    if message.contains("readonly database") && journal.is_file() {
        return format!(
            "a change to it was broken off, and is in {}; open the database once with a program that may write, which takes it back",
            journal.display()
        );
    }
    message
}

/// A file's bytes; none where there is no file.
fn size(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |about| about.len())
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

    fn database(folder: &Path, sql: &str) -> PathBuf {
        let path = folder.join("shop.sqlite");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    }

    #[test]
    fn a_database_is_a_document_of_its_tables() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(
            folder.path(),
            "CREATE TABLE \"two \"\"words\" (name TEXT, price REAL, picture BLOB, doubled AS (price * 2));
             INSERT INTO \"two \"\"words\" VALUES ('a', 0.5, x'00ff'), (NULL, 2, NULL);
             CREATE TABLE empty (id INTEGER PRIMARY KEY AUTOINCREMENT, note);
             CREATE VIEW seen AS SELECT * FROM empty;
             CREATE VIRTUAL TABLE words USING fts5(text);",
        );
        assert!(is_database(&path) && !is_database(folder.path()));
        let read = read_database(&path, &ReadOptions::default()).unwrap();
        assert_eq!((read.document.id.as_str(), read.cuts.len()), ("shop", 0));
        let tables: Vec<&_> = read.document.tables().collect();
        let captions: Vec<&str> = tables.iter().map(|table| table.caption()).collect();
        assert_eq!(captions, ["two \"words", "empty"]);
        let first = tables[0];
        let texts = |row: usize| (0..4).map(move |column| first.cell_at(row, column).unwrap().text.as_str());
        assert_eq!(texts(0).collect::<Vec<_>>(), ["name", "price", "picture", "doubled"]);
        assert_eq!(texts(1).collect::<Vec<_>>(), ["a", "0.5", "", "1"]);
        assert_eq!(texts(2).collect::<Vec<_>>(), ["", "2", "", "4"]);
        assert_eq!((tables[1].number(), tables[1].rows(), tables[1].num_header_rows()), (1, 1, 1));
    }

    #[test]
    fn rows_beyond_the_cells_of_a_table_are_cut_off_and_damaged_files_told() {
        let folder = tempfile::tempdir().unwrap();
        let path =
            database(folder.path(), "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (3, 4), (5, 6), (7, 8)");
        let mut options = ReadOptions::default();
        options.limits.max_cells_per_table = 6;
        let read = read_database(&path, &options).unwrap();
        assert_eq!((read.cuts[0].rows, read.cuts[0].of), (2, Some(4)));
        assert!(read.cuts[0].warning.starts_with("t is cut off after 2 of 4 records"), "{}", read.cuts[0].warning);
        let bytes = std::fs::read(&path).unwrap();
        for (name, bytes) in [("half", &bytes[..5000]), ("none", &bytes[..16]), ("text", b"text".as_slice())] {
            let file = folder.path().join(name);
            std::fs::write(&file, bytes).unwrap();
            let error = read_database(&file, &options).unwrap_err().to_string();
            assert!(error.contains(name) && (name != "half" || error.contains("is cut off")), "{error}");
        }
        // What was broken off is in the file beside it.
        std::fs::write(folder.path().join("half-journal"), "not empty").unwrap();
        assert!(open(&folder.path().join("half")).is_ok());
    }
}
