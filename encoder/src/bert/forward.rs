//! The forward pass over texts of any lengths, laid one after the other without padding.

use super::weights::{Layer, Linear, Model};
use crate::math::{View, add_bias, add_bias_activate, add_norm, layer_norm, matmul, padded, softmax};

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
    /// `[heads, length, padded length]` of one text
    scores: Vec<f32>,
}

impl Model {
    /// Last hidden states of `texts` (token ids), `[tokens of all texts, hidden]`, in their order.
    ///
    /// Ids and lengths must be within the model's vocabulary and positions, which the encoder has
    /// checked when it was opened.
    pub(crate) fn forward<'s>(&self, texts: &[&[u32]], scratch: &'s mut Scratch) -> &'s [f32] {
        let tokens: usize = texts.iter().map(|ids| ids.len()).sum();
        let Scratch { states, qkv, context, product, inner, scores } = scratch;
        self.embed(texts, states);
        context.resize(tokens * self.hidden, 0.0);
        product.resize(tokens * self.hidden, 0.0);
        for layer in &self.layers {
            linear(qkv, states, tokens, &layer.qkv);
            add_bias(qkv, &layer.qkv.bias);
            self.attend(texts, qkv, scores, context);
            linear(product, context, tokens, &layer.out);
            add_norm(states, product, &layer.out.bias, &layer.attention_norm);
            self.feed_forward(layer, tokens, states, inner, product);
        }
        states
    }

    /// `states[t] = norm(words[id of t] + positions[place of t in its text])`
    fn embed(&self, texts: &[&[u32]], states: &mut Vec<f32>) {
        states.clear();
        for ids in texts {
            for (id, position) in ids.iter().zip(self.positions.chunks_exact(self.hidden)) {
                let start = *id as usize * self.hidden;
                let word = &self.words[start..start + self.hidden];
                states.extend(word.iter().zip(position).map(|(word, position)| word + position));
            }
        }
        layer_norm(states, &self.norm);
    }

    /// `context = softmax(q kᵀ / √d) v` for each text and head.
    fn attend(&self, texts: &[&[u32]], qkv: &[f32], scores: &mut Vec<f32>, context: &mut [f32]) {
        let (hidden, stride) = (self.hidden, 3 * self.hidden);
        let width = hidden / self.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut first = 0;
        for ids in texts {
            let len = ids.len();
            let row = padded(len);
            scores.resize(self.heads * len * row, 0.0);
            let text = &qkv[first * stride..(first + len) * stride];
            let part = |at: usize| View::rows(&text[at..], len, width, stride);
            for (head, scores) in scores.chunks_exact_mut((len * row).max(1)).enumerate() {
                matmul(scores, row, scale, part(head * width), part(hidden + head * width).t());
            }
            softmax(scores, len);
            let context = &mut context[first * hidden..(first + len) * hidden];
            for (head, scores) in scores.chunks_exact((len * row).max(1)).enumerate() {
                let share = View::rows(scores, len, len, row);
                matmul(&mut context[head * width..], hidden, 1.0, share, part(2 * hidden + head * width));
            }
            first += len;
        }
    }

    /// `states = norm(states + activation(states up) down)`
    fn feed_forward(
        &self,
        layer: &Layer,
        tokens: usize,
        states: &mut [f32],
        inner: &mut Vec<f32>,
        product: &mut Vec<f32>,
    ) {
        linear(inner, states, tokens, &layer.up);
        add_bias_activate(inner, &layer.up.bias, self.activation);
        linear(product, inner, tokens, &layer.down);
        add_norm(states, product, &layer.down.bias, &layer.output_norm);
    }
}

/// `y = x weight`, without the bias; `y` is given its size.
fn linear(y: &mut Vec<f32>, x: &[f32], rows: usize, map: &Linear) {
    let cols = map.bias.len();
    let inner = map.weight.len() / cols.max(1);
    y.resize(rows * cols, 0.0);
    matmul(y, cols, 1.0, View::rows(x, rows, inner, inner), View::rows(&map.weight, inner, cols, cols));
}
