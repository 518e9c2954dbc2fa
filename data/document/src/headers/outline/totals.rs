//! Rows that stand under the row that totals them: by their numbers, and by the name of the first
//! row of a group.

use super::{is_total, repeats};
use crate::grid::Grid;
use crate::kind::Kind;
use crate::numbers::parse_cell_number;

/// Most parts that a total is looked for in; a table is looked through once a row.
const MOST_PARTS: usize = 60;

/// Rows beyond which a table is a list and not looked through.
pub(super) const MOST_ROWS: usize = 2000;

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
        repeats::by_names(grid, start..end, parents);
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
            // The nearest rows stand last. Totals stand beside the total of them all, and what is left beside what it is left of.
            let parts = roots.split_off(roots.len() - parts);
            if !parts.iter().any(|(part, _)| is_total(grid, *part) || is_rest(grid, *part)) {
                parts.iter().for_each(|(part, _)| parents[*part] = Some(row));
            }
        }
        roots.push((row, own));
    }
}

/// Whether a row is what is left of an amount: revenue is costs and gross profit, and these are no parts of it.
fn is_rest(grid: &Grid, row: usize) -> bool {
    const BEFORE: [&str; 5] = ["gross", "operating", "net", "income before", "earnings before"];
    const RESTS: [&str; 8] = ["profit", "income", "margin", "loss", "earnings", "deficit", "surplus", "ebit"];
    let label = grid.at(row, 0).text.to_lowercase();
    BEFORE.iter().any(|before| label.starts_with(before)) && RESTS.iter().any(|rest| label.contains(rest))
}

/// How many of the rows below, the nearest last, add up to a total: as many as fit best.
fn parts(total: &[Option<f64>], below: &[(usize, Vec<Option<f64>>)]) -> Option<usize> {
    if !total.iter().flatten().any(|value| value.abs() >= TELLING) {
        return None;
    }
    let mut sums = vec![0.0; total.len()];
    let mut best: Option<(usize, f64)> = None;
    for (count, (_, values)) in below.iter().rev().take(MOST_PARTS).enumerate() {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value.unwrap_or(0.0);
        }
        let evidence = Evidence::of(total, &sums);
        if count > 0 && evidence.suffices() {
            if best.is_none_or(|(_, weight)| evidence.weight > weight) {
                best = Some((count + 1, evidence.weight));
            }
        } else if best.is_some() {
            break;
        }
    }
    best.map(|(count, _)| count)
}

/// Smaller numbers add up by chance and tell nothing.
const TELLING: f64 = 10.0;

/// How sure it is that numbers are the sums they equal.
#[derive(Debug, Default)]
struct Evidence {
    /// Columns with a number that tells.
    telling: usize,
    /// Those of them that add up.
    equal: usize,
    /// Decimal logarithm of how seldom they would all do so by chance.
    weight: f64,
}

impl Evidence {
    fn of(total: &[Option<f64>], sums: &[f64]) -> Self {
        let mut evidence = Self::default();
        for (total, sum) in total.iter().zip(sums) {
            let Some(size) = total.map(f64::abs).filter(|size| *size >= TELLING) else { continue };
            evidence.telling += 1;
            let off = total.map_or(0.0, |total| (sum - total).abs());
            if off <= 0.004 * size {
                evidence.equal += 1;
                // A sum that is off by so much, or equal to the last digit, hits a number of that
                // size with this chance.
                let chance = 2.0 * off.max(0.5) / size;
                evidence.weight += (-chance.log10()).min(4.0);
            }
        }
        evidence
    }

    /// Half of the columns add up, beyond chance; or fewer where shares and rates, which do not
    /// add up, stand beside amounts that do.
    fn suffices(&self) -> bool {
        (self.equal * 2 >= self.telling && self.weight >= 4.0) || (self.equal >= 2 && self.weight >= 5.0)
    }
}

fn numbers(grid: &Grid, row: usize) -> Vec<Option<f64>> {
    let number = |col| {
        let cell = grid.at(row, col);
        if cell.col == col && cell.row == row && cell.kind == Kind::Number {
            parse_cell_number(&cell.text).filter(|number| number.is_finite())
        } else {
            None
        }
    };
    (1..grid.cols).map(number).collect()
}

/// Where rows begin with one that is "All …", each such row heads those up to the next; where they
/// begin with the only "Total", that heads them all.
fn by_name(grid: &Grid, rows: std::ops::Range<usize>, parents: &mut [Option<usize>]) {
    let word = |row: usize| grid.at(row, 0).text.split([' ', ',']).next().unwrap_or_default();
    let is_all = |row: usize| word(row).eq_ignore_ascii_case("all");
    // With a footnote mark as in "Total¹" or "totalb".
    let is_total = |row: usize| {
        let word = word(row);
        word.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("total")) && word.chars().count() <= 6
    };
    let mut heads: Vec<usize> = rows.clone().filter(|&row| is_all(row)).collect();
    if heads.len() < 2 {
        heads = rows.clone().filter(|&row| is_all(row) || is_total(row)).collect();
        heads.truncate(2);
    }
    let single = heads.len() == 1 || heads.iter().all(|&head| is_all(head));
    let ends = heads.iter().skip(1).copied().chain([rows.end]);
    let groups: Vec<(usize, usize)> = heads.iter().copied().zip(ends).collect();
    if !single || heads.first() != Some(&rows.start) || groups.iter().any(|(head, end)| end - head <= 2) {
        return;
    }
    for (head, end) in groups {
        let above = parents[head];
        for parent in &mut parents[head + 1..end] {
            if *parent == above {
                *parent = Some(head);
            }
        }
    }
}
