//! Tables cut in parts.

use tabsegnet_datasets::tables::TableRecord;

use super::Cut;
use crate::dice::Dice;

/// Header and rows.
pub(super) type Grid = (Vec<String>, Vec<Vec<String>>);

/// `parts` parts of a table whose rows are all as long as its header, of sizes that differ by one at most. Where a
/// table has fewer rows or columns to share out than parts, parts are empty of them.
///
/// Rows are permuted where it is cut by rows, columns where it is cut by columns (the rows of all parts then stand in
/// the same order, so that a first column with repeated values still joins them), either where it stays whole.
pub(super) fn parts(table: &TableRecord, parts: usize, cut: Cut, dice: &mut Dice) -> Vec<Grid> {
    match cut {
        Cut::Rows => by_rows(table, parts, dice),
        Cut::Columns => by_columns(table, parts, dice),
        Cut::Whole if dice.chance(50) => by_rows(table, 1, dice),
        Cut::Whole => by_columns(table, 1, dice),
    }
}

fn by_rows(table: &TableRecord, parts: usize, dice: &mut Dice) -> Vec<Grid> {
    let mut rows: Vec<&Vec<String>> = table.rows.iter().collect();
    dice.shuffle(&mut rows);
    shares(&rows, parts).map(|rows| (table.column_headers.clone(), rows.iter().copied().cloned().collect())).collect()
}

fn by_columns(table: &TableRecord, parts: usize, dice: &mut Dice) -> Vec<Grid> {
    let mut others: Vec<usize> = (1..table.column_headers.len()).collect();
    dice.shuffle(&mut others);
    let chosen = |row: &Vec<String>, columns: &[usize]| -> Vec<String> {
        std::iter::once(&0).chain(columns).filter_map(|&column| row.get(column).cloned()).collect()
    };
    shares(&others, parts)
        .map(|columns| {
            (chosen(&table.column_headers, columns), table.rows.iter().map(|row| chosen(row, columns)).collect())
        })
        .collect()
}

fn shares<T>(items: &[T], parts: usize) -> impl Iterator<Item = &[T]> {
    let bound = move |part: usize| part * items.len() / parts.max(1);
    (0..parts).map(move |part| items.get(bound(part)..bound(part + 1)).unwrap_or_default())
}
