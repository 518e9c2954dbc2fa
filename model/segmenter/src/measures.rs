//! How near found segments are to the ones that were wanted.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Measures of one question, or their means over several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SegmentMeasures {
    /// 1 where the two sets are the same, case and blanks aside.
    pub exact: f64,
    /// F1 of tokens under the best one-to-one matching of segments, over the larger number of segments.
    pub token_f1: f64,
    /// Segments found.
    pub found: f64,
    /// Segments wanted.
    pub wanted: f64,
}

impl SegmentMeasures {
    /// Those of one question.
    pub fn of<A: AsRef<str>, B: AsRef<str>>(found: &[A], wanted: &[B]) -> Self {
        let found: Vec<Vec<String>> = found.iter().map(|segment| tokens(segment.as_ref())).collect();
        let wanted: Vec<Vec<String>> = wanted.iter().map(|segment| tokens(segment.as_ref())).collect();
        let set = |segments: &[Vec<String>]| segments.iter().cloned().collect::<BTreeSet<_>>();
        let overlaps: Vec<Vec<f64>> =
            found.iter().map(|found| wanted.iter().map(|wanted| f1(found, wanted)).collect()).collect();
        let larger = found.len().max(wanted.len());
        Self {
            exact: if set(&found) == set(&wanted) { 1.0 } else { 0.0 },
            token_f1: if larger == 0 { 1.0 } else { best_matching(&overlaps, wanted.len()) / larger as f64 },
            found: found.len() as f64,
            wanted: wanted.len() as f64,
        }
    }

    /// The means; of nothing all are 0.
    pub fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        Self {
            exact: mean(|measures| measures.exact),
            token_f1: mean(|measures| measures.token_f1),
            found: mean(|measures| measures.found),
            wanted: mean(|measures| measures.wanted),
        }
    }
}

fn tokens(segment: &str) -> Vec<String> {
    segment.split_whitespace().map(str::to_lowercase).collect()
}

/// 2 · shared / (tokens of both), a token counted as often as it stands in both.
fn f1(a: &[String], b: &[String]) -> f64 {
    let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
    for token in a {
        *counts.entry(token).or_default() += 1;
    }
    let mut shared = 0;
    for token in b {
        if let Some(count) = counts.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    match a.len() + b.len() {
        0 => 1.0,
        both => 2.0 * f64::from(shared) / both as f64,
    }
}

/// The largest sum of `gains[row][column]` with each row and column used at most once, by successive
/// best paths (Kuhn and Munkres).
fn best_matching(gains: &[Vec<f64>], columns: usize) -> f64 {
    // Rows and columns that have no partner get one without gain.
    let size = gains.len().max(columns);
    let cost = |row: usize, column: usize| -gains.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0.0);
    let (mut of_row, mut of_column) = (vec![0.0; size + 1], vec![0.0; size + 1]);
    // Row of each column, from 1; 0 is none.
    let mut matched = vec![0_usize; size + 1];
    for row in 1..=size {
        matched[0] = row;
        let (mut column, mut least, mut before, mut seen) =
            (0, vec![f64::INFINITY; size + 1], vec![0; size + 1], vec![false; size + 1]);
        while matched[column] != 0 {
            seen[column] = true;
            let (from, mut step, mut next) = (matched[column], f64::INFINITY, 0);
            for other in 1..=size {
                if seen[other] {
                    continue;
                }
                let reduced = cost(from - 1, other - 1) - of_row[from] - of_column[other];
                if reduced < least[other] {
                    (least[other], before[other]) = (reduced, column);
                }
                if least[other] < step {
                    (step, next) = (least[other], other);
                }
            }
            for other in 0..=size {
                if seen[other] {
                    of_row[matched[other]] += step;
                    of_column[other] -= step;
                } else {
                    least[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            matched[column] = matched[before[column]];
            column = before[column];
        }
    }
    (1..=size).map(|column| -cost(matched[column] - 1, column - 1)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn case_order_and_blanks_do_not_count() {
        let same = SegmentMeasures::of(&["Revenue  2019", "cost"], &["cost", "revenue 2019"]);
        assert_eq!((same.exact, same.token_f1, same.found, same.wanted), (1.0, 1.0, 2.0, 2.0));
        let half = SegmentMeasures::of(&["revenue 2019"], &["revenue 2018", "cost"]);
        assert_eq!((half.exact, half.token_f1), (0.0, 0.25));
        let none: [&str; 0] = [];
        assert_eq!(SegmentMeasures::of(&none, &["a"]).token_f1, 0.0);
    }

    /// All ways to match.
    fn by_trial(gains: &[Vec<f64>], used: &mut Vec<bool>) -> f64 {
        let Some((row, rest)) = gains.split_first() else { return 0.0 };
        let mut best = by_trial(rest, used);
        for column in 0..used.len() {
            if !used[column] {
                used[column] = true;
                best = best.max(row[column] + by_trial(rest, used));
                used[column] = false;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_matching_is_the_best_one(rows in 0..5_usize, columns in 1..5_usize, seed in 0..1000_u64) {
            let gains: Vec<Vec<f64>> = (0..rows)
                .map(|r| (0..columns).map(|c| ((seed * 31 + (r * 7 + c * 13) as u64 * 17) % 11) as f64 / 10.0).collect())
                .collect();
            let expected = by_trial(&gains, &mut vec![false; columns]);
            prop_assert!((best_matching(&gains, columns) - expected).abs() < 1e-9);
        }
    }
}
