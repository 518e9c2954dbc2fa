//! Norm, feed-forward, blocks and stacks.

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};

use super::attention::{Attention, position_bias};
use super::batch::Texts;
use super::{Builder, List, Listed, Pass, matrix, table, vector};
use crate::{FeedForward, T5Config};

/// y = w · x / √(mean(x²) + ε), without a mean taken off.
#[derive(Module, Debug)]
pub(crate) struct Norm {
    /// `[d]`
    w: Param<Tensor<1>>,
}

impl Norm {
    /// `[tokens, d]` → `[tokens, d]`
    fn forward(&self, x: Tensor<2>, eps: f64) -> Tensor<2> {
        let d = x.dims()[1] as f64;
        let square = (x.clone() * x.clone()).sum_dim(1) / d; // [tokens, 1]
        x * (square + eps).sqrt().recip() * self.w.val().unsqueeze()
    }
}

/// wo relu(wi x), or wo (gelu(wi_0 x) · wi_1 x).
#[derive(Module, Debug)]
pub(crate) struct Dense {
    /// `[d_model, d_ff]`: wi, or wi_0.
    wi: Param<Tensor<2>>,
    /// `[d_model, d_ff]`: wi_1.
    gate: Option<Param<Tensor<2>>>,
    /// `[d_ff, d_model]`
    wo: Param<Tensor<2>>,
}

impl Dense {
    fn forward(&self, x: Tensor<2>, pass: Pass<'_>) -> Tensor<2> {
        let inner = pass.precision.product(x.clone(), self.wi.val()); // [tokens, d_ff]
        let inner = match &self.gate {
            None => relu(inner),
            Some(gate) => gelu(inner) * pass.precision.product(x, gate.val()),
        };
        pass.precision.product(inner, self.wo.val())
    }
}

/// x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))), as x σ(2 …), in fewer passes over memory.
fn gelu(x: Tensor<2>) -> Tensor<2> {
    const TWICE_ROOT: f64 = 2.0 * 0.797_884_560_802_865_4;
    let cubic = (x.clone() * x.clone() * (0.044_715 * TWICE_ROOT) + TWICE_ROOT) * x.clone();
    x * burn::tensor::activation::sigmoid(cubic)
}

/// Attention to the own text, to the other one (decoder), feed-forward, each on the norm of what
/// comes in and added to it.
#[derive(Module, Debug)]
pub(crate) struct Layer {
    own: Attention,
    own_norm: Norm,
    cross: Option<Attention>,
    cross_norm: Option<Norm>,
    dense: Dense,
    dense_norm: Norm,
}

/// The encoder or the decoder.
#[derive(Module, Debug)]
pub(crate) struct Stack {
    layers: Vec<Layer>,
    /// `[buckets, heads]`, of all layers.
    bias: Param<Tensor<2>>,
    norm: Norm,
}

