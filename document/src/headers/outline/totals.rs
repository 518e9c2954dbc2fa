//! Rows that stand under the row that totals them: by their numbers, and by the name of the first
//! row of a group.

use crate::grid::Grid;
use crate::kind::Kind;
use crate::numbers::parse_cell_number;

/// Most parts that a total is looked for in; a table is looked through once a row.
const MOST_PARTS: usize = 60;

/// Rows beyond which a table is a list and not looked through.
const MOST_ROWS: usize = 2000;

/// Puts rows under the row above them that is their sum, or that says it is all of them. `titles`
/// says which rows are none of that but part groups.
pub(super) fn infer(grid: &Grid, header_rows: usize, titles: &[bool], parents: &mut [Option<usize>]) {
    if grid.rows > MOST_ROWS {
        return;
    }
    let mut start = header_rows;
    while start < grid.rows {
        let end = (start..grid.rows).find(|&row| titles[row]).unwrap_or(grid.rows);
        by_sums(grid, start..end, parents);
        by_name(grid, start..end, parents);
        start = end + 1;
    }
}

/// From below: a row takes the rows right under it, each with what it has taken, whose numbers add
/// up to its own.
fn by_sums(grid: &Grid, rows: std::ops::Range<usize>, parents: &mut [Option<usize>]) {
    let mut roots: Vec<(usize, Vec<Option<f64>>)> = Vec::new();
    for row in rows.rev() {
        let own = numbers(grid, row);
        if let Some(parts) = parts(&own, &roots) {
            // The nearest rows stand last.
            for (child, _) in roots.drain(roots.len() - parts..) {
                parents[child] = Some(row);
            }
        }
        roots.push((row, own));
    }
}

/// How many of the rows below, the nearest last, add up to a total.
fn parts(total: &[Option<f64>], below: &[(usize, Vec<Option<f64>>)]) -> Option<usize> {
    // Small numbers add up by chance.
    let telling: Vec<usize> =
        (0..total.len()).filter(|&col| total[col].is_some_and(|value| value.abs() >= 10.0)).collect();
    if telling.is_empty() {
        return None;
    }
    let mut sums = vec![0.0; total.len()];
    for (count, (_, values)) in below.iter().rev().take(MOST_PARTS).enumerate() {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value.unwrap_or(0.0);
        }
        let equal = |&&col: &&usize| total[col].is_some_and(|value| (sums[col] - value).abs() <= 0.004 * value.abs());
        let equal: Vec<usize> = telling.iter().filter(equal).copied().collect();
        let large = equal.iter().any(|&col| total[col].is_some_and(|value| value.abs() >= 1000.0));
        if count > 0 && equal.len() * 2 >= telling.len() && (equal.len() > 1 || (equal.len() == 1 && large)) {
            return Some(count + 1);
        }
    }
    None
}

fn numbers(grid: &Grid, row: usize) -> Vec<Option<f64>> {
    let number = |col| {
        let cell = grid.at(row, col);
        if cell.col == col && cell.row == row && cell.kind == Kind::Number {
            parse_cell_number(&cell.text)
        } else {
            None
        }
    };
    (1..grid.cols).map(number).collect()
}

/// A group whose first row is "Total" or "All …" and whose others are none: they stand under it.
fn by_name(grid: &Grid, rows: std::ops::Range<usize>, parents: &mut [Option<usize>]) {
    let Some(first) = rows.clone().next().filter(|_| rows.len() > 2) else { return };
    let is_all = |row: usize| {
        let word = grid.at(row, 0).text.split([' ', ',']).next().unwrap_or_default();
        // With a footnote mark as in "Total¹" or "totalb".
        let total = word.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("total")) && word.chars().count() <= 6;
        total || word.eq_ignore_ascii_case("all")
    };
    if is_all(first) && !rows.clone().skip(1).any(is_all) {
        let above = parents[first];
        for row in rows.skip(1) {
            if parents[row] == above {
                parents[row] = Some(first);
            }
        }
    }
}
