//! T5 (Raffel et al. 2020; v1.1 with gated GELU) in burn's tensors, for training.
//!
//! Tokens lie in rows `[tokens, d]` from the embedding to the head; only attention sees texts as
//! `[texts, heads, length, d_kv]`. Matrices are `[in, out]`, the transpose of Hugging Face's.

mod attention;
mod batch;
mod layers;
mod loss;
#[cfg(test)]
mod tests;

use burn::module::{Module, Param, ParamId};
use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_model::Precision;

use crate::buckets::bucket;
use crate::{Floats, SegmenterError, T5Config, Weights};
pub use batch::{Batch, Pair};
pub use layers::Dropout;
use layers::Stack;
pub use loss::Loss;

/// The whole model.
#[derive(Module, Debug)]
pub struct T5 {
    /// `[vocabulary, d_model]`
    shared: Param<Tensor<2>>,
    encoder: Stack,
    decoder: Stack,
    /// `[vocabulary, d_model]`; none where it is the embedding.
    head: Option<Param<Tensor<2>>>,
    #[module(skip)]
    config: T5Config,
    #[module(skip)]
    precision: Precision,
}

/// How a batch goes through the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass<'a> {
    pub(crate) config: &'a T5Config,
    pub(crate) precision: Precision,
}

/// Parameters as they come: numbered, so that the optimiser's state is saved under the same ids.
pub(crate) struct Builder<'a, E> {
    id: u64,
    device: &'a Device,
    floats: &'a mut Floats<'a, E>,
}

impl<E> Builder<'_, E> {
    fn parameter<const D: usize>(&mut self, values: Vec<f32>, shape: [usize; D]) -> Param<Tensor<D>> {
        self.id += 1;
        let tensor = Tensor::from_data(TensorData::new(values, shape), self.device);
        let tensor = if self.device.is_autodiff() { tensor.require_grad() } else { tensor };
        Param::initialized(ParamId::from(self.id), tensor)
    }

    /// As the file has it.
    pub(crate) fn table(&mut self, name: &str, shape: [usize; 2]) -> Result<Param<Tensor<2>>, E> {
        let values = (self.floats)(name, &shape)?;
        Ok(self.parameter(values, shape))
    }

    /// `[outputs, inputs]` in the file, `[inputs, outputs]` here.
    pub(crate) fn matrix(&mut self, name: &str, [inputs, outputs]: [usize; 2]) -> Result<Param<Tensor<2>>, E> {
        let values = (self.floats)(name, &[outputs, inputs])?;
        Ok(self.parameter(transposed(&values, inputs), [inputs, outputs]))
    }

    pub(crate) fn vector(&mut self, name: &str, length: usize) -> Result<Param<Tensor<1>>, E> {
        let values = (self.floats)(name, &[length])?;
        Ok(self.parameter(values, [length]))
    }
}

/// Rows of `width` numbers as columns.
fn transposed(values: &[f32], width: usize) -> Vec<f32> {
    let width = width.max(1);
    (0..width).flat_map(|column| values.iter().skip(column).step_by(width).copied()).collect()
}

