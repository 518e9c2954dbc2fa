//! The forward pass through candle-transformers: the reference engine, for BERT alone.

use std::path::Path;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};

use crate::EncoderError;

/// A model as candle holds it.
pub(super) struct CandleModel(BertModel);

impl CandleModel {
    /// Reads a model whose files were checked already; `place` names it in messages.
    pub(super) fn read(place: &Path, config: &[u8], weights: &[u8]) -> Result<Self, EncoderError> {
        let refused = |reason: String| EncoderError::Malformed { path: place.to_owned(), reason };
        let config: Config = serde_json::from_slice(config).map_err(|error| {
            refused(format!("candle's BertModel cannot read the config: {error}; use encoder.engine = \"native\""))
        })?;
        let weights = VarBuilder::from_slice_safetensors(weights, DType::F32, &Device::Cpu);
        let model = weights.and_then(|weights| BertModel::load(weights, &config));
        Ok(Self(model.map_err(|error| {
            refused(format!("candle's BertModel cannot read the weights: {error}; use encoder.engine = \"native\""))
        })?))
    }

    /// Last hidden states `[tokens of all texts, hidden]`. Texts of one length stand side by side
    /// in a batch, so that nothing is padded.
    pub(super) fn forward(&self, texts: &[&[u32]]) -> Result<Vec<f32>, EncoderError> {
        let mut states = Vec::new();
        for texts in texts.chunk_by(|a, b| a.len() == b.len()) {
            let length = texts.first().map_or(0, |ids| ids.len());
            let group = || -> candle_core::Result<Vec<f32>> {
                let ids = Tensor::from_vec(texts.concat(), (texts.len(), length), &Device::Cpu)?; // [texts, tokens]
                self.0.forward(&ids, &ids.zeros_like()?, None)?.flatten_all()?.to_vec1()
            };
            states.extend(group().map_err(|error| EncoderError::Engine { reason: error.to_string() })?);
        }
        Ok(states)
    }
}
