//! Node ids. They depend on the source document alone: not on where tables are
//! placed, and not on tables that are added to it.

use crate::model::{Cell, CellRole, Table};

/// `s4`: the 4th heading of the document, from 0.
pub fn heading(index: usize) -> String {
    format!("s{index}")
}

/// `p12`: the 12th passage of the document, from 0.
pub fn passage(index: usize) -> String {
    format!("p{index}")
}

/// `t0`: a table's caption.
pub fn caption(table: usize) -> String {
    format!("t{table}")
}

/// `t0:h0c2` a column header (level, column), `t0:r3h0` a row header (row, level), `t0:r3c2` any
/// other cell (row, column); a merged cell by its top-left position.
pub fn cell(table: &Table, cell: &Cell) -> String {
    cell_in_row(table, cell, cell.row)
}

/// The same where the table is a part of another, in which the cell stands in `row`.
pub fn cell_in_row(table: &Table, cell: &Cell, row: usize) -> String {
    let (number, col) = (table.number(), cell.col);
    match table.role(cell) {
        CellRole::ColumnHeader => format!("t{number}:h{row}c{col}"),
        CellRole::RowHeader => format!("t{number}:r{row}h{col}"),
        CellRole::Data => format!("t{number}:r{row}c{col}"),
    }
}
