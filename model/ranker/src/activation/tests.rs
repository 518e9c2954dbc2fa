//! The kernels of every device against plain tensors.

use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, TensorData};
use proptest::prelude::*;

use super::*;
use crate::linear::row_sum;
use crate::testing::devices;

/// Random values in (−2, 2), the same for the same seed.
fn values(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u64 << 22) as f32 - 2.0
    };
    (0..count).map(|_| next()).collect()
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().as_slice::<f32>().unwrap().to_vec()
}

#[derive(Debug, Clone)]
struct Case {
    nodes: usize,
    d: usize,
    table: usize,
    /// `[nodes, per_node]`
    rows: Vec<u32>,
    per_node: usize,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    (1..150_usize, 1..20_usize, 1..9_usize, 1..3_usize, any::<u64>()).prop_map(|(nodes, d, table, per_node, seed)| {
        let rows = values(nodes * per_node, !seed).iter().map(|v| ((v + 2.0) * 1e4) as u32 % table as u32).collect();
        Case { nodes, d, table, rows, per_node, seed }
    })
}

impl Case {
    fn matrix(&self, rows: usize, stream: u64, device: &Device) -> Tensor<2> {
        let data = TensorData::new(values(rows * self.d, self.seed ^ stream), [rows, self.d]);
        Tensor::from_data(data, &device.clone().autodiff()).require_grad()
    }

    /// Result and gradients for a loss that weighs every output differently.
    fn results(&self, out: Tensor<2>, inputs: &[Tensor<2>]) -> Vec<Vec<f32>> {
        let weights = self.matrix(self.nodes, 99, &out.device());
        let gradients = row_sum((out.clone() * weights).reshape([-1, 1])).backward();
        let mut results = vec![floats(out)];
        results.extend(inputs.iter().map(|input| floats(input.grad(&gradients).unwrap())));
        results
    }

    fn tanh(&self, device: &Device, of_sum: impl Fn(Tensor<2>, Tensor<2>) -> Tensor<2>) -> Vec<Vec<f32>> {
        let (own, table) = (self.matrix(self.nodes, 1, device), self.matrix(self.table, 2, device));
        self.results(of_sum(own.clone(), table.clone()), &[own, table])
    }

    fn fused_tanh(&self, device: &Device) -> Vec<Vec<f32>> {
        let shared = Arc::new(SharedRows::new(self.per_node, self.rows.clone()));
        self.tanh(device, |own, table| tanh_of_sum(own, table, &shared))
    }

    fn plain_tanh(&self) -> Vec<Vec<f32>> {
        self.tanh(&Device::flex(), |own, table| {
            (0..self.per_node)
                .fold(own, |sum, i| {
                    let rows: Vec<i32> =
                        (0..self.nodes).map(|node| self.rows[node * self.per_node + i] as i32).collect();
                    let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [self.nodes]), &sum.device());
                    sum + table.clone().select(0, rows)
                })
                .tanh()
        })
    }

    fn relu(&self, device: &Device, of_sum: impl Fn(Tensor<2>, Tensor<2>, Tensor<1>) -> Tensor<2>) -> Vec<Vec<f32>> {
        let inputs = [(self.nodes, 1), (self.nodes, 2), (1, 3)].map(|(rows, stream)| self.matrix(rows, stream, device));
        let [own, messages, bias] = inputs.clone();
        self.results(of_sum(own, messages, bias.squeeze_dim(0)), &inputs)
    }

    fn fused_relu(&self, device: &Device) -> Vec<Vec<f32>> {
        self.relu(device, relu_of_sum)
    }

    fn plain_relu(&self) -> Vec<Vec<f32>> {
        self.relu(&Device::flex(), |own, messages, bias| relu(own + messages + bias.unsqueeze()))
    }
}

fn close(found: &[Vec<f32>], expected: &[Vec<f32>]) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        prop_assert_eq!(found.len(), expected.len());
        let scale = expected.iter().fold(1.0_f32, |max, v| max.max(v.abs()));
        for (a, b) in found.iter().zip(expected) {
            prop_assert!((a - b).abs() <= 1e-5 * scale, "{} {}", a, b);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_kernels_equal_plain_tensors(case in case()) {
        for device in devices() {
            close(&case.fused_tanh(&device), &case.plain_tanh())?;
            close(&case.fused_relu(&device), &case.plain_relu())?;
        }
    }

    #[test]
    fn threads_do_not_change_a_bit(case in case()) {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (case.fused_tanh(&Device::flex()), case.fused_relu(&Device::flex())))
        };
        prop_assert_eq!(with(1), with(3));
    }

    #[test]
    fn inputs_that_others_hold_stay_as_they_are(case in case()) {
        for device in devices() {
            let [own, messages, table] = [1, 2, 4].map(|stream| case.matrix(case.nodes.max(case.table), stream, &device));
            let bias = case.matrix(1, 3, &device).squeeze_dim(0);
            let before = floats(own.clone());
            drop(relu_of_sum(own.clone(), messages, bias));
            let rows = vec![0; own.dims()[0]];
            drop(tanh_of_sum(own.clone(), table, &Arc::new(SharedRows::new(1, rows))));
            prop_assert_eq!(before, floats(own));
        }
    }
}

#[test]
fn a_nan_stays_a_nan() {
    for device in devices() {
        let of = |value: f32| Tensor::<2>::from_data(TensorData::new(vec![value], [1, 1]), &device);
        let shared = Arc::new(SharedRows::new(1, vec![0]));
        assert!(floats(tanh_of_sum(of(f32::NAN), of(0.0), &shared))[0].is_nan());
        assert!(floats(relu_of_sum(of(f32::NAN), of(0.0), of(0.0).squeeze_dim(0)))[0].is_nan());
    }
}
