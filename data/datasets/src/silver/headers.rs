//! Texts of headers: what of them names something, and dates.

use super::words::{Word, bare, is_year, keys, words};

/// Words of units and of notes about numbers, that stand in brackets or alone.
#[rustfmt::skip]
const UNIT: &[&str] = &[
    "in", "million", "thousand", "billion", "dollar", "usd", "us", "u", "s", "except", "per", "share", "data",
    "amount", "and", "of", "euro", "rmb", "m", "mn", "bn", "k", "percent", "percentage", "unaudited", "audited",
    "000", "as", "a", "eur", "gbp", "number", "million", "unless", "otherwise", "stated", "noted", "value",
];

/// A header's text without units, footnote marks and brackets that hold nothing else.
pub(super) fn header(text: &str) -> String {
    let mark = |c| matches!(c, '*' | '†' | '‡' | '§' | '¹' | '²' | '³' | '⁰'..='⁹');
    let text: String = text.chars().map(|c| if mark(c) { ' ' } else { c }).collect();
    let mut kept = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(['(', '[']) {
        kept.push_str(before);
        let Some((inside, after)) = after.split_once([')', ']']) else {
            rest = after;
            break;
        };
        kept.push(' ');
        if !is_note(inside) {
            kept.push_str(inside);
            kept.push(' ');
        }
        rest = after;
    }
    kept.push_str(rest);
    let words = words(&without_scale(&kept));
    let all_unit = words.iter().all(is_unit);
    let texts: Vec<&str> = words.iter().filter(|word| !is_money(&word.text)).map(|word| word.text.as_str()).collect();
    if all_unit { String::new() } else { texts.join(" ") }
}

/// A footnote's letter or number, or words of units.
fn is_note(inside: &str) -> bool {
    let words = words(inside);
    let mark =
        |word: &Word| word.text.chars().count() == 1 || (word.text.len() <= 2 && word.text.parse::<u8>().is_ok());
    words.iter().all(|word| is_unit(word) || mark(word))
}

fn is_unit(word: &Word) -> bool {
    word.text == "%" || is_money(&word.text) || word.keys.iter().all(|key| UNIT.contains(&key.as_str()))
}

/// `$`, `US$`, `$'000`, `£m`.
fn is_money(word: &str) -> bool {
    let sign = word.contains(['$', '€', '£', '¥']) || word.contains("'000") || word.contains("’000");
    sign && !word.contains(|c: char| c.is_ascii_digit() && c != '0')
}

/// Without `in millions` and its like, wherever they stand.
fn without_scale(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let scale = |word: &&str| ["millions", "thousands", "billions"].contains(&bare(word).to_lowercase().as_str());
    let mut kept: Vec<&str> = Vec::new();
    for (position, word) in words.iter().enumerate() {
        let starts = word.eq_ignore_ascii_case("in") && words.get(position + 1).is_some_and(scale);
        let ends = scale(word) && position > 0 && words[position - 1].eq_ignore_ascii_case("in");
        if !starts && !ends {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// Words of dates beside years and numbers of days.
#[rustfmt::skip]
pub(super) const OF_DATES: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
    "ended", "year", "as", "of", "at", "fiscal", "the", "for", "ending", "week", "52", "53",
];

/// A header that says when, and nothing else.
pub(super) struct Date {
    /// None where the year stands in another level: `years ended december 31`.
    pub(super) year: Option<String>,
    /// Whether it says more than the year.
    pub(super) exact: bool,
}

/// Reads a date; none where the text says something else too, or several years.
pub(super) fn date(text: &str) -> Option<Date> {
    let keys = keys(text);
    let years: Vec<&String> = keys.iter().filter(|key| is_year(key)).collect();
    let day = |key: &String| key.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day));
    let of_date = |key: &String| OF_DATES.contains(&key.as_str()) || day(key) || is_year(key);
    let day_without_month = keys.iter().any(day) && months(text).is_empty();
    if keys.is_empty() || years.len() > 1 || !keys.iter().all(of_date) || day_without_month {
        return None;
    }
    Some(Date { year: years.first().map(|&year| year.clone()), exact: keys.len() > 1 })
}

/// The months of a text.
pub(super) fn months(text: &str) -> Vec<String> {
    keys(text)
        .into_iter()
        .filter_map(|key| OF_DATES[..24].contains(&key.as_str()).then(|| key[..3].to_owned()))
        .collect()
}
