//! The model on the CPU: its weights as row-major values, and the passes over blocks of rows.

use burn::module::Param;
use burn::tensor::Tensor;
use rayon::prelude::*;
use tabsegnet_features::FeatureRows;
use tabsegnet_features::rows::all_rows;

use super::edges::Edges;
use super::start::{Features, Start, Started, node_init, standardise};
use super::{ModelInput, values};
use crate::config::{ModelConfig, Strength};
use crate::product::{product, vectorised};
use crate::scorer::TabSegNet;

/// Weights as row-major values.
#[derive(Debug)]
pub(super) struct Weights {
    /// `[d_enc, d_in]`: the rows of C that meet u.
    pub(super) C_u: Vec<f32>,
    /// `[features, d_in]`; empty without features.
    pub(super) C_f: Vec<f32>,
    /// `[features]`
    pub(super) w_f: Vec<f32>,
    /// `[features]` each: mean, 1 / deviation.
    pub(super) feature_scale: [Vec<f32>; 2],
    pub(super) strength: Strength,
    /// `[d_enc, d_in]`: the rows of C that meet q.
    pub(super) C_q: Vec<f32>,
    /// `[d_enc, d_in]`: those that meet s*; empty without segments.
    pub(super) C_s: Vec<f32>,
    /// `[d_in]`
    pub(super) d: Vec<f32>,
    /// `[d_enc, d_in]`
    pub(super) W_q: Vec<f32>,
    /// tanh(R A + b)ᵀ, `[d_in, edge_types]`
    pub(super) types: Vec<f32>,
    pub(super) layers: Vec<Layer>,
    /// `[d_out]`
    pub(super) w: Vec<f32>,
    pub(super) b: f32,
}

#[derive(Debug)]
pub(super) struct Layer {
    pub(super) d: usize,
    /// `[d, d_out]`
    pub(super) W_1: Vec<f32>,
    /// `[d, d_out]`
    pub(super) W_2: Vec<f32>,
    /// `[d_out]`
    pub(super) b: Vec<f32>,
}

/// Least rows that a thread takes from reading to writing: their values in every step fit into a
/// core's cache, and the weights are read often enough from it to pay for packing them. Products
/// with a vector of at most 256 rows sum in another order than those of more; above it a block has
/// the bits of the whole.
pub(super) const ROWS: usize = 257;

/// Cuts `[rows, d]` into blocks, each with the number of its first row: as many as there are with
/// [`ROWS`] rows, of one length give or take a row.
pub(super) fn blocks(values: &mut [f32], d: usize) -> Vec<(usize, &mut [f32])> {
    let rows = values.len() / d;
    let count = (rows / ROWS).max(1);
    let mut rest = values;
    let mut blocks = Vec::with_capacity(count);
    for block in 0..count {
        let (first, end) = (block * rows / count, (block + 1) * rows / count);
        let (own, others) = rest.split_at_mut((end - first) * d);
        blocks.push((first, own));
        rest = others;
    }
    blocks
}

impl Weights {
    pub(super) fn of(model: &TabSegNet, config: &ModelConfig, d_enc: usize) -> Self {
        // Every key is named here, so that none can be added without a thought of this way.
        let ModelConfig {
            preset: _,
            d_in,
            d_out,
            d_edge: _,
            layers: _,
            aggregation: _,
            segments,
            edge_types: _,      // edges that it does not hear are left out at opening
            edge_type_names: _, // likewise
            strength,
            features: _,
            table_scorer: _, // its scores are among the features
        } = *config;
        let optional = |matrix: &Option<Param<Tensor<2>>>| matrix.as_ref().map_or_else(Vec::new, |m| values(m.val()));
        let layer = |(layer, conv): (usize, &crate::scorer::GraphConv)| Layer {
            d: if layer == 0 { d_in } else { d_out },
            W_1: values(conv.W_1.val()),
            W_2: values(conv.W_2.val()),
            b: values(conv.b.val()),
        };
        Self {
            C_u: values(model.node_init.rows(0, d_enc)),
            C_f: optional(&model.node_init.C_f),
            w_f: optional(&model.scorer.w_f),
            feature_scale: match &model.feature_scale {
                Some(known) => [values(known.mean.val()), values(known.scale.val())],
                None => [Vec::new(), Vec::new()],
            },
            strength,
            C_q: values(model.node_init.rows(1, d_enc)),
            C_s: if segments { values(model.node_init.rows(2, d_enc)) } else { Vec::new() },
            d: values(model.node_init.d.val()),
            W_q: values(model.edge_strength.W_q.val()),
            types: values(model.edge_strength.types().transpose()),
            layers: model.graph_conv.iter().enumerate().map(layer).collect(),
            w: values(model.scorer.w.val()),
            b: values(model.scorer.b.val()).first().copied().unwrap_or_default(),
        }
    }

    /// u C_u of the vectors `u` `[nodes, d_enc]`, `[nodes, d_in]`. Not as a tensor, which would be a copy of u.
    pub(super) fn own(&self, u: &[f32], d_enc: usize) -> Vec<f32> {
        let d_in = self.d.len();
        let mut own = vec![0.0; u.len() / d_enc.max(1) * d_in];
        blocks(&mut own, d_in).into_par_iter().for_each(|(first, own)| {
            let rows = own.len() / d_in;
            product(own, false, &u[first * d_enc..(first + rows) * d_enc], &self.C_u, [rows, d_enc, d_in]);
        });
        own
    }

