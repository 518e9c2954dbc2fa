//! Scores, loss and gradients against PyTorch Geometric (`tests/reference/make_reference.py`).

use std::path::Path;
use std::sync::Arc;

use tabsegnet_graph::{Adjacency, TypeNames};

use super::*;
use crate::activation::SharedRows;
use crate::batch::Example;
use crate::loss::pairwise_hinge;
use crate::tensors::NamedTensors;
use crate::testing::{devices, of_products};

const QUESTIONS: usize = 3;
const GOLD: [u32; 2] = [0, 1];

struct Reference(NamedTensors);

impl Reference {
    fn read(aggregation: &str, layers: usize) -> Self {
        // As cargo says when it runs the tests; run elsewhere they are told where the files are.
        let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
        let path = Path::new(&root).join(format!("tests/reference/scorer_{aggregation}_{layers}.safetensors"));
        Self(NamedTensors::read(&path, &std::fs::read(&path).unwrap()).unwrap())
    }

    fn values(&self, name: &str) -> &[f32] {
        self.0.floats(name).unwrap().1
    }

    /// PyTorch keeps a linear layer's weight as `[out, in]`, the paper (and we) as `[in, out]`.
    fn parameter(&self, prefix: &str, name: &str) -> Vec<f32> {
        let layer = name.split('.').nth(1).unwrap_or_default();
        let (peer, transpose) = match name.split('.').next_back().unwrap_or_default() {
            "R" => ("R.weight".to_owned(), false),
            "A" => ("A.weight".to_owned(), true),
            "W_q" => ("Q.weight".to_owned(), true),
            "C" => ("C.weight".to_owned(), true),
            "d" => ("C.bias".to_owned(), false),
            "W_1" => (format!("convs.{layer}.lin_root.weight"), true),
            "W_2" => (format!("convs.{layer}.lin_rel.weight"), true),
            "w" => ("mlp.weight".to_owned(), true),
            "b" if name.starts_with("edge") => ("A.bias".to_owned(), false),
            "b" if name.starts_with("graph") => (format!("convs.{layer}.lin_rel.bias"), false),
            _ => ("mlp.bias".to_owned(), false),
        };
        let (shape, values) = self.0.floats(&format!("{prefix}.{peer}")).unwrap();
        match (transpose, shape) {
            (true, &[rows, cols]) => (0..rows * cols).map(|i| values[(i % rows) * cols + i / rows]).collect(),
            _ => values.to_vec(),
        }
    }

    fn graphs(&self) -> Vec<Adjacency> {
        let nodes = self.values("score").len() / QUESTIONS;
        let index = |name: &str| self.values(name).iter().map(|&v| v as u32);
        let edges: Vec<_> = index("src").zip(index("dst")).zip(index("etype")).collect();
        edges
            .chunks(edges.len() / QUESTIONS)
            .zip(0..)
            .map(|(edges, question)| {
                let first = question * nodes as u32;
                let edges: Vec<_> = edges.iter().map(|&((s, d), t)| (s - first, d - first, t as u8)).collect();
                Adjacency::new(nodes, TypeNames::default(), &edges).unwrap()
            })
            .collect()
    }

    fn batch(&self, graphs: &[Adjacency], config: &ModelConfig, device: &Device) -> Batch {
        let d_enc = self.0.floats("q").unwrap().0[1];
        let nodes = graphs[0].nodes();
        let [u, q, s] = ["u", "q", "s"].map(|name| self.values(name));
        let examples: Vec<_> = graphs
            .iter()
            .enumerate()
            .map(|(i, graph)| Example {
                graph,
                u: &u[i * nodes * d_enc..(i + 1) * nodes * d_enc],
                q: &q[i * d_enc..(i + 1) * d_enc],
                segments: &s[i * nodes * d_enc..(i + 1) * nodes * d_enc],
                features: &[],
                gold: &GOLD,
            })
            .collect();
        let mut batch = Batch::new(&examples, config, d_enc, device).unwrap();
        // The reference gives every node a segment of its own.
        let rows = (0..QUESTIONS * nodes).flat_map(|node| [(node / nodes) as u32, (QUESTIONS + node) as u32]);
        batch.shared = Arc::new(SharedRows::new(2, rows.collect()));
        batch
    }
}

fn assert_close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    // Relative to the largest: single numbers near 0 are sums of large ones that cancel out. The
    // gradient of the scorer's bias is all such: the hinge does not change when all scores shift.
    let scale = expected.iter().fold(1e-2_f32, |max, v| max.max(v.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * scale, "{what}[{i}]: {found}, expected {expected}");
    }
}

