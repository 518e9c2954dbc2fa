//! Rankers trained beside the one of the training, and soups of them: the mean of the weights of several that began with the
//! same (Wortsman et al. 2022).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, bail};
use burn::module::{Module as _, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData};
use tabsegnet_model::TabSegNet;
use tabsegnet_model::device::guard;
use tabsegnet_ranking::embedded::TableScores;

use crate::config::Config;
use crate::inputs::Input;
use crate::learner::{Course, Learner, optimiser};
use crate::progress::Progress;

/// What rankers are trained with, all from the same weights.
pub struct Recipe<'a> {
    /// The whole config.
    pub config: &'a Config,
    /// The training part.
    pub train: &'a Input,
    /// What table heads that have not seen them say of its tables.
    pub tables: &'a TableScores,
    /// The ranker as its training begins.
    pub start: TabSegNet,
    /// Without autodiff.
    pub plain: &'a Device,
    /// With.
    pub autodiff: &'a Device,
}

impl Recipe<'_> {
    /// A stage of the training of so many rankers.
    pub fn stage(&self, name: &str, rankers: usize) -> Stage {
        let epochs = rankers * self.config.optimisation.epochs;
        Stage { progress: Progress::new(name, epochs), done: 0, epochs }
    }

    /// A ranker trained on `questions` from beginning to end; nothing when asked to stop. `name` is what a message
    /// calls it.
    fn ranker(
        &self,
        questions: &[usize],
        seed: u64,
        name: &str,
        stop: &AtomicBool,
        stage: &mut Stage,
    ) -> Result<Option<TabSegNet>> {
        let Self { config, plain, .. } = self;
        let (embedded, optimisation) = (&self.train.embedded, &config.optimisation);
        let course = Course::new(optimisation, seed, questions.len());
        let mut learner = Learner { model: self.start.clone(), optimiser: optimiser(optimisation) };
        for number in 1..=optimisation.epochs {
            let order = course.order(questions.to_vec(), number);
            for (step, questions) in order.chunks(optimisation.batch_size).enumerate() {
                let batch = embedded.batch(questions, self.tables, &config.model, self.autodiff)?;
                let step = (number - 1) * course.steps_of_epoch() + step;
                let name = || format!("step {} of {name}", step + 1);
                let loss = guard(plain, || learner.step(&batch, &course, step)).with_context(name)?;
                if !loss.is_finite() {
                    bail!("the loss is {loss} at {}; {}", name(), optimisation.steadier());
                }
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
            }
            stage.epoch();
        }
        Ok(Some(learner.model.valid()))
    }

    /// The mean of the weights of as many rankers as `optimisation.soup` says, alike but for the order of their questions
    /// and their dropout, after `first` where it is known; nothing when asked to stop. `name` is what a message calls
    /// one.
    ///
    /// # Errors
    /// A loss that is not finite; a device without the memory.
    pub fn soup(
        &self,
        first: Option<TabSegNet>,
        questions: &[usize],
        seed: u64,
        name: &str,
        stop: &AtomicBool,
        stage: &mut Stage,
    ) -> Result<Option<TabSegNet>> {
        let mut members: Vec<TabSegNet> = first.into_iter().collect();
        while members.len() < self.config.optimisation.soup {
            let member = seed_of(seed, members.len());
            match self.ranker(questions, member, name, stop, stage)? {
                Some(ranker) => members.push(ranker),
                None => return Ok(None),
            }
        }
        Ok(mean(members))
    }
}

/// The progress of a training of several rankers.
pub struct Stage {
    progress: Progress,
    done: usize,
    epochs: usize,
}

impl Stage {
    fn epoch(&mut self) {
        self.done += 1;
        self.progress.set(self.done, self.epochs, "epochs");
    }

    /// Ends it with a last line.
    pub fn finish(self, message: &str) {
        self.progress.finish(message);
    }
}

/// The seed of a ranker of a soup, far from those that people choose; the first has that of the training.
fn seed_of(seed: u64, member: usize) -> u64 {
    seed.wrapping_add((member as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// The model whose every weight is the mean of those of `models` (a uniform soup); nothing of none.
fn mean(models: Vec<TabSegNet>) -> Option<TabSegNet> {
    let mut sums = Sums(BTreeMap::new());
    let count = models.len() as f64;
    models.iter().for_each(|model| model.visit(&mut sums));
    Some(models.into_iter().next()?.map(&mut Means { sums, count }))
}

/// For each parameter the sum over models, by its number.
struct Sums(BTreeMap<u64, Vec<f64>>);

impl ModuleVisitor for Sums {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let data = param.val().into_data();
        let sums = self.0.entry(param.id.val()).or_insert_with(|| vec![0.0; data.num_elements()]);
        sums.iter_mut().zip(data.iter::<f32>()).for_each(|(sum, value)| *sum += f64::from(value));
    }
}

struct Means {
    sums: Sums,
    count: f64,
}

impl ModuleMapper for Means {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(sums) = self.sums.0.get(&param.id.val()) else { return param };
        let (device, shape) = (param.val().device(), param.val().shape());
        let means: Vec<f32> = sums.iter().map(|sum| (sum / self.count) as f32).collect();
        Param::initialized(param.id, Tensor::from_data(TensorData::new(means, shape), &device))
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use tabsegnet_model::{ModelConfig, TabSegNet};

    use super::{mean, seed_of};

    #[test]
    fn every_weight_is_the_mean() {
        let config = ModelConfig { features: 3, layers: 2, ..ModelConfig::default() };
        let models: Vec<TabSegNet> = (0..3).map(|seed| TabSegNet::new(&config, 4, seed, &Device::flex())).collect();
        let weights: Vec<_> = models.iter().map(TabSegNet::parameters).collect();
        let soup = mean(models.clone()).expect("of three").parameters();
        assert_eq!(soup.len(), weights[0].len());
        for (number, (name, values)) in soup.iter().enumerate() {
            let of = |model: usize| weights[model][number].1.iter::<f32>();
            for (((mean, a), b), c) in values.iter::<f32>().zip(of(0)).zip(of(1)).zip(of(2)) {
                assert!((mean - (a + b + c) / 3.0).abs() < 1e-6, "{name}");
            }
        }
        // Of one it is that one, to the bit.
        let one = mean(models[..1].to_vec()).expect("of one").parameters();
        assert!(one.iter().zip(&weights[0]).all(|(a, b)| a.1.as_bytes() == b.1.as_bytes()));
        assert!(mean(Vec::new()).is_none());
    }

    #[test]
    fn rankers_of_neighbouring_seeds_have_seeds_of_their_own() {
        let seeds: std::collections::BTreeSet<u64> =
            (0..20).flat_map(|seed| (0..50).map(move |member| seed_of(seed, member))).collect();
        assert_eq!(seeds.len(), 1000);
        assert_eq!(seed_of(7, 0), 7);
    }
}
