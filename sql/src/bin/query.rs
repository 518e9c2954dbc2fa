//! `query`: runs one statement that only reads on a SQLite database, and trusts it with nothing.

use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use clap::{Parser, ValueEnum};
use tabsegnet_sql::{Format, QueryError, Sandbox, worker};

/// Runs one SELECT on a SQLite database, read-only and within limits. Exit codes: 0 answered, 1 failed, 2 wrong usage,
/// 3 refused, 4 stopped.
#[derive(Parser)]
#[command(name = "query")]
struct Arguments {
    /// The SQLite database.
    #[arg(long, value_name = "FILE")]
    database: PathBuf,
    /// The statement; `-` reads it from standard input.
    #[arg(long, value_name = "STATEMENT|-", allow_hyphen_values = true)]
    sql: String,
    /// A table or view that is as if it were not there; so is what reads it. May be given again.
    #[arg(long, value_name = "TABLE")]
    hide: Vec<String>,
    /// How rows are written.
    #[arg(long, value_enum, default_value_t = FormatArgument::Table)]
    format: FormatArgument,
    /// Time for the statement.
    #[arg(long, value_name = "SECONDS", default_value = "1.0", value_parser = seconds)]
    deadline: Duration,
    /// At most so many rows.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    rows: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArgument {
    /// Aligned columns.
    Table,
    /// One JSON object.
    Json,
    /// CSV with a header.
    Csv,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if !(seconds > 0.0 && seconds <= 3600.0) {
        return Err("not a number of seconds above 0 and up to 3600".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// The longest statement that is read at all; the sandbox says that it is too long.
const STATEMENT_BYTES: u64 = 1_000_000;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == worker::ARGUMENT) {
        return if worker::serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(io) = error.downcast_ref::<io::Error>()
                && io.kind() == io::ErrorKind::BrokenPipe
            {
                return ExitCode::SUCCESS;
            }
            let (prefix, code) = match error.downcast_ref() {
                Some(QueryError::Refused { .. }) => ("", 3),
                Some(QueryError::Stopped { .. }) => ("", 4),
                _ => ("error: ", 1),
            };
            // The message may have what the statement or the database has.
            let message: String = format!("{error:#}").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            eprintln!("{prefix}{message}");
            ExitCode::from(code)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let sql = if arguments.sql == "-" { statement_from_stdin()? } else { arguments.sql.clone() };
    let sandbox = Sandbox {
        hidden: arguments.hide.clone(),
        deadline: arguments.deadline,
        rows: arguments.rows,
        ..Sandbox::default()
    };
    let program = std::env::current_exe().context("the program does not find itself")?;
    let answer = worker::query(program.as_os_str(), &arguments.database, &sandbox, &sql);
    for name in &answer.not_there {
        eprintln!("warning: --hide {name}: there is no such table or view", name = name.escape_debug());
    }
    let rows = answer.rows?;
    let format = match arguments.format {
        FormatArgument::Table => Format::Table,
        FormatArgument::Json => Format::Json,
        FormatArgument::Csv => Format::Csv,
    };
    let mut output = BufWriter::new(io::stdout().lock());
    rows.write(format, &mut output)?;
    output.flush()?;
    if rows.truncated {
        eprintln!("note: there are, or may be, more rows than these {}", rows.rows.len());
    }
    Ok(())
}

fn statement_from_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    io::stdin().lock().take(STATEMENT_BYTES).read_to_end(&mut bytes).context("standard input")?;
    // A cut may fall within a character; what is that long is refused for its length.
    if bytes.len() as u64 >= STATEMENT_BYTES {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes)
        .map_err(|_| anyhow!(QueryError::Refused { reason: "the statement is not UTF-8".to_owned() }))
}
