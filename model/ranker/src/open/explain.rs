//! What a node's score comes from: its own part, and what each edge into it, each of its features
//! and each segment of the question adds.
//!
//! Effects are exact, by leaving one out: the score less the score of the same model on the same
//! document without that edge, with that feature of the node at its mean over the training part, or
//! without that segment. Of an edge or a feature only what it changes is computed again: the node
//! itself in each layer, and nodes on the way back to it. A missing segment changes every node.

mod network;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::weights::Weights;
use super::{Inference, ModelInput, OpenGraph, Parts, values};
use crate::batch::{BatchError, best_segments};
use network::Laid;

/// Edges whose effect is computed: those that the node hears most of.
const EDGES: usize = 64;

/// Where a node's score comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// The score if no edge led to the node.
    pub alone: f32,
    /// Edges that the node hears, the greatest effect by amount first, at most 64. An edge that is
    /// not here has no channel's greatest message in any layer (max), or is quieter than all that
    /// are.
    pub edges: Vec<EdgeEffect>,
    /// `[features]`: the score less that with this feature of the node at its mean over the training
    /// part; empty for a model without features.
    pub features: Vec<f32>,
    /// `[segments]`: the score less that without this segment, of which the question itself takes the
    /// place where it is the only one; empty for a model without segments.
    pub segments: Vec<f32>,
}

/// One edge into the node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeEffect {
    /// Position in the document's [`tabsegnet_graph::Adjacency`].
    pub edge: usize,
    /// s(e | q) (5).
    pub strength: f32,
    /// The score less that without the edge. Effects need not add up: without one edge another may
    /// take its place.
    pub effect: f32,
}

impl Inference {
    /// s(e | q) (5) of each edge type for a question `[d_enc]`, in the order of [`crate::ModelConfig::edge_type_names`]; a
    /// single one for a model that does not tell them apart; of several models the mean.
    ///
    /// # Errors
    /// A vector of another width.
    pub fn strengths(&self, q: &[f32]) -> Result<Vec<f32>, BatchError> {
        super::width("q", q.len(), self.d_enc)?;
        let mut made = Vec::new();
        let mut of_networks = self.weights(&mut made).into_iter().map(|weights| weights.strength(q));
        let first = of_networks.next().unwrap_or_default();
        let sum = of_networks.fold(first, |sum, more| sum.iter().zip(more).map(|(a, b)| a + b).collect());
        Ok(sum.into_iter().map(|strength| strength / self.networks.len() as f32).collect())
    }

    /// Explanations of the scores of some nodes, for a question as in [`Inference::scores`]. Always computed on the processor.
    ///
    /// # Errors
    /// As [`Inference::scores`].
    pub fn explain(
        &self,
        open: &OpenGraph,
        query: &ModelInput<'_>,
        nodes: &[u32],
    ) -> Result<Vec<Explanation>, BatchError> {
        let query = self.check(open, query)?;
        let best = best_segments(query.u, query.segments, self.d_enc);
        let mut made = Vec::new();
        let weights = self.weights(&mut made);
        let own: Vec<Cow<'_, [f32]>> = open.parts.iter().map(Parts::own).collect();
        let laid = weights.iter().zip(&own);
        let laid: Vec<Laid<'_>> = laid
            .map(|(weights, own)| Laid::new(weights, own, &open.heard, self.config.aggregation, &query, &best))
            .collect();
        let (together, shift) = self.scored_together(open, &query, &best);
        // A node that the first network alone has scored is explained by it alone.
        let by = |node: &u32| if together.binary_search(node).is_ok() { laid.as_slice() } else { &laid[..1] };
        // Of each node the edges that some network hears most of.
        let edges_of = |node: &u32| by(node).iter().flat_map(|laid| laid.heard(*node)).collect::<BTreeSet<usize>>();
        let mut explained: Vec<Explanation> = nodes
            .iter()
            .map(|node| {
                let edges = edges_of(node);
                let mut explained = Explanation::default();
                by(node).iter().for_each(|laid| explained.add(laid.explain(*node, &edges)));
                explained
            })
            .collect();
        let segments = query.segments.len() / self.d_enc.max(1);
        explained.iter_mut().for_each(|explanation| explanation.segments.resize(segments, 0.0));
        for left_out in 0..segments {
            let kept = self.segments_without(&query, left_out);
            let query = ModelInput { segments: &kept, products: &[], ..query };
            let best = best_segments(query.u, &kept, self.d_enc);
            for (network, laid) in laid.iter().enumerate() {
                let without = laid.layers(&query, &best);
                let scored = nodes.iter().zip(&mut explained).filter(|(node, _)| network < by(node).len());
                for (&node, explanation) in scored {
                    explanation.segments[left_out] += laid.score(&laid.all, node) - laid.score(&without, node);
                }
            }
        }
        for (node, explanation) in nodes.iter().zip(&mut explained) {
            explanation.finish(by(node).len() as f32);
            if by(node).len() < laid.len() {
                explanation.alone += shift;
            }
            explanation.edges.iter_mut().for_each(|edge| edge.edge = open.heard.position(edge.edge));
        }
        Ok(explained)
    }

