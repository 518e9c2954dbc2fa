//! The pairwise hinge loss (10).

use std::sync::Arc;

use burn::tensor::{Device, Int, Tensor, TensorData, activation::relu};

use crate::aggregate::aggregate;
use crate::batch::{Example, indices};
use crate::config::Aggregation;
use crate::device::is_cpu;
use crate::edges::EdgeIndex;

/// The (gold, other) pairs of a batch.
#[derive(Debug, Clone)]
pub struct Pairs {
    ends: Ends,
    /// `[pairs]`: 1 / (pairs of the question × questions with pairs).
    weight: Tensor<1>,
    /// Questions that have a pair.
    pub questions: usize,
}

/// The two nodes of each pair.
#[derive(Debug, Clone)]
enum Ends {
    /// On the processor: `[pairs]` each.
    Rows { gold: Tensor<1, Int>, other: Tensor<1, Int> },
    /// On GPUs, where burn's way back from rows goes through the pairs one after the other: edges to
    /// each pair from its gold node (strength 0) and its other node (strength 1).
    Edges(Arc<EdgeIndex>),
}

impl Ends {
    /// Of `gold` and `other` `[pairs]`, nodes of a batch of `nodes`.
    fn new(gold: Vec<i32>, other: Vec<i32>, nodes: usize, device: &Device) -> Self {
        if is_cpu(device) {
            return Self::Rows { gold: indices(gold, device), other: indices(other, device) };
        }
        let offsets = (0..=gold.len() as u32).map(|pair| 2 * pair).collect();
        let strengths = [0, 1].repeat(gold.len());
        let sources = gold.into_iter().zip(other).flat_map(|(gold, other)| [gold as u32, other as u32]).collect();
        Self::Edges(Arc::new(EdgeIndex::bipartite(nodes, offsets, sources, strengths)))
    }

    /// score(other) − score(gold) of each pair, `[pairs]`, of `scores` `[nodes]`.
    fn difference(&self, scores: Tensor<1>) -> Tensor<1> {
        match self {
            Self::Rows { gold, other } => scores.clone().select(0, other.clone()) - scores.select(0, gold.clone()),
            Self::Edges(edges) => {
                let sign = Tensor::from_data(TensorData::new(vec![-1.0_f32, 1.0], [1, 2]), &scores.device());
                aggregate(scores.unsqueeze_dim(1), sign, edges, Aggregation::Sum).squeeze_dim(1)
            }
        }
    }
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
            ends: Ends::new(gold_nodes, others, offsets.last().copied().unwrap_or_default(), device),
            weight: Tensor::from_data(TensorData::new(weight, [pairs]), device),
            questions,
        })
    }
}

/// Mean over the questions of the mean over their (gold, other) pairs of
/// ReLU(δ + score(other) − score(gold)). `scores` is `[nodes]`, the result `[1]`.
pub fn pairwise_hinge(scores: Tensor<1>, pairs: &Pairs, margin: f32) -> Tensor<1> {
    let difference = pairs.ends.difference(scores); // [pairs]
    // Along an axis: the sum of all is made with atomics on some GPUs, in any order.
    (relu(difference + margin) * pairs.weight.clone()).sum_dim(0)
}
