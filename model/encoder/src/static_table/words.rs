//! The token ids of plain ASCII words without the tokenizers crate.
//!
//! The crate follows every character through its normalisation and gives offsets back, which the
//! mean of token vectors has no use for; most words of a financial document are ASCII. A tokenizer
//! of BERT's kind splits at white space and punctuation before all else, and neither is changed by
//! what stands beside it. So a text falls into stretches that have the same tokens alone as
//! together: ASCII punctuation, plain ASCII words, and the others, which go to the crate one by one.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use serde::Deserialize;

/// Plain words by their vocabulary; made of a tokenizer that is of BERT's kind throughout.
pub(super) struct Words {
    vocabulary: HashMap<Box<str>, u32, FxBuildHasher>,
    /// `continuing_subword_prefix`
    prefix: String,
    longest_word: usize,
    unknown: u32,
    lowercase: bool,
    /// Texts with one of them are the crate's.
    added: Vec<String>,
    /// The token with the highest number.
    last: (Box<str>, u32),
}

/// What of a `tokenizer.json` decides about ids.
#[derive(Deserialize)]
struct TokenizerJson {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    #[serde(default)]
    post_processor: Option<PostProcessor>,
    model: Model,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default = "yes")]
    normalized: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Normalizer {
    r#type: String,
    clean_text: bool,
    lowercase: bool,
}

#[derive(Deserialize)]
struct PreTokenizer {
    r#type: String,
}

/// Adds special tokens and nothing else, and those are not requested.
#[derive(Deserialize)]
struct PostProcessor {
    r#type: String,
}

#[derive(Deserialize)]
struct Model {
    r#type: String,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<Box<str>, u32, FxBuildHasher>,
}

