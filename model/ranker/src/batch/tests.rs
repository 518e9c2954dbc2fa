use proptest::prelude::*;
use tabsegnet_graph::TypeNames;

use super::*;
use crate::activation::SharedRows;
use crate::config::{Aggregation, EdgeTypes};
use crate::scorer::TabSegNet;
use crate::testing::devices;

const D_ENC: usize = 8;

/// A small document with vectors.
#[derive(Debug, Clone)]
struct Made {
    graph: Adjacency,
    u: Vec<f32>,
    q: Vec<f32>,
    segments: Vec<f32>,
    gold: Vec<u32>,
}

impl Made {
    fn example(&self) -> Example<'_> {
        Example {
            graph: &self.graph,
            u: &self.u,
            q: &self.q,
            segments: &self.segments,
            features: &[],
            gold: &self.gold,
        }
    }
}

fn made() -> impl Strategy<Value = Made> {
    let vectors = |n: usize| prop::collection::vec(-1.0..1.0_f32, n * D_ENC);
    (1..20_usize).prop_flat_map(move |nodes| {
        let edge = (0..nodes as u32, 0..nodes as u32, 0..22_u8);
        (prop::collection::vec(edge, 0..60), vectors(nodes), vectors(1), (1..4_usize).prop_flat_map(vectors)).prop_map(
            move |(edges, u, q, segments)| Made {
                graph: Adjacency::new(nodes, TypeNames::default(), &edges).expect("edges are below nodes"),
                u,
                q,
                segments,
                gold: vec![0],
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_document_in_a_batch_scores_as_it_does_alone(
        documents in prop::collection::vec(made(), 1..5), layers in 1..4_usize, pick in 0..12_usize,
    ) {
        let config = ModelConfig {
            d_in: 7,
            d_out: 9,
            d_edge: 5,
            layers,
            aggregation: [Aggregation::Max, Aggregation::Sum, Aggregation::Mean][pick % 3],
            segments: pick % 2 == 0,
            edge_types: [EdgeTypes::Typed, EdgeTypes::Single][pick / 6],
            ..ModelConfig::default()
        };
        for device in devices() {
            let model = TabSegNet::new(&config, D_ENC, 3, &device);
            let scores = |examples: &[Example<'_>]| {
                let batch = Batch::new(examples, &config, D_ENC, &device).unwrap();
                let scores = model.forward(&batch).into_data().as_slice::<f32>().unwrap().to_vec();
                batch.split(&scores).map(<[f32]>::to_vec).collect::<Vec<_>>()
            };
            let examples: Vec<_> = documents.iter().map(Made::example).collect();
            let together = scores(&examples);
            for (example, together) in examples.iter().zip(together) {
                let alone = scores(std::slice::from_ref(example)).remove(0);
                prop_assert_eq!(alone.len(), together.len());
                for (a, b) in alone.iter().zip(&together) {
                    prop_assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "{} {}", a, b);
                }
            }
        }
    }
}

fn two_nodes() -> Made {
    Made {
        graph: Adjacency::new(2, TypeNames::default(), &[(0, 1, 21), (1, 0, 20)]).unwrap(),
        u: vec![0.5; 2 * D_ENC],
        q: vec![0.5; D_ENC],
        segments: vec![0.5; D_ENC],
        gold: vec![1],
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let config = ModelConfig { segments: true, ..ModelConfig::default() };
    let error = |change: &dyn Fn(&mut Made)| {
        let mut made = two_nodes();
        change(&mut made);
        Batch::new(&[made.example()], &config, D_ENC, &Device::flex()).unwrap_err().to_string()
    };
    assert!(error(&|m| m.u.truncate(3)).contains("u has 3 numbers, expected 16"));
    assert!(error(&|m| m.q.truncate(3)).contains("q has 3 numbers, expected 8"));
    assert!(error(&|m| m.segments.truncate(3)).contains("segments has 3 numbers, expected 8"));
    assert!(error(&|m| m.segments.clear()).contains("has no segment"));
    assert!(error(&|m| m.gold = vec![2]).contains("gold node 2 is not below 2"));
}

#[test]
fn the_best_segment_is_the_one_of_highest_cosine() {
    let config = ModelConfig { segments: true, ..ModelConfig::default() };
    let mut made = two_nodes();
    let axis = |i: usize, length: f32| (0..D_ENC).map(move |j| if i == j { length } else { 0.0 });
    made.u = axis(1, 1.0).chain(axis(2, 1.0)).collect();
    made.segments = axis(0, 9.0).chain(axis(2, 5.0)).chain(axis(1, 0.1)).collect();
    let batch = Batch::new(&[made.example(), made.example()], &config, D_ENC, &Device::flex()).unwrap();
    assert_eq!(batch.segments.unwrap().dims(), [6, D_ENC]);
    // Rows 0 and 1 are the two questions', then come the segments'.
    assert_eq!(*batch.shared, SharedRows::new(2, vec![0, 4, 0, 3, 1, 7, 1, 6]));
}

#[test]
fn graphs_without_edges_or_nodes_can_be_scored() {
    let config = ModelConfig::default();
    for (nodes, device) in devices().into_iter().flat_map(|device| [(0, device.clone()), (1, device)]) {
        let model = TabSegNet::new(&config, D_ENC, 0, &device);
        let mut made = two_nodes();
        made.graph = Adjacency::new(nodes, TypeNames::default(), &[]).unwrap();
        made.u.truncate(nodes * D_ENC);
        made.gold.clear();
        let batch = Batch::new(&[made.example(), two_nodes().example()], &config, D_ENC, &device).unwrap();
        assert_eq!(model.forward(&batch).dims(), [nodes + 2]);
    }
}
