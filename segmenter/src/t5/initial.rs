//! Weights at the start.
//!
//! Random as in the first T5, but for what makes copying near; left to chance, a model on a CPU's budget does not
//! find it:
//!
//! - heads of the encoder look at the words one and two before each and the one after, by their biases;
//! - the last decoder layer asks for the place whose word before is the one that was written last (the
//!   induction head of Olsson et al. 2022): its q is the v of the encoder's first head, which looks one back, its k
//!   reads what that head's o wrote;
//! - it adds what stands there as it was read: v and o are ones along the diagonal.
//!
//! All of it is trained further like any weight.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::T5Config;
use crate::buckets::bucket;

/// What a copied word weighs beside the one before it, which the decoder's sum holds once.
const COPIED: f32 = 2.0;
/// The bias of heads that look at one neighbour: e⁵ times as much as at any other word.
const NEXT: f32 = 5.0;
/// Which neighbours of the encoder's heads.
const NEIGHBOURS: [i64; 3] = [-1, 1, -2];

pub(super) struct Initial<'a> {
    config: &'a T5Config,
    rng: ChaCha8Rng,
    /// v and o of the encoder's first layer.
    looked_back: [Vec<f32>; 2],
}

impl<'a> Initial<'a> {
    pub(super) fn new(config: &'a T5Config, seed: u64) -> Self {
        Self { config, rng: ChaCha8Rng::seed_from_u64(seed), looked_back: Default::default() }
    }

    /// Those of a name, in Hugging Face layout; the encoder's before the decoder's.
    pub(super) fn values(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        let mut values = self.random(name, shape);
        let width = shape.last().copied().unwrap_or(1).max(1);
        let last =
            format!("decoder.block.{}.layer.1.EncDecAttention.", self.config.num_decoder_layers.saturating_sub(1));
        match name.strip_prefix("encoder.block.0.layer.0.SelfAttention.") {
            Some("v.weight") => self.looked_back[0].clone_from(&values),
            Some("o.weight") => self.looked_back[1].clone_from(&values),
            Some("relative_attention_bias.weight") => self.look_at_neighbours(&mut values, width),
            _ => {}
        }
        let diagonal =
            |one: f32| (0..values.len()).map(|at| if at / width == at % width { one } else { 0.0 }).collect();
        match name.strip_prefix(&last) {
            Some("v.weight") => diagonal(1.0),
            Some("o.weight") => diagonal(COPIED),
            Some(part @ ("q.weight" | "k.weight")) => self.asks_for_the_word_before(part, values, width),
            _ => values,
        }
    }

    /// `values`: `[buckets, heads]`
    fn look_at_neighbours(&self, values: &mut [f32], heads: usize) {
        for (head, distance) in NEIGHBOURS.into_iter().enumerate().filter(|(head, _)| *head < heads) {
            let row = bucket(distance, true, self.config.buckets, self.config.max_distance);
            if let Some(value) = values.get_mut(row * heads + head) {
                *value = NEXT;
            }
        }
    }

    /// `[heads × d_kv, d_model]`, alike for all heads: rows of v, or columns of o, of the encoder's first head.
    fn asks_for_the_word_before(&self, part: &str, values: Vec<f32>, width: usize) -> Vec<f32> {
        let (d_kv, inner) = (self.config.d_kv.max(1), self.config.inner());
        let [v, o] = &self.looked_back;
        let of = |at: usize| {
            let (row, column) = (at / width % d_kv, at % width);
            if part == "q.weight" { v.get(row * width + column) } else { o.get(column * inner + row) }
        };
        (0..values.len()).zip(values).map(|(at, random)| of(at).copied().unwrap_or(random)).collect()
    }

    /// Normal numbers of a standard deviation that depends on what they are for; norms are 1.
    fn random(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        let (config, rng) = (self.config, &mut self.rng);
        let count = shape.iter().product();
        let deviation = match name.rsplit('.').nth(1).unwrap_or_default() {
            "layer_norm" | "final_layer_norm" => return vec![1.0; count],
            "shared" | "lm_head" => 1.0,
            "q" => ((config.d_model * config.d_kv) as f64).powf(-0.5),
            "o" => (config.inner() as f64).powf(-0.5),
            "wo" => (config.d_ff as f64).powf(-0.5),
            _ => (config.d_model as f64).powf(-0.5),
        };
        // Box and Muller; in f64, whose logarithm and cosine are the same on the machines at hand.
        (0..count)
            .map(|_| {
                let (u, v): (f64, f64) = (rng.random_range(f64::MIN_POSITIVE..1.0), rng.random_range(0.0..1.0));
                (deviation * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
            })
            .collect()
    }
}
