use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::testing::{devices, of_products};

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// x w + b, and the gradients of x, w and b from that of its sum of squares.
fn passes([rows, d, d_out]: [usize; 3], device: &Device) -> [Vec<f32>; 4] {
    let device = device.clone().autodiff();
    let matrix = |shape: [usize; 2], seed| {
        let values = TensorData::new(numbers(shape[0] * shape[1], seed), shape);
        Tensor::<2>::from_data(values, &device).require_grad()
    };
    let (x, w, b) = (matrix([rows, d], 1), matrix([d, d_out], 2), matrix([1, d_out], 3));
    let out = biased(linear(x.clone(), w.clone()), b.clone().squeeze_dim(0));
    let gradients = row_sum((out.clone() * out.clone()).reshape([-1, 1])).backward();
    let gradient = |of: Tensor<2>| of.grad(&gradients).unwrap().into_data();
    [out.into_data(), gradient(x), gradient(w), gradient(b)].map(|data| data.iter::<f32>().collect())
}

/// The same in f64, sum by sum.
fn expected([rows, d, d_out]: [usize; 3]) -> [Vec<f64>; 4] {
    let (x, w, b) = (numbers(rows * d, 1), numbers(d * d_out, 2), numbers(d_out, 3));
    let (x, w) = (|i: usize, k: usize| f64::from(x[i * d + k]), |k: usize, j: usize| f64::from(w[k * d_out + j]));
    let mut found = [vec![0.0; rows * d_out], vec![0.0; rows * d], vec![0.0; d * d_out], vec![0.0; d_out]];
    for i in 0..rows {
        for j in 0..d_out {
            let out = f64::from(b[j]) + (0..d).map(|k| x(i, k) * w(k, j)).sum::<f64>();
            found[0][i * d_out + j] = out;
            found[3][j] += 2.0 * out;
            for k in 0..d {
                found[1][i * d + k] += 2.0 * out * w(k, j);
                found[2][k * d_out + j] += 2.0 * out * x(i, k);
            }
        }
    }
    found
}

#[test]
fn blocks_of_rows_give_the_sum_over_all() {
    // One block, whole blocks, blocks and a rest, blocks of more than the least number of rows.
    for shape in [[40, 5, 7], [512, 8, 3], [1000, 16, 1], [67_000, 3, 2]] {
        let expected = expected(shape);
        for device in devices() {
            for (found, expected) in passes(shape, &device).iter().zip(&expected) {
                let largest = expected.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
                let apart = found.iter().zip(expected).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
                let tolerance = f64::from(of_products(&device, 1e-5));
                assert!(found.len() == expected.len() && apart <= tolerance * largest, "{shape:?}: {apart} {device:?}");
            }
        }
    }
}
