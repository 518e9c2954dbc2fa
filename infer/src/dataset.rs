//! Every question of a data set's files.

use anyhow::Result;
use tabsegnet::Session;
use tabsegnet_datasets::Inputs;
use tabsegnet_datasets::config::{Part, json_files};
use tabsegnet_store::eprintln;

use crate::arguments::Files;
use crate::output::Writer;

/// Ranks for every question. In tables the gold nodes, as far as the files name them, get a star.
pub fn rank(session: &Session, files: &Files<'_>, top_k: usize, writer: &mut Writer<'_>) -> Result<()> {
    let inputs = Inputs {
        part: Part::Dev,
        files: files.input.to_vec(),
        tables: json_files("--tables", files.tables.to_vec())?,
        passages: json_files("--passages", files.passages.to_vec())?,
        pool: files.pool.to_vec(),
        ..Inputs::default()
    };
    let rankings = session.rank_dataset(files.dataset, inputs, top_k, &mut |line| eprintln!("{line}"))?;
    for judged in rankings {
        let gold: Vec<&str> = judged.gold.iter().map(String::as_str).collect();
        writer.add(judged.ranking, &gold)?;
    }
    writer.finish(None)
}
