//! A question compared with each distinct string of a document.

use rayon::prelude::*;

use crate::QUESTION_WORDS;
use crate::marks::flag;
use crate::question::Question;
use crate::strings::{Strings, Word};
use crate::vectors::{dot, vectorised};

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Share of the string's words, by idf, that the question holds.
    TextShare,
    /// Share of the question's words that the string holds.
    QuestionShare,
    /// As [`Column::TextShare`], of the words that are no numbers.
    WordsTextShare,
    /// As [`Column::QuestionShare`], of the words that are no numbers.
    WordsQuestionShare,
    /// It holds a year of the question.
    Year,
    /// It holds years, and none of the question's.
    OtherYear,
    /// It holds a number of the question that is no year.
    Number,
    /// ln(1 + words) / 4.
    Length,
    /// It has no words.
    Empty,
    /// Cosine of the vectors.
    Cosine,
    /// As [`Column::TextShare`], where a word counts as far as it is like one of the question.
    SimilarText,
    /// As [`Column::QuestionShare`], alike.
    SimilarQuestion,
}

pub(crate) const COLUMNS: usize = 12;
pub(crate) const WORDS: &[Column] = &[
    Column::TextShare,
    Column::QuestionShare,
    Column::WordsTextShare,
    Column::WordsQuestionShare,
    Column::Year,
    Column::OtherYear,
    Column::Number,
    Column::Length,
    Column::Empty,
];
pub(crate) const COSINE: &[Column] = &[Column::Cosine];
pub(crate) const SIMILAR: &[Column] = &[Column::SimilarText, Column::SimilarQuestion];

/// Words less alike than this do not count as alike.
const MIN_SIMILARITY: f32 = 0.3;

impl Column {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TextShare => "share_of_text",
            Self::QuestionShare => "share_of_question",
            Self::WordsTextShare => "share_of_words",
            Self::WordsQuestionShare => "share_of_question_words",
            Self::Year => "year",
            Self::OtherYear => "other_year",
            Self::Number => "number",
            Self::Length => "length",
            Self::Empty => "empty",
            Self::Cosine => "cosine",
            Self::SimilarText => "similar_to_text",
            Self::SimilarQuestion => "similar_to_question",
        }
    }

    /// Whether it is also told against the best of the document and of the table.
    pub(crate) fn is_relative(self) -> bool {
        matches!(
            self,
            Self::TextShare
                | Self::QuestionShare
                | Self::WordsTextShare
                | Self::Cosine
                | Self::SimilarText
                | Self::SimilarQuestion
        )
    }
}

/// What a comparison says, by [`Column`].
pub(crate) type Comparison = [f32; COLUMNS];

/// A question's words within a document.
pub(crate) struct QueryWords {
    words: Vec<Word>,
    /// For each word of the document, the question's words that are the same, by bit.
    same: Vec<u64>,
    /// `[words of the document, words of the question]`; empty where likeness is not wanted.
    similarity: Vec<f32>,
    years: u64,
    numbers: u64,
}

impl QueryWords {
    /// `document_vectors` `[words of the document, d]` and `question_vectors` `[words of the question, d]`
    /// have length 1; both are empty where likeness is not wanted.
    pub(crate) fn new(
        question: &Question,
        strings: &Strings,
        document_vectors: &[f32],
        question_vectors: &[f32],
    ) -> Self {
        let of_document: Vec<Option<u32>> =
            question.words().iter().map(|word| strings.by_word.get(word).copied()).collect();
        let words: Vec<Word> = question
            .words()
            .iter()
            .zip(&of_document)
            .map(|(word, known)| match known {
                Some(known) => strings.known[*known as usize],
                None => Word::new(word, 0, strings.units),
            })
            .collect();
        let mut same = vec![0_u64; strings.known.len()];
        let (mut years, mut numbers) = (0, 0);
        for (bit, (word, known)) in words.iter().zip(&of_document).enumerate() {
            if let Some(known) = known {
                same[*known as usize] |= 1 << bit;
            }
            years |= u64::from(word.year.is_some()) << bit;
            numbers |= u64::from(word.number && word.year.is_none()) << bit;
        }
        let similarity = similarity(&words, strings, &same, document_vectors, question_vectors);
        Self { words, same, similarity, years, numbers }
    }

