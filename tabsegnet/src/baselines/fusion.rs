//! Two rankings made one.

use rayon::prelude::*;
use tabsegnet_lexical::Bm25Config;

use super::{Baseline, dense, lexical};
use crate::Embedded;

/// The constant of reciprocal rank fusion (Cormack et al. 2009).
const RANK_SHIFT: f32 = 60.0;

/// BM25 and dense scores of the same questions.
pub struct Fusion {
    /// For each question one a node.
    bm25: Vec<Vec<f32>>,
    dense: Vec<Vec<f32>>,
}

impl Fusion {
    /// Scores every question in both ways.
    pub fn new(embedded: &Embedded, config: Bm25Config) -> Self {
        Self { bm25: lexical(Baseline::Bm25, embedded, config), dense: dense(embedded) }
    }

    /// `(1 - weight) · BM25 + weight · dense`, each from 0 to 1 over a question's nodes.
    pub fn sum(&self, weight: f32) -> Vec<Vec<f32>> {
        let both = |bm25: &[f32], dense: &[f32]| {
            bm25.iter().zip(dense).map(|(bm25, dense)| (1.0 - weight) * bm25 + weight * dense).collect()
        };
        self.map(|bm25, dense| both(&from_0_to_1(bm25), &from_0_to_1(dense)))
    }

    /// `1 / (60 + rank in BM25) + 1 / (60 + rank in dense)`.
    pub(super) fn reciprocal(&self) -> Vec<Vec<f32>> {
        self.map(|bm25, dense| {
            let both = shares_of_rank(bm25).into_iter().zip(shares_of_rank(dense));
            both.map(|(bm25, dense)| bm25 + dense).collect()
        })
    }

    fn map(&self, one: impl Fn(&[f32], &[f32]) -> Vec<f32> + Sync) -> Vec<Vec<f32>> {
        self.bm25.par_iter().zip(&self.dense).map(|(bm25, dense)| one(bm25, dense)).collect()
    }
}

/// Scores shifted and scaled to lie between 0 and 1; all 0 where they are equal.
fn from_0_to_1(scores: &[f32]) -> Vec<f32> {
    let low = scores.iter().copied().fold(f32::INFINITY, f32::min);
    let high = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter().map(|score| if high > low { (score - low) / (high - low) } else { 0.0 }).collect()
}

/// For each node 1 / (60 + its rank, from 1); equal scores rank in document order.
fn shares_of_rank(scores: &[f32]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut shares = vec![0.0; scores.len()];
    for (rank, node) in (1_u16..=u16::MAX).chain(std::iter::repeat(u16::MAX)).zip(order) {
        shares[node] = 1.0 / (RANK_SHIFT + f32::from(rank));
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fusion() -> Fusion {
        Fusion { bm25: vec![vec![4.0, 2.0, 0.0]], dense: vec![vec![0.1, 0.3, 0.5]] }
    }

    #[test]
    fn the_weight_goes_from_one_to_the_other() {
        assert_eq!(fusion().sum(0.0), [[1.0, 0.5, 0.0]]);
        assert!(fusion().sum(1.0)[0].iter().zip([0.0, 0.5, 1.0]).all(|(a, b)| (a - b).abs() < 1e-6));
        assert_eq!(from_0_to_1(&[7.0, 7.0]), [0.0, 0.0]);
    }

    #[test]
    fn ranks_count_not_scores() {
        let scores = fusion().reciprocal();
        assert_eq!(scores[0], [1.0 / 61.0 + 1.0 / 63.0, 2.0 / 62.0, 1.0 / 63.0 + 1.0 / 61.0]);
        assert_eq!(shares_of_rank(&[1.0, 2.0, 1.0]), [1.0 / 62.0, 1.0 / 61.0, 1.0 / 63.0]);
    }
}
