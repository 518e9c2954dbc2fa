//! Writes Spider's questions with their schemas as documents in the native form, so that a ranker learns which tables
//! and columns a question needs (`configs/spider.toml`).
//!
//!     schema_documents DATASETS OUTPUT
//!
//! DATASETS has the folder `sql/spider`; OUTPUT gets `train.jsonl` and `dev.jsonl`. Gold are the captions of the tables
//! and the headers of the columns that the question's statement has.

mod spider;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use spider::{Joins, documents, of_spider};
use tabsegnet_sql::linking::{Linker, Model};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, output] = arguments.as_slice() else { bail!("see the head of this file") };
    std::fs::create_dir_all(output).context(output.clone())?;
    for part in ["train", "dev"] {
        let (questions, databases) = of_spider(Path::new(data), part, Joins::ALL)?;
        let mut lines = String::new();
        for (number, question) in questions.iter().enumerate() {
            let at = databases.names.binary_search(&question.db).ok().context("a database")?;
            let linker = Linker::new(&databases.graphs[at], databases.values[at].clone(), Model::shipped());
            lines += &documents::document(&documents::id(part, number), question, &linker).to_string();
            lines.push('\n');
        }
        let file = Path::new(output).join(format!("{part}.jsonl"));
        std::fs::write(&file, lines).with_context(|| file.display().to_string())?;
    }
    Ok(())
}
