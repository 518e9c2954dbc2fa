//! Training of the table scorer: −log of the share that the tables with gold have, AdamW with a cosine
//! schedule, dropout.

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{TableScorer, softmax};

/// Passes over the documents, and the most steps they take.
const EPOCHS: usize = 60;
const MOST_STEPS: usize = 1000;
/// Documents a step.
const BATCH: usize = 64;
const LEARNING_RATE: f32 = 3e-3;
const WEIGHT_DECAY: f32 = 0.05;
/// Shares of features and of hidden numbers that are dropped.
const DROPPED: [f32; 2] = [0.09, 0.3];
const BETAS: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;
/// Parts of the training documents, each scored by a model that has not seen it.
const FOLDS: usize = 8;
/// Least deviation that a feature is divided by.
const LEAST_DEVIATION: f32 = 1e-3;

/// The tables of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// `[tables, FEATURES]`
    pub features: Vec<f32>,
    /// Whether each table holds gold of a question of the document.
    pub gold: Vec<bool>,
}

impl Example {
    /// With tables that hold gold and tables that do not.
    pub(super) fn tells(&self) -> bool {
        self.gold.iter().any(|gold| *gold) && self.gold.iter().any(|gold| !gold)
    }
}

/// A head trained on all examples. The same examples and seed give the same bits; without an example
/// to learn from its weights stay where they begin.
pub fn train(examples: &[Example], seed: u64) -> TableScorer {
    let (mean, scale) = scale(examples);
    fit(&examples.iter().collect::<Vec<_>>(), &mean, &scale, seed)
}

/// For each example the scores ([`TableScorer::scores`]) of a head that was trained without it, so that
/// what a ranker sees of its training documents is like what it will see of others.
pub fn out_of_fold(examples: &[Example], seed: u64) -> Vec<Vec<f32>> {
    let (mean, scale) = scale(examples);
    let fold = folds(examples.len(), FOLDS, &mut ChaCha8Rng::seed_from_u64(seed));
    let heads: Vec<TableScorer> = (0..FOLDS)
        .into_par_iter()
        .map(|left_out| {
            let kept: Vec<&Example> =
                examples.iter().zip(&fold).filter(|(_, fold)| **fold != left_out).map(|(example, _)| example).collect();
            fit(&kept, &mean, &scale, seed)
        })
        .collect();
    examples.iter().zip(&fold).map(|(example, &fold)| heads[fold].scores(&example.features)).collect()
}

/// For each of `count` things its fold, of so many: at random, and as many in each as can be.
pub fn folds(count: usize, folds: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut fold: Vec<usize> = (0..count).map(|number| number % folds).collect();
    fold.shuffle(rng);
    fold
}

