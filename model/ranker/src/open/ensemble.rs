//! Several networks on one document: all nodes are scored by the first, those that it ranks best by the others too.
//!
//! A score of a node needs the nodes from which it can be reached over as many edges as there are layers, no others, so
//! that the further networks cost a fraction of the first on a long document, and nothing else changes for the nodes
//! that they score.

use super::edges::Edges;
use super::start::{Features, Start, Started, node_init};
use super::weights::Weights;
use super::{Inference, ModelInput, Network, OpenGraph, Parts};
use crate::best::best;
use crate::edges::Heard;

/// Nodes that every network scores. With 128 and 256 whole reports are ranked alike.
const SCORED_BY_ALL: usize = 64;

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
        let mut mean: Vec<f32> = nodes.iter().map(|&node| first[node as usize]).collect();
        for more in self.more_scores(open, query, best_segments, &nodes) {
            mean.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        let networks = self.networks.len() as f32;
        mean.iter_mut().for_each(|sum| *sum /= networks);
        Together { nodes, mean }
    }

    /// What each network but the first makes of `nodes`, `[networks - 1, nodes]`.
    fn more_scores(
        &self,
        open: &OpenGraph,
        query: &ModelInput<'_>,
        best_segments: &[u32],
        nodes: &[u32],
    ) -> Vec<Vec<f32>> {
        let others = || self.networks.iter().zip(&open.parts).skip(1);
        let Some(weights) = others().map(of_cpu).collect::<Option<Vec<_>>>() else {
            let all = others().map(|(network, parts)| self.scores_by(network, parts, open, query, best_segments));
            return all.map(|all| nodes.iter().map(|&node| all[node as usize]).collect()).collect();
        };
        let part = Part::new(&open.heard, nodes, self.config.layers);
        let starts: Vec<Start<'_>> = weights.iter().map(|(weights, own)| weights.begin(own, query)).collect();
        let started = node_init(&starts, Some(&part.nodes), Features::Raw(query.features), best_segments);
        let scores = |((weights, _), (x, by_features)): ((&Weights, _), Started)| {
            let strength = weights.strength(query.q);
            let aggregation = self.config.aggregation;
            let graph = Edges { offsets: &part.offsets, edges: &part.edges, strength: &strength, aggregation };
            let needed: Vec<usize> = part.within.iter().rev().skip(1).copied().collect();
            weights.scores(x, &by_features, &graph, &needed)
        };
        weights.into_iter().zip(started).map(scores).collect()
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
}

/// What a network on the CPU makes of a document's vectors.
fn of_cpu<'a>((network, parts): (&'a Network, &'a Parts)) -> Option<(&'a Weights, &'a [f32])> {
    match (parts, &network.weights) {
        (Parts::Cpu { own }, Some(weights)) => Some((weights, own)),
        _ => None,
    }
}
