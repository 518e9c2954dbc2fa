//! The kernels of every device against the plain-tensor version and finite differences.

use burn::tensor::{Device, Int, TensorData};
use proptest::prelude::*;

use super::*;
use crate::linear::row_sum;
use crate::testing::devices;

const AGGREGATIONS: [Aggregation; 3] = [Aggregation::Max, Aggregation::Sum, Aggregation::Mean];

/// A random batch: edges sorted by destination, a strength table, features of width `d`.
#[derive(Debug, Clone)]
struct Case {
    nodes: usize,
    d: usize,
    /// (destination, source, strength)
    edges: Vec<(u32, u32, u32)>,
    strengths: Vec<f32>,
    x: Vec<f32>,
}

fn case() -> impl Strategy<Value = Case> {
    (1..90_usize, 1..20_usize, 0..200_usize, any::<u64>()).prop_map(|(nodes, d, edges, seed)| {
        let mut state = seed;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as usize) % below
        };
        let mut list: Vec<(u32, u32, u32)> =
            (0..edges).map(|_| (next(nodes) as u32, next(nodes) as u32, next(6) as u32)).collect();
        list.sort_unstable();
        let mut number = || next(2001) as f32 / 1000.0 - 1.0;
        let strengths = (0..6).map(|_| number()).collect();
        let x = (0..nodes * d).map(|_| number()).collect();
        Case { nodes, d, edges: list, strengths, x }
    })
}

impl Case {
    fn index(&self) -> Arc<EdgeIndex> {
        let mut offsets = vec![0; self.nodes + 1];
        for (destination, _, _) in &self.edges {
            offsets[*destination as usize + 1] += 1;
        }
        for node in 0..self.nodes {
            offsets[node + 1] += offsets[node];
        }
        let sources = self.edges.iter().map(|e| e.1).collect();
        let strengths = self.edges.iter().map(|e| e.2).collect();
        Arc::new(EdgeIndex::new(offsets, sources, strengths))
    }

    fn tensors(&self, device: &Device) -> (Tensor<2>, Tensor<2>) {
        let x = Tensor::from_data(TensorData::new(self.x.clone(), [self.nodes, self.d]), device);
        let strength = Tensor::from_data(TensorData::new(self.strengths.clone(), [2, 3]), device);
        (x, strength)
    }

    /// Kernel and gradients for a loss that weighs every output differently.
    fn run(&self, aggregation: Aggregation, device: &Device) -> [Vec<f32>; 3] {
        let (x, strength) = self.tensors(&device.clone().autodiff());
        let (x, strength) = (x.require_grad(), strength.require_grad());
        let out = aggregate(x.clone(), strength.clone(), &self.index(), aggregation);
        self.results(out, &x, &strength)
    }

    fn results(&self, out: Tensor<2>, x: &Tensor<2>, strength: &Tensor<2>) -> [Vec<f32>; 3] {
        let weights = Tensor::from_data(TensorData::new(self.weights(), [self.nodes, self.d]), &out.device());
        let gradients = row_sum((out.clone() * weights).reshape([-1, 1])).backward();
        // A tensor that the result does not depend on has no gradient.
        let of = |tensor: &Tensor<2>| {
            tensor.grad(&gradients).map_or_else(|| vec![0.0; tensor.shape().num_elements()], floats)
        };
        [floats(out), of(x), of(strength)]
    }

    fn weights(&self) -> Vec<f32> {
        (0..self.nodes * self.d).map(|i| ((i * 7919) % 13) as f32 / 6.0 - 1.0).collect()
    }

    /// The most that the terms of a result and of both gradients come to by amount.
    fn amounts(&self) -> [f32; 3] {
        let weights = self.weights();
        let (mut out, mut x) = (vec![0_f32; self.nodes * self.d], vec![0_f32; self.nodes * self.d]);
        let mut strengths = [0_f32; 6];
        for (to, from, strength) in
            self.edges.iter().map(|e| (e.0 as usize * self.d, e.1 as usize * self.d, e.2 as usize))
        {
            for at in 0..self.d {
                let (value, weight) = (self.x[from + at].abs(), weights[to + at].abs());
                let by = self.strengths[strength].abs();
                out[to + at] += value * by;
                x[from + at] += weight * by;
                strengths[strength] += weight * value;
            }
        }
        [out.as_slice(), &x, &strengths].map(|amounts| amounts.iter().copied().fold(0.0, f32::max))
    }

