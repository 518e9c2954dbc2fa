//! A database behind the sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::hooks::AuthContext;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement, StatementStatus};
use tabsegnet_records::sqlite;

use crate::catalogue::{Catalogue, Kind, Object, lacks_table, mentions, quote};
use crate::error::{QueryError, classify};
use crate::origins::{self, Origins};
use crate::policy::Policy;
use crate::rows::{Column, Rows, Value};
use crate::sandbox::{Clock, Sandbox, restrict};
use crate::schema::{self, Schema};
use crate::{file, statement};

/// A SQLite database that statements can only read, and only what may be seen of it.
///
/// It holds back what a statement could do wrong, with one exception: `replace`, `instr` and `trim` on texts of a
/// megabyte can outlast the deadline. [`crate::worker`] has none.
///
/// What another program changes while it is open counts from the next statement on, but tables and views that are made
/// then cannot be read until it is opened anew; nor can a database in WAL mode whose log was empty, which says so.
pub struct Database {
    path: PathBuf,
    sandbox: Sandbox,
    connection: Connection,
    clock: Arc<Clock>,
    policy: Arc<Policy>,
    catalogue: Catalogue,
    /// As it was opened, where it is read without locks.
    state: Option<sqlite::State>,
}

impl Database {
    /// Opens a database for reading. Nothing is written, neither to the file nor beside it.
    ///
    /// # Errors
    /// [`QueryError::Failed`] where there is no file, no SQLite database, a corrupt or a locked one, or one whose
    /// changes lie in a log that cannot be read without writing; [`QueryError::Stopped`] where the schema is too large
    /// for the deadline.
    pub fn open(path: &Path, sandbox: &Sandbox) -> Result<Self, QueryError> {
        let clock = Arc::new(Clock::new(sandbox.deadline));
        // Before it is read: what is written then is noticed.
        let state = sqlite::state_without_locks(path).filter(|(.., log)| *log == 0);
        let mut connection = file::connect(path, sandbox, &clock)?;
        let mut catalogue = Catalogue::read(&mut connection, &clock, &sandbox.hidden).map_err(|error| match error {
            QueryError::Failed { message } => {
                QueryError::failed(format!("{} cannot be read: {message}", path.display()))
            }
            other => other,
        })?;
        if catalogue.suspects().next().is_some() {
            let objects = catalogue.named_in(catalogue.suspects().map(|view| view.sql.as_str()));
            let outline = outline(&file::connect(path, sandbox, &clock)?, &objects, sandbox, &clock)?;
            catalogue.hide_views_without_tables(&outline);
        }
        let policy = Policy::new(catalogue.readable(), catalogue.internal.clone(), catalogue.hidden.clone());
        let policy = Arc::new(policy);
        authorize(&mut connection, &policy)?;
        Ok(Self { path: path.to_owned(), sandbox: sandbox.clone(), connection, clock, policy, catalogue, state })
    }

    /// The names in [`Sandbox::hidden`] that the database does not have.
    pub fn not_there(&self) -> &[String] {
        &self.catalogue.not_there
    }

    /// Runs one statement that reads.
    ///
    /// # Errors
    /// [`QueryError`] says whether the statement is at fault, a limit was reached or the database could not be read.
    pub fn query(&self, sql: &str) -> Result<Rows, QueryError> {
        self.query_within(sql, self.sandbox.deadline)
    }

    /// As [`Database::query`], with another deadline.
    pub(crate) fn query_within(&self, sql: &str, time: Duration) -> Result<Rows, QueryError> {
        statement::check(sql)?;
        if self.state.is_some() && sqlite::state_without_locks(&self.path) != self.state {
            let path = self.path.display();
            return Err(QueryError::failed(format!(
                "{path} is in WAL mode and was written since it was opened; open it again"
            )));
        }
        self.clock.give(time);
        self.answer(sql).map_err(|error| match error {
            QueryError::Stopped { limit } if limit == "time" => {
                QueryError::stopped(format!("time: {} s", self.sandbox.deadline.as_secs_f64()))
            }
            QueryError::Stopped { limit } if limit == "memory" => match self.sandbox.heap {
                Some(heap) => QueryError::stopped(format!("memory: {heap} bytes")),
                None => QueryError::Stopped { limit },
            },
            // What SQLite says of a file does not name it.
            QueryError::Failed { message } => {
                let path = self.path.display().to_string();
                let named = message.contains(&path);
                QueryError::failed(if named { message } else { format!("{path} cannot be read: {message}") })
            }
            other => other,
        })
    }

