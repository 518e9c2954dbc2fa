//! The FinQA files as published: lists of records with `id`, `filename`, `pre_text`, `post_text`,
//! `table` and `qa` (Chen et al. 2021, <https://github.com/czyssrs/FinQA>).
//!
//! A page (`filename`) is one document: the sentences of `pre_text`, the table as `t0` with one
//! header row and one header column, the sentences of `post_text`.

mod gold;
mod program;
pub mod text_repair;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tabsegnet_document::model::{Block, Document, Table, TableSource};

use crate::config::DataConfig;
use crate::dataset::{AnswerRule, Dataset, Extra, Inputs};
use crate::distractors::{DistractorConfig, DistractorPool, Placement, PoolTable, lead_in};
use crate::error::DataError;
use crate::record::{Ids, Place, read_all, read_list};
use crate::sample::{GoldAnswer, Labels, Places, Question, Samples};
use crate::silver::{self, Rows};
use crate::source::json;

/// FinQA: pages of financial reports with tables of other pages as distractors.
pub struct Finqa;

impl Dataset for Finqa {
    fn name(&self) -> &'static str {
        "finqa"
    }

    fn about(&self) -> &'static str {
        "FinQA as published"
    }

    fn answers(&self) -> AnswerRule {
        AnswerRule::Program
    }

    fn takes(&self) -> &'static [Extra] {
        &[Extra::Pool]
    }

    fn settings(&self, config: &DataConfig, _inputs: &Inputs) -> String {
        let text_repair = if config.text_repair { text_repair::VERSION } else { "" };
        format!("{text_repair} {}", json(&DistractorConfig::of(config)))
    }

    fn read(&self, inputs: &Inputs, config: &DataConfig, labels: Labels) -> Result<Samples, DataError> {
        let mut samples = read(&inputs.files, labels)?;
        let distractors = DistractorConfig::of(config);
        if distractors.count > 0 {
            let pool = DistractorPool::new(read_pool(&inputs.pool, distractors.placement)?, distractors.bm25);
            samples.samples.iter_mut().for_each(|sample| pool.add_to(sample, &distractors));
        }
        // After gold and distractors are chosen, which it does not change.
        if config.text_repair {
            samples.samples.iter_mut().for_each(|sample| text_repair::repair(&mut sample.document));
        }
        Ok(samples)
    }
}

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
    exe_ans: Option<Value>,
    answer: Option<Value>,
}

impl Qa {
    /// What the program gives, where the file has it; else the answer as it is written, if any is.
    fn answer(&self) -> Option<GoldAnswer> {
        let text = |value: &Value| match value {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let executed = self.exe_ans.as_ref().and_then(text);
        let kind = if executed.is_some() { "executed" } else { "written" }.to_owned();
        let value = executed.or_else(|| self.answer.as_ref().and_then(text))?;
        let program = self.program.clone().unwrap_or_default();
        Some(GoldAnswer { values: vec![value], program, kind, scale: String::new() })
    }
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
fn read(files: &[PathBuf], labels: Labels) -> Result<Samples, DataError> {
    let mut samples = Samples::default();
    let mut pages = Places::default();
    let mut ids = Ids::default();
    for (mut place, record) in read_all(files, |file| read_list::<Record>(file, "FinQA record"))? {
        let id = ids.take(&mut place, record.id, "id")?;
        let document = read_page(&place, record.filename, record.pre_text, record.post_text, record.table)?;
        let qa = place.require(record.qa, "qa", "question, program and gold_inds")?;
        let answer = qa.answer();
        let text = place.question(qa.question, "qa.question")?;
        let gold = read_gold(&place, &document, qa.program, qa.gold_inds, labels)?;

        let page = pages.of(&mut samples, document.id.clone(), || Ok(document.clone()))?;
        if samples.samples[page].document != document {
            return Err(
                place.error("filename", format!("page {} has another text or table in an earlier record", document.id))
            );
        }
        let question = Question { answer, ..Question::new(id, text, gold) };
        samples.add_question(page, question, labels, NO_GOLD);
    }
    silver::label(&mut samples, Rows::Measures);
    Ok(samples)
}

/// The tables of FinQA files, one a page, for a pool of distractors, with their lead-ins where those are wanted. Records
/// need no question.
fn read_pool(files: &[PathBuf], placement: Placement) -> Result<Vec<PoolTable>, DataError> {
    let mut tables = Vec::new();
    let mut seen = HashSet::new();
    for (place, record) in read_all(files, |file| read_list::<Record>(file, "FinQA record"))? {
        let place = Place { record: record.id.unwrap_or(place.record), ..place };
        let document = place.require(record.filename, "filename", "the page, such as ABC/2018/page_7.pdf")?;
        if seen.insert(document.clone()) {
            let table = read_table(&place, record.table)?;
            let lead_in = match placement {
                Placement::Random => Vec::new(),
                Placement::WithLeadIn => {
                    lead_in(&place.require(record.pre_text, "pre_text", "a list of sentences")?).to_vec()
                }
            };
            tables.push(PoolTable { document, table, lead_in });
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
