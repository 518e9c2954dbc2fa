//! Rankings and graphs as text.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use tabsegnet::corpus::TableNode;
use tabsegnet::ranking::{NodeEdge, NodeExplanation, TypeStrength};
use tabsegnet::{Context, Explained, OpenDocument, Ranking, ReadDocument, TableRanking, table};
use tabsegnet_datasets::document::{Block, Document};
use tabsegnet_datasets::node_id;
use tabsegnet_evaluation::trec::{RankedQuestion, write_run_to};
use tabsegnet_graph::Graph;
use tabsegnet_page::{Answer, EdgeStrength, Explanation, InEdge, Page, RankedNode};
use tabsegnet_store::{eprintln, write_bytes_atomic};

use crate::arguments::Format;

/// Scores that a page holds for shades, over all questions: about a megabyte.
const SHADED: usize = 100_000;
/// The tag of TREC runs.
const TAG: &str = "tabsegnet";

/// Prints rankings as they come, or gathers them for a file.
pub struct Writer<'a> {
    format: Format,
    output: Option<&'a Path>,
    /// What waits for the end: everything that goes into a file, and the values of a JSON list.
    text: String,
    list: Vec<Ranking>,
    tables: Vec<TableRanking>,
    answers: Vec<Answer>,
    /// Of what made the rankings.
    about: Vec<(String, String)>,
    first: bool,
}

impl<'a> Writer<'a> {
    /// To a file, or to stdout.
    pub fn new(format: Format, output: Option<&'a Path>, about: Vec<(String, String)>) -> Self {
        Self {
            format,
            output,
            text: String::new(),
            list: Vec::new(),
            tables: Vec::new(),
            answers: Vec::new(),
            about,
            first: true,
        }
    }

    /// Adds a ranking. In tables the nodes in `gold` get a star.
    pub fn add(&mut self, ranking: Ranking, gold: &[&str]) -> Result<()> {
        let text = match self.format {
            Format::Table => {
                let columns = self.output.map_or_else(table::columns, |_| None);
                let gap = if self.first { "" } else { "\n" };
                format!("{gap}{}", table::render(&ranking, gold, columns))
            }
            Format::Json => {
                self.list.push(ranking);
                return Ok(());
            }
            Format::Html | Format::Prompt => bail!("--format prompt and html go with --document"),
            Format::Jsonl => serde_json::to_string(&ranking)? + "\n",
            Format::Trec => {
                let nodes = ranking.nodes.iter().map(|node| (node.id.clone(), node.score));
                trec(&ranking.question_id, nodes.collect())?
            }
        };
        self.write(&text)
    }

    /// Adds a context for a language model.
    pub fn add_context(&mut self, context: &Context) -> Result<()> {
        let text = if self.first { context.text.clone() } else { format!("\n{}", context.text) };
        self.write(&text)
    }

    /// Adds a ranking of tables.
    pub fn add_tables(&mut self, ranking: TableRanking) -> Result<()> {
        let text = match self.format {
            Format::Table => {
                let columns = self.output.map_or_else(table::columns, |_| None);
                let gap = if self.first { "" } else { "\n" };
                format!("{gap}{}", table::render_tables(&ranking, columns))
            }
            Format::Json => {
                self.tables.push(ranking);
                return Ok(());
            }
            Format::Jsonl => serde_json::to_string(&ranking)? + "\n",
            Format::Trec => {
                let tables = ranking.tables.iter().map(|table| (table.id.clone(), table.score));
                let nodes = ranking.nodes.iter().map(|node| (node.in_corpus().to_string(), node.node.score));
                trec(&ranking.question_id, if ranking.nodes.is_empty() { tables.collect() } else { nodes.collect() })?
            }
            Format::Html | Format::Prompt => bail!("--format prompt and html are made elsewhere"),
        };
        self.write(&text)
    }

    /// Adds the page of a ranking of tables: the tables, with the best nodes marked where they were wanted.
    pub fn add_tables_page(&mut self, mut document: Document, mut ranking: TableRanking) -> Result<()> {
        if !self.text.is_empty() {
            bail!("--format html shows the tables of one question; give one --question");
        }
        // The first heading over a table says which it is.
        let mut headings = document.blocks.iter_mut().filter_map(|block| match block {
            Block::Heading(heading) => Some(heading),
            _ => None,
        });
        for table in &ranking.tables {
            if let Some(heading) = headings.next() {
                // The id of a table of a document begins with its file.
                let file = if table.id.starts_with(&table.file) { "" } else { &format!("{}, ", table.file) };
                heading.text =
                    format!("{}. {}  ({}, {file}score {:.4})", table.rank, heading.text, table.id, table.score);
            }
            if !table.section.is_empty() {
                headings.next();
            }
        }
        let ranked = |id: String, rank: usize, score: f32| RankedNode {
            id,
            rank,
            score,
            segment: None,
            duplicates: Vec::new(),
            explanation: None,
        };
        let nodes = std::mem::take(&mut ranking.nodes).into_iter();
        let mut nodes: Vec<RankedNode> =
            nodes.map(|TableNode { node, .. }| ranked(node.id, node.rank, node.score)).collect();
        if nodes.is_empty() {
            let tables = ranking.tables.iter().enumerate();
            nodes = tables.map(|(at, table)| ranked(node_id::caption(at), table.rank, table.score)).collect();
        }
        let answer = Answer {
            question: ranking.question.clone(),
            segments: Vec::new(),
            strengths: Vec::new(),
            scores: nodes.iter().map(|node| (node.id.clone(), node.score)).collect(),
            nodes,
            reply: None,
        };
        let (about, answers) = (&self.about, &[answer]);
        self.text = Page { title: &ranking.question, about, document: &document, layout: None, answers }.html()?;
        Ok(())
    }