    /// As [`Database::query`], with where each cell comes from as far as that is known.
    ///
    /// # Errors
    /// As [`Database::query`].
    pub fn query_with_origins(&self, sql: &str) -> Result<(Rows, Origins), QueryError> {
        self.query_with_origins_within(sql, self.sandbox.deadline)
    }

    /// As [`Database::query_with_origins`], with another deadline.
    pub(crate) fn query_with_origins_within(&self, sql: &str, time: Duration) -> Result<(Rows, Origins), QueryError> {
        let start = Instant::now();
        let left = || time.saturating_sub(start.elapsed());
        statement::check(sql)?;
        let traced = origins::trace(sql, &self.schema()?);
        if let Some(traced) = traced
            && let Ok(rows) = self.query_within(&traced.sql, left())
        {
            return Ok(traced.split(rows));
        }
        Ok((self.query_within(sql, left())?, Vec::new()))
    }

    fn answer(&self, sql: &str) -> Result<Rows, QueryError> {
        self.has_all_tables(sql)?;
        let (error, hidden) = match self.prepare(&self.connection, sql) {
            Ok(mut statement) => {
                let rows = self.collect(&mut statement);
                // Where the schema has changed, SQLite prepared it anew behind the names of its columns.
                let stale = statement.get_status(StatementStatus::RePrepare) > 0;
                return match stale.then(|| self.prepare(&self.connection, sql)) {
                    Some(Ok(mut again)) => self.collect(&mut again),
                    _ => rows,
                };
            }
            Err(found) => found,
        };
        let over = |limit: &str| limit == "time" || limit == "memory";
        if self.catalogue.hidden.is_empty()
            || matches!(&error, QueryError::Failed { .. })
            || matches!(&error, QueryError::Stopped { limit } if over(limit))
        {
            return Err(error);
        }
        // What SQLite says of a statement may tell of a hidden table ("no such column" where there is a table). What it
        // says where there is none comes from a database that has all tables but the hidden ones.
        let outline = self.outline(sql)?;
        self.policy.set_hidden_are_local(true);
        let rows = self.answer_without_hidden(&outline, sql, error, hidden);
        self.policy.set_hidden_are_local(false);
        rows
    }

    /// Refuses a statement that lacks a table where the hidden ones are not there. SQLite leaves out what cannot change the
    /// answer (`1 OR EXISTS (...)`) before the authorizer sees it, so that a hidden table could be told from none.
    fn has_all_tables(&self, sql: &str) -> Result<(), QueryError> {
        if !mentions(sql, &self.catalogue.hidden) {
            return Ok(());
        }
        let outline = self.outline(sql)?;
        self.policy.set_hidden_are_local(true);
        let prepared = self.prepare(&outline, sql).map(drop);
        self.policy.set_hidden_are_local(false);
        match prepared {
            Err((error, _)) if lacks_table(&error, &self.catalogue.hidden) => Err(error),
            _ => Ok(()),
        }
    }

    /// The answer to a statement that failed with `error`, at a hidden table where there is its name. Names of hidden
    /// tables are taken for local ones.
    fn answer_without_hidden(
        &self,
        outline: &Connection,
        sql: &str,
        error: QueryError,
        hidden: Option<String>,
    ) -> Result<Rows, QueryError> {
        if let Err((error, _)) = self.prepare(outline, sql) {
            return Err(error);
        }
        let Some(name) = hidden else { return Err(error) };
        // Without the hidden tables the statement has a meaning, so that the name is that of an expression of its own.
        match self.prepare(&self.connection, sql) {
            Ok(mut statement) => self.collect(&mut statement),
            Err(_) => Err(QueryError::refused(format!("no such table: {name}"))),
        }
    }