fn floats(data: &TensorData) -> Vec<f32> {
    data.as_slice::<f32>().unwrap().to_vec()
}

/// Edge types of the reference, the first of a document's.
const EDGE_TYPES: usize = 22;

#[test]
fn scores_loss_and_gradients_equal_pyg() {
    for device in devices() {
        equal_pyg(&device.autodiff());
    }
}

fn equal_pyg(device: &Device) {
    let tolerance = of_products(device, 1e-5);
    for (aggregation, name) in [(Aggregation::Max, "max"), (Aggregation::Sum, "sum"), (Aggregation::Mean, "mean")] {
        for layers in 1..=3 {
            let reference = Reference::read(name, layers);
            let config = ModelConfig {
                d_in: 6,
                d_out: 7,
                d_edge: 4,
                layers,
                aggregation,
                segments: true,
                edge_type_names: TypeNames::new(TypeNames::default().iter().take(EDGE_TYPES)).unwrap(),
                ..ModelConfig::default()
            };
            let model = TabSegNet::build(&config, reference.0.floats("q").unwrap().0[1], &mut |name, shape| {
                let values = reference.parameter("weight", name);
                assert_eq!(values.len(), shape.iter().product::<usize>(), "{name}");
                let count = values.len();
                Ok::<_, ()>(Tensor::from_data(TensorData::new(values, [count]), device))
            })
            .unwrap();
            let graphs = reference.graphs();
            let batch = reference.batch(&graphs, &config, device);
            let scores = model.forward(&batch);
            let loss = pairwise_hinge(scores.clone(), batch.pairs.as_ref().unwrap(), 1.0);
            let gradients = loss.backward();

            let what = format!("{name} {layers}");
            assert_close(&format!("{what} score"), &floats(&scores.into_data()), reference.values("score"), tolerance);
            assert_close(&format!("{what} loss"), &floats(&loss.into_data()), reference.values("loss"), tolerance);
            let mut compared = 0;
            let mut check = |name: &str, gradient: Option<TensorData>| {
                let expected = reference.parameter("grad", name);
                assert_close(&format!("{what} grad {name}"), &floats(&gradient.unwrap()), &expected, tolerance);
                compared += 1;
            };
            let matrix = |p: &Param<Tensor<2>>| p.val().grad(&gradients).map(Tensor::into_data);
            let vector = |p: &Param<Tensor<1>>| p.val().grad(&gradients).map(Tensor::into_data);
            check("edge_strength.R", matrix(&model.edge_strength.R));
            check("edge_strength.A", matrix(&model.edge_strength.A));
            check("edge_strength.W_q", matrix(&model.edge_strength.W_q));
            check("edge_strength.b", vector(&model.edge_strength.b));
            check("node_init.C", matrix(&model.node_init.C));
            check("node_init.d", vector(&model.node_init.d));
            for (layer, conv) in model.graph_conv.iter().enumerate() {
                check(&format!("graph_conv.{layer}.W_1"), matrix(&conv.W_1));
                check(&format!("graph_conv.{layer}.W_2"), matrix(&conv.W_2));
                check(&format!("graph_conv.{layer}.b"), vector(&conv.b));
            }
            check("scorer.w", matrix(&model.scorer.w));
            check("scorer.b", vector(&model.scorer.b));
            assert_eq!(compared, model.parameters().len());
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_does_not() {
    let model = |seed| TabSegNet::new(&ModelConfig::default(), 16, seed, &Device::flex()).parameters();
    let bytes = |parameters: &[(String, TensorData)]| -> Vec<u8> {
        parameters.iter().flat_map(|(_, data)| data.as_bytes().to_vec()).collect()
    };
    assert_eq!(bytes(&model(7)), bytes(&model(7)));
    assert_ne!(bytes(&model(7)), bytes(&model(8)));
}

#[test]
fn xavier_bounds_hold_and_vectors_start_at_zero() {
    for (name, data) in TabSegNet::new(&ModelConfig::default(), 16, 0, &Device::flex()).parameters() {
        let shape: Vec<usize> = data.shape().iter().copied().collect();
        let bound = match shape[..] {
            [i, o] => (6.0 / (i + o) as f32).sqrt(),
            _ => 0.0,
        };
        let values = floats(&data);
        assert!(values.iter().all(|v| v.abs() <= bound), "{name}");
        assert!(shape.len() == 1 || values.iter().any(|v| v.abs() > 0.8 * bound), "{name}");
    }
}
