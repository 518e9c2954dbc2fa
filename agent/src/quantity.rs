//! Numbers of cells and sentences, with the unit and scale that stand beside them.

use std::fmt;

use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive as _;
use serde::{Deserialize, Serialize};
use tabsegnet_document::numbers::parse_cell_number;

use crate::years::{is_date, is_month, is_year, last_word};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Hundredths; the value is as written, 12 for `12 %`.
    Percent,
    /// A currency whose sign is `$`.
    Dollar,
    /// Euro.
    Euro,
    /// Pound.
    Pound,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Percent => "%",
            Self::Dollar => "$",
            Self::Euro => "€",
            Self::Pound => "£",
        })
    }
}

/// What a written number is to be multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// 1,000
    Thousand,
    /// 1,000,000
    Million,
    /// 1,000,000,000
    Billion,
}

impl Scale {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Thousand, "thousand"), (Self::Million, "million"), (Self::Billion, "billion")];

    /// The power of ten: 3, 6 or 9.
    pub fn power(self) -> u32 {
        match self {
            Self::Thousand => 3,
            Self::Million => 6,
            Self::Billion => 9,
        }
    }

    /// The one with this power of ten.
    pub(crate) fn of_power(power: i32) -> Option<Self> {
        Self::ALL.into_iter().map(|(scale, _)| scale).find(|scale| i64::from(scale.power()) == i64::from(power))
    }

    /// What a heading says: `( in millions , except per share )`, `$000s`, `dollars in thousands`, `£m`, `USDm`, `$ million`.
    pub fn of_heading(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        // What is except is said of in another way.
        let text = text.split("except").next().unwrap_or("");
        let named = Self::ALL.into_iter().find(|(_, name)| {
            text.trim() == *name
                || around(text, name).any(|(before, after)| before.ends_with("in ") || after.starts_with('s'))
        });
        let of_currency = || {
            currencies().find(|sign| text.contains(sign))?;
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '$').collect();
            Self::ALL.into_iter().find(|(scale, name)| {
                let behind = |before: &str| {
                    let before = before.trim_end();
                    currencies().any(|sign| before.ends_with(sign))
                };
                let short = match scale {
                    Self::Thousand => &["k", "000"][..],
                    Self::Million => &["m", "mn", "mm"],
                    Self::Billion => &["b", "bn"],
                };
                text.split(name).next().is_some_and(|before| before.len() < text.len() && behind(before))
                    // `Wages (EUR k)`
                    || words.windows(2).any(|two| currencies().any(|of| of == two[0]) && short.contains(&two[1]))
                    || text
                        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';'))
                        .any(|word| short.iter().any(|short| word.strip_suffix(short).is_some_and(behind)))
            })
        };
        let named = named.or_else(of_currency);
        named.map(|(scale, _)| scale).or_else(|| {
            const THOUSANDS: [&str; 4] = ["$ 000", "(000", "000s", "(1,000)"];
            // Behind a digit it is the end of a number.
            let short = |sign: &str| {
                text.match_indices(sign).any(|(at, _)| !text[..at].ends_with(|c: char| c.is_ascii_digit()))
            };
            let is = |short: &str| text.split_whitespace().any(|word| word == short);
            match text {
                _ if THOUSANDS.iter().any(|sign| text.contains(sign)) => Some(Self::Thousand),
                _ if short("'000") || short("\u{2019}000") => Some(Self::Thousand),
                _ if is("mn") => Some(Self::Million),
                _ if is("bn") => Some(Self::Billion),
                _ => None,
            }
        })
    }

    /// What a sentence says of the tables beside it: `the following table (in thousands)`, `amounts in millions`.
    pub fn of_passage(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let before = [
            "(in ", "( in ", "amounts in ", "dollars in ", "presented in ", "expressed in ", "stated in ", "shown in ",
        ];
        // A currency may stand before the scale: `amounts are in GBP millions`, `all figures in NOK million`, and at the end of
        // what a sheet is called, `Costs by kind, EUR thousand`.
        let of_currency = |before: &str, after: &str| {
            let is_end = after.trim_start_matches('s').is_empty();
            let says = |before: &str| before.ends_with(" in ") || is_end && before.ends_with(", ");
            let of = |sign: &str| before.strip_suffix(' ')?.strip_suffix(sign).map(says);
            currencies().any(|sign| of(sign) == Some(true))
        };
        let said = |name: &str| {
            around(&text, name).any(|(first, after)| {
                after.starts_with('s') && before.iter().any(|before| first.ends_with(before))
                    || of_currency(first, after)
            })
        };
        Self::ALL.into_iter().find(|(_, name)| said(name)).map(|(scale, _)| scale)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(scale, _)| scale == self).map_or("", |(_, name)| name))
    }
}

