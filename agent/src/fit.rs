//! Fitting the proposing model.

use crate::choice::{Weights, feature_names};

const STEPS: usize = 200;
const RATE: f32 = 0.05;
const PENALTY: f32 = 0.4;

/// A question's choices.
#[derive(Debug, Clone)]
pub struct Example {
    /// The features of "none of them", then of each candidate.
    pub choices: Vec<Vec<(u16, f32)>>,
    /// Which are right: the first where no candidate is.
    pub right: Vec<bool>,
}

/// The softmax over each question's choices, fitted to what is right by gradient steps over all questions in their order
/// (Adam), with a penalty on squares. `progress` is called with the step and the mean loss.
pub fn fit(examples: &[&Example], progress: &mut dyn FnMut(usize, f32)) -> Weights {
    let count = feature_names().len();
    let (mut weights, mut mean, mut square) = (Weights(vec![0f32; count]), vec![0f32; count], vec![0f32; count]);
    for step in 1..=STEPS {
        let mut gradient: Vec<f32> = weights.0.iter().map(|weight| 2.0 * PENALTY * weight).collect();
        let mut loss = 0.0;
        for Example { choices, right } in examples {
            let scores: Vec<f32> = choices.iter().map(|features| weights.score(features)).collect();
            let highest = scores.iter().copied().fold(f32::MIN, f32::max);
            let likelihoods: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
            let all: f32 = likelihoods.iter().sum();
            let of_right: f32 = likelihoods.iter().zip(right).filter(|(_, right)| **right).map(|(of, _)| of).sum();
            loss -= (of_right / all).max(1e-20).ln();
            for ((features, likelihood), right) in choices.iter().zip(&likelihoods).zip(right) {
                // d loss / d score: p − p given that it is right
                let share = likelihood / all - if *right { likelihood / of_right.max(1e-20) } else { 0.0 };
                if share.abs() > 1e-6 {
                    for (at, value) in features {
                        if let Some(slope) = gradient.get_mut(usize::from(*at)) {
                            *slope += share * value;
                        }
                    }
                }
            }
        }
        let (of_mean, of_square) = (1.0 - 0.9f32.powi(step as i32), 1.0 - 0.99f32.powi(step as i32));
        let moments = mean.iter_mut().zip(&mut square);
        for ((weight, slope), (mean, square)) in weights.0.iter_mut().zip(gradient).zip(moments) {
            *mean = 0.9 * *mean + 0.1 * slope;
            *square = 0.99 * *square + 0.01 * slope * slope;
            *weight -= RATE * (*mean / of_mean) / ((*square / of_square).sqrt() + 1e-6);
        }
        progress(step, loss / examples.len().max(1) as f32);
    }
    weights
}
