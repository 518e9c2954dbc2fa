//! Products of 8-bit rows with 8-bit weights: sums are whole numbers and exact, so that every
//! kernel gives the same bits.

mod kernels;

use std::ops::Range;

pub(crate) use kernels::Kernel;
use kernels::{MOST_COLS, ROWS};
use pulp::bytemuck::{cast_slice, cast_slice_mut};

use super::line::Line;
use super::{isa, vectorised};

/// Deepest product whose sums surely fit: 65,536 · 255 · 127 < 2³¹.
pub(crate) const MOST_DEPTH: usize = 1 << 16;
/// Numbers that the kernels multiply at a time; depths are padded to it with 0.
const GROUP: usize = 4;
/// Adding 1.5 · 2²³ rounds to an integer, ties to even, and leaves it in the low bits.
const ROUND: f32 = 12_582_912.0;
/// Lanes of a partial result, as in the f32 functions.
const LANES: usize = 16;

/// Rows of numbers, each in 8 bits: `x ≈ scale (q − zero)`, 0 exactly.
#[derive(Default)]
pub(super) struct Rows {
    /// `[rows, stride]`
    data: Vec<u8>,
    /// Depth, padded.
    stride: usize,
    /// Scale and zero of each row.
    ranges: Vec<(f32, i32)>,
}

impl Rows {
    /// Quantises row-major `[rows, depth]`. A row that holds a number that is not finite gets a
    /// scale that is not.
    pub(super) fn quantise(&mut self, x: &[f32], depth: usize) {
        self.stride = depth.next_multiple_of(GROUP);
        let rows = x.len() / depth.max(1);
        self.data.resize(rows * self.stride, 0);
        self.ranges.resize(rows, (0.0, 0));
        vectorised(
            (x, depth, self),
            #[inline(always)]
            |(x, depth, this): (&[f32], usize, &mut Self)| {
                let rows = this.data.chunks_exact_mut(this.stride.max(1)).zip(&mut this.ranges);
                for (x, (row, range)) in x.chunks_exact(depth.max(1)).zip(rows) {
                    *range = quantise_row(x, row);
                }
            },
        );
    }
}

#[inline(always)]
fn quantise_row(x: &[f32], q: &mut [u8]) -> (f32, i32) {
    // 0 is always in the range, so that it has a number.
    let (mut low, mut high, mut odd) = ([0.0f32; LANES], [0.0f32; LANES], [0.0f32; LANES]);
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut see = |lane: usize, x: f32| {
        low[lane] = if x < low[lane] { x } else { low[lane] };
        high[lane] = if x > high[lane] { x } else { high[lane] };
        odd[lane] += x * 0.0;
    };
    for chunk in chunks {
        for (lane, x) in chunk.iter().enumerate() {
            see(lane, *x);
        }
    }
    for (lane, x) in rest.iter().enumerate() {
        see(lane, *x);
    }
    let low = low.iter().fold(0.0f32, |a, b| a.min(*b));
    let high = high.iter().fold(0.0f32, |a, b| a.max(*b));
    let scale = (high - low) / 255.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let zero = -low * inverse + ROUND - ROUND;
    for (q, x) in q.iter_mut().zip(x) {
        let y = x * inverse + zero;
        let y = if y > 0.0 { y } else { 0.0 };
        let y = if y < 255.0 { y } else { 255.0 };
        *q = (y + ROUND).to_bits() as u8;
    }
    (scale + odd.iter().sum::<f32>(), zero as i32)
}

/// Weights of 8 bits, packed for a kernel: `w ≈ scale q` with a scale for each column.
pub(super) struct Quantised {
    kernel: Kernel,
    /// Panels `[depth / 4, width, 4]`.
    lines: Vec<Line>,
    /// Depth, padded.
    depth: usize,
    scales: Vec<f32>,
    /// Sum of each column, which is taken off `zero` times.
    sums: Vec<i32>,
}