/// A number as written, with what it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity {
    /// As written: 12 for `12 %`, −12 for `(12)`.
    pub value: Decimal,
    /// `None`: not said.
    pub unit: Option<Unit>,
    /// `None`: not said, or as it stands.
    pub scale: Option<Scale>,
}

/// The number of a cell, or `None`: as [`parse_cell_number`], with unit and scale from the cell itself, else from the
/// nearest of `headings` that says one (row header, column header, caption, section: nearest first), the scale else
/// `otherwise`. Percentages have no scale, amounts per share stand as they are, as `in millions, except per share data` says, and
/// so does what the first `own` headings count one by one, and what any measures; a year that one of those says is a date has neither.
pub fn of_cell<'t>(
    text: &str,
    headings: impl IntoIterator<Item = &'t str> + Clone,
    own: usize,
    otherwise: Option<Scale>,
) -> Option<Quantity> {
    let words = text.to_lowercase();
    let scale = Scale::ALL.iter().find(|(_, name)| words.contains(name));
    let bare = scale.map_or_else(|| words.clone(), |(_, name)| words.replace(name, ""));
    // A number of cents is one, though no unit that is known.
    let bare = bare.trim().trim_end_matches('¢');
    let code = CODES.iter().find_map(|code| {
        let bare = bare.strip_prefix(code).or_else(|| bare.strip_suffix(code))?;
        (!bare.contains(char::is_alphabetic)).then_some((*code, bare))
    });
    let value = to_decimal(parse_cell_number(code.map_or(bare, |(_, bare)| bare))?)?;
    let of_heading = |(place, heading): (usize, &str)| {
        unit_of_heading(heading).filter(|unit| *unit != Unit::Percent || place < own || !announces(heading))
    };
    let unit = unit_of_sign(&words).or_else(|| unit_of_word(code?.0));
    // What is counted one by one has no fraction: "473.0" of "Doors" are millions.
    let is_whole = !text.contains('.');
    let counts = |(place, heading): (usize, &str)| counts_as(heading, place < own && is_whole);
    // What a table is called says what its numbers are measured in, and counts none of them.
    let counts = headings.clone().into_iter().enumerate().find_map(counts);
    let of_headings = headings.clone().into_iter().enumerate().filter(|(place, _)| counts.is_none() || *place < own);
    let unit = unit.or_else(|| of_headings.filter_map(of_heading).next());
    // What a table is called holds for its amounts per share and not for the others.
    let has_fraction = !value.is_integer();
    let per_share = headings.clone().into_iter().enumerate().any(|(place, heading)| {
        let heading = heading.to_lowercase();
        (place < own || has_fraction)
            && !heading.contains("except")
            // "Shares used in per share computation" are shares.
            && !heading.contains("shares used in")
            && (PRICES.iter().any(|each| heading.contains(each))
                || has_fraction && place < own && is_of_prices(&heading)
                || place < own && is_rate(&heading))
    });
    if is_date(text, headings.clone().into_iter().take(own)) {
        return Some(Quantity { value, unit: None, scale: None });
    }
    let scale = match unit {
        Some(Unit::Percent) => None,
        _ if per_share && scale.is_none() => None,
        _ if scale.is_none() && counts.is_some() => counts.flatten(),
        _ => scale.map(|(scale, _)| *scale).or_else(|| headings.into_iter().find_map(Scale::of_heading)).or(otherwise),
    };
    Some(Quantity { value, unit, scale })
}

