//! What one network makes of a document and a question, and of them with something left out.

use std::collections::{BTreeMap, BTreeSet};

use super::{EDGES, EdgeEffect, Explanation};
use crate::aggregate::take_up;
use crate::config::Aggregation;
use crate::edges::Heard;
use crate::open::ModelInput;
use crate::open::edges::Edges;
use crate::open::start::Features;
use crate::open::weights::{Layer, Weights, blocks};

/// A document and a question, as nodes are initialised from them.
struct Document<'a> {
    /// u C_u, `[nodes, d_in]`
    own: &'a [f32],
    /// `[nodes, features]`, standardised.
    features: Vec<f32>,
    query: &'a ModelInput<'a>,
    /// `[nodes]`, or empty without segments.
    best: &'a [u32],
}

/// A network with what it makes of a document and a question.
pub(super) struct Laid<'a> {
    weights: &'a Weights,
    heard: &'a Heard,
    /// s(e | q) of each edge type.
    strength: Vec<f32>,
    aggregation: Aggregation,
    document: Document<'a>,
    /// x⁰ … x^L of every node.
    pub(super) all: Vec<Vec<f32>>,
}

impl<'a> Laid<'a> {
    /// `own` is u C_u, `[nodes, d_in]`.
    pub(super) fn new(
        weights: &'a Weights,
        own: &'a [f32],
        heard: &'a Heard,
        aggregation: Aggregation,
        query: &'a ModelInput<'a>,
        best: &'a [u32],
    ) -> Self {
        let (strength, features) = (weights.strength(query.q), weights.standardised(query.features));
        let document = Document { own, features, query, best };
        let mut laid = Self { weights, heard, strength, aggregation, document, all: Vec::new() };
        laid.all = laid.layers(query, best);
        laid
    }

    fn graph(&self) -> Edges<'_> {
        let Heard { offsets, edges, .. } = self.heard;
        Edges { offsets, edges, strength: &self.strength, aggregation: self.aggregation }
    }

    /// x⁰ … x^L of every node for the question, or for other segments of it.
    pub(super) fn layers(&self, query: &ModelInput<'_>, best: &[u32]) -> Vec<Vec<f32>> {
        let features = Features::Standardised(&self.document.features);
        self.weights.all_layers(self.weights.start(self.document.own, query, features, best).0, &self.graph())
    }

    /// The score of a node without what features add to it by themselves.
    pub(super) fn score(&self, all: &[Vec<f32>], node: u32) -> f32 {
        self.weights.score_without(all, &self.graph(), node, None, &|_| false)
    }

    pub(super) fn heard(&self, node: u32) -> Vec<usize> {
        self.weights.heard(&self.all, &self.graph(), node)
    }

    pub(super) fn explain(&self, node: u32, edges: &BTreeSet<usize>) -> Explanation {
        self.weights.explain(&self.all, &self.graph(), &self.document, node, edges)
    }
}

impl Weights {
    /// x⁰ … x^L of every node.
    fn all_layers(&self, x: Vec<f32>, graph: &Edges<'_>) -> Vec<Vec<f32>> {
        let nodes = graph.offsets.len().saturating_sub(1);
        let mut all = vec![x];
        for (number, layer) in self.layers.iter().enumerate() {
            let mut next = vec![0.0; nodes * layer.b.len()];
            let mut messages = Vec::new();
            for (first, out) in blocks(&mut next, layer.b.len()) {
                layer.forward(&all[number], graph, first, &mut messages, out);
            }
            all.push(next);
        }
        all
    }

    /// Of one network, the edges in the order given.
    fn explain(
        &self,
        all: &[Vec<f32>],
        graph: &Edges<'_>,
        document: &Document<'_>,
        node: u32,
        edges: &BTreeSet<usize>,
    ) -> Explanation {
        // Without what features add to the score by themselves, which no edge changes.
        let score = self.score_without(all, graph, node, None, &|_| false);
        let edges = edges.iter().map(|&edge| EdgeEffect {
            edge,
            strength: graph.strength[graph.edges[edge].1 as usize],
            effect: score - self.score_without(all, graph, node, None, &|other| other == edge),
        });
        let edges = edges.collect();

        let width = self.w_f.len();
        let features = &document.features[node as usize * width..(node as usize + 1) * width];
        let by_themselves = || features.iter().zip(&self.w_f).map(|(value, w)| value * w);
        let mut own = features.to_vec();
        let of_feature = |(feature, by_itself): (usize, f32)| {
            let value = std::mem::take(&mut own[feature]); // standardised: the mean is 0
            if value == 0.0 {
                return 0.0;
            }
            let start = self.start_of(document, node, &own);
            own[feature] = value;
            by_itself + score - self.score_without(all, graph, node, Some(start), &|_| false)
        };
        let features = by_themselves().enumerate().map(of_feature).collect();
        Explanation {
            alone: self.score_without(all, graph, node, None, &|_| true) + by_themselves().sum::<f32>(),
            edges,
            features,
            segments: Vec::new(),
        }
    }

