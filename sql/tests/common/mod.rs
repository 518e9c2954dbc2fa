//! What the tests of this crate share.
#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;
use tabsegnet_sql::{QueryError, Rows, Sandbox, worker};

/// The program under test.
pub const QUERY: &str = env!("CARGO_BIN_EXE_query");

/// A new database of these statements.
pub fn database(folder: &Path, name: &str, sql: &str) -> PathBuf {
    let path = folder.join(name);
    let connection = Connection::open(&path).unwrap();
    connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.close().unwrap();
    path
}

/// All files of a folder, byte by byte.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

/// Runs a statement in a process of its own.
pub fn ask(database: &Path, hide: &[&str], sql: &str) -> Result<Rows, QueryError> {
    worker::query(OsStr::new(QUERY), database, &hiding(hide), sql).rows
}

/// The default sandbox, with hidden tables.
pub fn hiding(hide: &[&str]) -> Sandbox {
    Sandbox { hidden: hide.iter().map(|name| (*name).to_owned()).collect(), ..Sandbox::default() }
}

/// Runs the program, without the language model of whoever runs the tests.
pub fn run(arguments: &[&str], input: &[u8]) -> Output {
    run_with(arguments, input, &[])
}

/// The same with environment variables.
pub fn run_with(arguments: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Output {
    use std::io::Write as _;
    let mut command = Command::new(QUERY);
    for name in ["TABSEGNET_LLM_URL", "TABSEGNET_LLM_MODEL", "TABSEGNET_LLM_KEY"] {
        command.env_remove(name);
    }
    let mut child = command
        .envs(variables.iter().copied())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input may have ended.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}
