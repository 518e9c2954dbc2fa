//! A table of bare texts and merged regions, without any markup.

use crate::grid::{Grid, GridCell, RawCell};
use crate::headers::{self, Known};
use crate::model::{Table, TableError};

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
    let cols = rows.iter().map(Vec::len).max().unwrap_or(0);
    if rows.len().saturating_mul(cols) > crate::model::MAX_GRID_POSITIONS {
        return Err(TableError::TooLarge);
    }
    let grid = grid_of_texts(rows, merged);
    let headers = headers::infer(&grid, Known::default());
    let table = grid.into_table(0, String::new(), (headers.rows, headers.cols), headers.parents)?;
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
