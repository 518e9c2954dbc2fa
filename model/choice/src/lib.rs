//! A log-linear choice among candidates: the likelihood of each is the softmax of the sum of its features' weights.
//!
//! Whoever makes candidates writes down their features by number; [`fit`] finds the weights from examples in which some
//! candidates are right.

/// The features of a candidate: numbers of features and their values; those not named are 0. The numbers are `u16` or
/// `u32`.
pub type Features<N> = Vec<(N, f32)>;

/// The sum of weight times value, in the features' order. A feature without a weight weighs nothing.
pub fn score<N: Copy + Into<u32>>(weights: &[f32], features: &[(N, f32)]) -> f32 {
    features.iter().map(|(feature, value)| weight(weights, *feature) * value).sum()
}

fn weight<N: Into<u32>>(weights: &[f32], feature: N) -> f32 {
    usize::try_from(feature.into()).ok().and_then(|at| weights.get(at)).copied().unwrap_or(0.0)
}

/// The softmax of scores: from 0 to 1, and 1 together. No scores give none.
pub fn likelihoods(scores: &[f32]) -> Vec<f32> {
    let highest = scores.iter().copied().fold(f32::MIN, f32::max);
    let raised: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
    let all: f32 = raised.iter().sum();
    raised.into_iter().map(|of| of / all).collect()
}

/// Candidates of which some are right.
#[derive(Debug, Clone)]
pub struct Example<N> {
    /// The features of each.
    pub choices: Vec<Features<N>>,
    /// Whether it is right; at least one should be, else the example teaches nothing.
    pub right: Vec<bool>,
}

/// How weights are fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitting {
    /// Steps over all examples.
    pub steps: usize,
    /// The size of a step.
    pub rate: f32,
    /// What a weight's square costs.
    pub penalty: f32,
}

/// Where fitting stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: usize,
    /// The mean negative log-likelihood of what is right, before the step.
    pub loss: f32,
    /// Examples whose likeliest candidate is right, and is not the first.
    pub right: usize,
}

/// Fits `count` weights by gradient steps over all examples in their order (Adam), to the likelihood of what is right
/// less the penalty. The same examples give the same weights.
pub fn fit<N: Copy + Into<u32>>(
    examples: &[Example<N>],
    count: usize,
    fitting: Fitting,
    mut report: impl FnMut(Progress),
) -> Vec<f32> {
    let (mut weights, mut mean, mut square) = (vec![0f32; count], vec![0f32; count], vec![0f32; count]);
    for step in 1..=fitting.steps {
        let mut gradient: Vec<f32> = weights.iter().map(|weight| 2.0 * fitting.penalty * weight).collect();
        let (mut loss, mut hits) = (0.0, 0);
        for Example { choices, right } in examples {
            let scores: Vec<f32> = choices.iter().map(|features| score(&weights, features)).collect();
            let highest = scores.iter().copied().fold(f32::MIN, f32::max);
            let raised: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
            let all: f32 = raised.iter().sum();
            let of_right: f32 = raised.iter().zip(right).filter(|(_, right)| **right).map(|(of, _)| of).sum();
            if choices.is_empty() || !right.contains(&true) {
                continue;
            }
            loss -= (of_right / all).max(1e-20).ln();
            let best = scores.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(at, _)| at);
            hits += usize::from(best > 0 && right.get(best) == Some(&true));
            for ((features, of), right) in choices.iter().zip(&raised).zip(right) {
                // d loss / d score: p − p given that it is right
                let share = of / all - if *right { of / of_right.max(1e-20) } else { 0.0 };
                if share.abs() > 1e-6 {
                    for (feature, value) in features {
                        let slope = usize::try_from((*feature).into()).ok().and_then(|at| gradient.get_mut(at));
                        slope.into_iter().for_each(|slope| *slope += share * value);
                    }
                }
            }
        }
        let power = i32::try_from(step).unwrap_or(i32::MAX);
        let (of_mean, of_square) = (1.0 - 0.9f32.powi(power), 1.0 - 0.99f32.powi(power));
        let moments = mean.iter_mut().zip(square.iter_mut());
        for ((weight, slope), (mean, square)) in weights.iter_mut().zip(&gradient).zip(moments) {
            *mean = 0.9 * *mean + 0.1 * slope;
            *square = 0.99 * *square + 0.01 * slope * slope;
            *weight -= fitting.rate * (*mean / of_mean) / ((*square / of_square).sqrt() + 1e-6);
        }
        #[allow(clippy::cast_precision_loss, reason = "a mean for people")]
        report(Progress { step, loss: loss / examples.len().max(1) as f32, right: hits });
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihoods_are_shares() {
        let found = likelihoods(&[0.0, 1000.0, 1000.0]);
        assert_eq!(found, [0.0, 0.5, 0.5]);
        assert!(likelihoods(&[]).is_empty());
    }

    #[test]
    fn what_tells_right_from_wrong_gets_weight() {
        // Feature 1 is of right candidates, feature 0 of wrong ones, feature 2 of both, and 9 has no weight.
        let example = |right: usize| Example::<u16> {
            choices: (0..3).map(|at| vec![(u16::from(at == right), 1.0), (2, 1.0), (9, 1.0)]).collect(),
            right: (0..3).map(|at| at == right).collect(),
        };
        let examples = [example(1), example(2), Example { choices: vec![vec![(0, 1.0)]], right: vec![false] }];
        let mut last = None;
        let fitting = Fitting { steps: 50, rate: 0.1, penalty: 0.01 };
        let weights = fit(&examples, 3, fitting, |progress| last = Some(progress));
        assert!(weights[1] > 0.5 && weights[0] < -0.5 && weights[2].abs() < 0.01, "{weights:?}");
        assert_eq!(last.map(|last| (last.step, last.right)), Some((50, 2)));
        assert_eq!(weights, fit(&examples, 3, fitting, |_| {}));
        assert_eq!(fit::<u32>(&[], 2, fitting, |_| {}), [0.0, 0.0]);
    }
}
