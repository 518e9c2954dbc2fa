//! The `static` encoder: a table of token vectors.
//!
//! A directory of three files:
//!
//! - `config.json`: `{"format": "tabsegnet-static", "version": 1, "dim": …}`; further keys are
//!   allowed and ignored.
//! - `tokenizer.json`: a tokenizer of the tokenizers library; its special tokens are not added.
//! - `model.safetensors`: `embedding` `[vocab, dim]`, either I8 with `scale` F32 `[vocab]`, where a
//!   row's numbers are `scale · byte`, or F32, F16 or BF16; and `weight` `[vocab]`, F32, F16 or
//!   BF16, how much a token counts.
//!
//! vector(text) = normalise(Σ_t weight[t] · embedding[t] / tokens)

mod read;
mod save;
mod tokenizer;
mod words;

use std::path::Path;

use rayon::prelude::*;
use safetensors::Dtype;
use serde::{Deserialize, Serialize};
use tabsegnet_store::Digest;

use crate::error::check_finite;
use crate::math::{unit_rows, vectorised};
use crate::source::Source;
use crate::tensors::Tensors;
use crate::{Encoder, EncoderConfig, EncoderError};

pub use read::{StaticTable, read_static};
pub use save::save_static;
use tokenizer::Tokenizer;

const FORMAT: &str = "tabsegnet-static";
const VERSION: u32 = 1;
const KIND: &str = "static";
/// Texts a task and a step of progress.
const CHUNK: usize = 256;
const WAVE: usize = 64 * CHUNK;

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    dim: usize,
}

impl Header {
    /// Reads `bytes`, the content of `path`.
    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, EncoderError> {
        let malformed = |reason: String| EncoderError::Malformed { path: path.to_owned(), reason };
        let header: Self = serde_json::from_slice(bytes)
            .map_err(|error| malformed(format!("not the config of a {FORMAT} encoder: {error}")))?;
        if header.format != FORMAT || header.version != VERSION || header.dim == 0 {
            return Err(malformed(format!(
                "format {:?}, version {}, dim {}; expected {FORMAT:?}, version {VERSION}, dim at least 1",
                header.format, header.version, header.dim
            )));
        }
        Ok(header)
    }
}

/// A table of token vectors, mean-pooled with token weights.
///
/// Vectors have length 1. A text without a token, or whose token vectors cancel to 0, gives the
/// unit vector along the first axis: finite, of length 1 like the others, and the same for all such
/// texts.
pub struct StaticEncoder {
    tokenizer: Tokenizer,
    table: Table,
    /// What a token's row is multiplied by: its weight, times its scale where the rows are bytes.
    factor: Vec<f32>,
    dim: usize,
    identity: String,
}

enum Table {
    Bytes(Vec<i8>),
    Floats(Vec<f32>),
}

struct Weights {
    table: Table,
    /// Of each row, where they are bytes.
    scale: Option<Vec<f32>>,
    weight: Vec<f32>,
}

impl Weights {
    fn parse(path: &Path, bytes: &[u8], dim: usize) -> Result<Self, EncoderError> {
        let tensors = Tensors::parse(path, bytes)?;
        let (dtype, shape) = tensors.describe("embedding")?;
        let &[rows, _] = shape.as_slice() else {
            return Err(tensors.malformed(format!("`embedding` has shape {shape:?}; expected [vocabulary, {dim}]")));
        };
        let weight = tensors.floats("weight", &[rows], "the rows of `embedding`")?;
        let (table, scale) = if dtype == Dtype::I8 {
            let scale = tensors.floats("scale", &[rows], "the rows of `embedding`")?;
            (Table::Bytes(tensors.bytes("embedding", &[rows, dim], "dim of config.json")?), Some(scale))
        } else {
            (Table::Floats(tensors.floats("embedding", &[rows, dim], "dim of config.json")?), None)
        };
        Ok(Self { table, scale, weight })
    }
}

