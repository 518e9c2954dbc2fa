//! What people say, and what reports call it.
//!
//! A question asks for "capex", the report has "Purchases of property and equipment". A [`Glossary`] lists such terms with
//! the labels that stand for them; a question is read with the label that the document itself uses
//! ([`Glossary::reading`]). What the document says word for word stays as it is.

mod spelling;
mod wording;

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tabsegnet_store::{FileError, read_text};

pub use wording::Wording;
use wording::{Use, words};

use crate::periods::{with_full_years, with_years};

/// Terms and the labels that documents have for them.
#[derive(Debug, Clone, Default)]
pub struct Glossary {
    entries: Vec<Entry>,
    /// The entries of each term, in the form that questions are compared in; the first whose label a document has counts.
    terms: HashMap<String, Vec<usize>>,
    /// Characters of the longest term.
    longest: usize,
}

/// What one thing is called.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What people say: `capex`, `capital spending`.
    pub terms: Vec<String>,
    /// What documents call it, the most usual first: `capital expenditures`, `purchases of property and equipment`.
    pub labels: Vec<String>,
    /// Where it is from: a taxonomy's element, an abbreviation.
    pub source: String,
    /// Whether a document that has one of the terms itself, wherever, is read as it says: whose second quarter ends in March
    /// knows best.
    #[serde(default)]
    pub unless_said: bool,
    /// Words of which a question must have one for the terms to mean this; none, and they always do. The CFO is a person to
    /// "who", and a cash flow else.
    #[serde(default)]
    pub beside: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    entry: Vec<Entry>,
}

/// A glossary that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GlossaryError {
    /// It could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not TOML, or another key than an entry has.
    #[error("{file}: {message}; expected [[entry]] with terms, labels and source")]
    Toml {
        /// The file.
        file: String,
        /// With line and column.
        message: String,
    },
    /// An entry with an empty side.
    #[error(
        "{file}: entry {entry} ({source_of}): {which} has {found}; expected at least one text with a letter or digit in it"
    )]
    Empty {
        /// The file.
        file: String,
        /// From 1.
        entry: usize,
        /// The entry's source.
        source_of: String,
        /// `terms`, `labels` or `source`.
        which: &'static str,
        /// What it has: nothing, or a blank text.
        found: &'static str,
    },
}

/// `[glossary]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GlossaryConfig {
    /// Whether questions are read with the glossary that comes with the project.
    pub shipped: bool,
    /// Files of further ones; what they say goes before it.
    pub files: Vec<PathBuf>,
}

impl Default for GlossaryConfig {
    fn default() -> Self {
        Self { shipped: true, files: Vec::new() }
    }
}

impl GlossaryConfig {
    /// Reads the files.
    ///
    /// # Errors
    /// As [`Glossary::read`].
    pub fn open(&self) -> Result<Glossary, GlossaryError> {
        let mut glossary = Glossary::default();
        for file in &self.files {
            glossary = glossary.and(&Glossary::read(file)?);
        }
        Ok(if self.shipped { glossary.and(Glossary::shipped()) } else { glossary })
    }
}

/// How a question is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The question with labels for its terms.
    pub text: String,
    /// The terms as the question has them, each with the label that stands for it.
    pub replaced: Vec<(String, String)>,
}

