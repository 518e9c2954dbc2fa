//! Random choices that are the same on every platform and with every version of `rand`.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tabsegnet_store::Digest;

/// A ChaCha8 stream read through integer arithmetic of our own: how `rand` maps bits to ranges may
/// change between its releases, the stream itself does not.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream of a digest: of all that it may depend on.
    pub fn new(digest: Digest) -> Self {
        Self(ChaCha8Rng::from_seed(digest.bytes()))
    }

    /// A number from 0 to `n - 1`; 0 for `n = 0`.
    pub fn below(&mut self, n: usize) -> usize {
        // The bias is at most n / 2^64.
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included; `low` where `high` is smaller.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1).max(1) as usize) as i64
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of a list that is not empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of a list; `None` where it is empty.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let index = self.below(items.len());
        items.get(index)
    }

    /// Fisher–Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// `amount` times a random share of `low` to `high` thousandths, towards zero.
    pub fn share(&mut self, amount: i64, low: i64, high: i64) -> i64 {
        amount * self.range(low * 1000, high * 1000) / 1_000_000
    }

    /// Splits an amount into `parts` addends of about the same size that sum to it exactly.
    pub fn split(&mut self, amount: i64, parts: usize) -> Vec<i64> {
        let weights: Vec<i64> = (0..parts).map(|_| self.range(60, 140)).collect();
        split_by(amount, &weights)
    }
}

/// Splits an amount in proportion to weights; what rounding leaves goes to the first part.
pub(crate) fn split_by(amount: i64, weights: &[i64]) -> Vec<i64> {
    let total: i64 = weights.iter().sum::<i64>().max(1);
    let mut parts: Vec<i64> = weights.iter().map(|weight| amount * weight / total).collect();
    let rest = amount - parts.iter().sum::<i64>();
    if let Some(first) = parts.first_mut() {
        *first += rest;
    }
    parts
}
