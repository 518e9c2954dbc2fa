//! `config.json` of a T5.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::SegmenterError;

/// The feed-forward layers of a T5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedForward {
    /// wo relu(wi x): the first T5.
    Relu,
    /// wo (gelu(wi_0 x) · wi_1 x), gelu by its tanh form: T5 v1.1 and FLAN-T5.
    GatedGelu,
}

/// The shapes and settings of a T5.
#[derive(Debug, Clone, PartialEq)]
pub struct T5Config {
    /// Rows of the embedding.
    pub vocab_size: usize,
    /// Width between layers.
    pub d_model: usize,
    /// Width of a head; heads × `d_kv` need not be `d_model`.
    pub d_kv: usize,
    /// Width inside a feed-forward layer.
    pub d_ff: usize,
    /// Layers of the encoder.
    pub num_layers: usize,
    /// Layers of the decoder.
    pub num_decoder_layers: usize,
    /// Heads of each attention.
    pub num_heads: usize,
    /// Buckets of relative positions.
    pub buckets: usize,
    /// Distance from which all share the last bucket.
    pub max_distance: usize,
    /// ε under the root of the norm.
    pub eps: f64,
    /// The kind of feed-forward layers.
    pub feed_forward: FeedForward,
    /// Whether the decoder's output is divided by √d_model, as where the head is the embedding.
    pub scaled_output: bool,
    /// Padding.
    pub pad: u32,
    /// The token at the end.
    pub eos: u32,
    /// The first token of the decoder's input.
    pub start: u32,
}

#[derive(Deserialize)]
struct File {
    model_type: Option<String>,
    vocab_size: usize,
    d_model: usize,
    d_kv: usize,
    d_ff: usize,
    num_layers: usize,
    num_decoder_layers: Option<usize>,
    num_heads: usize,
    #[serde(default = "buckets")]
    relative_attention_num_buckets: usize,
    #[serde(default = "max_distance")]
    relative_attention_max_distance: usize,
    #[serde(default = "eps")]
    layer_norm_epsilon: f64,
    #[serde(default = "relu")]
    feed_forward_proj: String,
    tie_word_embeddings: Option<bool>,
    scale_decoder_outputs: Option<bool>,
    #[serde(default)]
    pad_token_id: u32,
    #[serde(default = "eos")]
    eos_token_id: u32,
    decoder_start_token_id: Option<u32>,
}

fn buckets() -> usize {
    32
}
fn max_distance() -> usize {
    128
}
fn eps() -> f64 {
    1e-6
}
fn relu() -> String {
    "relu".to_owned()
}
fn eos() -> u32 {
    1
}

