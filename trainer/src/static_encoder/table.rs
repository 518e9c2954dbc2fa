//! What is trained: a vector and a weight a token.

use std::sync::Arc;

use burn::module::{Module, Param, ParamId};
use burn::tensor::{Device, Tensor, TensorData};
use tabsegnet_ranker::aggregate::aggregate;
use tabsegnet_ranker::config::Aggregation;
use tabsegnet_ranker::edges::EdgeIndex;

use crate::batches::floats;

/// The parameters.
#[derive(Module, Debug)]
pub(super) struct TokenTable {
    /// `[tokens, dim]`
    embedding: Param<Tensor<2>>,
    /// `[tokens, 1]`
    weight: Param<Tensor<2>>,
}

impl TokenTable {
    /// Of vectors, row-major `[tokens, dim]`, and weights `[tokens]`.
    pub fn new(embedding: Vec<f32>, weight: Vec<f32>, dim: usize, device: &Device) -> Self {
        let parameter = |id: u64, values: Vec<f32>, width: usize| {
            let shape = [values.len() / width, width];
            Param::initialized(
                ParamId::from(id),
                Tensor::from_data(TensorData::new(values, shape), device).require_grad(),
            )
        };
        Self { embedding: parameter(1, embedding, dim), weight: parameter(2, weight, 1) }
    }

    /// Unit vectors `[texts, dim]` of texts given as token numbers.
    pub fn forward<'a>(&self, texts: impl Iterator<Item = &'a [u32]>) -> Tensor<2> {
        let embedding = self.embedding.val();
        let texts = edges(texts, embedding.dims()[0]);
        let one = Tensor::ones([1, 1], &embedding.device());
        let tokens = embedding * self.weight.val(); // [tokens, dim]
        let mean = aggregate(tokens, one, &texts, Aggregation::Mean); // [texts, dim]
        let square = mean.clone().powi_scalar(2).sum_dim(1); // [texts, 1]
        mean / (square + 1e-12).sqrt()
    }

    /// The vectors, row-major, and the weights.
    pub fn values(&self) -> (Vec<f32>, Vec<f32>) {
        let values = |parameter: &Param<Tensor<2>>| floats(parameter.val().into_data());
        (values(&self.embedding), values(&self.weight))
    }
}

/// Texts as edges from tokens.
fn edges<'a>(texts: impl Iterator<Item = &'a [u32]>, tokens: usize) -> Arc<EdgeIndex> {
    let mut offsets = vec![0];
    let mut sources = Vec::new();
    for text in texts {
        sources.extend_from_slice(text);
        offsets.push(sources.len() as u32);
    }
    let strengths = vec![0; sources.len()];
    Arc::new(EdgeIndex::bipartite(tokens, offsets, sources, strengths))
}
