//! The f32 matrix product: a few rows times a packed panel of columns at a time.
//!
//! All of a tile's sums stay in registers over the whole depth, so that a result is written once,
//! by a function that the caller gives. The right matrix is packed once, a panel of as many columns
//! as a tile has after the other.

use pulp::bytemuck::{cast_slice, cast_slice_mut};
use pulp::{Simd, WithSimd};

use super::isa;
use super::line::Line;

/// Rows of a tile: with [`WIDE`] vectors of columns it fills the registers.
const ROWS: usize = 6;
/// Vectors of columns in a tile where there are 32 registers.
const WIDE: usize = 4;
/// Vectors of columns in a tile where there are 16 registers, or few columns.
const NARROW: usize = 2;
/// Most columns of a tile: [`WIDE`] AVX-512 registers.
pub(super) const MOST_COLS: usize = 64;

/// A right matrix `[depth, cols]` in panels `[depth, width]`; columns from `cols` on are 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels {
    lines: Vec<Line>,
    pub(super) depth: usize,
    pub(super) cols: usize,
    /// Columns of a panel.
    pub(super) width: usize,
}

impl Panels {
    /// Packs a matrix that is given by its columns, `[cols, depth]`.
    pub(crate) fn wide(columns: &[f32], depth: usize) -> Self {
        let mut panels = Self::default();
        panels.reset(depth, columns.len() / depth.max(1), width(true));
        for (col, column) in columns.chunks_exact(depth.max(1)).enumerate() {
            panels.set_column(col, column);
        }
        panels
    }

    /// Makes room for a matrix of few columns, whose content is then set; what was there before may
    /// remain in columns past `cols`.
    pub(super) fn reset_narrow(&mut self, depth: usize, cols: usize) {
        self.reset(depth, cols, width(false));
    }

    fn reset(&mut self, depth: usize, cols: usize, width: usize) {
        (self.depth, self.cols, self.width) = (depth, cols, width);
        self.lines.resize((self.count() * depth * width * size_of::<f32>()).div_ceil(Line::BYTES), Line::ZERO);
    }

    pub(super) fn count(&self) -> usize {
        self.cols.div_ceil(self.width.max(1))
    }

    #[inline(always)]
    pub(super) fn set_column(&mut self, col: usize, column: &[f32]) {
        let (depth, width) = (self.depth, self.width);
        let start = col / width * depth * width + col % width;
        let data: &mut [f32] = cast_slice_mut(&mut self.lines);
        for (place, x) in data[start..].iter_mut().step_by(width).zip(&column[..depth]) {
            *place = *x;
        }
    }

    #[inline(always)]
    pub(super) fn set_row(&mut self, row: usize, values: &[f32]) {
        let (depth, width) = (self.depth, self.width);
        let data: &mut [f32] = cast_slice_mut(&mut self.lines);
        for (panel, values) in data.chunks_exact_mut(depth * width).zip(values.chunks(width)) {
            panel[row * width..][..values.len()].copy_from_slice(values);
        }
    }

    fn panel(&self, panel: usize) -> &[f32] {
        let size = self.depth * self.width;
        &cast_slice(&self.lines)[panel * size..][..size]
    }
}

/// Columns of a panel on this processor.
fn width(wide: bool) -> usize {
    struct Width(bool);

    impl WithSimd for Width {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) -> usize {
            S::F32_LANES * if self.0 && S::REGISTER_COUNT >= 32 { WIDE } else { NARROW }
        }
    }

    isa().arch.dispatch(Width(wide))
}

/// The rows of the left matrix, `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    pub(super) data: &'a [f32],
    pub(super) rows: usize,
    pub(super) stride: usize,
}

/// `finish(row, first column, sums)` for all rows of `left` and the columns of one panel of
/// `right`: `sums[j]` is the product's number at `[row, first column + j]`.
///
/// `finish` must be a closure marked `#[inline(always)]`, as for [`super::vectorised`].
pub(super) fn product(left: Left<'_>, right: &Panels, panel: usize, finish: impl FnMut(usize, usize, &[f32])) {
    isa().arch.dispatch(Product { left, right, panel, finish });
}

struct Product<'a, F> {
    left: Left<'a>,
    right: &'a Panels,
    panel: usize,
    finish: F,
}

