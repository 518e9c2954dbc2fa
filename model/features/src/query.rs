//! A question as the features see it.

use crate::question::Question;

/// A question and its segments, with vectors of the question's words.
#[derive(Debug, Clone)]
pub struct Query {
    question: Question,
    /// A question without segments is its own segment.
    segments: Vec<Question>,
    /// `[words, d_word]`; empty without.
    word_vectors: Vec<f32>,
}

/// The vectors of a question by the ranker's encoder. They stand apart from [`Query`], since the encoder computes them while
/// a document's texts are compared with it ([`crate::DocumentFeatures::read`]).
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

impl Query {
    /// Of a question's text and the texts of its segments, of which there may be none.
    pub fn new<T: AsRef<str>>(text: &str, segments: &[T]) -> Self {
        let question = Question::new(text);
        let segments = match segments {
            [] => vec![question.clone()],
            segments => segments.iter().map(|segment| Question::new(segment.as_ref())).collect(),
        };
        Self { question, segments, word_vectors: Vec::new() }
    }

    /// The question.
    pub fn text(&self) -> &str {
        self.question.text()
    }

    /// Its first distinct words, at most [`crate::QUESTION_WORDS`].
    pub fn words(&self) -> &[String] {
        self.question.words()
    }

    /// The same with the vectors of [`Query::words`], `[words, d_word]`, which similar words need.
    #[must_use]
    pub fn with_word_vectors(self, word_vectors: Vec<f32>) -> Self {
        Self { word_vectors, ..self }
    }

    pub(crate) fn question(&self) -> &Question {
        &self.question
    }

    pub(crate) fn segments(&self) -> &[Question] {
        &self.segments
    }

    pub(crate) fn word_vectors(&self) -> &[f32] {
        &self.word_vectors
    }
}
