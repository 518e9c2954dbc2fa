//! Answers a question about files and folders of reports and spreadsheets, by rules and without a language model.
//!
//!     cargo run --release -p tabsegnet-tablerag --example ask_files -- QUESTION FILE|FOLDER...

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use tabsegnet_document::ReadOptions;
use tabsegnet_encoder::{Encoder, EncoderConfig, load};
use tabsegnet_tablerag::{ChunkSettings, Execution, Library, Reranker, RoundSettings, Rounds, Rules, read_files};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let question = arguments.next().and_then(|text| text.into_string().ok()).context("see the head of this file")?;
    let read = read_files(&arguments.map(PathBuf::from).collect::<Vec<_>>(), &ReadOptions::default())?;
    read.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    let config = EncoderConfig::default();
    let encoder: Arc<dyn Encoder> = load(&config)?.into();
    let library = Library::new(read.sources, &encoder, &config, ChunkSettings::default())?;
    let (settings, execution) = (RoundSettings::default(), Execution::default());
    let reranker = Reranker::shipped()?;
    let rounds = Rounds { library: &library, reranker, execution: &execution, settings: &settings };
    let outcome = rounds.answer(&question, &mut Rules::new(()), &mut |_| ())?;
    println!("{:.2}  {}", outcome.confidence, outcome.answer.join("; "));
    if let Some(run) = &outcome.executed {
        println!("{}", run.sql);
    }
    for cell in &outcome.cited {
        println!("{} {}  {}", cell.document, cell.node, cell.text);
    }
    Ok(())
}
