//! What is searched of a table: its fields, their words, and the text that an encoder gets.

use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_lexical::tokenize;

/// A part of a table that words are looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Title of its page or document.
    Title,
    /// Headings above it.
    Section,
    /// Its caption.
    Caption,
    /// Its column headers.
    Header,
    /// Its first column, which mostly names the rows.
    FirstColumn,
    /// All other cells.
    Cells,
}

impl Field {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Title, Self::Section, Self::Caption, Self::Header, Self::FirstColumn, Self::Cells];
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Section => "section",
            Self::Caption => "caption",
            Self::Header => "header",
            Self::FirstColumn => "first_column",
            Self::Cells => "cells",
        }
    }

    /// Calls `each` with every text of the field.
    pub fn texts<'a>(self, table: &'a TableRecord, mut each: impl FnMut(&'a str)) {
        match self {
            Self::Title => each(&table.title),
            Self::Section => each(&table.section),
            Self::Caption => each(&table.caption),
            Self::Header => table.header.iter().for_each(|text| each(text)),
            Self::FirstColumn => table.rows.iter().filter_map(|row| row.first()).for_each(|text| each(text)),
            Self::Cells => table.rows.iter().flat_map(|row| row.iter().skip(1)).for_each(|text| each(text)),
        }
    }
}

/// Words of a text as they are compared: lower case, numbers without thousands separators, an English plural as its
/// singular.
pub fn terms(text: &str) -> Vec<String> {
    let mut tokens = tokenize(text);
    tokens.iter_mut().for_each(singular);
    tokens
}

/// Harman's S-stemmer: "cities" becomes "city", "games" becomes "game"; "boss", "status" and "us" stay.
fn singular(token: &mut String) {
    let Some(rest) = token.strip_suffix('s') else { return };
    if token.len() <= 3 || rest.ends_with(['s', 'u']) || !rest.is_ascii() {
        return;
    }
    if let Some(stem) = rest.strip_suffix("ie").filter(|stem| !stem.ends_with(['a', 'e']) && stem.len() > 1) {
        *token = format!("{stem}y");
    } else if !rest.ends_with("ae") && !rest.ends_with("ee") && !rest.ends_with("oe") {
        token.truncate(rest.len());
    }
}

/// What an encoder gets of a table: what names it and its columns, no cells (the paper's s, with title and section before
/// the caption).
pub fn schema_text(table: &TableRecord) -> String {
    let mut text = String::new();
    for part in [&table.title, &table.section, &table.caption] {
        if !part.trim().is_empty() {
            text.push_str(part.trim());
            text.push_str(". ");
        }
    }
    for (number, header) in table.header.iter().enumerate() {
        text.push_str(if number == 0 { "" } else { " | " });
        text.push_str(header.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_and_numbers_are_one_with_what_they_stand_for() {
        assert_eq!(terms("Cities, GAMES 1,234 boss status us series"), ["city", "game", "1234", "boss", "status", "us", "sery"]);
        assert_eq!(terms("series"), terms("series"));
        assert_eq!(terms("ties éés s"), ["tie", "éés", "s"]);
    }

    #[test]
    fn a_tables_fields_are_its_texts_once_each() {
        let table = TableRecord {
            id: "t".into(),
            title: "T".into(),
            header: vec!["h".into(), "g".into()],
            rows: vec![vec!["a".into(), "b".into(), "c".into()], vec![], vec!["d".into()]],
            ..TableRecord::default()
        };
        let mut all = Vec::new();
        Field::ALL.into_iter().for_each(|field| field.texts(&table, |text| all.push(text)));
        assert_eq!(all, ["T", "", "", "h", "g", "a", "d", "b", "c"]);
        assert_eq!(schema_text(&table), "T. h | g");
    }
}
