//! Block-diagonal batches: the graphs of several questions side by side, no edge between them.

use std::sync::Arc;

use burn::tensor::{Device, Int, Tensor, TensorData};
use tabsegnet_features::vectors::{dot, products};
use tabsegnet_graph::Adjacency;

use crate::activation::SharedRows;
use crate::config::ModelConfig;
use crate::edges::{EdgeIndex, Heard};
use crate::loss::{Lists, Pairs};

/// One question about one document.
#[derive(Debug, Clone, Copy)]
pub struct Example<'a> {
    /// The document's edges.
    pub graph: &'a Adjacency,
    /// `[nodes, d_enc]`: node vectors.
    pub u: &'a [f32],
    /// `[d_enc]`: the question's vector.
    pub q: &'a [f32],
    /// `[segments, d_enc]`: vectors of the question's segments; not looked at by a model without.
    pub segments: &'a [f32],
    /// `[nodes, features]`: features of the nodes; not looked at by a model without.
    pub features: &'a [f32],
    /// Gold nodes; empty when ranking.
    pub gold: &'a [u32],
}

/// An example that does not fit the model.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BatchError {
    /// A vector of another width, or not as many vectors as nodes.
    #[error("question {example} of the batch: {what} has {found} numbers, expected {expected}")]
    Width {
        /// Position in the batch.
        example: usize,
        /// `u`, `q`, `segments`, `features` or `products`.
        what: &'static str,
        /// What there is.
        found: usize,
        /// What the model and the graph ask for.
        expected: usize,
    },
    /// A model with segments was given a question without one.
    #[error(
        "question {example} of the batch has no segment, but the model was trained with segments; \
             give the whole question as its segment"
    )]
    NoSegment {
        /// Position in the batch.
        example: usize,
    },
    /// A gold node outside the document.
    #[error("question {example} of the batch: {what} {found} is not below {limit}")]
    OutOfRange {
        /// Position in the batch.
        example: usize,
        /// `gold node`.
        what: &'static str,
        /// What there is.
        found: usize,
        /// What there is room for.
        limit: usize,
    },
    /// More nodes or edges than can be numbered.
    #[error("the batch has more than 2³¹ nodes, edges or strengths; use smaller batches")]
    TooLarge,
}

/// Tensors of a batch.
#[derive(Debug, Clone)]
pub struct Batch {
    /// `[nodes, d_enc]`
    pub u: Tensor<2>,
    /// `[questions, d_enc]`
    pub q: Tensor<2>,
    /// `[segments, d_enc]`: all questions' segments.
    pub segments: Option<Tensor<2>>,
    /// Each node's question, a row of `q`, and with segments its best one, as the row that it has
    /// when `segments` stands below `q`.
    pub shared: Arc<SharedRows>,
    /// `[nodes, features]`, for a model with features.
    pub features: Option<Tensor<2>>,
    /// All edges.
    pub edges: Arc<EdgeIndex>,
    /// (gold, other) pairs for the loss; `None` where no example has both.
    pub pairs: Option<Pairs>,
    /// Nodes by question for the listwise loss; `None` where no example has gold.
    pub lists: Option<Lists>,
    /// `[questions + 1]`: question `i`'s nodes are `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
}

