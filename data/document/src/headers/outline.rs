//! Which rows stand under which: rows that hold nothing but a title head the rows below them, and balances the rows that lead
//! to them.

mod repeats;
mod rollforward;
mod totals;

use super::is_unit_line;
use super::rows::{is_title, is_unit_row};
use crate::grid::{Grid, GridCell};
use crate::model::MAX_ROW_LEVELS;

/// A title whose rows are being read.
#[derive(Debug, Clone, Copy)]
struct Open {
    row: usize,
    indent: f32,
    /// The indent of the row right below it.
    child_indent: f32,
    unit: bool,
    /// It heads titles that come again under others; it may have numbers itself.
    outer: bool,
}

/// Levels of titles that hold at a time.
const MOST_OPEN: usize = 6;

/// For each row its parent; empty where no row has one.
pub(super) fn infer(grid: &Grid, header_rows: usize) -> Vec<Option<usize>> {
    let mut parents = vec![None; grid.rows];
    let titles = titles(grid, header_rows);
    let outer = repeats::outer_titles(grid, header_rows, &titles);
    let mut open: Vec<Open> = Vec::new();
    for row in header_rows..grid.rows {
        let indent = label(grid, row).map_or(0.0, |cell| cell.style.indent);
        let unit = is_unit_row(grid, row);
        let title = titles[row];
        let whole = title && grid.at(row, 0).colspan == grid.cols;
        let level_of = Title { title, unit, outer: outer.contains(&row), with_outer: !outer.is_empty(), whole };
        let follows_title = open.last().is_some_and(|last| last.row + 1 == row);
        let heads_title = title && row + 1 < grid.rows && is_title(grid, row + 1) && !is_line_item(grid, row + 1);
        let innermost = open.len().saturating_sub(1);
        let mut level = 0;
        open.retain(|above| {
            let inner = level == innermost;
            level += 1;
            stays_open(above, indent, level_of, follows_title || !(inner || heads_title))
        });
        if title {
            open.truncate(MOST_OPEN - 1);
        }
        parents[row] = open.last().map(|above| above.row);
        if (title || level_of.outer) && row + 1 < grid.rows {
            let child_indent = label(grid, row + 1).map_or(indent, |cell| cell.style.indent);
            open.push(Open { row, indent, child_indent, unit, outer: level_of.outer });
        } else if is_total(grid, row) {
            // A total closes its group where indentation does not; right below the title it begins it.
            let closes =
                |above: &Open| above.child_indent <= above.indent && !above.unit && !above.outer && above.row + 1 < row;
            if open.last().is_some_and(closes) {
                open.pop();
            }
        }
    }
    totals::infer(grid, header_rows, &titles, &mut parents);
    flatten(&mut parents);
    rollforward::infer(grid, header_rows, &titles, &mut parents);
    if parents.iter().all(Option::is_none) { Vec::new() } else { parents }
}

/// Which rows are titles, units over all columns among them.
fn titles(grid: &Grid, header_rows: usize) -> Vec<bool> {
    let is_title =
        |row| row >= header_rows && (is_unit_row(grid, row) || (is_title(grid, row) && !is_line_item(grid, row)));
    (0..grid.rows).map(is_title).collect()
}

/// What kind of title a row is, if it is one.
#[derive(Debug, Clone, Copy)]
struct Title {
    title: bool,
    unit: bool,
    outer: bool,
    /// Some title of the table is an outer one.
    with_outer: bool,
    /// Its cell spans all columns in the source.
    whole: bool,
}

/// Rows beyond the deepest level that a table may have go up to it.
fn flatten(parents: &mut [Option<usize>]) {
    let mut levels = vec![0; parents.len()];
    for row in 0..parents.len() {
        if let Some(parent) = parents[row] {
            levels[row] = levels[parent] + 1;
            if levels[row] > MAX_ROW_LEVELS {
                (parents[row], levels[row]) = (parents[parent], levels[parent]);
            }
        }
    }
}

/// Whether a title still holds for a row. Where indents do not tell, a title ends the one before it
/// unless it stands right below; two titles in a row end all, so that "Assets / Current: … / Other:
/// …" has both parts under "Assets". Titles that come again tell more: they stand under the outer
/// one.
fn stays_open(above: &Open, indent: f32, row: Title, below_it: bool) -> bool {
    // What spans all columns is no part of what spans only those with data.
    if row.unit || (above.unit && row.whole) {
        return false;
    }
    if above.unit {
        return true;
    }
    if row.with_outer && (row.outer || above.outer) {
        return !row.outer;
    }
    if above.child_indent > above.indent {
        return indent > above.indent;
    }
    if indent < above.indent {
        return false;
    }
    indent > above.indent || !row.title || (below_it && !row.with_outer)
}

/// The cell that names a row.
fn label(grid: &Grid, row: usize) -> Option<&GridCell> {
    grid.filled(row).next()
}

/// Names that stand alone and head nothing: a unit, and the line that balance sheets must have
/// though it has no amount.
fn is_line_item(grid: &Grid, row: usize) -> bool {
    label(grid, row).is_some_and(|cell| {
        is_unit_line(&cell.text) || cell.text.to_lowercase().starts_with("commitments and contingencies")
    })
}

fn is_total(grid: &Grid, row: usize) -> bool {
    label(grid, row)
        .is_some_and(|cell| cell.text.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("total")))
}
