//! Training of the table scorer: −log of the share that the tables with gold have, AdamW with a cosine
//! schedule, dropout.

#![allow(non_snake_case)] // W_1 is a matrix, w_2 a vector

use std::collections::HashMap;

use burn::module::{Module, Param};
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::activation::{log_softmax, relu};
use burn::tensor::{Device, Tensor, TensorData};
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use tabsegnet_datasets::mix::own_id;
use tabsegnet_features::table_scorer::Example;
use tabsegnet_features::{TableScore, TableScorer};
use tabsegnet_ranker::dropout::Dropout;

use crate::batches::floats;

/// Passes over the documents, and the most steps they take.
const EPOCHS: usize = 60;
const MOST_STEPS: usize = 1000;
/// Documents a step.
const BATCH: usize = 64;
const LEARNING_RATE: f64 = 3e-3;
const WEIGHT_DECAY: f32 = 0.05;
const EPSILON: f32 = 1e-8;
/// Shares of inputs and of hidden numbers that are dropped.
const DROPPED_INPUTS: f32 = 0.09;
const DROPPED_HIDDEN: f32 = 0.3;
/// Parts of the training documents, each scored by a model that was trained without it.
const FOLDS: usize = 8;
/// Least deviation that an input is divided by.
const LEAST_DEVIATION: f32 = 1e-3;
/// Added to the logit of what does not count: its share is 0.
const NEVER: f32 = -1e9;

/// A scorer trained on all examples, on the CPU. The same examples and seed give the same bits; without an example
/// to learn from its weights stay where they begin.
pub fn train(examples: &[Example], seed: u64) -> TableScorer {
    fit(&examples.iter().collect::<Vec<_>>(), &scale(examples), seed)
}

/// For each example the scores ([`TableScorer::scores`]) of a scorer that was trained without it, so that
/// what a ranker sees of its training documents is like what it will see of others. `ids` are the documents'.
pub fn out_of_fold(examples: &[Example], ids: &[&str], seed: u64) -> Vec<Vec<TableScore>> {
    let scale = scale(examples);
    let fold = folds(ids, FOLDS, &mut ChaCha8Rng::seed_from_u64(seed));
    let without = |left_out: usize| {
        let kept = examples.iter().zip(&fold).filter(|(_, fold)| **fold != left_out);
        fit(&kept.map(|(example, _)| example).collect::<Vec<_>>(), &scale, seed)
    };
    let scorers: Vec<TableScorer> = (0..FOLDS).into_par_iter().map(without).collect();
    examples.iter().zip(&fold).map(|(example, &fold)| scorers[fold].scores(&example.inputs)).collect()
}

/// For each document's id its fold, of so many: at random, and as many in each as can be. A page that stands in several
/// parts of a mix is in one fold.
pub fn folds(ids: &[&str], folds: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut pages = HashMap::new();
    let page: Vec<usize> = ids
        .iter()
        .map(|id| {
            let next = pages.len();
            *pages.entry(own_id(id)).or_insert(next)
        })
        .collect();
    let mut fold: Vec<usize> = (0..pages.len()).map(|number| number % folds).collect();
    fold.shuffle(rng);
    page.into_iter().map(|page| fold[page]).collect()
}

/// Mean and 1 / deviation of each input over all tables, in a scorer without weights.
fn scale(examples: &[Example]) -> TableScorer {
    let mut sums = vec![(0.0_f64, 0.0_f64); TableScorer::INPUTS];
    let mut count = 0.0;
    for row in examples.iter().flat_map(|example| example.inputs.chunks_exact(TableScorer::INPUTS)) {
        count += 1.0;
        for ((sum, square), &value) in sums.iter_mut().zip(row) {
            *sum += f64::from(value);
            *square += f64::from(value).powi(2);
        }
    }
    let of = |(sum, square): (f64, f64)| {
        let mean = sum / f64::max(count, 1.0);
        let deviation = (square / f64::max(count, 1.0) - mean * mean).max(0.0).sqrt() as f32;
        (mean as f32, 1.0 / deviation.max(LEAST_DEVIATION))
    };
    let (mean, scale) = sums.into_iter().map(of).unzip();
    TableScorer { mean, scale, ..TableScorer::default() }
}