/// Mean and 1 / deviation of each feature over all tables.
fn scale(examples: &[Example]) -> (Vec<f32>, Vec<f32>) {
    let mut sums = vec![(0.0_f64, 0.0_f64); TableScorer::FEATURES];
    let mut count = 0.0;
    for row in examples.iter().flat_map(|example| example.features.chunks_exact(TableScorer::FEATURES)) {
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
    sums.into_iter().map(of).unzip()
}

fn fit(examples: &[&Example], mean: &[f32], scale: &[f32], seed: u64) -> TableScorer {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = |count: usize, inputs: usize| -> Vec<f32> {
        let bound = 1.0 / (inputs as f32).sqrt();
        (0..count).map(|_| rng.random_range(-bound..bound)).collect()
    };
    let mut head = TableScorer {
        mean: mean.to_vec(),
        scale: scale.to_vec(),
        w_1: uniform(TableScorer::FEATURES * TableScorer::HIDDEN, TableScorer::FEATURES),
        b_1: vec![0.0; TableScorer::HIDDEN],
        w_2: uniform(TableScorer::HIDDEN, TableScorer::HIDDEN),
    };
    let telling: Vec<Prepared> =
        examples.iter().filter(|example| example.tells()).map(|example| Prepared::new(example, &head)).collect();
    let a_pass = telling.len().div_ceil(BATCH);
    let steps = (EPOCHS * a_pass).min(MOST_STEPS);
    let mut adam = Adam::new(&head);
    let mut order: Vec<usize> = (0..telling.len()).collect();
    for step in 0..steps {
        if step % a_pass == 0 {
            order.shuffle(&mut rng);
        }
        let first = step % a_pass * BATCH;
        let batch = order.get(first..).unwrap_or_default().iter().take(BATCH);
        let mut gradient = Gradient::default();
        let count = batch.len() as f32;
        for &example in batch {
            telling[example].add_gradient(&head, 1.0 / count, Some(&mut rng), &mut gradient);
        }
        let rate = LEARNING_RATE * 0.5 * (1.0 + (std::f32::consts::PI * step as f32 / steps as f32).cos());
        adam.step(&mut head, &gradient, rate);
    }
    head
}

/// An example's standardised features.
struct Prepared {
    rows: Vec<Vec<f32>>,
    gold: Vec<bool>,
}

#[derive(Debug)]
struct Gradient {
    w_1: Vec<f32>,
    b_1: Vec<f32>,
    w_2: Vec<f32>,
}

impl Default for Gradient {
    fn default() -> Self {
        let hidden = TableScorer::HIDDEN;
        Self { w_1: vec![0.0; TableScorer::FEATURES * hidden], b_1: vec![0.0; hidden], w_2: vec![0.0; hidden] }
    }
}

/// Sets some numbers to 0, the others larger by as much.
fn drop_out(values: &mut [f32], share: f32, rng: &mut ChaCha8Rng) {
    for value in values {
        *value = if rng.random::<f32>() < share { 0.0 } else { *value / (1.0 - share) };
    }
}

impl Prepared {
    fn new(example: &Example, head: &TableScorer) -> Self {
        let rows = example.features.chunks_exact(TableScorer::FEATURES).map(|row| head.standardised(row));
        Self { rows: rows.collect(), gold: example.gold.clone() }
    }

    /// Adds `weight` times the loss's gradient and returns the loss; dropout where there is a generator.
    fn add_gradient(&self, head: &TableScorer, weight: f32, rng: Option<&mut ChaCha8Rng>, out: &mut Gradient) -> f32 {
        let mut rng = rng;
        let mut seen = Vec::with_capacity(self.rows.len());
        let mut logits = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let mut x = row.clone();
            if let Some(rng) = rng.as_deref_mut() {
                drop_out(&mut x, DROPPED[0], rng);
            }
            let mut hidden = head.hidden(&x);
            if let Some(rng) = rng.as_deref_mut() {
                drop_out(&mut hidden, DROPPED[1], rng);
            }
            logits.push(hidden.iter().zip(&head.w_2).map(|(hidden, w)| hidden * w).sum());
            seen.push((x, hidden));
        }
        let shares = softmax(&logits);
        let of_gold: f32 = shares.iter().zip(&self.gold).filter(|(_, gold)| **gold).map(|(share, _)| share).sum();
        let kept = if rng.is_some() { 1.0 / (1.0 - DROPPED[1]) } else { 1.0 };
        for (((x, hidden), share), gold) in seen.iter().zip(&shares).zip(&self.gold) {
            let wanted = if *gold { share / of_gold.max(f32::MIN_POSITIVE) } else { 0.0 };
            let of_logit = weight * (share - wanted);
            out.w_2.iter_mut().zip(hidden).for_each(|(out, hidden)| *out += of_logit * hidden);
            let of_hidden: Vec<f32> = hidden
                .iter()
                .zip(&head.w_2)
                .map(|(hidden, w)| if *hidden > 0.0 { of_logit * w * kept } else { 0.0 })
                .collect();
            out.b_1.iter_mut().zip(&of_hidden).for_each(|(out, of_hidden)| *out += of_hidden);
            for (x, row) in x.iter().zip(out.w_1.chunks_exact_mut(TableScorer::HIDDEN)).filter(|(x, _)| **x != 0.0) {
                row.iter_mut().zip(&of_hidden).for_each(|(out, of_hidden)| *out += x * of_hidden);
            }
        }
        -of_gold.max(f32::MIN_POSITIVE).ln()
    }
}

/// AdamW (Loshchilov and Hutter 2019).
struct Adam {
    moments: [(Vec<f32>, Vec<f32>); 3],
    powers: [f32; 2],
}

