use proptest::prelude::*;
use tabsegnet_features::vectors::products;
use tabsegnet_graph::TypeNames;

use super::*;
use crate::config::{Aggregation, EdgeTypes, Strength};

pub(super) const D_ENC: usize = 12;

/// Numbers in [−1, 1) that look random.
pub(crate) fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

pub(super) fn config(layers: usize, pick: usize) -> ModelConfig {
    ModelConfig {
        d_in: 24,
        d_out: 40,
        d_edge: 6,
        layers,
        aggregation: [Aggregation::Max, Aggregation::Sum, Aggregation::Mean][pick % 3],
        segments: pick.is_multiple_of(2),
        edge_types: [EdgeTypes::Typed, EdgeTypes::Single, EdgeTypes::None][pick / 6 % 3],
        strength: [Strength::Paper, Strength::Residual][pick / 2 % 2],
        features: if pick / 4 % 2 == 1 { 5 } else { 0 },
        ..ModelConfig::default()
    }
}

/// A model whose features have a mean and a deviation.
pub(super) fn model(config: &ModelConfig, device: &Device) -> TabSegNet {
    model_of_seed(config, device, 3)
}

pub(super) fn model_of_seed(config: &ModelConfig, device: &Device, seed: u64) -> TabSegNet {
    let (mean, scale) =
        (noise(config.features, 19), noise(config.features, 23).iter().map(|v| v + 3.0).collect::<Vec<_>>());
    TabSegNet::new(config, D_ENC, seed, device).with_feature_scale(&mean, &scale)
}

/// Scores of two questions on a graph that was opened once, and of each by a batch of its own.
fn both_ways(config: &ModelConfig, graph: &Adjacency, on_cpu: bool) -> (Vec<f32>, Vec<f32>) {
    let device = Device::flex();
    let u = noise(graph.nodes() * D_ENC, 7);
    let mut inference = Inference::new(model(config, &device), config, D_ENC, &device);
    if !on_cpu {
        inference.networks[0].weights = None;
    }
    let open = inference.open(graph, &u).unwrap();
    let (mut scores, mut expected) = (Vec::new(), Vec::new());
    for question in 0..2 {
        let (q, segments) = (noise(D_ENC, 11 + question), noise(3 * D_ENC, 13 + question));
        let features = noise(graph.nodes() * config.features, 17 + question);
        let query = ModelInput { u: &u, q: &q, segments: &segments, features: &features, products: &[] };
        scores.extend(inference.scores(&open, &query).unwrap());
        // The question's products first, as rankers have them.
        let vectors: Vec<&[f32]> = std::iter::once(q.as_slice()).chain(segments.chunks(D_ENC)).collect();
        let given = ModelInput { products: &products(&u, &vectors), ..query };
        assert_eq!(inference.scores(&open, &given).unwrap(), scores[scores.len() - graph.nodes()..]);
        let example = Example { graph, u: &u, q: &q, segments: &segments, features: &features, gold: &[] };
        let batch = Batch::new(&[example], config, D_ENC, &device).unwrap();
        expected.extend(values(inference.model().forward(&batch)));
    }
    (scores, expected)
}

fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_open_document_scores_as_a_batch_of_it(
        nodes in 1..700_usize, edges in 0..900_usize, seed in 0..1000_u32, layers in 1..3_usize, pick in 0..18_usize,
        on_cpu in any::<bool>(),
    ) {
        let at = |value: f32, limit: usize| ((value + 1.0) / 2.0 * limit as f32) as usize % limit;
        let made = noise(edges * 3, seed);
        let edges: Vec<(u32, u32, u8)> = made
            .chunks_exact(3)
            .map(|e| (at(e[0], nodes) as u32, at(e[1], nodes) as u32, at(e[2], 22) as u8))
            .collect();
        let graph = Adjacency::new(nodes, TypeNames::default(), &edges).unwrap();
        let mut in_edges = vec![0_usize; nodes];
        for (_, destination, _) in &edges {
            in_edges[*destination as usize] += 1;
        }
        let config = config(layers, pick);
        let (scores, expected) = both_ways(&config, &graph, on_cpu);
        // With more parts added up in another order, less near; and the rounding of a sum over
        // in-edges grows with their number.
        let parts = if config.features > 0 { 1e-5 } else { 1e-6 };
        let terms = match config.aggregation {
            Aggregation::Sum => in_edges.into_iter().max().unwrap_or(0).max(1),
            Aggregation::Max | Aggregation::Mean => 1,
        };
        let bound = parts * terms as f32;
        prop_assert!(largest_difference(&scores, &expected) <= bound, "{scores:?}\n{expected:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn several_models_score_the_best_nodes_by_their_mean_and_leave_the_others_in_the_order_of_the_first(
        nodes in 1..400_usize, edges in 0..900_usize, seed in 0..1000_u32, layers in 1..4_usize, pick in 0..18_usize,
        on_cpu: bool,
    ) {
        let at = |value: f32, limit: usize| ((value + 1.0) / 2.0 * limit as f32) as usize % limit;
        let edges: Vec<(u32, u32, u8)> = noise(edges * 3, seed)
            .chunks_exact(3)
            .map(|e| (at(e[0], nodes) as u32, at(e[1], nodes) as u32, at(e[2], 22) as u8))
            .collect();
        let graph = Adjacency::new(nodes, TypeNames::default(), &edges).unwrap();
        let (config, device) = (config(layers, pick), Device::flex());
        let mut models: Vec<TabSegNet> = (3..6).map(|seed| model_of_seed(&config, &device, seed)).collect();
        // Two see their features at one mean and deviation, the third at others.
        let other = models.pop().unwrap().with_feature_scale(&noise(config.features, 29), &vec![1.5; config.features]);
        models.push(other);
        let (u, q, segments) = (noise(nodes * D_ENC, 7), noise(D_ENC, 11), noise(3 * D_ENC, 13));
        let features = noise(nodes * config.features, 17);
        let query = ModelInput { u: &u, q: &q, segments: &segments, features: &features, products: &[] };
        let scores = |models: &[TabSegNet]| {
            let mut inference =
                Inference::new(models[0].clone(), &config, D_ENC, &device).with(models[1..].iter().cloned());
            if !on_cpu {
                inference.networks.iter_mut().for_each(|network| network.weights = None);
            }
            inference.scores(&inference.open(&graph, &u).unwrap(), &query).unwrap()
        };
        let alone: Vec<Vec<f32>> = models.iter().map(|model| scores(std::slice::from_ref(model))).collect();
        let together = scores(&models);
        let mean: Vec<f32> = (0..nodes).map(|node| alone.iter().map(|scores| scores[node]).sum::<f32>() / 3.0).collect();
        let size = alone.iter().flatten().fold(1.0, |size: f32, score| size.max(score.abs()));
        let near = |a: f32, b: f32| (a - b).abs() <= 1e-3 * size;
        let (by_all, by_first): (Vec<usize>, Vec<usize>) = {
            let order = crate::best::best(&alone[0], nodes);
            let all = order.len().min(64);
            (order[..all].to_vec(), order[all..].to_vec())
        };
        for &node in &by_all {
            prop_assert!(near(together[node], mean[node]), "{node}: {} and {}", together[node], mean[node]);
        }
        let shift = by_all.iter().map(|&node| mean[node] - alone[0][node]).sum::<f32>() / by_all.len() as f32;
        for &node in &by_first {
            prop_assert!(near(together[node], alone[0][node] + shift), "{node}: {}", together[node]);
        }
    }
}

#[test]
fn a_node_of_100_000_in_edges_one_node_and_no_edges_are_graphs_like_others() {
    let star: Vec<(u32, u32, u8)> = (1..=100_000).map(|source| (source, 0, (source % 22) as u8)).collect();
    for (graph, pick) in [
        (Adjacency::new(100_001, TypeNames::default(), &star).unwrap(), 0),
        (Adjacency::new(1, TypeNames::default(), &[]).unwrap(), 1),
        (Adjacency::new(1, TypeNames::default(), &[(0, 0, 3)]).unwrap(), 2),
        (Adjacency::new(5000, TypeNames::default(), &[]).unwrap(), 0),
    ] {
        let (scores, expected) = both_ways(&config(1, pick), &graph, true);
        assert!(scores.iter().all(|score| score.is_finite()));
        assert!(largest_difference(&scores, &expected) <= 1e-6);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let edges: Vec<(u32, u32, u8)> = (0..4000).map(|e| (e * 7 % 2000, e % 2000, (e % 22) as u8)).collect();
    let graph = Adjacency::new(2000, TypeNames::default(), &edges).unwrap();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| both_ways(&config(2, 0), &graph, true).0)
    };
    let one = with(1);
    assert!(with(2) == one && with(5) == one);
}