    /// x⁰ of one node with other standardised features.
    fn start_of(&self, document: &Document<'_>, node: u32, features: &[f32]) -> Vec<f32> {
        let row = |values: &'_ [f32], width: usize| -> Vec<f32> {
            values.get(node as usize * width..(node as usize + 1) * width).map_or_else(Vec::new, <[f32]>::to_vec)
        };
        let best = document.best.get(node as usize..=node as usize).unwrap_or_default();
        let own = row(document.own, self.d.len());
        self.start(&own, document.query, Features::Standardised(features), best).0
    }

    /// The edges into a node that it hears most of, by the channels whose greatest message they bring
    /// (max) or by the size of their messages, over all layers.
    fn heard(&self, all: &[Vec<f32>], graph: &Edges<'_>, node: u32) -> Vec<usize> {
        let edges = graph.of(node);
        let mut heard = vec![0.0_f32; edges.len()];
        for (layer, x) in self.layers.iter().zip(all) {
            let message = |edge: usize, channel: usize| {
                let (source, row) = graph.edges[edge];
                graph.strength[row as usize] * x[source as usize * layer.d + channel]
            };
            for channel in 0..layer.d {
                if graph.aggregation == Aggregation::Max {
                    let mut greatest: Option<(usize, f32)> = None;
                    for edge in edges.clone() {
                        let message = message(edge, channel);
                        if greatest.is_none_or(|(_, value)| message > value) {
                            greatest = Some((edge, message));
                        }
                    }
                    if let Some((edge, _)) = greatest {
                        heard[edge - edges.start] += 1.0;
                    }
                } else {
                    edges.clone().for_each(|edge| heard[edge - edges.start] += message(edge, channel).abs());
                }
            }
        }
        let mut order: Vec<usize> = (0..heard.len()).filter(|&edge| heard[edge] > 0.0).collect();
        order.sort_by(|&a, &b| heard[b].total_cmp(&heard[a]).then(a.cmp(&b)));
        order.truncate(EDGES);
        order.into_iter().map(|edge| edges.start + edge).collect()
    }

    /// The score of a node from x^L on the document less those edges into it that `without` names, its
    /// x⁰ being `start` where that is given.
    fn score_without(
        &self,
        all: &[Vec<f32>],
        graph: &Edges<'_>,
        node: u32,
        start: Option<Vec<f32>>,
        without: &dyn Fn(usize) -> bool,
    ) -> f32 {
        let mut changed: BTreeMap<u32, Vec<f32>> = start.map(|start| (node, start)).into_iter().collect();
        for (number, layer) in self.layers.iter().enumerate() {
            let value = |at: u32| match changed.get(&at) {
                Some(values) => values.as_slice(),
                None => &all[number][at as usize * layer.d..(at as usize + 1) * layer.d],
            };
            let mut next = BTreeMap::new();
            for at in graph.within(node, self.layers.len() - 1 - number) {
                let hears = || graph.of(at).any(|edge| changed.contains_key(&graph.edges[edge].0));
                if at == node || changed.contains_key(&at) || hears() {
                    let kept = graph.of(at).filter(|&edge| at != node || !without(edge));
                    next.insert(at, layer.one(value, graph, at, kept));
                }
            }
            changed = next;
        }
        let last = changed.get(&node).map_or(&[] as &[f32], Vec::as_slice);
        self.b + last.iter().zip(&self.w).map(|(x, w)| x * w).sum::<f32>()
    }
}

impl Layer {
    /// [`Layer::forward`] for one node and some of the edges into it.
    fn one<'x>(
        &self,
        value: impl Fn(u32) -> &'x [f32],
        graph: &Edges<'_>,
        node: u32,
        edges: impl Iterator<Item = usize>,
    ) -> Vec<f32> {
        let messages: Vec<(f32, &[f32])> = edges
            .map(|edge| {
                let (source, row) = graph.edges[edge];
                (graph.strength[row as usize], value(source))
            })
            .collect();
        let mut aggregated = vec![0.0; self.d];
        take_up(&mut aggregated, graph.aggregation, messages.into_iter());
        let mut out = vec![0.0; self.b.len()];
        self.combine(value(node), &aggregated, &mut out);
        out
    }
}

impl Edges<'_> {
    /// Nodes from which the node can be reached over at most so many edges, itself among them.
    fn within(&self, node: u32, steps: usize) -> BTreeSet<u32> {
        let mut found = BTreeSet::from([node]);
        for _ in 0..steps {
            let sources = found.iter().flat_map(|&node| self.of(node)).map(|edge| self.edges[edge].0);
            let sources: Vec<u32> = sources.collect();
            found.extend(sources);
        }
        found
    }
}
