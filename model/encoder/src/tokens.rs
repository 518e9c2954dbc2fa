//! Texts to token ids.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tokenizers::{Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

use crate::EncoderError;
use crate::error::excerpt;

/// A tokenizer without padding and with a length limit.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    path: PathBuf,
    special: bool,
    limit: usize,
}

impl Tokens {
    /// Reads `bytes`, the content of `path`. With `special`, the model's special tokens are added
    /// and count towards `limit`.
    pub(crate) fn parse(path: &Path, bytes: &[u8], special: bool, limit: usize) -> Result<Self, EncoderError> {
        let malformed = |reason: String| EncoderError::Malformed { path: path.to_owned(), reason };
        let mut tokenizer = Tokenizer::from_bytes(bytes)
            .map_err(|error| malformed(format!("not a tokenizer of the tokenizers library: {error}")))?;
        tokenizer.with_padding(None);
        let truncate = |error| malformed(format!("could not set the length limit: {error}"));
        tokenizer.with_truncation(None).map_err(truncate)?;
        let added = tokenizer
            .encode_fast("", special)
            .map_err(|error| malformed(format!("could not split the empty text into tokens: {error}")))?
            .len();
        if limit <= added {
            return Err(EncoderError::Config {
                key: "max_tokens",
                value: limit.to_string(),
                expected: format!(
                    "the tokenizer {} adds {added} special tokens to every text; expected more than {added}",
                    path.display()
                ),
            });
        }
        if special {
            let params = TruncationParams {
                direction: TruncationDirection::Right,
                max_length: limit,
                strategy: TruncationStrategy::LongestFirst,
                stride: 0,
            };
            tokenizer.with_truncation(Some(params)).map_err(truncate)?;
        }
        Ok(Self { tokenizer, path: path.to_owned(), special, limit })
    }

    /// An error unless every token has one of the `rows` rows of an embedding.
    pub(crate) fn check_rows(&self, rows: usize, weights: &Path) -> Result<(), EncoderError> {
        match self.tokenizer.get_vocab(true).iter().max_by_key(|(_, id)| **id) {
            Some((token, id)) => check_row(&self.path, (token, *id), rows, weights),
            None => Ok(()),
        }
    }

    /// Token ids of every text, at most the limit each, in the order of `texts`.
    pub(crate) fn ids(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, EncoderError> {
        // Small texts: a task a text would cost more than it does.
        texts.par_iter().with_min_len(64).map(|text| self.ids_of(text)).collect()
    }

    /// Token ids of one text.
    pub(crate) fn ids_of(&self, text: &str) -> Result<Vec<u32>, EncoderError> {
        let encoding = self
            .tokenizer
            .encode_fast(text, self.special)
            .map_err(|error| EncoderError::Tokenise { text: excerpt(text), reason: error.to_string() })?;
        let ids = encoding.get_ids();
        Ok(ids.get(..self.limit).unwrap_or(ids).to_vec())
    }
}

/// An error unless the last token of the tokenizer `path` has one of the `rows` rows of an
/// embedding.
pub(crate) fn check_row(path: &Path, last: (&str, u32), rows: usize, weights: &Path) -> Result<(), EncoderError> {
    let (token, id) = last;
    if (id as usize) < rows {
        return Ok(());
    }
    Err(EncoderError::Malformed {
        path: path.to_owned(),
        reason: format!(
            "token {token:?} has number {id}, but the embedding of {} has {rows} rows; the files are of different models",
            weights.display()
        ),
    })
}