/// Whether one of some numbers is the sum of all others, by its value.
pub(crate) fn sum_of_others(mut values: impl Iterator<Item = Decimal>) -> impl Fn(Decimal) -> bool {
    let all = values.try_fold(Decimal::ZERO, |sum, value| sum.checked_add(value));
    move |value| !value.is_zero() && all.and_then(|all| all.checked_sub(value)) == Some(value)
}

/// What stands over amounts of one share.
const PRICES: [&str; 7] = [
    "per share", "per common share", "per diluted share", "exercise price", "share price", "stock price",
    "price per unit",
];

/// Whether a header in lower case says that a number is so much for one of something, in no scale: `sales per square metre`,
/// `EUR/MWh`; what is told "per region" is told by region.
fn is_rate(heading: &str) -> bool {
    const BY: [&str; 6] = ["segment", "region", "countr", "division", "product", "business"];
    let innermost = heading.rsplit(" > ").next().unwrap_or_default();
    let per = innermost.split_once(" per ").is_some_and(|(_, of)| !BY.iter().any(|by| of.starts_with(by)));
    let over = || currencies().any(|sign| innermost.contains(&format!("{sign}/")));
    (per || over()) && Scale::of_heading(innermost).is_none()
}

/// Whether a header is of the prices of shares: `2004 > High`.
fn is_of_prices(heading: &str) -> bool {
    let innermost = heading.rsplit(" > ").next().unwrap_or_default().trim();
    ["high", "low", "close", "closing price", "high price", "low price"].contains(&innermost)
}

/// What is counted one by one, whatever scale the amounts beside it have.
const COUNTED: [&str; 12] = [
    "employee", "headcount", "staff", "workforce", "stores", "restaurants", "branches", "floors", "doors", "aircraft",
    "vessels", "number of locations",
];

/// What employees cost, and what stores sell, is no count.
const AMOUNTS: [&str; 13] = [
    "$", "cost", "expense", "sales", "revenue", "benefit", "compensation", "salar", "pay", "option", "stock", "share",
    "plan",
];

/// Units of what is measured, as they stand in brackets behind its name.
#[rustfmt::skip]
const MEASURED: [&str; 33] = [
    "hours", "minutes", "seconds", "days", "weeks", "months", "years", "in years", "in days", "feet", "miles", "mph",
    "kilometers", "km", "gallons", "degrees", "times", "gigawatt-hours", "gwh", "megawatt-hours", "mwh", "kilowatt-hours", "kwh",
    "megawatts", "mw", "tons", "tonnes", "kg", "barrels", "litres", "liters", "acres", "square feet",
];
/// What an amount may be of one of.
#[rustfmt::skip]
const EACH: [&str; 19] = [
    "car", "carload", "mile", "day", "hour", "gallon", "unit", "employee", "customer", "barrel", "ton", "user",
    "member", "room", "store", "passenger", "square foot", "ounce", "subscriber",
];

/// Whether a heading says that its numbers stand as they are: `dwell time (hours)`, `revenue per car`.
fn is_measured(heading: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(char::is_alphabetic);
    let in_brackets = |unit: &str| {
        let rest = heading.split('(').skip(1).filter_map(|rest| rest.trim_start().strip_prefix(unit));
        rest.into_iter().any(|rest| rest.trim_start().starts_with(')'))
    };
    let of_each = |each: &str| heading.split(" per ").skip(1).filter_map(|rest| rest.strip_prefix(each)).any(ends);
    MEASURED.iter().any(|unit| in_brackets(unit)) || EACH.iter().any(|each| of_each(each))
}

/// Of a heading that measures, or where it `may_count` counts, the scale that it says itself, if any: `output (GWh)`, `stores`,
/// `employees (in thousands)`.
fn counts_as(heading: &str, may_count: bool) -> Option<Option<Scale>> {
    let words = heading.to_lowercase();
    if is_measured(&words) {
        return Some(Scale::of_heading(heading));
    }
    let counts = COUNTED.iter().any(|counted| words.contains(counted)) && !AMOUNTS.iter().any(|of| words.contains(of));
    (may_count && counts).then(|| Scale::of_heading(heading))
}

fn unit_of_sign(text: &str) -> Option<Unit> {
    [('%', Unit::Percent), ('$', Unit::Dollar), ('€', Unit::Euro), ('£', Unit::Pound)]
        .into_iter()
        .find_map(|(sign, unit)| text.contains(sign).then_some(unit))
}

