//! What a table is made from, and how its cells are laid out on a grid.

use std::collections::BTreeMap;

use super::{Cell, Table};

/// Most grid positions one table may have. A table beyond it is refused: its graph would not fit
/// what the rest of the program is built for, and a span of a billion columns is a typing error.
pub const MAX_GRID_POSITIONS: usize = 4_000_000;

/// Most rows that a row may stand under, one within the other.
pub const MAX_ROW_LEVELS: usize = 32;

/// A cell as it is written down in a table's row, before it has a place in the grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellSource {
    /// The cell's text.
    pub text: String,
    /// Rows it covers, at least 1.
    pub rowspan: usize,
    /// Columns it covers, at least 1.
    pub colspan: usize,
}

impl From<String> for CellSource {
    fn from(text: String) -> Self {
        Self { text, rowspan: 1, colspan: 1 }
    }
}

impl From<&str> for CellSource {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// What a table is made from; [`Table::new`] checks it.
#[derive(Debug, Clone, Default)]
pub struct TableSource {
    /// The number `n` of the node ids `t{n}…`.
    pub number: usize,
    /// The caption; empty where the table has none.
    pub caption: String,
    /// How many leading rows are column headers.
    pub header_rows: usize,
    /// How many leading columns are row headers.
    pub header_cols: usize,
    /// Rows of cells, placed as HTML places them: each cell takes the next position of its row
    /// that no cell of an earlier row reaches into.
    pub rows: Vec<Vec<CellSource>>,
    /// For each row the row, if any, whose header is the next outer level of its row headers: under "Current assets:" stand
    /// "Cash" and "Receivables". Empty where there is none.
    pub row_parents: Vec<Option<usize>>,
}

/// Why a table cannot be built.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TableError {
    /// There is no row, or no row has a cell.
    #[error("the table has no cells; expected at least one row with one cell")]
    Empty,
    /// A row does not fill the table's width.
    #[error("row {row} covers {found} columns, row 0 covers {expected}; pad the row or set spans")]
    Ragged {
        /// The row, from 0.
        row: usize,
        /// The width of row 0.
        expected: usize,
        /// The width of this row.
        found: usize,
    },
    /// Two cells cover the same position.
    #[error("cell {cell} of row {row} overlaps a merged cell of an earlier row; check the spans")]
    Overlap {
        /// The row, from 0.
        row: usize,
        /// The cell in the row as written, from 0.
        cell: usize,
    },
    /// A span of 0.
    #[error("cell {cell} of row {row} has a {which} of 0; expected at least 1")]
    ZeroSpan {
        /// The row, from 0.
        row: usize,
        /// The cell in the row as written, from 0.
        cell: usize,
        /// `rowspan` or `colspan`.
        which: &'static str,
    },
    /// A merged cell reaches below the last row.
    #[error("cell {cell} of row {row} has rowspan {rowspan} but the table ends after row {last}")]
    SpanBeyondEnd {
        /// The row, from 0.
        row: usize,
        /// The cell in the row as written, from 0.
        cell: usize,
        /// The span.
        rowspan: usize,
        /// The last row, from 0.
        last: usize,
    },
    /// More header rows or columns than rows or columns.
    #[error("{which} is {found} but the table has only {limit} of them")]
    Headers {
        /// `header_rows` or `header_cols`.
        which: &'static str,
        /// What was requested.
        found: usize,
        /// What there is.
        limit: usize,
    },
    /// A row's parent is no other row, or there are parents for other than all rows.
    #[error("row_parents gives row {row} the parent {parent}; expected one entry a row ({rows}), each another row")]
    RowParent {
        /// The row, from 0.
        row: usize,
        /// Its parent.
        parent: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// Rows stand under rows more than [`MAX_ROW_LEVELS`] deep, or under each other.
    #[error(
        "row_parents puts row {row} under more than {MAX_ROW_LEVELS} rows, or under itself; leave outer levels out"
    )]
    RowLevels {
        /// The row, from 0.
        row: usize,
    },
    /// More than [`MAX_GRID_POSITIONS`].
    #[error("the grid has more than {MAX_GRID_POSITIONS} positions; split the table")]
    TooLarge,
}

