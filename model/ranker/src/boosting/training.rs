//! Growing trees: gradient boosting (Friedman 2001) with second derivatives, histograms of binned features and leaf-wise growth
//! (Ke et al. 2017, LightGBM), on the listwise loss: −ln softmax of each gold row over the rows of its list.

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bins::Bins;
use super::{BoostedTrees, Node};

/// How trees are grown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BoostingConfig {
    /// Trees one after the other, each on what those before leave.
    pub num_iterations: usize,
    /// Such rows of trees, alike but for the features and rows that they look at; their mean is what is said.
    pub bagged_models: usize,
    /// What a tree's values are multiplied with.
    pub learning_rate: f64,
    /// The most leaves of a tree.
    pub num_leaves: usize,
    /// The fewest rows of a leaf.
    pub min_data_in_leaf: usize,
    /// The least sum of second derivatives of a leaf.
    pub min_sum_hessian_in_leaf: f64,
    /// Weight of the squares of a leaf's value.
    pub lambda_l2: f64,
    /// Share of the features that a tree may look at.
    pub feature_fraction: f64,
    /// Share of the rows that a tree is grown on.
    pub bagging_fraction: f64,
}

impl Default for BoostingConfig {
    fn default() -> Self {
        Self {
            num_iterations: 200,
            bagged_models: 3,
            learning_rate: 0.03,
            num_leaves: 15,
            min_data_in_leaf: 60,
            min_sum_hessian_in_leaf: 0.3,
            lambda_l2: 0.3,
            feature_fraction: 0.3,
            bagging_fraction: 0.7,
        }
    }
}

impl BoostingConfig {
    /// How many trees in all.
    pub fn count(&self) -> usize {
        self.num_iterations.saturating_mul(self.bagged_models)
    }
}

/// Lists of rows, as bins.
pub struct Lists {
    bins: Bins,
    /// For each feature one bin a row.
    columns: Vec<Vec<u8>>,
    /// Rows of each list.
    lengths: Vec<usize>,
    /// For each row whether it is gold.
    gold: Vec<bool>,
}

impl Lists {
    /// None so far.
    pub fn new(bins: Bins) -> Self {
        Self { columns: vec![Vec::new(); bins.features()], bins, lengths: Vec::new(), gold: Vec::new() }
    }

    /// Adds a list of rows `[rows, features]`; one without gold teaches nothing and is passed over.
    pub fn push(&mut self, rows: &[f32], gold: &[bool]) {
        if !gold.contains(&true) {
            return;
        }
        for row in rows.chunks_exact(self.bins.features().max(1)) {
            self.columns.iter_mut().zip(self.bins.of(row)).for_each(|(column, bin)| column.push(bin));
        }
        self.lengths.push(gold.len());
        self.gold.extend_from_slice(gold);
    }

    /// How many lists have gold.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// First and second derivatives of the mean loss of each list by the scores of its rows.
    fn derivatives(&self, scores: &[f32]) -> Vec<(f32, f32)> {
        let mut found = Vec::with_capacity(scores.len());
        let mut start = 0;
        for &length in &self.lengths {
            let (scores, gold) = (&scores[start..start + length], &self.gold[start..start + length]);
            start += length;
            let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = scores.iter().map(|score| f64::from(score - greatest).exp()).sum();
            let share = 1.0 / gold.iter().filter(|gold| **gold).count() as f64;
            found.extend(scores.iter().zip(gold).map(|(score, gold)| {
                let p = f64::from(score - greatest).exp() / sum;
                let wanted = if *gold { share } else { 0.0 };
                ((p - wanted) as f32, (p * (1.0 - p)).max(1e-6) as f32)
            }));
        }
        found
    }
}

/// Sums over rows: of first and second derivatives, and their number.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    gradient: f64,
    hessian: f64,
    rows: u32,
}

impl Sums {
    fn add(&mut self, (gradient, hessian): (f32, f32)) {
        self.gradient += f64::from(gradient);
        self.hessian += f64::from(hessian);
        self.rows += 1;
    }

    fn plus(self, other: Self) -> Self {
        Self {
            gradient: self.gradient + other.gradient,
            hessian: self.hessian + other.hessian,
            rows: self.rows + other.rows,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            gradient: self.gradient - other.gradient,
            hessian: self.hessian - other.hessian,
            rows: self.rows - other.rows,
        }
    }