impl T5 {
    /// Weights as the first T5 had them at the start (mesh_tensorflow; what Python's transformers
    /// does), with `initializer_factor` 1, but for what makes copying near ([`copying`]). The same seed gives the
    /// same bits on every device.
    pub fn new(config: &T5Config, own_head: bool, seed: u64, device: &Device) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Self::build(config, own_head, device, &mut |name, shape| {
            let values = initial(name, shape, config, &mut rng);
            Ok::<_, std::convert::Infallible>(copying(name, shape, config, values))
        })
        .unwrap_or_else(|never| match never {})
    }

    /// The weights of a model's files; the head is one of its own where they have it so.
    ///
    /// # Errors
    /// As [`Weights::floats`].
    pub fn read(config: &T5Config, weights: &Weights, device: &Device) -> Result<Self, SegmenterError> {
        let own_head = weights.has("lm_head.weight");
        Self::build(config, own_head, device, &mut |name, shape| weights.floats(name, shape))
    }

    fn build<E>(config: &T5Config, own_head: bool, device: &Device, floats: &mut Floats<'_, E>) -> Result<Self, E> {
        let mut builder = Builder { id: 0, device, floats };
        let table = [config.vocab_size, config.d_model];
        Ok(Self {
            shared: builder.table("shared.weight", table)?,
            encoder: Stack::build("encoder", config.num_layers, config, &mut builder)?,
            decoder: Stack::build("decoder", config.num_decoder_layers, config, &mut builder)?,
            head: if own_head { Some(builder.table("lm_head.weight", table)?) } else { None },
            config: config.clone(),
            precision: Precision::F32,
        })
    }

    /// The same model with its matrix products in another precision; f32 before. The device must have
    /// it ([`Precision::check`]).
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Its shapes.
    pub fn config(&self) -> &T5Config {
        &self.config
    }

    /// Whether the head is not the embedding.
    pub fn own_head(&self) -> bool {
        self.head.is_some()
    }

    /// Every parameter with its name, shape and values in Hugging Face layout.
    pub fn parameters(&self) -> Vec<(String, Vec<usize>, Vec<f32>)> {
        let mut list = Vec::new();
        list.push(table("shared.weight", &self.shared));
        self.encoder.list("encoder", &mut list);
        self.decoder.list("decoder", &mut list);
        if let Some(head) = &self.head {
            list.push(table("lm_head.weight", head));
        }
        list
    }

    /// Logits `[targets, vocabulary]` of the batch's targets.
    pub fn logits(&self, batch: &Batch, dropout: &mut Dropout) -> Tensor<2> {
        let pass = Pass { config: &self.config, precision: self.precision };
        let embed = |tokens: &Tensor<1, burn::tensor::Int>| self.shared.val().select(0, tokens.clone());
        let read = self.encoder.forward(embed(&batch.input), &batch.encoder, None, dropout, pass);
        let written =
            self.decoder.forward(embed(&batch.output), &batch.decoder, Some((read, &batch.cross)), dropout, pass);
        let mut written = written.select(0, batch.rows.clone()); // [targets, d_model]
        if self.config.scaled_output {
            written = written * (self.config.d_model as f64).powf(-0.5);
        }
        let head = self.head.as_ref().unwrap_or(&self.shared).val();
        self.precision.product(written, head.transpose())
    }

    /// The sum over the batch's targets of −log p(target).
    pub fn loss(&self, batch: &Batch, dropout: &mut Dropout) -> Loss {
        loss::cross_entropy(self.logits(batch, dropout), batch.targets.clone())
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn table(name: &str, parameter: &Param<Tensor<2>>) -> (String, Vec<usize>, Vec<f32>) {
    (name.to_owned(), parameter.val().dims().to_vec(), values(parameter.val()))
}

fn matrix(name: String, parameter: &Param<Tensor<2>>) -> (String, Vec<usize>, Vec<f32>) {
    let [inputs, outputs] = parameter.val().dims();
    (name, vec![outputs, inputs], transposed(&values(parameter.val()), outputs))
}

fn vector(name: String, parameter: &Param<Tensor<1>>) -> (String, Vec<usize>, Vec<f32>) {
    (name, parameter.val().dims().to_vec(), values(parameter.val()))
}

/// Normal numbers of a standard deviation that depends on what they are for; norms are 1.
fn initial(name: &str, shape: &[usize], config: &T5Config, rng: &mut ChaCha8Rng) -> Vec<f32> {
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

/// Weights from which copying is a short way: the last decoder layer adds what it looks at as it was read, and
/// two heads of the encoder look at the words before and after each, which is how a decoder that has written a
/// word finds the next. Left to chance, thousands of steps go by until a model finds this.
fn copying(name: &str, shape: &[usize], config: &T5Config, mut values: Vec<f32>) -> Vec<f32> {
    let last = format!("decoder.block.{}.layer.1.EncDecAttention.", config.num_decoder_layers.saturating_sub(1));
    let bias = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
    let width = shape.last().copied().unwrap_or(1).max(1);
    match name.strip_prefix(&last) {
        Some(part @ ("v.weight" | "o.weight")) => {
            // What is copied must outweigh the word before it, which the decoder's sum holds once.
            let one = if part == "v.weight" { 1.0 } else { COPIED };
            values = (0..values.len()).map(|at| if at / width == at % width { one } else { 0.0 }).collect();
        }
        _ if name == bias => {
            for (head, distance) in [-1, 1].into_iter().enumerate().filter(|(head, _)| *head < width) {
                let row = bucket(distance, true, config.buckets, config.max_distance) as usize;
                if let Some(value) = values.get_mut(row * width + head) {
                    *value = NEXT;
                }
            }
        }
        _ => {}
    }
    values
}

/// What a copied word weighs at the start beside the one before it.
const COPIED: f32 = 2.0;
/// The bias of heads that look at one neighbour: e⁵ times as much as at any other word.
const NEXT: f32 = 5.0;

pub(crate) type Listed = Vec<(String, Vec<usize>, Vec<f32>)>;

/// A module that lists its parameters.
pub(crate) trait List {
    fn list(&self, prefix: &str, list: &mut Listed);
}