impl Adam {
    fn new(head: &TableScorer) -> Self {
        let zeros = |values: &Vec<f32>| (vec![0.0; values.len()], vec![0.0; values.len()]);
        Self { moments: [zeros(&head.w_1), zeros(&head.b_1), zeros(&head.w_2)], powers: [1.0; 2] }
    }

    fn step(&mut self, head: &mut TableScorer, gradient: &Gradient, rate: f32) {
        self.powers.iter_mut().zip(BETAS).for_each(|(power, beta)| *power *= beta);
        let [first, second] = self.powers.map(|power| 1.0 - power);
        let parts = [(&mut head.w_1, &gradient.w_1), (&mut head.b_1, &gradient.b_1), (&mut head.w_2, &gradient.w_2)];
        for ((weights, gradient), (mean, square)) in parts.into_iter().zip(&mut self.moments) {
            for (((weight, gradient), mean), square) in weights.iter_mut().zip(gradient).zip(mean).zip(square) {
                *mean = BETAS[0] * *mean + (1.0 - BETAS[0]) * gradient;
                *square = BETAS[1] * *square + (1.0 - BETAS[1]) * gradient * gradient;
                let step = (*mean / first) / ((*square / second).sqrt() + EPSILON);
                *weight -= rate * (step + WEIGHT_DECAY * *weight);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of three tables; the one with gold has the largest first feature.
    fn examples(count: usize) -> Vec<Example> {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut example = || {
            let gold = rng.random_range(0..3);
            let mut features: Vec<f32> = (0..3 * TableScorer::FEATURES).map(|_| rng.random_range(-1.0..1.0)).collect();
            features[gold * TableScorer::FEATURES] += 6.0;
            Example { features, gold: (0..3).map(|table| table == gold).collect() }
        };
        (0..count).map(|_| example()).collect()
    }

    fn right(examples: &[Example], scores: &[Vec<f32>]) -> usize {
        let best = |scores: &[f32]| scores.chunks(4).position(|row| row[3] == 1.0).unwrap();
        examples.iter().zip(scores).filter(|(example, scores)| example.gold[best(scores)]).count()
    }

    #[test]
    fn it_learns_and_documents_that_it_has_not_seen_are_told_too() {
        let examples = examples(400);
        assert!(right(&examples, &out_of_fold(&examples, 1)) > 350);
        let head = train(&examples[..300], 1);
        let scores: Vec<Vec<f32>> = examples[300..].iter().map(|example| head.scores(&example.features)).collect();
        assert!(right(&examples[300..], &scores) > 85);
        assert_eq!(head, train(&examples[..300], 1), "the same seed gives the same bits");
        assert_ne!(head, train(&examples[..300], 2));
    }

    #[test]
    fn gradients_are_the_slopes_of_the_loss() {
        let examples = examples(1);
        let mut head = train(&examples, 3);
        let loss = |head: &TableScorer| {
            Prepared::new(&examples[0], head).add_gradient(head, 1.0, None, &mut Gradient::default())
        };
        let mut gradient = Gradient::default();
        Prepared::new(&examples[0], &head).add_gradient(&head, 1.0, None, &mut gradient);
        const STEP: f32 = 1e-2;
        for place in [0, 40, 777] {
            let mut at = |by: f32| {
                head.w_1[place] += by;
                let loss = loss(&head);
                head.w_1[place] -= by;
                loss
            };
            let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            assert!(
                (slope - gradient.w_1[place]).abs() < 2e-3 * slope.abs().max(1.0),
                "{place}: {slope} {}",
                gradient.w_1[place]
            );
        }
        let mut at = |by: f32| {
            head.w_2[7] += by;
            let loss = loss(&head);
            head.w_2[7] -= by;
            loss
        };
        let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        assert!((slope - gradient.w_2[7]).abs() < 2e-3 * slope.abs().max(1.0));
    }

    #[test]
    fn nothing_to_learn_from_is_no_fault() {
        let one = Example { features: vec![0.0; TableScorer::FEATURES], gold: vec![true] };
        let none = Example { features: Vec::new(), gold: Vec::new() };
        for examples in [vec![], vec![one.clone()], vec![one, none]] {
            let scores = out_of_fold(&examples, 0);
            assert_eq!(scores.len(), examples.len());
            assert!(scores.iter().flatten().all(|score| score.is_finite()));
        }
    }
}
