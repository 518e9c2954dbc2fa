//! What is searched of a table: its fields, their words, and the text that an encoder gets.

use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_lexical::for_each_token;

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
            Self::Header => table.column_headers.iter().for_each(|text| each(text)),
            Self::FirstColumn => table.rows.iter().filter_map(|row| row.first()).for_each(|text| each(text)),
            Self::Cells => table.rows.iter().flat_map(|row| row.iter().skip(1)).for_each(|text| each(text)),
        }
    }
}

/// Words of a text as they are compared: lower case, numbers without thousands separators, an English plural as its
/// singular.
pub fn terms(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for_each_term(text, |term| all.push(term.to_owned()));
    all
}

/// Calls `each` with every one of [`terms`], all in one buffer.
pub(crate) fn for_each_term(text: &str, mut each: impl FnMut(&str)) {
    for_each_token(text, |token| {
        singular(token);
        each(token);
    });
}

/// Harman's S-stemmer: "cities" becomes "city", "games" becomes "game"; "boss", "status" and "us" stay.
fn singular(token: &mut String) {
    let Some(rest) = token.strip_suffix('s') else { return };
    if token.len() <= 3 || rest.ends_with(['s', 'u']) || !rest.is_ascii() {
        return;
    }
    if let Some(stem) = rest.strip_suffix("ie").filter(|stem| !stem.ends_with(['a', 'e']) && stem.len() > 1) {
        token.truncate(stem.len());
        token.push('y');
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
    for (number, header) in table.column_headers.iter().enumerate() {
        text.push_str(if number == 0 { "" } else { " | " });
        text.push_str(header.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plurals_and_numbers_are_one_with_what_they_stand_for() {
        assert_eq!(
            terms("Cities, GAMES 1,234 boss status us series"),
            ["city", "game", "1234", "boss", "status", "us", "sery"]
        );
        assert_eq!(terms("series"), terms("series"));
        assert_eq!(terms("ties éés s"), ["tie", "éés", "s"]);
    }

    #[test]
    fn an_s_goes_where_it_makes_a_plural() {
        let same =
            [("city", "Cities"), ("game", "games"), ("house", "houses"), ("country", "COUNTRIES"), ("day", "days")];
        for (one, many) in same {
            assert_eq!(terms(one), terms(many));
        }
        // Short ones, those on -ss and -us and words beyond ASCII stay as they are.
        for stays in ["gas", "us", "s", "is", "glass", "bonus", "años", "n's"] {
            assert_eq!(terms(stays).concat(), stays.replace('\'', ""));
        }
        // What the rule makes of a few others: wrong as English, but the same for question and table.
        assert_eq!(terms("movies classes Paris employees shoes"), ["movy", "classe", "pari", "employees", "shoes"]);
    }

    /// As [`terms`] was first written, word by word.
    fn plain(text: &str) -> Vec<String> {
        let lower: Vec<char> = text.chars().collect();
        let (mut all, mut at) = (Vec::new(), 0);
        let digit = |at: usize| lower.get(at).is_some_and(char::is_ascii_digit);
        while at < lower.len() {
            let from = at;
            let mut token = String::new();
            if digit(at) {
                while digit(at) || at < lower.len() && matches!(lower[at], '.' | ',') && digit(at + 1) {
                    token.extend(Some(lower[at]).filter(|c| *c != ','));
                    at += 1;
                }
            } else {
                while at < lower.len() && lower[at].is_alphabetic() {
                    token.extend(lower[at].to_lowercase());
                    at += 1;
                }
            }
            if at == from {
                at += 1;
                continue;
            }
            singular(&mut token);
            all.push(token);
        }
        all
    }

    proptest! {
        #[test]
        fn terms_are_those_of_the_plain_version(text in "(\\PC|[a-eisu]|[0-9.,]| ){0,40}") {
            prop_assert_eq!(terms(&text), plain(&text));
        }

        #[test]
        fn terms_are_the_same_in_any_case_alone_and_again(words in proptest::collection::vec("[a-z]{1,8}|[0-9]{1,4}", 0..8)) {
            let text = words.join(" ");
            let found = terms(&text);
            prop_assert_eq!(&terms(&text.to_uppercase()), &found);
            let alone: Vec<String> = words.iter().flat_map(|word| terms(word)).collect();
            prop_assert_eq!(&alone, &found);
            prop_assert_eq!(&terms(&found.join(", ")), &found);
            prop_assert_eq!(terms(&words.join("|")), found);
        }
    }

    #[test]
    fn a_tables_fields_are_its_texts_once_each() {
        let table = TableRecord {
            id: "t".into(),
            title: "T".into(),
            column_headers: vec!["h".into(), "g".into()],
            rows: vec![vec!["a".into(), "b".into(), "c".into()], vec![], vec!["d".into()]],
            ..TableRecord::default()
        };
        let mut all = Vec::new();
        Field::ALL.into_iter().for_each(|field| field.texts(&table, |text| all.push(text)));
        assert_eq!(all, ["T", "", "", "h", "g", "a", "d", "b", "c"]);
        assert_eq!(schema_text(&table), "T. h | g");
    }
}
