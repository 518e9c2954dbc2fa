//! Fits the weights that link questions to a schema, `sql/src/linking/weights.json`, on Spider's training part.
//!
//!     fit_linking DATASETS OUTPUT
//!
//! DATASETS has the folder `sql/spider` with `train.jsonl`, `tables.json` and the databases in `db`.

mod spider;

use std::path::Path;

use anyhow::{Result, bail};
use spider::{Joins, examples, of_spider};
use tabsegnet_sql::linking::fit::{Settings, fit};
use tabsegnet_sql::linking::{Linker, Model};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, output] = arguments.as_slice() else { bail!("see the head of this file") };
    let (questions, databases) = of_spider(Path::new(data), "train", Joins::ALL)?;
    let model = Model::default();
    let mut linkers: Vec<Linker<'_>> = databases
        .graphs
        .iter()
        .zip(databases.values.clone())
        .map(|(graph, values)| Linker::new(graph, values, &model))
        .collect();
    let examples = examples(&questions, &databases);
    println!("{} questions on {} databases", examples.len(), linkers.len());
    let model = fit(&mut linkers, &examples, Settings::default());
    println!(
        "{} weights",
        [&model.mention, &model.table, &model.set, &model.column].map(|w| w.0.len()).iter().sum::<usize>()
    );
    std::fs::write(output, serde_json::to_string_pretty(&model)? + "\n")?;
    Ok(())
}
