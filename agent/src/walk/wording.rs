//! An answer's text taken apart: its numbers, with the unit and scale that it gives them, and its words.

use rust_decimal::Decimal;

use crate::quantity::{Scale, Unit};
use crate::walk::cells::plain;

/// A number of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaidNumber {
    /// As it is written.
    pub(crate) digits: String,
    /// Without its sign, with the places that it is written with.
    pub(crate) amount: Decimal,
    /// Whether a minus, or brackets around all that is said, make it negative.
    pub(crate) negative: bool,
    pub(crate) unit: Option<Unit>,
    pub(crate) scale: Option<Scale>,
}

impl SaidNumber {
    /// With its sign.
    pub(crate) fn value(&self) -> Decimal {
        if self.negative { -self.amount } else { self.amount }
    }
}

/// An answer's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Said {
    /// In lower case, on one line, without the stop at its end.
    pub(crate) text: String,
    pub(crate) numbers: Vec<SaidNumber>,
    /// What is said beside the numbers, their units and scales.
    pub(crate) words: Vec<String>,
}

/// Words that say nothing of their own.
const GLUE: [&str; 30] = [
    "a", "about", "an", "and", "approximately", "are", "as", "at", "by", "each", "for", "from", "in", "is", "it",
    "its", "of", "on", "or", "per", "respectively", "s", "that", "the", "their", "to", "was", "were", "which", "with",
];

const SIGNS: [(char, Unit); 3] = [('$', Unit::Dollar), ('€', Unit::Euro), ('£', Unit::Pound)];

impl Said {
    pub(crate) fn read(text: &str) -> Self {
        let text = plain(text).trim_end_matches(['.', '!']).to_owned();
        let mut said = Self::default();
        let mut at = 0;
        while let Some(found) = text.get(at..).and_then(|rest| rest.find(char::is_alphanumeric)) {
            let start = at + found;
            let (before, rest) = (text.get(..start).unwrap_or(""), text.get(start..).unwrap_or(""));
            if let Some((digits, amount)) = number_of(before, rest) {
                let behind = Behind::read(rest.get(digits.len()..).unwrap_or(""));
                at = start + digits.len() + behind.bytes;
                let signed = before.trim_end_matches(['-', '−', '–', '(', ' ']);
                let sign = SIGNS.into_iter().find(|(sign, _)| signed.ends_with(*sign));
                if let (Some((sign, unit)), Some(other)) = (sign, behind.unit)
                    && unit != other
                {
                    // "€ 12 %": one of the two has to stand in the document as a word would.
                    said.words.push(sign.to_string());
                }
                said.numbers.push(SaidNumber {
                    digits: digits.to_owned(),
                    amount,
                    negative: has_minus(before),
                    unit: behind.unit.or(sign.map(|(_, unit)| unit)),
                    scale: behind.scale,
                });
            } else {
                let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
                said.words.push(word.to_owned());
                at = start + word.len().max(1);
            }
        }
        let bare = text.trim_matches(['$', '€', '£', '%', ' ']);
        if let ([number], true) = (said.numbers.as_mut_slice(), said.words.is_empty()) {
            number.negative |= bare.starts_with('(') && bare.ends_with(')');
        }
        Self { text, ..said }
    }

    /// What is said beside the numbers that is more than grammar.
    pub(crate) fn telling_words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str).filter(|word| !GLUE.contains(word))
    }
}

/// The number that a text begins with, as written and as an amount; none where letters stand right behind it, as in `10k`.
fn number_of<'t>(before: &str, text: &'t str) -> Option<(&'t str, Decimal)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(text.len());
    let digits = text.get(..end)?.trim_end_matches(['.', ',']);
    if digits.is_empty() || text.get(digits.len()..)?.starts_with(char::is_alphanumeric) {
        return None;
    }
    let bare = digits.replace(',', "");
    // ".5" is a half.
    let point = before.strip_suffix('.').is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    let amount = if point && !bare.contains('.') { format!("0.{bare}") } else { bare };
    Some((digits, amount.parse().ok()?))
}

