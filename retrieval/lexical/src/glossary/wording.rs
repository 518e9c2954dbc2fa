//! What a document says, as far as it decides how a question is read.

use std::ops::Range;

use super::{Entry, Glossary};
use crate::abbreviations::{Abbreviation, abbreviations, is_short};
use crate::company::Company;
use crate::tokenize;

/// What a document says and whom it is about.
#[derive(Debug, Clone, Default)]
pub struct Wording {
    /// A text a line, in the form that phrases are looked up in.
    texts: String,
    pub(super) company: Company,
    /// Abbreviations that it explains, where of the abbreviation and what it stands for one alone is a whole text: each
    /// becomes that one.
    abbreviations: Glossary,
}

/// How a document has a phrase. The order is that of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// Nowhere.
    None,
    /// Within a text.
    Within,
    /// As a whole text, such as a row's header.
    Whole,
}

impl Wording {
    /// Of a document's texts, in order.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str> + Clone) -> Self {
        let mut all = String::from("\n");
        for text in texts.clone() {
            all.extend([words(text).as_str(), "\n"]);
        }
        let mut wording = Self { texts: all, company: Company::of(texts.clone()), abbreviations: Glossary::default() };
        let entries = abbreviations(texts).into_iter().filter_map(|Abbreviation { short, long }| {
            let (term, label) = match [wording.of(&short), wording.of(&long)] {
                [Use::Whole, Use::Whole] => return None,
                [_, Use::Whole] => (short, long),
                [Use::Whole, _] => (long, short),
                _ => return None,
            };
            Some(Entry { terms: vec![term], labels: vec![label], source: "the document".into(), unless_said: false })
        });
        let entries = entries.collect();
        wording.abbreviations = Glossary::of(entries);
        wording
    }

    /// With texts that several texts of the document make together, such as headers with those above them.
    #[must_use]
    pub fn and<'t>(mut self, together: impl IntoIterator<Item = &'t str>) -> Self {
        for text in together {
            self.texts.extend([words(text).as_str(), "\n"]);
        }
        self
    }

    pub(super) fn of(&self, phrase: &str) -> Use {
        let phrase = words(phrase);
        if self.texts.contains(&format!("\n{phrase}\n")) {
            return Use::Whole;
        }
        let ends = |at: usize| {
            let bytes = self.texts.as_bytes();
            let blank = |at: usize| bytes.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\n'));
            at.checked_sub(1).is_none_or(blank) && blank(at + phrase.len())
        };
        if self.texts.match_indices(&phrase).any(|(at, _)| ends(at)) { Use::Within } else { Use::None }
    }

    /// Where a question has what the document abbreviates or writes out, and what becomes of it. An abbreviation counts in
    /// the document's capitals alone: `IT` is not `it`.
    pub(super) fn abbreviated(&self, question: &str) -> Vec<(Range<usize>, &str)> {
        let found = self.abbreviations.terms_in(question).into_iter();
        let found = found.filter_map(|(range, entry)| {
            let Entry { terms, labels, .. } = &self.abbreviations.entries[entry];
            let (term, label) = (terms.first()?, labels.first()?);
            (!is_short(term) || question[range.clone()].starts_with(term.as_str())).then_some((range, label.as_str()))
        });
        found.collect()
    }
}

pub(super) fn words(text: &str) -> String {
    tokenize(text).join(" ")
}
