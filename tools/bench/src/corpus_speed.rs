//! How fast a corpus of tables opens and answers: medians over questions, one after the other and with all threads.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use rayon::prelude::*;
use serde_json::json;
use tabsegnet::Corpus;
use tabsegnet_datasets::tables::read_questions;

/// Prints JSON: tables, milliseconds of opening, and of a question the median and the 95th percentile.
#[derive(Args)]
pub struct Options {
    /// The corpus.
    #[arg(long)]
    corpus: PathBuf,
    /// A file of questions.
    #[arg(long)]
    questions: PathBuf,
    /// How many of them.
    #[arg(long, default_value_t = 200)]
    count: usize,
    /// Ways to rank; may be given several times.
    #[arg(long, required = true)]
    retriever: Vec<String>,
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

pub fn run(options: &Options) -> Result<()> {
    let all: Vec<_> = read_questions(&options.questions)?.collect::<Result<_, _>>()?;
    let step = all.len().div_ceil(options.count.max(1)).max(1);
    let questions: Vec<&str> = all.iter().step_by(step).map(|question| question.question.as_str()).collect();
    ensure!(!questions.is_empty(), "{}: holds no question", options.questions.display());
    let mut methods = Vec::new();
    for name in &options.retriever {
        let begun = Instant::now();
        let corpus = Corpus::open_with(&options.corpus, name)?;
        let open = begun.elapsed();
        // The first question brings pages of the files into memory.
        corpus.search_ids(questions[0], 10)?;
        let mut times = Vec::with_capacity(questions.len());
        for question in &questions {
            let begun = Instant::now();
            corpus.search_ids(question, 10)?;
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        let begun = Instant::now();
        questions.par_iter().try_for_each(|question| corpus.search_ids(question, 10).map(|_| ()))?;
        let together = begun.elapsed();
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
        methods.push(json!({
            "retriever": name, "tables": corpus.len(), "questions": questions.len(), "open_ms": milliseconds(open),
            "p50_ms": milliseconds(at(0.5)), "p95_ms": milliseconds(at(0.95)),
            "questions_a_second": (questions.len() as f64 / together.as_secs_f64()).round(),
        }));
    }
    println!("{}", serde_json::to_string(&methods).context("no JSON")?);
    Ok(())
}
