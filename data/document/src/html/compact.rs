//! From the grid of a page to the grid of the table: pages put a currency sign, a number and its
//! closing bracket into cells of their own, and set columns apart by empty ones.

use crate::grid::{Grid, GridCell, RawCell};
use crate::kind::Kind;

/// Joins the parts of numbers that lie in neighbouring cells of a row.
pub(super) fn join_numbers(row: Vec<RawCell>) -> Vec<RawCell> {
    let mut joined: Vec<RawCell> = Vec::with_capacity(row.len());
    for cell in row {
        let text = cell.text.trim();
        // The last cell with a text takes what stands behind it and the empty cells between.
        let last = joined.iter().rposition(|cell| !cell.text.is_empty());
        match last {
            Some(last) if opens_number(&joined[last].text) && is_amount(text) && cell.rowspan <= 1 => {
                absorb(&mut joined, last, cell, " ");
            }
            Some(last)
                if closes_number(text, cell.style.bold) && is_amount(&joined[last].text) && near(&joined, last) =>
            {
                absorb(&mut joined, last, cell, "");
            }
            _ => joined.push(cell),
        }
    }
    joined
}

/// Only few columns lie between: what is farther off belongs to another number.
fn near(joined: &[RawCell], last: usize) -> bool {
    joined[last + 1..].iter().map(|cell| cell.colspan.max(1)).sum::<usize>() <= 1
}

fn absorb(joined: &mut Vec<RawCell>, last: usize, cell: RawCell, separator: &str) {
    let between: usize = joined.drain(last + 1..).map(|cell| cell.colspan.max(1)).sum();
    let into = &mut joined[last];
    into.text = format!("{}{separator}{}", into.text.trim(), cell.text.trim());
    into.colspan = into.colspan.max(1).saturating_add(between).saturating_add(cell.colspan.max(1));
    into.facts.extend(cell.facts);
}

/// A currency sign, an opening bracket, or both.
fn opens_number(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && (text.chars().all(|c| matches!(c, '$' | '€' | '£' | '¥' | '₹' | '(' | '-' | '−' | ' '))
            && text.contains(['$', '€', '£', '¥', '₹', '('])
            || ["US$", "C$", "A$", "R$", "HK$", "USD", "EUR", "GBP", "CHF", "¥ (", "Rs."].contains(&text))
}

/// A closing bracket, a percent sign, or a footnote mark that is set as a cell of its own.
fn closes_number(text: &str, _bold: bool) -> bool {
    !text.is_empty() && text.len() <= 8 && text.chars().all(|c| matches!(c, ')' | '%' | ' ' | '*' | '†'))
        || matches!(text, "pts" | "pts." | "bps" | "bp" | "pp" | "x" | ")pts" | "%pts")
}

fn is_amount(text: &str) -> bool {
    let text = text.trim();
    let kind = Kind::of(text);
    matches!(kind, Kind::Number | Kind::Missing | Kind::Year)
        || text
            .strip_prefix('(')
            .is_some_and(|rest| matches!(Kind::of(rest), Kind::Number | Kind::Missing | Kind::Year))
        || text.contains(|c: char| c.is_ascii_digit()) && text.starts_with(['$', '(', '€', '£', '¥'])
}

/// Drops empty rows, and joins columns that no row needs apart.
pub(super) fn compact(grid: Grid) -> Grid {
    let kept: Vec<usize> = (0..grid.rows).filter(|&row| grid.filled(row).any(|cell| cell.row == row)).collect();
    let group = column_groups(&grid, &kept);
    let row_at = |row: usize| kept.partition_point(|&k| k < row);
    let cols = group.last().map_or(0, |last| last + 1);
    let mut cells: Vec<GridCell> = grid.cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    for cell in &mut cells {
        let (top, bottom) = (row_at(cell.row), row_at(cell.row + cell.rowspan));
        let (left, right) = (group[cell.col], group[cell.col + cell.colspan - 1]);
        (cell.row, cell.rowspan) = (top, (bottom - top).max(1));
        (cell.col, cell.colspan) = (left, right - left + 1);
    }
    drop_columns_of_overlaps(&mut cells, cols, kept.len())
}

/// The group of each column. A group goes on as long as no row has two texts in it.
fn column_groups(grid: &Grid, rows: &[usize]) -> Vec<usize> {
    // What stands in the current group, by row.
    let mut occupant: Vec<Option<(usize, usize)>> = vec![None; rows.len()];
    let mut groups = Vec::with_capacity(grid.cols);
    let mut group = 0;
    for col in 0..grid.cols {
        let here =
            |row: usize| Some(grid.at(row, col)).filter(|cell| !cell.is_empty()).map(|cell| (cell.row, cell.col));
        let conflict = rows
            .iter()
            .zip(&occupant)
            .any(|(&row, occupant)| here(row).is_some_and(|cell| occupant.is_some_and(|o| o != cell)));
        if conflict {
            group += 1;
            occupant.fill(None);
        }
        for (&row, occupant) in rows.iter().zip(&mut occupant) {
            *occupant = here(row).or(*occupant);
        }
        groups.push(group);
    }
    groups
}

/// Most times that a cell is looked at to find columns to drop.
const MOST_LOOKS: usize = 10_000_000;

