//! The node initialisation on the CPU, block by block, with the features.

use rayon::prelude::*;
use tabsegnet_features::FeatureRows;

use super::weights::blocks;
use crate::activation::cpu::tanh;
use crate::product::{product, vectorised};
use crate::scorer::FEATURE_LIMIT;

/// Features of the nodes, `[nodes, width]`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Features<'a> {
    /// At mean 0 and deviation 1.
    Standardised(&'a [f32]),
    /// As they are, with mean and 1 / deviation, `[width]` each.
    Raw(&'a dyn FeatureRows, &'a [Vec<f32>; 2]),
}

impl<'a> Features<'a> {
    /// Those of the `rows` from `first` on, standardised, in `buffer` if need be.
    pub(super) fn rows(&self, first: usize, rows: usize, width: usize, buffer: &'a mut Vec<f32>) -> &'a [f32] {
        match self {
            Self::Standardised(values) => &values[first * width..(first + rows) * width],
            Self::Raw(values, scale) => {
                buffer.resize(rows * width, 0.0);
                values.write(first, width, buffer);
                standardise(buffer, scale);
                buffer
            }
        }
    }
}

/// Brings rows of features to mean 0 and deviation 1, as the model was trained on.
pub(super) fn standardise(rows: &mut [f32], scale: &[Vec<f32>; 2]) {
    vectorised(
        (rows, scale),
        #[inline(always)]
        |(rows, [mean, scale]): (&mut [f32], &[Vec<f32>; 2])| {
            for row in rows.chunks_exact_mut(mean.len().max(1)) {
                for ((value, mean), scale) in row.iter_mut().zip(mean).zip(scale) {
                    *value = ((*value - mean) * scale).clamp(-FEATURE_LIMIT, FEATURE_LIMIT);
                }
            }
        },
    );
}

/// What is added to u C_u before the tanh, node by node.
pub(super) struct FeatureParts<'a> {
    /// `[nodes, features]`, `[features, d]` and `[features]`.
    pub(super) features: Features<'a>,
    pub(super) C_f: &'a [f32],
    pub(super) w_f: &'a [f32],
}

impl FeatureParts<'_> {
    /// The part of the nodes from `first` on, onto `x` `[rows, d]`, and what their features add to the
    /// score by themselves into `by_features` `[rows]`.
    pub(super) fn add(&self, first: usize, x: &mut [f32], by_features: &mut [f32], d: usize, buffer: &mut Vec<f32>) {
        let (rows, width) = (by_features.len(), self.w_f.len());
        let features = self.features.rows(first, rows, width, buffer);
        product(x, true, features, self.C_f, [rows, width, d]);
        product(by_features, false, features, self.w_f, [rows, width, 1]);
    }
}

/// x⁰(u) = tanh(u C_u + … + (q C_q + d) + s* C_s) (6, 7), and `[nodes]` what features add to the score
/// by themselves. `own` is `[nodes, d]`, `table` `[1 + segments, d]`, `best` `[nodes]` or empty.
pub(super) fn node_init(
    own: &[f32],
    more: &FeatureParts<'_>,
    table: &[f32],
    best: &[u32],
    d: usize,
) -> (Vec<f32>, Vec<f32>) {
    let (q, segments) = table.split_at(d);
    let mut x = vec![0.0; own.len()];
    let mut by_features = vec![0.0; own.len() / d];
    let outs = blocks(&mut x, d).into_par_iter().zip(blocks(&mut by_features, 1));
    outs.for_each_init(Default::default, |(sum, buffer): &mut (Vec<f32>, Vec<f32>), ((first, x), (_, by_features))| {
        let mut own = &own[first * d..first * d + x.len()];
        if !more.C_f.is_empty() {
            sum.clear();
            sum.extend_from_slice(own);
            more.add(first, sum, by_features, d, buffer);
            own = sum;
        }
        let best = best.get(first..).unwrap_or_default();
        vectorised(
            (x, own, best),
            #[inline(always)]
            |(x, own, best): (&mut [f32], &[f32], &[u32])| {
                if segments.is_empty() {
                    for (x, own) in x.chunks_exact_mut(d).zip(own.chunks_exact(d)) {
                        for ((x, own), q) in x.iter_mut().zip(own).zip(q) {
                            *x = tanh(own + q);
                        }
                    }
                    return;
                }
                for ((x, own), best) in x.chunks_exact_mut(d).zip(own.chunks_exact(d)).zip(best) {
                    let s = &segments[*best as usize * d..(*best as usize + 1) * d];
                    for (((x, own), q), s) in x.iter_mut().zip(own).zip(q).zip(s) {
                        *x = tanh(own + q + s);
                    }
                }
            },
        );
    });
    (x, by_features)
}
