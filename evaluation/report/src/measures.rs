//! Measures of one ranking against its gold nodes, with `trec_eval`'s definitions and binary gain.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

/// The cutoffs k of [`QuestionMeasures::recall_at`].
pub const CUTOFFS: [usize; 5] = [1, 3, 5, 10, 20];

/// Number of points of a [`recall_curve`]: k = 1..=50.
pub const CURVE_LENGTH: usize = 50;

/// Node indices by falling score; equal scores keep document order, that is, index order.
///
/// The order is total: 0.0 and -0.0 are equal, infinities stand at the ends. Scores that are not
/// numbers are a fault of their source and should be refused there; here they come last, in
/// document order, so that the result is defined for every input. At most 2³² - 1 nodes.
pub fn rank_order(scores: &[f32]) -> Vec<u32> {
    let mut nodes: Vec<(f32, u32)> = scores.iter().copied().zip(0..).collect();
    // The sort is stable, which is what keeps equal scores in document order.
    nodes.sort_by(|(a, _), (b, _)| falling(*a, *b));
    nodes.into_iter().map(|(_, node)| node).collect()
}

/// Falling order of scores, NaN last.
pub(crate) fn falling(a: f32, b: f32) -> Ordering {
    b.partial_cmp(&a).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The ranks do not describe a ranking of gold nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasureError {
    /// Recall is undefined without gold.
    #[error("a question without gold nodes has no measures: leave it out and count it as left out")]
    NoGold,
    /// Ranks count from 1.
    #[error("a gold node has rank 0: ranks count from 1")]
    RankZero,
    /// Two gold nodes cannot share a rank.
    #[error("two gold nodes have rank {0}: a ranking holds one node a rank")]
    SameRank(u32),
    /// More ranks than gold nodes.
    #[error("{ranks} ranks were given for {gold} gold nodes: at most one rank a gold node")]
    TooMany {
        /// Number of ranks given.
        ranks: usize,
        /// Number of gold nodes given.
        gold: usize,
    },
}

/// Where the gold nodes of one question stand in a ranking: all that the measures need.
///
/// Holds always: at least one gold node; ranks rise strictly, count from 1 and are at most as many
/// as the gold nodes. A gold node without a rank was not ranked (a ranking may be cut).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldRanks {
    ranks: Vec<u32>,
    gold: usize,
}

impl GoldRanks {
    /// From the 1-based ranks, in any order, of those of `gold` gold nodes that were ranked.
    pub fn new(mut ranks: Vec<u32>, gold: usize) -> Result<Self, MeasureError> {
        if gold == 0 {
            return Err(MeasureError::NoGold);
        }
        if ranks.len() > gold {
            return Err(MeasureError::TooMany { ranks: ranks.len(), gold });
        }
        ranks.sort_unstable();
        if ranks.first() == Some(&0) {
            return Err(MeasureError::RankZero);
        }
        if let Some(&[rank, _]) = ranks.array_windows().find(|[a, b]| a == b) {
            return Err(MeasureError::SameRank(rank));
        }
        Ok(Self { ranks, gold })
    }

    /// From a ranking, best node first, and the gold nodes. A gold node that is given twice counts
    /// once; of a node that is ranked twice the first rank counts.
    pub fn in_ranking<T: Eq + Hash>(
        ranking: impl IntoIterator<Item = T>,
        gold: impl IntoIterator<Item = T>,
    ) -> Result<Self, MeasureError> {
        let mut missing: HashSet<T> = gold.into_iter().collect();
        let count = missing.len();
        let ranks = (1..).zip(ranking).filter(|(_, node)| missing.remove(node)).map(|(rank, _)| rank);
        Self::new(ranks.collect(), count)
    }

    /// From one score a node, ranked by [`rank_order`], and the indices of the gold nodes.
    pub fn of_scores(scores: &[f32], gold: &[u32]) -> Result<Self, MeasureError> {
        Self::in_ranking(rank_order(scores), gold.iter().copied())
    }

    /// Ranks of the gold nodes that were ranked, rising, counted from 1.
    pub fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    /// Number of gold nodes, ranked or not.
    pub fn gold(&self) -> usize {
        self.gold
    }

    /// recall@k = |gold ∩ top k| / |gold|, in [0, 1] and never falling in k.
    pub fn recall_at(&self, k: usize) -> f64 {
        self.ranks.iter().filter(|&&rank| rank as usize <= k).count() as f64 / self.gold as f64
    }
}

/// recall@k for k = 1..=[`CURVE_LENGTH`].
pub fn recall_curve(ranks: &GoldRanks) -> [f64; CURVE_LENGTH] {
    std::array::from_fn(|i| ranks.recall_at(i + 1))
}

