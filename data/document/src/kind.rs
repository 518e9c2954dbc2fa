//! What a cell's text looks like: the types that header inference weighs.

use crate::months::MONTHS;
use crate::numbers::parse_cell_number;

/// The look of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, or blanks.
    Empty,
    /// An amount, a share, a range of numbers.
    Number,
    /// What stands where a number is missing: a dash, `n/a`, `..`, a formula that was not computed.
    Missing,
    /// A year, a span of years or a date: numbers that head columns and rows.
    Year,
    /// Words.
    Text,
}

impl Kind {
    /// The look of a text.
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            Self::Empty
        } else if is_year(text) || is_date(text) {
            Self::Year
        } else if is_missing(text) {
            Self::Missing
        } else if parse_cell_number(text).is_some()
            || is_numeric(text)
            || measured(text).is_some_and(|number| number.contains('.'))
        {
            Self::Number
        } else {
            Self::Text
        }
    }

    /// Whether such a text is data rather than a name.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Number | Self::Missing)
    }
}

/// The number before a unit of time: `13.7 years`.
pub(crate) fn measured(text: &str) -> Option<&str> {
    let (number, unit) = text.trim().split_once(char::is_whitespace)?;
    let is_unit =
        ["years", "year", "months", "month", "days", "yrs", "yr"].contains(&unit.trim().trim_end_matches('.'));
    (is_unit && number.parse::<f64>().is_ok()).then_some(number)
}

/// `2024`, `2023-24`, `2005/2006`, `2005 to 2008`, `2024E`, `FY2024`, `FY24`, `≥ 1993`, and with a footnote
/// mark `2024a`, `2024 (a)`.
fn is_year(text: &str) -> bool {
    let text = without_mark(text.trim_start_matches(['<', '>', '≤', '≥', '~', ' ']));
    if let Some(short) = text.strip_prefix("FY").map(|text| text.trim_end_matches(['*', '†']))
        && short.len() == 2
    {
        return short.bytes().all(|b| b.is_ascii_digit());
    }
    let text = text.strip_prefix("FY").unwrap_or(text).trim();
    let text = text.trim_end_matches(['*', 'E', 'e', '†', ':']);
    let unmarked = text.strip_suffix(|c: char| c.is_ascii_lowercase());
    is_plain_year(text) || unmarked.is_some_and(|text| is_plain_year(text.trim_end()))
}

/// Without a letter or digit in brackets at the end.
fn without_mark(text: &str) -> &str {
    let marked = [('(', ')'), ('[', ']')].into_iter().find_map(|(open, close)| {
        let (before, mark) = text.strip_suffix(close)?.rsplit_once(open)?;
        (mark.len() == 1 && mark.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(before)
    });
    marked.map_or(text, str::trim_end)
}

fn is_plain_year(text: &str) -> bool {
    let plain =
        |text: &str| text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()) && ("1700"..="2199").contains(&text);
    if plain(text) {
        return true;
    }
    let parts = text.split_once([' ', '-', '–', '/', '—']).filter(|(from, _)| plain(from));
    parts.is_some_and(|(_, to)| {
        let to = to.trim_start_matches([' ', '-', '–', '/', '—']).trim_start_matches("to ").trim();
        plain(to) || (to.len() == 2 && to.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// `2024-12-31`, `12/31/2024`, `31.12.2024`.
fn is_date(text: &str) -> bool {
    ['-', '/', '.'].into_iter().any(|separator| {
        let parts: Vec<&str> = text.split(separator).collect();
        let digits = parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        digits && matches!(lengths[..], [4, 2, 2] | [1..=2, 1..=2, 4])
    })
}

/// `=B2-B3`, `=SUM(A1:A9)`.
fn is_formula(text: &str) -> bool {
    text.strip_prefix('=').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || "(+-$'".contains(c)))
}

/// `May 2024`, `5 Oct. 2021`, `October 5th, 2021`: a month with numbers beside it and nothing else.
pub(crate) fn is_date_in_words(text: &str) -> bool {
    let words = text.split([' ', ',', '.', '-', '/', '\u{a0}']).filter(|word| !word.is_empty());
    let (mut months, mut numbers) = (0, 0);
    for word in words {
        let lower = word.to_lowercase();
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_lowercase());
        if lower.len() >= 3 && MONTHS.iter().any(|month| month.starts_with(lower.as_str())) || lower == "sept" {
            months += 1;
        } else if !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit()) {
            numbers += 1;
        } else {
            return false;
        }
    }
    months == 1 && (1..=2).contains(&numbers)
}

pub(crate) fn is_missing(text: &str) -> bool {
    if is_formula(text) {
        return true;
    }
    let text = text.trim_start_matches(['$', '€', '£', '¥']).trim_end_matches('%').trim();
    !text.is_empty() && text.chars().all(|c| matches!(c, '-' | '–' | '—' | '―' | '.' | '*' | '…' | '−'))
        || ["n/a", "na", "n.a.", "nm", "n/m", "n.m.", "nil", "none", "x", "f"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
}

/// Mostly digits, with only signs and short units beside them: `1.5–3.2 %`, `0.5x`, `12 / 15`, `25 bps`.
fn is_numeric(text: &str) -> bool {
    let mut digits = 0;
    let mut letters = 0;
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits += 1;
        } else if c.is_alphabetic() {
            letters += 1;
        } else if !matches!(
            c,
            ' ' | ','
                | '.'
                | '-'
                | '–'
                | '—'
                | '−'
                | '+'
                | '%'
                | '$'
                | '€'
                | '£'
                | '¥'
                | '('
                | ')'
                | '/'
                | ':'
                | '*'
                | '~'
                | '±'
                | '\u{a0}'
                | '<'
                | '>'
                | '†'
                | '['
                | ']'
                | '\''
        ) {
            return false;
        }
    }
    digits > 0 && (letters == 0 || (letters <= 1 && text.ends_with(char::is_alphabetic)))
}

#[cfg(test)]
mod tests {
    use super::{Kind, is_date_in_words};

    #[test]
    fn dates_in_words() {
        for text in ["May 2024", "5 Oct. 2021", "October 5th, 2021", "Sept 1999", "12-Mar-2020"] {
            assert!(is_date_in_words(text), "{text}");
        }
        for text in ["", "May", "2024", "Mayor 2024", "May 2024 and 2023", "In May 2024", "5 12 2021"] {
            assert!(!is_date_in_words(text), "{text}");
        }
    }

    #[test]
    fn kinds() {
        for (kind, texts) in [
            (Kind::Empty, &["", "  ", "\u{a0}"][..]),
            (
                Kind::Year,
                &[
                    "2024", "2023-24", "2005/2006", "2005 to 2008", "FY2024", "1999*", "2024-12-31", "1/31/2024",
                    "2015a", "2016-17b", "≥ 1993",
                ],
            ),
            (Kind::Missing, &["-", "—", "n/a", "..", "$ —", "— %", "x", "None", "=B2-B3", "=-SUM(A1:A9)"]),
            (Kind::Number, &["12", "$ (1,234)", "5.25 %", "1.5–3.2 %", "0.5x", "+4", "20,240", "$2024", "3-2"]),
            (Kind::Text, &["Cash", "= total", "=", "2 years", "May 2024", "Level 1", "Q1"]),
        ] {
            for text in texts {
                assert_eq!(Kind::of(text), kind, "{text:?}");
            }
        }
    }
}