    /// A comparison with each string, their cosines left at 0.
    pub(crate) fn compare(&self, strings: &Strings) -> Vec<Comparison> {
        (0..strings.len() as u32).into_par_iter().with_min_len(64).map(|string| self.one(strings, string)).collect()
    }

    fn one(&self, strings: &Strings, string: u32) -> Comparison {
        let count = self.words.len();
        let mut mask = 0_u64;
        let [mut all, mut held, mut all_words, mut held_words, mut like] = [0.0_f32; 5];
        let mut has_year = false;
        let mut nearest = [0.0_f32; QUESTION_WORDS];
        for &number in strings.words_of(string) {
            let word = strings.known[number as usize];
            let same = self.same[number as usize];
            mask |= same;
            has_year |= word.year.is_some();
            let there = if same == 0 { 0.0 } else { word.idf };
            all += word.idf;
            held += there;
            if !word.number {
                all_words += word.idf;
                held_words += there;
            }
            // A number is like itself alone.
            let like_none = self.similarity.is_empty() || (word.number && same == 0);
            if !like_none {
                let row = &self.similarity[number as usize * count..(number as usize + 1) * count];
                let mut best = 0.0_f32;
                for (nearest, similarity) in nearest.iter_mut().zip(row) {
                    *nearest = nearest.max(*similarity);
                    best = best.max(*similarity);
                }
                like += word.idf * best;
            }
        }
        let mut out = [0.0; COLUMNS];
        let mut set = |column: Column, value: f32| out[column as usize] = value;
        let length = strings.lengths[string as usize];
        set(Column::Length, (length as f32).ln_1p() / 4.0);
        if length == 0 {
            set(Column::Empty, 1.0);
            return out;
        }
        let share = |part: f32, whole: f32| if whole > 0.0 { part / whole } else { 0.0 };
        let [mut in_question, mut answered, mut question_words, mut answered_words, mut like_question] = [0.0_f32; 5];
        for (bit, word) in self.words.iter().enumerate() {
            let there = if mask >> bit & 1 == 1 { word.idf } else { 0.0 };
            in_question += word.idf;
            answered += there;
            like_question += word.idf * nearest[bit];
            if !word.number {
                question_words += word.idf;
                answered_words += there;
            }
        }
        set(Column::TextShare, share(held, all));
        set(Column::QuestionShare, share(answered, in_question));
        set(Column::WordsTextShare, share(held_words, all_words));
        set(Column::WordsQuestionShare, share(answered_words, question_words));
        set(Column::Year, flag(mask & self.years != 0));
        set(Column::OtherYear, flag(has_year && mask & self.years == 0 && self.years != 0));
        set(Column::Number, flag(mask & self.numbers != 0));
        set(Column::SimilarText, share(like, all));
        set(Column::SimilarQuestion, share(like_question, in_question));
        out
    }
}

/// How alike each word of the document is to each of the question: 1 for the same, else the cosine
/// where it is above [`MIN_SIMILARITY`]; numbers are like none but themselves.
fn similarity(words: &[Word], strings: &Strings, same: &[u64], document: &[f32], question: &[f32]) -> Vec<f32> {
    if document.is_empty() || words.is_empty() {
        return Vec::new();
    }
    let d = question.len() / words.len();
    let mut similarity = vec![0.0; strings.known.len() * words.len()];
    let each = similarity.par_chunks_mut(words.len()).zip(document.par_chunks_exact(d)).zip(&strings.known).zip(same);
    each.with_min_len(64).for_each(|(((row, vector), known), same)| {
        if known.number && *same == 0 {
            return;
        }
        vectorised(
            (row, vector),
            #[inline(always)]
            |(row, vector): (&mut [f32], &[f32])| {
                for ((bit, out), (word, in_question)) in
                    row.iter_mut().enumerate().zip(words.iter().zip(question.chunks_exact(d)))
                {
                    *out = if same >> bit & 1 == 1 {
                        1.0
                    } else if known.number || word.number {
                        0.0
                    } else {
                        let cosine = dot(vector, in_question);
                        if cosine > MIN_SIMILARITY { cosine } else { 0.0 }
                    };
                }
            },
        );
    });
    similarity
}
