//! Answers by rules to rankings that `infer --format jsonl` has written: a line of JSON each, on stdout.
//!
//!     answer_rankings RANKINGS

use std::io::{BufRead as _, BufReader, Write as _};

use anyhow::{Context as _, Result};
use tabsegnet::Ranking;
use tabsegnet_agent::{Policy as _, Rules};

fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("a file of rankings is missing")?;
    let mut out = std::io::stdout().lock();
    for line in BufReader::new(std::fs::File::open(path)?).lines() {
        let ranking: Ranking = serde_json::from_str(&line?)?;
        writeln!(out, "{}", serde_json::to_string(&Rules.answer(&ranking))?)?;
    }
    Ok(())
}
