//! Header rows.

use std::collections::HashSet;

use super::is_unit_line;
use crate::grid::{Grid, GridCell};
use crate::kind::{Kind, measured};

/// How many leading rows are column headers, and why.
pub(super) fn infer(grid: &Grid) -> (usize, &'static str) {
    if grid.rows < 2 {
        return if grid.rows == 1 && grid.filled(0).all(|cell| cell.style.header) && grid.filled(0).count() > 0 {
            (1, "marked")
        } else {
            (0, "one row only")
        };
    }
    if marks_rows(grid) {
        return (0, "row headers are marked, and no column header");
    }
    let marked = (0..grid.rows).take_while(|&row| is_marked(grid, row) && !names_rows(grid, row)).count();
    if marked > 0 && marked < grid.rows {
        return (marked, "marked");
    }
    let (rows, why) = by_shape(grid);
    // What says "percent" over all columns names the rows below, as a title row does.
    let mut rows = rows.min(grid.rows - 1);
    while rows > 1 && is_unit_row(grid, rows - 1) {
        rows -= 1;
    }
    (rows, why)
}

/// Whether one header over the whole table stands below those of columns: it names the rows below it, as a title row does.
fn names_rows(grid: &Grid, row: usize) -> bool {
    let whole = grid.at(row, 0).row == row && grid.at(row, 0).colspan == grid.cols;
    whole && grid.cols > 1 && (0..row).any(|above| grid.filled(above).count() > 1)
}

/// Whether the first row is marked as one of values with its row header.
fn marks_rows(grid: &Grid) -> bool {
    let mut cells = grid.filled(0);
    let is_value = |cell: &GridCell| !cell.style.header && !cell.style.bold;
    let named = cells.next().is_some_and(|cell| cell.col == 0 && cell.style.header);
    named && cells.next().is_some_and(is_value) && cells.all(is_value)
}

fn is_marked(grid: &Grid, row: usize) -> bool {
    let mut cells = grid.filled(row).peekable();
    cells.peek().is_some() && cells.all(|cell| cell.style.header)
}

fn by_shape(grid: &Grid) -> (usize, &'static str) {
    let corner = grid.at(0, 0);
    if corner.rowspan > 1
        && corner.rowspan < grid.rows
        && (1..grid.cols).any(|col| grid.at(0, col).rowspan < corner.rowspan)
    {
        return (corner.rowspan, "the corner spans them");
    }
    // The children of a merged header stand in the next row.
    let mut spans = 0;
    while spans + 2 < grid.rows
        && grid.row(spans).any(|cell| cell.row == spans && cell.col > 0 && cell.colspan > 1 && !cell.is_empty())
    {
        spans += 1;
    }
    // Among the children, "none" or a dash stands for no header.
    let holds_children = |row: usize| (1..=spans).contains(&row) && !has_numbers(grid, row) && has_words(grid, row);
    let leading = (0..grid.rows)
        .take_while(|&row| {
            (is_header_like(grid, row) && !is_fact(grid, row) && !is_record(grid, row)) || holds_children(row)
        })
        .count();
    // A first line that only names what follows is no column header.
    if leading >= 1 && (0..leading).all(|row| is_title(grid, row)) && leading < grid.rows {
        return (0, "a title and numbers");
    }
    if leading == grid.rows || leading == 0 {
        // No numbers anywhere, or at once.
        if spans > 0 {
            return (spans + 1, "merged headers have their children below");
        }
        let words = grid.filled(0).count() > 1 && grid.filled(0).all(|cell| !cell.kind.is_value());
        return if words { (1, "words in the first row") } else { (0, "numbers from the first row on") };
    }
    if leading > spans + 1 && !has_numbers(grid, leading) && !is_measured(grid, leading) {
        return (spans.max(1), "words in the first row");
    }
    // Rows with only a title at the end of the words belong to the body.
    let mut rows = leading;
    while rows > 1 && is_title(grid, rows - 1) {
        rows -= 1;
    }
    (rows, "words or years over numbers")
}

