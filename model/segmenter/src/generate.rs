//! Generation with candle-transformers' T5.

use candle_core::{Device, Tensor};

use crate::engine::{Engine, WeightKind};
use crate::threads::Threads;
use crate::{Floats, Pointing, SegmenterError, T5Config};

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
    model: Engine,
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
        weights: WeightKind,
        floats: &mut Floats<'_, SegmenterError>,
    ) -> Result<Self, SegmenterError> {
        limits.check()?;
        let positions = limits.input.max(limits.output) + 1;
        let model = Engine::load(config, own_head, positions, weights, floats)?;
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

    /// As [`Generator::generate`], of what the pointers of a question may point at. Where the model finds what the rules
    /// propose likelier a token than what it wrote, that is taken: a search of few hypotheses can miss it.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub fn generate_of(&self, input: &[u32], pointing: Option<&Pointing>) -> Result<Generated, SegmenterError> {
        self.threads.run(|| {
            let read = self.read(input)?;
            let written = match self.limits.beams {
                1 => self.greedy(read.clone(), pointing)?,
                _ => self.beam_search(read.clone(), pointing)?,
            };
            if let Some(pointing) = pointing
                && let Some(proposal) = pointing.proposal()
                && proposal != written.tokens
                && proposal.len() < self.limits.output
            {
                let likely = |tokens: &[u32]| self.mean_log_probability(read.clone(), pointing, tokens);
                if !written.finished || likely(proposal)? > likely(&written.tokens)? {
                    return Ok(Generated { tokens: proposal.to_vec(), finished: true });
                }
            }
            Ok(written)
        })
    }

    /// Of tokens and the end after them, among all that may be written: the mean a token, since of sums the shorter of two
    /// is mostly larger.
    fn mean_log_probability(
        &self,
        mut decoder: Decoder,
        pointing: &Pointing,
        tokens: &[u32],
    ) -> Result<f64, SegmenterError> {
        let (mut last, mut sum) = (self.start, 0.0);
        for (at, &token) in tokens.iter().chain([&self.eos]).enumerate() {
            let mut logits = decoder.next(last)?;
            pointing.bar(tokens.get(..at).unwrap_or_default(), self.eos, &mut logits);
            let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let all: f64 = logits.iter().map(|logit| f64::from(logit - largest).exp()).sum();
            sum += f64::from(logits.get(token as usize).map_or(f32::NEG_INFINITY, |logit| logit - largest)) - all.ln();
            last = token;
        }
        Ok(sum / (tokens.len() + 1) as f64)
    }

    /// Logits `[outputs, vocabulary]` of an input and the decoder's input, the start token included.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub fn logits(&self, input: &[u32], output: &[u32]) -> Result<Vec<Vec<f32>>, SegmenterError> {
        let mut decoder = self.read(input)?;
        output.iter().map(|token| decoder.next(*token)).collect()
    }

    fn greedy(&self, mut decoder: Decoder, pointing: Option<&Pointing>) -> Result<Generated, SegmenterError> {
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
        let input = Tensor::new(input, &Device::Cpu)?.unsqueeze(0)?; // [1, inputs]
        let encoded = model.encode(&input)?; // [1, inputs, d_model]
        Ok(Decoder { model, encoded, scale: self.scale, position: 0 })
    }
}

/// A model between two tokens that it writes: a clone goes on from the same place.
#[derive(Clone)]
pub(crate) struct Decoder {
    model: Engine,
    encoded: Tensor,
    scale: f32,
    position: usize,
}

impl Decoder {
    /// The logits `[vocabulary]` of what comes after `token`.
    pub(crate) fn next(&mut self, token: u32) -> Result<Vec<f32>, SegmenterError> {
        let token = Tensor::new(&[[token]], &Device::Cpu)?; // [1, 1]
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

#[cfg(test)]
mod tests;
