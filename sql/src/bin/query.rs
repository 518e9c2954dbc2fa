//! `query`: runs one statement that only reads on a database or on files with tables, and trusts it with nothing.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use clap::{Parser, ValueEnum};
use serde::Serialize;
use tabsegnet_sql::generate::{Generation, Labels, Proposal};
use tabsegnet_sql::linking::{Explanation, Linker, Model, ValueIndex, ValueLimits};
use tabsegnet_sql::schema_graph::{SchemaGraph, Semantics, SqlDialect, html};
use tabsegnet_sql::tables::FileDatabase;
use tabsegnet_sql::{Database, Format, Origins, QueryError, Rows, Sandbox, SourcedRows, Target, propose, worker};

/// Runs one SELECT on a SQLite database, or on files with tables, read-only and within limits. Exit codes: 0 answered,
/// 1 failed, 2 wrong usage, 3 refused, 4 stopped, 5 no statement is likely enough.
#[derive(Parser)]
#[command(name = "query")]
struct Arguments {
    /// A SQLite database; a file with tables (.csv, .tsv, .jsonl, .xlsx, .md, .html, the project's JSON), or a folder of
    /// such files; postgres://USER@HOST/DATABASE.
    #[arg(long, value_name = "FILE|FOLDER|URL")]
    database: PathBuf,
    /// The statement; `-` reads it from standard input.
    #[arg(long, value_name = "STATEMENT|-", allow_hyphen_values = true, required_unless_present_any = ["question", "schema"])]
    sql: Option<String>,
    /// A question, for which a statement is found, over tables that can be joined or over one. Where none is likely enough, the likeliest are named.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["sql", "schema"], allow_hyphen_values = true)]
    question: Option<String>,
    /// Instead of answering, says which columns and tables a question needs, and how and why they are joined.
    #[arg(long, requires = "question")]
    explain: bool,
    /// Writes the graph of the schema.
    #[arg(long, value_enum, conflicts_with = "sql")]
    schema: Option<SchemaFormat>,
    /// What the schema does not say of itself: names, synonyms, relations, hidden fields (TOML). For
    /// --question and --schema.
    #[arg(long, value_name = "FILE", conflicts_with = "sql")]
    semantics: Option<PathBuf>,
    /// A table or view that is as if it were not there; so is what reads it. May be given again.
    #[arg(long, value_name = "TABLE")]
    hide: Vec<String>,
    /// How rows are written.
    #[arg(long, value_enum, default_value_t = FormatArgument::Table)]
    format: FormatArgument,
    /// Says where values come from: table, row id and column, and the cell of the file. In JSON as `sources`, else as a
    /// last column.
    #[arg(long)]
    provenance: bool,
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
        Ok(code) => code,
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
            eprintln!("{prefix}{}", without_control(&format!("{error:#}")));
            ExitCode::from(code)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let sandbox = Sandbox {
        hidden: arguments.hide.clone(),
        deadline: arguments.deadline,
        rows: arguments.rows,
        ..Sandbox::default()
    };
    let url = arguments
        .database
        .to_str()
        .filter(|name| ["postgres://", "postgresql://"].iter().any(|scheme| name.starts_with(scheme)));
    let files = match url {
        None if !is_sqlite(&arguments.database) => Some(FileDatabase::open(&arguments.database)?),
        _ => None,
    };
    for warning in files.iter().flat_map(|files| &files.warnings) {
        warn(warning);
    }
    let path = files.as_ref().map_or(arguments.database.as_path(), FileDatabase::path);
    if arguments.explain || arguments.schema.is_some() {
        anyhow::ensure!(url.is_none(), "--explain and --schema read SQLite and files alone, not yet a server");
        of_schema(arguments, path, &sandbox)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (sql, generation) = match (&arguments.sql, &arguments.question) {
        (_, Some(question)) => {
            let semantics = semantics(arguments)?;
            let generation = match url {
                Some(url) => generate_on_server(url, &sandbox, &semantics, question)?,
                None => generate_on_file(path, files.as_ref(), &sandbox, &semantics, question)?,
            };
            let Some(chosen) = generation.chosen() else { return abstain(arguments, &generation) };
            (chosen.sql.clone(), Some(generation))
        }
        (Some(sql), None) if sql != "-" => (sql.clone(), None),
        _ => (statement_from_stdin()?, None),
    };
    let (rows, not_there, origins) = match url {
        Some(url) => {
            let (rows, not_there) = on_server(url, &sandbox, &sql)?;
            (rows, not_there, Origins::new())
        }
        None => {
            let program = std::env::current_exe().context("the program does not find itself")?;
            let run = if arguments.provenance { worker::query_with_origins } else { worker::query };
            let answer = run(program.as_os_str(), path, &sandbox, &sql);
            for name in &answer.not_there {
                warn(&format!("--hide {name}: there is no such table or view"));
            }
            (answer.rows?, Vec::new(), answer.origins)
        }
    };
    for name in &not_there {
        warn(&format!("--hide {name}: there is no such table or view"));
    }
    write(arguments, files.as_ref(), rows, origins, generation.as_ref())?;
    Ok(ExitCode::SUCCESS)
}

/// Time for finding a statement.
const SEARCH: Duration = Duration::from_secs(5);

/// What is read of a table to find a statement.
fn for_reading(sandbox: &Sandbox) -> Sandbox {
    Sandbox { rows: 5000, bytes: 20_000_000, ..sandbox.clone() }
}

fn generate_on_file(
    path: &Path,
    files: Option<&FileDatabase>,
    sandbox: &Sandbox,
    semantics: &Semantics,
    question: &str,
) -> Result<Generation> {
    let database = Database::open(path, &for_reading(sandbox))?;
    let mut labels = Labels::new();
    for table in files.iter().flat_map(|files| &files.tables) {
        for column in table.columns.iter().filter(|column| !column.header.is_empty()) {
            labels.insert((table.name.clone(), column.name.clone()), column.header.clone());
        }
    }
    let schema = database.schema()?;
    let target = Target { schema: &schema, semantics, dialect: SqlDialect::Sqlite, labels: &labels };
    Ok(propose(question, target, SEARCH, &mut |sql| database.query(sql))?)
}

#[cfg(feature = "postgres")]
fn generate_on_server(url: &str, sandbox: &Sandbox, semantics: &Semantics, question: &str) -> Result<Generation> {
    let mut server = tabsegnet_sql::postgres::Server::connect(url, &for_reading(sandbox))?;
    let schema = server.schema()?;
    let target = Target { schema: &schema, semantics, dialect: SqlDialect::Postgres, labels: &Labels::new() };
    Ok(propose(question, target, SEARCH, &mut |sql| server.query(sql))?)
}

#[cfg(not(feature = "postgres"))]
fn generate_on_server(url: &str, sandbox: &Sandbox, semantics: &Semantics, question: &str) -> Result<Generation> {
    let _ = (semantics, question);
    on_server(url, sandbox, "").and_then(|_| anyhow::bail!("no PostgreSQL"))
}

fn abstain(arguments: &Arguments, generation: &Generation) -> Result<ExitCode> {
    if matches!(arguments.format, FormatArgument::Json) {
        writeln!(io::stdout().lock(), "{}", serde_json::to_string(generation)?)?;
    }
    eprintln!("no statement is likely enough{}", if generation.proposals.is_empty() { "" } else { "; the likeliest:" });
    for proposal in &generation.proposals {
        eprintln!("{:.2}  {}", proposal.confidence, without_control(&proposal.sql));
    }
    Ok(ExitCode::from(5))
}

#[cfg(feature = "postgres")]
fn on_server(url: &str, sandbox: &Sandbox, sql: &str) -> Result<(Rows, Vec<String>)> {
    Ok(tabsegnet_sql::postgres::Server::connect(url, sandbox)?.query_and_not_there(sql)?)
}

#[cfg(not(feature = "postgres"))]
fn on_server(_: &str, _: &Sandbox, _: &str) -> Result<(Rows, Vec<String>)> {
    anyhow::bail!("this program was built without PostgreSQL; build it with the feature postgres")
}

/// What is written of a question beside the rows.
#[derive(Serialize)]
struct Found<'a, R> {
    sql: &'a str,
    confidence: f32,
    proposals: &'a [Proposal],
    #[serde(flatten)]
    rows: R,
}

