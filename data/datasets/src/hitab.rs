//! HiTab as published (Cheng et al. 2022, <https://github.com/microsoft/HiTab>): questions one a
//! line (`id`, `table_id`, `question`, `linked_cells`), and beside them the tables (`texts`,
//! `merged_regions`, `top_root`, `left_root`, `title`), one a line (`.jsonl`, named by `table_id`)
//! or one a file (`TABLE_ID.json`).
//!
//! A table is one document, its title the caption. The header trees say which rows and columns are
//! headers, what a header spans and which row stands under which: nothing is inferred.
//!
//! Gold are the cells of `linked_cells.quantity_link`, and the cells of the answer (`[ANSWER]`)
//! where it is a header.

mod tree;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tabsegnet_document::model::{Block, Document, Table};
use tabsegnet_document::{KnownTable, Region, node_id, table_with};

use crate::error::DataError;
use crate::record::{Ids, Place, read_lines, read_named};
use crate::sample::{Labels, LeftOut, Question, Sample, Samples};
use crate::silver::{self, Rows};
use tree::{HeaderNode, Headers};

#[derive(Deserialize)]
struct Record {
    id: Option<String>,
    table_id: Option<String>,
    question: Option<String>,
    linked_cells: Option<LinkedCells>,
}

#[derive(Deserialize)]
struct LinkedCells {
    /// By header tree, then by phrase of the question.
    entity_link: Option<BTreeMap<String, BTreeMap<String, Cells>>>,
    /// By phrase of the question.
    quantity_link: Option<BTreeMap<String, Cells>>,
}

/// Values by place, `(18, 1)`.
type Cells = BTreeMap<String, IgnoredAny>;

/// The phrase that stands for the answer.
const ANSWER: &str = "[ANSWER]";

#[derive(Deserialize)]
struct TableRecord {
    table_id: Option<String>,
    #[serde(default)]
    title: String,
    texts: Option<Vec<Vec<String>>>,
    merged_regions: Option<Vec<MergedRegion>>,
    top_root: Option<HeaderNode>,
    left_root: Option<HeaderNode>,
}

#[derive(Deserialize)]
struct MergedRegion {
    first_row: usize,
    last_row: usize,
    first_column: usize,
    last_column: usize,
}

/// Where the files are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Questions, one a line.
    pub questions: Vec<PathBuf>,
    /// Tables, one a line or one a file.
    pub tables: Vec<PathBuf>,
}

/// Why a question is left out of every measure.
const NO_GOLD: &str = "no gold node (linked_cells has neither quantities nor the answer)";

/// Reads HiTab files as one data set: the tables that questions are put to, in the order of their
/// first question.
///
/// # Errors
/// A file of another form, a question without what it needs, a table that is not there, a linked
/// cell outside of it, two questions of one id: each names the file, the record and the field.
pub fn read(files: &Files, labels: Labels) -> Result<Samples, DataError> {
    let mut records = Vec::new();
    for file in &files.questions {
        records
            .extend(read_lines::<Record>(file, "HiTab question")?.into_iter().enumerate().map(|(i, r)| (file, i, r)));
    }
    let wanted: HashSet<String> = records.iter().filter_map(|(_, _, record)| record.table_id.clone()).collect();
    let mut tables = read_named::<TableRecord>(&files.tables, &wanted, |table| table.table_id.as_deref(), "table_id")?;

    let mut samples = Samples::default();
    let mut pages: HashMap<String, usize> = HashMap::new();
    let mut ids = Ids::default();
    for (file, index, record) in records {
        let mut place = Place::at(file, index);
        let id = ids.take(&mut place, record.id, "id")?;
        let text = place.question(record.question, "question")?;
        let table_id = place.require(record.table_id, "table_id", "the table's name")?;
        let sample = match pages.get(&table_id) {
            Some(&sample) => sample,
            None => {
                let (file, table) = tables.remove(&table_id).ok_or_else(|| {
                    place.error("table_id", format!("no file of tables has {table_id}; name the files in data.tables"))
                })?;
                let table = read_table(&Place { file: &file, record: table_id.clone() }, table)?;
                let document = Document { id: table_id.clone(), blocks: vec![Block::Table(table)] };
                samples.samples.push(Sample { document, questions: Vec::new() });
                pages.insert(table_id, samples.samples.len() - 1);
                samples.samples.len() - 1
            }
        };
        let sample = &mut samples.samples[sample];
        let linked = match labels {
            Labels::Required => Some(place.require(record.linked_cells, "linked_cells", LINKED)?),
            Labels::Optional => record.linked_cells,
        };
        let gold = match (linked, sample.document.tables().next()) {
            (Some(linked), Some(table)) => gold(&place, table, &linked)?,
            _ => Vec::new(),
        };
        if gold.is_empty() && labels == Labels::Required {
            samples.left_out.push(LeftOut { question: id, reason: NO_GOLD });
        } else {
            sample.questions.push(Question { id, text, gold, segments: Vec::new() });
        }
    }
    silver::label(&mut samples, Rows::Measures);
    Ok(samples)
}

const LINKED: &str = "entity_link and quantity_link; a file without gold can be ranked (infer), not be measured";

fn read_table(place: &Place<'_>, record: TableRecord) -> Result<Table, DataError> {
    let texts = place.require(record.texts, "texts", "a list of rows of texts")?;
    let top = place.require(record.top_root, "top_root", "a header tree")?;
    let left = place.require(record.left_root, "left_root", "a header tree")?;
    let merged = record.merged_regions.unwrap_or_default().into_iter().map(|region| Region {
        first_row: region.first_row,
        last_row: region.last_row,
        first_col: region.first_column,
        last_col: region.last_column,
    });
    let mut merged: Vec<Region> = merged.collect();
    let Headers { rows, cols, row_parents, spans } = Headers::new(&texts, &merged, &top, &left);
    merged.extend(spans);
    let known = KnownTable {
        number: 0,
        caption: record.title,
        header_rows: Some(rows),
        header_cols: Some(cols),
        row_parents: Some(row_parents),
    };
    let (table, _) = table_with(&texts, &merged, known).map_err(|error| place.error("texts", error.to_string()))?;
    Ok(table)
}

fn gold(place: &Place<'_>, table: &Table, linked: &LinkedCells) -> Result<Vec<String>, DataError> {
    let quantities = linked.quantity_link.iter().flatten().map(|(phrase, cells)| ("quantity_link", phrase, cells));
    let answers = linked.entity_link.iter().flatten().flat_map(|(_, phrases)| phrases);
    let answers = answers.filter(|(phrase, _)| *phrase == ANSWER).map(|(phrase, cells)| ("entity_link", phrase, cells));
    let mut gold = BTreeSet::new();
    for (kind, phrase, cells) in quantities.chain(answers) {
        for position in cells.keys() {
            let error = |message: String| place.error(&format!("linked_cells.{kind}.{phrase:?}.{position:?}"), message);
            let (row, col) =
                parse_position(position).ok_or_else(|| error("expected (row, column), numbers from 0".into()))?;
            let cell = table.cell_at(row, col).ok_or_else(|| {
                let (rows, cols) = (table.rows(), table.cols());
                error(format!("is out of range: the table has {rows} rows and {cols} columns, from 0"))
            })?;
            gold.insert(node_id::cell(table, cell));
        }
    }
    Ok(gold.into_iter().collect())
}

/// `(18, 1)`.
fn parse_position(text: &str) -> Option<(usize, usize)> {
    let (row, col) = text.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    Some((row.trim().parse().ok()?, col.trim().parse().ok()?))
}

#[cfg(test)]
mod tests;