impl Quantised {
    /// Quantises a matrix that is given by its columns, `[columns, depth]`, for this processor's
    /// kernel.
    pub(super) fn new(columns: &[f32], depth: usize) -> Self {
        Self::packed(columns, depth, isa().int8)
    }

    fn packed(columns: &[f32], depth: usize, kernel: Kernel) -> Self {
        assert!(depth <= MOST_DEPTH, "the sums of a product could overflow");
        let count = columns.len() / depth.max(1);
        let padded = depth.next_multiple_of(GROUP);
        let width = kernel.width();
        let panels = count.div_ceil(width);
        let mut lines = vec![Line::ZERO; panels * padded * width / Line::BYTES];
        let bytes: &mut [i8] = cast_slice_mut(&mut lines);
        let (mut scales, mut sums) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (col, column) in columns.chunks_exact(depth.max(1)).enumerate() {
            let most = column.iter().fold(0.0f32, |most, w| most.max(w.abs()));
            let inverse = if most > 0.0 { 127.0 / most } else { 0.0 };
            let start = col / width * padded * width + col % width * GROUP;
            let mut sum = 0;
            for (k, w) in column.iter().enumerate() {
                let q = (w * inverse + ROUND).to_bits() as i8;
                sum += i32::from(q);
                bytes[start + k / GROUP * width * GROUP + k % GROUP] = q;
            }
            scales.push(most / 127.0);
            sums.push(sum);
        }
        Self { kernel, lines, depth: padded, scales, sums }
    }

    /// Number of panels.
    pub(super) fn count(&self) -> usize {
        self.scales.len().div_ceil(self.kernel.width())
    }

    /// `finish(row, first column, products)` for some rows of `left` and the columns of one panel.
    ///
    /// `finish` must be a closure marked `#[inline(always)]`, as for [`vectorised`].
    pub(super) fn product<F: Fn(usize, usize, &[f32])>(
        &self,
        left: &Rows,
        rows: Range<usize>,
        panel: usize,
        finish: F,
    ) {
        let size = self.depth * self.kernel.width();
        let weights = &cast_slice(&self.lines)[panel * size..][..size];
        let first = panel * self.kernel.width();
        let cols = first..(first + self.kernel.width()).min(self.scales.len());
        let mut sums = [[0; MOST_COLS]; ROWS];
        let mut row = rows.start;
        let blocks = rows.len().div_ceil(ROWS);
        for block in 0..blocks {
            let count = (rows.end - row).div_ceil(blocks - block);
            self.kernel.tile(&left.data[row * left.stride..], left.stride, count, weights, &mut sums);
            vectorised(
                (self, &sums[..count], &left.ranges[row..], cols.clone(), row, &finish),
                #[inline(always)]
                |(this, sums, ranges, cols, row, finish): Tile<'_, F>| {
                    for (at, (sums, (scale, zero))) in sums.iter().zip(ranges).enumerate() {
                        let columns = this.sums[cols.clone()].iter().zip(&this.scales[cols.clone()]);
                        let mut products = [0.0; MOST_COLS];
                        for (y, (sum, (column, by))) in products.iter_mut().zip(sums.iter().zip(columns)) {
                            *y = (sum - zero * column) as f32 * (scale * by);
                        }
                        finish(row + at, cols.start, &products[..cols.len()]);
                    }
                },
            );
            row += count;
        }
    }
}

