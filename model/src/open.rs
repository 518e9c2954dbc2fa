//! A document opened for many questions: what no question changes is computed once.
//!
//! On the CPU a question takes three passes over blocks of rows, every block on one thread from
//! reading to writing: the node initialisation, then for each layer aggregation, both products,
//! sum and ReLU, and with the last layer the score. Blocks stay in the core's own cache, and of the
//! `[nodes, d]` matrices only x⁰ is ever whole. Other devices take the tensors' way.

#![allow(non_snake_case)] // the paper's symbols

mod explain;

use std::sync::Arc;

use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;
use tabsegnet_data::graph::CompressedGraph;

use crate::activation::SharedRows;
use crate::activation::cpu::tanh;
use crate::batch::{Batch, BatchError, Example, best_segments};
use crate::config::{Aggregation, EdgeTypes, ModelConfig, Strength};
use crate::device::is_cpu;
use crate::product::{product, vectorised};
use crate::scorer::{FEATURE_LIMIT, TabSegNet};

pub use explain::{EdgeEffect, Explanation};

/// Least rows that a thread takes from reading to writing: their values in every step fit into a
/// core's cache, and the weights are read often enough from it to pay for packing them. Products
/// with a vector of at most 256 rows sum in another order than those of more; above it a block has
/// the bits of the whole.
const ROWS: usize = 257;

/// A question as a model sees it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// `[d_enc]`: its vector.
    pub q: &'a [f32],
    /// `[segments, d_enc]`: those of its segments; not looked at by a model without.
    pub segments: &'a [f32],
    /// `[nodes, features]`: features of the document's nodes for it; not looked at by a model without.
    pub features: &'a [f32],
}

/// A model laid out for ranking.
#[derive(Debug)]
pub struct Inference {
    model: TabSegNet,
    config: ModelConfig,
    d_enc: usize,
    device: Device,
    /// Nothing where the model does not run on the CPU.
    weights: Option<Weights>,
}

/// Weights as row-major values.
#[derive(Debug)]
struct Weights {
    /// `[d_enc, d_in]`: √d_enc C_p; empty without interaction.
    C_p: Vec<f32>,
    /// `[features, d_in]`; empty without features.
    C_f: Vec<f32>,
    /// `[features]`
    w_f: Vec<f32>,
    /// `[features]` each: mean, 1 / deviation.
    feature_scale: [Vec<f32>; 2],
    strength: Strength,
    /// `[d_enc, d_in]`: the rows of C that meet q.
    C_q: Vec<f32>,
    /// `[d_enc, d_in]`: those that meet s*; empty without segments.
    C_s: Vec<f32>,
    /// `[d_in]`
    d: Vec<f32>,
    /// `[d_enc, d_in]`
    W_q: Vec<f32>,
    /// tanh(R A + b)ᵀ, `[d_in, edge_types]`
    types: Vec<f32>,
    layers: Vec<Layer>,
    /// `[d_out]`
    w: Vec<f32>,
    b: f32,
}

#[derive(Debug)]
struct Layer {
    d: usize,
    /// `[d, d_out]`
    W_1: Vec<f32>,
    /// `[d, d_out]`
    W_2: Vec<f32>,
    /// `[d_out]`
    b: Vec<f32>,
}

/// A document's graph with what a model makes of its vectors, whatever the question.
#[derive(Debug)]
pub struct OpenGraph {
    nodes: usize,
    /// `[nodes, d_enc]` where a question meets it: with segments or interaction; else empty.
    u: Vec<f32>,
    parts: Parts,
}

#[derive(Debug)]
enum Parts {
    Cpu {
        /// u C_u, `[nodes, d_in]`
        own: Vec<f32>,
        /// `[nodes + 1]`
        offsets: Vec<u32>,
        /// `[edges]`: source and row of the strengths, by destination.
        edges: Vec<(u32, u32)>,
    },
    /// u C_u, `[nodes, d_in]`, and a batch whose question is put in place later.
    Tensors(Box<(Tensor<2>, Batch)>),
}

