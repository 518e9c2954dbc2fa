//! The pairwise hinge loss (10), and a listwise one.

use std::sync::Arc;

use burn::tensor::{Device, Int, Tensor, TensorData, activation::relu};

use crate::aggregate::aggregate;
use crate::batch::{Example, indices};
use crate::config::Aggregation;
use crate::device::is_cpu;
use crate::edges::EdgeIndex;
use crate::linear::{row_sum, total};

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
    /// On the processor: gold and other node, `[pairs]` each.
    Rows(Box<[Tensor<1, Int>; 2]>),
    /// On GPUs, where burn's way back from rows goes through the pairs one after the other: edges to
    /// each pair from its gold node (strength 0) and its other node (strength 1).
    Edges(Arc<EdgeIndex>),
}

impl Ends {
    /// Of `gold` and `other` `[pairs]`, nodes of a batch of `nodes`.
    fn new(gold: Vec<i32>, other: Vec<i32>, nodes: usize, device: &Device) -> Self {
        if is_cpu(device) {
            return Self::Rows(Box::new([indices(gold, device), indices(other, device)]));
        }
        let offsets = (0..=gold.len() as u32).map(|pair| 2 * pair).collect();
        let strengths = [0, 1].repeat(gold.len());
        let sources = gold.into_iter().zip(other).flat_map(|(gold, other)| [gold as u32, other as u32]).collect();
        Self::Edges(Arc::new(EdgeIndex::bipartite(nodes, offsets, sources, strengths)))
    }

    /// score(other) − score(gold) of each pair, `[pairs]`, of `scores` `[nodes]`.
    fn difference(&self, scores: Tensor<1>) -> Tensor<1> {
        match self {
            Self::Rows(rows) => {
                let [gold, other] = rows.as_ref().clone();
                scores.clone().select(0, other) - scores.select(0, gold)
            }
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
    total(relu(difference + margin) * pairs.weight.clone())
}

/// The nodes of each question of a batch.
#[derive(Debug, Clone)]
pub struct Lists {
    /// From each node to its question, and back.
    to_question: Arc<EdgeIndex>,
    to_node: Arc<EdgeIndex>,
    /// `[questions, 1]`: 1 / questions with gold, or 0 for one without.
    question_weight: Tensor<2>,
    /// `[nodes, 1]`: of a gold node 1 / (gold nodes of its question × questions with gold), else 0.
    gold_weight: Tensor<2>,
    /// Questions that have gold.
    pub questions: usize,
}

impl Lists {
    /// A question without gold does not count.
    pub(crate) fn new(examples: &[Example<'_>], offsets: &[usize], device: &Device) -> Option<Self> {
        let questions = examples.iter().filter(|example| !example.gold.is_empty()).count();
        if questions == 0 {
            return None;
        }
        let nodes = offsets.last().copied().unwrap_or_default();
        let mut question_weight = Vec::with_capacity(examples.len());
        let mut gold_weight = vec![0.0; nodes];
        let mut question = Vec::with_capacity(nodes);
        for (number, (example, range)) in (0..).zip(examples.iter().zip(offsets.windows(2))) {
            question.extend(std::iter::repeat_n(number, range[1] - range[0]));
            let has_gold = f32::from(u8::from(!example.gold.is_empty()));
            question_weight.push(has_gold / questions as f32);
            for &gold in example.gold {
                gold_weight[range[0] + gold as usize] = 1.0 / (example.gold.len() * questions) as f32;
            }
        }
        let of_questions = offsets.iter().map(|&offset| offset as u32).collect();
        let one_each = (0..=nodes as u32).collect();
        let column = |values: Vec<f32>| {
            let shape = [values.len(), 1];
            Tensor::from_data(TensorData::new(values, shape), device)
        };
        Some(Self {
            to_question: Arc::new(EdgeIndex::bipartite(
                nodes,
                of_questions,
                (0..nodes as u32).collect(),
                vec![0; nodes],
            )),
            to_node: Arc::new(EdgeIndex::bipartite(examples.len(), one_each, question, vec![0; nodes])),
            question_weight: column(question_weight),
            gold_weight: column(gold_weight),
            questions,
        })
    }
}

/// Mean over the questions, and over the gold nodes of each, of −ln softmax(score) over all nodes of
/// the question. `scores` is `[nodes]`, the result `[1]`.
pub fn listwise(scores: Tensor<1>, lists: &Lists) -> Tensor<1> {
    let scores = scores.unsqueeze_dim::<2>(1); // [nodes, 1]
    let one = || Tensor::<2>::ones([1, 1], &scores.device());
    // What is taken off cancels out; it keeps the exponentials finite.
    let top = aggregate(scores.clone().detach(), one(), &lists.to_question, Aggregation::Max); // [questions, 1]
    let shifted = scores.clone() - aggregate(top, one(), &lists.to_node, Aggregation::Sum); // [nodes, 1]
    let sums = aggregate(shifted.clone().exp(), one(), &lists.to_question, Aggregation::Sum); // [questions, 1]
    // A question without nodes has no sum; its weight is 0.
    let all = row_sum(sums.clamp_min(f32::MIN_POSITIVE).log() * lists.question_weight.clone());
    (all - row_sum(shifted * lists.gold_weight.clone())).squeeze_dim(1)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use tabsegnet_graph::{Adjacency, TypeNames};

    use super::*;

    #[test]
    fn the_listwise_loss_and_its_gradient_are_those_of_softmax() {
        let device = Device::flex().autodiff();
        let graphs = [3, 1, 4].map(|nodes| Adjacency::new(nodes, TypeNames::default(), &[]).unwrap());
        let golds: [&[u32]; 3] = [&[0, 2], &[], &[1]];
        let examples: Vec<Example<'_>> = graphs
            .iter()
            .zip(golds)
            .map(|(graph, gold)| Example { graph, u: &[], q: &[], segments: &[], features: &[], gold })
            .collect();
        let lists = Lists::new(&examples, &[0, 3, 4, 8], &device).unwrap();
        let values = [0.5_f32, -1.0, 2.0, 7.0, 100.0, 99.0, 98.0, 0.0];
        let scores = Tensor::<1>::from_data(TensorData::new(values.to_vec(), [8]), &device).require_grad();
        let loss = listwise(scores.clone(), &lists);
        let gradients = loss.backward();
        let softmax = |values: &[f32]| {
            let top = values.iter().fold(f32::MIN, |a, b| a.max(*b));
            let sum: f32 = values.iter().map(|value| (value - top).exp()).sum();
            values.iter().map(|value| (value - top).exp() / sum).collect::<Vec<_>>()
        };
        let (first, last) = (softmax(&values[..3]), softmax(&values[4..]));
        let expected = (-(first[0].ln() + first[2].ln()) / 2.0 - last[1].ln()) / 2.0;
        let found: Vec<f32> = loss.into_data().iter::<f32>().collect();
        assert!((found[0] - expected).abs() < 1e-5, "{found:?} {expected}");
        let gradient: Vec<f32> = scores.grad(&gradients).unwrap().into_data().iter::<f32>().collect();
        let of = |softmax: &[f32], gold: &[f32]| {
            softmax.iter().zip(gold).map(|(p, gold)| (p - gold) / 2.0).collect::<Vec<_>>()
        };
        let expected = [of(&first, &[0.5, 0.0, 0.5]), vec![0.0], of(&last, &[0.0, 1.0, 0.0, 0.0])].concat();
        for (found, expected) in gradient.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6, "{gradient:?} {expected:?}");
        }
    }
}
