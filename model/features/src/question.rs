//! The text of a question, or of a segment of one.

use tabsegnet_lexical::tokenize;

use crate::QUESTION_WORDS;
use crate::stems::stems;

/// A question's text, and its words and stems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    text: String,
    words: Vec<String>,
    /// In order.
    stems: Vec<String>,
}

impl Question {
    /// Of its text; words beyond [`QUESTION_WORDS`] are left out.
    pub(crate) fn new(text: &str) -> Self {
        let mut words = Vec::new();
        for word in tokenize(text) {
            if words.len() < QUESTION_WORDS && !words.contains(&word) {
                words.push(word);
            }
        }
        Self { text: text.to_owned(), words, stems: stems(text) }
    }

    /// Its first distinct words.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    pub(crate) fn stems(&self) -> &[String] {
        &self.stems
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
