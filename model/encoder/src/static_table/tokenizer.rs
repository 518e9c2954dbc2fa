//! Texts to token ids: plain words by [`Words`], the rest by the tokenizers crate, which is opened
//! when the first text needs it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::words::Words;
use crate::EncoderError;
use crate::tokens::{Tokens, check_row};

/// A tokenizer whose special tokens are not added.
pub(super) struct Tokenizer {
    path: PathBuf,
    bytes: Vec<u8>,
    limit: usize,
    words: Option<Words>,
    /// The crate's, or why it does not read the file.
    tokens: OnceLock<Result<Tokens, String>>,
}

impl Tokenizer {
    /// Reads `bytes`, the content of `path`.
    pub(super) fn parse(path: &Path, bytes: &[u8], limit: usize) -> Result<Self, EncoderError> {
        let words = Words::parse(bytes);
        let tokens = match words {
            Some(_) => OnceLock::new(),
            None => OnceLock::from(Ok(Tokens::parse(path, bytes, false, limit)?)),
        };
        Ok(Self { path: path.to_owned(), bytes: bytes.to_owned(), limit, words, tokens })
    }

    /// An error unless every token has one of the `rows` rows of an embedding.
    pub(super) fn check_rows(&self, rows: usize, weights: &Path) -> Result<(), EncoderError> {
        match &self.words {
            Some(words) => check_row(&self.path, words.last(), rows, weights),
            None => self.tokens()?.check_rows(rows, weights),
        }
    }

    /// Puts the token ids of one text in place of `ids`, at most the limit.
    pub(super) fn ids_of(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), EncoderError> {
        ids.clear();
        let other = |part: &str, ids: &mut Vec<u32>| {
            ids.extend(self.tokens()?.ids_of(part)?);
            Ok::<_, EncoderError>(())
        };
        match &self.words {
            Some(words) => words.ids(text, self.limit, ids, other)?,
            None => other(text, ids)?,
        }
        ids.truncate(self.limit);
        Ok(())
    }

    fn tokens(&self) -> Result<&Tokens, EncoderError> {
        let parse = || {
            Tokens::parse(&self.path, &self.bytes, false, self.limit).map_err(|error| match error {
                EncoderError::Malformed { reason, .. } => reason,
                other => other.to_string(),
            })
        };
        let malformed = |reason: &String| EncoderError::Malformed { path: self.path.clone(), reason: reason.clone() };
        self.tokens.get_or_init(parse).as_ref().map_err(malformed)
    }
}
