//! Single-threaded dense math on row-major f32 slices.
//!
//! Loops are written so that the compiler turns them into vector instructions; [`pulp`] picks the
//! widest that the processor has. Nothing here depends on the number of threads.

use gemm::Parallelism;
use pulp::{Arch, Simd, WithSimd};

/// Lanes of a partial sum: one AVX-512 register of f32.
pub(crate) const LANES: usize = 16;

/// Calls `op` with `args`, compiled for the widest vector instructions of this processor.
///
/// `op` must be a closure marked `#[inline(always)]`: what is not inlined here is compiled for the
/// oldest processor. A closure is passed with its arguments, rather than one that captures them,
/// because a closure that is called once and for all goes through a function of its own.
pub(crate) fn vectorised<A>(args: A, op: impl Fn(A)) {
    struct Call<A, F>(A, F);

    impl<A, F: Fn(A)> WithSimd for Call<A, F> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) {
            (self.1)(self.0);
        }
    }

    Arch::new().dispatch(Call(args, op));
}

/// A matrix inside a slice.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    data: &'a [f32],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a> View<'a> {
    /// Row-major `[rows, cols]` at the start of `data`, rows `stride` apart.
    pub(crate) fn rows(data: &'a [f32], rows: usize, cols: usize, stride: usize) -> Self {
        assert!(fits(data.len(), rows, cols, stride), "a matrix reaches over its slice");
        Self { data, rows, cols, row_stride: stride, col_stride: 1 }
    }

    /// The transpose.
    pub(crate) fn t(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..self
        }
    }
}

fn fits(len: usize, rows: usize, cols: usize, stride: usize) -> bool {
    rows == 0 || cols == 0 || (cols <= stride && (rows - 1) * stride + cols <= len)
}

/// `y = scale · a b`, where `y` is row-major `[a.rows, b.cols]`, rows `stride` apart.
pub(crate) fn matmul(y: &mut [f32], stride: usize, scale: f32, a: View<'_>, b: View<'_>) {
    assert_eq!(a.cols, b.rows, "matrices do not fit");
    assert!(fits(y.len(), a.rows, b.cols, stride), "a product reaches over its slice");
    // SAFETY: `fits` holds for `a`, `b` (by construction; a transpose addresses the same elements)
    // and `y`, so that every element addressed lies in its slice; `y` is borrowed mutably, so it
    // overlaps neither. `y` is only written, as `read_dst` is false.
    #[allow(unsafe_code)]
    unsafe {
        gemm::gemm(
            a.rows,
            b.cols,
            a.cols,
            y.as_mut_ptr(),
            1,
            stride as isize,
            false,
            a.data.as_ptr(),
            a.col_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.col_stride as isize,
            b.row_stride as isize,
            0.0,
            scale,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// The transpose of row-major `[rows, cols]`.
pub(crate) fn transpose(data: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(data.len());
    for col in 0..cols {
        out.extend(data.iter().skip(col).step_by(cols.max(1)).take(rows));
    }
    out
}

/// Activations of the feed-forward layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Activation {
    /// x Φ(x), by the error function.
    Gelu,
    /// x Φ(x), by the tanh approximation.
    GeluTanh,
    /// max(x, 0).
    Relu,
}

/// `y[t] += bias` for every row `t` of `bias.len()` numbers.
pub(crate) fn add_bias(y: &mut [f32], bias: &[f32]) {
    vectorised(
        (y, bias),
        #[inline(always)]
        |(y, bias): (&mut [f32], &[f32])| {
            for row in y.chunks_exact_mut(bias.len().max(1)) {
                for (y, bias) in row.iter_mut().zip(bias) {
                    *y += bias;
                }
            }
        },
    );
}

/// `y[t] = activation(y[t] + bias)` for every row `t`.
pub(crate) fn add_bias_activate(y: &mut [f32], bias: &[f32], activation: Activation) {
    match activation {
        Activation::Gelu => map_rows::<Gelu>(y, bias),
        Activation::GeluTanh => map_rows::<GeluTanh>(y, bias),
        Activation::Relu => map_rows::<Relu>(y, bias),
    }
}

/// A function of one number, as a type: a function passed as a value is not always inlined, and
/// without that the loop around it is scalar.
trait Map {
    fn apply(x: f32) -> f32;
}

struct Gelu;
struct GeluTanh;
struct Relu;

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

fn map_rows<F: Map>(y: &mut [f32], bias: &[f32]) {
    vectorised(
        (y, bias),
        #[inline(always)]
        |(y, bias): (&mut [f32], &[f32])| {
            for row in y.chunks_exact_mut(bias.len().max(1)) {
                for (y, bias) in row.iter_mut().zip(bias) {
                    *y = F::apply(*y + bias);
                }
            }
        },
    );
}

/// Scale and shift of a layer normalisation, and its ε.
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) eps: f32,
}