/// What turns the sums of a tile into products: weights, sums, ranges of the rows, columns, first
/// row, and what takes them.
type Tile<'a, F> = (&'a Quantised, &'a [[i32; MOST_COLS]], &'a [(f32, i32)], Range<usize>, usize, &'a F);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-2.0f32..2.0, rows * cols)
    }

    fn sizes() -> impl Strategy<Value = (usize, usize, usize, Vec<f32>, Vec<f32>)> {
        (1usize..15, 1usize..70, 1usize..150)
            .prop_flat_map(|(m, k, n)| (Just(m), Just(k), Just(n), matrix(m, k), matrix(n, k)))
    }

    /// The products by a kernel, `[rows, columns]`.
    fn products(left: &Rows, weights: &Quantised) -> Vec<f32> {
        let (rows, cols) = (left.ranges.len(), weights.scales.len());
        let y = std::cell::RefCell::new(vec![f32::NAN; rows * cols]);
        for panel in 0..weights.count() {
            weights.product(
                left,
                0..rows,
                panel,
                #[inline(always)]
                |row, col, products| {
                    y.borrow_mut()[row * cols + col..][..products.len()].copy_from_slice(products);
                },
            );
        }
        y.into_inner()
    }

    proptest! {
        #[test]
        fn every_kernel_gives_the_bits_of_the_sums((m, k, _n, x, columns) in sizes()) {
            let mut left = Rows::default();
            left.quantise(&x, k);
            // The weights' numbers again, and the sums in order, in whole numbers.
            let quantised: Vec<(Vec<i64>, f32)> = columns.chunks(k).map(|column| {
                let most = column.iter().fold(0.0f32, |a, w| a.max(w.abs()));
                let inverse = if most > 0.0 { 127.0 / most } else { 0.0 };
                (column.iter().map(|w| (w * inverse).round_ties_even() as i64).collect(), most / 127.0)
            }).collect();
            let expected: Vec<u32> = (0..m).flat_map(|row| {
                let (scale, zero) = left.ranges[row];
                let q = &left.data[row * left.stride..][..k];
                quantised.iter().map(move |(column, by)| {
                    let sum: i64 = q.iter().zip(column).map(|(q, w)| (i64::from(*q) - i64::from(zero)) * w).sum();
                    (sum as f32 * (scale * by)).to_bits()
                }).collect::<Vec<_>>()
            }).collect();
            for kernel in Kernel::all() {
                let weights = Quantised::packed(&columns, k, kernel);
                let bits: Vec<u32> = products(&left, &weights).into_iter().map(f32::to_bits).collect();
                prop_assert_eq!(&bits, &expected, "{:?}", kernel);
            }
        }

        #[test]
        fn a_quantised_row_is_near_its_numbers(x in matrix(1, 90), shift in -3.0f32..3.0) {
            let x: Vec<f32> = x.iter().map(|x| x + shift).collect();
            let mut rows = Rows::default();
            rows.quantise(&x, 90);
            let (scale, zero) = rows.ranges[0];
            for (q, x) in rows.data.iter().zip(&x) {
                prop_assert!((scale * (i32::from(*q) - zero) as f32 - x).abs() <= 1.01 * scale);
            }
        }
    }

    #[test]
    fn the_largest_numbers_neither_saturate_nor_overflow() {
        let (k, x) = (MOST_DEPTH, vec![1.0; MOST_DEPTH]);
        let mut left = Rows::default();
        left.quantise(&x, k);
        assert!(left.data.iter().all(|q| *q == 255));
        for kernel in Kernel::all() {
            for sign in [1.0, -1.0] {
                let weights = Quantised::packed(&vec![sign; k], k, kernel);
                assert_eq!(products(&left, &weights), [(255 * 127 * k) as f32 * (sign / 255.0 / 127.0)], "{kernel:?}");
            }
        }
    }

    #[test]
    fn rows_of_zeros_stay_zero_and_what_is_not_finite_is_not_lost() {
        let weights = Quantised::new(&[1.0, -0.5, 0.25, 0.0, 0.0, 0.0], 3);
        let mut left = Rows::default();
        left.quantise(&[0.0; 3], 3);
        assert_eq!(products(&left, &weights), [0.0, 0.0]);
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            left.quantise(&[1.0, odd, 2.0], 3);
            assert!(products(&left, &weights).iter().all(|y| !y.is_finite()));
        }
    }
}
