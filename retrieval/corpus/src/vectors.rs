//! Vectors as a segment holds them.

use serde::{Deserialize, Serialize};

use crate::file::bytes_of;

/// How a vector is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorKind {
    /// As it is.
    #[default]
    F32,
    /// A quarter of the space: whole numbers from −127 to 127, and what they are multiplied by.
    Int8,
}

impl VectorKind {
    /// Bytes of a vector.
    pub(crate) fn bytes(self, dim: usize) -> usize {
        match self {
            Self::F32 => dim.saturating_mul(4),
            Self::Int8 => dim,
        }
    }

    /// Vectors `[tables, dim]` as bytes, and what each is multiplied by.
    pub(crate) fn pack(self, vectors: &[f32], tables: usize) -> (Vec<u8>, Vec<f32>) {
        match self {
            Self::F32 => (bytes_of(vectors).to_vec(), Vec::new()),
            Self::Int8 => {
                let mut bytes = Vec::with_capacity(vectors.len());
                let mut scales = Vec::with_capacity(tables);
                for vector in vectors.chunks_exact((vectors.len() / tables.max(1)).max(1)) {
                    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
                    let scale = largest / 127.0;
                    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
                    bytes.extend(vector.iter().map(|value| (value * inverse).round() as i8 as u8));
                    scales.push(scale);
                }
                (bytes, scales)
            }
        }
    }
}

/// [`tabsegnet_features::vectors::dot`] with a vector kept as [`VectorKind::Int8`], before it is multiplied.
pub(crate) fn dot_int8(a: &[f32], b: &[i8]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0_f32; LANES];
    let (a_parts, a_rest) = a.as_chunks::<LANES>();
    let (b_parts, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_parts.iter().zip(b_parts) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * f32::from(*b);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * f32::from(*b)).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabsegnet_features::vectors::dot;

    use super::*;

    proptest! {
        #[test]
        fn products_are_near_the_plain_sum(a in proptest::collection::vec(-1.0..1.0_f32, 0..70)) {
            let b: Vec<f32> = a.iter().map(|value| 0.5 - value).collect();
            let plain: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            prop_assert!((dot(&a, &b) - plain).abs() < 1e-4);
            let (bytes, scales) = VectorKind::Int8.pack(&b, 1);
            if let Some(scale) = scales.first() {
                let packed: Vec<i8> = bytes.iter().map(|&byte| byte as i8).collect();
                prop_assert!((dot_int8(&a, &packed) * scale - plain).abs() < 0.01 * a.len() as f32);
            }
        }
    }
}
