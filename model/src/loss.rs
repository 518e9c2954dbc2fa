//! The pairwise hinge loss (10).

use burn::tensor::{Device, Int, Tensor, TensorData, activation::relu};

use crate::batch::{Example, indices};

/// The (gold, other) pairs of a batch.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// `[pairs]`: the gold node of each pair.
    gold: Tensor<1, Int>,
    /// `[pairs]`: the other node of each pair.
    other: Tensor<1, Int>,
    /// `[pairs]`: 1 / (pairs of the question × questions with pairs).
    weight: Tensor<1>,
    /// Questions that have a pair.
    pub questions: usize,
}

impl Pairs {
    /// Every gold node with every other node of its question. A question without gold, or with
    /// nothing else, has no pair and does not count.
    pub(crate) fn new(examples: &[Example<'_>], offsets: &[usize], device: &Device) -> Option<Self> {
        let (mut gold_nodes, mut others, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (example, &first) in examples.iter().zip(offsets) {
            let nodes = example.graph.nodes();
            let mut is_gold = vec![false; nodes];
            for &node in example.gold {
                is_gold[node as usize] = true;
            }
            let of = |wanted: bool| (0..nodes).filter(|&node| is_gold[node] == wanted).collect::<Vec<_>>();
            let (gold, other) = (of(true), of(false));
            for &g in &gold {
                gold_nodes.extend(std::iter::repeat_n((first + g) as i32, other.len()));
                others.extend(other.iter().map(|&o| (first + o) as i32));
            }
            counts.push(gold.len() * other.len());
        }
        let questions = counts.iter().filter(|&&count| count > 0).count();
        if questions == 0 {
            return None;
        }
        let weight: Vec<f32> = counts
            .iter()
            .flat_map(|&count| std::iter::repeat_n(1.0 / (count as f64 * questions as f64) as f32, count))
            .collect();
        let pairs = weight.len();
        Some(Self {
            gold: indices(gold_nodes, device),
            other: indices(others, device),
            weight: Tensor::from_data(TensorData::new(weight, [pairs]), device),
            questions,
        })
    }
}

/// Mean over the questions of the mean over their (gold, other) pairs of
/// ReLU(δ + score(other) − score(gold)). `scores` is `[nodes]`, the result `[1]`.
pub fn pairwise_hinge(scores: Tensor<1>, pairs: &Pairs, margin: f32) -> Tensor<1> {
    let gold = scores.clone().select(0, pairs.gold.clone()); // [pairs]
    let other = scores.select(0, pairs.other.clone()); // [pairs]
    // Along an axis: the sum of all is made with atomics on some GPUs, in any order.
    (relu(other - gold + margin) * pairs.weight.clone()).sum_dim(0)
}