/// Codes of currencies.
const CODES: [&str; 11] = ["usd", "eur", "gbp", "aud", "cad", "chf", "rmb", "cny", "sek", "nok", "dkk"];

/// Signs and codes of currencies that stand before a scale: `USDm`, `$ million`.
fn currencies() -> impl Iterator<Item = &'static str> {
    ["$", "£", "€"].into_iter().chain(CODES)
}

/// What stands before and behind each place of a name in a text.
fn around<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    text.match_indices(name).map(|(at, name)| (&text[..at], &text[at + name.len()..]))
}

/// Percent is what a heading says with its sign or word alone: in `change in percent of sales` too, but not in
/// `6.5% notes`, which counts dollars.
fn unit_of_heading(text: &str) -> Option<Unit> {
    let text = text.to_lowercase();
    // `in millions, except percentages`: of which numbers is not said.
    let text = text.split("except").next().unwrap_or("");
    let digit_before =
        |at: usize| text.get(..at).is_some_and(|before| before.trim_end().ends_with(|c: char| c.is_ascii_digit()));
    let percent = text.match_indices('%').any(|(at, _)| !digit_before(at)) || text.contains("percent");
    match percent {
        true => Some(Unit::Percent),
        false => unit_of_sign(&text.replace('%', "")).or_else(|| {
            // `EUR million`, `in thousands of euros`: beside a scale, or alone in brackets.
            let counted = Scale::of_heading(text).is_some();
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            words.find_map(|word| unit_of_word(word).filter(|_| counted || text.contains(&format!("({word})"))))
        }),
    }
}

/// The unit that a word or code in lower case names, a scale behind a code left out: `eur`, `euros`, `usdm`.
fn unit_of_word(word: &str) -> Option<Unit> {
    let code = ["k", "m", "mn", "mm", "b", "bn"].iter().find_map(|scale| word.strip_suffix(scale));
    [
        (Unit::Dollar, ["usd", "dollar", "dollars"]),
        (Unit::Euro, ["eur", "euro", "euros"]),
        (Unit::Pound, ["gbp", "pound", "pounds"]),
    ]
    .into_iter()
    .find(|(_, names)| names.contains(&word) || code == Some(names[0]))
    .map(|(unit, _)| unit)
}

/// Whether a sentence stands over a table: what it says is in it is not of each of its numbers.
fn announces(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    let is_sentence =
        heading.contains("following") || heading.trim_end().ends_with([':', '.']) || heading.contains(" table ");
    is_sentence && !heading.contains("in percent") && !heading.contains("(%")
}

/// The shortest decimal that `f64` shows: 0.1 stays 0.1.
pub(crate) fn to_decimal(number: f64) -> Option<Decimal> {
    Decimal::from_f64(number).map(|number| number.normalize())
}

/// A number within a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The number.
    pub quantity: Quantity,
    /// Byte of the text where its digits begin.
    pub start: usize,
    /// Byte behind its last digit.
    pub end: usize,
}

