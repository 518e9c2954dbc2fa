//! Reads the numbers of a static encoder's directory, as for training on from them.

use std::path::Path;

use super::{Header, KIND, Table, Weights};
use crate::EncoderError;
use crate::source::Source;

/// What [`save_static`](super::save_static) writes.
#[derive(Debug, Clone, PartialEq)]
pub struct StaticTable {
    /// `tokenizer.json`, whose tokens number the rows.
    pub tokenizer_json: Vec<u8>,
    /// Row-major `[tokens, dim]`; of a table of bytes what they stand for.
    pub embedding: Vec<f32>,
    /// `[tokens]`
    pub weight: Vec<f32>,
    /// Width of a vector.
    pub dim: usize,
}

/// Reads the directory of a static encoder.
///
/// # Errors
///
/// As [`StaticEncoder::load`](super::StaticEncoder::load), but for the tokenizer, which is not looked into.
pub fn read_static(dir: &Path) -> Result<StaticTable, EncoderError> {
    if !dir.is_dir() {
        return Err(EncoderError::NoDirectory { path: dir.to_owned(), kind: KIND });
    }
    let source = Source::directory(dir);
    let (config_path, config) = source.read(KIND, "config.json")?;
    let (_, tokenizer_json) = source.read(KIND, "tokenizer.json")?;
    let (weights_path, weights) = source.read(KIND, "model.safetensors")?;
    let dim = Header::parse(&config_path, &config)?.dim;
    let Weights { table, scale, weight } = Weights::parse(&weights_path, &weights, dim)?;
    let embedding = match table {
        Table::Floats(floats) => floats,
        Table::Bytes(bytes) => {
            let rows = bytes.chunks_exact(dim).zip(scale.iter().flatten());
            rows.flat_map(|(row, scale)| row.iter().map(move |&byte| scale * f32::from(byte))).collect()
        }
    };
    Ok(StaticTable { tokenizer_json, embedding, weight, dim })
}
