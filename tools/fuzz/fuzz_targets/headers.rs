//! A grid without any file form: a line is a row, `|` parts cells, `3x2 ` before a text lets it
//! span rows and columns.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tabsegnet_document::{Region, table_of_texts};

fuzz_target!(|text: &str| {
    let mut merged = Vec::new();
    let rows: Vec<Vec<String>> = text
        .lines()
        .enumerate()
        .map(|(row, line)| {
            let cells = line.split('|').enumerate().map(|(col, cell)| {
                let Some((rows, cols, text)) = span(cell) else { return cell.to_owned() };
                merged.push(Region {
                    first_row: row,
                    last_row: row.saturating_add(rows).saturating_sub(1),
                    first_col: col,
                    last_col: col.saturating_add(cols).saturating_sub(1),
                });
                text.to_owned()
            });
            cells.collect()
        })
        .collect();
    if let Ok((table, _)) = table_of_texts(&rows, &merged) {
        tabsegnet_fuzz::check_table(&table);
    }
});

fn span(cell: &str) -> Option<(usize, usize, &str)> {
    let (span, text) = cell.split_once(' ')?;
    let (rows, cols) = span.split_once('x')?;
    Some((rows.parse().ok()?, cols.parse().ok()?, text))
}