/// Whether a minus stands before a number, and no dash between two things.
fn has_minus(before: &str) -> bool {
    let signs = before.trim_end_matches(['$', '€', '£', ' ', '.']);
    let Some(rest) = signs.strip_suffix(['-', '−', '–']) else { return false };
    let close = !before.get(signs.len()..).is_some_and(|between| between.starts_with(' '));
    let begins = rest.trim_end().is_empty() || rest.trim_end().ends_with(['$', '€', '£', '(']);
    begins || close && rest.ends_with(' ')
}

/// What stands behind a number and belongs to it.
#[derive(Default)]
struct Behind {
    unit: Option<Unit>,
    scale: Option<Scale>,
    bytes: usize,
}

impl Behind {
    fn read(text: &str) -> Self {
        let mut found = Self::default();
        loop {
            let rest = text.get(found.bytes..).unwrap_or("");
            let next = rest.trim_start_matches([' ', ')']);
            let skipped = rest.len() - next.len();
            let whole = ["%", "per cent"].into_iter().find(|sign| next.starts_with(*sign));
            let word = whole.or_else(|| next.split(|c: char| !c.is_alphanumeric()).next()).unwrap_or("");
            let is = |unit: Unit| found.unit.is_none_or(|of| of == unit);
            match word {
                "%" | "percent" | "per cent" | "pct" | "percentage" if is(Unit::Percent) => {
                    found.unit = Some(Unit::Percent);
                }
                "point" | "points" if found.unit == Some(Unit::Percent) => {}
                "dollar" | "dollars" | "usd" if is(Unit::Dollar) => found.unit = Some(Unit::Dollar),
                "euro" | "euros" | "eur" if is(Unit::Euro) => found.unit = Some(Unit::Euro),
                "gbp" if is(Unit::Pound) => found.unit = Some(Unit::Pound),
                "thousand" | "thousands" if found.scale.is_none() => found.scale = Some(Scale::Thousand),
                "million" | "millions" if found.scale.is_none() => found.scale = Some(Scale::Million),
                "billion" | "billions" if found.scale.is_none() => found.scale = Some(Scale::Billion),
                _ => return found,
            }
            found.bytes += skipped + word.len();
        }
    }
}

/// Whether `wanted` stands in a text as a whole: not within a word, nor within a number.
pub(crate) fn stands_in(text: &str, wanted: &str) -> bool {
    place(text, wanted).is_some()
}

/// Where it does first.
pub(crate) fn place(text: &str, wanted: &str) -> Option<usize> {
    let apart = |(at, _): &(usize, &str)| {
        let (before, after) = (text.get(..*at).unwrap_or(""), text.get(at + wanted.len()..).unwrap_or(""));
        !joined(wanted.chars().next(), before.chars().rev()) && !joined(wanted.chars().next_back(), after.chars())
    };
    text.match_indices(wanted).find(apart).map(|(at, _)| at).filter(|_| !wanted.is_empty())
}

/// Whether what comes next belongs to the word or the number at whose edge it stands.
fn joined(edge: Option<char>, mut next: impl Iterator<Item = char>) -> bool {
    match (edge, next.next()) {
        (Some(edge), Some(c)) if edge.is_alphanumeric() && c.is_alphanumeric() => true,
        (Some(edge), Some('.' | ',')) if edge.is_ascii_digit() => next.next().is_some_and(|c| c.is_ascii_digit()),
        _ => false,
    }
}

/// Whether a word stands in one of some texts, in the singular or the plural.
pub(crate) fn word_stands(texts: &[&str], word: &str) -> bool {
    let singular = word.strip_suffix('s').filter(|singular| singular.len() > 2).unwrap_or(word);
    let plural = format!("{word}s");
    texts.iter().any(|text| [word, singular, &plural].into_iter().any(|word| stands_in(text, word)))
}

