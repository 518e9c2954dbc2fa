//! One optimiser step, in parts that on the CPU run side by side.

use anyhow::{Context as _, Result, ensure};
use burn::module::{Module as _, ModuleVisitor, Param};
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::{Device, Tensor};
use rayon::prelude::*;
use tabsegnet_ranker::device::guard;
use tabsegnet_segmenter::t5::{Batch, Dropout, Pair, T5};

use super::{SegmenterTraining, Stage};

use crate::batches::floats;

impl SegmenterTraining<'_> {
    /// One step on `batch`; the mean loss a target token before it.
    pub(super) fn step(
        &mut self,
        batch: &[&Pair],
        stage: Stage,
        epoch: usize,
        step: usize,
        steps: usize,
    ) -> Result<f64> {
        let rate = self.learning_rate(stage, epoch, step, steps);
        let seed = self.config.task.seed ^ ((epoch as u64) << 48) ^ ((step as u64) << 16);
        let device = self.plain.clone();
        let (loss, norm) = guard(&device, || self.learn(batch, seed, rate)).with_context(|| {
            format!(
                "a step on {} texts of {} tokens at most (segmenter_training.micro_batch is {}); {}",
                batch.len(),
                batch.iter().map(|pair| pair.input.len()).max().unwrap_or(0),
                self.settings.micro_batch,
                self.last_whole()
            )
        })?;
        ensure!(
            loss.is_finite() && norm.is_finite(),
            "the loss is {loss} and the norm of its gradient {norm} at epoch {epoch}, step {}; {}",
            step + 1,
            self.last_whole()
        );
        Ok(loss)
    }

    /// Up to the largest over the warm-up, then along a line to 0.
    fn learning_rate(&self, stage: Stage, epoch: usize, step: usize, steps: usize) -> f64 {
        let largest = match stage {
            Stage::Generated => self.settings.generated_learning_rate,
            Stage::Segments => self.settings.learning_rate,
        };
        let (before, epochs) = self.place_of(stage);
        scheduled((epoch - 1 - before) * steps + step, epochs * steps, self.settings.warm_up) * largest
    }

    fn learn(&mut self, batch: &[&Pair], seed: u64, rate: f64) -> (f64, f64) {
        let targets: usize = batch.iter().map(|pair| pair.target.len()).sum();
        let (model, device, dropout) = (&self.model, &self.device, self.settings.dropout);
        let part = |(part, pairs): (usize, &[&Pair])| {
            // Leaves of its own: graphs that share them would be one and wait for each other.
            let model = model.clone().fork(device);
            let batch = Batch::new(pairs, model.config(), device);
            let loss = model.loss(&batch, &mut Dropout::new(dropout, seed ^ part as u64));
            let value: f64 = floats(loss.value.into_data()).into_iter().map(f64::from).sum();
            let slope = loss.slope / targets as f64;
            (value, GradientsParams::from_grads(slope.backward(), &model))
        };
        let parts: Vec<(usize, &[&Pair])> = batch.chunks(self.settings.micro_batch).enumerate().collect();
        let parts: Vec<_> = if self.plain == Device::flex() {
            parts.into_par_iter().map(part).collect()
        } else {
            parts.into_iter().map(part).collect()
        };
        let (mut sum, mut gradients) = (0.0, GradientsAccumulator::new());
        // In the order of the parts, so that the bits do not depend on the threads.
        for (value, part) in parts {
            sum += value;
            gradients.accumulate(&self.model, part);
        }
        let mut gradients = gradients.grads();
        let norm = clip(&self.model, &mut gradients, self.settings.clip_norm);
        if norm.is_finite() {
            self.model = self.optimiser.step(rate, self.model.clone(), gradients);
        }
        (sum / targets as f64, norm)
    }
}

/// The share of the largest step size at a step of `steps`.
fn scheduled(step: usize, steps: usize, warm_up: f64) -> f64 {
    let warm_up = (steps as f64 * warm_up).ceil();
    let step = step as f64 + 1.0;
    if step <= warm_up { step / warm_up } else { (steps as f64 + 1.0 - step) / (steps as f64 - warm_up) }
}

/// Mean loss a target token, pairs of like length together.
pub(super) fn mean_loss(model: &T5, pairs: &[Pair], micro_batch: usize, device: &Device) -> Result<f64> {
    let mut order: Vec<&Pair> = pairs.iter().collect();
    order.sort_by_key(|pair| (pair.input.len(), pair.target.len()));
    let part = |pairs: &[&Pair]| -> f64 {
        let batch = Batch::new(pairs, model.config(), device);
        floats(model.loss(&batch, &mut Dropout::none()).value.into_data()).into_iter().map(f64::from).sum()
    };
    let sums: Vec<f64> = if *device == Device::flex() {
        order.par_chunks(micro_batch).map(part).collect()
    } else {
        guard(device, || order.chunks(micro_batch).map(part).collect())?
    };
    let targets: usize = pairs.iter().map(|pair| pair.target.len()).sum();
    Ok(sums.iter().sum::<f64>() / targets.max(1) as f64)
}

/// Scales gradients so that the norm of all together is at most `largest` (0: as it is); the norm
/// before.
fn clip(model: &T5, gradients: &mut GradientsParams, largest: f64) -> f64 {
    let mut squares = Squares { gradients, sums: Vec::new() };
    model.visit(&mut squares);
    let sums = Tensor::cat(squares.sums, 0);
    let norm = floats(sums.into_data()).into_iter().map(f64::from).sum::<f64>().sqrt();
    if largest > 0.0 && norm > largest && norm.is_finite() {
        model.visit(&mut Scale { gradients, factor: largest / norm });
    }
    norm
}

struct Squares<'a> {
    gradients: &'a GradientsParams,
    sums: Vec<Tensor<1>>,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            self.sums.push((gradient.clone() * gradient).sum());
        }
    }
}

struct Scale<'a> {
    gradients: &'a mut GradientsParams,
    factor: f64,
}

impl ModuleVisitor for Scale<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(param.id) {
            self.gradients.register(param.id, gradient * self.factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::scheduled;

    #[test]
    fn the_step_size_rises_over_the_warm_up_and_falls_to_the_end() {
        let all: Vec<f64> = (0..20).map(|step| scheduled(step, 20, 0.2)).collect();
        assert_eq!(all[..4], [0.25, 0.5, 0.75, 1.0]);
        assert!(all[4..].windows(2).all(|pair| pair[1] < pair[0]) && all[19] > 0.0, "{all:?}");
        assert_eq!(scheduled(0, 5, 0.0), 1.0);
    }
}
