//! Learned sparse vectors (SPLADE, Formal et al. 2021): what a masked language model expects in a
//! text's places, as weights of the words of its vocabulary.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{DType, Device, Tensor, safetensors};
use candle_nn::VarBuilder;
use candle_transformers::models::{bert, distilbert};
use rayon::prelude::*;
use serde::Deserialize;

use crate::EncoderError;
use crate::source::{Source, hub_name};
use crate::tokens::Tokens;

const KIND: &str = "masked language";
/// Tokens that go through a model at a time: a token's place takes as many numbers as the
/// vocabulary has words.
const BATCH_TOKENS: usize = 512;
/// Tokens of a text that count unless the model has fewer positions.
const MOST_TOKENS: usize = 256;

/// A text as weights above 0 of vocabulary words, by rising number of the word.
pub type SparseVector = Vec<(u32, f32)>;

/// A masked language model in Hugging Face layout (`model_type` `bert` or `distilbert`), through
/// candle.
///
/// The weight of word j in a text is max over the text's tokens i, special ones included, of
/// log(1 + ReLU(logit_ij)). candle's DistilBERT takes the tanh form of GELU where transformers takes the
/// exact one; weights differ by some 1e-3.
pub struct Splade {
    tokens: Tokens,
    model: Model,
}

enum Model {
    Bert(bert::BertForMaskedLM),
    DistilBert(distilbert::DistilBertForMaskedLM),
}

/// What every config of a supported model has.
#[derive(Deserialize)]
struct Header {
    model_type: String,
    vocab_size: usize,
    max_position_embeddings: usize,
}

impl Splade {
    /// Opens a directory, or a hub name (`owner/name`, where there is no such directory).
    ///
    /// # Errors
    /// A model that is not there, of another type, or whose files do not fit together. `key` is the
    /// configuration's name for it in messages.
    pub fn open(model: &str, revision: &str, key: &'static str) -> Result<Self, EncoderError> {
        let source = match (Path::new(model).is_dir(), hub_name(model)) {
            (true, _) => Source::directory(Path::new(model)),
            (false, Some((owner, name))) => Source::hub(owner, name, revision, key)?,
            (false, None) => return Err(EncoderError::NoModel { path: model.into(), kind: KIND, key }),
        };
        let (config_path, config) = source.read(KIND, "config.json")?;
        let malformed = |reason: String| EncoderError::Malformed { path: config_path.clone(), reason };
        let header: Header =
            serde_json::from_slice(&config).map_err(|error| malformed(format!("not a model's config: {error}")))?;
        let (tokenizer_path, tokenizer) = source.read(KIND, "tokenizer.json")?;
        let tokens = Tokens::parse(&tokenizer_path, &tokenizer, true, MOST_TOKENS.min(header.max_position_embeddings))?;
        let (weights_path, weights) = source.read(KIND, "model.safetensors")?;
        tokens.check_rows(header.vocab_size, &weights_path)?;
        let refused = |error: candle_core::Error| EncoderError::Malformed {
            path: weights_path.clone(),
            reason: format!("not the weights of a {} masked language model: {error}", header.model_type),
        };
        let unread = |error: serde_json::Error| malformed(format!("candle cannot read the config: {error}"));
        let mut tensors = safetensors::load_buffer(&weights, &Device::Cpu).map_err(refused)?;
        let model = match header.model_type.as_str() {
            "bert" => {
                untie(&mut tensors);
                let config = serde_json::from_slice(&config).map_err(unread)?;
                let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
                Model::Bert(bert::BertForMaskedLM::load(weights, &config).map_err(refused)?)
            }
            "distilbert" => {
                let config = serde_json::from_slice(&config).map_err(unread)?;
                let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
                Model::DistilBert(distilbert::DistilBertForMaskedLM::load(weights, &config).map_err(refused)?)
            }
            other => {
                let reason = format!("model_type is {other:?}; supported are \"bert\" and \"distilbert\"");
                return Err(malformed(reason));
            }
        };
        Ok(Self { tokens, model })
    }

