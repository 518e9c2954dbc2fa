//! A PostgreSQL server behind the same fence as [`crate::Database`]: statements that only read, within limits, and
//! tables that can be hidden.
//!
//! A read-only transaction of PostgreSQL still lets a statement make large objects, send notifications, take advisory
//! locks, change settings and call whatever functions there are. A statement is therefore parsed first: what it calls,
//! casts to and reads must be on a list, and what is sent is the parsed statement written out, by the protocol that takes
//! one statement only. It runs where nothing but the server's own functions, operators and types is found by its name, so
//! that its tables are written with their schemas. Each statement has a fresh read-only transaction with the server's own
//! timeout, and is cancelled from here when it outlasts that. Connections are not encrypted.

mod catalogue;
mod check;
mod keyed;
mod names;
mod own;

use std::fmt::Write as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::{CancelToken, Client, Config, NoTls, Transaction};

use crate::catalogue::quote;
use crate::error::QueryError;
use crate::origins::Origins;
use crate::rows::{Column, Rows, Value};
use crate::sandbox::{STATEMENT_BYTES, Sandbox};
use crate::schema::Schema;
use catalogue::Catalogue;
use check::Checked;

/// How long a server may take to let a client in, unless its URL says.
const CONNECT: Duration = Duration::from_secs(5);

/// After the deadline, how long the server has to stop by itself, and then to obey a request to.
const STOPS: Duration = Duration::from_millis(100);
const OBEYS: Duration = Duration::from_millis(150);

/// Rows that are fetched at once.
const AT_ONCE: i32 = 16;

/// What stands behind `postgres://`.
fn address(url: &str) -> Option<&str> {
    let (scheme, address) = url.split_once("://")?;
    ["postgres", "postgresql"].iter().any(|known| scheme.eq_ignore_ascii_case(known)).then_some(address)
}

/// A PostgreSQL database that statements can only read, and only what may be seen of it.
pub struct Server {
    config: Config,
    sandbox: Sandbox,
    link: Option<Link>,
}

enum Task {
    /// With where cells come from, where that is wanted.
    Query(Box<Checked>, bool),
    Schema,
}

enum Done {
    Rows(Rows, Origins, Vec<String>),
    Schema(Schema, Vec<String>),
}

/// A connection in a thread of its own, as the server may never answer.
struct Link {
    tasks: Sender<(Task, SyncSender<Result<Done, QueryError>>)>,
    cancel: CancelToken,
}

