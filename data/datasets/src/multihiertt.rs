//! MultiHierTT as published (Zhao et al. 2022, <https://github.com/psunlpgroup/MultiHiertt>): lists
//! of records with `uid`, `paragraphs` (also as `paragraph_lines`), `tables`, `table_description`
//! and `qa`.
//!
//! A record is one document; records of the same text and tables are questions on the first of
//! them. `paragraphs` are its sentences, and a line `## Table 2 ##` among them is where `t2`
//! stands; a table without such a line comes after the last sentence. Tables are HTML; a cell
//! keeps the position it has there, so that the evidence `0-3-2` (table, row, column) is `t0:r3c2`.
//! Header rows and columns are inferred.
//!
//! Gold are the cells of `qa.table_evidence` and the sentences of `qa.text_evidence`; where the
//! latter counts to a table's line, the table's caption node.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use tabsegnet_document::model::{Block, Document, Table};
use tabsegnet_document::{KnownTable, node_id, table_of_html};
use tabsegnet_store::Digest;

use crate::config::DataConfig;
use crate::dataset::{Dataset, Inputs};
use crate::error::DataError;
use crate::record::{Ids, Place, read_all, read_list};
use crate::sample::{Labels, Places, Question, Samples};
use crate::silver::{self, Rows};
use crate::values::{amount, normalised, numbers_in};

#[derive(Deserialize)]
struct Record {
    uid: Option<String>,
    #[serde(alias = "paragraph_lines")]
    paragraphs: Option<Vec<String>>,
    tables: Option<Vec<String>>,
    table_description: Option<BTreeMap<String, String>>,
    qa: Option<Qa>,
}

#[derive(Deserialize)]
struct Qa {
    question: Option<String>,
    text_evidence: Option<Vec<usize>>,
    table_evidence: Option<Vec<String>>,
}

/// Why questions are left out of every measure.
const NO_GOLD: &str = "no gold node (qa.table_evidence and qa.text_evidence are empty)";
const DISAGREES: &str = "a cell of qa.table_evidence is not what table_description says of it";

/// MultiHierTT: several hierarchical tables and text.
///
/// # Errors
/// A file that is not a list of records, a record without what it needs, evidence out of range, a
/// table that is none, two records of one id: each names the file, the record and the field.
pub struct Multihiertt;

impl Dataset for Multihiertt {
    fn name(&self) -> &'static str {
        "multihiertt"
    }

    fn about(&self) -> &'static str {
        "MultiHierTT as published"
    }

    fn read(&self, inputs: &Inputs, _config: &DataConfig, labels: Labels) -> Result<Samples, DataError> {
        let mut samples = Samples::default();
        let mut pages = Places::default();
        let mut ids = Ids::default();
        for (mut place, record) in read_all(&inputs.files, |file| read_list::<Record>(file, "MultiHierTT record"))? {
            let id = ids.take(&mut place, record.uid, "uid")?;
            let paragraphs = place.require(record.paragraphs, "paragraphs", "a list of sentences")?;
            let tables = place.require(record.tables, "tables", "a list of HTML tables")?;
            let qa = place.require(record.qa, "qa", "question, text_evidence and table_evidence")?;
            let text = place.question(qa.question, "qa.question")?;
            let content = content(&paragraphs, &tables);
            let page = Page::new(&place, &id, paragraphs, &tables)?;

            let labelled = labels == Labels::Required || (qa.text_evidence.is_some() && qa.table_evidence.is_some());
            let gold = if labelled {
                let sentences = place.require(qa.text_evidence, "qa.text_evidence", EVIDENCE)?;
                let cells = place.require(qa.table_evidence, "qa.table_evidence", EVIDENCE)?;
                page.gold(&place, &sentences, &cells, &record.table_description.unwrap_or_default())?
            } else {
                Ok(BTreeSet::new())
            };
            let document = pages.of(&mut samples, content, || Ok(page.document))?;
            let no_gold = gold.as_ref().err().copied().unwrap_or(NO_GOLD);
            samples.add_question(document, Question::new(id, text, gold.unwrap_or_default()), labels, no_gold);
        }
        silver::label(&mut samples, Rows::Measures);
        Ok(samples)
    }
}

const EVIDENCE: &str = "a list; a file without gold can be ranked (infer), not be measured";

/// What makes two records the same page.
fn content(paragraphs: &[String], tables: &[String]) -> [u8; 32] {
    let digest = Digest::new().part(paragraphs.len().to_le_bytes());
    paragraphs.iter().chain(tables).fold(digest, Digest::part).bytes()
}