    /// The sparse vectors of `texts`, in their order. Equal texts are encoded once.
    ///
    /// # Errors
    /// A text that the tokenizer refuses; an engine that fails.
    pub fn encode(&self, texts: &[&str]) -> Result<Vec<SparseVector>, EncoderError> {
        let mut unique: Vec<&str> = texts.to_vec();
        unique.sort_unstable();
        unique.dedup();
        let ids = self.tokens.ids(&unique)?;
        let mut order: Vec<usize> = (0..unique.len()).collect();
        order.sort_by_key(|&text| ids[text].len());
        // Texts of one length stand side by side, so that nothing is padded.
        let same = order.chunk_by(|&a, &b| ids[a].len() == ids[b].len());
        let batches: Vec<&[usize]> =
            same.flat_map(|texts| texts.chunks((BATCH_TOKENS / ids[texts[0]].len().max(1)).max(1))).collect();
        let encoded: Vec<Vec<SparseVector>> = batches
            .par_iter()
            .map(|batch| {
                let ids: Vec<&[u32]> = batch.iter().map(|&text| ids[text].as_slice()).collect();
                self.encode_batch(&ids).map_err(|error| EncoderError::MaskedModel { reason: error.to_string() })
            })
            .collect::<Result<_, _>>()?;
        let mut vectors = vec![SparseVector::new(); unique.len()];
        for (&text, vector) in batches.into_iter().flatten().zip(encoded.into_iter().flatten()) {
            vectors[text] = vector;
        }
        let number: HashMap<&str, usize> =
            unique.into_iter().enumerate().map(|(number, text)| (text, number)).collect();
        Ok(texts.iter().map(|text| vectors[number[text]].clone()).collect())
    }

    /// Texts of one length.
    fn encode_batch(&self, ids: &[&[u32]]) -> candle_core::Result<Vec<SparseVector>> {
        let length = ids.first().map_or(0, |ids| ids.len());
        let input = Tensor::from_vec(ids.concat(), (ids.len(), length), &Device::Cpu)?; // [texts, tokens]
        let logits = match &self.model {
            Model::Bert(model) => model.forward(&input, &input.zeros_like()?, None)?,
            // Its mask marks what is not there, for each head and query.
            Model::DistilBert(model) => {
                let nothing = Tensor::zeros((ids.len(), 1, 1, length), DType::U8, &Device::Cpu)?;
                model.forward(&input, &nothing)?
            }
        }; // [texts, tokens, words]
        let weights = (logits.max(1)?.relu()? + 1.0)?.log()?; // log and ReLU rise: the maximum comes first
        let rows: Vec<Vec<f32>> = weights.to_vec2()?;
        let sparse = |row: Vec<f32>| (0..).zip(row).filter(|&(_, weight)| weight > 0.0).collect();
        Ok(rows.into_iter().map(sparse).collect())
    }
}

/// The product of two sparse vectors.
pub fn sparse_product(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut sum = 0.0;
    while let (Some(&&(word, x)), Some(&&(other, y))) = (a.peek(), b.peek()) {
        if word == other {
            sum += x * y;
        }
        if word <= other {
            a.next();
        }
        if other <= word {
            b.next();
        }
    }
    sum
}

/// Files leave out the head's matrix where it is the embedding, and its bias under its other name.
fn untie(tensors: &mut HashMap<String, Tensor>) {
    for (name, tied) in [
        ("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
        ("cls.predictions.decoder.bias", "cls.predictions.bias"),
    ] {
        if let (false, Some(tensor)) = (tensors.contains_key(name), tensors.get(tied).cloned()) {
            tensors.insert(name.to_owned(), tensor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_count_words_that_both_have() {
        assert_eq!(sparse_product(&[(1, 2.0), (3, 1.0), (9, 4.0)], &[(0, 5.0), (3, 3.0), (9, 0.5)]), 5.0);
        assert_eq!(sparse_product(&[], &[(0, 5.0)]), 0.0);
    }

    #[test]
    fn a_model_that_is_not_there_is_named_with_its_key() {
        let error = Splade::open("/no/such/model", "main", "evaluation.splade").err().unwrap().to_string();
        assert!(error.contains("/no/such/model") && error.contains("`evaluation.splade`"), "{error}");
    }
}