/// The measures of one question, each in [0, 1]; larger is better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionMeasures {
    /// recall@k for the k of [`CUTOFFS`].
    pub recall_at: [f64; 5],
    /// Σ over ranked gold nodes of (gold nodes down to there / rank), over all gold nodes.
    pub average_precision: f64,
    /// 1 / rank of the first gold node, 0 if none was ranked.
    pub reciprocal_rank: f64,
    /// Discounted gain 1 / log₂(rank + 1) of the gold nodes of the first ten ranks over that of a
    /// ranking with min(gold, 10) gold nodes on top.
    pub ndcg_10: f64,
}

impl QuestionMeasures {
    /// Measures one ranking.
    pub fn of(ranks: &GoldRanks) -> Self {
        let gain = |rank: u32| 1.0 / (f64::from(rank) + 1.0).log2();
        // AP = (1 / |gold|) Σ_i i / rank_i
        let precisions = (1..).zip(&ranks.ranks).map(|(found, &rank)| f64::from(found) / f64::from(rank));
        let dcg: f64 = ranks.ranks.iter().take_while(|&&rank| rank <= 10).map(|&rank| gain(rank)).sum();
        let ideal: f64 = (1..=10).take(ranks.gold).map(gain).sum();
        Self {
            recall_at: CUTOFFS.map(|k| ranks.recall_at(k)),
            average_precision: precisions.sum::<f64>() / ranks.gold as f64,
            reciprocal_rank: ranks.ranks.first().map_or(0.0, |&rank| 1.0 / f64::from(rank)),
            ndcg_10: dcg / ideal,
        }
    }

    /// The mean of each measure over questions; `None` without questions.
    pub fn mean<'a>(questions: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut sum = Self { recall_at: [0.0; 5], average_precision: 0.0, reciprocal_rank: 0.0, ndcg_10: 0.0 };
        let mut count = 0.0;
        for question in questions {
            count += 1.0;
            for (total, recall) in sum.recall_at.iter_mut().zip(question.recall_at) {
                *total += recall;
            }
            sum.average_precision += question.average_precision;
            sum.reciprocal_rank += question.reciprocal_rank;
            sum.ndcg_10 += question.ndcg_10;
        }
        (count > 0.0).then(|| Self {
            recall_at: sum.recall_at.map(|total| total / count),
            average_precision: sum.average_precision / count,
            reciprocal_rank: sum.reciprocal_rank / count,
            ndcg_10: sum.ndcg_10 / count,
        })
    }
}

/// The name of a measure; of means over questions, hence "MAP" and "MRR".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Measure {
    /// Recall at 1.
    #[serde(rename = "recall@1")]
    Recall1,
    /// Recall at 3.
    #[serde(rename = "recall@3")]
    Recall3,
    /// Recall at 5.
    #[serde(rename = "recall@5")]
    Recall5,
    /// Recall at 10.
    #[serde(rename = "recall@10")]
    Recall10,
    /// Recall at 20.
    #[serde(rename = "recall@20")]
    Recall20,
    /// Mean average precision.
    #[serde(rename = "MAP")]
    Map,
    /// Mean reciprocal rank.
    #[serde(rename = "MRR")]
    Mrr,
    /// Normalised discounted cumulative gain at 10.
    #[serde(rename = "nDCG@10")]
    Ndcg10,
}

impl Measure {
    /// Every measure, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Recall1,
        Self::Recall3,
        Self::Recall5,
        Self::Recall10,
        Self::Recall20,
        Self::Map,
        Self::Mrr,
        Self::Ndcg10,
    ];

    /// The measures that methods are compared by and slices are reported in.
    pub const MAIN: [Self; 2] = [Self::Recall10, Self::Map];

    /// The name as printed and as written to JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Recall1 => "recall@1",
            Self::Recall3 => "recall@3",
            Self::Recall5 => "recall@5",
            Self::Recall10 => "recall@10",
            Self::Recall20 => "recall@20",
            Self::Map => "MAP",
            Self::Mrr => "MRR",
            Self::Ndcg10 => "nDCG@10",
        }
    }

    /// This measure of one question.
    pub fn of(self, question: &QuestionMeasures) -> f64 {
        let [at_1, at_3, at_5, at_10, at_20] = question.recall_at;
        match self {
            Self::Recall1 => at_1,
            Self::Recall3 => at_3,
            Self::Recall5 => at_5,
            Self::Recall10 => at_10,
            Self::Recall20 => at_20,
            Self::Map => question.average_precision,
            Self::Mrr => question.reciprocal_rank,
            Self::Ndcg10 => question.ndcg_10,
        }
    }
}

#[cfg(test)]
mod tests;
