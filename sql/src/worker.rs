//! A statement in a process of its own, which is killed when its time is over.
//!
//! A program that wants this calls [`serve`] when it finds [`ARGUMENT`] as its first argument, before anything else
//! and from a single thread, and elsewhere calls [`query`] with itself as the program.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::database::Database;
use crate::error::QueryError;
use crate::origins::Origins;
use crate::rows::Rows;
use crate::sandbox::Sandbox;
use crate::statement;

/// The first argument of a program that shall [`serve`].
pub const ARGUMENT: &str = "--run-one-statement";

/// How long after the deadline the process is killed.
const MARGIN: Duration = Duration::from_millis(150);

/// Memory for SQLite in the process, in bytes.
pub const HEAP: u64 = 128_000_000;

/// Memory of the whole process, in bytes of addresses; enforced on Linux.
#[cfg(target_os = "linux")]
const ADDRESSES: u64 = 256_000_000;

#[derive(Serialize, Deserialize)]
struct Request {
    database: PathBuf,
    sandbox: Sandbox,
    sql: String,
    origins: bool,
}

/// What a statement in a process of its own gave.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The rows, or why there are none.
    pub rows: Result<Rows, QueryError>,
    /// The names in [`Sandbox::hidden`] that the database does not have.
    pub not_there: Vec<String>,
    /// Where the cells come from, for [`query_with_origins`].
    pub origins: Origins,
}

impl From<QueryError> for Answer {
    fn from(error: QueryError) -> Self {
        Self { rows: Err(error), not_there: Vec::new(), origins: Vec::new() }
    }
}

/// Runs one statement in a process of its own. It returns at the deadline and 150 ms at the latest, as far as the
/// system can start and end a process in no time.
pub fn query(program: &OsStr, database: &Path, sandbox: &Sandbox, sql: &str) -> Answer {
    send(program, database, sandbox, sql, false)
}

/// As [`query`], with where the cells of the rows come from.
pub fn query_with_origins(program: &OsStr, database: &Path, sandbox: &Sandbox, sql: &str) -> Answer {
    send(program, database, sandbox, sql, true)
}

fn send(program: &OsStr, database: &Path, sandbox: &Sandbox, sql: &str, origins: bool) -> Answer {
    if let Err(error) = statement::check(sql) {
        return error.into();
    }
    let mut sandbox = sandbox.clone();
    sandbox.heap = Some(sandbox.heap.map_or(HEAP, |heap| heap.min(HEAP)));
    let deadline = sandbox.deadline;
    let request = Request { database: database.to_owned(), sandbox, sql: sql.to_owned(), origins };
    let Ok(request) = serde_json::to_vec(&request) else {
        return QueryError::failed(format!("{}: the path is not UTF-8", database.display())).into();
    };
    let end = Instant::now() + deadline + MARGIN;
    // An allocator that reserves a gigabyte of addresses at its start leaves none below the limit.
    let spawned = Command::new(program)
        .arg(ARGUMENT)
        .env("MIMALLOC_ARENA_RESERVE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    match spawned {
        Ok(child) => converse(child, request, end, deadline),
        Err(error) => QueryError::failed(format!("{} cannot be started: {error}", program.display())).into(),
    }
}

fn converse(mut child: Child, request: Vec<u8>, end: Instant, deadline: Duration) -> Answer {
    let (Some(mut input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
        return QueryError::failed("a process without its pipes").into();
    };
    let (done, answer) = channel();
    std::thread::spawn(move || {
        // A process that ended early says why by how it ended.
        let _ = input.write_all(&request);
        drop(input);
        let mut bytes = Vec::new();
        let read = output.read_to_end(&mut bytes).map(|_| bytes);
        let _ = done.send(read);
    });
    let time = || QueryError::stopped(format!("time: {} s", deadline.as_secs_f64()));
    let received = answer.recv_timeout(end.saturating_duration_since(Instant::now()));
    if received.is_err() {
        // It may have ended just now.
        let _ = child.kill();
    }
    let status = child.wait();
    match received {
        Err(RecvTimeoutError::Timeout) => time().into(),
        Ok(Ok(bytes)) => serde_json::from_slice(&bytes).unwrap_or_else(|_| ended(status, time()).into()),
        _ => ended(status, time()).into(),
    }
}

/// What it means that a process ended without an answer.
fn ended(status: io::Result<ExitStatus>, time: QueryError) -> QueryError {
    #[cfg(unix)]
    if let Ok(Some(signal)) = status.as_ref().map(std::os::unix::process::ExitStatusExt::signal) {
        use rustix::process::Signal;
        return match signal {
            // Rust aborts where memory is refused.
            signal if signal == Signal::ABORT.as_raw() => QueryError::stopped("memory"),
            signal if signal == Signal::XCPU.as_raw() || signal == Signal::KILL.as_raw() => time,
            signal => QueryError::stopped(format!("crash: the process ended by signal {signal}")),
        };
    }
    let _ = time;
    QueryError::failed(match status {
        Ok(status) => format!("the process that runs the statement ended without an answer ({status})"),
        Err(error) => format!("the process that runs the statement cannot be waited for: {error}"),
    })
}

/// Reads a statement from standard input, runs it and writes the answer to standard output: the other side of
/// [`query`].
///
/// # Errors
/// What the pipes give.
pub fn serve() -> io::Result<()> {
    let start = Instant::now();
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let request: Request = serde_json::from_slice(&bytes)?;
    let answer = match confine(request.sandbox.deadline) {
        Ok(()) => answer(&request, start),
        Err(error) => QueryError::failed(format!("no limits could be set on the process: {error}")).into(),
    };
    let mut output = io::stdout().lock();
    serde_json::to_writer(&mut output, &answer)?;
    output.flush()
}

fn answer(request: &Request, start: Instant) -> Answer {
    match Database::open(&request.database, &request.sandbox) {
        Err(error) => error.into(),
        Ok(database) => {
            let left = request.sandbox.deadline.saturating_sub(start.elapsed());
            let not_there = database.not_there().to_vec();
            if !request.origins {
                return Answer { rows: database.query_within(&request.sql, left), not_there, origins: Vec::new() };
            }
            match database.query_with_origins_within(&request.sql, left) {
                Ok((rows, origins)) => Answer { rows: Ok(rows), not_there, origins },
                Err(error) => Answer { rows: Err(error), not_there, origins: Vec::new() },
            }
        }
    }
}

/// Takes from the process what a statement does not need: writing files, dumping core, more memory, more time.
#[cfg(unix)]
fn confine(deadline: Duration) -> rustix::io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let seconds = deadline.as_secs().saturating_add(2);
    for (resource, value) in [
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Cpu, seconds),
        #[cfg(target_os = "linux")]
        (Resource::As, ADDRESSES),
    ] {
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn confine(_: Duration) -> io::Result<()> {
    Ok(())
}
