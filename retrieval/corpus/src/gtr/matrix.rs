//! Products of row-major f32 matrices, each on one thread, in one order of summation whatever the number of rows.

use gemm::Parallelism;
pub(super) use tabsegnet_features::vectors::{dot, vectorised};

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
