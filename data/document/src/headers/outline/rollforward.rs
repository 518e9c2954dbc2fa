//! Balances on one day and the next, with what happened between them: `Balance at December 31, 2023 | Net income | Dividends |
//! Balance at December 31, 2024`. What happened stands under the balance that it leads to, which alone says when it was.

use super::label;
use crate::grid::Grid;
use crate::kind::Kind;
use crate::model::MAX_ROW_LEVELS;
use crate::months::MONTHS;

/// What stands on one day and on the next.
const BALANCES: [&str; 11] = [
    "balance", "balances", "outstanding", "unvested", "nonvested", "vested", "reserve", "reserves", "liability",
    "accrual", "accrued",
];

/// Puts the rows between two balances under the second one; those under a title among them go there with it. A balance
/// right below a title begins anew.
pub(super) fn infer(grid: &Grid, header_rows: usize, titles: &[bool], parents: &mut [Option<usize>]) {
    let balances: Vec<usize> = (header_rows..grid.rows).filter(|&row| !titles[row] && is_balance(grid, row)).collect();
    let goes_on = |first: &usize, next: &usize| {
        first + 1 < *next && !titles[next - 1] && first_word(grid, *first) == first_word(grid, *next)
    };
    for run in balances.chunk_by(goes_on).filter(|run| run.len() > 1) {
        let head = title_above(titles, parents, run[0]);
        for pair in run.windows(2) {
            let between = pair[0] + 1..pair[1];
            for row in between.clone() {
                if !parents[row].is_some_and(|parent| titles[parent] && between.contains(&parent)) {
                    parents[row] = Some(pair[1]);
                }
            }
        }
        run.iter().for_each(|&balance| parents[balance] = head);
    }
    // A parent further down may add levels; a table takes only so many.
    for row in 0..parents.len() {
        if std::iter::successors(parents[row], |above| parents[*above]).nth(MAX_ROW_LEVELS - 1).is_some() {
            parents[row] = None;
        }
    }
}

/// The nearest title above a row that it stands under; what it was put under by its numbers is none.
fn title_above(titles: &[bool], parents: &[Option<usize>], row: usize) -> Option<usize> {
    let above = |row: &usize| parents[*row].filter(|parent| parent < row);
    std::iter::successors(above(&row), above).find(|parent| titles[*parent])
}

/// A row with numbers that is named a balance and a day of a year.
fn is_balance(grid: &Grid, row: usize) -> bool {
    let Some(label) = label(grid, row) else { return false };
    let lower = label.text.to_lowercase();
    let (mut balance, mut month, mut year) = (false, false, false);
    for word in words(&lower) {
        balance |= BALANCES.contains(&word);
        month |= word.len() >= 3 && MONTHS.iter().any(|month| month.starts_with(word));
        year |= word.len() == 4
            && (word.starts_with("19") || word.starts_with("20"))
            && word.bytes().all(|b| b.is_ascii_digit());
    }
    balance && month && year && grid.filled(row).any(|cell| cell.col > label.col && cell.kind == Kind::Number)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The first word of a row's name: balances of one thing begin alike.
fn first_word(grid: &Grid, row: usize) -> Option<String> {
    let name = label(grid, row)?.text.to_lowercase();
    words(&name).next().map(|word| word.trim_end_matches('s').to_owned())
}