impl StaticEncoder {
    /// Opens the encoder in `dir` with the default length limit.
    ///
    /// # Errors
    ///
    /// A directory or file that is not there, another format or version, tensors whose shapes do
    /// not fit `dim` or the tokenizer.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        if !dir.is_dir() {
            return Err(EncoderError::NoDirectory { path: dir.to_owned(), kind: KIND });
        }
        Self::open(&Source::directory(dir), EncoderConfig::default().max_tokens)
    }

    pub(crate) fn open(source: &Source, max_tokens: usize) -> Result<Self, EncoderError> {
        let (config_path, config) = source.read(KIND, "config.json")?;
        let (tokenizer_path, tokenizer) = source.read(KIND, "tokenizer.json")?;
        let (weights_path, weights) = source.read(KIND, "model.safetensors")?;

        let dim = Header::parse(&config_path, &config)?.dim;

        // A program that ranks one document waits for both.
        let (parsed, (weights, identity)) = rayon::join(
            || Tokenizer::parse(&tokenizer_path, &tokenizer, max_tokens),
            || {
                let identity = Digest::new().part("static 1").part(&weights).part(&tokenizer);
                let identity = identity.part((max_tokens as u64).to_le_bytes()).hex();
                (Weights::parse(&weights_path, &weights, dim), identity)
            },
        );
        let Weights { table, scale, weight: mut factor } = weights?;
        factor.iter_mut().zip(scale.iter().flatten()).for_each(|(factor, scale)| *factor *= scale);
        let tokenizer = parsed?;
        tokenizer.check_rows(factor.len(), &weights_path)?;
        Ok(Self { tokenizer, table, factor, dim, identity })
    }

    /// Writes a text's weighted mean to `vector`, which holds zeros.
    fn pool(&self, ids: &[u32], vector: &mut [f32]) {
        vectorised(
            (self, ids, vector),
            #[inline(always)]
            |(encoder, ids, vector): (&Self, &[u32], &mut [f32])| {
                let share = 1.0 / ids.len().max(1) as f32;
                for id in ids {
                    // Every id has a row: the tokenizer was checked against the table.
                    let row = *id as usize;
                    let range = row * encoder.dim..(row + 1) * encoder.dim;
                    let factor = encoder.factor.get(row).map_or(0.0, |factor| factor * share);
                    match &encoder.table {
                        Table::Bytes(bytes) => {
                            for (sum, byte) in vector.iter_mut().zip(bytes.get(range).unwrap_or_default()) {
                                *sum += factor * f32::from(*byte);
                            }
                        }
                        Table::Floats(floats) => {
                            for (sum, value) in vector.iter_mut().zip(floats.get(range).unwrap_or_default()) {
                                *sum += factor * value;
                            }
                        }
                    }
                }
            },
        );
    }
}

impl Encoder for StaticEncoder {
    fn dim(&self) -> usize {
        self.dim
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn encode(&self, texts: &[&str], progress: &mut dyn FnMut(usize)) -> Result<Vec<f32>, EncoderError> {
        let mut vectors = vec![0.0; texts.len() * self.dim];
        let mut done = 0;
        for (texts, vectors) in texts.chunks(WAVE).zip(vectors.chunks_mut(WAVE * self.dim)) {
            texts.par_chunks(CHUNK).zip(vectors.par_chunks_mut(CHUNK * self.dim)).try_for_each(
                |(texts, vectors)| {
                    let mut ids = Vec::new();
                    for (text, vector) in texts.iter().zip(vectors.chunks_exact_mut(self.dim)) {
                        self.tokenizer.ids_of(text, &mut ids)?;
                        self.pool(&ids, vector);
                        if vector.iter().all(|x| *x == 0.0) {
                            vector.iter_mut().take(1).for_each(|x| *x = 1.0);
                        }
                    }
                    unit_rows(vectors, self.dim);
                    check_finite(texts, vectors, self.dim)
                },
            )?;
            done += texts.len();
            progress(done);
        }
        Ok(vectors)
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let vectors_of = |text: &&str| {
            let mut ids = Vec::new();
            self.tokenizer.ids_of(text, &mut ids)?;
            let mut vectors = vec![0.0; ids.len() * self.dim];
            for (id, vector) in ids.iter().zip(vectors.chunks_exact_mut(self.dim)) {
                self.pool(&[*id], vector);
            }
            unit_rows(&mut vectors, self.dim);
            Ok(vectors)
        };
        texts.par_iter().with_min_len(CHUNK).map(vectors_of).collect()
    }
}