    /// Writes what waits of rankings of tables.
    pub fn finish_tables(&mut self) -> Result<()> {
        if self.format == Format::Json {
            self.text = json(&self.tables, |ranking| &ranking.question_id)?;
        }
        self.write_out()
    }

    fn write_out(&self) -> Result<()> {
        match self.output {
            Some(path) => Ok(write_bytes_atomic(path, self.text.as_bytes())?),
            None => print(&self.text),
        }
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.first = false;
        match self.output {
            Some(_) => self.text += text,
            None => print(text)?,
        }
        Ok(())
    }

    /// Adds an explained ranking.
    pub fn add_explained(&mut self, document: &OpenDocument, explained: Explained) -> Result<()> {
        let Explained { ranking, scores } = explained;
        if self.format != Format::Html {
            return self.add(ranking, &[]);
        }
        let nodes = document.nodes();
        let shaded: usize = self.answers.iter().map(|answer| answer.scores.len()).sum();
        let scores = if shaded + nodes.len() <= SHADED {
            nodes.iter().zip(scores).map(|(node, score)| (node.id.clone(), score)).collect()
        } else {
            eprintln!("the page shades only the numbered nodes of {:?}: it has many questions", ranking.question);
            Vec::new()
        };
        self.answers.push(answer(ranking, scores));
        Ok(())
    }

    /// Writes what waits; a page of the document.
    pub fn finish(&mut self, document: Option<&OpenDocument>) -> Result<()> {
        if self.format == Format::Html {
            let open = document.context("--format html goes with --document")?;
            let ReadDocument { document, layout, .. } = open.read()?;
            // What of the document the page does not show.
            let warnings = open.warnings().iter().map(|warning| ("Warning".to_owned(), warning.clone()));
            let about: Vec<_> = self.about.iter().cloned().chain(warnings).collect();
            let (about, answers) = (&about, &self.answers);
            self.text = Page { title: &document.id, about, document, layout: Some(layout), answers }.html()?;
        }
        if self.format == Format::Json {
            self.text = json(&self.list, |ranking| &ranking.question_id)?;
        }
        self.write_out()
    }
}

/// Rankings as one indented value: that of a lone question without an id is no list.
fn json<T: Serialize>(rankings: &[T], id: impl Fn(&T) -> &str) -> Result<String> {
    let text = match rankings {
        [ranking] if id(ranking).is_empty() => serde_json::to_string_pretty(ranking)?,
        list => serde_json::to_string_pretty(list)?,
    };
    Ok(text + "\n")
}

fn answer(ranking: Ranking, scores: Vec<(String, f32)>) -> Answer {
    let Ranking { question, segments, edge_strengths, nodes, .. } = ranking;
    let explained = |NodeExplanation { reranker, alone, edges, .. }| Explanation {
        before: reranker.map(|reranker| reranker.first_score),
        alone,
        edges: edges
            .into_iter()
            .map(|NodeEdge { node, edge_type, strength, effect }| InEdge { node, edge_type, strength, effect })
            .collect(),
    };
    let nodes = nodes.into_iter().map(|node| RankedNode {
        segment: node.segment.and_then(|nearest| segments.iter().position(|segment| *segment == nearest)),
        duplicates: node.duplicates.into_iter().map(|duplicate| duplicate.id).collect(),
        explanation: node.explanation.map(explained),
        id: node.id,
        rank: node.rank,
        score: node.score,
    });
    let strengths =
        edge_strengths.into_iter().map(|TypeStrength { edge_type, strength }| EdgeStrength { edge_type, strength });
    Answer { nodes: nodes.collect(), strengths: strengths.collect(), question, segments, scores, reply: None }
}

fn print(text: &str) -> Result<()> {
    tabsegnet_store::print(text).context("stdout: could not write")
}

/// The lines of a run for one question.
fn trec(question_id: &str, nodes: Vec<(String, f32)>) -> Result<String> {
    // A question from the command line has no id; a run needs one.
    let question = if question_id.is_empty() { "q" } else { question_id }.to_owned();
    let mut lines = Vec::new();
    write_run_to(&mut lines, Path::new("stdout"), TAG, &[RankedQuestion { question, nodes }])?;
    Ok(String::from_utf8(lines)?)
}

/// Writes a graph as DOT where the name ends in `.dot`, else as GraphML.
pub fn write_graph(path: &Path, graph: &Graph) -> Result<()> {
    let dot = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dot"));
    let text = if dot { graph.to_dot() } else { graph.to_graphml() };
    Ok(write_bytes_atomic(path, text.as_bytes())?)
}