    /// Twice what the best value takes off the loss.
    fn gain(self, lambda_l2: f64) -> f64 {
        self.gradient * self.gradient / (self.hessian + lambda_l2)
    }
}

/// For each feature looked at the sums of each bin.
type Histogram = Vec<Vec<Sums>>;

/// The best place to split a leaf.
#[derive(Debug, Clone, Copy)]
struct Split {
    gain: f64,
    feature: usize,
    /// Rows of bins up to this go left.
    bin: u8,
    left: Sums,
}

/// A leaf that may still be split.
struct Leaf {
    node: usize,
    rows: Vec<u32>,
    sums: Sums,
    histogram: Histogram,
    split: Option<Split>,
}

/// Trees that rank the gold rows of the lists above the others. Same seed, same trees, whatever the number of
/// threads. `progress` is called with the number of trees so far.
pub fn grow(lists: &Lists, growth: &BoostingConfig, seed: u64, progress: &mut dyn FnMut(usize)) -> BoostedTrees {
    let mut goes_on = |trees| {
        progress(trees);
        true
    };
    grow_while(lists, growth, seed, &mut goes_on).unwrap_or_default()
}

/// [`grow`], which `goes_on` ends: it is called after each tree with the number of trees so far, and where it says no,
/// there are none.
pub fn grow_while(
    lists: &Lists,
    growth: &BoostingConfig,
    seed: u64,
    goes_on: &mut dyn FnMut(usize) -> bool,
) -> Option<BoostedTrees> {
    let mut trees = BoostedTrees { features: lists.bins.features(), ..BoostedTrees::default() };
    for model in 0..growth.bagged_models {
        boost(lists, growth, (seed, (model * growth.num_iterations) as u64), &mut trees, goes_on)?;
    }
    // The mean of the bagged models.
    trees.nodes.iter_mut().for_each(|node| node.value /= growth.bagged_models as f32);
    Some(trees)
}

/// Adds a bagged model; `(seed, stream)` of its first tree. Nothing where `goes_on` says no.
fn boost(
    lists: &Lists,
    growth: &BoostingConfig,
    (seed, stream): (u64, u64),
    trees: &mut BoostedTrees,
    goes_on: &mut dyn FnMut(usize) -> bool,
) -> Option<()> {
    let features = lists.bins.features();
    let mut scores = vec![0.0_f32; lists.gold.len()];
    let some = |all: usize, share: f64| ((all as f64 * share).round() as usize).clamp(1.min(all), all);
    let mut order: Vec<usize> = (0..features).collect();
    for round in 0..growth.num_iterations {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream + round as u64);
        order.sort_unstable();
        order.shuffle(&mut rng);
        let mut looked_at = order[..some(features, growth.feature_fraction)].to_vec();
        looked_at.sort_unstable();
        let rows: Vec<u32> = match growth.bagging_fraction < 1.0 {
            true => {
                (0..scores.len() as u32).filter(|_| rng.random_bool(growth.bagging_fraction.clamp(0.0, 1.0))).collect()
            }
            false => (0..scores.len() as u32).collect(),
        };
        let derivatives = lists.derivatives(&scores);
        let root = trees.nodes.len();
        let nodes = Tree { lists, growth, looked_at: &looked_at, derivatives: &derivatives }.grow(rows, root);
        trees.roots.push(root as u32);
        trees.nodes.extend(nodes);
        let said = |row: usize| {
            let mut node = &trees.nodes[root];
            while !node.is_leaf() {
                let bound = &lists.bins.bounds[node.feature as usize];
                let bin = usize::from(lists.columns[node.feature as usize][row]);
                // The threshold is the bound of one of the bins.
                let left = bound.get(bin).is_some_and(|bound| *bound <= node.threshold);
                node = &trees.nodes[if left { node.left } else { node.right() } as usize];
            }
            node.value
        };
        scores.par_iter_mut().enumerate().for_each(|(row, score)| *score += said(row));
        if !goes_on(trees.roots.len()) {
            return None;
        }
    }
    Some(())
}

/// One tree while it grows.
struct Tree<'a> {
    lists: &'a Lists,
    growth: &'a BoostingConfig,
    looked_at: &'a [usize],
    derivatives: &'a [(f32, f32)],
}

