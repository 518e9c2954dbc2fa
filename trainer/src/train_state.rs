//! One ranker while it is trained: its weights, its optimiser, and a step of both.

use burn::optim::{AdamConfig, AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use tabsegnet_ranker::dropout::Dropout;
use tabsegnet_ranker::loss::{listwise, pairwise_hinge};
use tabsegnet_ranker::{Batch, TabSegNet};

use crate::batches::floats;
use crate::config::{Loss, OptimisationConfig};

/// A ranker and its optimiser.
pub struct TrainState {
    /// The weights.
    pub model: TabSegNet,
    /// Their moments.
    pub optimiser: ModuleOptimizer,
}

/// How a training goes, from beginning to end.
pub struct Schedule<'a> {
    /// Loss, rates, passes.
    pub optimisation: &'a OptimisationConfig,
    /// Of the order of questions and of dropout.
    pub seed: u64,
    /// Steps of an epoch.
    steps: usize,
}

impl<'a> Schedule<'a> {
    /// Over `questions`.
    pub fn new(optimisation: &'a OptimisationConfig, seed: u64, questions: usize) -> Self {
        Self { optimisation, seed, steps: questions.div_ceil(optimisation.batch_size) }
    }

    /// Steps of an epoch.
    pub fn steps_of_epoch(&self) -> usize {
        self.steps
    }

    /// `questions` in the order of an epoch, from 1. It depends on the seed and the epoch alone, so that a
    /// resumed training takes them in the same order.
    pub fn order(&self, mut questions: Vec<usize>, epoch: usize) -> Vec<usize> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(epoch as u64); // stream 0 made the weights
        questions.shuffle(&mut rng);
        questions
    }
}

impl TrainState {
    /// Step number `step`, from 0; returns the loss before it, 0 where nothing can be learned from the batch.
    pub fn step(&mut self, batch: &Batch, schedule: &Schedule<'_>, step: usize) -> f64 {
        let optimisation = schedule.optimisation;
        let mut dropout = Dropout::new(optimisation.dropout, schedule.seed, step as u64);
        let Some((loss, _)) = loss(optimisation, self.model.forward_dropping(batch, &mut dropout), batch) else {
            return 0.0;
        };
        let gradients = GradientsParams::from_grads(loss.backward(), &self.model);
        let rate =
            optimisation.learning_rate * optimisation.schedule.factor(step, optimisation.epochs * schedule.steps);
        self.model = self.optimiser.step(rate, self.model.clone(), gradients);
        floats(loss.into_data()).into_iter().map(f64::from).sum()
    }
}

/// The mean loss of a batch `[1]`, and of how many questions; nothing where none can be learned from.
pub fn loss(config: &OptimisationConfig, scores: Tensor<1>, batch: &Batch) -> Option<(Tensor<1>, usize)> {
    match config.loss {
        Loss::Hinge => {
            batch.pairs.as_ref().map(|pairs| (pairwise_hinge(scores, pairs, config.margin), pairs.questions))
        }
        Loss::Listwise => batch.lists.as_ref().map(|lists| (listwise(scores, lists), lists.questions)),
    }
}

/// Adam, with weight decay AdamW.
pub fn optimiser(config: &OptimisationConfig) -> ModuleOptimizer {
    if config.weight_decay > 0.0 {
        return AdamWConfig::new()
            .with_beta_1(config.beta_1)
            .with_beta_2(config.beta_2)
            .with_epsilon(config.epsilon)
            .with_weight_decay(config.weight_decay)
            .init();
    }
    AdamConfig::new().with_beta_1(config.beta_1).with_beta_2(config.beta_2).with_epsilon(config.epsilon).init()
}