impl Stack {
    pub(super) fn build<E>(
        stack: &str,
        layers: usize,
        config: &T5Config,
        builder: &mut Builder<'_, E>,
    ) -> Result<Self, E> {
        let d = config.d_model;
        let decoder = stack == "decoder";
        let mut built = Vec::with_capacity(layers);
        for block in 0..layers {
            let name = |part: &str| format!("{stack}.block.{block}.layer.{part}.weight");
            let norm = |part: usize, builder: &mut Builder<'_, E>| -> Result<Norm, E> {
                Ok(Norm { w: builder.vector(&name(&format!("{part}.layer_norm")), d)? })
            };
            let own = Attention::build(&|part| name(&format!("0.SelfAttention.{part}")), config, builder)?;
            let own_norm = norm(0, builder)?;
            let (cross, cross_norm, last) = if decoder {
                let cross = Attention::build(&|part| name(&format!("1.EncDecAttention.{part}")), config, builder)?;
                (Some(cross), Some(norm(1, builder)?), 2)
            } else {
                (None, None, 1)
            };
            let inner = |part: &str| name(&format!("{last}.DenseReluDense.{part}"));
            let (wi, gate) = match config.feed_forward {
                FeedForward::Relu => (builder.matrix(&inner("wi"), [d, config.d_ff])?, None),
                FeedForward::GatedGelu => (
                    builder.matrix(&inner("wi_0"), [d, config.d_ff])?,
                    Some(builder.matrix(&inner("wi_1"), [d, config.d_ff])?),
                ),
            };
            let dense = Dense { wi, gate, wo: builder.matrix(&inner("wo"), [config.d_ff, d])? };
            let dense_norm = norm(last, builder)?;
            built.push(Layer { own, own_norm, cross, cross_norm, dense, dense_norm });
        }
        let bias = builder.table(
            &format!("{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"),
            [config.buckets, config.num_heads],
        )?;
        let norm = Norm { w: builder.vector(&format!("{stack}.final_layer_norm.weight"), d)? };
        Ok(Self { layers: built, bias, norm })
    }

    /// `x` `[tokens, d_model]`; `other`: the encoder's states of the other texts, and how they are
    /// masked.
    pub(super) fn forward(
        &self,
        x: Tensor<2>,
        texts: &Texts,
        other: Option<(Tensor<2>, &Texts)>,
        dropout: &mut Dropout,
        pass: Pass<'_>,
    ) -> Tensor<2> {
        let eps = pass.config.eps;
        let bias = position_bias(self.bias.val(), texts);
        let mut x = dropout.apply(x);
        for layer in &self.layers {
            let normed = layer.own_norm.forward(x.clone(), eps);
            let heard = layer.own.forward(normed.clone(), normed, texts, bias.clone(), pass);
            x = x + dropout.apply(heard);
            if let (Some(cross), Some(norm), Some((read, texts))) = (&layer.cross, &layer.cross_norm, &other) {
                let normed = norm.forward(x.clone(), eps);
                let heard = cross.forward(normed, read.clone(), texts, texts.mask.clone(), pass);
                x = x + dropout.apply(heard);
            }
            let dense = layer.dense.forward(layer.dense_norm.forward(x.clone(), eps), pass);
            x = x + dropout.apply(dense);
        }
        dropout.apply(self.norm.forward(x, eps))
    }
}

impl List for Stack {
    fn list(&self, stack: &str, list: &mut Listed) {
        for (block, layer) in self.layers.iter().enumerate() {
            let name = |part: &str| format!("{stack}.block.{block}.layer.{part}.weight");
            layer.own.list(&|part| name(&format!("0.SelfAttention.{part}")), list);
            if block == 0 {
                list.push(table(&name("0.SelfAttention.relative_attention_bias"), &self.bias));
            }
            list.push(vector(name("0.layer_norm"), &layer.own_norm.w));
            let mut last = 1;
            if let (Some(cross), Some(norm)) = (&layer.cross, &layer.cross_norm) {
                cross.list(&|part| name(&format!("1.EncDecAttention.{part}")), list);
                list.push(vector(name("1.layer_norm"), &norm.w));
                last = 2;
            }
            let inner = |part: &str| name(&format!("{last}.DenseReluDense.{part}"));
            match &layer.dense.gate {
                None => list.push(matrix(inner("wi"), &layer.dense.wi)),
                Some(gate) => {
                    list.push(matrix(inner("wi_0"), &layer.dense.wi));
                    list.push(matrix(inner("wi_1"), gate));
                }
            }
            list.push(matrix(inner("wo"), &layer.dense.wo));
            list.push(vector(name(&format!("{last}.layer_norm")), &layer.dense_norm.w));
        }
        list.push(vector(format!("{stack}.final_layer_norm.weight"), &self.norm.w));
    }
}

/// Dropout (Srivastava et al. 2014) of what each part adds, of the embeddings and of the last norm. What
/// it drops is a function of its seed alone, so that a resumed training drops the same.
#[derive(Debug, Clone)]
pub struct Dropout {
    /// Of 256.
    drop: u8,
    state: u64,
}

impl Dropout {
    /// Drops `rate` of all numbers, to 1/256.
    pub fn new(rate: f64, seed: u64) -> Self {
        Self { drop: (rate * 256.0).round().clamp(0.0, 255.0) as u8, state: seed }
    }

    /// Drops nothing.
    pub fn none() -> Self {
        Self::new(0.0, 0)
    }

    pub(super) fn apply(&mut self, x: Tensor<2>) -> Tensor<2> {
        if self.drop == 0 {
            return x;
        }
        let [rows, width] = x.dims();
        let device: Device = x.device().without_autodiff();
        let kept = 256.0 / (256.0 - f32::from(self.drop));
        let mut mask = Vec::with_capacity(rows * width + 8);
        while mask.len() < rows * width {
            mask.extend(self.next().to_le_bytes().map(|byte| if byte < self.drop { 0.0 } else { kept }));
        }
        mask.truncate(rows * width);
        x * Tensor::from_data(TensorData::new(mask, [rows, width]), &device)
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