    /// Prepares a statement; else why not, and the hidden table that it named.
    fn prepare<'c>(
        &self,
        connection: &'c Connection,
        sql: &str,
    ) -> Result<Statement<'c>, (QueryError, Option<String>)> {
        self.policy.take_met();
        let prepared = connection.prepare(sql);
        let met = self.policy.take_met();
        match (prepared, met.denial) {
            (Ok(statement), _) => Ok(statement),
            (Err(error), denial) => Err(match (classify(&error), denial) {
                (QueryError::Refused { .. } | QueryError::Failed { .. }, Some(reason)) => {
                    (QueryError::Refused { reason }, met.hidden)
                }
                (other, _) => (other, met.hidden),
            }),
        }
    }

    fn collect(&self, statement: &mut Statement<'_>) -> Result<Rows, QueryError> {
        // What the authorizer and the look at the first word already hold.
        if !statement.readonly() || statement.is_explain() != 0 || statement.column_count() == 0 {
            return Err(QueryError::refused("the statement does more than read"));
        }
        if statement.parameter_count() > 0 {
            return Err(QueryError::refused("parameters (?, :name, @name, $name) have no value here"));
        }
        let width = statement.column_count();
        let mut columns = Vec::with_capacity(width);
        for index in 0..width {
            let name = statement.column_name(index).map_err(|error| classify(&error))?.to_owned();
            let origin = statement.column_metadata(index).ok().flatten();
            let text = |text: &std::ffi::CStr| text.to_str().ok().map(str::to_owned);
            let origin = origin.and_then(|(_, table, column, ..)| text(table).zip(text(column)));
            let (table, column) = origin.unzip();
            columns.push(Column { name, table, column });
        }
        let names: usize = columns.iter().map(|column| column.name.len()).sum();
        let Some(mut left) = self.sandbox.bytes.checked_sub(names) else {
            return Err(QueryError::stopped(format!("size: {} bytes", self.sandbox.bytes)));
        };
        let mut rows = Rows { columns, rows: Vec::new(), truncated: false };
        let mut found = statement.raw_query();
        loop {
            let row = match found.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(rows),
                // Whether there is one more row than wanted need not be known for sure.
                Err(_) if rows.rows.len() >= self.sandbox.rows => {
                    rows.truncated = true;
                    return Ok(rows);
                }
                Err(error) => {
                    return Err(match self.policy.take_met().denial {
                        Some(reason) => QueryError::Refused { reason },
                        None => classify(&error),
                    });
                }
            };
            let mut bytes = 0_usize;
            for index in 0..width {
                bytes = bytes.saturating_add(8);
                if let Ok(ValueRef::Text(long) | ValueRef::Blob(long)) = row.get_ref(index) {
                    bytes = bytes.saturating_add(long.len());
                }
            }
            if rows.rows.len() >= self.sandbox.rows || bytes > left {
                rows.truncated = true;
                return Ok(rows);
            }
            left -= bytes;
            let values = (0..width).map(|index| row.get_ref(index).map(Value::from));
            rows.rows.push(values.collect::<rusqlite::Result<_>>().map_err(|error| classify(&error))?);
        }
    }

    /// What may be seen of the database's schema.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn schema(&self) -> Result<Schema, QueryError> {
        self.clock.give(self.sandbox.deadline);
        schema::read(&self.reader()?, &self.clock, &self.catalogue)
    }

    /// A second connection, for the sandbox's own statements.
    fn reader(&self) -> Result<Connection, QueryError> {
        file::connect(&self.path, &self.sandbox, &self.clock)
    }

    /// The [`outline`] of what of the visible a statement names, where it is prepared as it would be without the hidden tables.
    fn outline(&self, sql: &str) -> Result<Connection, QueryError> {
        let objects = self.catalogue.named_in([sql]);
        let mut outline = outline(&self.reader()?, &objects, &self.sandbox, &self.clock)?;
        authorize(&mut outline, &self.policy)?;
        Ok(outline)
    }
}

/// A database in memory that has the columns of some tables, some views, and no rows, under the limits.
fn outline(
    reader: &Connection,
    objects: &[&Object],
    sandbox: &Sandbox,
    clock: &Arc<Clock>,
) -> Result<Connection, QueryError> {
    let failed = |error: rusqlite::Error| classify(&error);
    let mut outline = Connection::open_in_memory().map_err(failed)?;
    for object in objects {
        let sql = if object.kind == Kind::View {
            object.sql.clone()
        } else {
            let names = schema::column_names(reader, &object.name).unwrap_or_default();
            let columns: Vec<String> = names.iter().map(|name| quote(name)).collect();
            format!("CREATE TABLE {} ({})", quote(&object.name), columns.join(", "))
        };
        match outline.prepare(&sql).and_then(|mut create| create.raw_execute()) {
            Err(error) if matches!(classify(&error), QueryError::Stopped { .. }) => return Err(failed(error)),
            // What cannot be made is missing here, and at worst a message says so.
            _ => {}
        }
    }
    restrict(&mut outline, sandbox, clock)?;
    Ok(outline)
}

fn authorize(connection: &mut Connection, policy: &Arc<Policy>) -> Result<(), QueryError> {
    let policy = Arc::clone(policy);
    connection
        .authorizer(Some(move |context: AuthContext<'_>| policy.decide(&context)))
        .map_err(|error| classify(&error))
}
