//! `query`: runs one statement that only reads on a database or on files with tables, and trusts it with nothing.

use std::io::{self, BufWriter, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use clap::{ArgGroup, Parser, ValueEnum};
use serde::Serialize;
use tabsegnet_lexical::question;
use tabsegnet_llm::{LlmError, no_model};
use tabsegnet_sql::generate::{Generation, Proposal};
use tabsegnet_sql::linking::ExplainedJoin;
use tabsegnet_sql::schema_graph::Semantics;
use tabsegnet_sql::{Format, Origins, QueryError, Rows, SEARCH, Sandbox, SourcedRows, Target, Value, propose, worker};

#[path = "query/llm.rs"]
mod llm;
#[path = "query/schema.rs"]
mod schema;
#[path = "query/shown.rs"]
mod shown;
#[path = "query/source.rs"]
mod source;

use llm::{Llm, LlmArguments, Statement};
use source::Source;
use tabsegnet_store::{Cause, Paths, USAGE, UsageError, check_written, eprintln, exit_saying, printable};

/// Runs one SELECT on a SQLite database, or on files with tables, read-only and within limits. Exit codes: 0 answered,
/// 1 failed, 2 wrong usage, 3 refused, 4 stopped, 5 no statement is likely enough.
#[derive(Parser)]
#[command(name = "query", group(ArgGroup::new("what").required(true).args(["sql", "question", "schema"])))]
struct Arguments {
    /// A SQLite database; a file with tables (.csv, .tsv, .jsonl, .parquet, .xlsx, .md, .html, the project's JSON), or a
    /// folder of such files; postgres://USER@HOST/DATABASE, the password in PGPASSWORD. For --schema and --explain also definitions (.sql, or a folder of
    /// such files), and the folder of a dbt project.
    #[arg(long, value_name = "FILE|FOLDER|URL")]
    database: PathBuf,
    /// The statement; `-` reads it from standard input.
    #[arg(long, value_name = "STATEMENT|-", allow_hyphen_values = true)]
    sql: Option<String>,
    /// A question, for which a statement is found, over tables that can be joined or over one. Where none is likely enough, the likeliest are named.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    question: Option<String>,
    /// Instead of answering, says which columns and tables a question needs, and how and why they are joined.
    #[arg(long, requires = "question", conflicts_with = "sql")]
    explain: bool,
    /// Writes the graph of the schema.
    #[arg(long, value_enum)]
    schema: Option<SchemaFormat>,
    /// Who writes the statement of a question.
    #[arg(long, value_enum, default_value_t = PolicyChoice::Auto)]
    policy: PolicyChoice,
    #[command(flatten)]
    llm: LlmArguments,
    /// What the schema does not say of itself: names, synonyms, relations, hidden fields (TOML). For
    /// --question and --schema.
    #[arg(long, value_name = "FILE", conflicts_with = "sql")]
    semantics: Option<PathBuf>,
    /// A table or view that is as if it were not there; so is what reads it. May be given again.
    #[arg(long, value_name = "TABLE")]
    hide: Vec<String>,
    /// How rows are written.
    #[arg(long, value_enum, default_value_t = FormatArgument::Table, conflicts_with = "schema")]
    format: FormatArgument,
    /// Says where values come from: table, row id (of PostgreSQL the primary key) and column, and the cell of the file. In
    /// JSON as `sources`, else as a last column.
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
    /// A Parquet file; not onto a terminal.
    Parquet,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyChoice {
    /// A language model where one is set, else what was learnt; which, is said on stderr.
    Auto,
    /// The likeliest of the statements that can be put together.
    Learnt,
    /// A language model; the learnt statement where its own cannot be run.
    Llm,
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
    let arguments = Arguments::parse();
    if let Err(wrong) = check(&arguments) {
        eprintln!("error: {}", printable(&without_password(&wrong.to_string(), &arguments)));
        return ExitCode::from(USAGE);
    }
    exit_saying(run(&arguments), code, |code, message| {
        // A refusal and a limit say what they are.
        let prefix = if code > USAGE { "" } else { "error: " };
        format!("{prefix}{}", printable(&without_password(message, &arguments)))
    })
}

/// The exit code of an error that has one of its own.
fn code(cause: Cause<'_>) -> Option<u8> {
    match cause.downcast_ref() {
        Some(QueryError::Refused { .. }) => Some(3),
        Some(QueryError::Stopped { .. }) => Some(4),
        _ => matches!(cause.downcast_ref(), Some(LlmError::Settings { .. })).then_some(USAGE),
    }
}

/// Refuses what is wrong with the arguments beside their form.
fn check(arguments: &Arguments) -> Result<(), UsageError> {
    let refuse = |message: &str| Err(UsageError(message.to_owned()));
    if matches!(arguments.format, FormatArgument::Parquet) && io::stdout().is_terminal() {
        return refuse("--format parquet writes a file, and standard output is a terminal; expected > FILE");
    }
    if arguments.explain && matches!(arguments.format, FormatArgument::Csv | FormatArgument::Parquet) {
        return refuse("--explain has no rows; expected --format table or json");
    }
    if let Some(Err(unfit)) = arguments.question.as_deref().map(question::check) {
        return refuse(&unfit.to_string());
    }
    let read = Paths::default().and("--database", [&arguments.database]).and("--semantics", &arguments.semantics);
    let (written, read) = arguments.llm.files(read);
    check_written(&written, &read)
}

/// A message without the password that the database's name may have.
fn without_password(message: &str, arguments: &Arguments) -> String {
    let name = arguments.database.to_string_lossy();
    let shown = shown::shown(&name);
    if *name == shown { message.to_owned() } else { message.replace(&*name, &shown) }
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let sandbox = Sandbox {
        hidden: arguments.hide.clone(),
        deadline: arguments.deadline,
        rows: arguments.rows,
        // What is read here before a statement is written is read under the limit of a statement's own process.
        heap: Some(worker::HEAP),
        ..Sandbox::default()
    };
    let llm = match arguments.question {
        Some(_) if !arguments.explain => llm(arguments)?,
        _ => None,
    };
    let source = Source::open(&arguments.database)?;
    if arguments.explain || arguments.schema.is_some() {
        schema::write(arguments, &source, &sandbox)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (sql, found) = match (&arguments.sql, &arguments.question) {
        (_, Some(question)) => {
            let written = match &llm {
                Some(llm) => llm.answer(arguments, &source, &sandbox, question)?,
                None => None,
            };
            if let Some(statement) = written {
                let rows = statement.rows.clone();
                let answered = (statement.sql.as_str(), rows, statement.origins.clone());
                write(arguments, (&source, &sandbox), answered, &Found::Written(&statement))?;
                return Ok(ExitCode::SUCCESS);
            }
            let generation = generate(arguments, &source, &sandbox, question)?;
            generation.notes.iter().for_each(|text| note(text));
            let Some(chosen) = generation.chosen() else { return abstain(arguments, &generation) };
            (chosen.sql.clone(), Some(generation))
        }
        (Some(sql), None) if sql != "-" => (sql.clone(), None),
        _ => (statement_from_stdin()?, None),
    };
    let ran = source.run(&sandbox, &sql, arguments.provenance);
    let ran = ran.map_err(|error| source.with_nearest(error, &sandbox, &sql))?;
    ran.not_there.iter().for_each(|name| hidden_is_not_there(name));
    let found = match found.as_ref().and_then(|generation| Some((generation, generation.chosen()?))) {
        Some((generation, chosen)) => Found::Learnt(generation, chosen),
        None => Found::Given,
    };
    write(arguments, (&source, &sandbox), (&sql, ran.rows, ran.origins), &found)?;
    Ok(ExitCode::SUCCESS)
}

/// The language model that is to write, where there is one.
fn llm(arguments: &Arguments) -> Result<Option<Llm>> {
    if arguments.policy == PolicyChoice::Learnt {
        return Ok(None);
    }
    let llm = Llm::open(&arguments.llm)?;
    match &llm {
        Some(llm) => eprintln!("policy: llm, {}", llm.name()),
        None if arguments.policy == PolicyChoice::Llm => {
            return Err(UsageError(format!("--policy llm: {}", no_model("--config"))).into());
        }
        None => {}
    }
    Ok(llm)
}

fn generate(arguments: &Arguments, source: &Source, sandbox: &Sandbox, question: &str) -> Result<Generation> {
    source.with_rows()?;
    let mut known = source.known(&sandbox.for_reading(), semantics(arguments)?)?;
    let target =
        Target { schema: &known.schema, semantics: &known.semantics, dialect: known.dialect, labels: &known.labels };
    Ok(propose(question, target, SEARCH, &mut |sql| known.reader.query(sql))?)
}

fn abstain(arguments: &Arguments, generation: &Generation) -> Result<ExitCode> {
    if matches!(arguments.format, FormatArgument::Json) {
        writeln!(io::stdout().lock(), "{}", serde_json::to_string(generation)?)?;
    }
    eprintln!("no statement is likely enough{}", if generation.proposals.is_empty() { "" } else { "; the likeliest:" });
    for proposal in &generation.proposals {
        eprintln!("{:.2}  {}", proposal.confidence, printable(&proposal.sql));
    }
    Ok(ExitCode::from(5))
}

/// Where the statement comes from.
enum Found<'a> {
    /// The user.
    Given,
    /// The likeliest.
    Learnt(&'a Generation, &'a Proposal),
    /// A language model.
    Written(&'a Statement),
}

/// What is written of a question beside the rows.
#[derive(Serialize)]
struct Told<'a, R> {
    sql: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposals: Option<&'a [Proposal]>,
    /// What was not looked at, and what speaks against the statement.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    /// What joins the tables, and why.
    #[serde(skip_serializing_if = "<[ExplainedJoin]>::is_empty")]
    joins: &'a [ExplainedJoin],
    /// The language model that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    /// Its first statement, where this is the second, and why that was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<&'a (String, String)>,
    #[serde(flatten)]
    rows: R,
}

impl Found<'_> {
    fn told<R>(&self, rows: R) -> Option<Told<'_, R>> {
        Some(match self {
            Self::Given => return None,
            Self::Learnt(generation, chosen) => Told {
                sql: &chosen.sql,
                confidence: Some(chosen.confidence),
                proposals: Some(&generation.proposals),
                notes: &generation.notes,
                joins: &generation.joins,
                model: None,
                repaired: None,
                rows,
            },
            Self::Written(statement) => Told {
                sql: &statement.sql,
                confidence: None,
                proposals: None,
                notes: &statement.notes,
                joins: &[],
                model: Some(&statement.model),
                repaired: statement.repaired.as_ref(),
                rows,
            },
        })
    }
}

