//! A question as the features see it.

use tabsegnet_lexical::tokenize;

use crate::QUESTION_WORDS;
use crate::stems::stems;

/// A question's distinct words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    text: String,
    words: Vec<String>,
    /// In order.
    stems: Vec<String>,
}

/// A question with its vectors.
#[derive(Debug, Clone, Copy)]
pub struct EncodedQuery<'a> {
    /// The question.
    pub question: &'a Question,
    /// `[words, d_word]`: those of its words; empty where similar words are not wanted.
    pub words: &'a [f32],
    /// Its segments; itself where it has none. Not looked at where they are not wanted.
    pub segments: &'a [Question],
    /// Those of the ranker's encoder.
    pub vectors: QueryVectors<'a>,
}

/// What the ranker's encoder makes of a question.
#[derive(Debug, Clone, Copy)]
pub struct QueryVectors<'a> {
    /// `[d_enc]`: its vector.
    pub q: &'a [f32],
    /// `[segments, d_enc]`: those of its segments; its own where it has none.
    pub segments: &'a [f32],
}

impl<'a> QueryVectors<'a> {
    /// The question's vector and those of its segments after it; the question's alone where it is its own segment.
    pub fn all(&self) -> Vec<&'a [f32]> {
        let others = if self.segments == self.q { &[] } else { self.segments };
        std::iter::once(self.q).chain(others.chunks_exact(self.q.len().max(1))).collect()
    }
}

impl Question {
    /// Of its text; words beyond [`QUESTION_WORDS`] are left out.
    pub fn new(text: &str) -> Self {
        let mut words = Vec::new();
        for word in tokenize(text) {
            if words.len() < QUESTION_WORDS && !words.contains(&word) {
                words.push(word);
            }
        }
        Self { text: text.to_owned(), words, stems: stems(text) }
    }

    /// Its words, for which vectors are wanted.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub(crate) fn stems(&self) -> &[String] {
        &self.stems
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
