//! Several networks on one document: all nodes are scored by the first, those that it ranks best by the others too.
//!
//! A score of a node needs the nodes from which it can be reached over as many edges as there are layers, no others, so
//! that the further networks cost a fraction of the first on a long document, and nothing else changes for the nodes
//! that they score.

use tabsegnet_features::rows::Rows;

use super::edges::Edges;
use super::start::Features;
use super::weights::Weights;
use super::{Inference, ModelInput, OpenGraph, Parts};
use crate::best::best;
use crate::edges::Heard;

/// Nodes that every network scores: more than the reranker looks at. With 256 whole reports are ranked alike.
const SCORED_BY_ALL: usize = 128;

/// What each network says of the nodes that all of them score.
pub(super) struct Together {
    /// The nodes, in document order.
    pub(super) nodes: Vec<u32>,
    /// `[nodes]`: the mean of all networks' scores, the first's included.
    mean: Vec<f32>,
}

impl Together {
    /// One score a node of the document: the mean where all networks have one, elsewhere the first's, brought to the mean's
    /// level, as networks learn differences of scores and not their height.
    pub(super) fn scores(&self, mut first: Vec<f32>) -> Vec<f32> {
        let shift = self.shift(&first);
        first.iter_mut().for_each(|score| *score += shift);
        self.nodes.iter().zip(&self.mean).for_each(|(&node, mean)| first[node as usize] = *mean);
        first
    }

    /// By how much the mean lies above the first network's scores.
    pub(super) fn shift(&self, first: &[f32]) -> f32 {
        let above = self.nodes.iter().zip(&self.mean).map(|(&node, mean)| mean - first[node as usize]);
        above.sum::<f32>() / self.nodes.len().max(1) as f32
    }
}

impl Inference {
    /// What all networks make of the nodes that the first one's scores `[nodes]` put in front.
    pub(super) fn together(
        &self,
        open: &OpenGraph,
        query: &ModelInput<'_>,
        best_segments: &[u32],
        first: &[f32],
    ) -> Together {
        let mut nodes: Vec<u32> = best(first, SCORED_BY_ALL).into_iter().map(|node| node as u32).collect();
        nodes.sort_unstable();
        let part = Part::new(&open.heard, &nodes, self.config.layers);
        let rows = Rows::new(query.features, self.config.features, &part.nodes);
        let mut mean: Vec<f32> = nodes.iter().map(|&node| first[node as usize]).collect();
        for (network, parts) in self.networks.iter().zip(&open.parts).skip(1) {
            let more = match (parts, &network.weights) {
                (Parts::Cpu { own }, Some(weights)) => {
                    let strength = weights.strength(query.q);
                    let aggregation = self.config.aggregation;
                    let graph = Edges { offsets: &part.offsets, edges: &part.edges, strength: &strength, aggregation };
                    part.scores(weights, own, query, &rows, best_segments, &graph)
                }
                _ => {
                    let all = self.scores_by(network, parts, open, query, best_segments);
                    nodes.iter().map(|&node| all[node as usize]).collect()
                }
            };
            mean.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        let networks = self.networks.len() as f32;
        mean.iter_mut().for_each(|sum| *sum /= networks);
        Together { nodes, mean }
    }
}

/// The part of a document that some of its nodes hear.
struct Part {
    /// The nodes to score, then those with an edge to them, then those with one to these, and so on.
    nodes: Vec<u32>,
    /// `[layers + 1]`: of how many nodes, the first of `nodes`, x^L, x^(L-1) … x⁰ is needed.
    within: Vec<usize>,
    /// Edges into the nodes of x¹, by their places in `nodes`.
    offsets: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

impl Part {
    fn new(heard: &Heard, scored: &[u32], layers: usize) -> Self {
        const NOWHERE: u32 = u32::MAX;
        let mut place = vec![NOWHERE; heard.offsets.len().saturating_sub(1)];
        let mut nodes = scored.to_vec();
        (0..).zip(scored).for_each(|(at, &node)| place[node as usize] = at);
        let (mut within, mut offsets, mut edges) = (vec![nodes.len()], vec![0], Vec::new());
        for _ in 0..layers {
            for at in offsets.len() - 1..nodes.len() {
                let node = nodes[at] as usize;
                for &(source, row) in &heard.edges[heard.offsets[node] as usize..heard.offsets[node + 1] as usize] {
                    let at = &mut place[source as usize];
                    if *at == NOWHERE {
                        *at = nodes.len() as u32;
                        nodes.push(source);
                    }
                    edges.push((*at, row));
                }
                offsets.push(edges.len() as u32);
            }
            within.push(nodes.len());
        }
        Self { nodes, within, offsets, edges }
    }

    /// The scores of the nodes to score. `own` is `[nodes of the document, d_in]`, `rows` the features of the part's nodes.
    fn scores(
        &self,
        weights: &Weights,
        own: &[f32],
        query: &ModelInput<'_>,
        rows: &Rows<'_>,
        best_segments: &[u32],
        graph: &Edges<'_>,
    ) -> Vec<f32> {
        let d = weights.d.len();
        let mut of_part = Vec::with_capacity(self.nodes.len() * d);
        self.nodes.iter().for_each(|&node| of_part.extend_from_slice(&own[node as usize * d..(node as usize + 1) * d]));
        let segments: Vec<u32> =
            self.nodes.iter().filter_map(|&node| best_segments.get(node as usize)).copied().collect();
        let (x, by_features) = weights.start(&of_part, query, Features::Raw(rows, &weights.feature_scale), &segments);
        let needed: Vec<usize> = self.within.iter().rev().skip(1).copied().collect();
        weights.scores(x, &by_features, graph, &needed)
    }
}
