//! Which rows and columns of a grid are headers, and which rows stand under which.
//!
//! Markup decides where there is any (`th`, `thead`); else spans, types and emptiness: a header
//! row has words or years where the rows below have numbers, a header column has words where the
//! columns beside it have numbers. Rows that hold nothing but a title are the outer header level
//! of the rows below them.

mod columns;
mod outline;
mod rows;

use crate::grid::Grid;

/// What was inferred, and from what.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Headers {
    pub rows: usize,
    pub cols: usize,
    /// Empty, or one entry a row.
    pub parents: Vec<Option<usize>>,
    /// For people: one clause for the rows, one for the columns, one for outer levels.
    pub why: String,
}

/// What is known beforehand: said by the user, or by the format.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    pub rows: Option<usize>,
    pub cols: Option<usize>,
}

/// Infers what is not known.
pub(crate) fn infer(grid: &Grid, known: Known) -> Headers {
    let (rows, why_rows) = match known.rows {
        Some(rows) => (rows.min(grid.rows), "given"),
        None => rows::infer(grid),
    };
    let (cols, why_cols) = match known.cols {
        Some(cols) => (cols.min(grid.cols), "given"),
        None => columns::infer(grid, rows),
    };
    let parents = outline::infer(grid, rows);
    let under = parents.iter().flatten().count();
    let mut why = format!("header rows: {why_rows}; header columns: {why_cols}");
    if under > 0 {
        why += &format!("; {under} rows stand under a title row");
    }
    Headers { rows, cols, parents, why }
}

/// A corner that says what the numbers are counted in.
pub(crate) fn unit_in_corner(grid: &Grid, header_rows: usize) -> Option<&str> {
    (0..header_rows.min(grid.rows)).map(|row| grid.at(row, 0).text.as_str()).find(|text| is_unit_line(text))
}

/// `(In millions, except par value)`, `Dollars in thousands`.
pub(crate) fn is_unit_line(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.len() <= 160
        && ["in millions", "in thousands", "in billions", "in percent", "in dollars", "$ million", "($000", "unaudited"]
            .iter()
            .any(|unit| lower.contains(unit))
}

#[cfg(test)]
mod tests;
