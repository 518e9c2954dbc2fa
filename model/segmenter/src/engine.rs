//! candle-transformers' T5, as it is and with quantised weights.
//!
//! What is worked around: its decoder takes the buckets of an encoder, so it gets tables in which every
//! distance has a bucket of its own ([`widen`](crate::buckets::widen)); a head that is the embedding it
//! scales by √d_model instead of by 1/√d_model, so the head is given as one of its own and the scale is applied by
//! [`Generator`](crate::Generator). Its logits then are those of Python's transformers.

use std::collections::HashMap;
use std::io::Cursor;

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{quantized_t5 as quantised, t5};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::buckets::widen;
use crate::{FeedForward, Floats, SegmenterError, T5Config};

/// The number type of the weights in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum WeightKind {
    /// As computed with.
    #[default]
    #[serde(rename = "f32")]
    F32,
    /// 8 bits and a scale for 32 numbers: about a quarter of the memory.
    #[serde(rename = "q8_0")]
    Q8_0,
    /// 4 bits and a scale for 32 numbers: about a seventh.
    #[serde(rename = "q4_0")]
    Q4_0,
}

impl WeightKind {
    pub(crate) fn blocks(self) -> Option<GgmlDType> {
        match self {
            Self::F32 => None,
            Self::Q8_0 => Some(GgmlDType::Q8_0),
            Self::Q4_0 => Some(GgmlDType::Q4_0),
        }
    }
}

/// A model that reads and writes; clones share the weights.
#[derive(Clone)]
pub(crate) enum Engine {
    Full(Box<t5::T5ForConditionalGeneration>),
    Quantised(Box<quantised::T5ForConditionalGeneration>),
}

impl Engine {
    /// For texts of fewer tokens than `positions`.
    pub(crate) fn load(
        config: &T5Config,
        own_head: bool,
        positions: usize,
        weights: WeightKind,
        floats: &mut Floats<'_, SegmenterError>,
    ) -> Result<Self, SegmenterError> {
        match weights.blocks() {
            None => Self::full(config, own_head, positions, floats),
            Some(blocks) => Self::quantised(config, own_head, positions, blocks, floats),
        }
    }

    fn full(
        config: &T5Config,
        own_head: bool,
        positions: usize,
        floats: &mut Floats<'_, SegmenterError>,
    ) -> Result<Self, SegmenterError> {
        let mut tensors: HashMap<String, Tensor> =
            tensors(config, own_head, positions, floats).collect::<Result<_, _>>()?;
        // The same memory.
        if let Some(shared) = tensors.get("shared.weight").cloned() {
            tensors.entry(HEAD.to_owned()).or_insert(shared);
        }
        let builder = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        Ok(Self::Full(Box::new(t5::T5ForConditionalGeneration::load(builder, &candle_config(config, positions)?)?)))
    }

    /// candle takes quantised weights from a GGUF file alone: it is written in memory.
    pub(crate) fn quantised(
        config: &T5Config,
        own_head: bool,
        positions: usize,
        blocks: GgmlDType,
        floats: &mut Floats<'_, SegmenterError>,
    ) -> Result<Self, SegmenterError> {
        let mut quantised: Vec<(String, QTensor)> = Vec::new();
        for tensor in tensors(config, own_head, positions, floats) {
            let (name, tensor) = tensor?;
            let whole = tensor.rank() == 2 && tensor.dim(1)? % blocks.block_size() == 0 && !name.ends_with(DISTANCES);
            quantised.push((name, QTensor::quantize(&tensor, if whole { blocks } else { GgmlDType::F32 })?));
        }
        let mut named: Vec<(&str, &QTensor)> = quantised.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        if !named.iter().any(|(name, _)| *name == HEAD) {
            let shared = named.iter().find(|(name, _)| *name == "shared.weight").map(|(_, tensor)| *tensor);
            named.extend(shared.map(|shared| (HEAD, shared)));
        }
        let bytes: usize = named.iter().map(|(name, tensor)| tensor.storage_size_in_bytes() + name.len() + 128).sum();
        let mut file = Cursor::new(Vec::with_capacity(bytes));
        gguf_file::write(&mut file, &[], &named)?;
        drop(quantised);
        let builder = quantised::VarBuilder::from_gguf_buffer(file.get_ref(), &Device::Cpu)?;
        let config = candle_config(config, positions)?;
        Ok(Self::Quantised(Box::new(quantised::T5ForConditionalGeneration::load(builder, &config)?)))
    }

    /// `[1, inputs]` → `[1, inputs, d_model]`
    pub(crate) fn encode(&mut self, input: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Full(model) => model.encode(input),
            Self::Quantised(model) => model.encode(input),
        }
    }

    /// The next tokens `[1, tokens]` after what it has read `[1, inputs, d_model]` → logits of what follows them
    /// `[1, vocabulary]`
    pub(crate) fn decode(&mut self, tokens: &Tensor, read: &Tensor) -> candle_core::Result<Tensor> {
        match self {
            Self::Full(model) => model.decode(tokens, read),
            Self::Quantised(model) => model.decode(tokens, read),
        }
    }
}

const HEAD: &str = "lm_head.weight";
const DISTANCES: &str = "relative_attention_bias.weight";

/// The parameters by name, one at a time.
fn tensors(
    config: &T5Config,
    own_head: bool,
    positions: usize,
    floats: &mut Floats<'_, SegmenterError>,
) -> impl Iterator<Item = Result<(String, Tensor), SegmenterError>> {
    config.parameters(own_head).into_iter().map(move |(name, shape)| {
        let values = floats(&name, &shape)?;
        let tensor = if name.ends_with(DISTANCES) {
            let both = name.starts_with("encoder");
            let wide = widen(&values, config.num_heads, both, config.max_distance, positions);
            Tensor::from_vec(wide, (4 * positions, config.num_heads), &Device::Cpu)?
        } else {
            Tensor::from_vec(values, shape, &Device::Cpu)?
        };
        Ok((name, tensor))
    })
}

/// That of either of candle's T5s; the fields of the quantised one's are private.
fn candle_config<C: DeserializeOwned>(config: &T5Config, positions: usize) -> Result<C, SegmenterError> {
    let feed_forward = match config.feed_forward {
        FeedForward::Relu => "relu",
        FeedForward::GatedGelu => "gated-gelu",
    };
    let json = serde_json::json!({
        "vocab_size": config.vocab_size,
        "d_model": config.d_model,
        "d_kv": config.d_kv,
        "d_ff": config.d_ff,
        "num_layers": config.num_layers,
        "num_decoder_layers": config.num_decoder_layers,
        "num_heads": config.num_heads,
        "relative_attention_num_buckets": 4 * positions,
        "relative_attention_max_distance": 8 * positions,
        "dropout_rate": 0.0,
        "layer_norm_epsilon": config.eps,
        "initializer_factor": 1.0,
        "feed_forward_proj": feed_forward,
        "tie_word_embeddings": false,
        "is_encoder_decoder": true,
        "use_cache": true,
        "pad_token_id": config.pad,
        "eos_token_id": config.eos,
        "decoder_start_token_id": config.start,
    });
    let refused = |error| SegmenterError::Engine { reason: format!("candle's T5 takes no such shape: {error}") };
    serde_json::from_value(json).map_err(refused)
}
