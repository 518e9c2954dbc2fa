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

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};
use tabsegnet_files::{Digest, Staging, read_bytes, write_bytes_atomic};

use crate::error::check_finite;
use crate::math::{unit_rows, vectorised};
use crate::source::Source;
use crate::tensors::Tensors;
use crate::tokens::Tokens;
use crate::{Encoder, EncoderConfig, EncoderError};

const FORMAT: &str = "tabsegnet-static";
const VERSION: u32 = 1;
const FILES: &str = "config.json, tokenizer.json and model.safetensors";
/// Texts a task and a step of progress.
const CHUNK: usize = 256;
const WAVE: usize = 64 * CHUNK;

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    dim: usize,
}

/// A table of token vectors, mean-pooled with token weights.
///
/// Vectors have length 1. A text without a token, or whose token vectors cancel to 0, gives the
/// unit vector along the first axis: finite, of length 1 like the others, and the same for all such
/// texts.
pub struct StaticEncoder {
    tokens: Tokens,
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

impl StaticEncoder {
    /// Opens the encoder in `dir` with the default length limit.
    ///
    /// # Errors
    ///
    /// A directory or file that is not there, another format or version, tensors whose shapes do
    /// not fit `dim` or the tokenizer.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        Self::load_limited(dir, EncoderConfig::default().max_tokens)
    }

    /// [`StaticEncoder::load`] with a length limit of `max_tokens`.
    ///
    /// # Errors
    ///
    /// As [`StaticEncoder::load`].
    pub fn load_limited(dir: &Path, max_tokens: usize) -> Result<Self, EncoderError> {
        if !dir.is_dir() {
            return Err(EncoderError::NoDirectory { path: dir.to_owned(), kind: "static" });
        }
        Self::open(&Source::directory(dir), max_tokens)
    }