fn write(
    arguments: &Arguments,
    (source, sandbox): (&Source, &Sandbox),
    (sql, rows, origins): (&str, Rows, Origins),
    found: &Found<'_>,
) -> Result<()> {
    let format = match arguments.format {
        FormatArgument::Table => Format::Table,
        FormatArgument::Json => Format::Json,
        FormatArgument::Csv => Format::Csv,
        FormatArgument::Parquet => Format::Parquet,
    };
    let behind = if arguments.provenance && origins.is_empty() { behind(source, sandbox, sql) } else { None };
    if arguments.provenance && origins.is_empty() && !rows.rows.is_empty() && behind.is_none() {
        note(
            "--provenance: it is not known which rows of tables these come from; it is of a plain SELECT over tables and of \
             aggregates, by one column at most, of PostgreSQL of a plain SELECT over tables with a primary key",
        );
    }
    if !matches!(found, Found::Given) {
        doubt(&rows).into_iter().for_each(note);
    }
    let (count, truncated) = (rows.rows.len(), rows.truncated);
    let mut output = BufWriter::new(io::stdout().lock());
    let sourced = arguments.provenance.then(|| SourcedRows {
        behind: behind.map(Box::new),
        ..SourcedRows::new(rows.clone(), origins, source.files())
    });
    if format == Format::Json {
        let line = match &sourced {
            Some(rows) => found.told(rows).map(|told| serde_json::to_string(&told)),
            None => found.told(&rows).map(|told| serde_json::to_string(&told)),
        };
        if let Some(line) = line {
            writeln!(output, "{}", line?)?;
            output.flush()?;
            return Ok(());
        }
    }
    // Rows alone go to standard output.
    match found {
        Found::Given => {}
        Found::Learnt(generation, chosen) => {
            eprintln!("{:.2}  {}", chosen.confidence, printable(&chosen.sql));
            generation.joins.iter().for_each(|join| eprintln!("      joins {}", printable(&join.to_string())));
        }
        Found::Written(statement) => eprintln!("llm  {}", printable(&statement.sql)),
    }
    match &sourced {
        Some(rows) => rows.write(format, &mut output)?,
        None => rows.write(format, &mut output)?,
    }
    output.flush()?;
    if let Some(behind) = sourced.as_ref().and_then(|sourced| sourced.behind.as_ref()) {
        let more = if behind.rows.truncated { "more than " } else { "" };
        note(&format!("made of {more}{} rows (--format json has them)", behind.rows.rows.len()));
    }
    if truncated {
        note(&format!("there are, or may be, more rows than these {count}"));
    }
    Ok(())
}

