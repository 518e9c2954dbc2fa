//! Attention with relative positions; its scores are not divided by √d_kv.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

use super::batch::Texts;
use super::{Builder, Listed, Pass, matrix};
use crate::T5Config;

/// o softmax(q kᵀ + bias) v
#[derive(Module, Debug)]
pub(crate) struct Attention {
    /// `[d_model, heads × d_kv]`
    q: Param<Tensor<2>>,
    /// `[d_model, heads × d_kv]`
    k: Param<Tensor<2>>,
    /// `[d_model, heads × d_kv]`
    v: Param<Tensor<2>>,
    /// `[heads × d_kv, d_model]`
    o: Param<Tensor<2>>,
}

impl Attention {
    pub(super) fn build<E>(
        name: &dyn Fn(&str) -> String,
        config: &T5Config,
        builder: &mut Builder<'_, E>,
    ) -> Result<Self, E> {
        let (d, inner) = (config.d_model, config.inner());
        Ok(Self {
            q: builder.matrix(&name("q"), [d, inner])?,
            k: builder.matrix(&name("k"), [d, inner])?,
            v: builder.matrix(&name("v"), [d, inner])?,
            o: builder.matrix(&name("o"), [inner, d])?,
        })
    }

    pub(super) fn list(&self, name: &dyn Fn(&str) -> String, list: &mut Listed) {
        for (part, parameter) in [("q", &self.q), ("k", &self.k), ("v", &self.v), ("o", &self.o)] {
            list.push(matrix(name(part), parameter));
        }
    }

    /// `x` `[texts × queries, d_model]`, `other` `[texts × keys, d_model]`, `bias`
    /// `[1 or texts, 1 or heads, 1 or queries, keys]` → `[texts × queries, d_model]`
    pub(super) fn forward(
        &self,
        x: Tensor<2>,
        other: Tensor<2>,
        texts: &Texts,
        bias: Option<Tensor<4>>,
        pass: Pass<'_>,
    ) -> Tensor<2> {
        let (heads, inner) = (pass.config.num_heads, pass.config.inner());
        let split = |x: Tensor<2>, weight: &Param<Tensor<2>>, length: usize| {
            let x = pass.precision.product(x, weight.val());
            x.reshape([texts.count, length, heads, pass.config.d_kv]).swap_dims(1, 2) // [texts, heads, length, d_kv]
        };
        let q = split(x, &self.q, texts.queries);
        let k = split(other.clone(), &self.k, texts.keys);
        let v = split(other, &self.v, texts.keys);
        let mut scores = q.matmul(k.swap_dims(2, 3)); // [texts, heads, queries, keys]
        if let Some(bias) = bias {
            scores = scores + bias;
        }
        let heard = softmax(scores, 3).matmul(v); // [texts, heads, queries, d_kv]
        let heard = heard.swap_dims(1, 2).reshape([texts.count * texts.queries, inner]);
        pass.precision.product(heard, self.o.val())
    }
}

/// The biases of a stack, `[texts, heads, queries, keys]`: that of the position and −10⁹ where a key is
/// masked.
pub(super) fn position_bias(table: Tensor<2>, texts: &Texts) -> Option<Tensor<4>> {
    let buckets = texts.buckets.clone()?;
    let heads = table.dims()[1];
    let bias = table
        .select(0, buckets) // [queries × keys, heads]
        .transpose()
        .reshape([1, heads, texts.queries, texts.keys]);
    Some(match &texts.mask {
        Some(mask) => bias + mask.clone(),
        None => bias,
    })
}