    pub(crate) fn open(source: &Source, max_tokens: usize) -> Result<Self, EncoderError> {
        let (config_path, config) = required(source, "config.json")?;
        let (tokenizer_path, tokenizer) = required(source, "tokenizer.json")?;
        let (weights_path, weights) = required(source, "model.safetensors")?;

        let malformed = |reason: String| EncoderError::Malformed { path: config_path.clone(), reason };
        let header: Header = serde_json::from_slice(&config)
            .map_err(|error| malformed(format!("not the config of a {FORMAT} encoder: {error}")))?;
        if header.format != FORMAT || header.version != VERSION || header.dim == 0 {
            return Err(malformed(format!(
                "format {:?}, version {}, dim {}; expected {FORMAT:?}, version {VERSION}, dim at least 1",
                header.format, header.version, header.dim
            )));
        }
        let dim = header.dim;

        let tensors = Tensors::parse(&weights_path, &weights)?;
        let (dtype, shape) = tensors.describe("embedding")?;
        let &[rows, _] = shape.as_slice() else {
            return Err(tensors.malformed(format!("`embedding` has shape {shape:?}; expected [vocabulary, {dim}]")));
        };
        let mut factor = tensors.floats("weight", &[rows], "the rows of `embedding`")?;
        let table = if dtype == Dtype::I8 {
            let scale = tensors.floats("scale", &[rows], "the rows of `embedding`")?;
            factor.iter_mut().zip(scale).for_each(|(factor, scale)| *factor *= scale);
            Table::Bytes(tensors.bytes("embedding", &[rows, dim], "dim of config.json")?)
        } else {
            Table::Floats(tensors.floats("embedding", &[rows, dim], "dim of config.json")?)
        };

        let tokens = Tokens::parse(&tokenizer_path, &tokenizer, false, max_tokens)?;
        tokens.check_rows(rows, &weights_path)?;
        let identity = Digest::new()
            .part("static 1")
            .part(&weights)
            .part(&tokenizer)
            .part((max_tokens as u64).to_le_bytes())
            .hex();
        Ok(Self { tokens, table, factor, dim, identity })
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
                    for (text, vector) in texts.iter().zip(vectors.chunks_exact_mut(self.dim)) {
                        self.pool(&self.tokens.ids_of(text)?, vector);
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
}

fn required(source: &Source, file: &str) -> Result<(PathBuf, Vec<u8>), EncoderError> {
    match source.get(file)? {
        Some(path) => {
            let bytes = read_bytes(&path)?;
            Ok((path, bytes))
        }
        None => Err(EncoderError::MissingFile {
            place: source.place(),
            file: file.to_owned(),
            kind: "static",
            expected: FILES,
        }),
    }
}

/// Writes a static encoder to `dir`, whole or not at all, in place of what was there.
///
/// `embedding` is row-major `[weight.len(), dim]`; `tokenizer_json` numbers its rows. With
/// `quantise` the rows are stored as bytes with a scale each (a quarter of the size; an error of at
/// most 1/254 of a row's largest number), else as F32. `readme` becomes `README.md`.
///
/// # Errors
///
/// Sizes that do not fit, numbers that are not finite, a tokenizer that is none or has more tokens
/// than there are rows, and what the file system refuses.
pub fn save_static(
    dir: &Path,
    tokenizer_json: &[u8],
    embedding: &[f32],
    weight: &[f32],
    dim: usize,
    readme: &str,
    quantise: bool,
) -> Result<(), EncoderError> {
    let rows = weight.len();
    let malformed = |reason: String| EncoderError::Malformed { path: dir.to_owned(), reason };
    if dim == 0 || rows.checked_mul(dim) != Some(embedding.len()) {
        return Err(malformed(format!(
            "an embedding of {} numbers does not have {rows} rows (one a weight) of {dim}; nothing was written",
            embedding.len()
        )));
    }
    if !embedding.iter().chain(weight).all(|value| value.is_finite()) {
        return Err(malformed("the embedding or the weights are not finite; nothing was written".to_owned()));
    }
    Tokens::parse(&dir.join("tokenizer.json"), tokenizer_json, false, 1)?
        .check_rows(rows, &dir.join("model.safetensors"))?;

    let staging = Staging::new(dir)?;
    let header = Header { format: FORMAT.to_owned(), version: VERSION, dim };
    let mut config = serde_json::to_vec_pretty(&header).map_err(|error| malformed(error.to_string()))?;
    config.push(b'\n');
    write_bytes_atomic(&staging.path().join("config.json"), &config)?;
    write_bytes_atomic(&staging.path().join("tokenizer.json"), tokenizer_json)?;
    write_bytes_atomic(&staging.path().join("README.md"), readme.as_bytes())?;
    let weights = serialise(embedding, weight, dim, quantise).map_err(|error| malformed(error.to_string()))?;
    write_bytes_atomic(&staging.path().join("model.safetensors"), &weights)?;
    staging.commit()?;
    Ok(())
}

fn serialise(
    embedding: &[f32],
    weight: &[f32],
    dim: usize,
    quantise: bool,
) -> Result<Vec<u8>, safetensors::SafeTensorError> {
    let little_endian = |values: &[f32]| -> Vec<u8> { values.iter().flat_map(|value| value.to_le_bytes()).collect() };
    let weights = little_endian(weight);
    let rows = weight.len();
    if !quantise {
        let floats = little_endian(embedding);
        let tensors = [
            ("embedding", TensorView::new(Dtype::F32, vec![rows, dim], &floats)?),
            ("weight", TensorView::new(Dtype::F32, vec![rows], &weights)?),
        ];
        return safetensors::serialize(tensors, None);
    }
    let mut scales = Vec::with_capacity(rows);
    let mut bytes = Vec::with_capacity(embedding.len());
    for row in embedding.chunks_exact(dim) {
        let scale = row.iter().fold(0.0f32, |most, value| most.max(value.abs())) / 127.0;
        scales.push(scale);
        // A row of zeros has scale 0; 0 / 0 casts to 0.
        bytes.extend(row.iter().map(|value| (value / scale).round() as i8 as u8));
    }
    let scales = little_endian(&scales);
    let tensors = [
        ("embedding", TensorView::new(Dtype::I8, vec![rows, dim], &bytes)?),
        ("scale", TensorView::new(Dtype::F32, vec![rows], &scales)?),
        ("weight", TensorView::new(Dtype::F32, vec![rows], &weights)?),
    ];
    safetensors::serialize(tensors, None)
}