/// The rows that a statement's aggregates were made of, with their cells; none where it has none, or they are not known.
fn behind(source: &Source, sandbox: &Sandbox, sql: &str) -> Option<SourcedRows> {
    // The statement has answered, whether or not they can be shown.
    let ran = source.run(sandbox, &source.rows_behind(sql)?, true).ok()?;
    (!ran.origins.is_empty()).then(|| SourcedRows::new(ran.rows, ran.origins, source.files()))
}

/// What a result that answers nothing may mean.
fn doubt(rows: &Rows) -> Option<&'static str> {
    let is_null = |value: &Value| matches!(value, Value::Null);
    match rows.rows.as_slice() {
        [] => Some("no row is so: the conditions may be other than what is meant"),
        [row] if row.iter().all(is_null) => {
            Some("there is nothing to add up or compare: no row is so, or no value is known")
        }
        _ => None,
    }
}

fn note(text: &str) {
    eprintln!("note: {}", printable(text));
}

fn hidden_is_not_there(name: &str) {
    warn(&format!("--hide {name}: there is no such table or view"));
}

fn warn(text: &str) {
    eprintln!("warning: {}", printable(text));
}

/// The semantic file, or none.
fn semantics(arguments: &Arguments) -> Result<Semantics> {
    let Some(file) = &arguments.semantics else { return Ok(Semantics::default()) };
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    Semantics::parse(&text).with_context(|| file.display().to_string())
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