impl Table {
    /// Lays the rows out on a grid.
    pub fn new(source: TableSource) -> Result<Self, TableError> {
        let TableSource { number, caption, header_rows, header_cols, rows: source, mut row_parents } = source;
        let rows = source.len();
        let cols = width_of_first_row(&source)?;
        if rows.saturating_mul(cols) > MAX_GRID_POSITIONS {
            return Err(TableError::TooLarge);
        }
        for (which, found, limit) in [("header_rows", header_rows, rows), ("header_cols", header_cols, cols)] {
            if found > limit {
                return Err(TableError::Headers { which, found, limit });
            }
        }
        if row_parents.iter().all(Option::is_none) {
            row_parents.clear();
        }
        for (row, parent) in row_parents.iter().enumerate() {
            if let Some(parent) = *parent
                && (parent == row || parent >= rows || row_parents.len() != rows)
            {
                return Err(TableError::RowParent { row, parent, rows });
            }
        }
        // Rows that stand under each other have no end either.
        let above = |row: &usize| row_parents.get(*row).copied().flatten();
        let deep = |row: &usize| std::iter::successors(above(row), above).nth(MAX_ROW_LEVELS).is_some();
        if let Some(row) = (0..row_parents.len()).find(deep) {
            return Err(TableError::RowLevels { row });
        }

        const FREE: u32 = u32::MAX;
        let mut owner = vec![FREE; rows * cols];
        let mut cells = Vec::new();
        for (row, line) in source.into_iter().enumerate() {
            let mut col = 0;
            for (index, cell) in line.into_iter().enumerate() {
                while col < cols && owner[row * cols + col] != FREE {
                    col += 1;
                }
                let CellSource { text, rowspan, colspan } = cell;
                for (which, span) in [("rowspan", rowspan), ("colspan", colspan)] {
                    if span == 0 {
                        return Err(TableError::ZeroSpan { row, cell: index, which });
                    }
                }
                if colspan > cols - col {
                    let found = col.saturating_add(colspan);
                    return Err(TableError::Ragged { row, expected: cols, found });
                }
                if rowspan > rows - row {
                    let last = rows - 1;
                    return Err(TableError::SpanBeyondEnd { row, cell: index, rowspan, last });
                }
                for r in row..row + rowspan {
                    for position in &mut owner[r * cols + col..r * cols + col + colspan] {
                        if *position != FREE {
                            return Err(TableError::Overlap { row, cell: index });
                        }
                        // At most MAX_GRID_POSITIONS cells, so the index fits.
                        *position = cells.len() as u32;
                    }
                }
                cells.push(Cell { row, col, rowspan, colspan, text });
                col += colspan;
            }
            let covered = owner[row * cols..(row + 1) * cols].iter().filter(|&&o| o != FREE).count();
            if covered != cols {
                return Err(TableError::Ragged { row, expected: cols, found: covered });
            }
        }
        let stored = BTreeMap::new();
        Ok(Self { number, caption, header_rows, header_cols, rows, cols, cells, owner, row_parents, stored })
    }
}

fn width_of_first_row(rows: &[Vec<CellSource>]) -> Result<usize, TableError> {
    let first = rows.first().ok_or(TableError::Empty)?;
    let width = first.iter().fold(0, |sum: usize, cell| sum.saturating_add(cell.colspan));
    if width == 0 {
        return match first.iter().position(|cell| cell.colspan == 0) {
            Some(cell) => Err(TableError::ZeroSpan { row: 0, cell, which: "colspan" }),
            None => Err(TableError::Empty),
        };
    }
    Ok(width)
}