fn write(
    arguments: &Arguments,
    files: Option<&FileDatabase>,
    rows: Rows,
    origins: Origins,
    generation: Option<&Generation>,
) -> Result<()> {
    let format = match arguments.format {
        FormatArgument::Table => Format::Table,
        FormatArgument::Json => Format::Json,
        FormatArgument::Csv => Format::Csv,
    };
    let (count, truncated) = (rows.rows.len(), rows.truncated);
    let mut output = BufWriter::new(io::stdout().lock());
    let sourced = arguments.provenance.then(|| SourcedRows::new(rows.clone(), origins, files));
    if let Some(generation) = generation
        && let Some(Proposal { sql, confidence, .. }) = generation.chosen()
    {
        if format == Format::Json {
            let (proposals, confidence) = (&generation.proposals, *confidence);
            let line = match &sourced {
                Some(rows) => serde_json::to_string(&Found { sql, confidence, proposals, rows })?,
                None => serde_json::to_string(&Found { sql, confidence, proposals, rows: &rows })?,
            };
            writeln!(output, "{line}")?;
            output.flush()?;
            return Ok(());
        }
        // Rows alone go to standard output.
        eprintln!("{confidence:.2}  {}", without_control(sql));
    }
    match &sourced {
        Some(rows) => rows.write(format, &mut output)?,
        None => rows.write(format, &mut output)?,
    }
    output.flush()?;
    if truncated {
        eprintln!("note: there are, or may be, more rows than these {count}");
    }
    Ok(())
}