    /// s(e | q) (5) of every edge type, `[edge_types]`.
    pub(super) fn strength(&self, q: &[f32]) -> Vec<f32> {
        let d_in = self.d.len();
        let mut query = vec![0.0; d_in]; // q W_q
        product(&mut query, false, q, &self.W_q, [1, q.len(), d_in]);
        let mut strength = vec![0.0; self.types.len() / d_in];
        product(&mut strength, false, &query, &self.types, [1, d_in, self.types.len() / d_in]);
        if self.strength == Strength::Residual {
            strength.iter_mut().for_each(|s| *s = 1.0 + s.tanh());
        }
        strength
    }

    /// Features `[nodes, features]` at mean 0 and deviation 1.
    pub(super) fn standardised(&self, features: &dyn FeatureRows) -> Vec<f32> {
        let mut standardised = all_rows(features, self.w_f.len());
        standardise(&mut standardised, &self.feature_scale);
        standardised
    }

    /// x⁰ of the nodes whose u C_u is `own`, and what features add to their scores by themselves.
    pub(super) fn start(&self, own: &[f32], query: &ModelInput<'_>, features: Features<'_>, best: &[u32]) -> Started {
        node_init(&[self.begin(own, query)], None, features, best).swap_remove(0)
    }

    /// What the network starts from for a question, where its u C_u is `own`.
    pub(super) fn begin<'a>(&'a self, own: &'a [f32], query: &ModelInput<'_>) -> Start<'a> {
        Start { weights: self, own, table: self.shared(query.q, query.segments) }
    }

    /// q C_q + d, and below it s C_s of each segment: `[1 + segments, d_in]`.
    fn shared(&self, q: &[f32], segments: &[f32]) -> Vec<f32> {
        let (d_enc, d_in) = (q.len(), self.d.len());
        let count = segments.len() / d_enc;
        let mut table = vec![0.0; (1 + count) * d_in];
        let (of_q, of_segments) = table.split_at_mut(d_in);
        of_q.copy_from_slice(&self.d);
        product(of_q, true, q, &self.C_q, [1, d_enc, d_in]);
        if count > 0 {
            product(of_segments, false, segments, &self.C_s, [count, d_enc, d_in]);
        }
        table
    }

    /// Scores from x⁰ and what features add by themselves. `needed` `[layers]`: of how many nodes, from the first on, each
    /// layer's x is needed, and so the scores of the last one's.
    pub(super) fn scores(&self, mut x: Vec<f32>, by_features: &[f32], graph: &Edges<'_>, needed: &[usize]) -> Vec<f32> {
        let scored = needed.last().copied().unwrap_or_default();
        let d_out = self.w.len();
        let Some((last, inner)) = self.layers.split_last() else { return vec![self.b; scored] };
        for (layer, nodes) in inner.iter().zip(needed) {
            let mut next = vec![0.0; nodes * d_out];
            blocks(&mut next, d_out).into_par_iter().for_each_init(Vec::new, |messages, (first, out)| {
                layer.forward(&x, graph, first, messages, out);
            });
            x = next;
        }
        let mut scores = vec![0.0; scored];
        blocks(&mut scores, 1).into_par_iter().for_each_init(
            || (Vec::new(), Vec::new()),
            |(messages, out), (first, scores)| {
                let rows = scores.len();
                out.resize(rows * d_out, 0.0);
                last.forward(&x, graph, first, messages, out);
                product(scores, false, out, &self.w, [rows, d_out, 1]);
                if !self.w_f.is_empty() {
                    scores.iter_mut().zip(&by_features[first..]).for_each(|(score, more)| *score += more);
                }
                scores.iter_mut().for_each(|score| *score += self.b);
            },
        );
        scores
    }
}

impl Layer {
    /// ReLU(W_1 x(u) + W_2 agg s(e | q) x(v) + b) (8) of the nodes from `first` on, into `out`
    /// `[rows, d_out]`.
    pub(super) fn forward(&self, x: &[f32], graph: &Edges<'_>, first: usize, messages: &mut Vec<f32>, out: &mut [f32]) {
        let (d, d_out) = (self.d, self.b.len());
        let rows = out.len() / d_out;
        messages.resize(rows * d, 0.0);
        graph.aggregate(x, d, first, messages);
        self.combine(&x[first * d..(first + rows) * d], messages, out);
    }

    /// ReLU(W_1 x + W_2 m + b) of rows of x and of their aggregated messages m, `[rows, d]` each.
    pub(super) fn combine(&self, x: &[f32], messages: &[f32], out: &mut [f32]) {
        let (d, d_out) = (self.d, self.b.len());
        let rows = out.len() / d_out;
        product(out, false, x, &self.W_1, [rows, d, d_out]);
        product(out, true, messages, &self.W_2, [rows, d, d_out]);
        vectorised(
            (out, self.b.as_slice()),
            #[inline(always)]
            |(out, b): (&mut [f32], &[f32])| {
                for out in out.chunks_exact_mut(b.len()) {
                    for (out, b) in out.iter_mut().zip(b) {
                        let sum = *out + b;
                        // Not max(0): a NaN must reach the score.
                        *out = if sum < 0.0 { 0.0 } else { sum };
                    }
                }
            },
        );
    }
}
