//! A database that another program changes while it is open.

mod common;

use std::time::Duration;

use common::{database, hiding};
use rusqlite::Connection;
use tabsegnet_sql::generate::Labels;
use tabsegnet_sql::schema_graph::{Semantics, SqlDialect};
use tabsegnet_sql::{Database, QueryError, Target, Value, propose};

const CONCERTS: &str = "CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, mood TEXT);
    INSERT INTO singer VALUES (1, 'Ann', 30, 'good'), (2, 'Bo', 41, 'bad'), (3, 'Cy', 22, 'good');
    CREATE TABLE concert (id INTEGER PRIMARY KEY, singer_id INTEGER REFERENCES singer, year INTEGER);
    INSERT INTO concert VALUES (1, 1, 2019), (2, 3, 2020);";

/// The statement that a question gets, and its rows.
fn answer(opened: &Database, question: &str) -> (String, Vec<Vec<Value>>) {
    let sql = chosen(opened, question).unwrap_or_else(|| panic!("{question}"));
    let rows = opened.query(&sql).unwrap().rows;
    (sql, rows)
}

fn chosen(opened: &Database, question: &str) -> Option<String> {
    let (schema, semantics, labels) = (opened.schema().unwrap(), Semantics::default(), Labels::new());
    let target = Target { schema: &schema, semantics: &semantics, dialect: SqlDialect::Sqlite, labels: &labels };
    let found = propose(question, target, Duration::from_secs(60), &mut |sql| opened.query(sql)).unwrap();
    found.chosen().map(|chosen| chosen.sql.clone())
}

fn names(opened: &Database, sql: &str) -> Vec<String> {
    opened.query(sql).unwrap().columns.into_iter().map(|column| column.name).collect()
}

#[test]
fn a_schema_may_change_between_two_questions() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", CONCERTS);
    let opened = Database::open(&path, &hiding(&[])).unwrap();
    assert_eq!(answer(&opened, "What is the age of Ann?").1, [[Value::Integer(30)]]);
    assert_eq!(answer(&opened, "How many concerts are there?").1, [[Value::Integer(2)]]);
    assert_eq!(names(&opened, "SELECT * FROM singer"), ["id", "name", "age", "mood"]);
    let writer = Connection::open(&path).unwrap();
    writer
        .execute_batch(
            "ALTER TABLE singer RENAME COLUMN age TO years; ALTER TABLE singer DROP COLUMN mood; DROP TABLE concert;
             CREATE TABLE later (a)",
        )
        .unwrap();
    // The first statement that meets the change, too, has the names of now.
    assert_eq!(names(&opened, "SELECT * FROM singer"), ["id", "name", "years"]);
    let (sql, rows) = answer(&opened, "What is the years of Ann?");
    assert_eq!(rows, [[Value::Integer(30)]], "{sql}");
    // Nor is something else counted for what is gone.
    assert_eq!(chosen(&opened, "How many concerts are there?"), None);
    let schema = opened.schema().unwrap();
    assert_eq!(schema.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["singer"]);
    for (sql, reason) in [
        ("SELECT age FROM singer", "no such column: age"),
        ("SELECT singer.mood FROM singer", "no such column: singer.mood"),
        ("SELECT year FROM concert", "no such table: concert"),
        // As no text either, as SQLite would have it.
        ("SELECT \"age\" FROM singer", "no such column: \"age\" - should this be a string literal in single-quotes?"),
        ("SELECT \"singer\".\"age\" FROM singer", "no such column: singer.age"),
        (
            "SELECT id FROM singer WHERE \"mood\" = 'good'",
            "no such column: \"mood\" - should this be a string literal in single-quotes?",
        ),
    ] {
        assert_eq!(opened.query(sql), Err(QueryError::Refused { reason: reason.to_owned() }), "{sql}");
    }
    assert!(matches!(opened.query("SELECT a FROM later"), Err(QueryError::Refused { .. })));
    assert!(Database::open(&path, &hiding(&[])).unwrap().query("SELECT a FROM later").is_ok());
}

/// The first statement after a change is one that the change made wrong.
#[test]
fn what_is_gone_is_said() {
    for (change, sql, reason) in [
        ("ALTER TABLE singer RENAME COLUMN age TO years", "SELECT age FROM singer", "no such column: age"),
        (
            "ALTER TABLE singer RENAME COLUMN age TO years",
            "SELECT \"age\" FROM singer",
            "no such column: \"age\" - should this be a string literal in single-quotes?",
        ),
        ("DROP TABLE concert", "SELECT * FROM concert", "no such table: concert"),
        ("ALTER TABLE singer RENAME TO artist", "SELECT name FROM singer", "no such table: singer"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path(), "a.db", CONCERTS);
        let opened = Database::open(&path, &hiding(&[])).unwrap();
        assert!(opened.query(sql).is_ok());
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        assert_eq!(opened.query(sql), Err(QueryError::Refused { reason: reason.to_owned() }), "{change}");
    }
}

/// In WAL mode a database is read without locks while its log is empty: what is written later is told, and not missed.
#[test]
fn a_database_in_wal_mode_that_was_written_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wal.db");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch(&format!("PRAGMA journal_mode=WAL; {CONCERTS} PRAGMA wal_checkpoint(TRUNCATE)")).unwrap();
    let count = "SELECT count(*) FROM singer";
    let opened = Database::open(&path, &hiding(&[])).unwrap();
    assert_eq!(opened.query(count).unwrap().rows, [[Value::Integer(3)]]);
    writer.execute_batch("INSERT INTO singer VALUES (4, 'Di', 50, 'good')").unwrap();
    let Err(QueryError::Failed { message }) = opened.query(count) else { panic!("a change was missed") };
    assert!(message.contains("written since it was opened"), "{message}");
    let again = Database::open(&path, &hiding(&[])).unwrap();
    assert_eq!(again.query(count).unwrap().rows, [[Value::Integer(4)]]);
}
