//! `query`: runs one statement that only reads on a SQLite database, and trusts it with nothing.

use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use clap::{Parser, ValueEnum};
use tabsegnet_sql::linking::{Explanation, Linker, Model, ValueIndex, ValueLimits};
use tabsegnet_sql::schema_graph::{SchemaGraph, Semantics, SqlDialect, html};
use tabsegnet_sql::{Database, Format, QueryError, Sandbox, worker};

/// Runs one SELECT on a SQLite database, read-only and within limits. Exit codes: 0 answered, 1 failed, 2 wrong usage,
/// 3 refused, 4 stopped.
#[derive(Parser)]
#[command(name = "query")]
struct Arguments {
    /// The SQLite database.
    #[arg(long, value_name = "FILE")]
    database: PathBuf,
    /// The statement; `-` reads it from standard input.
    #[arg(long, value_name = "STATEMENT|-", allow_hyphen_values = true, required_unless_present_any = ["question", "schema"])]
    sql: Option<String>,
    /// A question: says which columns and tables it needs, and how and why they are joined.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["sql", "schema"])]
    question: Option<String>,
    /// Writes the graph of the schema.
    #[arg(long, value_enum, conflicts_with = "sql")]
    schema: Option<SchemaFormat>,
    /// What the schema does not say of itself: names, synonyms, relations, hidden fields (TOML).
    #[arg(long, value_name = "FILE")]
    semantics: Option<PathBuf>,
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

#[derive(Clone, Copy, ValueEnum)]
enum SchemaFormat {
    /// One page that needs nothing else.
    Html,
    /// Graphviz.
    Dot,
    /// GraphML.
    Graphml,
    /// Tables, columns, joins, derivations and what is wrong with the schema.
    Json,
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
    let sandbox = Sandbox {
        hidden: arguments.hide.clone(),
        deadline: arguments.deadline,
        rows: arguments.rows,
        ..Sandbox::default()
    };
    let Some(sql) = &arguments.sql else { return of_schema(arguments, &sandbox) };
    let sql = if sql == "-" { statement_from_stdin()? } else { sql.clone() };
    let program = std::env::current_exe().context("the program does not find itself")?;
    let answer = worker::query(program.as_os_str(), &arguments.database, &sandbox, &sql);
    warn_of_missing(&answer.not_there);
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

fn warn_of_missing(hidden: &[String]) {
    for name in hidden {
        eprintln!("warning: --hide {name}: there is no such table or view", name = name.escape_debug());
    }
}

/// Answers `--question` and `--schema`.
fn of_schema(arguments: &Arguments, sandbox: &Sandbox) -> Result<()> {
    let limits = ValueLimits::default();
    let sandbox = Sandbox { rows: limits.per_column, ..sandbox.clone() };
    let database = Database::open(&arguments.database, &sandbox)?;
    warn_of_missing(database.not_there());
    let semantics = match &arguments.semantics {
        Some(file) => {
            let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
            Semantics::parse(&text).with_context(|| file.display().to_string())?
        }
        None => Semantics::default(),
    };
    let graph = SchemaGraph::new(&database.schema()?, &semantics, SqlDialect::Sqlite)?;
    let mut output = BufWriter::new(io::stdout().lock());
    if let Some(question) = &arguments.question {
        let linker = Linker::new(&graph, ValueIndex::read(&database, &graph, limits)?, Model::shipped());
        let explanation = Explanation::new(&linker, question, &linker.link(question));
        match arguments.format {
            FormatArgument::Json => {
                serde_json::to_writer(&mut output, &explanation)?;
                writeln!(output)?;
            }
            FormatArgument::Table => explanation.write(&mut output)?,
            FormatArgument::Csv => return Err(anyhow!("--question has no CSV; expected --format table or json")),
        }
    }
    let title = arguments.database.file_name().unwrap_or_default().to_string_lossy();
    match arguments.schema {
        Some(SchemaFormat::Html) => writeln!(output, "{}", html(&graph, &title))?,
        Some(SchemaFormat::Dot) => writeln!(output, "{}", graph.graph().to_dot())?,
        Some(SchemaFormat::Graphml) => writeln!(output, "{}", graph.graph().to_graphml())?,
        Some(SchemaFormat::Json) => {
            serde_json::to_writer(&mut output, &graph)?;
            writeln!(output)?;
        }
        None => {}
    }
    Ok(output.flush()?)
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
