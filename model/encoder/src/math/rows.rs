//! Operations on every row of a matrix.

use super::functions::{exp, gelu, gelu_tanh};
use super::vectorised;

/// Lanes of a partial sum: one AVX-512 register of f32.
const LANES: usize = 16;

/// A function of one number, as a type: a function passed as a value is not always inlined, and
/// without that the loop around it is scalar.
pub(super) trait Map {
    fn apply(x: f32) -> f32;
}

pub(super) struct Identity;
pub(super) struct Gelu;
pub(super) struct GeluTanh;
pub(super) struct Relu;

impl Map for Identity {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        x
    }
}

impl Map for Gelu {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        gelu(x)
    }
}

impl Map for GeluTanh {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        gelu_tanh(x)
    }
}

impl Map for Relu {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        if x > 0.0 { x } else { 0.0 }
    }
}

/// Scale and shift of a layer normalisation, and its ε.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) eps: f32,
}

/// `x[t] = norm(x[t] + y[t])` for every row `t`.
pub(crate) fn add_norm(x: &mut [f32], y: &[f32], norm: &Norm) {
    vectorised(
        (x, y, norm),
        #[inline(always)]
        |(x, y, norm): (&mut [f32], &[f32], &Norm)| {
            let width = norm.weight.len().max(1);
            for (x, y) in x.chunks_exact_mut(width).zip(y.chunks_exact(width)) {
                for (x, y) in x.iter_mut().zip(y) {
                    *x += y;
                }
                normalise_row(x, norm);
            }
        },
    );
}

/// `x[t] = norm(x[t])` for every row `t`.
pub(crate) fn layer_norm(x: &mut [f32], norm: &Norm) {
    vectorised(
        (x, norm),
        #[inline(always)]
        |(x, norm): (&mut [f32], &Norm)| {
            for x in x.chunks_exact_mut(norm.weight.len().max(1)) {
                normalise_row(x, norm);
            }
        },
    );
}

// y = (x − mean) / √(var + ε) · weight + bias
#[inline(always)]
fn normalise_row(x: &mut [f32], norm: &Norm) {
    let width = x.len() as f32;
    let mean = sum_of_powers::<1>(x, 0.0) / width;
    let variance = sum_of_powers::<2>(x, mean) / width;
    let scale = 1.0 / (variance + norm.eps).sqrt();
    for ((x, weight), bias) in x.iter_mut().zip(&norm.weight).zip(&norm.bias) {
        *x = (*x - mean) * scale * weight + bias;
    }
}

/// Σ (x − from)ᵖ for p of 1 or 2, in a fixed order: [`LANES`] partial sums, then those.
#[inline(always)]
fn sum_of_powers<const P: usize>(x: &[f32], from: f32) -> f32 {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut lanes = [0.0f32; LANES];
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            let x = *x - from;
            *lane += if P == 2 { x * x } else { x };
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        let x = *x - from;
        *lane += if P == 2 { x * x } else { x };
    }
    lanes.iter().sum()
}

/// Width at which rows of `len` scores are laid out for [`softmax`]: whole vector registers.
pub(crate) fn padded(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

/// Softmax of the first `len` numbers of every row, rows [`padded`]`(len)` apart; what follows
/// them in a row is overwritten.
pub(crate) fn softmax(scores: &mut [f32], len: usize) {
    vectorised(
        (scores, len),
        #[inline(always)]
        |(scores, len): (&mut [f32], usize)| {
            for row in scores.chunks_exact_mut(padded(len).max(1)) {
                for pad in row.iter_mut().skip(len) {
                    *pad = f32::NEG_INFINITY;
                }
                let (chunks, _) = row.as_chunks_mut::<LANES>();
                let mut most = [f32::NEG_INFINITY; LANES];
                for chunk in chunks.iter() {
                    for (most, x) in most.iter_mut().zip(chunk) {
                        *most = if *x > *most { *x } else { *most };
                    }
                }
                let most = most.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
                let mut total = [0.0f32; LANES];
                for chunk in chunks.iter_mut() {
                    for (total, x) in total.iter_mut().zip(chunk) {
                        *x = exp(*x - most);
                        *total += *x;
                    }
                }
                let scale = 1.0 / total.iter().sum::<f32>();
                for x in row {
                    *x *= scale;
                }
            }
        },
    );
}

/// Divides every row of `width` numbers by its Euclidean length; a row of length 0 stays.
pub(crate) fn unit_rows(x: &mut [f32], width: usize) {
    for row in x.chunks_exact_mut(width.max(1)) {
        // torch.nn.functional.normalize divides by max(length, 1e-12).
        let length = sum_of_powers::<2>(row, 0.0).sqrt().max(1e-12);
        for x in row {
            *x /= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-2.0f32..2.0, rows * cols)
    }

    proptest! {
        #[test]
        fn softmax_rows_sum_to_one_and_keep_the_order(len in 1usize..70, seed in matrix(3, 80)) {
            let stride = padded(len);
            let mut rows: Vec<f32> = seed.chunks(80).flat_map(|row| row[..stride].iter().map(|x| x * 10.0)).collect();
            let before = rows.clone();
            softmax(&mut rows, len);
            for (row, before) in rows.chunks(stride).zip(before.chunks(stride)) {
                let top = before[..len].iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
                let total: f64 = before[..len].iter().map(|x| f64::from(x - top).exp()).sum();
                for (p, x) in row[..len].iter().zip(before) {
                    prop_assert!((f64::from(*p) - f64::from(x - top).exp() / total).abs() < 1e-6);
                }
                prop_assert!(row[len..].iter().all(|p| *p == 0.0));
            }
        }

        #[test]
        fn normalised_rows_have_mean_zero_and_variance_one(x in matrix(2, 37)) {
            let norm = Norm { weight: vec![1.0; 37], bias: vec![0.0; 37], eps: 1e-12 };
            let mut y = x.clone();
            layer_norm(&mut y, &norm);
            for row in y.chunks(37) {
                prop_assert!(row.iter().sum::<f32>().abs() < 1e-3);
                prop_assert!((row.iter().map(|x| x * x).sum::<f32>() - 37.0).abs() < 1e-2);
            }
            let mut added = vec![0.0; x.len()];
            add_norm(&mut added, &x, &norm);
            prop_assert_eq!(added, y);
        }
    }
}
