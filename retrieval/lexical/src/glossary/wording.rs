//! What a document says, as far as it decides how a question is read.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Entry, Glossary};
use crate::abbreviations::{Abbreviation, abbreviations, is_short};
use crate::company::Company;
use crate::fiscal::FiscalYears;
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
    pub(super) fiscal_years: FiscalYears,
    /// The first whole text with these initials.
    initials: HashMap<String, String>,
    /// Whole texts that are abbreviations of three letters or more.
    shorts: HashSet<String>,
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
        let (mut initials, mut shorts) = (HashMap::new(), HashSet::new());
        for text in texts.clone() {
            if text.len() >= 3 && is_short(text) {
                shorts.insert(text.to_owned());
            }
            for short in initials_of(text).into_iter().flatten() {
                initials.entry(short).or_insert_with(|| text.to_owned());
            }
        }
        let company = Company::of(texts.clone());
        let fiscal_years = FiscalYears::of(texts.clone());
        let mut wording =
            Self { texts: all, company, abbreviations: Glossary::default(), fiscal_years, initials, shorts };
        let entries = abbreviations(texts).into_iter().filter_map(|Abbreviation { short, long }| {
            let (term, label) = match [wording.of(&short), wording.of(&long)] {
                [Use::Whole, Use::Whole] => return None,
                [_, Use::Whole] => (short, long),
                [Use::Whole, _] => (long, short),
                _ => return None,
            };
            Some(Entry {
                terms: vec![term],
                labels: vec![label],
                source: "the document".into(),
                unless_said: false,
                beside: Vec::new(),
            })
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
        let found = found.filter_map(|(range, entries)| {
            let Entry { terms, labels, .. } = self.abbreviations.entries.get(*entries.first()?)?;
            let (term, label) = (terms.first()?, labels.first()?);
            (!is_short(term) || question[range.clone()].starts_with(term.as_str())).then_some((range, label.as_str()))
        });
        found.collect()
    }

    /// Where a question abbreviates what the document writes out alone, or the reverse, and the document's text with, or of,
    /// these initials.
    pub(super) fn by_initials(&self, question: &str) -> Vec<(Range<usize>, &str)> {
        let words: Vec<(usize, &str)> = words_of(question).collect();
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(&(start, word)) = words.get(at) {
            let long = (at + 2..words.len().min(at + LONGEST)).rev().find_map(|last_word| {
                let (end, last) = words[last_word];
                let phrase = &question[start..end + last.len()];
                let small = |word: &str| SMALL.contains(&word.to_lowercase().as_str());
                let initials = initials_of(phrase).into_iter().flatten();
                let short =
                    initials.filter(|_| !small(word) && !small(last)).find_map(|short| self.shorts.get(&short))?;
                // What the document writes out in part is no long form of other initials: of "energy storage gross margin"
                // the first three are not ESG.
                let parts = [(at, last_word - 1), (at + 1, last_word)].into_iter().filter(|(from, to)| from < to);
                let written = parts.map(|(from, to)| &question[words[from].0..words[to].0 + words[to].1.len()]);
                let unwritten =
                    self.of(phrase) == Use::None && written.into_iter().all(|part| self.of(part) == Use::None);
                unwritten.then_some((start..start + phrase.len(), short.as_str()))
            });
            if let Some((range, short)) = long {
                at = words.partition_point(|(start, _)| *start < range.end);
                found.push((range, short));
                continue;
            }
            if is_short(word)
                && let Some(label) = self.initials.get(word).filter(|_| self.of(word) == Use::None)
            {
                found.push((start..start + word.len(), label.as_str()));
            }
            at += 1;
        }
        found
    }
}

/// Words that an abbreviation may pass over.
const SMALL: [&str; 8] = ["and", "&", "of", "on", "the", "for", "in", "to"];

/// Words at the end of a label that its abbreviation goes without.
const ENDS: [&str; 3] = ["expense", "expenses", "net"];

/// Words that an abbreviation stands for at most.
const LONGEST: usize = 8;

/// The words of a text, with where each begins.
pub(super) fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '&').filter(|word| !word.is_empty());
    // Each is a part of the text.
    words.map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// The initials of a text's words, with those of small words (`&` for "and") and without: `SG&A`, `SGA`. Where they are
/// three or more and no word is a number.
fn initials_of(text: &str) -> [Option<String>; 2] {
    if text.len() > 80 || !text.contains([' ', '-']) || text.ends_with('.') {
        return [None, None];
    }
    let mut words: Vec<&str> = words_of(text).map(|(_, word)| word).collect();
    if words.last().is_some_and(|last| ENDS.contains(&last.to_lowercase().as_str())) {
        words.pop();
    }
    let of = |with_small: bool| -> Option<String> {
        let mut short = String::new();
        for word in &words {
            let first = word.chars().next().filter(|c| c.is_alphabetic() || *c == '&')?;
            let lower = word.to_lowercase();
            match lower.as_str() {
                small if !with_small && SMALL.contains(&small) => {}
                "and" => short.push('&'),
                _ => short.extend(first.to_uppercase()),
            }
        }
        (short.len() >= 3 && is_short(&short)).then_some(short)
    };
    [of(true), of(false)]
}

pub(super) fn words(text: &str) -> String {
    tokenize(text).join(" ")
}
