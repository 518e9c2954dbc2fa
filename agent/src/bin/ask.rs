//! `ask`: answers questions about a document, with the program and the cells behind each answer.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, ValueEnum};
use serde::Deserialize;
use tabsegnet::{DeviceChoice, OpenDocument, Opening, Question, ReadOptions, SessionOptions};
use tabsegnet_agent::walk::LlmPolicy;
use tabsegnet_agent::{Answer, Choice, Learnt, Policy, Rules};
use tabsegnet_encoder::{Shipped, shipped};
use tabsegnet_store::read_text;

#[path = "ask/large.rs"]
mod large;
#[path = "ask/llm.rs"]
mod llm;

use llm::{Llm, LlmArguments};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Answers questions about a document: the number or the words, the program that made it, the cells it rests on.
///
/// Answers go to stdout, the rest to stderr. Exit codes: 0 done, also where it does not know; 1 failed; 2 wrong usage.
#[derive(Parser)]
#[command(name = "ask", version)]
struct Arguments {
    /// A checkpoint, such as `train` writes.
    #[arg(long, value_name = "DIR", default_value = "checkpoints/general")]
    checkpoint: PathBuf,
    /// A document: HTML, Markdown, XLSX, CSV, TSV, plain text, docling's JSON or the native JSON.
    #[arg(long, value_name = "FILE")]
    document: PathBuf,
    /// A question; may be given several times.
    #[arg(long, value_name = "TEXT", required_unless_present = "questions")]
    question: Vec<String>,
    /// A file of questions, one a line: the question itself, or {"id": "q7", "question": "…"}, whose other keys are
    /// left alone.
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// How to print answers.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Who answers.
    #[arg(long, value_enum, default_value_t = PolicyChoice::Auto)]
    policy: PolicyChoice,
    /// The learnt choice of answers, such as `train` writes; the shipped one unless given.
    #[arg(long, value_name = "DIR")]
    answers: Option<PathBuf>,
    /// auto, cpu, wgpu or cuda.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Tables with at least so many cells go through SQL and not through the graph.
    #[arg(long, value_name = "N", default_value_t = tabsegnet_agent::large::CELLS)]
    sql_cells: usize,
    #[command(flatten)]
    llm: LlmArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines for a terminal.
    Table,
    /// One indented JSON list.
    Json,
    /// One JSON object a line and question.
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyChoice {
    /// A language model where one is set, else what was learnt; which, is said on stderr.
    Auto,
    /// The best node of the kind that the question's words want; nothing is computed.
    Rules,
    /// The learnt choice among programs, cells, names and sentences.
    Learnt,
    /// A language model that walks the document's graph; rules only where its replies cannot be used.
    Llm,
}

/// A question with an id that no other one has.
struct Put {
    id: String,
    text: String,
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == tabsegnet_sql::worker::ARGUMENT) {
        return if tabsegnet_sql::worker::serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether who reads the answers has gone, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(closed))
}

fn run(arguments: &Arguments) -> Result<()> {
    let questions = questions(&arguments.question, arguments.questions.as_deref())?;
    let llm = language_model(arguments)?;
    let options = SessionOptions { device: arguments.device, ..SessionOptions::default() };
    let opening = Opening::read(&arguments.checkpoint, &options)?;
    if let Some(warning) = opening.warning() {
        eprintln!("warning: {warning}");
    }
    if matches!(arguments.policy, PolicyChoice::Auto | PolicyChoice::Llm) {
        match &llm {
            Some(llm) => eprintln!("policy: llm, {}", llm.name()),
            None => eprintln!("policy: learnt; no language model is set"),
        }
    }
    let policy: Box<dyn Policy> = match arguments.policy {
        PolicyChoice::Rules => Box::new(Rules),
        PolicyChoice::Auto | PolicyChoice::Learnt | PolicyChoice::Llm => {
            let directory = match &arguments.answers {
                Some(directory) => directory.clone(),
                None => shipped(Shipped::Answers)?,
            };
            Box::new(Learnt(Choice::read(&directory)?))
        }
    };
    let path = arguments.document.display();
    if let Some(large) = large::open(arguments)? {
        return large::answer(arguments, &large, opening, &questions, llm.as_ref(), policy.as_ref());
    }
    let (_, document) = opening
        .finish_with(&arguments.document, &ReadOptions::default())
        .with_context(|| format!("{path}: could not be opened"))?;
    for warning in document.warnings() {
        eprintln!("warning: {path}: {warning}");
    }
    let mut out = io::stdout().lock();
    let mut answers = Vec::new();
    let llm = llm.as_ref().map(|llm| (llm, llm.policy(&document, policy.as_ref())));
    let or_policy = arguments.policy == PolicyChoice::Auto;
    for question in &questions {
        let answer = answer(&document, question, llm.as_ref(), policy.as_ref(), or_policy)
            .with_context(|| format!("{path}: {}", question.id))?;
        match arguments.format {
            Format::Table => show(&mut out, &answer)?,
            Format::Jsonl => writeln!(out, "{}", serde_json::to_string(&answer)?)?,
            Format::Json => answers.push(answer),
        }
    }
    if arguments.format == Format::Json {
        writeln!(out, "{}", serde_json::to_string_pretty(&answers)?)?;
    }
    Ok(out.flush()?)
}

