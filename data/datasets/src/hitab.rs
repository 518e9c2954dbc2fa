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

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tabsegnet_document::model::Table;
use tabsegnet_document::{KnownTable, Region, node_id, table_with};

use crate::error::DataError;
use crate::record::Place;
use crate::sample::{GoldAnswer, Labels};
use crate::table_questions::{Gold, TableQuestions};
use tree::{HeaderNode, Headers};

#[derive(Deserialize)]
pub(crate) struct Record {
    id: Option<String>,
    table_id: Option<String>,
    question: Option<String>,
    linked_cells: Option<LinkedCells>,
    #[serde(default)]
    answer: Vec<Value>,
    #[serde(default)]
    aggregation: Vec<String>,
}

/// The values of the answer, numbers as JSON writes them.
fn answer(values: &[Value], aggregation: &[String]) -> Option<GoldAnswer> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let program = aggregation.join(", ");
    let values: Vec<String> = values.iter().map(text).collect();
    (!values.is_empty()).then(|| GoldAnswer { values, program, ..GoldAnswer::default() })
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
pub(crate) struct TableRecord {
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

/// Why a question is left out of every measure.
const NO_GOLD: &str = "no gold node (linked_cells has neither quantities nor the answer)";

/// HiTab: one table with header trees.
///
/// Errors: a file of another form, a question without what it needs, a table that is not there, a linked cell outside of
/// it, two questions of one id; each names the file, the record and the field.
pub(crate) static HITAB: TableQuestions<Record, TableRecord> = TableQuestions {
    name: "hitab",
    about: "HiTab as published; its tables are in files of their own",
    what: "HiTab question",
    no_gold: NO_GOLD,
    fields: |record| [record.id.take(), record.question.take(), record.table_id.take()],
    table_id: "table_id",
    table_name: |table| table.table_id.as_deref(),
    table: read_table,
    gold,
};

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

fn gold(place: &Place<'_>, table: &Table, record: Record, labels: Labels) -> Result<Gold, DataError> {
    let linked = match labels {
        Labels::Required => Some(place.require(record.linked_cells, "linked_cells", LINKED)?),
        Labels::Optional => record.linked_cells,
    };
    let nodes = linked.map(|linked| linked_nodes(place, table, &linked)).transpose()?.unwrap_or_default();
    Ok((nodes, answer(&record.answer, &record.aggregation)))
}

fn linked_nodes(place: &Place<'_>, table: &Table, linked: &LinkedCells) -> Result<Vec<String>, DataError> {
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