struct Page {
    document: Document,
    /// By number.
    tables: Vec<Table>,
    /// The node of each line of `paragraphs`.
    lines: Vec<String>,
}

impl Page {
    fn new(place: &Place<'_>, id: &str, paragraphs: Vec<String>, markup: &[String]) -> Result<Self, DataError> {
        let tables = markup.iter().enumerate().map(|(number, markup)| {
            let known = KnownTable { number, ..KnownTable::default() };
            let read = table_of_html(markup, known).map(|(table, _)| table);
            read.map_err(|error| place.error(&format!("tables[{number}]"), error.to_string()))
        });
        let tables: Vec<Table> = tables.collect::<Result<_, _>>()?;
        let mut blocks = Vec::with_capacity(paragraphs.len() + tables.len());
        let mut lines = Vec::with_capacity(paragraphs.len());
        let mut placed = vec![false; tables.len()];
        let mut passages = 0;
        for (index, paragraph) in paragraphs.into_iter().enumerate() {
            if let Some(number) = table_mark(&paragraph) {
                let (Some(table), Some(placed)) = (tables.get(number), placed.get_mut(number)) else {
                    let message = format!("{paragraph:?} names a table that is not there: there are {}", tables.len());
                    return Err(place.error(&format!("paragraphs[{index}]"), message));
                };
                if !std::mem::replace(placed, true) {
                    blocks.push(Block::Table(table.clone()));
                }
                lines.push(node_id::caption(number));
            } else {
                blocks.push(Block::Passage(paragraph));
                lines.push(node_id::passage(passages));
                passages += 1;
            }
        }
        let rest = tables.iter().zip(&placed).filter(|&(_, &placed)| !placed);
        blocks.extend(rest.map(|(table, _)| Block::Table(table.clone())));
        Ok(Self { document: Document { id: id.to_owned(), blocks }, tables, lines })
    }

    /// The gold nodes, or why there is none to be trusted.
    fn gold(
        &self,
        place: &Place<'_>,
        sentences: &[usize],
        cells: &[String],
        descriptions: &BTreeMap<String, String>,
    ) -> Result<Result<BTreeSet<String>, &'static str>, DataError> {
        let mut gold = BTreeSet::new();
        for (index, &line) in sentences.iter().enumerate() {
            let node = self.lines.get(line).ok_or_else(|| {
                let message = format!("{line} is out of range: there are {} paragraphs, from 0", self.lines.len());
                place.error(&format!("qa.text_evidence[{index}]"), message)
            })?;
            gold.insert(node.clone());
        }
        let mut trusted = true;
        for (index, evidence) in cells.iter().enumerate() {
            let error = |message: String| place.error(&format!("qa.table_evidence[{index}]"), message);
            let [number, row, col] = position(evidence)
                .ok_or_else(|| error(format!("is {evidence:?}; expected TABLE-ROW-COLUMN, numbers from 0")))?;
            let tables = self.tables.len();
            let table = self
                .tables
                .get(number)
                .ok_or_else(|| error(format!("{evidence} is out of range: there are {tables} tables, from 0")))?;
            let cell = table.cell_at(row, col).ok_or_else(|| {
                let (rows, cols) = (table.rows(), table.cols());
                error(format!("{evidence} is out of range: table {number} has {rows} rows and {cols} columns, from 0"))
            })?;
            trusted &= descriptions.get(evidence).is_none_or(|description| describes(description, &cell.text));
            gold.insert(node_id::cell(table, cell));
        }
        Ok(if trusted { Ok(gold) } else { Err(DISAGREES) })
    }
}

/// The number of the table that a line `## Table 2 ##` stands for.
fn table_mark(line: &str) -> Option<usize> {
    let inner = line.trim().strip_prefix("##")?.strip_suffix("##")?.trim();
    inner.strip_prefix("Table")?.trim().parse().ok()
}

/// `0-3-2`.
fn position(evidence: &str) -> Option<[usize; 3]> {
    let mut parts = evidence.split('-').map(|part| part.trim().parse().ok());
    let position = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(position)
}

/// Whether a description ("Net income of 2005 Restated is $12,891.") is that of a cell: it holds
/// the cell's number, or its text.
fn describes(description: &str, cell: &str) -> bool {
    let held = normalised(description).contains(&normalised(cell));
    held || amount(cell).is_some_and(|number| numbers_in(description).iter().any(|&(_, other)| other == number))
}

#[cfg(test)]
mod tests;
