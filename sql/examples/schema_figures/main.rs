//! Measures schema linking, joins and lineage, as tables in Markdown.
//!
//!     schema_figures DATASETS [--part dev|train] [--weights FILE] [--ranking NAME=FILE]... [--wrong]
//!
//! DATASETS has the folder `sql`. With `--weights` other weights than the shipped ones; `--ranking` is another ranking of
//! the columns and tables of Spider's questions, TREC lines over the documents of `schema_documents`: several of one
//! name are measured together; `--wrong` also prints the questions whose tables or joins are not right.

mod anchor;
mod elsewhere;
mod joins;
mod lineage;
mod linking;
#[path = "../spider/mod.rs"]
mod spider;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use linking::Ranking;
use spider::{Databases, Joins, of_spider};
use tabsegnet_sql::linking::{Linker, Model, ValueIndex};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut data = None;
    let (mut part, mut model, mut wrong) = ("dev".to_owned(), Model::shipped().clone(), false);
    let mut rankings: Vec<(String, Vec<Ranking>)> = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--part" => part = arguments.next().context("--part PART")?,
            "--weights" => {
                let file = arguments.next().context("--weights FILE")?;
                model = serde_json::from_str(&std::fs::read_to_string(&file).context(file)?)?;
            }
            "--ranking" => {
                let ranking = arguments.next().context("--ranking NAME=FILE")?;
                let (name, file) = ranking.split_once('=').context("--ranking NAME=FILE")?;
                let read = Ranking::read(Path::new(file))?;
                match rankings.iter_mut().find(|(other, _)| other == name) {
                    Some((_, several)) => several.push(read),
                    None => rankings.push((name.to_owned(), vec![read])),
                }
            }
            "--wrong" => wrong = true,
            _ => data = Some(PathBuf::from(argument)),
        }
    }
    let Some(data) = data else { bail!("see the head of this file") };
    let spider = of_spider(&data, &part, Joins::ALL)?;
    linking::alone(&spider, &part, &model, &rankings, wrong)?;
    linking::pooled(&spider, &model);
    elsewhere::figures(&data, &part, &spider, &model)?;
    joins::figures(&data, &model, wrong, &part)?;
    joins::with_and_without(&data, &part, &model)?;
    lineage::figures(&data, wrong)
}

fn linkers<'g>(databases: &'g Databases, model: &Model, with_values: bool) -> Vec<Linker<'g>> {
    let values = |values: &ValueIndex| if with_values { values.clone() } else { ValueIndex::default() };
    databases.graphs.iter().zip(&databases.values).map(|(graph, of)| Linker::new(graph, values(of), model)).collect()
}
