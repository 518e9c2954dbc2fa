//! A document opened for many questions: what no question changes is computed once.
//!
//! On the CPU a question takes three passes over blocks of rows, every block on one thread from
//! reading to writing: the node initialisation, then for each layer aggregation, both products,
//! sum and ReLU, and with the last layer the score. Blocks stay in the core's own cache, and of the
//! `[nodes, d]` matrices only x⁰ is ever whole. Other devices take the tensors' way.

#![allow(non_snake_case)] // the paper's symbols

mod edges;
mod ensemble;
mod explain;
mod start;
mod weights;

use std::sync::Arc;

use burn::tensor::{Device, Tensor, TensorData};
use tabsegnet_features::FeatureRows;
use tabsegnet_features::rows::{NO_FEATURES, all_rows};
use tabsegnet_graph::Adjacency;

use crate::activation::SharedRows;
use crate::batch::{Batch, BatchError, Example, best_of_products, best_segments};
use crate::config::ModelConfig;
use crate::device::is_cpu;
use crate::edges::Heard;
use crate::scorer::TabSegNet;

use edges::Edges;
pub use explain::{EdgeEffect, Explanation};
use start::Features;
use weights::Weights;

/// What a model sees of a question and its document. A `tabsegnet_features::Query` is the question's text; this is what the
/// encoder and the features give for it.
#[derive(Debug, Clone, Copy)]
pub struct ModelInput<'a> {
    /// `[nodes, d_enc]`: the vectors of the document's nodes, with which it was opened; not looked at by a model without
    /// segments.
    pub u: &'a [f32],
    /// `[d_enc]`: its vector.
    pub q: &'a [f32],
    /// `[segments, d_enc]`: those of its segments; not looked at by a model without.
    pub segments: &'a [f32],
    /// `[nodes, features]`: features of the document's nodes for it; not looked at by a model without.
    pub features: &'a dyn FeatureRows,
    /// `[nodes, n]`: dot products of the nodes' vectors with n others, the last of which are the segments'
    /// ([`tabsegnet_features::vectors::products`]); worked out where they are not given.
    pub products: &'a [f32],
}

/// A model laid out for ranking, or several of one kind that score together.
#[derive(Debug)]
pub struct Inference {
    networks: Vec<Network>,
    config: ModelConfig,
    d_enc: usize,
    device: Device,
}

#[derive(Debug)]
struct Network {
    model: TabSegNet,
    /// Nothing where the model does not run on the CPU.
    weights: Option<Weights>,
}

/// A document's graph with what a model makes of its vectors, whatever the question.
#[derive(Debug)]
pub struct OpenGraph {
    nodes: usize,
    heard: Heard,
    /// `[networks]`
    parts: Vec<Parts>,
}

#[derive(Debug)]
enum Parts {
    Cpu {
        /// u C_u, `[nodes, d_in]`
        own: Vec<f32>,
    },
    /// u C_u, `[nodes, d_in]`, and a batch whose question is put in place later.
    Tensors(Box<(Tensor<2>, Batch)>),
}

impl Inference {
    /// Lays a model out; `config` and `d_enc` are those that it was made with.
    pub fn new(model: TabSegNet, config: &ModelConfig, d_enc: usize, device: &Device) -> Self {
        let mut inference = Self { networks: Vec::new(), config: config.resolved(), d_enc, device: device.clone() };
        inference.add(model);
        inference
    }

    /// With more models of the same settings: the score of a node that the first model ranks well is the mean of theirs. They
    /// see the same features, those of the first one's table scorer.
    #[must_use]
    pub fn with(mut self, others: impl IntoIterator<Item = TabSegNet>) -> Self {
        others.into_iter().for_each(|model| self.add(model));
        self
    }

    fn add(&mut self, model: TabSegNet) {
        let weights = is_cpu(&self.device).then(|| Weights::of(&model, &self.config, self.d_enc));
        self.networks.push(Network { model, weights });
    }

    /// The model's settings.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The model, the first where there are several.
    pub fn model(&self) -> &TabSegNet {
        &self.networks[0].model
    }

