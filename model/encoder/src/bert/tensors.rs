//! The forward pass in burn's tensors: what runs on a GPU.

use burn::tensor::activation::{gelu, gelu_approximate, relu, softmax};
use burn::tensor::module::layer_norm;
use burn::tensor::{Device, ExecutionError, Int, Tensor, TensorData};

use super::pooling::Pooling;
use super::weights::{LayerWeights, LinearWeights, Weights};
use crate::EncoderError;
use crate::math::{Activation, Norm};

/// Lengths of padded texts are multiples of this, so that a device compiles and tunes its kernels
/// for few shapes.
const LENGTHS: usize = 8;
/// What a padded token's score is set to: its share is 0 then, exactly.
const NEVER: f32 = -1e9;

/// A model on a device.
pub(super) struct TensorModel {
    device: Device,
    heads: usize,
    activation: Activation,
    /// `[vocab, hidden]`
    words: Tensor<2>,
    /// `[positions, hidden]`
    positions: Tensor<2>,
    norm: NormTensors,
    layers: Vec<Layer>,
}

struct Layer {
    qkv: Linear,
    out: Linear,
    attention_norm: NormTensors,
    up: Linear,
    down: Linear,
    output_norm: NormTensors,
}

/// `y = x weight + bias`
struct Linear {
    /// `[in, out]`
    weight: Tensor<2>,
    /// `[1, out]`
    bias: Tensor<2>,
}

struct NormTensors {
    weight: Tensor<1>,
    bias: Tensor<1>,
    eps: f64,
}

/// Vectors that the device may still be computing.
pub(super) struct Pending(Tensor<2>);

impl Pending {
    /// Waits for the vectors, `[texts, hidden]`.
    pub(super) fn read(self) -> Result<Vec<f32>, ExecutionError> {
        let data = self.0.try_into_data()?;
        data.try_into_vec().map_err(|error| ExecutionError::WithContext { reason: format!("{error:?}") })
    }
}

impl TensorModel {
    /// Brings the words' vectors, `[vocab, hidden]`, and the other weights to `device`.
    pub(super) fn new(words: &[f32], weights: &Weights<'_>, device: &Device) -> Result<Self, EncoderError> {
        let hidden = weights.hidden;
        let matrix = |rows: &[f32]| {
            Tensor::from_data(TensorData::new(rows.to_vec(), [rows.len() / hidden.max(1), hidden]), device)
        };
        let layer = |layer: LayerWeights| Layer {
            qkv: Linear::new(&layer.qkv, device),
            out: Linear::new(&layer.out, device),
            attention_norm: NormTensors::new(&layer.attention_norm, device),
            up: Linear::new(&layer.up, device),
            down: Linear::new(&layer.down, device),
            output_norm: NormTensors::new(&layer.output_norm, device),
        };
        Ok(Self {
            device: device.clone(),
            heads: weights.heads,
            activation: weights.activation,
            words: matrix(words),
            positions: matrix(&weights.embeddings.positions),
            norm: NormTensors::new(&weights.embeddings.norm, device),
            layers: weights.layers(layer)?,
        })
    }