impl Inference {
    /// Lays a model out; `config` and `d_enc` are those that it was made with.
    pub fn new(model: TabSegNet, config: &ModelConfig, d_enc: usize, device: &Device) -> Self {
        let config = config.resolved();
        let weights = is_cpu(device).then(|| Weights::of(&model, &config, d_enc));
        Self { model, config, d_enc, device: device.clone(), weights }
    }

    /// The model.
    pub fn model(&self) -> &TabSegNet {
        &self.model
    }

    /// Opens a document: its edges and the vectors `u` `[nodes, d_enc]` of its nodes.
    ///
    /// # Errors
    /// Not as many vectors as nodes, or of another width; an edge type that the model does not know.
    pub fn open(&self, graph: &CompressedGraph, u: &[f32]) -> Result<OpenGraph, BatchError> {
        let nodes = graph.nodes();
        width("u", u.len(), nodes * self.d_enc)?;
        let parts = match &self.weights {
            Some(_) => Parts::Cpu {
                own: values(self.model.project(self.matrix(u))),
                offsets: match self.config.edge_types {
                    EdgeTypes::None => vec![0; nodes + 1],
                    EdgeTypes::Typed | EdgeTypes::Single => graph.offsets().to_vec(),
                },
                edges: self.edges(graph)?,
            },
            None => {
                let q = vec![0.0; self.d_enc];
                let features = vec![0.0; nodes * self.config.features];
                let example = Example { graph, u, q: &q, segments: &q, features: &features, gold: &[] };
                let batch = Batch::new(&[example], &self.config, self.d_enc, &self.device)?;
                Parts::Tensors(Box::new((self.model.project(batch.u.clone()), batch)))
            }
        };
        let u = if self.config.segments || self.config.interaction { u.to_vec() } else { Vec::new() };
        Ok(OpenGraph { nodes, u, parts })
    }

    fn edges(&self, graph: &CompressedGraph) -> Result<Vec<(u32, u32)>, BatchError> {
        let limit = self.config.edge_types.count();
        let row = |edge_type: u8| match self.config.edge_types {
            EdgeTypes::Typed => u32::from(edge_type),
            EdgeTypes::Single | EdgeTypes::None => 0,
        };
        if self.config.edge_types == EdgeTypes::None {
            return Ok(Vec::new());
        }
        match graph.types().iter().find(|&&edge_type| row(edge_type) as usize >= limit) {
            Some(&found) => {
                Err(BatchError::OutOfRange { example: 0, what: "edge type", found: usize::from(found), limit })
            }
            None => Ok(graph.sources().iter().zip(graph.types()).map(|(&source, &t)| (source, row(t))).collect()),
        }
    }

    /// One score a node of an open document, higher is more relevant: those of
    /// [`TabSegNet::forward`].
    ///
    /// # Errors
    /// A vector of another width; no segment for a model with segments.
    pub fn scores(&self, open: &OpenGraph, asked: &Asked<'_>) -> Result<Vec<f32>, BatchError> {
        let asked = self.check(open, asked)?;
        let Asked { q, segments, features } = asked;
        let best = best_segments(&open.u, segments, self.d_enc);
        match (&open.parts, &self.weights) {
            (Parts::Cpu { own, offsets, edges }, Some(weights)) => {
                let strength = weights.strength(q);
                let features = Features { values: features, scale: Some(&weights.feature_scale) };
                let (x, by_features) = weights.start(&open.u, own, &asked, features, &best);
                let graph = Edges { offsets, edges, strength: &strength, aggregation: self.config.aggregation };
                Ok(weights.scores(x, &by_features, &graph))
            }
            (Parts::Tensors(tensors), _) => {
                let (own, batch) = tensors.as_ref();
                let (shared, segments) = if self.config.segments {
                    let rows = best.iter().flat_map(|best| [0, 1 + best]).collect();
                    (SharedRows::new(2, rows), Some(self.matrix(segments))) // [segments, d_enc]
                } else {
                    (SharedRows::new(1, vec![0; open.nodes]), None)
                };
                let q = self.matrix(q); // [1, d_enc]
                let features = (self.config.features > 0).then(|| {
                    let shape = [open.nodes, self.config.features];
                    Tensor::from_data(TensorData::new(features.to_vec(), shape), &self.device)
                });
                let batch = Batch { q, segments, features, shared: Arc::new(shared), ..batch.clone() };
                Ok(values(self.model.forward_from(own.clone(), &batch)))
            }
            (Parts::Cpu { .. }, None) => unreachable!("a graph is opened by the inference that it is given to"),
        }
    }

