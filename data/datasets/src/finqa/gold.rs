//! FinQA's gold nodes: our reading of `qa.gold_inds`.

use std::collections::BTreeSet;

use super::program::Program;
use tabsegnet_document::model::{Cell, CellRole, Document, Table};
use tabsegnet_document::node_id;
use tabsegnet_document::numbers::parse_number;

/// The gold nodes for the keys of `qa.gold_inds`, each once:
/// - `text_k` → passage k of pre_text ++ post_text;
/// - `table_r` → all data cells of row r if the program has a `table_*` operation on the row's
///   header; else the data cells whose number equals, in absolute value, an argument of the
///   program; else the row's header.
///
/// Row 0 is the header row: its cells are column headers, and what stands for the whole row is the
/// caption node, whose text is the header row.
///
/// Errors are (key, message).
pub(super) fn gold_nodes<'a>(
    document: &Document,
    program: &Program,
    keys: impl Iterator<Item = &'a str>,
) -> Result<Vec<String>, (String, String)> {
    let passages = document.passages().count();
    let mut gold = BTreeSet::new();
    for key in keys {
        let error = |message: String| (key.to_owned(), message);
        let place = key.split_once('_').and_then(|(kind, index)| Some((kind, index.parse::<usize>().ok()?)));
        match place {
            Some(("text", passage)) => {
                if passage >= passages {
                    return Err(error(format!("is out of range: the page has {passages} sentences, from 0")));
                }
                gold.insert(node_id::passage(passage));
            }
            Some(("table", row)) => {
                let table = document.tables().next().ok_or_else(|| error("the page has no table".into()))?;
                if row >= table.rows() {
                    return Err(error(format!("is out of range: the table has {} rows, from 0", table.rows())));
                }
                gold.extend(row_nodes(table, row, program));
            }
            _ => return Err(error("expected text_K or table_R with a number from 0".into())),
        }
    }
    Ok(gold.into_iter().collect())
}

fn row_nodes(table: &Table, row: usize, program: &Program) -> Vec<String> {
    let in_row = |cell: &&Cell| cell.row == row;
    let (headers, data): (Vec<&Cell>, Vec<&Cell>) =
        table.cells().iter().filter(in_row).partition(|cell| table.role(cell) == CellRole::RowHeader);
    let ids = |cells: &[&Cell]| cells.iter().map(|cell| node_id::cell(table, cell)).collect();

    let header = headers.first().map(|cell| cell.text.trim());
    if header.is_some_and(|header| program.rows.iter().any(|row| row == header)) && !data.is_empty() {
        return ids(&data);
    }
    let is_argument =
        |cell: &&&Cell| parse_number(&cell.text).is_some_and(|number| program.numbers.contains(&number.abs()));
    let matching: Vec<&Cell> = data.iter().filter(is_argument).copied().collect();
    match (matching.is_empty(), headers.is_empty()) {
        (false, _) => ids(&matching),
        (true, false) => ids(&headers[..1]),
        (true, true) => vec![node_id::caption(table.number())],
    }
}
