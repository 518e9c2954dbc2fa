//! The teacher's tokenizer without the tokens that reports in Latin script do not need.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};
use tokenizers::Tokenizer;

/// Tokens with their texts, and the tokenizer that numbers them.
pub(super) struct Vocabulary {
    /// `tokenizer.json`
    pub(super) tokenizer: Vec<u8>,
    parsed: Tokenizer,
    tokens: Vec<String>,
}

impl Vocabulary {
    /// Keeps the special tokens and those of Latin script, digits and punctuation, in the
    /// teacher's order; WordPiece only.
    pub(super) fn of_teacher(tokenizer_json: &[u8]) -> Result<Self> {
        let mut json: Value =
            serde_json::from_slice(tokenizer_json).context("the teacher's tokenizer.json is no JSON")?;
        let kind = json["model"]["type"].as_str().unwrap_or_default().to_owned();
        ensure!(kind == "WordPiece", "the teacher's tokenizer is a {kind} model; expected WordPiece, as BERT's");
        let Value::Object(vocabulary) = &json["model"]["vocab"] else {
            bail!("the teacher's tokenizer.json has no model.vocab");
        };
        let special: Vec<String> = json["added_tokens"]
            .as_array()
            .map(|tokens| tokens.iter().filter_map(|token| Some(token["content"].as_str()?.to_owned())).collect())
            .unwrap_or_default();
        let mut kept: Vec<(&str, u64)> = vocabulary
            .iter()
            .filter(|(token, _)| special.contains(token) || is_needed(token))
            .filter_map(|(token, id)| Some((token.as_str(), id.as_u64()?)))
            .collect();
        kept.sort_by_key(|&(_, id)| id);
        let tokens: Vec<String> = kept.into_iter().map(|(token, _)| token.to_owned()).collect();

        let number = |token: &str| tokens.iter().position(|kept| kept == token);
        let added: Vec<Value> = json["added_tokens"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|token| {
                let mut token = token.clone();
                token["id"] = json!(number(token["content"].as_str()?)?);
                Some(token)
            })
            .collect();
        json["model"]["vocab"] = Value::Object(
            tokens.iter().enumerate().map(|(id, token)| (token.clone(), json!(id))).collect::<Map<_, _>>(),
        );
        json["added_tokens"] = Value::Array(added);
        for section in ["post_processor", "truncation", "padding"] {
            json[section] = Value::Null;
        }
        let tokenizer = serde_json::to_vec(&json)?;
        let parsed = Tokenizer::from_bytes(&tokenizer)
            .map_err(|error| anyhow::anyhow!("the cut tokenizer does not work: {error}"))?;
        Ok(Self { tokenizer, parsed, tokens })
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Each token as a text of its own: without the mark of a word's later piece.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().map(|token| token.strip_prefix("##").unwrap_or(token))
    }

    /// Token numbers of texts, at most `max_tokens` each.
    pub(super) fn encode(&self, texts: &[&str], max_tokens: usize) -> Result<Vec<Vec<u32>>> {
        let encodings = self
            .parsed
            .encode_batch_fast(texts.to_vec(), false)
            .map_err(|error| anyhow::anyhow!("a text cannot be split into tokens: {error}"))?;
        Ok(encodings.iter().map(|encoding| encoding.get_ids().iter().copied().take(max_tokens).collect()).collect())
    }
}

/// Latin script up to its extensions, digits, punctuation, currency signs, arrows and operators.
fn is_needed(token: &str) -> bool {
    !token.starts_with("[unused")
        && token.chars().all(|c| matches!(c as u32, 0..0x250 | 0x2000..0x2070 | 0x20A0..0x2300))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn teacher(kind: &str) -> Vec<u8> {
        json!({
            "version": "1.0", "truncation": null, "padding": null,
            "added_tokens": [{"id": 2, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
            "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null, "decoder": null,
            "model": {"type": kind, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                      "vocab": {"[unused0]": 0, "本": 1, "[UNK]": 2, "net": 3, "##s": 4, "€": 5}}
        })
        .to_string()
        .into_bytes()
    }

    #[test]
    fn tokens_that_reports_need_are_kept_and_numbered_anew() {
        let vocabulary = Vocabulary::of_teacher(&teacher("WordPiece")).unwrap();
        assert_eq!(vocabulary.texts().collect::<Vec<_>>(), ["[UNK]", "net", "s", "€"]);
        assert_eq!(vocabulary.encode(&["Nets € 本", ""], 9).unwrap(), [vec![1, 2, 3, 0], vec![]]);
        assert_eq!(vocabulary.encode(&["nets"], 1).unwrap(), [vec![1]]);
    }

    #[test]
    fn other_tokenizers_are_refused() {
        let error = Vocabulary::of_teacher(&teacher("BPE")).err().unwrap().to_string();
        assert!(error.contains("expected WordPiece"), "{error}");
    }
}