    /// Checks a question's vectors; a model gets what it looks at.
    fn check<'s>(&self, open: &OpenGraph, asked: &Asked<'s>) -> Result<Asked<'s>, BatchError> {
        let Asked { q, segments, features } = *asked;
        width("q", q.len(), self.d_enc)?;
        let segments = if self.config.segments { segments } else { &[] };
        let features = if self.config.features > 0 { features } else { &[] };
        width("features", features.len(), open.nodes * self.config.features)?;
        let count = segments.len() / self.d_enc.max(1);
        width("segments", segments.len(), count * self.d_enc)?;
        if self.config.segments && count == 0 {
            return Err(BatchError::NoSegment { example: 0 });
        }
        Ok(Asked { q, segments, features })
    }

    /// Row-major vectors as a matrix `[vectors, d_enc]`.
    fn matrix(&self, vectors: &[f32]) -> Tensor<2> {
        let shape = [vectors.len() / self.d_enc.max(1), self.d_enc];
        Tensor::from_data(TensorData::new(vectors.to_vec(), shape), &self.device)
    }
}

fn width(what: &'static str, found: usize, expected: usize) -> Result<(), BatchError> {
    if found == expected { Ok(()) } else { Err(BatchError::Width { example: 0, what, found, expected }) }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    let data = tensor.into_data();
    data.try_to_vec().unwrap_or_else(|_| data.iter::<f32>().collect())
}

/// Features of the nodes.
#[derive(Debug, Clone, Copy)]
struct Features<'a> {
    /// `[nodes, features]`; empty without features.
    values: &'a [f32],
    /// Mean and 1 / deviation, `[features]` each, of values that are not standardised yet.
    scale: Option<&'a [Vec<f32>; 2]>,
}

impl<'a> Features<'a> {
    /// Those of the `rows` from `first` on, standardised, in `buffer` if need be.
    fn rows(&self, first: usize, rows: usize, width: usize, buffer: &'a mut Vec<f32>) -> &'a [f32] {
        let values = &self.values[first * width..(first + rows) * width];
        let Some(scale) = self.scale else { return values };
        buffer.clear();
        buffer.extend_from_slice(values);
        standardise(buffer, scale);
        buffer
    }
}

/// Brings rows of features to mean 0 and deviation 1, as the model was trained on.
fn standardise(rows: &mut [f32], scale: &[Vec<f32>; 2]) {
    vectorised(
        (rows, scale),
        #[inline(always)]
        |(rows, [mean, scale]): (&mut [f32], &[Vec<f32>; 2])| {
            for row in rows.chunks_exact_mut(mean.len().max(1)) {
                for ((value, mean), scale) in row.iter_mut().zip(mean).zip(scale) {
                    *value = ((*value - mean) * scale).clamp(-FEATURE_LIMIT, FEATURE_LIMIT);
                }
            }
        },
    );
}

/// What is added to u C_u before the tanh, node by node.
struct More<'a> {
    /// `[nodes, d_enc]` and `[d_enc, d]`; empty without interaction.
    u: &'a [f32],
    C_pq: &'a [f32],
    /// `[nodes, features]`, `[features, d]` and `[features]`.
    features: Features<'a>,
    C_f: &'a [f32],
    w_f: &'a [f32],
}