impl<F: FnMut(usize, usize, &[f32])> WithSimd for Product<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 && self.right.width == S::F32_LANES * WIDE {
            self.run::<S, WIDE>(simd);
        } else {
            self.run::<S, NARROW>(simd);
        }
    }
}

impl<F: FnMut(usize, usize, &[f32])> Product<'_, F> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(mut self, simd: S) {
        let panel: &[S::f32s] = cast_slice(self.right.panel(self.panel));
        let col = self.panel * self.right.width;
        let cols = self.right.width.min(self.right.cols - col);
        let mut sums = [[0.0; MOST_COLS]; ROWS];
        // Blocks of almost equal numbers of rows, as a block of one row costs nearly as much as one of several.
        let blocks = self.left.rows.div_ceil(ROWS);
        let mut row = 0;
        for block in 0..blocks {
            let rows = (self.left.rows - row).div_ceil(blocks - block);
            let left = &self.left.data[row * self.left.stride..];
            let stride = self.left.stride;
            match rows {
                1 => tile::<S, 1, N>(simd, left, stride, panel, &mut sums),
                2 => tile::<S, 2, N>(simd, left, stride, panel, &mut sums),
                3 => tile::<S, 3, N>(simd, left, stride, panel, &mut sums),
                4 => tile::<S, 4, N>(simd, left, stride, panel, &mut sums),
                5 => tile::<S, 5, N>(simd, left, stride, panel, &mut sums),
                _ => tile::<S, ROWS, N>(simd, left, stride, panel, &mut sums),
            }
            for (at, sums) in sums.iter().take(rows).enumerate() {
                (self.finish)(row + at, col, &sums[..cols]);
            }
            row += rows;
        }
    }
}

/// `sums[r][j] = Σₖ left[r, k] · panel[k, j]`, in order of k.
#[inline(always)]
fn tile<S: Simd, const M: usize, const N: usize>(
    simd: S,
    left: &[f32],
    stride: usize,
    panel: &[S::f32s],
    sums: &mut [[f32; MOST_COLS]; ROWS],
) {
    let (panel, _) = panel.as_chunks::<N>();
    let depth = panel.len();
    let left: [&[f32]; M] = std::array::from_fn(|row| &left[row * stride..][..depth]);
    let mut totals = [[simd.splat_f32s(0.0); N]; M];
    for k in 0..depth {
        let right = panel[k];
        for (totals, left) in totals.iter_mut().zip(&left) {
            let x = simd.splat_f32s(left[k]);
            for (total, right) in totals.iter_mut().zip(right) {
                *total = simd.mul_add_e_f32s(x, right, *total);
            }
        }
    }
    for (sums, totals) in sums.iter_mut().zip(&totals) {
        let totals: &[f32] = cast_slice(totals);
        sums[..totals.len()].copy_from_slice(totals);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-2.0f32..2.0, rows * cols)
    }

    fn sizes() -> impl Strategy<Value = (usize, usize, usize, Vec<f32>, Vec<f32>)> {
        (1usize..20, 1usize..40, 1usize..150)
            .prop_flat_map(|(m, k, n)| (Just(m), Just(k), Just(n), matrix(m, k), matrix(n, k)))
    }

    proptest! {
        #[test]
        fn products_equal_their_sums((m, k, n, left, columns) in sizes()) {
            let wide = Panels::wide(&columns, k);
            let mut narrow = Panels::default();
            narrow.reset_narrow(k, n);
            for row in 0..k {
                let values: Vec<f32> = columns.iter().skip(row).step_by(k).copied().collect();
                narrow.set_row(row, &values);
            }
            for panels in [wide, narrow] {
                let mut y = vec![f32::NAN; m * n];
                for panel in 0..panels.count() {
                    product(Left { data: &left, rows: m, stride: k }, &panels, panel, #[inline(always)] |row, col, sums| {
                        y[row * n + col..][..sums.len()].copy_from_slice(sums);
                    });
                }
                for (i, row) in y.chunks(n).enumerate() {
                    for (j, y) in row.iter().enumerate() {
                        let exact: f64 = (0..k).map(|l| f64::from(left[i * k + l]) * f64::from(columns[j * k + l])).sum();
                        prop_assert!((f64::from(*y) - exact).abs() < 1e-4);
                    }
                }
            }
        }
    }
}