/// A text as questions are compared with terms: small letters, blanks and hyphens as one blank; with the place in the text
/// of each byte.
fn folded(text: &str) -> (String, Vec<usize>) {
    let (mut folded, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    for (at, c) in text.char_indices() {
        let blank = c.is_whitespace() || matches!(c, '-' | '\u{2010}' | '\u{2011}' | '\u{2013}');
        if blank && folded.ends_with([' ']) {
            continue;
        }
        let before = folded.len();
        match c {
            _ if blank => folded.push(' '),
            '\u{2019}' => folded.push('\''),
            // One for one: a dotted capital I has two.
            c => folded.extend(c.to_lowercase().next()),
        }
        places.resize(places.len() + folded.len() - before, at);
    }
    (folded, places)
}

impl Glossary {
    /// The one that comes with the project.
    pub fn shipped() -> &'static Self {
        static SHIPPED: OnceLock<Glossary> = OnceLock::new();
        // A test reads it.
        SHIPPED.get_or_init(|| Self::parse(include_str!("glossary.toml"), "glossary.toml").unwrap_or_default())
    }

    /// Reads a glossary's file.
    ///
    /// # Errors
    /// A file that cannot be read or is no glossary; an entry without terms, labels or source.
    pub fn read(file: &Path) -> Result<Self, GlossaryError> {
        Self::parse(&read_text(file)?, &file.display().to_string())
    }

    /// Reads a glossary's text; `file` is for messages.
    ///
    /// # Errors
    /// As [`Glossary::read`].
    pub fn parse(text: &str, file: &str) -> Result<Self, GlossaryError> {
        let File { entry: entries } = toml::from_str(text).map_err(|error| GlossaryError::Toml {
            file: file.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        for (at, entry) in entries.iter().enumerate() {
            let source = std::slice::from_ref(&entry.source);
            for (which, side) in [("terms", entry.terms.as_slice()), ("labels", &entry.labels), ("source", source)] {
                let blank = side.iter().any(|text| !text.chars().any(char::is_alphanumeric));
                if side.is_empty() || blank {
                    let found = if blank { "a blank text" } else { "no text" };
                    let (file, source_of) = (file.to_owned(), entry.source.clone());
                    return Err(GlossaryError::Empty { file, entry: at + 1, source_of, which, found });
                }
            }
        }
        Ok(Self::of(entries))
    }

    /// Of entries; where two have one term, the second counts for documents without a label of the first.
    fn of(entries: Vec<Entry>) -> Self {
        let (mut terms, mut longest): (HashMap<String, Vec<usize>>, _) = (HashMap::new(), 0);
        for (at, entry) in entries.iter().enumerate() {
            for term in &entry.terms {
                let (term, _) = folded(term.trim());
                longest = longest.max(term.chars().count());
                let of_term = terms.entry(term).or_default();
                if of_term.last() != Some(&at) {
                    of_term.push(at);
                }
            }
        }
        // One of what a term has many of, where it is more than one word: an asset may be another thing than assets.
        let singulars: Vec<(String, Vec<usize>)> = terms
            .iter()
            .filter_map(|(term, of_term)| Some((term.strip_suffix('s')?.to_owned(), of_term.clone())))
            .filter(|(term, _)| term.contains(' '))
            .collect();
        for (term, of_term) in singulars {
            terms.entry(term).or_insert(of_term);
        }
        Self { entries, terms, longest }
    }

    /// The same with what another says after it: where both have a term, this one counts, but for documents that have none of
    /// its labels.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self::of(self.entries.into_iter().chain(other.entries.iter().cloned()).collect())
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// A question read in the words of a document: the company that it is about goes without its name; fiscal years are written
    /// out ([`with_full_years`]); "last year", and the year before the one that it names, have their numbers, and the end of a fiscal year its day
    /// ([`FiscalYears`](crate::fiscal::FiscalYears), [`with_years`]); words are spelt as the document spells them; what the document abbreviates, or writes out, is said as
    /// the document's labels say it; and each term gives way to the label that stands as a whole text in the document, else,
    /// unless the document has the term itself, to one that stands within a text; a document that has no label leaves the
    /// term as it is, as does one that has a term of [`Entry::unless_said`]; an abbreviation that it nowhere has gives way to
    /// its text with these initials, and what it abbreviates alone to that. What a label says is not looked up again. `None`
    /// where nothing changes, as with a glossary without entries, for which `wording` is not called.
    pub fn reading<'w>(&self, question: &str, wording: impl FnOnce() -> &'w Wording) -> Option<Reading> {
        if self.entries.is_empty() {
            return None;
        }
        let wording = wording();
        let unnamed = wording.company.unnamed(question);
        let question = unnamed.as_deref().unwrap_or(question);
        let respelt = wording.respelt(question);
        let question = respelt.as_deref().unwrap_or(question);
        let in_full = with_full_years(question);
        let question = in_full.as_deref().unwrap_or(question);
        let with_last = wording.fiscal_years.with_last(question);
        let question = with_last.as_deref().unwrap_or(question);
        let with_years = with_years(question);
        let question = with_years.as_deref().unwrap_or(question);
        let dated = wording.fiscal_years.dated(question);
        let question = dated.as_deref().unwrap_or(question);
        let mut found = wording.abbreviated(question);
        let said = words(question);
        let means = |entry: &usize| {
            let beside = &self.entries[*entry].beside;
            beside.is_empty() || said.split(' ').any(|word| beside.iter().any(|other| other == word))
        };
        let of_terms = self.terms_in(question).into_iter().filter_map(|(range, entries)| {
            let term = &question[range.clone()];
            let mut entries = entries.iter().filter(|entry| means(entry));
            let label = entries.find_map(|&entry| self.label(entry, term, wording))?;
            Some((range, label))
        });
        for (range, label) in of_terms.chain(wording.by_initials(question)) {
            if found.iter().all(|(other, _)| other.end <= range.start || range.end <= other.start) {
                found.push((range, label));
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        let mut reading = Reading { text: String::with_capacity(question.len()), replaced: Vec::new() };
        let mut rest = 0;
        for (range, label) in found {
            let before = &question[rest..range.start];
            reading.text += &before[..before.len() - said_already(before, label)];
            reading.text += label;
            rest = range.end;
            reading.replaced.push((question[range].to_owned(), label.to_owned()));
        }
        reading.text += &question[rest..];
        let changed = unnamed.or(respelt).or(in_full).or(with_last).or(with_years).or(dated).is_some()
            || !reading.replaced.is_empty();
        changed.then_some(reading)
    }

    /// The label that stands for a term of an entry; `None` where the term stays.
    fn label(&self, entry: usize, term: &str, wording: &Wording) -> Option<&str> {
        let Entry { terms, labels, unless_said, .. } = &self.entries[entry];
        if *unless_said && terms.iter().any(|term| wording.of(term) > Use::None) {
            return None;
        }
        // A list of abbreviations has a term as a whole text too.
        let mut best = (None, wording.of(term).min(Use::Within));
        let mut labels = labels.iter();
        while best.1 < Use::Whole
            && let Some(label) = labels.next()
        {
            let of_label = wording.of(label);
            if of_label > best.1 {
                best = (Some(label.as_str()), of_label);
            }
        }
        best.0.filter(|label| *label != term)
    }

    /// Where a question has terms, the longest at each place, with the entries of each.
    fn terms_in(&self, question: &str) -> Vec<(Range<usize>, &[usize])> {
        let (folded, places) = folded(question);
        let mut found = Vec::new();
        let mut from = 0;
        let mut before = ' ';
        for (at, c) in folded.char_indices() {
            if at >= from
                && c.is_alphanumeric()
                && !joins(before)
                && let Some((length, entries)) = self.longest_at(&folded[at..])
            {
                let end = at + length;
                found.push((places[at]..places.get(end).copied().unwrap_or(question.len()), entries));
                from = end;
            }
            before = c;
        }
        found
    }

    /// The longest term that a text begins with, its bytes and its entries; a plural's s may follow it.
    fn longest_at(&self, text: &str) -> Option<(usize, &[usize])> {
        let ends: Vec<usize> = text
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take(self.longest + 1)
            .filter(|&end| !text[end..].chars().next().is_some_and(joins))
            .collect();
        ends.into_iter().rev().find_map(|end| {
            let term = &text[..end];
            let known = self.terms.get(term).or_else(|| self.terms.get(term.strip_suffix('s')?));
            known.map(|entries| (end, entries.as_slice()))
        })
    }
}

/// Bytes at the end of a text that a label begins with, in whole words: of "the effective tax rate" nothing is said twice
/// where "tax rate" becomes "effective tax rate".
fn said_already(before: &str, label: &str) -> usize {
    let starts = std::iter::once(0).chain(before.match_indices([' ', '-']).map(|(at, _)| at + 1));
    let said = starts.filter(|&start| {
        let (tail, label) = (words(&before[start..]), words(label));
        before.ends_with([' ', '-'])
            && label.strip_prefix(&tail).is_some_and(|rest| !tail.is_empty() && rest.starts_with(' '))
    });
    said.min().map_or(0, |start| before.len() - start)
}

/// Whether a character makes one word of what stands before and after it.
fn joins(c: char) -> bool {
    c.is_alphanumeric() || c == '&'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn glossary() -> Glossary {
        let text = r#"
            [[entry]]
            terms = ["capex", "capital spending"]
            labels = ["capital expenditures", "Purchases of property and equipment", "capital spending"]
            source = "us-gaap:PaymentsToAcquirePropertyPlantAndEquipment"
            [[entry]]
            terms = ["R&D"]
            labels = ["research and development"]
            source = "us-gaap:ResearchAndDevelopmentExpense"
            [[entry]]
            terms = ["pre-tax profit", "one-off charges"]
            labels = ["income before taxes"]
            source = "us-gaap"
        "#;
        Glossary::parse(text, "test").unwrap()
    }

    const LABELS: &[&str] = &["Capital expenditures", "Research and development", "Income before taxes"];

    fn read(question: &str, texts: &[&str]) -> String {
        let wording = Wording::new(texts.iter().copied());
        glossary().reading(question, || &wording).map_or_else(|| question.to_owned(), |reading| reading.text)
    }

    #[test]
    fn a_term_becomes_the_label_that_the_document_has() {
        let cash_flows = ["Capital expenditures were high.", "Purchases of property, and equipment"];
        assert_eq!(read("Capex in 2024?", &cash_flows), "Purchases of property and equipment in 2024?");
        assert_eq!(read("Capex in 2024?", &cash_flows[..1]), "capital expenditures in 2024?");
        assert_eq!(read("Capex in 2024?", &["Cash"]), "Capex in 2024?");
        for question in ["A one-off charge in 2024?", "A one-off charges in 2024?"] {
            assert_eq!(read(question, LABELS), "A income before taxes in 2024?");
        }
    }

    #[test]
    fn a_term_may_mean_something_beside_other_words_alone() {
        let wording = Wording::new(["Net cash provided by operating activities", "Chief Financial Officer"]);
        let read = |question: &str| Glossary::shipped().reading(question, || &wording).map(|reading| reading.text);
        let officer = read("Who will succeed the CFO?").unwrap();
        assert_eq!(officer, "Who will succeed the chief financial officer?");
        let cash = read("What was the CFO in 2024?").unwrap();
        assert_eq!(cash, "What was the net cash provided by operating activities in 2024?");
    }

    #[test]
    fn what_the_document_says_itself_stays_beside_what_it_says_in_a_sentence_alone() {
        assert_eq!(read("Capex in 2024?", &["Capex", "Capital expenditures were high."]), "Capex in 2024?");
        // As where abbreviations are listed with what they stand for.
        assert_eq!(read("Capex in 2024?", &["Capex", "Capital expenditures"]), "capital expenditures in 2024?");
        let inside = ["Costs (included in R&D)", "Research and development"];
        assert_eq!(read("AbbVie's R&D bill?", &inside), "AbbVie's research and development bill?");
    }

    #[test]
    fn what_the_document_abbreviates_is_said_as_its_labels_say_it() {
        let costs = ["Traffic acquisition costs (TAC) rose.", "TAC"];
        assert_eq!(read("Traffic acquisition costs in 2024?", &costs), "TAC in 2024?");
        let flow = ["We had free cash flow (FCF) of 3.", "Free cash flow", "It rose."];
        assert_eq!(read("FCF in 2024?", &flow), "free cash flow in 2024?");
        // In its own capitals, and only where one of the two alone is a label.
        let both = ["information technology (IT) costs", "IT", "Information technology"];
        assert_eq!(read("IT in 2024?", &both), "IT in 2024?");
        assert_eq!(read("Was it high?", &["information technology (IT)", "Information technology"]), "Was it high?");
        // What the document says of itself goes before the glossary.
        let own = ["rest and dinner (R&D) costs", "Rest and dinner", "Research and development"];
        assert_eq!(read("R&D and capex?", &own), "rest and dinner and capex?");
    }

    #[test]
    fn an_abbreviation_that_the_document_has_not_is_the_text_with_its_initials() {
        let texts = ["Sales, general and administrative", "Return on invested capital", "Cash", "Long-term debt, net"];
        for (question, read_as) in [
            ("SG&A, FY25?", "Sales, general and administrative, fiscal 2025?"),
            ("ROIC in 2024", "Return on invested capital in 2024"),
            ("the LTD?", "the Long-term debt, net?"),
        ] {
            assert_eq!(read(question, &texts), read_as);
        }
        let energy = ["ESG", "Energy storage deployed", "Gross margin"];
        assert_eq!(read("Energy storage gross margin?", &energy), "Energy storage gross margin?");
        for untouched in ["SG&X in 2024?", "roic?", "XSG&A", "RIC1?"] {
            assert_eq!(read(untouched, &texts), untouched);
        }
        assert_eq!(read("ROIC?", &["ROIC was high.", texts[1]]), "ROIC?");
        let regions = ["EMEA", "APAC", "Sales in the Middle East"];
        assert_eq!(read("Sales in Europe, the Middle East and Africa?", &regions), "Sales in EMEA?");
        assert_eq!(
            read("Sales in Europe, the Middle East and Asia?", &["EMEAS"]),
            "Sales in Europe, the Middle East and Asia?"
        );
    }

    #[test]
    fn a_header_says_a_label_together_with_those_above_it() {
        let read = |texts: &[&'static str], question: &str| {
            let wording =
                Wording::new(texts.iter().copied()).and(["Quarter Ended > March 31", "Quarter Ended > June 30"]);
            Glossary::shipped().reading(question, || &wording).map(|reading| reading.text)
        };
        let table = ["Quarter Ended", "March 31", "June 30", "Operating revenue"];
        let put = "Operating revenue in Q2 2018?";
        let read_as = "Operating revenue in quarter ended june 30 2018?";
        assert_eq!(read(&table, put).as_deref(), Some(read_as));
        // A document that counts quarters itself knows best which is the second.
        assert_eq!(read(&[&table[..], &["In the second quarter it rose."]].concat(), put), None);
    }

    #[test]
    fn nothing_is_said_twice() {
        assert_eq!(read("the rise in income pre-tax profit", LABELS), "the rise in income before taxes");
        assert_eq!(read("an income of pre-tax profit", LABELS), "an income of income before taxes");
    }

    #[test]
    fn terms_are_whole_words_with_any_hyphen_blank_or_plural() {
        assert_eq!(read("Pre\u{2011}tax  profits?", LABELS), "income before taxes?");
        assert_eq!(read("CAPEX and R&D's share", LABELS), "capital expenditures and research and development's share");
        for untouched in ["capexes", "the R&Ds2", "XR&D", "AR&D&A", "", "\u{130}capex"] {
            assert_eq!(read(untouched, LABELS), untouched);
        }
    }

    /// `capital spending` is a term and a label, of itself and of `capex`: what was read is not read again.
    #[test]
    fn cycles_end() {
        let cycle = "[[entry]]\nterms = ['a']\nlabels = ['b']\nsource = 's'\n[[entry]]\nterms = ['b']\nlabels = ['a']\nsource = 's'";
        let cycle = Glossary::parse(cycle, "cycle").unwrap();
        let wording = Wording::new(["a"]);
        assert_eq!(cycle.reading("a b", || &wording).unwrap().text, "a a");
    }

    #[test]
    fn the_first_of_two_glossaries_counts() {
        let own =
            Glossary::parse("[[entry]]\nterms = ['Capex']\nlabels = ['Investitionen']\nsource = 'own'", "own").unwrap();
        let wording = Wording::new(LABELS.iter().chain(&["Investitionen"]).copied());
        assert_eq!(
            own.and(&glossary()).reading("capex, R&D", || &wording).unwrap().text,
            "Investitionen, research and development"
        );
        // A document without that label is read as without the own glossary.
        let wording = Wording::new(LABELS.iter().copied());
        let reading = |glossary: Glossary| glossary.reading("capex", || &wording).map(|reading| reading.text);
        let own =
            Glossary::parse("[[entry]]\nterms = ['Capex']\nlabels = ['Investitionen']\nsource = 'own'", "own").unwrap();
        assert!(reading(glossary()).is_some());
        assert_eq!(reading(own.and(&glossary())), reading(glossary()));
    }

    #[test]
    fn what_is_no_glossary_is_said() {
        let message = |text: &str| Glossary::parse(text, "my.toml").unwrap_err().to_string();
        assert!(
            message("[[entry]]\nterms = []\nlabels = ['b']\nsource = 's'")
                .contains("my.toml: entry 1 (s): terms has no text")
        );
        assert!(message("[[entry]]\nterms = ['a']\nlabels = [' ']\nsource = 's'").contains("labels has a blank text"));
        assert!(message("[[entry]]\nterms = ['a']\nlabels = ['b']\nsource = ''").contains("source has a blank text"));
        assert!(message("[[entry]]\nterm = ['a']").contains("unknown field `term`"));
        assert!(message("nonsense").contains("my.toml"));
        let missing = Glossary::read(Path::new("no/such.toml")).unwrap_err().to_string();
        assert!(missing.starts_with("no/such.toml: "), "{missing}");
    }

    #[test]
    fn the_shipped_one_can_be_read_and_says_each_thing_once() {
        let shipped = Glossary::parse(include_str!("glossary.toml"), "glossary.toml").unwrap();
        assert!(!shipped.entries().is_empty());
        let always = shipped.entries().iter().filter(|entry| entry.beside.is_empty());
        let mut terms: Vec<String> = always.flat_map(|entry| &entry.terms).map(|term| folded(term).0).collect();
        let count = terms.len();
        terms.sort();
        terms.dedup();
        assert_eq!(terms.len(), count);
    }

    proptest! {
        #[test]
        fn any_question_can_be_read(question in "\\PC{0,30}(capex|R&D|pre-tax profit)?\\PC{0,20}", text in "\\PC{0,30}") {
            let wording = Wording::new([text.as_str()]);
            if let Some(reading) = glossary().reading(&question, || &wording) {
                prop_assert!(reading.replaced.iter().all(|(_, label)| reading.text.contains(label.as_str())));
            }
        }
    }
}