impl More<'_> {
    /// The part of the nodes from `first` on, onto `x` `[rows, d]`, and what their features add to the
    /// score by themselves into `by_features` `[rows]`.
    fn add(&self, first: usize, x: &mut [f32], by_features: &mut [f32], d: usize, buffer: &mut Vec<f32>) {
        let (rows, width) = (by_features.len(), self.w_f.len());
        let d_enc = self.C_pq.len() / d;
        if d_enc > 0 {
            product(x, true, &self.u[first * d_enc..(first + rows) * d_enc], self.C_pq, [rows, d_enc, d]);
        }
        if width > 0 {
            let features = self.features.rows(first, rows, width, buffer);
            product(x, true, features, self.C_f, [rows, width, d]);
            product(by_features, false, features, self.w_f, [rows, width, 1]);
        }
    }
}

/// x⁰(u) = tanh(u C_u + … + (q C_q + d) + s* C_s) (6, 7), and `[nodes]` what features add to the score
/// by themselves. `own` is `[nodes, d]`, `table` `[1 + segments, d]`, `best` `[nodes]` or empty.
fn node_init(own: &[f32], more: &More<'_>, table: &[f32], best: &[u32], d: usize) -> (Vec<f32>, Vec<f32>) {
    let (q, segments) = table.split_at(d);
    let mut x = vec![0.0; own.len()];
    let mut by_features = vec![0.0; own.len() / d];
    let outs = blocks(&mut x, d).into_par_iter().zip(blocks(&mut by_features, 1));
    outs.for_each_init(Default::default, |(sum, buffer): &mut (Vec<f32>, Vec<f32>), ((first, x), (_, by_features))| {
        let mut own = &own[first * d..first * d + x.len()];
        if !(more.C_pq.is_empty() && more.C_f.is_empty()) {
            sum.clear();
            sum.extend_from_slice(own);
            more.add(first, sum, by_features, d, buffer);
            own = sum;
        }
        let best = best.get(first..).unwrap_or_default();
        vectorised(
            (x, own, best),
            #[inline(always)]
            |(x, own, best): (&mut [f32], &[f32], &[u32])| {
                if segments.is_empty() {
                    for (x, own) in x.chunks_exact_mut(d).zip(own.chunks_exact(d)) {
                        for ((x, own), q) in x.iter_mut().zip(own).zip(q) {
                            *x = tanh(own + q);
                        }
                    }
                    return;
                }
                for ((x, own), best) in x.chunks_exact_mut(d).zip(own.chunks_exact(d)).zip(best) {
                    let s = &segments[*best as usize * d..(*best as usize + 1) * d];
                    for (((x, own), q), s) in x.iter_mut().zip(own).zip(q).zip(s) {
                        *x = tanh(own + q + s);
                    }
                }
            },
        );
    });
    (x, by_features)
}

/// Cuts `[rows, d]` into blocks, each with the number of its first row: as many as there are with
/// [`ROWS`] rows, of one length give or take a row.
fn blocks(values: &mut [f32], d: usize) -> Vec<(usize, &mut [f32])> {
    let rows = values.len() / d;
    let count = (rows / ROWS).max(1);
    let mut rest = values;
    let mut blocks = Vec::with_capacity(count);
    for block in 0..count {
        let (first, end) = (block * rows / count, (block + 1) * rows / count);
        let (own, others) = rest.split_at_mut((end - first) * d);
        blocks.push((first, own));
        rest = others;
    }
    blocks
}

/// A document's edges with their strengths for one question.
struct Edges<'a> {
    offsets: &'a [u32],
    edges: &'a [(u32, u32)],
    strength: &'a [f32],
    aggregation: Aggregation,
}