/// Words or years where data would be, or nothing; beside words also the mark of a note, a number with nothing above or below.
fn is_header_like(grid: &Grid, row: usize) -> bool {
    let is_mark = |cell: &GridCell| {
        let mut others = (0..grid.rows).filter(|&other| other != row);
        others.all(|other| grid.at(other, cell.col).is_empty()) && has_words(grid, row)
    };
    !is_measured(grid, row)
        && grid.filled(row).filter(|cell| cell.col > 0).all(|cell| !cell.kind.is_value() || is_mark(cell))
}

/// In a table of two columns, a name and its year below another name and its value: `Founded | 1990` below `Company | Acme`.
fn is_fact(grid: &Grid, row: usize) -> bool {
    let named =
        |row: usize| grid.at(row, 0).kind == Kind::Text && grid.at(row, 0).row == row && grid.filled(row).count() == 2;
    grid.cols == 2 && row > 0 && named(row - 1) && named(row) && grid.at(row, 1).kind == Kind::Year
}

/// A record below a row that names every column in words of its own: `1 | Rome |` below `ID | City | Sold`. It lacks a value,
/// or begins with one.
fn is_record(grid: &Grid, row: usize) -> bool {
    let names: Vec<&GridCell> = grid.filled(0).collect();
    let is_name = |cell: &&GridCell| (cell.kind, cell.rowspan, cell.colspan) == (Kind::Text, 1, 1);
    let mut texts = HashSet::with_capacity(names.len());
    let named =
        names.len() == grid.cols && names.iter().all(is_name) && names.iter().all(|name| texts.insert(&name.text));
    let first = grid.at(row, 0);
    let lacks_value = || first.kind == Kind::Text && (1..grid.cols).any(|col| grid.at(row, col).is_empty());
    row > 0 && named && !is_unit_line(&first.text) && (matches!(first.kind, Kind::Number | Kind::Year) || lacks_value())
}

/// Terms below the first row, behind what they are the terms of: `Operating leases | 7 years | 5 years`.
fn is_measured(grid: &Grid, row: usize) -> bool {
    let named =
        grid.filled(row).next().is_some_and(|cell| cell.col == 0 && cell.row == row && !is_unit_line(&cell.text));
    let mut terms = grid.filled(row).filter(|cell| cell.col > 0).peekable();
    row > 0 && named && terms.peek().is_some() && terms.all(|cell| measured(&cell.text).is_some())
}

fn has_numbers(grid: &Grid, row: usize) -> bool {
    grid.filled(row).any(|cell| cell.col > 0 && cell.kind == Kind::Number)
}

fn has_words(grid: &Grid, row: usize) -> bool {
    grid.filled(row).any(|cell| cell.row == row && cell.col > 0 && cell.kind == Kind::Text)
}

/// Nothing but a text or a year in the first column, or beside it one that spans all others.
pub(super) fn is_title(grid: &Grid, row: usize) -> bool {
    let mut cells = grid.filled(row);
    let (first, second, third) = (cells.next(), cells.next(), cells.next());
    let is_name = |cell: &GridCell| matches!(cell.kind, Kind::Text | Kind::Year);
    let named = first.is_some_and(|cell| cell.col == 0 && cell.row == row && is_name(cell));
    let rest = second.is_none_or(|cell| {
        let first_end = first.map_or(0, |cell| cell.colspan);
        cell.row == row
            && cell.kind == Kind::Text
            && cell.col == first_end
            && cell.colspan > 1
            && cell.col + cell.colspan == grid.cols
    });
    named && rest && third.is_none()
}

/// One text over all data columns, such as "percent", and nothing beside it but what reaches in
/// from above. "(in millions)" in such a place belongs to the column headers.
pub(super) fn is_unit_row(grid: &Grid, row: usize) -> bool {
    let mut cells = grid.filled(row).filter(|cell| cell.row == row);
    let over_all = |cell: &GridCell| {
        let before = cell.col == 1 || (1..cell.col).all(|col| grid.at(row, col).row < row);
        cell.col > 0
            && before
            && cell.kind == Kind::Text
            && cell.col + cell.colspan == grid.cols
            && !is_unit_line(&cell.text)
    };
    matches!((cells.next(), cells.next()), (Some(cell), None) if over_all(cell))
}
