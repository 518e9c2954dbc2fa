//! Which of a document's tables hold what is wanted, from [`crate::DocumentFeatures::table_inputs`] alone: a small model of
//! its own, one hidden layer with ReLU, softmax over the tables of a document.

use crate::schema::{Schema as _, flag};
use crate::table_relevance::TableInputs;

/// Standardised inputs beyond this many deviations are cut.
const LIMIT: f32 = 5.0;
/// Least share in a logarithm.
const LEAST_SHARE: f32 = 1e-4;

crate::features! {
    /// What the nodes of a table get of its table.
    pub struct TableScore(score: f32, of_document: f32, is_best: bool) {
        /// The model's output.
        logit: score,
        /// Its share after softmax over the document's tables.
        share: of_document,
        /// The share's logarithm.
        log_share: (of_document + LEAST_SHARE).ln(),
        /// 1 of the document's best table, the first of several.
        best: flag(is_best),
    }
}

/// The model's weights; row-major.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableScorer {
    /// `[inputs]`: their mean over the training part.
    pub mean: Vec<f32>,
    /// `[inputs]`: 1 / deviation.
    pub scale: Vec<f32>,
    /// `[inputs, hidden]`
    pub w_1: Vec<f32>,
    /// `[hidden]`
    pub b_1: Vec<f32>,
    /// `[hidden]`
    pub w_2: Vec<f32>,
}

/// The tables of a document, to learn from.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// `[tables, INPUTS]`
    pub inputs: Vec<f32>,
    /// Whether each table holds gold of a question of the document.
    pub gold: Vec<bool>,
}

impl Example {
    /// With tables that hold gold and tables that do not: of others nothing can be learned.
    pub fn is_informative(&self) -> bool {
        self.gold.contains(&true) && self.gold.contains(&false)
    }
}

impl TableScorer {
    /// Numbers that a table has.
    pub const INPUTS: usize = TableInputs::COUNT;
    /// Width of the hidden layer.
    pub const HIDDEN: usize = 32;

    /// Names of a table's numbers, in order.
    pub fn inputs() -> Vec<String> {
        TableInputs::names()
    }

    /// The score of each table from `inputs` `[tables, INPUTS]`.
    pub fn scores(&self, inputs: &[f32]) -> Vec<TableScore> {
        let logits: Vec<f32> = inputs.chunks_exact(Self::INPUTS).map(|row| self.logit(row)).collect();
        scores(&logits)
    }

    /// `row` `[INPUTS]` less the mean, over the deviation, cut.
    pub fn standardised(&self, row: &[f32]) -> impl Iterator<Item = f32> {
        let scaled = row.iter().zip(&self.mean).zip(&self.scale);
        scaled.map(|((value, mean), scale)| ((value - mean) * scale).clamp(-LIMIT, LIMIT))
    }

    /// w_2 · ReLU(x W_1 + b_1)
    fn logit(&self, row: &[f32]) -> f32 {
        let mut hidden = self.b_1.clone();
        for (x, row) in self.standardised(row).zip(self.w_1.chunks_exact(Self::HIDDEN)) {
            hidden.iter_mut().zip(row).for_each(|(hidden, w)| *hidden += x * w);
        }
        hidden.iter().zip(&self.w_2).map(|(hidden, w)| hidden.max(0.0) * w).sum()
    }
}

/// Of the examples that can be learned from, the share whose best table by `scores` ([`TableScorer::scores`]) holds gold;
/// nothing where there is none.
pub fn share_right(examples: &[Example], scores: &[Vec<TableScore>]) -> Option<f64> {
    let informative = examples.iter().zip(scores).filter(|(example, _)| example.is_informative());
    let right = |(example, scores): (&Example, &Vec<TableScore>)| {
        let best = scores.iter().position(|score| score.best > 0.0);
        f64::from(u8::from(best.is_some_and(|best| example.gold[best])))
    };
    let (count, sum) = informative.map(right).fold((0_u32, 0.0), |(count, sum), right| (count + 1, sum + right));
    (count > 0).then(|| sum / f64::from(count))
}

fn scores(logits: &[f32]) -> Vec<TableScore> {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let best = logits.iter().position(|logit| *logit == greatest);
    // exp(l − max l) / Σ
    let exp: Vec<f32> = logits.iter().map(|logit| (logit - greatest).exp()).collect();
    let sum: f32 = exp.iter().sum();
    let tables = logits.iter().zip(exp).enumerate();
    tables.map(|(table, (&logit, exp))| TableScore::of(logit, exp / sum, best == Some(table))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_greatest_is_best() {
        let found = scores(&[1.0, 3.0, 2.0]);
        let shares: f32 = found.iter().map(|score| score.share).sum();
        assert!((shares - 1.0).abs() < 1e-6);
        assert_eq!(found.iter().map(|score| score.best).collect::<Vec<_>>(), [0.0, 1.0, 0.0]);
        assert!(scores(&[]).is_empty());
    }
}
