//! Generation with candle-transformers' T5.
//!
//! What is done around it: its decoder takes the buckets of an encoder, so it gets tables in which every
//! distance has a bucket of its own ([`widen`](crate::buckets::widen)); a head that is the embedding it
//! scales by √d_model instead of by 1/√d_model, so the head is given as one of its own (the same memory)
//! and the scale is applied here. Its logits then are those of Python's transformers.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};
use candle_nn::{Activation, VarBuilder};
use candle_transformers::models::t5::{ActivationWithOptionalGating, Config, T5ForConditionalGeneration};

use crate::buckets::widen;
use crate::threads::Threads;
use crate::{FeedForward, Floats, Pointing, SegmenterError, T5Config};

/// How much is read and written, and how it is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens that are read.
    pub input: usize,
    /// Tokens that are written.
    pub output: usize,
    /// Hypotheses of beam search; 1 is greedy.
    pub beams: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { input: 512, output: 128, beams: 1 }
    }
}

impl Limits {
    /// # Errors
    /// A limit out of range.
    pub fn check(&self) -> Result<(), SegmenterError> {
        let ranges = [
            ("segmenter.max_input_tokens", self.input, 2..=4096),
            ("segmenter.max_output_tokens", self.output, 1..=4096),
            ("segmenter.beams", self.beams, 1..=32),
        ];
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                let expected = format!("a number from {} to {}", range.start(), range.end());
                return Err(SegmenterError::Setting { key, value: value.to_string(), expected });
            }
        }
        Ok(())
    }
}

/// What a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Without the start and the end token.
    pub tokens: Vec<u32>,
    /// Whether it came to an end before the limit.
    pub finished: bool,
}

/// A T5 that writes.
pub struct Generator {
    /// Its caches are empty: each question is answered by a clone, which shares the weights.
    model: T5ForConditionalGeneration,
    scale: f32,
    pub(crate) start: u32,
    pub(crate) eos: u32,
    pub(crate) limits: Limits,
    threads: Threads,
}

impl Generator {
    /// A model with the parameters that `floats` gives for a name and a shape
    /// ([`T5Config::parameters`]).
    ///
    /// # Errors
    /// Limits out of range; what `floats` says.
    pub fn new(
        config: &T5Config,
        own_head: bool,
        limits: Limits,
        floats: &mut Floats<'_, SegmenterError>,
    ) -> Result<Self, SegmenterError> {
        limits.check()?;
        let positions = limits.input.max(limits.output) + 1;
        let device = Device::Cpu;
        let mut tensors = HashMap::new();
        for (name, shape) in config.parameters(own_head) {
            let values = floats(&name, &shape)?;
            let tensor = if name.ends_with("relative_attention_bias.weight") {
                let both = name.starts_with("encoder");
                let wide = widen(&values, config.num_heads, both, config.max_distance, positions);
                Tensor::from_vec(wide, (4 * positions, config.num_heads), &device)?
            } else {
                Tensor::from_vec(values, shape, &device)?
            };
            tensors.insert(name, tensor);
        }
        if !own_head && let Some(shared) = tensors.get("shared.weight").cloned() {
            tensors.insert("lm_head.weight".to_owned(), shared);
        }
        let builder = VarBuilder::from_tensors(tensors, DType::F32, &device);
        let model = T5ForConditionalGeneration::load(builder, &candle_config(config, positions))?;
        let scale = if config.scaled_output { (config.d_model as f32).powf(-0.5) } else { 1.0 };
        Ok(Self { model, scale, start: config.start, eos: config.eos, limits, threads: Threads::new()? })
    }

    /// What the model writes for `input`, which must not be longer than the limit.
    ///
    /// # Errors
    /// Logits that are not finite; what candle says.
    pub fn generate(&self, input: &[u32]) -> Result<Generated, SegmenterError> {
        self.generate_of(input, None)
    }

