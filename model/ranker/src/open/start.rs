//! The node initialisation on the CPU, block by block, with the features.

use rayon::prelude::*;
use tabsegnet_features::FeatureRows;

use super::weights::{Weights, blocks};
use crate::activation::cpu::tanh;
use crate::product::{product, vectorised};
use crate::scorer::FEATURE_LIMIT;

/// The features of a document's nodes, `[nodes, width]`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Features<'a> {
    /// At mean 0 and deviation 1.
    Standardised(&'a [f32]),
    /// As they are.
    Raw(&'a dyn FeatureRows),
}

/// What a network starts from.
pub(super) struct Start<'a> {
    pub(super) weights: &'a Weights,
    /// u C_u of all nodes of the document, `[nodes, d]`.
    pub(super) own: &'a [f32],
    /// q C_q + d, and below it s C_s of each segment: `[1 + segments, d]`.
    pub(super) table: Vec<f32>,
}

/// x⁰ `[nodes, d]` and what features add to the scores by themselves `[nodes]`.
pub(super) type Started = (Vec<f32>, Vec<f32>);

/// Rows of both.
type Block<'a> = (&'a mut [f32], &'a mut [f32]);

/// x⁰(u) = tanh(u C_u + … + (q C_q + d) + s* C_s) (6, 7) by each network, of all nodes of a document or of some, and what
/// their features add. `best` is the best segment of each node of the document, or empty.
///
/// A block of rows goes through all networks before the next one does, so that its features are made once and stay in the
/// core's own cache.
pub(super) fn node_init(
    networks: &[Start<'_>],
    nodes: Option<&[u32]>,
    features: Features<'_>,
    best: &[u32],
) -> Vec<Started> {
    let Some(Start { weights, own, .. }) = networks.first() else { return Vec::new() };
    let (d, width) = (weights.d.len(), weights.w_f.len());
    let count = nodes.map_or(own.len() / d, <[u32]>::len);
    let mut started: Vec<Started> = networks.iter().map(|_| (vec![0.0; count * d], vec![0.0; count])).collect();
    let mut tasks: Vec<(usize, Vec<Block<'_>>)> = Vec::new();
    for (x, by_features) in &mut started {
        for (at, ((first, x), (_, by_features))) in blocks(x, d).into_iter().zip(blocks(by_features, 1)).enumerate() {
            if at == tasks.len() {
                tasks.push((first, Vec::with_capacity(networks.len())));
            }
            tasks[at].1.push((x, by_features));
        }
    }
    tasks.into_par_iter().for_each_init(Buffers::default, |buffers, (first, outs)| {
        let Buffers { standardised, sum } = buffers;
        let rows = outs.first().map_or(0, |(_, by_features)| by_features.len());
        let nodes = nodes.map(|nodes| &nodes[first..first + rows]);
        let node = |row: usize| nodes.map_or(first + row, |nodes| nodes[row] as usize);
        // The networks of an ensemble have learnt from one training part, and so with one mean and deviation.
        let mut scaled_by = None;
        for (Start { weights, own, table }, (x, by_features)) in networks.iter().zip(outs) {
            sum.clear();
            (0..rows).for_each(|row| sum.extend_from_slice(&own[node(row) * d..][..d]));
            if width > 0 {
                let features = match features {
                    Features::Standardised(all) => &all[first * width..(first + rows) * width],
                    Features::Raw(features) => {
                        if scaled_by != Some(&weights.feature_scale) {
                            standardised.resize(rows * width, 0.0);
                            match nodes {
                                None => features.write(first, width, standardised),
                                Some(nodes) => nodes
                                    .iter()
                                    .zip(standardised.chunks_exact_mut(width))
                                    .for_each(|(&node, out)| features.write(node as usize, width, out)),
                            }
                            standardise(standardised, &weights.feature_scale);
                            scaled_by = Some(&weights.feature_scale);
                        }
                        standardised.as_slice()
                    }
                };
                product(sum, true, features, &weights.C_f, [rows, width, d]);
                product(by_features, false, features, &weights.w_f, [rows, width, 1]);
            }
            let segment = |row: usize| best.get(node(row)).copied();
            activate(x, sum, table, d, segment);
        }
    });
    started
}

/// Memory that a thread uses for one block after the other.
#[derive(Default)]
struct Buffers {
    /// `[rows, width]`
    standardised: Vec<f32>,
    /// `[rows, d]`
    sum: Vec<f32>,
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

/// x = tanh(own + q + s*), `[rows, d]`, where `segment` says which of the table's is a row's; without segments tanh(own + q).
fn activate(x: &mut [f32], own: &[f32], table: &[f32], d: usize, segment: impl Fn(usize) -> Option<u32>) {
    let (q, segments) = table.split_at(d);
    vectorised(
        (x, own),
        #[inline(always)]
        |(x, own): (&mut [f32], &[f32])| {
            for (row, (x, own)) in x.chunks_exact_mut(d).zip(own.chunks_exact(d)).enumerate() {
                match segment(row) {
                    None => {
                        for ((x, own), q) in x.iter_mut().zip(own).zip(q) {
                            *x = tanh(own + q);
                        }
                    }
                    Some(best) => {
                        let s = &segments[best as usize * d..(best as usize + 1) * d];
                        for (((x, own), q), s) in x.iter_mut().zip(own).zip(q).zip(s) {
                            *x = tanh(own + q + s);
                        }
                    }
                }
            }
        },
    );
}
