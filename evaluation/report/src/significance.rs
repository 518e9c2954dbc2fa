//! What chance alone would do: intervals of means and p-values of differences.
//!
//! Questions on one document share its tables and its distractors, so their figures are not
//! independent. What is resampled and what flips its sign is therefore a whole [`Units`] unit, a
//! document with all of its questions; with one question a unit both are the textbook procedures.
//!
//! Every resample and every round draws from a ChaCha8 stream of its own, chosen by (seed, number
//! of the round): the results are the same for any number of threads. Indices are drawn by
//! multiplication (`word * n >> 32`), not by a library's distribution, so that a newer version of
//! that library cannot move a reported figure.

use std::collections::HashMap;
use std::hash::Hash;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Bounds of the percentile interval: 95 %.
const PERCENTILES: [f64; 2] = [0.025, 0.975];

/// First stream of the sign flips; the bootstrap's streams count from 0 and stay below.
const FLIP_STREAMS: u64 = 1 << 32;

/// How often to resample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resampling {
    /// Bootstrap resamples of an interval.
    pub resamples: u32,
    /// Rounds of the randomisation test; the smallest p is 1 / (1 + rounds).
    pub rounds: u32,
    /// Seed of both.
    pub seed: u64,
}

impl Default for Resampling {
    /// 2,000 resamples, 10,000 rounds, seed 0.
    fn default() -> Self {
        Self { resamples: 2_000, rounds: 10_000, seed: 0 }
    }
}

impl Resampling {
    fn stream(&self, stream: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(stream);
        rng
    }
}

/// The input is not a sample.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignificanceError {
    /// No questions.
    #[error("there are no questions to take a mean over")]
    Empty,
    /// No resamples.
    #[error("an interval needs at least 1 resample")]
    NoResamples,
    /// Lengths differ.
    #[error("{found} values were given for {expected} questions: one value a question")]
    Length {
        /// Values in the column.
        found: usize,
        /// Questions of the sample.
        expected: usize,
    },
}

/// Which questions belong together: those of a unit are drawn, or flipped, together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    of_question: Vec<u32>,
    count: usize,
}

impl Units {
    /// Every question is a unit of its own.
    pub fn independent(questions: usize) -> Self {
        Self { of_question: (0..).take(questions).collect(), count: questions }
    }

    /// Questions with equal keys (say, the id of their document) are one unit. Units are numbered
    /// in order of first appearance.
    pub fn grouped<K: Eq + Hash>(keys: impl IntoIterator<Item = K>) -> Self {
        let mut numbers = HashMap::new();
        let of_question = keys
            .into_iter()
            .map(|key| {
                let next = numbers.len() as u32;
                *numbers.entry(key).or_insert(next)
            })
            .collect();
        Self { of_question, count: numbers.len() }
    }

    /// Number of units.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of questions.
    pub fn questions(&self) -> usize {
        self.of_question.len()
    }

    /// The sum of `values` (one a question) over each unit.
    fn sums(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for (&unit, value) in self.of_question.iter().zip(values) {
            sums[unit as usize] += value;
        }
        sums
    }

    fn check(&self, values: &[f64]) -> Result<(), SignificanceError> {
        let (found, expected) = (values.len(), self.questions());
        if expected == 0 {
            return Err(SignificanceError::Empty);
        }
        if found != expected {
            return Err(SignificanceError::Length { found, expected });
        }
        Ok(())
    }
}

/// A mean over questions and its 95 % interval; `low <= mean <= high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Estimate {
    /// Percentiles of the resampled means, interpolated linearly between order statistics. The
    /// bounds are moved to the mean where rounding (or a handful of resamples) puts it outside.
    fn new(mean: f64, mut resampled: Vec<f64>) -> Self {
        resampled.sort_unstable_by(f64::total_cmp);
        let [low, high] = PERCENTILES.map(|p| {
            let position = p * (resampled.len() - 1) as f64;
            let below = resampled[position.floor() as usize];
            let above = resampled[position.ceil() as usize];
            below + (above - below) * position.fract()
        });
        Self { mean, low: low.min(mean), high: high.max(mean) }
    }
}