/// `x[t] = norm(x[t] + y[t] + bias)` for every row `t`.
pub(crate) fn add_norm(x: &mut [f32], y: &[f32], bias: &[f32], norm: &Norm) {
    vectorised(
        (x, y, bias, norm),
        #[inline(always)]
        |(x, y, bias, norm): (&mut [f32], &[f32], &[f32], &Norm)| {
            let width = norm.weight.len().max(1);
            for (x, y) in x.chunks_exact_mut(width).zip(y.chunks_exact(width)) {
                for ((x, y), bias) in x.iter_mut().zip(y).zip(bias) {
                    *x += y + bias;
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

/// eˣ to 2 units in the last place, for x ≤ 88; 0 below −87.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding 1.5 · 2²³ rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let clamped = if x > -87.0 { x } else { -87.0 };
    let shifted = clamped.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    // x − n ln 2, with ln 2 in two parts
    let r = n.mul_add(2.121_944_4e-4, n.mul_add(-0.693_359_4, clamped));
    // Cephes expf: eʳ on [−½ ln 2, ½ ln 2]
    let p = 1.987_569_2e-4_f32
        .mul_add(r, 1.398_2e-3)
        .mul_add(r, 8.333_452e-3)
        .mul_add(r, 4.166_579_6e-2)
        .mul_add(r, 1.666_666_5e-1)
        .mul_add(r, 5.000_000_1e-1);
    let y = p.mul_add(r * r, r + 1.0);
    let y = f32::from_bits(y.to_bits().wrapping_add(shifted.to_bits() << 23));
    if x > -87.0 { y } else { 0.0 }
}

/// x Φ(x) = ½ x (1 + erf(x / √2))
#[inline(always)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))
#[inline(always)]
fn gelu_tanh(x: f32) -> f32 {
    const SQRT_2_OVER_PI: f32 = 0.797_884_6;
    let inner = SQRT_2_OVER_PI * (0.044_715 * x * x).mul_add(x, x);
    // ½ (1 + tanh(z)) = 1 / (1 + e^(−2z))
    let z = -2.0 * inner;
    let z = if z < 87.0 { z } else { 87.0 };
    x / (1.0 + exp(z))
}

/// The error function to 4 units in the last place: a rational function on [−4, 4], beyond which
/// f32 cannot tell it from ±1.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = if x > 4.0 { 4.0 } else { x };
    let x = if x < -4.0 { -4.0 } else { x };
    let s = x * x;
    let p = (-2.726_142_3e-10_f32)
        .mul_add(s, 2.770_681_4e-8)
        .mul_add(s, -2.101_024e-6)
        .mul_add(s, -5.692_506_4e-5)
        .mul_add(s, -7.349_906e-4)
        .mul_add(s, -2.954_6e-3)
        .mul_add(s, -1.609_603_3e-2);
    let q = (-1.456_607_2e-5_f32)
        .mul_add(s, -2.133_740_6e-4)
        .mul_add(s, -1.682_827e-3)
        .mul_add(s, -7.373_329e-3)
        .mul_add(s, -1.426_473_9e-2);
    x * p / q
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// erf by its Taylor series in f64.
    fn erf_series(x: f64) -> f64 {
        let (mut term, mut total, mut n) = (x, x, 0.0);
        while term.abs() > 1e-17 * total.abs() && n < 200.0 {
            n += 1.0;
            term *= -x * x / n;
            total += term / (2.0 * n + 1.0);
        }
        total * std::f64::consts::FRAC_2_SQRT_PI
    }

    #[test]
    fn the_functions_follow_their_definitions() {
        for i in -3_900..=3_900 {
            let x = i as f32 / 1000.0;
            let exact = erf_series(f64::from(x));
            assert!((f64::from(erf(x)) - exact).abs() <= 4e-7 * exact.abs().max(1e-3), "erf({x})");
            let wide = x * 20.0;
            let exact = f64::from(wide).exp();
            assert!((f64::from(exp(wide)) - exact).abs() <= 3e-7 * exact, "exp({wide})");
            let phi = 0.5 * (1.0 + erf_series(f64::from(x) / std::f64::consts::SQRT_2));
            assert!((f64::from(gelu(x)) - f64::from(x) * phi).abs() < 1e-6, "gelu({x})");
            let z = (2.0 / std::f64::consts::PI).sqrt() * (f64::from(x) + 0.044_715 * f64::from(x).powi(3));
            let exact = 0.5 * f64::from(x) * (1.0 + z.tanh());
            assert!((f64::from(gelu_tanh(x)) - exact).abs() < 1e-6, "gelu_tanh({x})");
        }
        assert_eq!((exp(-90.0), exp(f32::NEG_INFINITY), exp(0.0)), (0.0, 0.0, 1.0));
        assert!((gelu(30.0) - 30.0).abs() < 1e-5 && gelu(-30.0).abs() < 1e-5 && gelu(0.0) == 0.0);
        assert_eq!((gelu_tanh(30.0), gelu_tanh(-1e4).abs() < 1e-30), (30.0, true));
    }

    fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-2.0f32..2.0, rows * cols)
    }

    fn sizes() -> impl Strategy<Value = (usize, usize, usize, Vec<f32>, Vec<f32>)> {
        (1usize..40, 1usize..40, 1usize..40)
            .prop_flat_map(|(m, k, n)| (Just(m), Just(k), Just(n), matrix(m, k), matrix(k, n)))
    }

    proptest! {
        #[test]
        fn products_equal_their_sums((m, k, n, a, b) in sizes(), pad in 0usize..3) {
            let stride = n + pad;
            let mut y = vec![7.0; m * stride];
            let transposed = transpose(&b, k, n);
            matmul(&mut y, stride, 0.5, View::rows(&a, m, k, k), View::rows(&transposed, n, k, k).t());
            for (i, row) in y.chunks(stride).enumerate() {
                for j in 0..n {
                    let exact: f32 = (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
                    prop_assert!((row[j] - 0.5 * exact).abs() < 1e-4);
                }
                prop_assert!(row[n..].iter().all(|pad| *pad == 7.0));
            }
        }

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
            add_norm(&mut added, &x, &[0.0; 37], &norm);
            prop_assert_eq!(added, y);
        }
    }
}
