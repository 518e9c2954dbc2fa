//! Rows of Spider's statements, and whether others are right by Spider's rule: `DISTINCT` is left out of both, columns may
//! be in another order, rows too where the gold statement has no ORDER BY.
#![allow(dead_code, reason = "each user has a part")]

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::{Connection, OpenFlags};
use tabsegnet_sql::{Column, QueryError, Rows, Value};

/// A database of Spider.
pub fn open(data: &Path, name: &str) -> Result<Connection> {
    let file = data.join(format!("sql/spider/db/{name}.sqlite"));
    let mut connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.progress_handler(10_000, Some(clock()))?;
    Ok(connection)
}

thread_local! {
    static QUICK: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    static BEGUN: std::cell::Cell<Instant> = std::cell::Cell::new(Instant::now());
}

/// Stops a candidate after some hundredths of a second, a gold statement after three.
fn clock() -> impl FnMut() -> bool {
    || BEGUN.get().elapsed() > Duration::from_millis(if QUICK.get() { 40 } else { 3000 })
}

/// Rows of a candidate, and of a gold statement.
pub const MOST_ROWS: usize = 2000;
pub const GOLD_ROWS: usize = 100_000;

/// Runs a statement; nothing is checked.
pub fn run(connection: &Connection, sql: &str, most: usize) -> Result<Rows, QueryError> {
    let failed = |error: rusqlite::Error| QueryError::Refused { reason: error.to_string() };
    BEGUN.set(Instant::now());
    QUICK.set(most < GOLD_ROWS);
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let width = statement.column_count();
    let columns = (0..width).map(|_| Column { name: String::new(), table: None, column: None }).collect();
    let mut rows = Rows { columns, rows: Vec::new(), truncated: false };
    let mut found = statement.raw_query();
    while let Some(row) = found.next().map_err(failed)? {
        let values: Result<Vec<Value>, _> = (0..width).map(|at| row.get_ref(at).map(Value::from)).collect();
        rows.rows.push(values.map_err(failed)?);
        if rows.rows.len() >= most {
            rows.truncated = true;
            break;
        }
    }
    Ok(rows)
}

/// Without `DISTINCT`, as Spider's published evaluation takes statements.
pub fn without_distinct(sql: &str) -> String {
    let mut words = Vec::new();
    for word in sql.split(' ') {
        if !word.eq_ignore_ascii_case("distinct") {
            words.push(word);
        }
    }
    // count(DISTINCT x)
    let text = words.join(" ");
    let lower = text.to_ascii_lowercase();
    let mut out = String::new();
    let mut from = 0;
    while let Some(at) = lower.get(from..).and_then(|rest| rest.find("(distinct ")) {
        out.push_str(&text[from..from + at + 1]);
        from += at + "(distinct ".len();
    }
    out.push_str(&text[from..]);
    out
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        Value::Real(value) => format!("{value:.6}"),
        Value::Text(text) => text.clone(),
        Value::Blob(_) => "BLOB".to_owned(),
    }
}

/// Gold rows, for comparing.
pub struct Gold {
    rows: Vec<Vec<String>>,
    ordered: bool,
}

impl Gold {
    /// Those of a statement.
    pub fn new(sql: &str, connection: &Connection) -> Result<Self, QueryError> {
        let rows = run(connection, &without_distinct(sql), GOLD_ROWS)?;
        let rows = rows.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
        Ok(Self { rows, ordered: sql.to_lowercase().contains("order by") })
    }

    /// Whether a statement has these rows.
    pub fn is_of(&self, sql: &str, connection: &Connection) -> bool {
        run(connection, &without_distinct(sql), GOLD_ROWS).is_ok_and(|rows| self.is(&rows))
    }

    /// Whether rows are these, with columns in any order.
    pub fn is(&self, rows: &Rows) -> bool {
        let found: Vec<Vec<String>> = rows.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
        if found.len() != self.rows.len() {
            return false;
        }
        let width = self.rows.first().map_or(0, Vec::len);
        if found.first().map_or(0, Vec::len) != width || width > 6 {
            return found == self.rows;
        }
        permutations(width).iter().any(|order| {
            let mut mine: Vec<Vec<&String>> =
                found.iter().map(|row| order.iter().map(|at| &row[*at]).collect()).collect();
            let mut gold: Vec<Vec<&String>> = self.rows.iter().map(|row| row.iter().collect()).collect();
            if !self.ordered {
                mine.sort();
                gold.sort();
            }
            mine == gold
        })
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for shorter in permutations(count - 1) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, count - 1);
            found.push(longer);
        }
    }
    found
}
