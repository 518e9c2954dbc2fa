//! The FinQA files as published: lists of records with `id`, `filename`, `pre_text`, `post_text`,
//! `table` and `qa` (Chen et al. 2021, <https://github.com/czyssrs/FinQA>).
//!
//! A page (`filename`) is one document: the sentences of `pre_text`, the table as `t0` with one
//! header row and one header column, the sentences of `post_text`.

mod gold;
mod program;
pub mod text_repair;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::document::{Block, Document, Table, TableSource};
use crate::error::DataError;
use crate::record::{Ids, Place, read_list};
use crate::sample::{Labels, LeftOut, Question, Sample, Samples};
use crate::silver::{self, Rows};

/// Fields that the programs do not need are passed over, so that files with more of them read.
#[derive(Deserialize)]
struct Record {
    id: Option<String>,
    filename: Option<String>,
    pre_text: Option<Vec<String>>,
    post_text: Option<Vec<String>>,
    table: Option<Vec<Vec<String>>>,
    qa: Option<Qa>,
}

#[derive(Deserialize)]
struct Qa {
    question: Option<String>,
    program: Option<String>,
    gold_inds: Option<BTreeMap<String, IgnoredAny>>,
}

/// Why a question is left out of every measure.
const NO_GOLD: &str = "no gold node (qa.gold_inds is empty)";

/// Reads FinQA files as one data set: pages in the order of their first record, each with the
/// questions of all its records.
///
/// # Errors
/// A file that is not a list of records, a record without what it needs, a gold index out of
/// range, a ragged table, two records of one id, two contents of one page: each names the file,
/// the record and the field.
pub fn read(files: &[PathBuf], labels: Labels) -> Result<Samples, DataError> {
    let mut samples = Samples::default();
    let mut pages: HashMap<String, usize> = HashMap::new();
    let mut ids = Ids::default();
    for file in files {
        for (index, record) in read_list::<Record>(file, "FinQA record")?.into_iter().enumerate() {
            let mut place = Place::at(file, index);
            let id = ids.take(&mut place, record.id, "id")?;
            let document = read_page(&place, record.filename, record.pre_text, record.post_text, record.table)?;
            let qa = place.require(record.qa, "qa", "question, program and gold_inds")?;
            let text = place.question(qa.question, "qa.question")?;
            let gold = read_gold(&place, &document, qa.program, qa.gold_inds, labels)?;

            let sample = match pages.get(&document.id) {
                Some(&sample) => sample,
                None => {
                    pages.insert(document.id.clone(), samples.samples.len());
                    samples.samples.push(Sample { document: document.clone(), questions: Vec::new() });
                    samples.samples.len() - 1
                }
            };
            let sample = &mut samples.samples[sample];
            if sample.document != document {
                return Err(place.error(
                    "filename",
                    format!("page {} has another text or table in an earlier record", document.id),
                ));
            }
            if labels == Labels::Required && gold.is_empty() {
                samples.left_out.push(LeftOut { question: id, reason: NO_GOLD });
            } else {
                sample.questions.push(Question { id, text, gold, segments: Vec::new() });
            }
        }
    }
    silver::label(&mut samples, Rows::Measures);
    Ok(samples)
}

/// The tables of FinQA files, one a page, for a pool of distractors. Records need no question.
pub fn read_pool(files: &[PathBuf]) -> Result<Vec<(String, Table)>, DataError> {
    let mut tables = Vec::new();
    let mut seen: HashMap<String, ()> = HashMap::new();
    for file in files {
        for (index, record) in read_list::<Record>(file, "FinQA record")?.into_iter().enumerate() {
            let place = Place { file, record: record.id.unwrap_or_else(|| format!("#{index}")) };
            let page = place.require(record.filename, "filename", "the page, such as ABC/2018/page_7.pdf")?;
            if seen.insert(page.clone(), ()).is_none() {
                tables.push((page, read_table(&place, record.table)?));
            }
        }
    }
    Ok(tables)
}

fn read_page(
    place: &Place<'_>,
    filename: Option<String>,
    pre_text: Option<Vec<String>>,
    post_text: Option<Vec<String>>,
    table: Option<Vec<Vec<String>>>,
) -> Result<Document, DataError> {
    let id = place.require(filename, "filename", "the page, such as ABC/2018/page_7.pdf")?;
    let before = place.require(pre_text, "pre_text", "a list of sentences")?;
    let after = place.require(post_text, "post_text", "a list of sentences")?;
    let table = read_table(place, table)?;
    let mut blocks: Vec<Block> = before.into_iter().map(Block::Passage).collect();
    blocks.push(Block::Table(table));
    blocks.extend(after.into_iter().map(Block::Passage));
    Ok(Document { id, blocks })
}

fn read_table(place: &Place<'_>, table: Option<Vec<Vec<String>>>) -> Result<Table, DataError> {
    let rows = place.require(table, "table", "a list of rows of texts")?;
    let source = TableSource {
        header_rows: 1,
        header_cols: 1,
        rows: rows.into_iter().map(|row| row.into_iter().map(Into::into).collect()).collect(),
        ..TableSource::default()
    };
    Table::new(source).map_err(|error| place.error("table", error.to_string()))
}

fn read_gold(
    place: &Place<'_>,
    document: &Document,
    program: Option<String>,
    gold_inds: Option<BTreeMap<String, IgnoredAny>>,
    labels: Labels,
) -> Result<Vec<String>, DataError> {
    if labels == Labels::Optional && (program.is_none() || gold_inds.is_none()) {
        return Ok(Vec::new());
    }
    let no_labels = "it; a file without gold can be ranked (infer) or be a pool, not be measured";
    let program = place.require(program, "qa.program", no_labels)?;
    let gold_inds = place.require(gold_inds, "qa.gold_inds", no_labels)?;
    let program = program::Program::parse(&program).map_err(|message| place.error("qa.program", message))?;
    gold::gold_nodes(document, &program, gold_inds.keys().map(String::as_str))
        .map_err(|(key, message)| place.error(&format!("qa.gold_inds.{key}"), message))
}

#[cfg(test)]
mod tests;
