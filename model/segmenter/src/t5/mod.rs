//! T5 (Raffel et al. 2020; v1.1 with gated GELU) in burn's tensors, for training.
//!
//! Tokens lie in rows `[tokens, d]` from the embedding to the head; only attention sees texts as
//! `[texts, heads, length, d_kv]`. Matrices are `[in, out]`, the transpose of Hugging Face's.

mod attention;
mod batch;
mod initial;
mod layers;
mod loss;
#[cfg(test)]
mod tests;

use burn::module::{Module, Param, ParamId};
use burn::tensor::{Device, Tensor, TensorData};
use tabsegnet_ranker::Precision;

use crate::{Floats, SegmenterError, T5Config, Weights};
pub use batch::{Batch, Pair};
use initial::Initial;
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
    /// does), with `initializer_factor` 1, but for what brings a model with pointers near to them, whose markers are
    /// given (`initial.rs`). The same seed gives the same bits on every device.
    pub fn new(config: &T5Config, own_head: bool, markers: &[u32], seed: u64, device: &Device) -> Self {
        let mut initial = Initial::new(config, markers, seed);
        Self::build(config, own_head, device, &mut |name, shape| {
            Ok::<_, std::convert::Infallible>(initial.values(name, shape))
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

pub(crate) type Listed = Vec<(String, Vec<usize>, Vec<f32>)>;

/// A module that lists its parameters.
pub(crate) trait List {
    fn list(&self, prefix: &str, list: &mut Listed);
}