/// The numbers of a sentence, left to right: days of a month, years, and parts of words are left out. `75% ( 75 % )`,
/// as FinQA writes what it has read, counts twice.
pub fn of_sentence(text: &str) -> Vec<Written> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
    let mut at = 0;
    while at < bytes.len() {
        let behind_word = |at: usize| at > 0 && byte(at - 1).is_ascii_alphanumeric();
        // `.5`, as reports and FinQA write it.
        let point = byte(at) == b'.' && byte(at + 1).is_ascii_digit() && !behind_word(at);
        // `F-16` is a name.
        let of_name = at > 1 && byte(at - 1) == b'-' && byte(at - 2).is_ascii_alphabetic();
        let behind_point = at > 0 && byte(at - 1) == b'.' && behind_word(at - 1);
        let begins = byte(at).is_ascii_digit() && !(behind_word(at) || of_name || behind_point);
        if !begins && !point {
            at += 1;
            continue;
        }
        let start = at;
        let mut digits = String::new();
        if point {
            digits.push_str("0.");
            at += 1;
        }
        while byte(at).is_ascii_digit()
            || matches!(byte(at), b',' | b'.') && byte(at + 1).is_ascii_digit() && byte(at - 1).is_ascii_digit()
        {
            if byte(at) != b',' {
                digits.push(char::from(byte(at)));
            }
            at += 1;
        }
        let end = at;
        let (before, after) = (text.get(..start).unwrap_or(""), behind(text, end));
        // 10-k, 3rd, a number of a note.
        let part_of_word = byte(end).is_ascii_alphabetic() || byte(end) == b'-' && byte(end + 1).is_ascii_alphabetic();
        let Ok(value) = digits.parse::<Decimal>() else { continue };
        let close = before.trim_end();
        let dollar = [('$', Unit::Dollar), ('€', Unit::Euro), ('£', Unit::Pound)]
            .into_iter()
            .find_map(|(sign, unit)| close.trim_end_matches(['-', '(', ' ']).ends_with(sign).then_some(unit))
            .or_else(|| unit_of_word(&last_word(close).to_lowercase()).filter(|_| behind_code(close)));
        let unit = if after.starts_with('%') || after.starts_with("percent") { Some(Unit::Percent) } else { dollar };
        let scale = Scale::ALL.iter().find(|(_, name)| after.starts_with(name)).map(|(scale, _)| *scale);
        let last_word = last_word(close.trim_end_matches(['.', ' ']));
        let month = is_month(&last_word);
        let day = month && unit.is_none() && scale.is_none() && value <= Decimal::from(31) && value.is_integer();
        let year =
            is_year(&digits) && !text.get(start..end).unwrap_or("").contains(',') && unit.is_none() && scale.is_none();
        // "ERISA of 1974"
        let of_law = digits.len() == 4 && close.to_lowercase().ends_with(" act of");
        if part_of_word
            || day
            || year
            || of_law
            || is_label(value, unit.is_some() || scale.is_some(), close, &last_word, &after)
        {
            continue;
        }
        let minus = close.ends_with(['-', '−']) && unit.is_some();
        let value = if minus { -value } else { value };
        found.push(Written { quantity: Quantity { value, unit, scale }, start, end });
    }
    found
}

/// What stands behind a number, in lower case, as far as it says what the number is.
fn behind(text: &str, end: usize) -> String {
    text.get(end..).unwrap_or("").trim_start().chars().take(BEHIND).collect::<String>().to_lowercase()
}

/// Letters behind a number that are looked at.
const BEHIND: usize = 24;