impl T5Config {
    /// Reads `bytes`, the content of `path`.
    ///
    /// # Errors
    /// Another kind of model, an activation that is not known, a size out of range.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, SegmenterError> {
        let malformed = |reason: String| SegmenterError::Malformed { path: path.to_owned(), reason };
        let file: File =
            serde_json::from_slice(bytes).map_err(|error| malformed(format!("is not the config of a T5: {error}")))?;
        if let Some(other) = file.model_type.as_deref().filter(|kind| *kind != "t5") {
            return Err(malformed(format!("model_type is {other:?}; expected \"t5\"")));
        }
        let feed_forward = match file.feed_forward_proj.as_str() {
            "relu" => FeedForward::Relu,
            "gated-gelu" => FeedForward::GatedGelu,
            other => {
                return Err(malformed(format!("feed_forward_proj is {other:?}; expected \"relu\" or \"gated-gelu\"")));
            }
        };
        let config = Self {
            vocab_size: file.vocab_size,
            d_model: file.d_model,
            d_kv: file.d_kv,
            d_ff: file.d_ff,
            num_layers: file.num_layers,
            num_decoder_layers: file.num_decoder_layers.unwrap_or(file.num_layers),
            num_heads: file.num_heads,
            buckets: file.relative_attention_num_buckets,
            max_distance: file.relative_attention_max_distance,
            eps: file.layer_norm_epsilon,
            feed_forward,
            scaled_output: file.scale_decoder_outputs.unwrap_or(file.tie_word_embeddings != Some(false)),
            pad: file.pad_token_id,
            eos: file.eos_token_id,
            start: file.decoder_start_token_id.unwrap_or(file.pad_token_id),
        };
        config.check().map_err(malformed)?;
        Ok(config)
    }

    /// What is wrong with it, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let sizes = [
            ("vocab_size", self.vocab_size, 1),
            ("d_model", self.d_model, 1),
            ("d_kv", self.d_kv, 1),
            ("d_ff", self.d_ff, 1),
            ("num_layers", self.num_layers, 1),
            ("num_decoder_layers", self.num_decoder_layers, 1),
            ("num_heads", self.num_heads, 1),
            ("relative_attention_num_buckets", self.buckets, 4),
        ];
        if let Some((name, size, least)) = sizes.into_iter().find(|(_, size, least)| size < least) {
            return Err(format!("{name} is {size}; expected at least {least}"));
        }
        if !self.buckets.is_multiple_of(4) {
            return Err(format!("relative_attention_num_buckets is {}; expected a multiple of 4", self.buckets));
        }
        if self.max_distance <= self.buckets / 2 {
            return Err(format!(
                "relative_attention_max_distance is {}; expected more than half of the {} buckets",
                self.max_distance, self.buckets
            ));
        }
        if !(self.eps.is_finite() && self.eps > 0.0) {
            return Err(format!("layer_norm_epsilon is {}; expected a number above 0", self.eps));
        }
        let tokens = [("pad_token_id", self.pad), ("eos_token_id", self.eos), ("decoder_start_token_id", self.start)];
        match tokens.into_iter().find(|(_, token)| *token as usize >= self.vocab_size) {
            Some((name, token)) => Err(format!("{name} is {token}; expected one of the {} tokens", self.vocab_size)),
            None => Ok(()),
        }
    }

    /// heads × d_kv.
    pub fn inner(&self) -> usize {
        self.num_heads * self.d_kv
    }

    /// It as `config.json`, which candle and Python's transformers read.
    pub fn json(&self) -> Value {
        let mut fields = Map::new();
        let gated = self.feed_forward == FeedForward::GatedGelu;
        for (key, value) in [
            ("architectures", json!(["T5ForConditionalGeneration"])),
            ("model_type", json!("t5")),
            ("vocab_size", json!(self.vocab_size)),
            ("d_model", json!(self.d_model)),
            ("d_kv", json!(self.d_kv)),
            ("d_ff", json!(self.d_ff)),
            ("num_layers", json!(self.num_layers)),
            ("num_decoder_layers", json!(self.num_decoder_layers)),
            ("num_heads", json!(self.num_heads)),
            ("relative_attention_num_buckets", json!(self.buckets)),
            ("relative_attention_max_distance", json!(self.max_distance)),
            ("layer_norm_epsilon", json!(self.eps)),
            ("feed_forward_proj", json!(if gated { "gated-gelu" } else { "relu" })),
            ("is_gated_act", json!(gated)),
            ("dense_act_fn", json!(if gated { "gelu_new" } else { "relu" })),
            ("tie_word_embeddings", json!(self.scaled_output)),
            ("scale_decoder_outputs", json!(self.scaled_output)),
            ("is_encoder_decoder", json!(true)),
            ("use_cache", json!(true)),
            ("initializer_factor", json!(1.0)),
            ("dropout_rate", json!(0.1)),
            ("pad_token_id", json!(self.pad)),
            ("eos_token_id", json!(self.eos)),
            ("decoder_start_token_id", json!(self.start)),
        ] {
            fields.insert(key.to_owned(), value);
        }
        Value::Object(fields)
    }

    /// Every parameter with its name and shape in Hugging Face layout, the head (`lm_head.weight`)
    /// where it is one of its own.
    pub fn parameters(&self, own_head: bool) -> Vec<(String, Vec<usize>)> {
        let (d, inner) = (self.d_model, self.inner());
        let mut list = vec![("shared.weight".to_owned(), vec![self.vocab_size, d])];
        for (stack, layers) in [("encoder", self.num_layers), ("decoder", self.num_decoder_layers)] {
            for block in 0..layers {
                let mut add = |name: &str, shape: Vec<usize>| {
                    list.push((format!("{stack}.block.{block}.layer.{name}"), shape));
                };
                let mut attention = |layer: usize, name: &str, bias: bool| {
                    for part in ["q", "k", "v"] {
                        add(&format!("{layer}.{name}.{part}.weight"), vec![inner, d]);
                    }
                    add(&format!("{layer}.{name}.o.weight"), vec![d, inner]);
                    if bias {
                        let shape = vec![self.buckets, self.num_heads];
                        add(&format!("{layer}.{name}.relative_attention_bias.weight"), shape);
                    }
                    add(&format!("{layer}.layer_norm.weight"), vec![d]);
                };
                attention(0, "SelfAttention", block == 0);
                let last = match stack {
                    "encoder" => 1,
                    _ => {
                        attention(1, "EncDecAttention", false);
                        2
                    }
                };
                let into: &[&str] = match self.feed_forward {
                    FeedForward::Relu => &["wi"],
                    FeedForward::GatedGelu => &["wi_0", "wi_1"],
                };
                for part in into {
                    add(&format!("{last}.DenseReluDense.{part}.weight"), vec![self.d_ff, d]);
                }
                add(&format!("{last}.DenseReluDense.wo.weight"), vec![d, self.d_ff]);
                add(&format!("{last}.layer_norm.weight"), vec![d]);
            }
            list.push((format!("{stack}.final_layer_norm.weight"), vec![d]));
        }
        if own_head {
            list.push(("lm_head.weight".to_owned(), vec![self.vocab_size, d]));
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn small() -> T5Config {
        T5Config {
            vocab_size: 64,
            d_model: 12,
            d_kv: 5,
            d_ff: 20,
            num_layers: 2,
            num_decoder_layers: 1,
            num_heads: 3,
            buckets: 32,
            max_distance: 128,
            eps: 1e-6,
            feed_forward: FeedForward::GatedGelu,
            scaled_output: true,
            pad: 0,
            eos: 1,
            start: 0,
        }
    }

    fn message(change: impl Fn(&mut Value)) -> String {
        let mut json = small().json();
        change(&mut json);
        T5Config::parse(Path::new("config.json"), json.to_string().as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_reads_back_as_the_same() {
        for config in [small(), T5Config { feed_forward: FeedForward::Relu, scaled_output: false, ..small() }] {
            let json = config.json().to_string();
            assert_eq!(T5Config::parse(Path::new("c"), json.as_bytes()).unwrap(), config);
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let silu = message(|json| json["feed_forward_proj"] = "gated-silu".into());
        assert_eq!(silu, "config.json: feed_forward_proj is \"gated-silu\"; expected \"relu\" or \"gated-gelu\"");
        assert!(message(|json| json["model_type"] = "bart".into()).contains("model_type is \"bart\"; expected \"t5\""));
        assert!(message(|json| json["num_heads"] = 0.into()).contains("num_heads is 0; expected at least 1"));
        assert!(
            message(|json| json["eos_token_id"] = 64.into()).contains("eos_token_id is 64; expected one of the 64")
        );
        assert!(message(|json| json["d_model"] = Value::Null).contains("not the config of a T5"));
        assert!(message(|json| json["relative_attention_max_distance"] = 16.into()).contains("more than half"));
    }
}