/// The weights while they are trained.
#[derive(Module, Debug)]
struct Layers {
    /// `[inputs, hidden]`
    W_1: Param<Tensor<2>>,
    /// `[hidden]`
    b_1: Param<Tensor<1>>,
    /// `[hidden, 1]`
    w_2: Param<Tensor<2>>,
}

impl Layers {
    /// Uniform within ±1 / √inputs, the bias 0.
    fn new(rng: &mut ChaCha8Rng, device: &Device) -> Self {
        let (inputs, hidden) = (TableScorer::INPUTS, TableScorer::HIDDEN);
        let mut uniform = |shape: [usize; 2]| {
            let bound = 1.0 / (shape[0] as f32).sqrt();
            let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| rng.random_range(-bound..bound)).collect();
            Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), device))
        };
        let (W_1, w_2) = (uniform([inputs, hidden]), uniform([hidden, 1]));
        Self { W_1, b_1: Param::from_tensor(Tensor::zeros([hidden], device)), w_2 }
    }

    /// Mean of −log Σ softmax over the tables with gold, `[1]`, over the documents of a batch.
    fn loss(&self, batch: &Batch, [inputs, hidden]: &mut [Dropout; 2]) -> Tensor<1> {
        let x = inputs.forward(batch.inputs.clone()); // [documents · tables, inputs]
        let x = relu(x.matmul(self.W_1.val()) + self.b_1.val().unsqueeze()); // [documents · tables, hidden]
        let logits = hidden.forward(x).matmul(self.w_2.val()).reshape(batch.absent.dims()); // [documents, tables]
        let log_shares = log_softmax(logits + batch.absent.clone(), 1);
        // ln Σ of gold, from the greatest down.
        let of_gold = log_shares + batch.without_gold.clone();
        let greatest = of_gold.clone().detach().max_dim(1); // [documents, 1]
        let log_share = (of_gold - greatest.clone()).exp().sum_dim(1).log() + greatest;
        let [documents, _] = log_share.dims();
        log_share.sum_dim(0).reshape([1]) / -(documents as f32)
    }

    fn scorer(self, scale: &TableScorer) -> TableScorer {
        let [w_1, w_2] = [self.W_1, self.w_2].map(|weights| floats(weights.val().into_data()));
        TableScorer { w_1, b_1: floats(self.b_1.val().into_data()), w_2, ..scale.clone() }
    }
}

/// Documents beside each other, each filled up to as many tables.
struct Batch {
    /// `[documents · tables, inputs]`
    inputs: Tensor<2>,
    /// `[documents, tables]`: 0 of a table, [`NEVER`] of one that is not there.
    absent: Tensor<2>,
    /// `[documents, tables]`: 0 of a table with gold, [`NEVER`] of another.
    without_gold: Tensor<2>,
}

impl Batch {
    /// Of examples with standardised inputs.
    fn new(examples: &[&Example], device: &Device) -> Self {
        let tables = examples.iter().map(|example| example.gold.len()).max().unwrap_or_default();
        let (mut inputs, mut absent, mut without_gold) = (Vec::new(), Vec::new(), Vec::new());
        for (number, example) in (1..).zip(examples) {
            inputs.extend_from_slice(&example.inputs);
            inputs.resize(number * tables * TableScorer::INPUTS, 0.0);
            absent.resize(absent.len() + example.gold.len(), 0.0);
            absent.resize(number * tables, NEVER);
            without_gold.extend(example.gold.iter().map(|&gold| if gold { 0.0 } else { NEVER }));
            without_gold.resize(number * tables, NEVER);
        }
        let tensor = |values: Vec<f32>, shape| Tensor::from_data(TensorData::new(values, shape), device);
        let shape = [examples.len(), tables];
        Self {
            inputs: tensor(inputs, [examples.len() * tables, TableScorer::INPUTS]),
            absent: tensor(absent, shape),
            without_gold: tensor(without_gold, shape),
        }
    }
}

