//! A question compared with each distinct string of a document.

use rayon::prelude::*;

use crate::QUESTION_WORDS;
use crate::config::FeaturesConfig;
use crate::question::Question;
use crate::schema::{Feature, flag};
use crate::strings::{Parts, Strings, Word};
use crate::vectors::{dot, vectorised};

/// Declares what a comparison gives, in order: its name, the group that switches it, whether it depends on `question` or
/// `document`, and whether it is also given less the best of the document and of the table.
macro_rules! columns {
    (@ question) => { true };
    (@ document) => { false };
    ($($(#[$doc:meta])* $column:ident = ($name:literal, $group:ident, $scope:ident, $relative:literal);)*) => {
        /// What a comparison gives.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Column {
            $($(#[$doc])* $column,)*
        }

        impl Column {
            const ALL: &[Self] = &[$(Self::$column),*];

            fn name(self) -> &'static str {
                match self { $(Self::$column => $name,)* }
            }

            fn group(self) -> &'static str {
                match self { $(Self::$column => stringify!($group),)* }
            }

            fn of_question(self) -> bool {
                match self { $(Self::$column => columns!(@ $scope),)* }
            }

            fn is_relative(self) -> bool {
                match self { $(Self::$column => $relative,)* }
            }

            fn is_wanted(self, config: FeaturesConfig) -> bool {
                match self { $(Self::$column => config.$group,)* }
            }
        }
    };
}

columns! {
    /// Share of the string's words, by idf, that the question holds.
    TextShare = ("share_of_text", words, question, true);
    /// Share of the question's words that the string holds.
    QuestionShare = ("share_of_question", words, question, true);
    /// As [`Column::TextShare`], of the words that are no numbers.
    WordsTextShare = ("share_of_words", words, question, true);
    /// As [`Column::QuestionShare`], of the words that are no numbers.
    WordsQuestionShare = ("share_of_question_words", words, question, false);
    /// It holds a year of the question.
    Year = ("year", words, question, false);
    /// It holds years, and none of the question's.
    OtherYear = ("other_year", words, question, false);
    /// It holds a number of the question that is no year.
    Number = ("number", words, question, false);
    /// ln(1 + words) / 4.
    Length = ("length", words, document, false);
    /// It has no words.
    Empty = ("empty", words, document, false);
    /// Cosine of the vectors.
    Cosine = ("cosine", cosine, question, true);
    /// As [`Column::TextShare`], where a word counts by its greatest similarity to one of the question.
    SimilarText = ("similar_to_text", similar_words, question, true);
    /// As [`Column::QuestionShare`], where a word counts by its greatest similarity to one of the string.
    SimilarQuestion = ("similar_to_question", similar_words, question, true);
}

pub(crate) const COLUMNS: usize = Column::ALL.len();

impl Column {
    /// The columns that are wanted; with `relative` those that are also given less the best.
    pub(crate) fn wanted(config: FeaturesConfig, relative: bool) -> impl Iterator<Item = Self> {
        let columns = Self::ALL.iter().copied().filter(move |column| column.is_wanted(config));
        columns.filter(move |column| !relative || column.is_relative())
    }
}

/// The features of the comparisons with each part of a node.
pub(crate) fn parts(config: FeaturesConfig) -> Vec<Feature> {
    let of_part = |part| {
        Column::wanted(config, false).map(move |column| Feature {
            name: format!("{part}.{}", column.name()),
            group: column.group(),
            of_question: column.of_question(),
        })
    };
    Parts::NAMES.in_order().into_iter().flat_map(of_part).collect()
}

/// The features of the same comparisons less the best: of each part that of the document, of row and column that of the
/// table, and the table's best row less the document's.
pub(crate) fn relative(config: FeaturesConfig) -> Vec<Feature> {
    if !config.relative {
        return Vec::new();
    }
    let of_document = Parts::NAMES.map(|part| (part, "of_document")).in_order();
    let of_table = [("row", "of_table"), ("column", "of_table"), ("row", "best_of_table")];
    let of_pair = |(part, kind)| {
        Column::wanted(config, true).map(move |column| Feature {
            name: format!("{part}.{}.{kind}", column.name()),
            group: "relative",
            of_question: true,
        })
    };
    of_document.into_iter().chain(of_table).flat_map(of_pair).collect()
}

/// Words whose cosine is less do not count as similar.
const MIN_SIMILARITY: f32 = 0.3;

/// What a comparison gives, by [`Column`].
pub(crate) type Comparison = [f32; COLUMNS];

/// Which words of a document are a question's, or similar to one.
pub(crate) struct WordMatches {
    words: Vec<Word>,
    /// For each word of the document, the question's words that are the same, by bit.
    same: Vec<u64>,
    /// `[words of the document, words of the question]`; empty where similar words are not wanted.
    similarity: Vec<f32>,
    years: u64,
    numbers: u64,
}

impl WordMatches {
    /// `document_vectors` `[words of the document, d]` and `question_vectors` `[words of the question, d]`
    /// have length 1; both are empty where similar words are not wanted.
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
        let [mut all, mut held, mut all_words, mut held_words, mut similar] = [0.0_f32; 5];
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
            // A number is similar to itself alone.
            let unlike_all = self.similarity.is_empty() || (word.number && same == 0);
            if !unlike_all {
                let row = &self.similarity[number as usize * count..(number as usize + 1) * count];
                let mut best = 0.0_f32;
                for (nearest, similarity) in nearest.iter_mut().zip(row) {
                    *nearest = nearest.max(*similarity);
                    best = best.max(*similarity);
                }
                similar += word.idf * best;
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
        let [mut in_question, mut answered, mut question_words, mut answered_words, mut similar_question] =
            [0.0_f32; 5];
        for (bit, word) in self.words.iter().enumerate() {
            let there = if mask >> bit & 1 == 1 { word.idf } else { 0.0 };
            in_question += word.idf;
            answered += there;
            similar_question += word.idf * nearest[bit];
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
        set(Column::SimilarText, share(similar, all));
        set(Column::SimilarQuestion, share(similar_question, in_question));
        out
    }
}

/// The similarity of each word of the document to each of the question: 1 for the same, else the cosine
/// where it is above [`MIN_SIMILARITY`]; a number is similar to itself alone.
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
