//! Products of row-major f32 matrices, each on one thread, in one order of summation whatever the number of rows.

use gemm::Parallelism;
use pulp::{Arch, Simd, WithSimd};

/// Calls `op` with `args`, compiled for the widest vector instructions of this processor. `op` must be a closure marked
/// `#[inline(always)]`, and so must all that it calls in a loop.
pub(super) fn vectorised<A, T>(args: A, op: impl FnOnce(A) -> T) -> T {
    struct Call<A, F>(A, F);

    impl<A, T, F: FnOnce(A) -> T> WithSimd for Call<A, F> {
        type Output = T;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) -> T {
            (self.1)(self.0)
        }
    }

    Arch::new().dispatch(Call(args, op))
}

/// Partial sums of [`dot`]: a fixed number, so that vector registers of any width give the same bits.
const LANES: usize = 16;

/// The dot product of two vectors of one length.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// `out = rows · othersᵀ`: the dot product of each row with each of `others`, `[rows, others]`, both `[_, width]`.
///
/// # Panics
/// Where the lengths do not fit.
pub(super) fn products(rows: &[f32], others: &[f32], width: usize, out: &mut [f32]) {
    let (m, n) = (rows.len() / width.max(1), others.len() / width.max(1));
    assert!(
        rows.len() == m * width && others.len() == n * width && out.len() == m * n,
        "matrices do not fit: {} and {} numbers in rows of {width} give no {} products",
        rows.len(),
        others.len(),
        out.len()
    );
    // SAFETY: the slices have the lengths of row-major matrices of these sizes, and `out` is borrowed mutably, so that
    // it overlaps neither of the others.
    #[allow(unsafe_code)]
    unsafe {
        gemm::gemm(
            m,
            n,
            width,
            out.as_mut_ptr(),
            1,
            n as isize,
            false,
            rows.as_ptr(),
            1,
            width as isize,
            others.as_ptr(),
            width as isize,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// The vector brought to length 1; zeros where it has no length.
pub(super) fn unit(vector: &[f32]) -> Vec<f32> {
    let mut unit = vector.to_vec();
    make_unit(&mut unit);
    unit
}

/// Brings a vector to length 1; one without length stays.
pub(super) fn make_unit(vector: &mut [f32]) {
    let square: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if square > 0.0 {
        let scale = 1.0 / square.sqrt();
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) * scale) as f32);
    }
}