/// Scores of a question, and the in-edges of a node that it hears, by the positions that `place` gives for theirs.
fn answer(inference: &Inference, graph: &Adjacency, place: &dyn Fn(usize) -> usize) -> (Vec<f32>, Vec<(usize, u32)>) {
    let nodes = graph.nodes();
    let u = noise(nodes * D_ENC, 7);
    let open = inference.open(graph, &u).unwrap();
    let (q, segments) = (noise(D_ENC, 11), noise(3 * D_ENC, 13));
    let features = noise(nodes * inference.config().features, 17);
    let query = ModelInput { u: &u, q: &q, segments: &segments, features: &features, products: &[] };
    let edges = inference.explain(&open, &query, &[1]).unwrap().remove(0).edges;
    let edges = edges.iter().map(|found| (place(found.edge), found.effect.to_bits())).collect();
    (inference.scores(&open, &query).unwrap(), edges)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn edges_of_a_type_that_the_model_does_not_know_change_no_bit(
        more in prop::collection::vec((0..40_u32, 0..40_u32), 1..30), pick in 0..18_usize, on_cpu in any::<bool>(),
    ) {
        let known: Vec<(u32, u32, u8)> = (0..90).map(|e| (e * 7 % 40, e * e % 40, (e % 22) as u8)).collect();
        let graph = Adjacency::new(40, TypeNames::default(), &known).unwrap();
        // The same names with a new one before them, so that every number is another one.
        let names = TypeNames::new(["section_to_passage"].into_iter().chain(graph.type_names().iter())).unwrap();
        let moved = graph.iter().map(|(source, destination, number)| (source, destination, number + 1));
        let edges: Vec<(u32, u32, u8)> = moved.chain(more.iter().map(|&(a, b)| (a, b, 0))).collect();
        let wider = Adjacency::new(40, names, &edges).unwrap();
        let old: Vec<usize> = (0..wider.edges()).filter(|&edge| wider.types()[edge] != 0).collect();

        let (config, device) = (config(2, pick), Device::flex());
        let mut inference = Inference::new(model(&config, &device), &config, D_ENC, &device);
        if !on_cpu {
            inference.networks[0].weights = None;
        }
        let expected = answer(&inference, &graph, &|edge| edge);
        let found = answer(&inference, &wider, &|edge| old.iter().position(|&old| old == edge).unwrap());
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let device = Device::flex();
    let config = config(1, 0);
    let inference = Inference::new(TabSegNet::new(&config, D_ENC, 3, &device), &config, D_ENC, &device);
    let graph = Adjacency::new(2, TypeNames::default(), &[(0, 1, 0)]).unwrap();
    let said = |result: Result<OpenGraph, BatchError>| result.unwrap_err().to_string();
    assert!(said(inference.open(&graph, &[0.0; D_ENC])).contains("u has 12 numbers, expected 24"));
    let u = [0.0; 2 * D_ENC];
    let open = inference.open(&graph, &u).unwrap();
    let said = |q: &[f32], segments: &[f32]| {
        inference.scores(&open, &ModelInput { u: &u, q, segments, features: NO_FEATURES, products: &[] }).unwrap_err()
    };
    let others = ModelInput { u: &u[1..], q: &u[..D_ENC], segments: &u, features: NO_FEATURES, products: &[] };
    let error = inference.scores(&open, &others).unwrap_err();
    assert!(matches!(error, BatchError::Width { what: "u", found: 23, expected: 24, .. }), "{error}");
    assert!(matches!(said(&[0.0; 5], &[0.0; D_ENC]), BatchError::Width { what: "q", found: 5, .. }));
    assert!(matches!(said(&[0.0; D_ENC], &[]), BatchError::NoSegment { .. }));
    assert!(matches!(said(&[0.0; D_ENC], &[0.0; D_ENC + 1]), BatchError::Width { what: "segments", .. }));
    for products in [&[0.0; 2][..], &[0.0; 5]] {
        let query = ModelInput { u: &u, q: &u[..D_ENC], segments: &u, features: NO_FEATURES, products };
        let error = inference.scores(&open, &query).unwrap_err();
        assert!(matches!(error, BatchError::Width { what: "products", expected: 4, .. }), "{error}");
    }
}
