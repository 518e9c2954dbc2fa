//! What a filing calls its concepts: the row headers of the cells that tag them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tabsegnet_datasets::DataError;
use tabsegnet_document::ReadDocument;
use tabsegnet_document::facts::{Fact, FactPlace};
use tabsegnet_document::model::{CellRole, Table};
use tabsegnet_lexical::tokenize;

use super::filing::Filing;
use super::{read_filing, words};

/// What a concept is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// The concept with its prefix, such as `us-gaap:Revenues`.
    pub concept: String,
    /// Such as `Net sales`.
    pub text: String,
}

/// The labels of a filing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilingLabels {
    /// Who files: for the SEC the Central Index Key without zeros before it. `None` for a page without contexts.
    pub company: Option<String>,
    /// In order, each once.
    pub labels: Vec<Label>,
}

/// Reads what a filing, an HTML file with inline XBRL, calls its concepts. Of a fact that is not broken down by members
/// the label is its innermost row header, or the path of all of them where the filing gives that header to several
/// concepts ("Earnings per share > Basic"); where it gives them the path too, there is none.
///
/// # Errors
/// A file that cannot be read.
pub fn labels(file: &Path) -> Result<FilingLabels, DataError> {
    let read = read_filing(file)?;
    Ok(FilingLabels { company: Filing::company(&read), labels: labels_of(&read) })
}

/// What a concept is called by its own name ([`labels`] has what filings call it): in words, and what people say. None for
/// a name that nobody would say.
pub fn names(concept: &str) -> Vec<String> {
    let plain = words::plain_names(concept).iter().map(|name| name.trim_start_matches("the ").to_owned());
    words::concept(concept).into_iter().chain(plain).collect()
}

fn labels_of(read: &ReadDocument) -> Vec<Label> {
    let tables: BTreeMap<usize, &Table> = read.document.tables().map(|table| (table.number(), table)).collect();
    let rows: BTreeSet<(&str, [String; 2])> = read
        .facts
        .numbers
        .iter()
        .filter(|fact| is_whole(read, fact))
        .filter_map(|fact| Some((fact.name.as_str(), headers(&tables, fact)?)))
        .collect();
    let mut concepts: BTreeMap<Vec<String>, BTreeSet<&str>> = BTreeMap::new();
    for (concept, headers) in &rows {
        for header in headers {
            concepts.entry(tokenize(header)).or_default().insert(concept);
        }
    }
    let is_own = |text: &String| concepts.get(&tokenize(text)).is_some_and(|of| of.len() == 1);
    let label = |(concept, headers): (&str, [String; 2])| {
        let text = headers.into_iter().find(is_own)?;
        Some(Label { concept: concept.to_owned(), text })
    };
    rows.into_iter().filter_map(label).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether a fact is of the company as a whole: a row of a breakdown is labelled by the member.
fn is_whole(read: &ReadDocument, fact: &Fact) -> bool {
    let about_the_page = ["dei:", "ecd:", "cyd:"].iter().any(|prefix| fact.name.starts_with(prefix));
    !about_the_page && read.facts.contexts.get(&fact.context).is_some_and(|context| context.dimensions.is_empty())
}

/// The innermost row header of a fact's cell, and the path of all.
fn headers(tables: &BTreeMap<usize, &Table>, fact: &Fact) -> Option<[String; 2]> {
    let FactPlace::Cell { table, row, col } = fact.place else { return None };
    let table = tables.get(&table)?;
    let cell = table.cell_at(row, col).filter(|cell| table.role(cell) == CellRole::Data)?;
    let headers: Vec<String> = table
        .row_headers_of(cell)
        .into_iter()
        .filter_map(|header| table.cells().get(header))
        .map(|header| clean(&header.text))
        .filter(|text| !text.is_empty())
        .collect();
    let innermost = headers.last().filter(|text| is_name(text))?.clone();
    Some([innermost, headers.join(" > ")])
}

/// Without the colon and the marks of footnotes behind it.
fn clean(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    loop {
        let before = text.len();
        text.truncate(text.trim_end_matches([':', ' ', '*', '†']).len());
        if let Some((label, mark)) = text.rsplit_once('(')
            && mark.chars().count() <= 3
            && mark.ends_with(')')
        {
            text.truncate(label.len());
        }
        if text.len() == before {
            return text;
        }
    }
}

/// Whether a header has a word: years, dates' numbers and marks name nothing.
fn is_name(text: &str) -> bool {
    tokenize(text).iter().any(|word| word.chars().count() >= 3 && word.chars().all(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_footnotes_are_no_part_of_a_label() {
        assert_eq!(clean(" Net\n sales (1)(a): "), "Net sales");
        assert_eq!(clean("Total debt (current)"), "Total debt (current)");
        assert_eq!(clean("(b)"), "");
        assert!(is_name("Net sales") && !is_name("2024") && !is_name("— 12"));
    }

    #[test]
    fn a_concepts_own_names_are_words() {
        assert_eq!(
            names("us-gaap:OperatingIncomeLoss")[1..],
            ["operating income", "operating profit", "income from operations"]
        );
        assert_eq!(names("acme:HeadcountAtYearEnd"), ["headcount at year end"]);
    }
}
