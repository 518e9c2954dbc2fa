//! Writes a static encoder's directory.

use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use tabsegnet_store::{Staging, write_bytes_atomic};

use super::{FORMAT, Header, VERSION};
use crate::EncoderError;
use crate::tokens::Tokens;

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
