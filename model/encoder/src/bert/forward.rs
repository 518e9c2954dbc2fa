//! The forward pass over texts of any lengths, laid one after the other without padding.

use super::weights::{Embeddings, LayerWeights, LinearWeights, Weights};
use super::words::Words;
use crate::EncoderError;
use crate::math::{Activation, Linear, LinearScratch, Norm, Precision, Team, add_norm, attend, layer_norm};

/// A model, its linear maps packed for the kernels.
pub(crate) struct Model {
    hidden: usize,
    heads: usize,
    activation: Activation,
    words: Words,
    embeddings: Embeddings,
    layers: Vec<Layer>,
}

/// One layer.
struct Layer {
    /// Queries, keys and values side by side: `hidden` to `3 hidden`.
    qkv: Linear,
    out: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    output_norm: Norm,
}

/// A thread's buffers, kept from batch to batch.
#[derive(Default)]
pub(crate) struct Scratch {
    /// `[tokens, hidden]`
    states: Vec<f32>,
    /// `[tokens, 3 hidden]`
    qkv: Vec<f32>,
    /// `[tokens, hidden]`
    context: Vec<f32>,
    /// `[tokens, hidden]`
    product: Vec<f32>,
    /// `[tokens, inner]`
    inner: Vec<f32>,
    linear: LinearScratch,
}

impl Model {
    pub(crate) fn new(words: Words, weights: Weights<'_>, precision: Precision) -> Result<Self, EncoderError> {
        let linear = |map: LinearWeights| Linear::new(&map.weight, map.bias, precision);
        let layer = |layer: LayerWeights| Layer {
            qkv: linear(layer.qkv),
            out: linear(layer.out),
            attention_norm: layer.attention_norm,
            up: linear(layer.up),
            down: linear(layer.down),
            output_norm: layer.output_norm,
        };
        Ok(Self {
            hidden: weights.hidden,
            heads: weights.heads,
            activation: weights.activation,
            words,
            layers: weights.layers(layer)?,
            embeddings: weights.embeddings,
        })
    }

    /// Last hidden states of `texts` (token ids), `[tokens of all texts, hidden]`, in their order.
    ///
    /// Ids and lengths must be within the model's vocabulary and positions, which the encoder has
    /// checked when it was opened.
    ///
    /// # Errors
    /// A word's vector that cannot be read from the file any more.
    pub(crate) fn forward<'s>(
        &self,
        texts: &[&[u32]],
        scratch: &'s mut Scratch,
        team: Team,
    ) -> Result<&'s [f32], EncoderError> {
        let lengths: Vec<usize> = texts.iter().map(|ids| ids.len()).collect();
        let Scratch { states, qkv, context, product, inner, linear } = scratch;
        self.embed(texts, states)?;
        context.resize(states.len(), 0.0);
        for layer in &self.layers {
            layer.qkv.apply(states, qkv, None, team, linear);
            attend(&lengths, self.heads, self.hidden, qkv, context, team);
            layer.out.apply(context, product, None, team, linear);
            add_norm(states, product, &layer.attention_norm);
            layer.up.apply(states, inner, Some(self.activation), team, linear);
            layer.down.apply(inner, product, None, team, linear);
            add_norm(states, product, &layer.output_norm);
        }
        Ok(states)
    }

    /// `states[t] = norm(words[id of t] + positions[place of t in its text])`
    fn embed(&self, texts: &[&[u32]], states: &mut Vec<f32>) -> Result<(), EncoderError> {
        states.clear();
        for ids in texts {
            for (id, position) in ids.iter().zip(self.embeddings.positions.chunks_exact(self.hidden)) {
                let word = self.words.row(*id)?;
                states.extend(word.iter().zip(position).map(|(word, position)| word + position));
            }
        }
        layer_norm(states, &self.embeddings.norm);
        Ok(())
    }
}
