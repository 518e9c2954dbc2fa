//! Which of a document's tables hold what is wanted, told from [`crate::DocumentFeatures::table_relevance`]
//! alone: a small model of its own, one hidden layer with ReLU, softmax over the tables of a document.

mod training;

pub use training::{Example, folds, out_of_fold, train};

/// What a node gets of its table, in order.
pub(crate) const NAMES: [&str; 4] = ["logit", "share", "log_share", "best"];

/// Standardised features beyond this many deviations are cut.
const LIMIT: f32 = 5.0;
/// Least share in a logarithm.
const LEAST_SHARE: f32 = 1e-4;

/// The model's weights; row-major.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableScorer {
    /// `[features]`: their mean over the training part.
    pub mean: Vec<f32>,
    /// `[features]`: 1 / deviation.
    pub scale: Vec<f32>,
    /// `[features, hidden]`
    pub w_1: Vec<f32>,
    /// `[hidden]`
    pub b_1: Vec<f32>,
    /// `[hidden]`
    pub w_2: Vec<f32>,
}

impl TableScorer {
    /// Numbers that a table has.
    pub const FEATURES: usize = crate::table_relevance::COUNT;
    /// Width of the hidden layer.
    pub const HIDDEN: usize = 32;

    /// What the nodes of each table get, `[tables, 4]`, from `features` `[tables, FEATURES]`: the table's
    /// logit, its share after softmax, the share's logarithm, and whether it is the greatest.
    pub fn scores(&self, features: &[f32]) -> Vec<f32> {
        let logits: Vec<f32> = features
            .chunks_exact(Self::FEATURES)
            .map(|row| {
                let hidden = self.hidden(&self.standardised(row));
                hidden.iter().zip(&self.w_2).map(|(hidden, w)| hidden * w).sum()
            })
            .collect();
        of_logits(&logits)
    }

    fn standardised(&self, row: &[f32]) -> Vec<f32> {
        let scaled = row.iter().zip(&self.mean).zip(&self.scale);
        scaled.map(|((value, mean), scale)| ((value - mean) * scale).clamp(-LIMIT, LIMIT)).collect()
    }

    /// ReLU(x W_1 + b_1)
    fn hidden(&self, x: &[f32]) -> Vec<f32> {
        let mut hidden = self.b_1.clone();
        for (x, row) in x.iter().zip(self.w_1.chunks_exact(Self::HIDDEN)) {
            hidden.iter_mut().zip(row).for_each(|(hidden, w)| *hidden += x * w);
        }
        hidden.iter_mut().for_each(|hidden| *hidden = hidden.max(0.0));
        hidden
    }
}

/// exp(l − max l) / Σ
fn softmax(logits: &[f32]) -> Vec<f32> {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut shares: Vec<f32> = logits.iter().map(|logit| (logit - greatest).exp()).collect();
    let sum: f32 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}

/// Of the examples with tables that hold gold and others, the share whose best table by `scores`
/// ([`TableScorer::scores`]) holds gold; nothing where there is none.
pub fn share_right(examples: &[Example], scores: &[Vec<f32>]) -> Option<f64> {
    let telling = examples.iter().zip(scores).filter(|(example, _)| example.tells());
    let right = |(example, scores): (&Example, &Vec<f32>)| {
        let best = scores.chunks_exact(NAMES.len()).position(|row| row[3] > 0.0);
        f64::from(u8::from(best.is_some_and(|best| example.gold[best])))
    };
    let (count, sum) = telling.map(right).fold((0_u32, 0.0), |(count, sum), right| (count + 1, sum + right));
    (count > 0).then(|| sum / f64::from(count))
}

fn of_logits(logits: &[f32]) -> Vec<f32> {
    let shares = softmax(logits);
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let best = logits.iter().position(|logit| *logit == greatest);
    let of = |(table, (&logit, &share)): (usize, (&f32, &f32))| {
        [logit, share, (share + LEAST_SHARE).ln(), f32::from(u8::from(best == Some(table)))]
    };
    logits.iter().zip(&shares).enumerate().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_greatest_is_best() {
        let scores = of_logits(&[1.0, 3.0, 2.0]);
        let shares: f32 = scores.chunks(4).map(|row| row[1]).sum();
        assert!((shares - 1.0).abs() < 1e-6);
        assert_eq!(scores.chunks(4).map(|row| row[3]).collect::<Vec<_>>(), [0.0, 1.0, 0.0]);
        assert!(of_logits(&[]).is_empty());
    }
}