/// Whether a code in capitals ends a text: `EUR` of `EUR 190.4 million`.
fn behind_code(text: &str) -> bool {
    let code: String = text.chars().rev().take_while(|c| c.is_alphabetic()).collect();
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// What stands before the number of a note, a level, a standard.
const NUMBERED: [&str; 22] = [
    "note", "notes", "item", "items", "section", "level", "levels", "topic", "rule", "form", "page", "exhibit",
    "chapter", "article", "schedule", "asc", "asu", "fas", "sfas", "fin", "eitf", "no",
];

/// Whether a number is the mark or the number of something and counts nothing: `( 4 ) Debt of …`, `Note 10`, `S&P 500`,
/// `401 (k)`. `before` is all that stands before it, `last_word` the last word there, `after` what follows.
fn is_label(value: Decimal, has_unit: bool, before: &str, last_word: &str, after: &str) -> bool {
    if has_unit || !value.is_integer() {
        return false;
    }
    let behind = after.strip_prefix(')').map(str::trim_start);
    let counts = |behind: &str| Scale::ALL.iter().any(|(_, name)| behind.starts_with(name));
    let mark = value < Decimal::from(100) && before.ends_with('(') && behind.is_some_and(|behind| !counts(behind));
    let ends_with = |name: &str| {
        let tail = before.len().checked_sub(name.len()).and_then(|at| before.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(name))
    };
    let index = ["s&p", "s & p", "russell", "nasdaq", "fortune"].into_iter().any(ends_with);
    let plan = (Decimal::from(400)..Decimal::from(500)).contains(&value) && after.starts_with('(');
    mark || index || plan || NUMBERED.contains(&last_word) && value < Decimal::from(1000)
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::{Quantity, Scale, Unit, of_cell, of_sentence};
    use crate::years::years;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn cells_have_units_and_scales() {
        for (text, headings, value, unit, scale) in [
            ("(12,760)", &["Net loss", "(in millions)"][..], "-12760", None, Some(Scale::Million)),
            ("$ 1.2", &["Total", "$ in thousands"], "1.2", Some(Unit::Dollar), Some(Scale::Thousand)),
            ("12 %", &["Rate", "in millions"], "12", Some(Unit::Percent), None),
            ("—", &[], "0", None, None),
            ("7 (a)", &["% change"], "7", Some(Unit::Percent), None),
            ("7", &["2019 £m"], "7", Some(Unit::Pound), Some(Scale::Million)),
            ("7", &["$\u{2019}000"], "7", Some(Unit::Dollar), Some(Scale::Thousand)),
            ("7", &["6.5% notes", "in billions"], "7", None, Some(Scale::Billion)),
            ("7", &["2019", "USDm"], "7", Some(Unit::Dollar), Some(Scale::Million)),
            ("7", &["2019", "$ MILLION"], "7", Some(Unit::Dollar), Some(Scale::Million)),
            ("7", &["Sales above $1 million", "F19"], "7", Some(Unit::Dollar), None),
            ("7", &["(In Millions, Except Percentages and Per Share Amounts)"], "7", None, Some(Scale::Million)),
            (
                "2.16",
                &["Earnings per common share: > Diluted", "in millions, except per share data"],
                "2.16",
                None,
                None,
            ),
            ("7", &["Net income", "in millions, except per share data"], "7", None, Some(Scale::Million)),
            ("$ 1.2 billion", &["in millions"], "1.2", Some(Unit::Dollar), Some(Scale::Billion)),
        ] {
            let found = of_cell(text, headings.iter().copied(), 0, None);
            assert_eq!(found, Some(Quantity { value: decimal(value), unit, scale }), "{text}");
        }
        assert_eq!(of_cell("n/a", [], 0, None), None);
        for (text, headings, own, unit, scale) in [
            // What a table is called holds for its amounts per share alone.
            ("5,560", &["Net income", "Net income per share (in millions)"][..], 1, None, Some(Scale::Million)),
            ("4.30", &["Diluted", "Net income per share (in millions)"], 1, None, None),
            ("3,960", &["Wages (EUR k)"], 1, Some(Unit::Euro), Some(Scale::Thousand)),
            ("412,300", &["Revenue", "(in thousands of euros)"], 1, Some(Unit::Euro), Some(Scale::Thousand)),
            // What a sentence over a table names is not in all of it.
            ("243.5", &["Stores", "The following table presents the percentage of stores owned:"], 1, None, None),
            ("12", &["Share", "(in percent)"], 1, Some(Unit::Percent), None),
            // What is counted has no fraction.
            ("473.0", &["Doors", "in millions"], 1, None, Some(Scale::Million)),
            ("473", &["Doors", "in millions"], 1, None, None),
            // So does what a column of share prices is called.
            ("20.54", &["2003 > Low", "in millions"], 1, None, None),
            ("20", &["2003 > Low", "in millions"], 1, None, Some(Scale::Million)),
        ] {
            let found = of_cell(text, headings.iter().copied(), own, None).unwrap();
            assert_eq!((found.unit, found.scale), (unit, scale), "{text} {headings:?}");
        }
        assert_eq!(Scale::of_passage("Amounts are in GBP millions unless said otherwise."), Some(Scale::Million));
        assert_eq!(Scale::of_passage("Costs by kind, EUR thousand"), Some(Scale::Thousand));
        let written = of_sentence("Net debt was EUR 190.4 million.");
        assert_eq!((written[0].quantity.unit, written[0].quantity.scale), (Some(Unit::Euro), Some(Scale::Million)));
        assert_eq!(of_cell("", [], 0, None), None);
    }

    #[test]
    fn sentences_have_numbers_without_days_and_years() {
        let text = "at december 31 , 2018 , assets of $ 415.5 million rose 12% ( 12 % ) to 1,234 in the 10-k of 2019";
        let found: Vec<_> = of_sentence(text).into_iter().map(|written| written.quantity).collect();
        let quantity = |value, unit, scale| Quantity { value: decimal(value), unit, scale };
        assert_eq!(
            found,
            [
                quantity("415.5", Some(Unit::Dollar), Some(Scale::Million)),
                quantity("12", Some(Unit::Percent), None),
                quantity("12", Some(Unit::Percent), None),
                quantity("1234", None, None),
            ]
        );
        assert_eq!(years(text).iter().map(|(year, _)| *year).collect::<Vec<_>>(), [2018, 2019]);
        assert!(of_sentence("é ü ½ – no number").is_empty());
        let values =
            |text: &str| of_sentence(text).iter().map(|found| found.quantity.value.to_string()).collect::<Vec<_>>();
        assert_eq!(values("a price of $ .8 billion , or .05 per share."), ["0.8", "0.05"]);
        // Marks and names, not amounts.
        assert_eq!(values("( 4 ) Debt of $ 708 million (see Note 10 and Level 2) and the S&P 500; F-16"), ["708"]);
        assert_eq!(values("our 401 ( k ) plan and the 401(k) plan hold 400 shares, (4) million less"), ["400", "4"]);
    }

    #[test]
    fn regression_what_is_measured_has_no_scale_of_the_amounts_beside_it() {
        let of = |header: &str| {
            of_cell("23.4", [header, "2023"], 2, Some(Scale::Million)).map(|quantity| quantity.scale).unwrap()
        };
        assert_eq!(of("Average terminal dwell time (hours) [a]"), None);
        assert_eq!(of("Maximum train length (feet)"), None);
        assert_eq!(of("Average revenue per car"), None);
        assert_eq!(of("Gross ton-miles (billions)"), Some(Scale::Billion));
        assert_eq!(of("Revenue per region"), Some(Scale::Million));
        assert_eq!(of("Debt due within days"), Some(Scale::Million));
    }

    #[test]
    fn regression_what_is_counted_has_no_scale_of_the_amounts_beside_it() {
        let scale = |headings: &[&str], own| {
            of_cell("1,850", headings.iter().copied(), own, Some(Scale::Million)).unwrap().scale
        };
        assert_eq!(scale(&["Bakery", "Employees", "(in millions)"], 2), None);
        assert_eq!(scale(&["Employees (in thousands)", "2024", "(in millions)"], 2), Some(Scale::Thousand));
        assert_eq!(scale(&["Employee benefits", "2024", "(in millions)"], 2), Some(Scale::Million));
        assert_eq!(scale(&["Bakery", "Revenue"], 2), Some(Scale::Million));
        // So much for one of something is in no scale but its own.
        assert_eq!(scale(&["Sales per square metre ($)", "2024", "$ million"], 2), None);
        assert_eq!(scale(&["May", "Price (EUR/MWh)"], 2), None);
        assert_eq!(scale(&["Sales per segment", "2024"], 2), Some(Scale::Million));
        assert_eq!(scale(&["Sales per employee (in thousands)", "2024"], 2), Some(Scale::Thousand));
        // A heading over the table counts nothing, but it may say what is measured.
        assert_eq!(scale(&["Bakery", "2024", "Employees"], 2), Some(Scale::Million));
        assert_eq!(scale(&["Wind", "2024", "Net generation (gigawatt-hours)"], 2), None);
        let staff = of_cell("1,850", ["Staff", "2024", "$ in millions"], 2, None).unwrap();
        assert_eq!((staff.scale, staff.unit), (None, None));
        let year = of_cell("2034", ["Senior notes", "Maturity", "(in millions)"], 2, None).unwrap();
        assert_eq!((year.scale, year.unit), (None, None));
    }

    #[test]
    fn regression_apostrophes_part_thousands_and_name_none_behind_a_digit() {
        let value = |text: &str| of_cell(text, [], 0, None).map(|quantity| quantity.value);
        assert_eq!(value("CHF 1\u{2019}250\u{2019}000"), Some(Decimal::from(1_250_000)));
        assert_eq!(value("1'250 EUR"), Some(Decimal::from(1250)));
        assert_eq!(
            (Scale::of_heading("1\u{2019}250\u{2019}000"), Scale::of_heading("US$\u{2019}000")),
            (None, Some(Scale::Thousand))
        );
    }
}
