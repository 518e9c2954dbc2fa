//! Rankings and graphs as text.

use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use tabsegnet_data::graph::DocumentGraph;
use tabsegnet_evaluation::trec::{RankedQuestion, write_run, write_run_to};
use tabsegnet_files::write_bytes_atomic;
use tabsegnet_ranking::{Ranking, table};

use crate::arguments::Format;

/// The tag of TREC runs.
const TAG: &str = "tabsegnet";

/// Prints rankings, or writes them into a file. In tables the nodes in `gold` get a star.
pub fn write(rankings: &[Ranking], gold: &[Vec<String>], format: Format, output: Option<&Path>) -> Result<()> {
    if let (Format::Trec, Some(path)) = (format, output) {
        return Ok(write_run(path, TAG, &trec(rankings))?);
    }
    let text = match format {
        Format::Table => tables(rankings, gold),
        Format::Json => match rankings {
            [ranking] if ranking.question_id.is_empty() => serde_json::to_string_pretty(ranking)? + "\n",
            _ => serde_json::to_string_pretty(rankings)? + "\n",
        },
        Format::Jsonl => {
            let mut lines = String::new();
            for ranking in rankings {
                lines += &serde_json::to_string(ranking)?;
                lines.push('\n');
            }
            lines
        }
        Format::Trec => {
            let mut lines = Vec::new();
            write_run_to(&mut lines, Path::new("stdout"), TAG, &trec(rankings))?;
            String::from_utf8(lines)?
        }
    };
    match output {
        Some(path) => write_bytes_atomic(path, text.as_bytes())?,
        None => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("stdout: could not write")?;
        }
    }
    Ok(())
}

fn tables(rankings: &[Ranking], gold: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (ranking, gold) in rankings.iter().zip(gold) {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &table::render(ranking, &gold.iter().map(String::as_str).collect::<Vec<_>>());
    }
    text
}

fn trec(rankings: &[Ranking]) -> Vec<RankedQuestion> {
    rankings
        .iter()
        .map(|ranking| RankedQuestion {
            // A question from the command line has no id; a run needs one.
            question: if ranking.question_id.is_empty() { "q".into() } else { ranking.question_id.clone() },
            nodes: ranking.nodes.iter().map(|node| (node.id.clone(), node.score)).collect(),
        })
        .collect()
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
