//! What a statement may cost and see.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use serde::{Deserialize, Serialize};

use crate::error::{QueryError, classify};
use crate::functions;

/// What a statement may cost and see. The default hides nothing and gives a statement one second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Tables and views that are as if they were not there, in any case (of ASCII letters); so is whatever reads them.
    pub hidden: Vec<String>,
    /// Wall-clock time for one statement.
    pub deadline: Duration,
    /// At most so many rows; further ones are left out and [`crate::Rows::truncated`] says so.
    pub rows: usize,
    /// At most so many bytes in all values of the rows, where a value counts eight more than its text or blob has.
    pub bytes: usize,
    /// At most so many bytes of memory for SQLite. SQLite counts for the whole process and a limit once set cannot be
    /// raised in it, so that only a process that does nothing else with SQLite should set it ([`crate::worker`] and the
    /// program `query` do).
    pub heap: Option<u64>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { hidden: Vec::new(), deadline: Duration::from_secs(1), rows: 1000, bytes: 1_000_000, heap: None }
    }
}

impl Sandbox {
    /// The same with room for what is read of tables to find a statement.
    #[must_use]
    pub fn for_reading(&self) -> Self {
        Self { rows: 5000, bytes: 20_000_000, ..self.clone() }
    }
}

/// The longest statement, in bytes.
pub(crate) const STATEMENT_BYTES: usize = 100_000;

/// The longest text or blob, in bytes.
const LENGTH: i32 = 1_000_000;

/// How many instructions of SQLite's machine run between two looks at the clock. One instruction can work on a value
/// of a megabyte and take a millisecond, so that they are few.
const INSTRUCTIONS: i32 = 100;

/// What a schema may need too, as SQLite parses it under the same limits, is left wider than any statement needs.
const LIMITS: [(Limit, i32); 14] = [
    (Limit::SQLITE_LIMIT_LENGTH, LENGTH),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, LENGTH),
    (Limit::SQLITE_LIMIT_COLUMN, 2000),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_PARSER_DEPTH, 1000),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
    // Full-text search and R-trees have parameters in statements of their own.
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 20),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    (Limit::SQLITE_LIMIT_SCHEMA, 100_000),
];

/// Puts a connection under the limits and the clock. The statements that SQLite prepares of itself are under them too.
pub(crate) fn restrict(
    connection: &mut Connection,
    sandbox: &Sandbox,
    clock: &std::sync::Arc<Clock>,
) -> Result<(), QueryError> {
    let clock = std::sync::Arc::clone(clock);
    let set = || -> rusqlite::Result<()> {
        // SQLite reads the schema at the first chance, which is under the limits too.
        connection.busy_timeout(Duration::from_millis(100).min(sandbox.deadline))?;
        for (limit, value) in LIMITS {
            connection.set_limit(limit, value)?;
        }
        functions::add(connection)?;
        connection.progress_handler(INSTRUCTIONS, Some(move || clock.is_over()))?;
        if let Some(heap) = sandbox.heap {
            let _: i64 = connection.query_row(&format!("PRAGMA hard_heap_limit={heap}"), [], |row| row.get(0))?;
        }
        for (config, value) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            // Else a name in double quotes that is not there, or no longer, is a text.
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
            (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        ] {
            connection.set_db_config(config, value)?;
        }
        // Sorting would write to temporary files: in memory it is under the cap of the heap.
        connection.execute_batch("PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192; PRAGMA mmap_size=0")?;
        connection.execute_batch("PRAGMA query_only=ON; PRAGMA cell_size_check=ON")
    };
    set().map_err(|error| match classify(&error) {
        // SQLite names the table whose definition it could not parse, and it may be a hidden one.
        QueryError::Failed { message } if !sandbox.hidden.is_empty() && message.starts_with(MALFORMED) => {
            QueryError::failed(MALFORMED)
        }
        other => other,
    })
}

/// How SQLite says that it cannot parse the schema.
const MALFORMED: &str = "malformed database schema";

/// When the statement that runs must end; shared with SQLite's progress handler.
pub(crate) struct Clock {
    start: Instant,
    /// Microseconds after `start`.
    end: AtomicU64,
}

impl Clock {
    pub(crate) fn new(time: Duration) -> Self {
        let clock = Self { start: Instant::now(), end: AtomicU64::new(0) };
        clock.give(time);
        clock
    }

    /// Gives so much time from now on.
    pub(crate) fn give(&self, time: Duration) {
        let end = self.start.elapsed().saturating_add(time).as_micros();
        self.end.store(u64::try_from(end).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Does something in so much time, or in what is left where that is less.
    pub(crate) fn within<T>(&self, time: Duration, work: impl FnOnce() -> T) -> T {
        let end = self.end.load(Ordering::Relaxed);
        self.give(time);
        self.end.fetch_min(end, Ordering::Relaxed);
        let result = work();
        self.end.store(end, Ordering::Relaxed);
        result
    }

    pub(crate) fn is_over(&self) -> bool {
        self.start.elapsed().as_micros() > u128::from(self.end.load(Ordering::Relaxed))
    }
}