    /// Opens a document: its edges and the vectors `u` `[nodes, d_enc]` of its nodes. Edges of types that the model was
    /// not trained with carry no message, as if they were not there.
    ///
    /// # Errors
    /// Not as many vectors as nodes, or of another width.
    pub fn open(&self, graph: &Adjacency, u: &[f32]) -> Result<OpenGraph, BatchError> {
        let nodes = graph.nodes();
        width("u", u.len(), nodes * self.d_enc)?;
        let parts = self.networks.iter().map(|network| self.parts(network, graph, u)).collect::<Result<_, _>>()?;
        Ok(OpenGraph { nodes, heard: Heard::new(&self.config, graph), parts })
    }

    /// What a network makes of a document's vectors.
    fn parts(&self, Network { model, weights }: &Network, graph: &Adjacency, u: &[f32]) -> Result<Parts, BatchError> {
        if let Some(weights) = weights {
            return Ok(Parts::Cpu { own: weights.own(u, self.d_enc) });
        }
        let q = vec![0.0; self.d_enc];
        let features = vec![0.0; graph.nodes() * self.config.features];
        let example = Example { graph, u, q: &q, segments: &q, features: &features, gold: &[] };
        let batch = Batch::new(&[example], &self.config, self.d_enc, &self.device)?;
        Ok(Parts::Tensors(Box::new((model.project(batch.u.clone()), batch))))
    }

    /// One score a node of an open document, higher is more relevant: those of
    /// [`TabSegNet::forward`].
    ///
    /// # Errors
    /// A vector of another width; no segment for a model with segments.
    pub fn scores(&self, open: &OpenGraph, query: &ModelInput<'_>) -> Result<Vec<f32>, BatchError> {
        let query = self.check(open, query)?;
        let ModelInput { u, q: _, segments, features: _, products } = query;
        let best = match products.len().checked_div(open.nodes) {
            None | Some(0) => best_segments(u, segments, self.d_enc),
            Some(width) => {
                let segments: Vec<&[f32]> = segments.chunks_exact(self.d_enc.max(1)).collect();
                best_of_products(products, width, &segments)
            }
        };
        let first = self.scores_by(&self.networks[0], &open.parts[0], open, &query, &best);
        Ok(match self.networks.len() {
            1 => first,
            _ => self.together(open, &query, &best, &first).scores(first),
        })
    }

    /// The scores by one network.
    fn scores_by(
        &self,
        network: &Network,
        parts: &Parts,
        open: &OpenGraph,
        query: &ModelInput<'_>,
        best: &[u32],
    ) -> Vec<f32> {
        let ModelInput { u: _, q, segments, features, products: _ } = *query;
        match (parts, &network.weights) {
            (Parts::Cpu { own }, Some(weights)) => {
                let strength = weights.strength(q);
                let (x, by_features) = weights.start(own, query, Features::Raw(features), best);
                let Heard { offsets, edges, .. } = &open.heard;
                let graph = Edges { offsets, edges, strength: &strength, aggregation: self.config.aggregation };
                weights.scores(x, &by_features, &graph, &vec![open.nodes; self.config.layers])
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
                    Tensor::from_data(TensorData::new(all_rows(features, self.config.features), shape), &self.device)
                });
                let batch = Batch { q, segments, features, shared: Arc::new(shared), ..batch.clone() };
                values(network.model.forward_from(own.clone(), &batch))
            }
            (Parts::Cpu { .. }, None) => unreachable!("a graph is opened by the inference that it is given to"),
        }
    }

    /// Checks a question's vectors; a model gets what it looks at.
    fn check<'s>(&self, open: &OpenGraph, query: &ModelInput<'s>) -> Result<ModelInput<'s>, BatchError> {
        let ModelInput { u, q, segments, features, products } = *query;
        width("q", q.len(), self.d_enc)?;
        let u = if self.config.segments { u } else { &[] };
        if self.config.segments {
            width("u", u.len(), open.nodes * self.d_enc)?;
        }
        let segments = if self.config.segments { segments } else { &[] };
        let features = if self.config.features > 0 { features } else { NO_FEATURES };
        width("features", features.numbers(), open.nodes * self.config.features)?;
        let count = segments.len() / self.d_enc.max(1);
        width("segments", segments.len(), count * self.d_enc)?;
        if self.config.segments && count == 0 {
            return Err(BatchError::NoSegment { example: 0 });
        }
        let products = if self.config.segments { products } else { &[] };
        let n = products.len().checked_div(open.nodes).unwrap_or_default();
        width("products", products.len(), if products.is_empty() { 0 } else { n.max(count) * open.nodes })?;
        Ok(ModelInput { u, q, segments, features, products })
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

#[cfg(test)]
pub(crate) mod tests;