    /// One message an edge as tensors: gather, multiply, reduce node by node.
    fn plain(&self, aggregation: Aggregation) -> [Vec<f32>; 3] {
        let device = Device::flex().autodiff();
        let (x, strength) = self.tensors(&device);
        let (x, strength) = (x.require_grad(), strength.require_grad());
        let flat = strength.clone().reshape([6]);
        let indices = |values: Vec<i32>| {
            let count = values.len();
            Tensor::<1, Int>::from_data(TensorData::new(values, [count]), &device)
        };
        let mut rows = Vec::new();
        for node in 0..self.nodes {
            let edges: Vec<_> = self.edges.iter().filter(|e| e.0 as usize == node).collect();
            if edges.is_empty() {
                // Tracked like any other row: a graph may have no edge at all.
                rows.push(x.clone().slice_dim(0, 0..1) * 0.0);
                continue;
            }
            let s = flat.clone().select(0, indices(edges.iter().map(|e| e.2 as i32).collect()));
            let v = x.clone().select(0, indices(edges.iter().map(|e| e.1 as i32).collect()));
            let messages = v * s.unsqueeze_dim::<2>(1); // [in-edges, d]
            rows.push(match aggregation {
                Aggregation::Max => messages.max_dim(0),
                Aggregation::Sum => messages.sum_dim(0),
                Aggregation::Mean => messages.mean_dim(0),
            });
        }
        self.results(Tensor::cat(rows, 0), &x, &strength)
    }
}

fn floats(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().as_slice::<f32>().unwrap().to_vec()
}

/// `amount` is what the terms of a sum come to by amount: they may cancel out, and the rounding of each stays.
fn close(a: &[f32], b: &[f32], amount: f32) -> Result<(), TestCaseError> {
    close_within(1e-5, a, b, amount)
}

fn close_within(tolerance: f32, a: &[f32], b: &[f32], amount: f32) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.len(), b.len());
    let scale = b.iter().fold(amount.max(1.0), |max, v| max.max(v.abs()));
    for (a, b) in a.iter().zip(b) {
        prop_assert!((a - b).abs() <= tolerance * scale, "{} {}", a, b);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_kernel_equals_plain_tensors(case in case()) {
        for aggregation in AGGREGATIONS {
            let (plain, amounts) = (case.plain(aggregation), case.amounts());
            for device in devices() {
                let kernel = case.run(aggregation, &device);
                close(&kernel[0], &plain[0], amounts[0])?;
                // Equal messages (same source, type and node) may hand the max's gradient to another
                // edge of the same source; per source and strength it is the same.
                close(&kernel[1], &plain[1], amounts[1])?;
                close(&kernel[2], &plain[2], amounts[2])?;
                // Without autodiff the winners are not kept; the result is the same.
                let (x, strength) = case.tensors(&device);
                prop_assert_eq!(&floats(aggregate(x, strength, &case.index(), aggregation)), &kernel[0]);
                // The same bits again.
                prop_assert_eq!(&case.run(aggregation, &device), &kernel);
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit(case in case()) {
        let with = |threads: usize, aggregation| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                case.run(aggregation, &Device::flex())
            })
        };
        for aggregation in AGGREGATIONS {
            prop_assert_eq!(with(1, aggregation), with(3, aggregation));
        }
    }

    #[test]
    fn renumbering_nodes_renumbers_the_result(case in case(), shift in 0..90_usize) {
        let new = |node: usize| (node + shift) % case.nodes;
        let mut renumbered = case.clone();
        for (d, s, _) in &mut renumbered.edges {
            (*d, *s) = (new(*d as usize) as u32, new(*s as usize) as u32);
        }
        renumbered.edges.sort_unstable();
        for node in 0..case.nodes {
            let (from, to) = (node * case.d, new(node) * case.d);
            renumbered.x[to..to + case.d].copy_from_slice(&case.x[from..from + case.d]);
        }
        for aggregation in AGGREGATIONS {
            for device in devices() {
                let (before, after) = (case.run(aggregation, &device), renumbered.run(aggregation, &device));
                for node in 0..case.nodes {
                    let (from, to) = (node * case.d, new(node) * case.d);
                    close(&after[0][to..to + case.d], &before[0][from..from + case.d], case.amounts()[0])?;
                }
            }
        }
    }
}

