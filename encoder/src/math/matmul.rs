//! Matrix products, by the gemm crate.

use gemm::Parallelism;

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
        Self { rows: self.cols, cols: self.rows, row_stride: self.col_stride, col_stride: self.row_stride, ..self }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
    }
}