/// Where a label reaches a little under the next column's header, a column remains that belongs to
/// no cell alone: the cells over it are cut back.
fn drop_columns_of_overlaps(cells: &mut Vec<GridCell>, cols: usize, rows: usize) -> Grid {
    let mut alone = vec![false; cols];
    for cell in cells.iter().filter(|cell| cell.colspan == 1) {
        alone[cell.col] = true;
    }
    // A column may go only if every cell over it also covers one that stays. It is for looks: a
    // table that would take long keeps them.
    if cols.saturating_mul(cells.len()) > MOST_LOOKS {
        alone.fill(true);
    }
    for col in 0..cols {
        if !alone[col] {
            let needed = cells.iter().any(|cell| {
                let covered = cell.col..cell.col + cell.colspan;
                covered.contains(&col) && !covered.clone().any(|other| alone[other])
            });
            alone[col] = needed;
        }
    }
    let mut place = vec![0];
    for kept in alone {
        place.push(place[place.len() - 1] + usize::from(kept));
    }
    for cell in cells.iter_mut() {
        let (left, right) = (place[cell.col], place[cell.col + cell.colspan]);
        (cell.col, cell.colspan) = (left, (right - left).max(1));
    }
    Grid::from_cells(rows, place[cols], std::mem::take(cells))
}

/// Puts years that are set one column too far to the left over their numbers: those that take all
/// columns but the last, which has numbers as well, and stand over the names too.
pub(super) fn align_years(grid: Grid) -> Grid {
    if grid.cols < 3 {
        return grid;
    }
    let last = grid.cols - 1;
    let is_shifted = |row: usize| {
        let alone = |col: usize| grid.at(row, col).rowspan == 1 && grid.at(row, col).colspan == 1;
        grid.at(row, last).is_empty() && (0..last).all(|col| alone(col) && grid.at(row, col).kind == Kind::Year)
    };
    let has_values = |row: usize| (1..grid.cols).any(|col| grid.at(row, col).kind == Kind::Number);
    let Some(row) = (0..grid.rows).take_while(|&row| !has_values(row)).find(|&row| is_shifted(row)) else {
        return grid;
    };
    let named = |row: usize| matches!(grid.at(row, 0).kind, Kind::Text | Kind::Empty);
    let values = (row + 1..grid.rows).filter(|&row| grid.at(row, last).kind.is_value()).count();
    if values == 0 || !(row + 1..grid.rows).all(named) {
        return grid;
    }
    let Grid { rows, cols, mut cells, .. } = grid;
    cells.retain(|cell| !cell.is_empty());
    cells.iter_mut().filter(|cell| cell.row == row).for_each(|cell| cell.col += 1);
    Grid::from_cells(rows, cols, cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(texts: &[&str]) -> Vec<RawCell> {
        texts.iter().map(|text| RawCell::new(*text)).collect()
    }

    fn texts(row: &[RawCell]) -> Vec<(&str, usize)> {
        row.iter().map(|cell| (cell.text.as_str(), cell.colspan)).collect()
    }

    #[test]
    fn parts_of_a_number_become_one_cell() {
        let joined = join_numbers(row(&["Loss", "$", "(1,234", ")", "", "$", "5", "", "6", "%"]));
        assert_eq!(texts(&joined), [("Loss", 1), ("$ (1,234)", 3), ("", 1), ("$ 5", 2), ("", 1), ("6%", 2)]);
        let words = join_numbers(row(&["Currency", "$", "Total", ")"]));
        assert_eq!(words.len(), 4);
    }

    #[test]
    fn spacer_columns_and_rows_go() {
        let rows = vec![
            row(&["", "", "2024", "", "", "2023"]),
            row(&["", "", "", "", "", ""]),
            row(&["Cash", "", "1", "", "", "2"]),
        ];
        let (grid, _) = Grid::place(rows, 1000);
        let grid = compact(grid);
        assert_eq!((grid.rows, grid.cols), (2, 3));
        assert_eq!(grid.at(0, 2).text, "2023");
        assert_eq!(grid.at(1, 1).text, "1");
        assert!(grid.at(0, 0).is_empty());
    }

    #[test]
    fn years_beside_their_columns_are_set_right() {
        let rows = vec![
            row(&["2025", "2024", ""]),
            row(&["Volatility", "33 - 36%", "35 - 40%"]),
            row(&["Life", "5.2", "3.5"]),
        ];
        let grid = align_years(Grid::place(rows, 1000).0);
        assert!(grid.at(0, 0).is_empty());
        assert_eq!((grid.at(0, 1).text.as_str(), grid.at(0, 2).text.as_str()), ("2025", "2024"));
        let right = vec![row(&["", "2025", "2024"]), row(&["Life", "5.2", "3.5"])];
        assert_eq!(align_years(Grid::place(right, 1000).0).at(0, 1).text, "2025");
        // Years that are names of rows stay, and so does a corner.
        for first in ["2023", "5"] {
            let rows = vec![row(&["2025", "2024", ""]), row(&[first, "5.2", "3.5"])];
            assert_eq!(align_years(Grid::place(rows, 1000).0).at(0, 0).text, "2025");
        }
    }

    #[test]
    fn a_label_that_reaches_under_a_header_leaves_no_column() {
        let wide = |text: &str, colspan| RawCell { colspan, ..RawCell::new(text) };
        let rows = vec![
            vec![wide("", 2), wide("2024", 2), wide("2023", 1)],
            vec![wide("Cash", 3), wide("1", 1), wide("2", 1)],
        ];
        let (grid, _) = Grid::place(rows, 1000);
        let grid = compact(grid);
        assert_eq!((grid.rows, grid.cols), (2, 3));
        assert_eq!((grid.at(0, 1).text.as_str(), grid.at(1, 1).text.as_str()), ("2024", "1"));
    }
}