impl Tree<'_> {
    /// Its nodes, the root first; `first` is the root's number.
    fn grow(&self, rows: Vec<u32>, first: usize) -> Vec<Node> {
        let mut sums = Sums::default();
        rows.iter().for_each(|&row| sums.add(self.derivatives[row as usize]));
        let mut nodes = vec![Node::leaf(self.value(sums))];
        let histogram = self.histogram(&rows);
        let split = self.split(&histogram, sums);
        let mut leaves = vec![Leaf { node: 0, rows, sums, histogram, split }];
        while leaves.len() < self.growth.num_leaves {
            // Of equal gains the leaf that is older.
            let gains = leaves.iter().enumerate().filter_map(|(at, leaf)| Some((at, leaf.split?)));
            let best = gains.reduce(|best, next| if next.1.gain > best.1.gain { next } else { best });
            let Some((at, split)) = best else { break };
            let Leaf { node, rows, sums, histogram, .. } = leaves.remove(at);
            let column = &self.lists.columns[split.feature];
            let (left, right): (Vec<u32>, Vec<u32>) = rows.iter().partition(|&&row| column[row as usize] <= split.bin);
            let (sums_left, sums_right) = (split.left, sums.minus(split.left));
            // The fewer rows are counted, the others are what is left.
            let (of_left, of_right) = if left.len() <= right.len() {
                let of_left = self.histogram(&left);
                let of_right = difference(histogram, &of_left);
                (of_left, of_right)
            } else {
                let of_right = self.histogram(&right);
                let of_left = difference(histogram, &of_right);
                (of_left, of_right)
            };
            let below = nodes.len();
            nodes[node].feature = split.feature as u32;
            nodes[node].threshold = self.lists.bins.bounds[split.feature][usize::from(split.bin)];
            nodes[node].left = (first + below) as u32;
            for (rows, sums, histogram) in [(left, sums_left, of_left), (right, sums_right, of_right)] {
                let split = self.split(&histogram, sums);
                leaves.push(Leaf { node: nodes.len(), rows, sums, histogram, split });
                nodes.push(Node::leaf(self.value(sums)));
            }
        }
        nodes
    }

    /// A leaf's value; of one that no row reaches 0.
    fn value(&self, sums: Sums) -> f32 {
        if sums.rows == 0 {
            return 0.0;
        }
        (-sums.gradient / (sums.hessian + self.growth.lambda_l2) * self.growth.learning_rate) as f32
    }

    /// A feature at a time, rows in order: the number of threads changes nothing.
    fn histogram(&self, rows: &[u32]) -> Histogram {
        let derivatives: Vec<(f32, f32)> = rows.iter().map(|&row| self.derivatives[row as usize]).collect();
        let of_feature = |&feature: &usize| {
            let column = &self.lists.columns[feature];
            let mut bins = vec![Sums::default(); self.lists.bins.bounds[feature].len() + 1];
            for (&row, &derivatives) in rows.iter().zip(&derivatives) {
                bins[usize::from(column[row as usize])].add(derivatives);
            }
            bins
        };
        self.looked_at.par_iter().map(of_feature).collect()
    }

    fn split(&self, histogram: &Histogram, sums: Sums) -> Option<Split> {
        let BoostingConfig { min_data_in_leaf, min_sum_hessian_in_leaf, lambda_l2, .. } = *self.growth;
        let allowed = |sums: Sums| sums.rows as usize >= min_data_in_leaf && sums.hessian >= min_sum_hessian_in_leaf;
        let whole = sums.gain(lambda_l2);
        let mut best: Option<Split> = None;
        for (&feature, bins) in self.looked_at.iter().zip(histogram) {
            let mut left = Sums::default();
            for (bin, of_bin) in bins[..bins.len() - 1].iter().enumerate() {
                left = left.plus(*of_bin);
                let right = sums.minus(left);
                if of_bin.rows == 0 || !allowed(left) || !allowed(right) {
                    continue;
                }
                let gain = left.gain(lambda_l2) + right.gain(lambda_l2) - whole;
                if gain > best.map_or(1e-9, |best| best.gain) {
                    best = Some(Split { gain, feature, bin: bin as u8, left });
                }
            }
        }
        best
    }
}

fn difference(mut whole: Histogram, part: &Histogram) -> Histogram {
    for (whole, part) in whole.iter_mut().zip(part) {
        whole.iter_mut().zip(part).for_each(|(whole, part)| *whole = whole.minus(*part));
    }
    whole
}

#[cfg(test)]
mod tests;
