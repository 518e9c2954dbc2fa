//! Matrix products and loops on row-major f32 slices, each on one thread.

use gemm::Parallelism;
pub(crate) use tabsegnet_features::vectors::vectorised;

/// `y = a b`, or `y += a b` with `add`: `a` is `[rows, inner]`, `b` `[inner, cols]`.
///
/// The same kernels as the CPU backend's, which sum over `inner` in one order whatever the number
/// of rows: a product by blocks of rows has the bits of the whole one.
pub(crate) fn product(y: &mut [f32], add: bool, a: &[f32], b: &[f32], [rows, inner, cols]: [usize; 3]) {
    assert!(
        a.len() == rows * inner && b.len() == inner * cols && y.len() == rows * cols,
        "matrices do not fit: {} by {} gives no {} of {rows} rows",
        a.len(),
        b.len(),
        y.len()
    );
    // SAFETY: the three slices have the lengths of row-major matrices of these sizes, and `y` is
    // borrowed mutably, so that it overlaps neither of the others.
    #[allow(unsafe_code)]
    unsafe {
        gemm::gemm(
            rows,
            cols,
            inner,
            y.as_mut_ptr(),
            1,
            cols as isize,
            add,
            a.as_ptr(),
            1,
            inner as isize,
            b.as_ptr(),
            1,
            cols as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