impl Edges<'_> {
    /// The aggregated messages of the nodes from `first` on into `out` `[rows, d]`.
    fn aggregate(&self, x: &[f32], d: usize, first: usize, out: &mut [f32]) {
        vectorised(
            (self, x, out),
            #[inline(always)]
            |(graph, x, out): (&Self, &[f32], &mut [f32])| {
                out.fill(0.0);
                for (node, out) in (first..).zip(out.chunks_exact_mut(d)) {
                    let edges = &graph.edges[graph.offsets[node] as usize..graph.offsets[node + 1] as usize];
                    let message = |&(source, row): &(u32, u32)| {
                        (graph.strength[row as usize], &x[source as usize * d..(source as usize + 1) * d])
                    };
                    match graph.aggregation {
                        Aggregation::Max => {
                            for (nth, edge) in edges.iter().enumerate() {
                                let (s, x) = message(edge);
                                for (out, x) in out.iter_mut().zip(x) {
                                    let candidate = s * x;
                                    *out = if nth == 0 || candidate > *out { candidate } else { *out };
                                }
                            }
                        }
                        Aggregation::Sum | Aggregation::Mean => {
                            let mean = graph.aggregation == Aggregation::Mean;
                            let share = if mean { 1.0 / edges.len().max(1) as f32 } else { 1.0 };
                            for edge in edges {
                                let (s, x) = message(edge);
                                for (out, x) in out.iter_mut().zip(x) {
                                    *out += s * share * x;
                                }
                            }
                        }
                    }
                }
            },
        );
    }
}

impl Weights {
    fn of(model: &TabSegNet, config: &ModelConfig, d_enc: usize) -> Self {
        // Every key is named here, so that none can be added without a thought of this way.
        let ModelConfig {
            preset: _,
            d_in,
            d_out,
            d_edge: _,
            layers: _,
            aggregation: _,
            segments,
            edge_types: _,
            strength,
            interaction: _,
            features: _,
            table_head: _, // its scores are among the features
        } = *config;
        let optional = |matrix: &Option<Param<Tensor<2>>>| matrix.as_ref().map_or_else(Vec::new, |m| values(m.val()));
        let scale = (d_enc as f32).sqrt();
        let layer = |(layer, conv): (usize, &crate::scorer::GraphConv)| Layer {
            d: if layer == 0 { d_in } else { d_out },
            W_1: values(conv.W_1.val()),
            W_2: values(conv.W_2.val()),
            b: values(conv.b.val()),
        };
        Self {
            C_p: optional(&model.node_init.C_p).into_iter().map(|value| scale * value).collect(),
            C_f: optional(&model.node_init.C_f),
            w_f: optional(&model.scorer.w_f),
            feature_scale: match &model.feature_scale {
                Some(known) => [values(known.mean.val()), values(known.scale.val())],
                None => [Vec::new(), Vec::new()],
            },
            strength,
            C_q: values(model.node_init.rows(1, d_enc)),
            C_s: if segments { values(model.node_init.rows(2, d_enc)) } else { Vec::new() },
            d: values(model.node_init.d.val()),
            W_q: values(model.edge_strength.W_q.val()),
            types: values(model.edge_strength.types().transpose()),
            layers: model.graph_conv.iter().enumerate().map(layer).collect(),
            w: values(model.scorer.w.val()),
            b: values(model.scorer.b.val()).first().copied().unwrap_or_default(),
        }
    }

    /// s(e | q) (5) of every edge type, `[edge_types]`.
    fn strength(&self, q: &[f32]) -> Vec<f32> {
        let d_in = self.d.len();
        let mut asked = vec![0.0; d_in]; // q W_q
        product(&mut asked, false, q, &self.W_q, [1, q.len(), d_in]);
        let mut strength = vec![0.0; self.types.len() / d_in];
        product(&mut strength, false, &asked, &self.types, [1, d_in, self.types.len() / d_in]);
        if self.strength == Strength::Residual {
            strength.iter_mut().for_each(|s| *s = 1.0 + s.tanh());
        }
        strength
    }

    /// Features `[nodes, features]` at mean 0 and deviation 1.
    fn standardised(&self, features: &[f32]) -> Vec<f32> {
        let mut standardised = features.to_vec();
        standardise(&mut standardised, &self.feature_scale);
        standardised
    }