/// Whether a text names a unit, by its sign or in words.
pub(crate) fn names_unit(text: &str, unit: Unit) -> bool {
    let names: &[&str] = match unit {
        Unit::Percent => &["%", "percent", "per cent"],
        Unit::Dollar => &["$", "dollar", "usd"],
        Unit::Euro => &["€", "euro", "eur"],
        Unit::Pound => &["£", "pound", "gbp"],
    };
    let text = text.to_lowercase();
    names.iter().any(|name| match name.chars().all(char::is_alphabetic) {
        true => word_stands(&[text.as_str()], name) || text.contains("percentage") && unit == Unit::Percent,
        false => text.contains(name),
    })
}

#[cfg(test)]
mod tests {
    use super::{Said, names_unit, stands_in};
    use crate::quantity::{Scale, Unit};

    #[test]
    fn answers_are_read() {
        for (text, value, unit, scale) in [
            ("(12,760)", "-12760", None, None),
            ("(12)%", "-12", Some(Unit::Percent), None),
            ("-$5.0 million", "-5.0", Some(Unit::Dollar), Some(Scale::Million)),
            ("$ -5", "-5", Some(Unit::Dollar), None),
            ("€ -120", "-120", Some(Unit::Euro), None),
            ("- 7", "-7", None, None),
            ("a loss of -7", "-7", None, None),
            ("55.0", "55.0", None, None),
            ("12 %", "12", Some(Unit::Percent), None),
            ("2.5 percentage points", "2.5", Some(Unit::Percent), None),
            ("12 per cent.", "12", Some(Unit::Percent), None),
            ("1.2 billion dollars", "1.2", Some(Unit::Dollar), Some(Scale::Billion)),
            (".5", "0.5", None, None),
            ("net sales (2016)", "2016", None, None),
            ("in May-7", "7", None, None),
        ] {
            let said = Said::read(text);
            let [number] = said.numbers.as_slice() else { panic!("{text}: {said:?}") };
            let found = (number.value(), number.unit, number.scale);
            assert_eq!(found, (value.parse().unwrap(), unit, scale), "{text}");
        }
        let said = Said::read("In 2016, $1,234.50 and 12%.");
        assert_eq!(said.numbers.iter().map(|of| of.digits.as_str()).collect::<Vec<_>>(), ["2016", "1,234.50", "12"]);
        assert!(said.numbers.iter().all(|of| !of.negative) && said.telling_words().next().is_none(), "{said:?}");
        let said = Said::read("5 - 7 of the 10-K, Q4 2016-2017, € 12 %");
        assert!(said.numbers.iter().all(|of| !of.negative), "{said:?}");
        assert_eq!(said.telling_words().collect::<Vec<_>>(), ["k", "q4", "€"]);
        for none in ["", "none", "…", "10k", "99999999999999999999999999999999999"] {
            assert!(Said::read(none).numbers.is_empty(), "{none}");
        }
    }

    #[test]
    fn a_part_of_a_number_or_a_word_does_not_stand_there() {
        for (text, wanted) in
            [("$ 1,120", "120"), ("2.9", "2"), ("2.9", "9"), ("(12,760)", "760"), ("netto", "net"), ("a", "")]
        {
            assert!(!stands_in(text, wanted), "{wanted} in {text}");
        }
        for (text, wanted) in
            [("us$ 120", "$ 120"), ("in 2016, 120.", "2016"), ("in 2016, 120.", "120"), ("net loss", "net")]
        {
            assert!(stands_in(text, wanted), "{wanted} in {text}");
        }
    }

    #[test]
    fn units_are_named_by_sign_or_word() {
        assert!(names_unit("What percentage of it?", Unit::Percent) && names_unit("In US Dollars", Unit::Dollar));
        assert!(names_unit("€7", Unit::Euro) && !names_unit("7", Unit::Euro) && !names_unit("Europe", Unit::Euro));
    }
}
