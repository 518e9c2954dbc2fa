//! Prints what a config's data hold: statistics, and questions drawn at random with their segments
//! and the texts of their gold nodes. Works for every kind of data.
//!
//! ```sh
//! cargo run --release -p tabsegnet-trainer --example show_questions -- \
//!     --config configs/ixbrl.toml [--set data.root=DIR] [--part train|dev] [--count 30] [--seed 0] \
//!     [--output segments.jsonl]
//! ```
//!
//! `--output` also writes all questions that have segments as JSON lines, which `train` reads
//! (`segmenter_training.train`): `{"id", "question", "segments": [text…], "nodes": [[id…]…]}`.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tabsegnet_datasets::config::Part;
use tabsegnet_datasets::prepared::{Prepared, PreparedDocument, PreparedQuestion, prepare_in_memory};
use tabsegnet_trainer::config::Config;
use tabsegnet_trainer::segments;

/// Prints statistics of a config's data and random questions with their gold nodes.
#[derive(Parser)]
struct Arguments {
    /// The config file (TOML).
    #[arg(long)]
    config: PathBuf,
    /// Overrides one key of the config; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// train or dev.
    #[arg(long, default_value = "train")]
    part: String,
    /// How many questions.
    #[arg(long, default_value_t = 30)]
    count: usize,
    /// Another seed draws other questions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Writes all questions that have segments into this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let part = match arguments.part.as_str() {
        "train" => Part::Train,
        "dev" => Part::Dev,
        other => bail!("--part {other}: expected train or dev"),
    };
    let config = Config::load(&arguments.config, &arguments.overrides)?;
    let prepared = prepare_in_memory(&config.source(part)?, &config.prepare())?;
    if let Some(path) = &arguments.output {
        let (with, without) = segments::write(path, &prepared)?;
        eprintln!("{}: {with} questions with segments; {without} have none", path.display());
    }
    match print(&prepared, arguments.count, arguments.seed) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("stdout"),
        _ => Ok(()),
    }
}

fn print(prepared: &Prepared, count: usize, seed: u64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", prepared.statistics)?;
    let questions = &prepared.questions;
    let (mut segments, mut two_tables, mut text) = (0, 0, 0);
    for question in questions {
        let document = &prepared.documents[question.document];
        segments += question.segments.len();
        two_tables += usize::from(needs_two_tables(document, question));
        text += usize::from(question.gold.iter().any(|&node| document.nodes()[node as usize].place.is_none()));
    }
    let share = |count: usize| 100.0 * count as f64 / questions.len().max(1) as f64;
    writeln!(out, "segments  {segments:>9}   {:.2} a question", share(segments) / 100.0)?;
    writeln!(out, "two tables {two_tables:>8}   {:.1} % of the questions", share(two_tables))?;
    writeln!(out, "sentences {text:>9}   {:.1} % of the questions have one as gold", share(text))?;

    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<(u64, &PreparedQuestion)> = questions.iter().map(|q| (random.next_u64(), q)).collect();
    order.sort_by_key(|(number, _)| *number);
    for (_, question) in order.into_iter().take(count) {
        show(&mut out, &prepared.documents[question.document], question)?;
    }
    out.flush()
}

/// Whether no one table holds a node of every segment; without segments, whether gold lies in
/// several tables.
fn needs_two_tables(document: &PreparedDocument, question: &PreparedQuestion) -> bool {
    let tables = |nodes: &[u32]| -> BTreeSet<usize> {
        nodes.iter().filter_map(|&node| Some(document.nodes()[node as usize].place.as_ref()?.table)).collect()
    };
    let mut segments = question.segments.iter().map(|segment| tables(&segment.nodes));
    match segments.next() {
        None => tables(&question.gold).len() > 1,
        Some(first) => {
            segments.fold(first, |common, tables| common.intersection(&tables).copied().collect()).is_empty()
        }
    }
}

fn show(out: &mut impl Write, document: &PreparedDocument, question: &PreparedQuestion) -> io::Result<()> {
    writeln!(out, "\n{} ({} nodes)\n  {}", question.id, document.nodes().len(), question.text)?;
    let mut rest: BTreeSet<u32> = question.gold.iter().copied().collect();
    for segment in &question.segments {
        writeln!(out, "  - {}", segment.text)?;
        for node in &segment.nodes {
            show_node(out, document, *node)?;
            rest.remove(node);
        }
    }
    rest.into_iter().try_for_each(|node| show_node(out, document, node))
}

/// A sentence, or a cell with the table's caption and the paths of its headers.
fn show_node(out: &mut impl Write, document: &PreparedDocument, node: u32) -> io::Result<()> {
    let node = &document.nodes()[node as usize];
    let short = |text: &str, length: usize| text.chars().take(length).collect::<String>();
    let Some(place) = &node.place else { return writeln!(out, "      {}: {}", node.id, short(&node.text, 160)) };
    let caption = document.nodes().iter().find(|other| other.id == format!("t{}", place.table));
    let caption = caption.map_or(String::new(), |caption| short(&caption.text, 70));
    writeln!(out, "      {}: {} | {} | {} «{caption}»", node.id, place.row_path, place.column_path, node.text)
}
