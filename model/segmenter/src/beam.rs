//! Beam search, as Python's transformers does it with its defaults: hypotheses by mean
//! log-probability a token, the end counted, until no open one can beat the worst of the kept.

use rayon::prelude::*;

use crate::generate::Decoder;
use crate::{Generated, Generator, Pointing, SegmenterError};

/// A hypothesis that is still being written.
struct Open {
    decoder: Decoder,
    tokens: Vec<u32>,
    /// Sum of log-probabilities.
    score: f32,
}

/// A finished one, with its mean log-probability.
struct Done {
    generated: Generated,
    score: f32,
}

/// A way to go on.
#[derive(Clone, Copy)]
struct Step {
    from: usize,
    token: u32,
    score: f32,
}

impl Generator {
    pub(crate) fn beam_search(
        &self,
        decoder: Decoder,
        pointing: Option<&Pointing>,
    ) -> Result<Generated, SegmenterError> {
        let beams = self.limits.beams;
        let mut open = vec![Open { decoder, tokens: Vec::new(), score: 0.0 }];
        let mut done: Vec<Done> = Vec::new();
        for length in 1..=self.limits.output {
            let last = length == self.limits.output;
            let logits: Vec<Vec<f32>> = open
                .par_iter_mut()
                .map(|open| {
                    let mut logits = open.decoder.next(open.tokens.last().copied().unwrap_or(self.start))?;
                    if let Some(pointing) = pointing {
                        pointing.bar(&open.tokens, self.eos, &mut logits);
                    }
                    Ok::<_, SegmenterError>(logits)
                })
                .collect::<Result<_, _>>()?;
            // Twice as many as there are beams, since all but one of each may end.
            let steps = best_steps(&open, &logits, 2 * beams);
            for step in steps.iter().take(beams).filter(|step| last || step.token == self.eos) {
                let mut tokens = open.get(step.from).map(|open| open.tokens.clone()).unwrap_or_default();
                let finished = step.token == self.eos;
                if !finished {
                    tokens.push(step.token);
                }
                let score = step.score / length as f32;
                done.push(Done { generated: Generated { tokens, finished }, score });
            }
            // Of equal ones the earlier stays before.
            done.sort_by(|a, b| b.score.total_cmp(&a.score));
            done.truncate(beams);
            if last {
                break;
            }
            let on = steps.into_iter().filter(|step| step.token != self.eos).take(beams);
            open = on
                .filter_map(|step| {
                    let from = open.get(step.from)?;
                    let mut tokens = from.tokens.clone();
                    tokens.push(step.token);
                    Some(Open { decoder: from.decoder.clone(), tokens, score: step.score })
                })
                .collect();
            let best_open = open.first().map_or(f32::NEG_INFINITY, |open| open.score / length as f32);
            if done.len() == beams && done.last().is_some_and(|worst| best_open <= worst.score) {
                break;
            }
        }
        let best = done.into_iter().next();
        Ok(best.map_or(Generated { tokens: Vec::new(), finished: false }, |done| done.generated))
    }
}

/// The `count` likeliest ways to go on, the best first.
fn best_steps(open: &[Open], logits: &[Vec<f32>], count: usize) -> Vec<Step> {
    let mut best: Vec<Step> = Vec::with_capacity(count + 1);
    for (from, (open, logits)) in open.iter().zip(logits).enumerate() {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = logits.iter().map(|logit| (logit - largest).exp()).sum();
        let shift = open.score - largest - sum.ln();
        for (token, logit) in logits.iter().enumerate().filter(|(_, logit)| logit.is_finite()) {
            let score = logit + shift;
            if best.len() == count && best.last().is_some_and(|worst| score <= worst.score) {
                continue;
            }
            let at = best.partition_point(|step| step.score >= score);
            best.insert(at, Step { from, token: token as u32, score });
            best.truncate(count);
        }
    }
    best
}
