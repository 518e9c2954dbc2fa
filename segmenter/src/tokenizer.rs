//! A T5's tokenizer.

use std::path::Path;

use tokenizers::Tokenizer;

use crate::{Copying, SegmenterError, T5Config};

/// Texts to token numbers and back.
pub struct T5Tokenizer {
    tokenizer: Tokenizer,
    eos: u32,
    /// Tokens that are a year.
    years: Vec<u32>,
}

impl T5Tokenizer {
    /// Reads `bytes`, the content of `path`, the `tokenizer.json` of a model.
    ///
    /// # Errors
    /// No tokenizer; one that does not fit the model.
    pub fn parse(path: &Path, bytes: &[u8], config: &T5Config) -> Result<Self, SegmenterError> {
        let malformed = |reason: String| SegmenterError::Malformed { path: path.to_owned(), reason };
        let mut tokenizer =
            Tokenizer::from_bytes(bytes).map_err(|error| malformed(format!("is no tokenizer: {error}")))?;
        // Lengths are ours to set.
        tokenizer.with_truncation(None).map_err(|error| malformed(error.to_string()))?.with_padding(None);
        let largest = tokenizer.get_vocab(true).into_values().max();
        match largest {
            Some(largest) if (largest as usize) < config.vocab_size => {}
            Some(largest) => {
                return Err(malformed(format!(
                    "has token numbers up to {largest}, but vocab_size in config.json is {}; the files are of different \
                     models",
                    config.vocab_size
                )));
            }
            None => return Err(malformed("has no tokens".to_owned())),
        }
        let end = tokenizer.token_to_id("</s>");
        if end.is_some_and(|end| end != config.eos) || tokenizer.id_to_token(config.eos).is_none() {
            let end = end.map_or_else(|| "none".to_owned(), |end| end.to_string());
            return Err(malformed(format!(
                "the number of its end token </s> is {end}, but eos_token_id in config.json is {}; the files are of \
                 different models",
                config.eos
            )));
        }
        let is_year = |token: &str| {
            let digits = token.trim_start_matches('▁');
            digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20")) && digits.parse::<u32>().is_ok()
        };
        let vocabulary = tokenizer.get_vocab(true);
        let years = vocabulary.into_iter().filter(|(token, _)| is_year(token)).map(|(_, number)| number).collect();
        Ok(Self { tokenizer, eos: config.eos, years })
    }

    /// What segments of a question may be written of.
    ///
    /// # Errors
    /// The tokenizer refuses a text.
    pub fn copying(&self, question: &str, separator: &str) -> Result<Copying, SegmenterError> {
        let tokens = |text: &str| -> Result<Vec<u32>, SegmenterError> {
            let (mut tokens, _) = self.encode(text, usize::MAX)?;
            tokens.pop();
            Ok(tokens)
        };
        Ok(Copying::new(&tokens(question.trim())?, &tokens(separator)?, &self.years))
    }

    /// The tokens of a text, the end token last, at most `limit`; and how many there would be
    /// without that.
    ///
    /// # Errors
    /// The tokenizer refuses the text.
    pub fn encode(&self, text: &str, limit: usize) -> Result<(Vec<u32>, usize), SegmenterError> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| SegmenterError::Tokenise {
            question: text.chars().take(80).collect(),
            reason: error.to_string(),
        })?;
        let mut tokens = encoding.get_ids().to_vec();
        let length = tokens.len() + 1;
        tokens.truncate(limit.saturating_sub(1));
        tokens.push(self.eos);
        Ok((tokens, length))
    }

    /// The text of tokens, special ones left out.
    ///
    /// # Errors
    /// A token that the tokenizer does not have.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, SegmenterError> {
        self.tokenizer
            .decode(tokens, true)
            .map_err(|error| SegmenterError::Engine { reason: format!("tokens cannot be put together: {error}") })
    }

    /// One more than the largest token number.
    pub fn len(&self) -> usize {
        self.tokenizer.get_vocab(true).into_values().max().map_or(0, |largest| largest as usize + 1)
    }

    /// Whether it has no token; never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers of the tokens `<extra_id_0>`, `<extra_id_1>`, …, which stand for cut-out spans.
    pub fn sentinels(&self) -> Vec<u32> {
        (0..).map_while(|number| self.tokenizer.token_to_id(&format!("<extra_id_{number}>"))).collect()
    }
}