    /// Pooled vectors of `texts` (token ids), padded to the longest.
    ///
    /// Ids and lengths must be within the model's vocabulary and positions.
    pub(super) fn vectors(&self, texts: &[&[u32]], pooling: Pooling) -> Pending {
        let [positions, hidden] = self.positions.dims();
        let longest = texts.iter().map(|ids| ids.len()).max().unwrap_or_default();
        let shape = [texts.len(), longest.max(1).next_multiple_of(LENGTHS).min(positions)];
        let [batch, length] = shape;
        let (mut ids, mut mask) = (Vec::with_capacity(batch * length), Vec::with_capacity(batch * length));
        for text in texts {
            let pads = length - text.len();
            ids.extend(text.iter().map(|id| *id as i32).chain(std::iter::repeat_n(0, pads)));
            mask.extend(text.iter().map(|_| 1.0).chain(std::iter::repeat_n(0.0, pads)));
        }
        let ids: Tensor<1, Int> = Tensor::from_data(TensorData::new::<i32, _>(ids, [batch * length]), &self.device);
        let mask: Tensor<2> = Tensor::from_data(TensorData::new::<f32, _>(mask, shape), &self.device); // 1 or 0

        let words = self.words.clone().select(0, ids).reshape([batch, length, hidden]);
        let positions = self.positions.clone().narrow(0, 0, length).unsqueeze_dim(0);
        let states = self.norm.apply((words + positions).reshape([batch * length, hidden]));
        let absent = (mask.clone() - 1.0) * -NEVER; // NEVER or 0
        let absent = absent.reshape([batch, 1, 1, length]);
        let states = self.layers.iter().fold(states, |states, layer| {
            let context = self.attend(layer.qkv.apply(states.clone()), absent.clone(), shape);
            let states = layer.attention_norm.apply(states + layer.out.apply(context));
            let inner = layer.up.apply(states.clone());
            let inner = match self.activation {
                Activation::Gelu => gelu(inner),
                Activation::GeluTanh => gelu_approximate(inner),
                Activation::Relu => relu(inner),
            };
            layer.output_norm.apply(states + layer.down.apply(inner))
        });
        Pending(pool(pooling, states.reshape([batch, length, hidden]), mask))
    }

    /// `softmax(q kᵀ) v` for each head; `qkv` is `[tokens, 3 hidden]`, the result `[tokens, hidden]`.
    fn attend(&self, qkv: Tensor<2>, absent: Tensor<4>, [batch, length]: [usize; 2]) -> Tensor<2> {
        let [_, width] = qkv.dims();
        let (hidden, heads) = (width / 3, self.heads);
        let qkv = qkv.reshape([batch, length, 3 * heads, hidden / heads]).swap_dims(1, 2); // [batch, 3 heads, length, d]
        let [q, k, v] = [0, heads, 2 * heads].map(|first| qkv.clone().narrow(1, first, heads));
        let scores = q.matmul(k.swap_dims(2, 3)) + absent; // [batch, heads, length, length]
        softmax(scores, 3).matmul(v).swap_dims(1, 2).reshape([batch * length, hidden])
    }
}

impl Linear {
    fn new(map: &LinearWeights, device: &Device) -> Self {
        let outputs = map.bias.len();
        let inputs = map.weight.len() / outputs.max(1);
        let mut weight: Vec<f32> = Vec::with_capacity(map.weight.len());
        for input in 0..inputs {
            weight.extend(map.weight.iter().skip(input).step_by(inputs));
        }
        Self {
            weight: Tensor::from_data(TensorData::new(weight, [inputs, outputs]), device),
            bias: Tensor::from_data(TensorData::new(map.bias.clone(), [1, outputs]), device),
        }
    }

    fn apply(&self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.weight.clone()) + self.bias.clone()
    }
}

impl NormTensors {
    fn new(norm: &Norm, device: &Device) -> Self {
        let vector = |values: &[f32]| Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device);
        Self { weight: vector(&norm.weight), bias: vector(&norm.bias), eps: norm.eps.into() }
    }

    fn apply(&self, x: Tensor<2>) -> Tensor<2> {
        layer_norm(x, self.weight.clone(), Some(self.bias.clone()), self.eps)
    }
}

/// `states` is `[batch, length, hidden]`, `mask` `[batch, length]`; the vectors are `[batch, hidden]`.
fn pool(pooling: Pooling, states: Tensor<3>, mask: Tensor<2>) -> Tensor<2> {
    let [batch, length, hidden] = states.dims();
    let present = mask.clone().reshape([batch, length, 1]);
    let vectors = match pooling {
        Pooling::Mean => {
            (states * present).sum_dim(1).reshape([batch, hidden]) / mask.clone().sum_dim(1).clamp_min(1.0)
        }
        Pooling::Cls => states.narrow(1, 0, 1).reshape([batch, hidden]),
        Pooling::Max => {
            let absent = (present - 1.0) * -NEVER;
            (states + absent).max_dim(1).reshape([batch, hidden])
        }
    };
    // A text without tokens has the vector 0.
    vectors * mask.max_dim(1)
}
