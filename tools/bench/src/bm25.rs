//! Times building a BM25 index over texts and asking it: one text a line, the first `--questions`
//! of them (evenly spread) taken as questions, every text scored for each. One thread. Prints one
//! line of JSON.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;
use tabsegnet_benches::Times;
use tabsegnet_lexical::{Bm25Config, LexicalIndex};

#[derive(Args)]
pub struct Options {
    /// A file with one text a line.
    texts: PathBuf,
    #[arg(long, default_value_t = 200)]
    questions: usize,
    #[arg(long, default_value_t = 5)]
    steps: usize,
}

pub fn run(options: &Options) -> Result<()> {
    let &Options { ref texts, questions, steps } = options;
    let content = std::fs::read_to_string(texts).with_context(|| texts.display().to_string())?;
    let texts: Vec<&str> = content.lines().collect();
    let questions: Vec<&str> = texts.iter().step_by((texts.len() / questions.max(1)).max(1)).copied().collect();
    let build = Times::of_sure(1, steps, || drop(LexicalIndex::new(&texts)));
    let index = LexicalIndex::new(&texts);
    let ask = Times::of_sure(1, steps, || {
        for question in &questions {
            drop(index.bm25(question, Bm25Config::default()));
        }
    });
    println!(
        "{}",
        json!({
            "peer": "tabsegnet", "texts": texts.len(), "questions": questions.len(),
            "build_ms": build.median(), "ask_ms": ask.median() / questions.len().max(1) as f64,
        })
    );
    Ok(())
}