impl Words {
    /// Of the content of a `tokenizer.json`; nothing where any of it is not what this module knows.
    pub(super) fn parse(tokenizer: &[u8]) -> Option<Self> {
        let TokenizerJson { added_tokens, normalizer, pre_tokenizer, post_processor, model } =
            serde_json::from_slice(tokenizer).ok()?;
        let known = normalizer.r#type == "BertNormalizer"
            && normalizer.clean_text
            && pre_tokenizer.r#type == "BertPreTokenizer"
            && post_processor
                .is_none_or(|post| matches!(post.r#type.as_str(), "TemplateProcessing" | "BertProcessing"))
            && model.r#type == "WordPiece"
            && added_tokens.iter().all(|token| {
                !(token.single_word || token.lstrip || token.rstrip || token.normalized || token.content.is_empty())
            });
        let unknown = *model.vocab.get(model.unk_token.as_str())?;
        let kept = model.vocab.iter().map(|(token, id)| (token.as_ref(), *id));
        let added = added_tokens.iter().map(|token| (token.content.as_str(), token.id));
        let last = kept.chain(added).max_by_key(|(_, id)| *id).map(|(token, id)| (token.into(), id))?;
        known.then(|| Self {
            last,
            vocabulary: model.vocab,
            prefix: model.continuing_subword_prefix,
            longest_word: model.max_input_chars_per_word,
            unknown,
            lowercase: normalizer.lowercase,
            added: added_tokens.into_iter().map(|token| token.content).collect(),
        })
    }

    /// The token with the highest number, and the number.
    pub(super) fn last(&self) -> (&str, u32) {
        (&self.last.0, self.last.1)
    }

    /// Appends the ids of `text` to `ids`, up to `limit` of them in all or a few more. What is not
    /// plain goes to `other`, which appends its ids.
    pub(super) fn ids<E>(
        &self,
        text: &str,
        limit: usize,
        ids: &mut Vec<u32>,
        mut other: impl FnMut(&str, &mut Vec<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.added.iter().any(|token| text.contains(token.as_str())) {
            return other(text, ids);
        }
        let mut scratch = String::new();
        let mut rest = text;
        while !rest.is_empty() && ids.len() < limit {
            let end = rest.bytes().position(splits).unwrap_or(rest.len());
            let (word, from) = rest.split_at(end);
            if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                self.word(word, &mut scratch, ids);
            } else {
                other(word, ids)?;
            }
            // The byte that ends a word is ASCII: a character of its own.
            let (mark, from) = from.split_at(from.len().min(1));
            if !mark.trim_ascii().is_empty() {
                self.word(mark, &mut scratch, ids);
            }
            rest = from;
        }
        Ok(())
    }

    /// The longest token that the word begins with, then the longest that goes on, and so to its
    /// end; one unknown token where there is none.
    fn word(&self, word: &str, scratch: &mut String, ids: &mut Vec<u32>) {
        if word.is_empty() {
            return;
        }
        if word.len() > self.longest_word {
            ids.push(self.unknown);
            return;
        }
        // What is left of the word, after its first token with the prefix before it.
        scratch.clear();
        scratch.push_str(word);
        if self.lowercase {
            scratch.make_ascii_lowercase();
        }
        let before = ids.len();
        while !scratch.is_empty() {
            let first = ids.len() == before;
            let least = if first { 0 } else { self.prefix.len() };
            let found = (least + 1..=scratch.len())
                .rev()
                .find_map(|end| self.vocabulary.get(scratch.get(..end)?).map(|id| (end, *id)));
            let Some((end, id)) = found else {
                ids.truncate(before);
                ids.push(self.unknown);
                return;
            };
            ids.push(id);
            if end == scratch.len() {
                return;
            }
            scratch.replace_range(..end, &self.prefix);
        }
    }
}

/// Whether a byte ends a word: white space and punctuation of ASCII. Other control characters are
/// dropped by the normalisation, so that they join what stands beside them.
fn splits(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r') || byte.is_ascii_punctuation()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokenizers::Tokenizer;

    use super::*;

    const SHIPPED: &[u8] =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../checkpoints/static-encoder/tokenizer.json"));
    const SMALL: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/bert/tokenizer.json"));

    fn both(bytes: &[u8]) -> (Words, Tokenizer) {
        let mut tokenizer = Tokenizer::from_bytes(bytes).unwrap();
        tokenizer.with_padding(None).with_truncation(None).unwrap();
        (Words::parse(bytes).expect("of BERT's kind"), tokenizer)
    }

    fn check((words, tokenizer): &(Words, Tokenizer), text: &str) {
        let crates = |text: &str| tokenizer.encode_fast(text, false).unwrap().get_ids().to_vec();
        let mut ids = Vec::new();
        words
            .ids(text, usize::MAX, &mut ids, |part, ids| {
                ids.extend(crates(part));
                Ok::<_, ()>(())
            })
            .unwrap();
        assert_eq!(ids, crates(text), "{text:?}");
    }

    #[test]
    fn unusual_texts_have_the_crates_tokens() {
        let long = "a".repeat(101);
        for bytes in [SHIPPED, SMALL] {
            let both = both(bytes);
            for text in [
                "",
                " ",
                "Net sales | 2019 | $ 1,234.5",
                "don't U.S. (12) 3rd-party 50%",
                "[SEP] a [MASK]b [ SEP ] [sep]",
                "café déjà ﬁn Ⅻ naïve İstanbul ẞ",
                "e\u{301} ,\u{301}x a\u{301}\u{323} \u{301}a",
                "a\u{0}b \u{7f}c\u{b}d\u{c}e\u{1}",
                "a\u{a0}b\u{2003}c\u{2028}d\u{85}e",
                "\u{200b}a\u{200d}b\u{feff}c\u{ad}d",
                "收入 2018 年収入はab中cd ㈱ 한국어",
                "— – … ‘quoted’ “words” €5 £6 ¥7 ©",
                "👍🏽 👩‍👩‍👧 𝒜𝟙 \u{fffd}x",
                "a\tb\nc\r\nd",
                "_under_score #hash @at ~x` ^y",
                long.as_str(),
                &long[..100],
            ] {
                check(&both, text);
            }
        }
    }

    #[test]
    fn other_tokenizers_are_left_to_the_crate() {
        let text = std::str::from_utf8(SMALL).unwrap();
        assert!(Words::parse(b"{").is_none());
        for (from, to) in [
            ("BertNormalizer", "Lowercase"),
            ("BertPreTokenizer", "Whitespace"),
            ("WordPiece", "WordLevel"),
            ("\"lstrip\": false", "\"lstrip\": true"),
            ("\"normalized\": false", "\"normalized\": true"),
        ] {
            let changed = text.replacen(from, to, 1);
            // However the file is laid out.
            let changed = if changed == text { text.replacen(&from.replace(' ', ""), to, 1) } else { changed };
            assert!(changed != text && Words::parse(changed.as_bytes()).is_none(), "{to}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn any_text_has_the_crates_tokens(texts in prop::collection::vec("\\PC*|[ -~\\t\\n]*|[a-zA-Z0-9 ,.$%|\\[\\]é—\u{301}中\u{0}-\u{1f}]*|(\\[(SEP|CLS|UNK)\\]|[a-z ]){0,8}", 1..6)) {
            static BOTH: std::sync::LazyLock<[(Words, Tokenizer); 2]> = std::sync::LazyLock::new(|| [both(SHIPPED), both(SMALL)]);
            for text in &texts {
                BOTH.iter().for_each(|both| check(both, text));
            }
        }

        #[test]
        fn any_characters_have_the_crates_tokens(text in prop::collection::vec(any::<char>(), 0..12)) {
            static BOTH: std::sync::LazyLock<(Words, Tokenizer)> = std::sync::LazyLock::new(|| both(SHIPPED));
            let text: String = text.into_iter().flat_map(|c| [c, 'a']).collect();
            check(&BOTH, &text);
        }
    }
}
