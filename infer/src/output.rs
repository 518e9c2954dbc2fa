//! Rankings and graphs as text.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use tabsegnet_data::document::Document;
use tabsegnet_data::graph::DocumentGraph;
use tabsegnet_evaluation::trec::{RankedQuestion, write_run_to};
use tabsegnet_files::write_bytes_atomic;
use tabsegnet_ranking::context::context;
use tabsegnet_ranking::{Ranking, table};

use crate::arguments::Format;

/// The tag of TREC runs.
const TAG: &str = "tabsegnet";

/// Prints rankings as they come, or gathers them for a file.
pub struct Writer<'a> {
    format: Format,
    output: Option<&'a Path>,
    /// Tokens of a context.
    tokens: usize,
    /// What waits for the end: everything that goes into a file, and the values of a JSON list.
    text: String,
    list: Vec<Ranking>,
    first: bool,
}

impl<'a> Writer<'a> {
    /// To a file, or to stdout.
    pub fn new(format: Format, output: Option<&'a Path>, tokens: usize) -> Self {
        Self { format, output, tokens, text: String::new(), list: Vec::new(), first: true }
    }

    /// Adds a ranking. In tables the nodes in `gold` get a star; a context is cut from `document`.
    pub fn add(&mut self, ranking: Ranking, gold: &[&str], document: Option<&Document>) -> Result<()> {
        let text = match self.format {
            Format::Table if self.first => table::render(&ranking, gold),
            Format::Table => format!("\n{}", table::render(&ranking, gold)),
            Format::Json => {
                self.list.push(ranking);
                return Ok(());
            }
            Format::Jsonl => serde_json::to_string(&ranking)? + "\n",
            Format::Prompt => {
                let document = document.context("--format prompt goes with --document")?;
                let context = context(document, &ranking, self.tokens).context("--tokens")?;
                if self.first { context.text } else { format!("\n{}", context.text) }
            }
            Format::Trec => {
                let mut lines = Vec::new();
                write_run_to(&mut lines, Path::new("stdout"), TAG, &[trec(&ranking)])?;
                String::from_utf8(lines)?
            }
        };
        self.first = false;
        match self.output {
            Some(_) => self.text += &text,
            None => print(&text)?,
        }
        Ok(())
    }

    /// Writes what waits.
    pub fn finish(&mut self) -> Result<()> {
        if self.format == Format::Json {
            self.text = match self.list.as_slice() {
                [ranking] if ranking.question_id.is_empty() => serde_json::to_string_pretty(ranking)?,
                list => serde_json::to_string_pretty(list)?,
            };
            self.text.push('\n');
        }
        match self.output {
            Some(path) => Ok(write_bytes_atomic(path, self.text.as_bytes())?),
            None => print(&self.text),
        }
    }
}

fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("stdout: could not write")
}

fn trec(ranking: &Ranking) -> RankedQuestion {
    RankedQuestion {
        // A question from the command line has no id; a run needs one.
        question: if ranking.question_id.is_empty() { "q".into() } else { ranking.question_id.clone() },
        nodes: ranking.nodes.iter().map(|node| (node.id.clone(), node.score)).collect(),
    }
}

/// Writes a graph as DOT where the name ends in `.dot`, else as GraphML.
pub fn write_graph(path: &Path, graph: &DocumentGraph) -> Result<()> {
    let dot = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dot"));
    let text = if dot { graph.to_dot() } else { graph.to_graphml() };
    Ok(write_bytes_atomic(path, text.as_bytes())?)
}

/// Whether an error is that nobody reads stdout any more, as in `infer … | head`.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}