    /// As [`Generator::generate`], of what the pointers of a question may point at.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub fn generate_of(&self, input: &[u32], pointing: Option<&Pointing>) -> Result<Generated, SegmenterError> {
        self.threads.run(|| match self.limits.beams {
            1 => self.greedy(input, pointing),
            _ => self.beam_search(input, pointing),
        })
    }

    /// Logits `[outputs, vocabulary]` of an input and the decoder's input, the start token included.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub fn logits(&self, input: &[u32], output: &[u32]) -> Result<Vec<Vec<f32>>, SegmenterError> {
        let mut decoder = self.read(input)?;
        output.iter().map(|token| decoder.next(*token)).collect()
    }

    fn greedy(&self, input: &[u32], pointing: Option<&Pointing>) -> Result<Generated, SegmenterError> {
        let mut decoder = self.read(input)?;
        let mut tokens = Vec::new();
        let mut last = self.start;
        while tokens.len() < self.limits.output {
            let mut logits = decoder.next(last)?;
            if let Some(pointing) = pointing {
                pointing.bar(&tokens, self.eos, &mut logits);
            }
            let best = logits.iter().enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
            last = best.map_or(self.eos, |(token, _)| token as u32);
            if last == self.eos {
                return Ok(Generated { tokens, finished: true });
            }
            tokens.push(last);
        }
        Ok(Generated { tokens, finished: false })
    }

    /// The model after it has read `input`.
    pub(crate) fn read(&self, input: &[u32]) -> Result<Decoder, SegmenterError> {
        let mut model = self.model.clone();
        let input = Tensor::new(input, model.device())?.unsqueeze(0)?; // [1, inputs]
        let encoded = model.encode(&input)?; // [1, inputs, d_model]
        Ok(Decoder { model, encoded, scale: self.scale, position: 0 })
    }
}

/// A model between two tokens that it writes: a clone goes on from the same place.
#[derive(Clone)]
pub(crate) struct Decoder {
    model: T5ForConditionalGeneration,
    encoded: Tensor,
    scale: f32,
    position: usize,
}

impl Decoder {
    /// The logits `[vocabulary]` of what comes after `token`.
    pub(crate) fn next(&mut self, token: u32) -> Result<Vec<f32>, SegmenterError> {
        let token = Tensor::new(&[[token]], self.model.device())?; // [1, 1]
        let logits = self.model.decode(&token, &self.encoded)?; // [1, vocabulary]
        let mut logits = logits.squeeze(0)?.to_vec1::<f32>()?;
        for logit in &mut logits {
            *logit *= self.scale;
        }
        if !logits.iter().all(|logit| logit.is_finite()) {
            return Err(SegmenterError::NotFinite { position: self.position });
        }
        self.position += 1;
        Ok(logits)
    }
}

fn candle_config(config: &T5Config, positions: usize) -> Config {
    let (gated, activation) = match config.feed_forward {
        FeedForward::Relu => (false, Activation::Relu),
        FeedForward::GatedGelu => (true, Activation::NewGelu),
    };
    Config {
        vocab_size: config.vocab_size,
        d_model: config.d_model,
        d_kv: config.d_kv,
        d_ff: config.d_ff,
        num_layers: config.num_layers,
        num_decoder_layers: Some(config.num_decoder_layers),
        num_heads: config.num_heads,
        relative_attention_num_buckets: 4 * positions,
        relative_attention_max_distance: 8 * positions,
        dropout_rate: 0.0,
        layer_norm_epsilon: config.eps,
        initializer_factor: 1.0,
        feed_forward_proj: ActivationWithOptionalGating { gated, activation },
        tie_word_embeddings: false,
        is_decoder: false,
        is_encoder_decoder: true,
        use_cache: true,
        pad_token_id: config.pad as usize,
        eos_token_id: config.eos as usize,
        decoder_start_token_id: Some(config.start as usize),
    }
}

#[cfg(test)]
mod tests;