impl Server {
    /// Connects. Without a password in the URL, where whoever lists the machine's processes reads it, that of the environment
    /// variable `PGPASSWORD` is taken.
    ///
    /// # Errors
    /// [`QueryError::Failed`] where the URL cannot be read, or the server cannot be reached or lets the user not in. No
    /// message has the password.
    pub fn connect(url: &str, sandbox: &Sandbox) -> Result<Self, QueryError> {
        // The client takes small letters alone, and anything else for the words of another form.
        let config = address(url).and_then(|address| format!("postgres://{address}").parse::<Config>().ok());
        let mut config: Config = config.ok_or_else(|| {
            QueryError::failed(
                "the database's URL cannot be read; expected postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            )
        })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        config.application_name("tabsegnet query");
        let mut server = Self { config, sandbox: sandbox.clone(), link: None };
        server.link = Some(server.dial()?);
        Ok(server)
    }

    fn dial(&self) -> Result<Link, QueryError> {
        let (config, sandbox) = (self.config.clone(), self.sandbox.clone());
        let (tasks, received) = channel();
        let (ready, connected) = sync_channel(1);
        std::thread::spawn(move || match config.connect(NoTls) {
            Ok(client) => {
                let _ = ready.send(Ok(client.cancel_token()));
                serve(client, &sandbox, &received);
            }
            Err(error) => {
                let _ = ready.send(Err(said(&error)));
            }
        });
        let wait = self.config.get_connect_timeout().copied().unwrap_or(CONNECT) + STOPS;
        let cancel = match connected.recv_timeout(wait) {
            Ok(Ok(cancel)) => cancel,
            Ok(Err(reason)) => {
                let reason = self.without_password(&reason);
                return Err(QueryError::failed(format!("the PostgreSQL server cannot be used: {reason}")));
            }
            Err(_) => return Err(QueryError::failed("the PostgreSQL server cannot be used: it does not answer")),
        };
        Ok(Link { tasks, cancel })
    }

    fn without_password(&self, text: &str) -> String {
        match self.config.get_password().and_then(|password| std::str::from_utf8(password).ok()) {
            Some(password) if password.len() > 3 => text.replace(password, "***"),
            _ => text.to_owned(),
        }
    }

    /// Runs one statement that reads. A connection that was lost is made anew.
    ///
    /// # Errors
    /// As [`crate::Database::query`].
    pub fn query(&mut self, sql: &str) -> Result<Rows, QueryError> {
        self.query_and_not_there(sql).map(|(rows, _)| rows)
    }

    /// As [`Server::query`], with the names in [`Sandbox::hidden`] that the database does not have.
    ///
    /// # Errors
    /// As [`Server::query`].
    pub fn query_and_not_there(&mut self, sql: &str) -> Result<(Rows, Vec<String>), QueryError> {
        self.ask(sql, false).map(|(rows, _, not_there)| (rows, not_there))
    }

    /// As [`Server::query_and_not_there`], with where each cell comes from: known by primary keys, of a plain `SELECT` over
    /// tables that have one.
    ///
    /// # Errors
    /// As [`Server::query`].
    pub fn query_with_origins(&mut self, sql: &str) -> Result<(Rows, Origins, Vec<String>), QueryError> {
        self.ask(sql, true)
    }

    fn ask(&mut self, sql: &str, origins: bool) -> Result<(Rows, Origins, Vec<String>), QueryError> {
        if sql.len() > STATEMENT_BYTES {
            return Err(QueryError::stopped(format!("statement: more than {STATEMENT_BYTES} bytes")));
        }
        let checked = check::check(sql)?;
        match self.run(Task::Query(Box::new(checked), origins))? {
            Done::Rows(rows, origins, not_there) => Ok((rows, origins, not_there)),
            Done::Schema(..) => Err(QueryError::failed("the connection answered something else")),
        }
    }

    /// What may be seen of the database's schema: tables with keys, and views with their statements.
    ///
    /// # Errors
    /// As [`Server::query`].
    pub fn schema(&mut self) -> Result<Schema, QueryError> {
        self.schema_and_not_there().map(|(schema, _)| schema)
    }

    /// As [`Server::schema`], with the names in [`Sandbox::hidden`] that the database does not have.
    ///
    /// # Errors
    /// As [`Server::query`].
    pub fn schema_and_not_there(&mut self) -> Result<(Schema, Vec<String>), QueryError> {
        match self.run(Task::Schema)? {
            Done::Schema(schema, not_there) => Ok((schema, not_there)),
            Done::Rows(..) => Err(QueryError::failed("the connection answered something else")),
        }
    }

    fn run(&mut self, task: Task) -> Result<Done, QueryError> {
        let link = match self.link.take() {
            Some(link) => link,
            None => self.dial()?,
        };
        let (sender, answer) = sync_channel(1);
        let start = Instant::now();
        let lost = || QueryError::failed("the PostgreSQL server went away; the next statement connects anew");
        if link.tasks.send((task, sender)).is_err() {
            return Err(lost());
        }
        let left = |more: Duration| (self.sandbox.deadline + more).saturating_sub(start.elapsed());
        let mut received = answer.recv_timeout(left(STOPS));
        if matches!(received, Err(RecvTimeoutError::Timeout)) {
            let cancel = link.cancel.clone();
            std::thread::spawn(move || cancel.cancel_query(NoTls));
            received = answer.recv_timeout(left(STOPS + OBEYS));
        }
        match received {
            Ok(result) => {
                // After a failure the connection may be gone.
                if !matches!(&result, Err(QueryError::Failed { .. })) {
                    self.link = Some(link);
                }
                result.map_err(|error| match error {
                    QueryError::Stopped { limit } if limit == "time" => self.time(),
                    QueryError::Failed { message } => QueryError::failed(self.without_password(&message)),
                    other => other,
                })
            }
            // Its thread ends when the server lets it.
            Err(RecvTimeoutError::Timeout) => Err(self.time()),
            Err(RecvTimeoutError::Disconnected) => Err(lost()),
        }
    }

    fn time(&self) -> QueryError {
        QueryError::stopped(format!("time: {} s", self.sandbox.deadline.as_secs_f64()))
    }
}

fn serve(mut client: Client, sandbox: &Sandbox, tasks: &Receiver<(Task, SyncSender<Result<Done, QueryError>>)>) {
    while let Ok((task, answer)) = tasks.recv() {
        let _ = answer.send(perform(&mut client, sandbox, task));
        if client.is_closed() {
            break;
        }
    }
}

/// Does one thing in a transaction of its own.
fn perform(client: &mut Client, sandbox: &Sandbox, task: Task) -> Result<Done, QueryError> {
    let failed = |error: postgres::Error| classify(&error);
    let mut transaction = client.build_transaction().read_only(true).start().map_err(failed)?;
    let time = sandbox.deadline.as_millis().max(1);
    transaction
        .batch_execute(&format!(
            "SET LOCAL statement_timeout = {time}; SET LOCAL lock_timeout = {time};
             SET LOCAL idle_in_transaction_session_timeout = {idle}; SET LOCAL max_parallel_workers_per_gather = 0;
             SET LOCAL jit = off; SET LOCAL work_mem = '16MB'; SET LOCAL standard_conforming_strings = on;
             SET LOCAL client_min_messages = error",
            idle = time.saturating_mul(2)
        ))
        .map_err(failed)?;
    let catalogue = Catalogue::read(&mut transaction, &sandbox.hidden).map_err(failed)?;
    let done = match task {
        Task::Query(checked, origins) => {
            let keyed = if origins { with_keys(&mut transaction, &catalogue, sandbox, &checked)? } else { None };
            let (rows, origins) = match keyed {
                Some(found) => found,
                None => (answer(&mut transaction, &catalogue, sandbox, &checked)?, Origins::new()),
            };
            Done::Rows(rows, origins, catalogue.not_there)
        }
        Task::Schema => Done::Schema(catalogue.schema(&mut transaction).map_err(failed)?, catalogue.not_there),
    };
    // What cannot be rolled back did nothing.
    let _ = transaction.rollback();
    Ok(done)
}

/// Runs a statement as it is sent.
fn answer(
    transaction: &mut Transaction<'_>,
    catalogue: &Catalogue,
    sandbox: &Sandbox,
    checked: &Checked,
) -> Result<Rows, QueryError> {
    let attributes = catalogue.attributes(transaction, &checked.attributes).map_err(|error| classify(&error))?;
    let sql = names::resolved(checked, catalogue, &attributes)?;
    collect(transaction, catalogue, sandbox, &sql)
}

/// Runs a statement with the keys of its tables; nothing where it does not give them.
fn with_keys(
    transaction: &mut Transaction<'_>,
    catalogue: &Catalogue,
    sandbox: &Sandbox,
    checked: &Checked,
) -> Result<Option<(Rows, Origins)>, QueryError> {
    let failed = |error: postgres::Error| classify(&error);
    let keys = catalogue.keys(transaction).map_err(failed)?;
    let Some(traced) = keyed::trace(&checked.sql, catalogue, &keys) else { return Ok(None) };
    let Ok(checked) = check::check(&traced.sql) else { return Ok(None) };
    // A transaction of its own within the other, which goes on where the server refuses the keys, as of aggregates.
    let mut inner = transaction.transaction().map_err(failed)?;
    let rows = answer(&mut inner, catalogue, sandbox, &checked);
    let _ = inner.rollback();
    match rows {
        Ok(rows) => Ok(Some(traced.split(rows))),
        Err(QueryError::Refused { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs a statement. All its columns are read as texts, which the server writes for any type.
fn collect(
    transaction: &mut Transaction<'_>,
    catalogue: &Catalogue,
    sandbox: &Sandbox,
    sql: &str,
) -> Result<Rows, QueryError> {
    let failed = |error: postgres::Error| classify(&error);
    let statement = transaction.prepare(sql).map_err(failed)?;
    if !statement.params().is_empty() {
        return Err(QueryError::refused("parameters ($1) have no value here"));
    }
    if statement.columns().is_empty() {
        return Err(QueryError::refused("the statement selects no column"));
    }
    let names: Vec<(u32, i16)> =
        statement.columns().iter().filter_map(|column| column.table_oid().zip(column.column_id())).collect();
    let origins = catalogue.columns(transaction, &names).map_err(failed)?;
    let (mut columns, mut selected, mut called, mut types) = (Vec::new(), String::new(), String::new(), Vec::new());
    for (at, column) in statement.columns().iter().enumerate() {
        let origin = column.table_oid().zip(column.column_id()).and_then(|key| origins.get(&key).cloned());
        let (table, of_table) = origin.unzip();
        columns.push(Column { name: column.name().to_owned(), table, column: of_table });
        let (comma, name) = (if at > 0 { ", " } else { "" }, quote(&format!("c{at}")));
        let _ = write!(selected, "{comma}q.{name}::text");
        let _ = write!(called, "{comma}{name}");
        types.push(column.type_().clone());
    }
    let texts = format!("SELECT {selected} FROM ({sql}) AS q({called})");
    let portal = transaction.bind(&texts, &[]).map_err(failed)?;
    let mut rows = Rows { columns, rows: Vec::new(), truncated: false };
    let mut left = sandbox.bytes;
    // What comes at once is in memory before its size is known.
    let mut at_once = 1;
    loop {
        let batch = transaction.query_portal(&portal, at_once).map_err(failed)?;
        at_once = (2 * at_once).min(AT_ONCE);
        if batch.is_empty() {
            return Ok(rows);
        }
        for row in batch {
            let mut values = Vec::with_capacity(types.len());
            let mut bytes = 0_usize;
            for (at, kind) in types.iter().enumerate() {
                let text: Option<String> = row.try_get(at).map_err(failed)?;
                bytes = bytes.saturating_add(8 + text.as_ref().map_or(0, String::len));
                values.push(text.map_or(Value::Null, |text| value(kind, text)));
            }
            if rows.rows.len() >= sandbox.rows || bytes > left {
                rows.truncated = true;
                return Ok(rows);
            }
            left -= bytes;
            rows.rows.push(values);
        }
    }
}

fn value(kind: &postgres::types::Type, text: String) -> Value {
    use postgres::types::Type;
    let integer = || text.parse().map(Value::Integer);
    let real = || text.parse::<f64>().map(Value::Real);
    match *kind {
        Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => integer().unwrap_or(Value::Text(text)),
        Type::FLOAT4 | Type::FLOAT8 => real().unwrap_or(Value::Text(text)),
        // Kept as a text where a float would say another number.
        Type::NUMERIC => match (integer(), real()) {
            (Ok(integer), _) => integer,
            (_, Ok(real)) if text.trim_start_matches('-').len() <= 16 => real,
            _ => Value::Text(text),
        },
        Type::BYTEA => match text.strip_prefix("\\x").and_then(crate::rows::unhex) {
            Some(bytes) => Value::Blob(bytes),
            None => Value::Text(text),
        },
        _ => Value::Text(text),
    }
}

/// An error and what is behind it, in the server's words where it has any.
fn said(error: &postgres::Error) -> String {
    if let Some(database) = error.as_db_error() {
        return database.message().to_owned();
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(deeper) = source {
        let _ = write!(text, ": {deeper}");
        source = deeper.source();
    }
    text
}

/// What an error of the server means for whoever sent the statement.
fn classify(error: &postgres::Error) -> QueryError {
    let Some(code) = error.code() else {
        return if error.is_closed()
            || std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
        {
            QueryError::failed(format!("the PostgreSQL server went away: {}", said(error)))
        } else {
            QueryError::refused(said(error))
        };
    };
    let message = said(error);
    if *code == SqlState::QUERY_CANCELED || *code == SqlState::LOCK_NOT_AVAILABLE {
        return QueryError::stopped("time");
    }
    match code.code().get(..2) {
        Some("53") => QueryError::stopped(format!("memory: {message}")),
        Some("54") => QueryError::stopped(format!("statement: {message}")),
        // Connections, internal errors, intervention of an operator, what the system gives.
        Some("08" | "57" | "58" | "XX" | "28" | "3D") => {
            QueryError::failed(format!("the PostgreSQL server says: {message}"))
        }
        _ => QueryError::refused(message),
    }
}