impl Batch {
    /// Puts examples side by side.
    pub fn new(
        examples: &[Example<'_>],
        config: &ModelConfig,
        d_enc: usize,
        device: &Device,
    ) -> Result<Self, BatchError> {
        let nodes: usize = examples.iter().map(|e| e.graph.nodes()).sum();
        let edges: usize = examples.iter().map(|e| e.graph.edges()).sum();
        let strengths = examples.len().saturating_mul(config.edge_rows());
        if [nodes, edges, strengths].into_iter().any(|count| count >= 1 << 31) {
            return Err(BatchError::TooLarge);
        }
        let mut u = Vec::with_capacity(nodes * d_enc);
        let mut q = Vec::with_capacity(examples.len() * d_enc);
        let mut features = Vec::with_capacity(nodes * config.features);
        let mut offsets = vec![0];
        for (position, example) in examples.iter().enumerate() {
            let graph_nodes = example.graph.nodes();
            if config.features > 0 {
                check(position, "features", example.features.len(), graph_nodes * config.features)?;
                features.extend_from_slice(example.features);
            }
            check(position, "u", example.u.len(), graph_nodes * d_enc)?;
            check(position, "q", example.q.len(), d_enc)?;
            if let Some(&node) = example.gold.iter().find(|&&node| node as usize >= graph_nodes) {
                let (what, found, limit) = ("gold node", node as usize, graph_nodes);
                return Err(BatchError::OutOfRange { example: position, what, found, limit });
            }
            u.extend_from_slice(example.u);
            q.extend_from_slice(example.q);
            offsets.push(offsets[position] + graph_nodes);
        }
        let (segments, shared) = if config.segments {
            let (segments, best) = segments(examples, nodes, d_enc, device)?;
            let first = examples.len() as u32;
            let rows = question_of_node(&offsets).zip(best).flat_map(|(question, best)| [question, first + best]);
            (Some(segments), SharedRows::new(2, rows.collect()))
        } else {
            (None, SharedRows::new(1, question_of_node(&offsets).collect()))
        };
        Ok(Self {
            u: Tensor::from_data(TensorData::new(u, [nodes, d_enc]), device),
            q: Tensor::from_data(TensorData::new(q, [examples.len(), d_enc]), device),
            segments,
            shared: Arc::new(shared),
            features: (config.features > 0)
                .then(|| Tensor::from_data(TensorData::new(features, [nodes, config.features]), device)),
            edges: Arc::new(join_edges(examples, config, nodes, edges)),
            pairs: Pairs::new(examples, &offsets, device),
            lists: Lists::new(examples, &offsets, device),
            offsets,
        })
    }

    /// Nodes of all questions.
    pub fn nodes(&self) -> usize {
        self.u.dims()[0]
    }

    /// About the memory in bytes that a training step on the batch takes: vectors and activations of
    /// the nodes with their gradients, and the edges. Weights are left out.
    pub fn step_bytes(&self, config: &ModelConfig) -> u64 {
        let ModelConfig { d_in, d_out, layers, features, .. } = config.resolved();
        // x⁰ before and after the tanh; of each layer the messages, two products and the result.
        let layers: usize = (0..layers).map(|layer| if layer == 0 { d_in } else { d_out } + 3 * d_out).sum();
        let node = self.u.dims()[1] + 2 * (2 * d_in + layers + features);
        // Source, strength, destination; both orders; the gradient.
        let edge = 6;
        4 * (self.nodes() as u64 * node as u64 + self.edges.len() as u64 * edge)
    }

    /// The scores of each question's nodes, from those of the batch.
    pub fn split<'a>(&'a self, scores: &'a [f32]) -> impl Iterator<Item = &'a [f32]> {
        self.offsets.windows(2).map(move |range| &scores[range[0]..range[1]])
    }
}

fn question_of_node(offsets: &[usize]) -> impl Iterator<Item = u32> {
    offsets.windows(2).zip(0..).flat_map(|(range, question)| std::iter::repeat_n(question, range[1] - range[0]))
}

fn check(example: usize, what: &'static str, found: usize, expected: usize) -> Result<(), BatchError> {
    if found == expected { Ok(()) } else { Err(BatchError::Width { example, what, found, expected }) }
}

pub(crate) fn indices(values: Vec<i32>, device: &Device) -> Tensor<1, Int> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

fn join_edges(examples: &[Example<'_>], config: &ModelConfig, nodes: usize, edges: usize) -> EdgeIndex {
    let mut offsets = Vec::with_capacity(nodes + 1);
    offsets.push(0);
    let mut sources = Vec::with_capacity(edges);
    let mut strengths = Vec::with_capacity(edges);
    let mut first_node = 0;
    for (position, example) in examples.iter().enumerate() {
        let heard = Heard::new(config, example.graph);
        let (first_edge, first_strength) = (sources.len() as u32, (position * config.edge_rows()) as u32);
        offsets.extend(heard.offsets.iter().skip(1).map(|&offset| first_edge + offset));
        sources.extend(heard.edges.iter().map(|&(source, _)| first_node + source));
        strengths.extend(heard.edges.iter().map(|&(_, row)| first_strength + row));
        first_node += example.graph.nodes() as u32;
    }
    EdgeIndex::new(offsets, sources, strengths)
}

/// All segments, and for each node the one of its question with the highest cosine to u; the first
/// of equal ones.
fn segments(
    examples: &[Example<'_>],
    nodes: usize,
    d_enc: usize,
    device: &Device,
) -> Result<(Tensor<2>, Vec<u32>), BatchError> {
    let mut vectors: Vec<f32> = Vec::new();
    let mut best = Vec::with_capacity(nodes);
    for (position, example) in examples.iter().enumerate() {
        if example.segments.is_empty() {
            return Err(BatchError::NoSegment { example: position });
        }
        let count = example.segments.len().div_ceil(d_enc.max(1));
        check(position, "segments", example.segments.len(), count * d_enc)?;
        let first = (vectors.len() / d_enc) as u32;
        best.extend(best_segments(example.u, example.segments, d_enc).into_iter().map(|best| first + best));
        vectors.extend_from_slice(example.segments);
    }
    let count = vectors.len() / d_enc;
    Ok((Tensor::from_data(TensorData::new(vectors, [count, d_enc]), device), best))
}

/// For each vector of `u` `[nodes, d_enc]` which of the segments `[segments, d_enc]` has the highest
/// cosine to it, the first of equal ones. Nothing without segments.
pub fn best_segments(u: &[f32], segments: &[f32], d_enc: usize) -> Vec<u32> {
    match segments.len().checked_div(d_enc) {
        None | Some(0) => Vec::new(),
        Some(1) => vec![0; u.len() / d_enc],
        Some(count) => {
            let vectors: Vec<&[f32]> = segments.chunks_exact(d_enc).collect();
            best_of_products(&products(u, &vectors), count, &vectors)
        }
    }
}

/// As [`best_segments`], of the dot products `[nodes, width]`, of which the last ones are those with the segments.
pub(crate) fn best_of_products(products: &[f32], width: usize, segments: &[&[f32]]) -> Vec<u32> {
    let lengths: Vec<f32> = segments.iter().map(|s| dot(s, s).sqrt()).collect();
    let best = |products: &[f32]| {
        let (mut best, mut highest) = (0, f32::NEG_INFINITY);
        for (i, (product, length)) in (0..).zip(products[width - lengths.len()..].iter().zip(&lengths)) {
            // |u| is the same for all of them.
            let cosine = if *length > 0.0 { product / length } else { 0.0 };
            if cosine > highest {
                (best, highest) = (i, cosine);
            }
        }
        best
    };
    products.chunks_exact(width.max(1)).map(best).collect()
}

#[cfg(test)]
mod tests;