/// Whether to leave a file to SQLite: it begins as one of its databases, or is no file of a known kind, of which SQLite
/// then says what is wrong.
fn is_sqlite(path: &Path) -> bool {
    let mut start = [0; 16];
    let begins = File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    begins && start == *b"SQLite format 3\0" || !path.is_dir() && !FileDatabase::is_known(path)
}

fn warn(text: &str) {
    eprintln!("warning: {}", without_control(text));
}

/// A message may have what the statement or the database has.
fn without_control(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The semantic file, or none.
fn semantics(arguments: &Arguments) -> Result<Semantics> {
    let Some(file) = &arguments.semantics else { return Ok(Semantics::default()) };
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    Semantics::parse(&text).with_context(|| file.display().to_string())
}

/// Answers `--explain` and `--schema`.
fn of_schema(arguments: &Arguments, path: &Path, sandbox: &Sandbox) -> Result<()> {
    let limits = ValueLimits::default();
    let sandbox = Sandbox { rows: limits.per_column, ..sandbox.clone() };
    let database = Database::open(path, &sandbox)?;
    for name in database.not_there() {
        warn(&format!("--hide {name}: there is no such table or view"));
    }
    let semantics = semantics(arguments)?;
    let graph = SchemaGraph::new(&database.schema()?, &semantics, SqlDialect::Sqlite)?;
    let mut output = BufWriter::new(io::stdout().lock());
    if let Some(question) = &arguments.question {
        let linker =
            Linker::new(&graph, ValueIndex::read(&graph, limits, &mut |sql| database.query(sql))?, Model::shipped());
        let explanation = Explanation::new(&linker, question, &linker.link(question));
        match arguments.format {
            FormatArgument::Json => {
                serde_json::to_writer(&mut output, &explanation)?;
                writeln!(output)?;
            }
            FormatArgument::Table => explanation.write(&mut output)?,
            FormatArgument::Csv => return Err(anyhow!("--explain has no CSV; expected --format table or json")),
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