/// Percentile bootstrap of the means of several columns (a method's measure, say), all over the
/// same questions and the same resamples, so that differences of columns are paired.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    means: Vec<f64>,
    /// [columns][resamples]
    resampled: Vec<Vec<f64>>,
}

impl Bootstrap {
    /// Resamples `columns`, each one value a question. A resample draws as many units as there
    /// are, with replacement, and takes the mean over all questions of the drawn units.
    pub fn new(columns: &[Vec<f64>], units: &Units, resampling: &Resampling) -> Result<Self, SignificanceError> {
        if resampling.resamples == 0 {
            return Err(SignificanceError::NoResamples);
        }
        columns.iter().try_for_each(|column| units.check(column))?;
        let sizes = units.sums(std::iter::repeat_n(1.0, units.questions()));
        let sums: Vec<Vec<f64>> = columns.iter().map(|c| units.sums(c.iter().copied())).collect();
        let questions = units.questions() as f64;
        let rounds: Vec<Vec<f64>> = (0..resampling.resamples)
            .into_par_iter()
            .map(|round| {
                let mut rng = resampling.stream(u64::from(round));
                let drawn: Vec<usize> = (0..units.count)
                    .map(|_| ((u64::from(rng.next_u32()) * units.count as u64) >> 32) as usize)
                    .collect();
                let total = |sums: &[f64]| drawn.iter().map(|&unit| sums[unit]).sum::<f64>();
                let questions = total(&sizes);
                sums.iter().map(|column| total(column) / questions).collect()
            })
            .collect();
        Ok(Self {
            means: sums.iter().map(|column| column.iter().sum::<f64>() / questions).collect(),
            resampled: (0..columns.len()).map(|column| rounds.iter().map(|means| means[column]).collect()).collect(),
        })
    }

    /// Mean and interval of a column; `None` for a column that was not given.
    pub fn estimate(&self, column: usize) -> Option<Estimate> {
        Some(Estimate::new(*self.means.get(column)?, self.resampled.get(column)?.clone()))
    }

    /// Mean and interval of column `a` minus column `b`, paired by resample.
    pub fn difference(&self, a: usize, b: usize) -> Option<Estimate> {
        let mean = self.means.get(a)? - self.means.get(b)?;
        let pairs = self.resampled.get(a)?.iter().zip(self.resampled.get(b)?);
        Some(Estimate::new(mean, pairs.map(|(a, b)| a - b).collect()))
    }
}

/// Two-sided p of the paired randomisation (sign-flip) test that `a` and `b` have the same mean:
/// p = (1 + #{rounds with |Σ ±d| >= |Σ d|}) / (1 + rounds), d the difference of each unit.
///
/// In (0, 1], the same for (b, a) as for (a, b), and 1 for identical inputs. Sums that differ by
/// rounding alone count as equal, on the cautious side.
pub fn randomisation_p(a: &[f64], b: &[f64], units: &Units, resampling: &Resampling) -> Result<f64, SignificanceError> {
    units.check(a)?;
    units.check(b)?;
    let mut differences = units.sums(a.iter().zip(b).map(|(a, b)| a - b));
    // A difference of zero has no sign to flip.
    differences.retain(|&d| d != 0.0);
    let rounding = 1e-12 * differences.iter().map(|d| d.abs()).sum::<f64>();
    let observed = differences.iter().sum::<f64>().abs() - rounding;
    let as_large = (0..resampling.rounds)
        .into_par_iter()
        .filter(|&round| {
            let mut rng = resampling.stream(FLIP_STREAMS + u64::from(round));
            let mut sum = 0.0;
            for chunk in differences.chunks(64) {
                let mut signs = rng.next_u64();
                for d in chunk {
                    sum += if signs & 1 == 0 { *d } else { -d };
                    signs >>= 1;
                }
            }
            sum.abs() >= observed
        })
        .count();
    Ok((1.0 + as_large as f64) / (1.0 + f64::from(resampling.rounds)))
}

/// Holm's step-down adjustment of p-values for the number of these comparisons, in the order
/// given. Never smaller than the p it adjusts, at most 1.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = p.iter().copied().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (done, (index, p)) in order.into_iter().enumerate() {
        largest = largest.max((adjusted.len() - done) as f64 * p).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests;