    /// `[segments - 1, d_enc]`, or the question where that would be none.
    fn segments_without(&self, query: &ModelInput<'_>, left_out: usize) -> Vec<f32> {
        let all = query.segments.chunks_exact(self.d_enc).enumerate();
        let kept: Vec<f32> =
            all.filter(|(segment, _)| *segment != left_out).flat_map(|(_, vector)| vector).copied().collect();
        if kept.is_empty() { query.q.to_vec() } else { kept }
    }

    /// The nodes that all networks score, in document order, and how far the scores of the others are moved.
    fn scored_together(&self, open: &OpenGraph, query: &ModelInput<'_>, best: &[u32]) -> (Vec<u32>, f32) {
        if self.networks.len() == 1 {
            return ((0..open.nodes as u32).collect(), 0.0);
        }
        let first = self.scores_by(&self.networks[0], &open.parts[0], open, query, best);
        let together = self.together(open, query, best, &first);
        let shift = together.shift(&first);
        (together.nodes, shift)
    }

    /// The weights of each network, those that are not laid out in `made`.
    fn weights<'s>(&'s self, made: &'s mut Vec<Weights>) -> Vec<&'s Weights> {
        let on_device = self.networks.iter().filter(|network| network.weights.is_none());
        made.extend(on_device.map(|network| Weights::of(&network.model, &self.config, self.d_enc)));
        let mut made = made.iter();
        self.networks.iter().filter_map(|network| network.weights.as_ref().or_else(|| made.next())).collect()
    }
}

impl Parts {
    /// u C_u, `[nodes, d_in]`.
    fn own(&self) -> Cow<'_, [f32]> {
        match self {
            Self::Cpu { own } => Cow::Borrowed(own),
            Self::Tensors(tensors) => Cow::Owned(values(tensors.0.clone())),
        }
    }
}

impl Explanation {
    /// Adds up with what another network says of the same node and edges.
    fn add(&mut self, Self { alone, edges, features, segments: _ }: Self) {
        self.alone += alone;
        if self.edges.is_empty() && self.features.is_empty() {
            (self.edges, self.features) = (edges, features);
            return;
        }
        for (edge, more) in self.edges.iter_mut().zip(edges) {
            edge.strength += more.strength;
            edge.effect += more.effect;
        }
        self.features.iter_mut().zip(features).for_each(|(effect, more)| *effect += more);
    }