/// A scorer with the mean and deviation of `scale`.
fn fit(examples: &[&Example], scale: &TableScorer, seed: u64) -> TableScorer {
    let device = Device::flex().autodiff();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut layers = Layers::new(&mut rng, &device);
    let standardised = |example: &&&Example| {
        let rows = example.inputs.chunks_exact(TableScorer::INPUTS);
        Example { inputs: rows.flat_map(|row| scale.standardised(row)).collect(), gold: example.gold.clone() }
    };
    let informative = examples.iter().filter(|example| example.is_informative());
    let examples: Vec<Example> = informative.map(|example| standardised(&example)).collect();
    let mut order: Vec<&Example> = examples.iter().collect();
    let steps_of_epoch = examples.len().div_ceil(BATCH);
    let steps = (EPOCHS * steps_of_epoch).min(MOST_STEPS);
    let mut optimiser = AdamWConfig::new().with_epsilon(EPSILON).with_weight_decay(WEIGHT_DECAY).init();
    for step in 0..steps {
        let of_epoch = step % steps_of_epoch;
        if of_epoch == 0 {
            order.shuffle(&mut rng);
        }
        let documents: Vec<&Example> = order.iter().skip(of_epoch * BATCH).take(BATCH).copied().collect();
        let dropout = |rate, layer: u64| Dropout::new(rate, seed, 2 * step as u64 + layer);
        let mut dropout = [dropout(DROPPED_INPUTS, 0), dropout(DROPPED_HIDDEN, 1)];
        let loss = layers.loss(&Batch::new(&documents, &device), &mut dropout);
        let gradients = GradientsParams::from_grads(loss.backward(), &layers);
        let rate = LEARNING_RATE * 0.5 * (1.0 + (std::f64::consts::PI * step as f64 / steps as f64).cos());
        layers = optimiser.step(rate, layers, gradients);
    }
    layers.scorer(scale)
}

#[cfg(test)]
mod tests {
    use tabsegnet_features::table_scorer::share_right;

    use super::*;

    /// Documents of two to four tables; one with gold has the largest first input.
    fn examples(count: usize) -> Vec<Example> {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut example = || {
            let tables = rng.random_range(2..5);
            let gold = rng.random_range(0..tables);
            let mut inputs: Vec<f32> = (0..tables * TableScorer::INPUTS).map(|_| rng.random_range(-1.0..1.0)).collect();
            inputs[gold * TableScorer::INPUTS] += 6.0;
            Example { inputs, gold: (0..tables).map(|table| table == gold).collect() }
        };
        (0..count).map(|_| example()).collect()
    }

    /// [`super::out_of_fold`] of examples each of a page of its own.
    fn out_of_fold(examples: &[Example], seed: u64) -> Vec<Vec<TableScore>> {
        let ids: Vec<String> = (0..examples.len()).map(|number| number.to_string()).collect();
        super::out_of_fold(examples, &ids.iter().map(String::as_str).collect::<Vec<_>>(), seed)
    }

    #[test]
    fn a_page_in_two_parts_of_a_mix_is_in_one_fold() {
        let ids = ["a/x", "a/y", "a/z", "b/z", "b/x", "c/w"];
        let fold = folds(&ids, 2, &mut ChaCha8Rng::seed_from_u64(0));
        assert_eq!([fold[0], fold[2]], [fold[4], fold[3]]);
        let pages = [fold[0], fold[1], fold[2], fold[5]];
        assert_eq!(pages.iter().sum::<usize>(), 2, "as many in each: {pages:?}");
    }

    #[test]
    fn it_learns_and_scores_documents_that_it_was_trained_without() {
        let examples = examples(400);
        assert!(share_right(&examples, &out_of_fold(&examples, 1)).unwrap() > 0.87);
        let (train_part, others) = examples.split_at(300);
        let scorer = train(train_part, 1);
        let scores: Vec<_> = others.iter().map(|example| scorer.scores(&example.inputs)).collect();
        assert!(share_right(others, &scores).unwrap() > 0.85);
        assert_ne!(scorer, train(train_part, 2));
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_whatever_the_threads() {
        let examples = examples(100);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (train(&examples, 1), out_of_fold(&examples, 1)))
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn nothing_to_learn_from_is_no_fault() {
        let one = Example { inputs: vec![0.0; TableScorer::INPUTS], gold: vec![true] };
        let none = Example { inputs: Vec::new(), gold: Vec::new() };
        for examples in [vec![], vec![one.clone()], vec![one, none]] {
            let scores = out_of_fold(&examples, 0);
            assert_eq!(scores.len(), examples.len());
            assert!(scores.iter().flatten().all(|score| score.logit.is_finite() && score.log_share.is_finite()));
        }
    }
}