    /// x⁰ of the nodes whose u C_u is `own`, and what features add to their scores by themselves.
    fn start(
        &self,
        u: &[f32],
        own: &[f32],
        asked: &Asked<'_>,
        features: Features<'_>,
        best: &[u32],
    ) -> (Vec<f32>, Vec<f32>) {
        let d_in = self.d.len();
        let mut C_pq = self.C_p.clone();
        for (row, q) in C_pq.chunks_exact_mut(d_in).zip(asked.q) {
            row.iter_mut().for_each(|value| *value *= q);
        }
        let more = More { u, C_pq: &C_pq, features, C_f: &self.C_f, w_f: &self.w_f };
        node_init(own, &more, &self.shared(asked.q, asked.segments), best, d_in)
    }

    /// q C_q + d, and below it s C_s of each segment: `[1 + segments, d_in]`.
    fn shared(&self, q: &[f32], segments: &[f32]) -> Vec<f32> {
        let (d_enc, d_in) = (q.len(), self.d.len());
        let count = segments.len() / d_enc;
        let mut table = vec![0.0; (1 + count) * d_in];
        let (of_q, of_segments) = table.split_at_mut(d_in);
        of_q.copy_from_slice(&self.d);
        product(of_q, true, q, &self.C_q, [1, d_enc, d_in]);
        if count > 0 {
            product(of_segments, false, segments, &self.C_s, [count, d_enc, d_in]);
        }
        table
    }

    /// Scores `[nodes]` from x⁰ and what features add by themselves.
    fn scores(&self, mut x: Vec<f32>, by_features: &[f32], graph: &Edges<'_>) -> Vec<f32> {
        let nodes = graph.offsets.len().saturating_sub(1);
        let d_out = self.w.len();
        let Some((last, inner)) = self.layers.split_last() else { return vec![self.b; nodes] };
        for layer in inner {
            let mut next = vec![0.0; nodes * d_out];
            blocks(&mut next, d_out).into_par_iter().for_each_init(Vec::new, |messages, (first, out)| {
                layer.forward(&x, graph, first, messages, out);
            });
            x = next;
        }
        let mut scores = vec![0.0; nodes];
        blocks(&mut scores, 1).into_par_iter().for_each_init(
            || (Vec::new(), Vec::new()),
            |(messages, out), (first, scores)| {
                let rows = scores.len();
                out.resize(rows * d_out, 0.0);
                last.forward(&x, graph, first, messages, out);
                product(scores, false, out, &self.w, [rows, d_out, 1]);
                if !self.w_f.is_empty() {
                    scores.iter_mut().zip(&by_features[first..]).for_each(|(score, more)| *score += more);
                }
                scores.iter_mut().for_each(|score| *score += self.b);
            },
        );
        scores
    }
}

impl Layer {
    /// ReLU(W_1 x(u) + W_2 agg s(e | q) x(v) + b) (8) of the nodes from `first` on, into `out`
    /// `[rows, d_out]`.
    fn forward(&self, x: &[f32], graph: &Edges<'_>, first: usize, messages: &mut Vec<f32>, out: &mut [f32]) {
        let (d, d_out) = (self.d, self.b.len());
        let rows = out.len() / d_out;
        messages.resize(rows * d, 0.0);
        graph.aggregate(x, d, first, messages);
        product(out, false, &x[first * d..(first + rows) * d], &self.W_1, [rows, d, d_out]);
        product(out, true, messages, &self.W_2, [rows, d, d_out]);
        vectorised(
            (out, self.b.as_slice()),
            #[inline(always)]
            |(out, b): (&mut [f32], &[f32])| {
                for out in out.chunks_exact_mut(b.len()) {
                    for (out, b) in out.iter_mut().zip(b) {
                        let sum = *out + b;
                        // Not max(0): a NaN must reach the score.
                        *out = if sum < 0.0 { 0.0 } else { sum };
                    }
                }
            },
        );
    }
}

#[cfg(test)]
mod tests;
