//! Documents with tables too large for the graph.

use std::io::{self, Write as _};

use anyhow::{Context as _, Result};
use tabsegnet::Opening;
use tabsegnet_agent::Policy;
use tabsegnet_agent::large::Large;

use super::{Arguments, Format, Llm, PolicyChoice, Put, show};

/// Bytes below which a file that is not packed cannot have so many cells as one: a cell takes a byte at least.
fn may_be_large(arguments: &Arguments) -> bool {
    let packed = arguments
        .document
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("xlsx") || end.eq_ignore_ascii_case("xlsm"));
    let bytes = std::fs::metadata(&arguments.document).map_or(0, |about| about.len());
    packed || bytes >= arguments.sql_cells as u64
}

/// The document, where tables of it are too large; these are told on stderr.
pub fn open(arguments: &Arguments) -> Result<Option<Large>> {
    if !may_be_large(arguments) {
        return Ok(None);
    }
    let path = arguments.document.display();
    let program = std::env::current_exe().context("the program does not find itself")?.into_os_string();
    let large = Large::read(&arguments.document, arguments.sql_cells, program)
        .with_context(|| format!("{path}: could not be opened"))?;
    let Some(large) = large else { return Ok(None) };
    for warning in &large.warnings {
        eprintln!("warning: {path}: {warning}");
    }
    for (number, rows, columns) in &large.tables {
        eprintln!(
            "t{number} goes through SQL: {rows} rows of {columns} cells are too many for the graph (--sql-cells)"
        );
    }
    Ok(Some(large))
}

/// Answers all questions.
pub fn answer(
    arguments: &Arguments,
    large: &Large,
    opening: Opening,
    questions: &[Put],
    llm: Option<&Llm>,
    policy: &dyn Policy,
) -> Result<()> {
    let path = arguments.document.display();
    let session = if large.has_rest() { Some(opening.finish()?) } else { None };
    let rest = match &session {
        Some(session) => large.open_rest(session).with_context(|| format!("{path}: could not be opened"))?,
        None => None,
    };
    let mut out = io::stdout().lock();
    let mut answers = Vec::new();
    for Put { id, text } in questions {
        let by_rules = |settings| {
            let rest = rest.as_ref().map(|rest| (rest, policy));
            large.answer((id, text), rest, settings).with_context(|| format!("{path}: {id}"))
        };
        let answer = match llm {
            None => by_rules(&Default::default())?,
            Some(llm) => match llm.rounds(large, (id, text)) {
                Ok(answer) => answer,
                Err(error) if arguments.policy == PolicyChoice::Auto => {
                    eprintln!("warning: {id}: answered by rules: {error:#}");
                    by_rules(llm.settings())?
                }
                Err(error) => return Err(error.context(format!("{path}: {id}"))),
            },
        };
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
