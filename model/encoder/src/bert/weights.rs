//! Reads a BERT-family model's weights, but for the words' vectors.

use super::config::{Family, ModelConfig};
use crate::EncoderError;
use crate::math::{Activation, Norm};
use crate::tensors::Tensors;

/// The weights of a model, as its file has them but for what is noted here. Layers are read one at a
/// time: all of them in f32 are several times what an int8 model keeps.
pub(crate) struct Weights<'a> {
    reader: Reader<'a>,
    names: &'static Names,
    /// The layers' prefix.
    prefix: String,
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) activation: Activation,
    pub(crate) embeddings: Embeddings,
}

/// What a token's first state is made of beside its word's vector.
pub(crate) struct Embeddings {
    /// The tensor of the words' vectors, `[vocab, hidden]`.
    pub(crate) words: String,
    /// `[positions, hidden]`, from the first token's on, the token type's row added.
    pub(crate) positions: Vec<f32>,
    pub(crate) norm: Norm,
}

/// One layer.
pub(crate) struct LayerWeights {
    /// Queries, keys and values side by side: `hidden` to `3 hidden`. Queries are scaled by 1/√d,
    /// as attention needs them.
    pub(crate) qkv: LinearWeights,
    pub(crate) out: LinearWeights,
    pub(crate) attention_norm: Norm,
    pub(crate) up: LinearWeights,
    pub(crate) down: LinearWeights,
    pub(crate) output_norm: Norm,
}

/// `y = x weightᵀ + bias`
pub(crate) struct LinearWeights {
    /// `[out, in]`
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

/// Names of a layer's parts, in the order query, key, value, out, attention norm, up, down, output
/// norm.
type Names = [&'static str; 8];

static BERT: Names = [
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
    "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm",
];

static DISTILBERT: Names = [
    "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm", "ffn.lin1",
    "ffn.lin2", "output_layer_norm",
];

impl<'a> Weights<'a> {
    /// Reads the weights of a model that `config` describes.
    pub(crate) fn read(tensors: &'a Tensors<'a>, config: &'a ModelConfig) -> Result<Self, EncoderError> {
        // Models with a head keep the encoder under its name.
        let prefix = ["", "bert.", "roberta.", "distilbert."]
            .into_iter()
            .find(|prefix| tensors.has(&format!("{prefix}embeddings.word_embeddings.weight")))
            .unwrap_or_default();
        let (names, layers) = match config.family {
            Family::Bert => (&BERT, format!("{prefix}encoder.layer")),
            Family::DistilBert => (&DISTILBERT, format!("{prefix}transformer.layer")),
        };
        let reader = Reader { tensors, config };
        let embeddings = format!("{prefix}embeddings");
        let hidden = config.hidden;
        let mut positions =
            reader.matrix(&format!("{embeddings}.position_embeddings.weight"), config.position_rows, hidden)?;
        positions.drain(..config.first_position * hidden);
        if config.types > 0 {
            // Every token of a single text has type 0.
            let types = reader.matrix(&format!("{embeddings}.token_type_embeddings.weight"), config.types, hidden)?;
            for position in positions.chunks_exact_mut(hidden) {
                position.iter_mut().zip(&types).for_each(|(position, kind)| *position += kind);
            }
        }
        Ok(Self {
            hidden,
            heads: config.heads,
            activation: config.activation,
            embeddings: Embeddings {
                words: format!("{embeddings}.word_embeddings.weight"),
                positions,
                norm: reader.norm(&format!("{embeddings}.LayerNorm"))?,
            },
            reader,
            names,
            prefix: layers,
        })
    }

    /// The layers, each with what `pack` makes of it.
    pub(crate) fn layers<T>(&self, pack: impl Fn(LayerWeights) -> T) -> Result<Vec<T>, EncoderError> {
        let layer = |layer| self.reader.layer(&format!("{}.{layer}", self.prefix), self.names);
        (0..self.reader.config.layers).map(|number| layer(number).map(&pack)).collect()
    }
}

struct Reader<'a> {
    tensors: &'a Tensors<'a>,
    config: &'a ModelConfig,
}

impl Reader<'_> {
    fn layer(&self, prefix: &str, names: &Names) -> Result<LayerWeights, EncoderError> {
        let [query, key, value, out, attention_norm, up, down, output_norm] =
            names.map(|name| format!("{prefix}.{name}"));
        let ModelConfig { hidden, inner, .. } = *self.config;
        let mut qkv = self.linear(&[&query, &key, &value], hidden, hidden)?;
        let scale = 1.0 / ((hidden / self.config.heads) as f32).sqrt();
        let queries = qkv.weight.iter_mut().take(hidden * hidden).chain(qkv.bias.iter_mut().take(hidden));
        queries.for_each(|x| *x *= scale);
        Ok(LayerWeights {
            qkv,
            out: self.linear(&[&out], hidden, hidden)?,
            attention_norm: self.norm(&attention_norm)?,
            up: self.linear(&[&up], hidden, inner)?,
            down: self.linear(&[&down], inner, hidden)?,
            output_norm: self.norm(&output_norm)?,
        })
    }

    /// Linear maps of one input side by side, each from `input` to `output` numbers.
    fn linear(&self, names: &[&str], input: usize, output: usize) -> Result<LinearWeights, EncoderError> {
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            weight.extend(self.matrix(&format!("{name}.weight"), output, input)?);
            bias.extend(self.vector(&format!("{name}.bias"), output)?);
        }
        Ok(LinearWeights { weight, bias })
    }

    fn norm(&self, name: &str) -> Result<Norm, EncoderError> {
        // TensorFlow's names stand in old files.
        let [weight, bias] =
            if self.tensors.has(&format!("{name}.gamma")) { ["gamma", "beta"] } else { ["weight", "bias"] };
        Ok(Norm {
            weight: self.vector(&format!("{name}.{weight}"), self.config.hidden)?,
            bias: self.vector(&format!("{name}.{bias}"), self.config.hidden)?,
            eps: self.config.eps,
        })
    }

    fn matrix(&self, name: &str, rows: usize, cols: usize) -> Result<Vec<f32>, EncoderError> {
        self.tensors.floats(name, &[rows, cols], "config.json")
    }

    fn vector(&self, name: &str, len: usize) -> Result<Vec<f32>, EncoderError> {
        self.tensors.floats(name, &[len], "config.json")
    }
}
