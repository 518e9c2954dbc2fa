//! Weights at the start.
//!
//! Random as in the first T5. A model with pointers ([`crate::Pointing`]) is brought near to writing the words of a
//! question on in their order, so that it has to learn where a segment begins and ends; left to chance, a model on a
//! CPU's budget is long in finding the pointers:
//!
//! - embeddings of the markers are points on circles of random frequencies (random Fourier features of their numbers,
//!   Rahimi and Recht 2007): one rotation leads from each marker to the next;
//! - heads of the encoder look at the tokens one and two before each and the one after, by their biases;
//! - the last decoder layer asks for the marker after the one that was written last: its k is its q rotated back;
//! - it adds what stands there as it was read: v and o are ones along the diagonal.
//!
//! All of it is trained further like any weight.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::T5Config;
use crate::buckets::bucket;

/// What the marker that is wanted weighs beside the one before it, which the decoder's sum holds once.
const COPIED: f32 = 2.0;
/// The score of the marker that is wanted, in those that a random q and k give.
const QUERIES: f32 = 2.0;
/// The bias of heads that look at one neighbour: e⁵ times as much as at any other token.
const NEXT: f32 = 5.0;
/// Which neighbours of the encoder's heads.
const NEIGHBOURS: [i64; 3] = [-1, 1, -2];

pub(super) struct Initial<'a> {
    config: &'a T5Config,
    rng: ChaCha8Rng,
    markers: &'a [u32],
    /// The angle between a marker and the next in each pair of numbers.
    angles: Vec<f32>,
    /// q of the last layer.
    asks: Vec<f32>,
}

impl<'a> Initial<'a> {
    /// Without markers it is all random.
    pub(super) fn new(config: &'a T5Config, markers: &'a [u32], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let pairs = if markers.is_empty() { 0 } else { config.d_model / 2 };
        let angles = (0..pairs).map(|_| rng.random_range(0.0..std::f32::consts::PI)).collect();
        Self { config, rng, markers, angles, asks: Vec::new() }
    }

    /// Those of a name, in Hugging Face layout; q before k.
    pub(super) fn values(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        let mut values = self.random(name, shape);
        if self.markers.is_empty() {
            return values;
        }
        let width = shape.last().copied().unwrap_or(1).max(1);
        let diagonal =
            |one: f32| (0..shape.iter().product()).map(|at| if at / width == at % width { one } else { 0.0 }).collect();
        let last =
            format!("decoder.block.{}.layer.1.EncDecAttention.", self.config.num_decoder_layers.saturating_sub(1));
        match name.strip_prefix(&last) {
            Some("q.weight") => self.asks.clone_from(&values),
            Some("k.weight") => return self.rotated_back(width),
            Some("v.weight") => return diagonal(1.0),
            Some("o.weight") => return diagonal(COPIED),
            _ => {}
        }
        match name {
            "shared.weight" | "lm_head.weight" => self.put_on_circles(&mut values, width),
            "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight" => {
                self.look_at_neighbours(&mut values, width);
            }
            _ => {}
        }
        values
    }

    /// `values`: `[vocabulary, d_model]`
    fn put_on_circles(&self, values: &mut [f32], width: usize) {
        for (number, &marker) in self.markers.iter().enumerate() {
            let row = values.iter_mut().skip(marker as usize * width);
            let points = self.angles.iter().flat_map(|angle| {
                let (sine, cosine) = (angle * number as f32).sin_cos();
                [cosine, sine]
            });
            // Of a mean square of 1, as the others.
            row.zip(points).for_each(|(value, point)| *value = point * std::f32::consts::SQRT_2);
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

    /// k `[heads × d_kv, d_model]` that gives a marker what q gives the one before it.
    fn rotated_back(&self, width: usize) -> Vec<f32> {
        let scale = QUERIES * (self.config.d_kv as f32).sqrt();
        let mut values: Vec<f32> = self.asks.iter().map(|value| value * scale).collect();
        for row in values.chunks_exact_mut(width) {
            for (pair, angle) in row.chunks_exact_mut(2).zip(&self.angles) {
                let (sine, cosine) = angle.sin_cos();
                if let [a, b] = pair {
                    (*a, *b) = (*a * cosine - *b * sine, *a * sine + *b * cosine);
                }
            }
        }
        values
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FeedForward;

    #[test]
    fn a_marker_asks_for_the_one_after_it() {
        let config = T5Config {
            vocab_size: 60,
            d_model: 64,
            d_kv: 32,
            d_ff: 64,
            num_layers: 1,
            num_decoder_layers: 1,
            num_heads: 2,
            buckets: 32,
            max_distance: 128,
            eps: 1e-6,
            feed_forward: FeedForward::Relu,
            scaled_output: true,
            pad: 0,
            eos: 1,
            start: 0,
        };
        let markers: Vec<u32> = (20..60).rev().collect();
        let mut initial = Initial::new(&config, &markers, 3);
        let shared = initial.values("shared.weight", &[60, 64]);
        let mut of = |part: &str| initial.values(&format!("decoder.block.0.layer.1.EncDecAttention.{part}"), &[64, 64]);
        let (q, k) = (of("q.weight"), of("k.weight"));
        let product = |matrix: &[f32], marker: u32| -> Vec<f32> {
            let x = &shared[marker as usize * 64..][..64];
            matrix.chunks(64).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
        };
        let asks_for = |marker: u32| {
            let query = product(&q, marker);
            let score = |other: u32| -> f32 { product(&k, other).iter().zip(&query).map(|(a, b)| a * b).sum() };
            markers.iter().copied().max_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap()
        };
        for pair in markers.windows(2) {
            assert_eq!(asks_for(pair[0]), pair[1]);
        }
        // Without markers nothing is set.
        let plain = Initial::new(&config, &[], 3).values("shared.weight", &[60, 64]);
        assert!(plain != shared && plain.iter().all(|value| value.is_finite()));
    }
}