    /// From sums over networks to means; of the edges those with the greatest effects by amount.
    fn finish(&mut self, networks: f32) {
        self.alone /= networks;
        for edge in &mut self.edges {
            edge.strength /= networks;
            edge.effect /= networks;
        }
        self.features.iter_mut().chain(&mut self.segments).for_each(|effect| *effect /= networks);
        self.edges.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()).then(a.edge.cmp(&b.edge)));
        self.edges.truncate(EDGES);
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use proptest::prelude::*;
    use tabsegnet_features::FeatureRows;
    use tabsegnet_graph::{Adjacency, TypeNames};

    use super::super::tests::{D_ENC, config, model, model_of_seed, noise};
    use super::*;
    use crate::config::{Aggregation, EdgeTypes, ModelConfig};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        #[test]
        fn an_effect_is_the_score_less_that_of_the_document_without_the_edge(
            nodes in 1..30_usize, edges in 0..60_usize, seed in 0..1000_u32, layers in 1..4_usize, pick in 0..18_usize,
            on_cpu: bool, models in 1..4_u64,
        ) {
            let config = config(layers, pick);
            // A model without edges is no case of an edge's effect.
            let edges = if config.edge_types == EdgeTypes::None { 0 } else { edges };
            let picks = noise(edges * 3, seed);
            let place = |value: f32, below: usize| (((value + 1.0) / 2.0 * below as f32) as u32).min(below as u32 - 1);
            let edges: Vec<(u32, u32, u8)> = picks
                .chunks_exact(3)
                .map(|p| (place(p[0], nodes), place(p[1], nodes), place(p[2], 8) as u8))
                .collect();
            let graph = Adjacency::new(nodes, TypeNames::default(), &edges).unwrap();
            let device = Device::flex();
            let others = (1..models).map(|seed| model_of_seed(&config, &device, 3 + seed));
            let mut inference = Inference::new(model(&config, &device), &config, D_ENC, &device).with(others);
            if !on_cpu {
                inference.networks.iter_mut().for_each(|network| network.weights = None);
            }
            let u = noise(nodes * D_ENC, 7);
            let (q, segments) = (noise(D_ENC, 11), noise(3 * D_ENC, 13));
            let features = noise(nodes * config.features, 17);
            let query = ModelInput { u: &u, q: &q, segments: &segments, features: &features, products: &[] };
            let scores = |graph: &Adjacency| {
                inference.scores(&inference.open(graph, &u).unwrap(), &query).unwrap()
            };
            let node = place(picks.first().copied().unwrap_or_default(), nodes);
            let open = inference.open(&graph, &u).unwrap();
            let explained = inference.explain(&open, &query, &[node]).unwrap().remove(0);
            let all: Vec<(u32, u32, u8)> = graph.iter().collect();
            let without = |left: &dyn Fn(usize) -> bool| {
                let kept: Vec<_> =
                    all.iter().enumerate().filter(|(edge, _)| !left(*edge)).map(|(_, edge)| *edge).collect();
                scores(&Adjacency::new(nodes, TypeNames::default(), &kept).unwrap())[node as usize]
            };
            let score = without(&|_| false);
            // An effect is a difference of scores: it is as near as they are, and their rounding grows with the number
            // of edges that are summed.
            let in_edges = (0..nodes as u32).map(|node| all.iter().filter(|edge| edge.1 == node).count());
            let terms = match config.aggregation {
                Aggregation::Sum => in_edges.max().unwrap_or(0).max(1),
                Aggregation::Max | Aggregation::Mean => 1,
            };
            let near = |a: f32, b: f32| (a - b).abs() < 1e-4 * terms as f32 * b.abs().max(score.abs()).max(1.0);
            let alone = without(&|edge| all[edge].1 == node);
            prop_assert!(near(explained.alone, alone), "alone {} against {alone}", explained.alone);
            let mut effects = vec![0.0; all.len()];
            explained.edges.iter().for_each(|found| effects[found.edge] = found.effect);
            for (edge, effect) in effects.iter().enumerate().filter(|(edge, _)| all[*edge].1 == node) {
                let expected = score - without(&|other| other == edge);
                prop_assert!(near(*effect, expected), "edge {edge}: {effect} against {expected}");
            }

            let asking = |segments: &[f32], features: &dyn FeatureRows| {
                let query = ModelInput { u: &u, q: &q, segments, features, products: &[] };
                inference.scores(&open, &query).unwrap()[node as usize]
            };
            prop_assert_eq!(explained.features.len(), config.features);
            let mean = noise(config.features, 19); // that of the model
            for (feature, effect) in explained.features.iter().enumerate() {
                let mut others = features.clone();
                others[node as usize * config.features + feature] = mean[feature];
                let expected = score - asking(&segments, &others);
                prop_assert!(near(*effect, expected), "feature {feature}: {effect} against {expected}");
            }
            prop_assert_eq!(explained.segments.len(), if config.segments { 3 } else { 0 });
            for (segment, effect) in explained.segments.iter().enumerate() {
                let kept: Vec<f32> =
                    segments.chunks(D_ENC).enumerate().filter(|(s, _)| *s != segment).flat_map(|(_, v)| v).copied().collect();
                let expected = score - asking(&kept, &features);
                prop_assert!(near(*effect, expected), "segment {segment}: {effect} against {expected}");
            }
        }
    }

    #[test]
    fn the_question_takes_the_place_of_the_only_segment() {
        let config = ModelConfig { segments: true, ..config(1, 0) };
        let device = Device::flex();
        let inference = Inference::new(model(&config, &device), &config, D_ENC, &device);
        let (u, q, segment) = (noise(2 * D_ENC, 7), noise(D_ENC, 11), noise(D_ENC, 13));
        let open = inference.open(&Adjacency::new(2, TypeNames::default(), &[(0, 1, 0)]).unwrap(), &u).unwrap();
        let features = noise(2 * config.features, 17);
        let with = |segments| ModelInput { u: &u, q: &q, segments, features: &features, products: &[] };
        let scores = [&segment, &q].map(|segments| inference.scores(&open, &with(segments)).unwrap()[1]);
        let effect = inference.explain(&open, &with(&segment), &[1]).unwrap()[0].segments[0];
        assert!((effect - (scores[0] - scores[1])).abs() < 1e-5);
    }
}