#[test]
fn gradients_equal_finite_differences() {
    let case = Case {
        nodes: 4,
        d: 3,
        edges: vec![(0, 1, 0), (0, 2, 1), (0, 3, 4), (2, 0, 5), (2, 3, 2), (3, 3, 3)],
        strengths: vec![0.7, -0.4, 0.9, 1.3, -0.8, 0.6],
        x: vec![0.3, -0.9, 0.5, 0.8, 0.1, -0.6, -0.2, 0.75, 0.45, -0.35, 0.65, 0.95],
    };
    let loss = |case: &Case, aggregation, device: &Device| -> f64 {
        let [out, ..] = case.run(aggregation, device);
        out.iter().zip(case.weights()).map(|(o, w)| f64::from(*o) * f64::from(w)).sum()
    };
    let step = 1e-2; // the result is piecewise linear in each, so only rounding counts
    for (aggregation, device) in AGGREGATIONS.into_iter().flat_map(|a| devices().into_iter().map(move |d| (a, d))) {
        let [_, x, strength] = case.run(aggregation, &device);
        let difference = |change: &dyn Fn(&mut Case, f32)| {
            let [up, down] = [step, -step].map(|step| {
                let mut changed = case.clone();
                change(&mut changed, step);
                loss(&changed, aggregation, &device)
            });
            ((up - down) / (2.0 * f64::from(step))) as f32
        };
        for (i, gradient) in x.iter().enumerate() {
            let expected = difference(&|case, step| case.x[i] += step);
            assert!((gradient - expected).abs() < 1e-3, "{aggregation:?} x[{i}] {gradient} {expected}");
        }
        for (i, gradient) in strength.iter().enumerate() {
            let expected = difference(&|case, step| case.strengths[i] += step);
            assert!((gradient - expected).abs() < 1e-3, "{aggregation:?} s[{i}] {gradient} {expected}");
        }
    }
}

/// More nodes, edges and in-edges of one node than a grid of a GPU has in one dimension.
#[test]
#[cfg(feature = "gpu")]
fn large_graphs_are_the_same_on_every_device() {
    let (nodes, d, hub) = (270_000_u32, 64, 7);
    let edge = |i: u32| {
        let to = if i < 100_000 { hub } else { i.wrapping_mul(2_654_435_761) % nodes };
        (to, i.wrapping_mul(40_503) % nodes, i % 6)
    };
    let mut edges: Vec<_> = (0..600_000).map(edge).collect();
    edges.sort_unstable();
    let strengths = vec![0.7, -0.4, 0.9, 1.3, -0.8, 0.6];
    let x = (0..nodes as usize * d).map(|i| ((i * 7919) % 2003) as f32 / 1000.0 - 1.0).collect();
    let case = Case { nodes: nodes as usize, d, edges, strengths, x };
    for aggregation in AGGREGATIONS {
        let results: Vec<_> = devices().iter().map(|device| case.run(aggregation, device)).collect();
        for other in &results[1..] {
            // A message of the hub is a sum of 100,000 terms, a strength's gradient of 6.4 million that
            // cancel out, each in another order on each device.
            for ((found, expected), tolerance) in other.iter().zip(&results[0]).zip([1e-4, 1e-5, 1e-3]) {
                close_within(tolerance, found, expected, 1.0).unwrap();
            }
        }
    }
}