/// The language model that is to answer, where there is one.
fn language_model(arguments: &Arguments) -> Result<Option<Llm>> {
    if matches!(arguments.policy, PolicyChoice::Rules | PolicyChoice::Learnt) {
        return Ok(None);
    }
    let llm = Llm::open(&arguments.llm, arguments.format == Format::Table)?;
    if llm.is_none() && arguments.policy == PolicyChoice::Llm {
        bail!(
            "--policy llm: no language model is set; expected base_url and model in the table [llm] of --config, or \
             TABSEGNET_LLM_URL and TABSEGNET_LLM_MODEL"
        );
    }
    Ok(llm)
}

fn answer(
    document: &OpenDocument,
    question: &Put,
    llm: Option<&(&Llm, LlmPolicy<'_>)>,
    otherwise: &dyn Policy,
    or_policy: bool,
) -> Result<Answer> {
    let ranking = document.rank(Question::new(&question.text).id(&question.id).top(usize::MAX))?;
    match llm {
        Some((llm, policy)) => llm.answer(policy, &ranking, or_policy),
        None => Ok(otherwise.answer(&ranking)),
    }
}

fn show(out: &mut impl io::Write, answer: &Answer) -> io::Result<()> {
    writeln!(out, "{}", answer.question)?;
    if answer.abstained {
        if answer.policy != "llm" {
            return writeln!(out, "  does not know (the best guess has confidence {:.2})", answer.confidence);
        }
        let why: Vec<&str> =
            answer.checks.iter().filter(|check| !check.passed).map(|check| check.what.as_str()).collect();
        writeln!(out, "  does not know: {}", why.join("; "))?;
        if let Some(unverified) = &answer.unverified {
            writeln!(out, "  not verified: {unverified}")?;
        }
        return Ok(());
    }
    let scale = answer.scale.map_or_else(String::new, |scale| format!(" {scale}"));
    writeln!(out, "  {}{scale}   confidence {:.2}", answer.answer, answer.confidence)?;
    if let Some(program) = &answer.program {
        writeln!(out, "  program: {program}")?;
    }
    if let Some(sql) = &answer.sql {
        writeln!(out, "  sql: {sql}")?;
    }
    for citation in &answer.citations {
        let headers = [&citation.row_headers, &citation.column_headers].into_iter().flatten();
        let headers: Vec<&str> = headers.map(String::as_str).collect();
        writeln!(out, "  {}: {} {}", citation.node, citation.text, headers.join(" | "))?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct Line {
    id: Option<String>,
    question: String,
}

fn questions(given: &[String], file: Option<&Path>) -> Result<Vec<Put>> {
    let mut found = Vec::new();
    let mut ids = HashSet::new();
    let mut add = |place: String, id: Option<String>, text: String| -> Result<()> {
        if text.trim().is_empty() {
            bail!("{place}: the question is blank; expected a question in words");
        }
        let id = id.unwrap_or_else(|| format!("q{}", found.len() + 1));
        if !ids.insert(id.clone()) {
            bail!("{place}: the question's id {id:?} is that of an earlier one; give each its own");
        }
        found.push(Put { id, text });
        Ok(())
    };
    for (number, text) in (1..).zip(given) {
        add(format!("--question {number}"), None, text.clone())?;
    }
    if let Some(path) = file {
        let text = read_text(path)?;
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let place = format!("{}: line {number}", path.display());
            let line = line.trim();
            let (id, text) = if line.starts_with('{') {
                let expected = || format!("{place}: expected a question, or {{\"id\": …, \"question\": …}}");
                let Line { id, question } = serde_json::from_str(line).with_context(expected)?;
                (id, question)
            } else {
                (None, line.to_owned())
            };
            add(place, id, text)?;
        }
        if text.trim().is_empty() {
            bail!("{}: the file is empty; expected a question a line", path.display());
        }
    }
    Ok(found)
}
