//! Arithmetic on vectors that gives the same bits on any processor: loops are compiled for several widths of vector
//! registers, and sums have an order of their own.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Calls `op` with `args`, compiled for the widest vector instructions of this processor. `op` must
/// be a closure marked `#[inline(always)]`, and so must all that it calls in a loop.
pub fn vectorised<A, T>(args: A, op: impl FnOnce(A) -> T) -> T {
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

/// Partial sums of [`dot`]: a fixed number lets the compiler use vector registers without changing
/// the result between machines. One sum after the other could not be done side by side.
const LANES: usize = 16;

/// The dot product of two vectors of one length.
#[inline(always)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// Dot products of each node's vector with each of `vectors`, `[nodes, vectors]`; `nodes` is `[nodes, d]` for vectors of
/// `[d]`. A node's vector meets all of them while it is near: to bring it from memory takes longer than a product.
pub fn products(nodes: &[f32], vectors: &[&[f32]]) -> Vec<f32> {
    /// Least nodes that a thread takes.
    const NODES: usize = 256;
    let (width, d) = (vectors.len(), vectors.first().map_or(0, |vector| vector.len()));
    if d == 0 {
        return Vec::new();
    }
    let mut products = vec![0.0; nodes.len() / d * width];
    products.par_chunks_mut(NODES * width).zip(nodes.par_chunks(NODES * d)).for_each(|(products, nodes)| {
        vectorised(
            (products, nodes),
            #[inline(always)]
            |(products, nodes): (&mut [f32], &[f32])| {
                for (products, node) in products.chunks_exact_mut(width).zip(nodes.chunks_exact(d)) {
                    for (product, vector) in products.iter_mut().zip(vectors) {
                        *product = dot(node, vector);
                    }
                }
            },
        );
    });
    products
}

/// 1 / √x, 0 of what is not above 0.
pub(crate) fn inverse(square: f32) -> f32 {
    if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 }
}

/// Rows of width `d` brought to length 1; those of length 0 stay.
pub(crate) fn normalised(vectors: &[f32], d: usize) -> Vec<f32> {
    let mut unit = vectors.to_vec();
    for row in unit.chunks_exact_mut(d.max(1)) {
        let scale = inverse(dot(row, row));
        row.iter_mut().for_each(|value| *value *= scale);
    }
    unit
}

/// Vectors of the compared strings of a document, of length 1 or 0.
#[derive(Debug, Clone)]
pub(crate) struct StringVectors {
    /// The row of each string; none of one that has no vector.
    rows: Vec<Option<u32>>,
    /// `[rows, d]`
    values: Vec<f32>,
    d: usize,
}

impl StringVectors {
    /// Of `vectors` `[compared, d]`, which may be empty, of the strings `compared` among so many.
    pub(crate) fn new(vectors: &[f32], d: usize, compared: &[u32], strings: usize) -> Self {
        let mut rows = vec![None; strings];
        for (row, &string) in (0..).zip(compared).filter(|_| !vectors.is_empty()) {
            rows[string as usize] = Some(row);
        }
        Self { rows, values: normalised(vectors, d), d }
    }

    pub(crate) fn get(&self, string: usize) -> Option<&[f32]> {
        let row = self.rows[string]? as usize;
        Some(&self.values[row * self.d..(row + 1) * self.d])
    }
}

/// A document's vectors.
pub(crate) struct Vectors<'a> {
    /// `[nodes, d]`, of any length.
    pub(crate) nodes: &'a [f32],
    pub(crate) strings: &'a StringVectors,
}

impl Vectors<'_> {
    /// Of length 1 or 0. Worked out each time: of a table of a million cells only the headers' are wanted.
    pub(crate) fn of_node(&self, node: usize) -> Vec<f32> {
        normalised(&self.nodes[node * self.strings.d..(node + 1) * self.strings.d], self.strings.d)
    }

    /// Empty of one that has no vector.
    pub(crate) fn of_string(&self, string: u32) -> &[f32] {
        self.strings.get(string as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn products_are_those_of_each_two_vectors(
            nodes in 0..600_usize, width in 1..4_usize, d in 1..40_usize, seed in 0..100_usize,
        ) {
            let values = |count: usize, step: usize| -> Vec<f32> {
                (0..count).map(|n| ((n * step + seed) % 97) as f32 / 16.0 - 3.0).collect()
            };
            let (u, vectors) = (values(nodes * d, 31), values(width * d, 17));
            let each: Vec<&[f32]> = vectors.chunks(d).collect();
            let found = products(&u, &each);
            prop_assert_eq!(found.len(), nodes * width);
            for (node, found) in u.chunks(d).zip(found.chunks(width)) {
                for (vector, found) in each.iter().zip(found) {
                    let plain: f64 = node.iter().zip(*vector).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                    prop_assert!((f64::from(*found) - plain).abs() < 1e-3);
                    prop_assert_eq!(*found, dot(node, vector), "the same bits, however it is compiled");
                }
            }
        }
    }

    #[test]
    fn nothing_has_no_length() {
        assert!(products(&[], &[]).is_empty());
        assert_eq!(normalised(&[3.0, 4.0, 0.0, 0.0], 2), [0.6, 0.8, 0.0, 0.0]);
    }
}
