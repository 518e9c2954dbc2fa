//! A T5's tokenizer.

use std::path::Path;

use tokenizers::Tokenizer;

use crate::pointing::Tokens;
use crate::{Pointing, Prompt, SegmenterError, T5Config};

/// Texts to token numbers and back.
pub struct T5Tokenizer {
    tokenizer: Tokenizer,
    eos: u32,
    /// [`T5Tokenizer::sentinels`]
    sentinels: Vec<u32>,
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
        let sentinel = |number: u32| tokenizer.token_to_id(&format!("<extra_id_{number}>"));
        let sentinels = (0..).map_while(sentinel).collect();
        Ok(Self { tokenizer, eos: config.eos, sentinels })
    }

    /// The question of a model with pointers, of at most `limit` tokens, and how many there would be without that.
    /// The markers are `<extra_id_0>`, `<extra_id_1>`, … .
    ///
    /// # Errors
    /// The tokenizer refuses a text.
    pub fn pointing(&self, prompt: &Prompt, question: &str, limit: usize) -> Result<(Pointing, usize), SegmenterError> {
        let encoded = |text: &str| -> Result<Vec<u32>, SegmenterError> {
            let (mut tokens, _) = self.encode(text, usize::MAX)?;
            tokens.pop();
            Ok(tokens)
        };
        let (markers, proposals) = self.sentinels.split_at(self.sentinels.len().saturating_sub(prompt.reserved()));
        let tokens = Tokens {
            prefix: encoded(&prompt.prefix)?,
            markers,
            proposals,
            separator: encoded(&prompt.separator)?,
            end: self.eos,
            limit,
        };
        Pointing::new(question, tokens, encoded)
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
        self.sentinels.clone()
    }
}
