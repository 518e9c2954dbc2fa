//! Single tables, of bare texts and merged regions or of HTML, whose positions stay what they are.

use crate::grid::{Grid, GridCell, RawCell};
use crate::headers::{self, Known};
use crate::html;
use crate::model::{Table, TableError};
use crate::options::Limits;

/// A rectangle of grid positions that are one cell; rows and columns from 0, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The first row.
    pub first_row: usize,
    /// The last row.
    pub last_row: usize,
    /// The first column.
    pub first_col: usize,
    /// The last column.
    pub last_col: usize,
}

/// Lays texts and merged regions out as a table, infers its headers, and says what they were
/// inferred from. A short row is filled up; regions are cut where they overlap.
///
/// # Errors
/// There is no cell, or more of them than a table may have.
pub fn table_of_texts(rows: &[Vec<String>], merged: &[Region]) -> Result<(Table, String), TableError> {
    table_with(rows, merged, KnownTable::default())
}

/// What is known of a single table besides its cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownTable {
    /// The number of the table in its document.
    pub number: usize,
    /// The caption; empty where there is none.
    pub caption: String,
    /// Header rows; inferred unless given.
    pub header_rows: Option<usize>,
    /// Header columns; inferred unless given.
    pub header_cols: Option<usize>,
    /// For each row the row that it stands under; inferred unless given.
    pub row_parents: Option<Vec<Option<usize>>>,
}

/// As [`table_of_texts`], with what is known of the table.
///
/// # Errors
/// There is no cell, or more of them than a table may have; a row under itself.
pub fn table_with(rows: &[Vec<String>], merged: &[Region], known: KnownTable) -> Result<(Table, String), TableError> {
    let cols = rows.iter().map(Vec::len).max().unwrap_or(0);
    if rows.len().saturating_mul(cols) > crate::model::MAX_GRID_POSITIONS {
        return Err(TableError::TooLarge);
    }
    table_of_grid(grid_of_texts(rows, merged), known)
}

/// The first table in HTML markup, and what its headers were inferred from. Positions are those of
/// the markup's grid, spans resolved: no row or column is joined with another or left out.
///
/// # Errors
/// There is no table or no cell, or more of them than a table may have.
pub fn table_of_html(markup: &str, known: KnownTable) -> Result<(Table, String), TableError> {
    let grid = html::first_table(markup, &Limits::default()).ok_or(TableError::TooLarge)?;
    table_of_grid(grid, known)
}

fn table_of_grid(grid: Grid, known: KnownTable) -> Result<(Table, String), TableError> {
    let KnownTable { number, caption, header_rows, header_cols, row_parents } = known;
    let headers = headers::infer(&grid, Known { rows: header_rows, cols: header_cols });
    let parents = row_parents.unwrap_or(headers.parents);
    let table = grid.into_table(number, caption, (headers.rows, headers.cols), parents)?;
    Ok((table, headers.why))
}

pub(crate) fn grid_of_texts(rows: &[Vec<String>], merged: &[Region]) -> Grid {
    let cols = rows.iter().map(Vec::len).max().unwrap_or(0);
    let text = |row: usize, col: usize| rows.get(row).and_then(|row| row.get(col)).map_or("", String::as_str);
    let mut merged: Vec<Region> = merged.to_vec();
    merged.sort_by_key(|region| (region.first_row, region.first_col));
    let mut cells: Vec<GridCell> = Vec::new();
    for region in merged {
        let Region { first_row: row, first_col: col, last_row, last_col } = region;
        if row < rows.len() && col < cols && last_row >= row && last_col >= col {
            let (rowspan, colspan) = (last_row.min(rows.len() - 1) - row + 1, last_col.min(cols - 1) - col + 1);
            cells.push(GridCell::new(row, col, RawCell { rowspan, colspan, ..RawCell::new(text(row, col)) }));
        }
    }
    // What a region covers is taken; the rest are cells of their own.
    let single = (0..rows.len()).flat_map(|row| (0..cols).map(move |col| (row, col)));
    cells.extend(single.map(|(row, col)| GridCell::new(row, col, RawCell::new(text(row, col)))));
    Grid::from_cells(rows.len(), cols, cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_keeps_every_position_of_the_markup() {
        let markup = r#"<table><tr><td></td><td colspan="2">Year</td></tr><tr><td></td><td>2005</td><td>2004</td></tr>
            <tr><td></td><td></td><td></td></tr><tr><td>Net income</td><td>$ </td><td>12<sup>1</sup></td></tr>
            <tr><td>Short</td></tr></table>"#;
        let (table, _) = table_of_html(markup, KnownTable { number: 3, ..KnownTable::default() }).unwrap();
        assert_eq!((table.number(), table.rows(), table.cols()), (3, 5, 3));
        assert_eq!(table.cell_at(0, 2).unwrap().text, "Year");
        assert_eq!((table.cell_at(3, 1).unwrap().text.as_str(), table.cell_at(4, 2).unwrap().text.as_str()), ("$", ""));
        for nothing in ["", "<p>no table</p>", "<table></table>"] {
            assert_eq!(table_of_html(nothing, KnownTable::default()).unwrap_err(), TableError::Empty, "{nothing}");
        }
    }

    #[test]
    fn what_is_known_is_not_inferred() {
        let rows: Vec<Vec<String>> =
            [["a", "b"], ["c", "1"], ["d", "2"]].map(|row| row.map(str::to_owned).to_vec()).to_vec();
        let known = KnownTable {
            caption: "T".into(),
            header_rows: Some(0),
            header_cols: Some(1),
            row_parents: Some(vec![None, None, Some(1)]),
            ..KnownTable::default()
        };
        let (table, _) = table_with(&rows, &[], known).unwrap();
        assert_eq!((table.num_header_rows(), table.num_header_cols(), table.caption()), (0, 1, "T"));
        assert_eq!(table.path(&table.row_headers_of(table.cell_at(2, 1).unwrap())), "c > d");
        let wrong = KnownTable { row_parents: Some(vec![Some(0), None, None]), ..KnownTable::default() };
        assert!(matches!(table_with(&rows, &[], wrong), Err(TableError::RowParent { row: 0, .. })));
    }
}
