//! The numbers that a page tags for machines (inline XBRL): what each is, and where it stands.

use std::collections::BTreeMap;

use crate::numbers::parse_number;

/// All tagged numbers of a document with the contexts and units they refer to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Tagged numbers in document order.
    pub numbers: Vec<Fact>,
    /// Contexts by their ids.
    pub contexts: BTreeMap<String, Context>,
    /// Units by their ids.
    pub units: BTreeMap<String, Unit>,
    /// What the page says of itself (`dei:…`), in document order.
    pub about: Vec<About>,
}

/// A tagged text about the document or its filer (`ix:nonNumeric` of the namespace `dei`), such as
/// `dei:DocumentFiscalYearFocus`: 2024.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The concept with its prefix.
    pub name: String,
    /// Id of the context; see [`Facts::contexts`].
    pub context: String,
    /// The text shown.
    pub text: String,
}

/// One tagged number (`ix:nonFraction`).
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The concept with its prefix, such as `us-gaap:Revenues`.
    pub name: String,
    /// Id of the context; see [`Facts::contexts`].
    pub context: String,
    /// Id of the unit; see [`Facts::units`].
    pub unit: Option<String>,
    /// The text shown times 10 to this power is the value.
    pub scale: i32,
    /// The value is the negative of what is shown (`sign="-"`).
    pub negative: bool,
    /// To how many decimals the value is right, as written: an integer or `INF`.
    pub decimals: Option<String>,
    /// How the text is to be read, such as `ixt:num-dot-decimal`.
    pub format: Option<String>,
    /// The fact has no value (`xsi:nil`).
    pub nil: bool,
    /// The text shown.
    pub text: String,
    /// Where it stands.
    pub place: FactPlace,
    /// Whether it stands inside a `<table>` of the page, whatever that was read as.
    pub in_table: bool,
}

/// Where in the document a tagged number stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactPlace {
    /// In a passage, by the index of its node id.
    Passage(usize),
    /// In a cell.
    Cell {
        /// The table's number.
        table: usize,
        /// Grid row of the cell's top-left position.
        row: usize,
        /// Grid column of it.
        col: usize,
    },
    /// In a table's caption, by the table's number.
    Caption(usize),
    /// Nowhere in the document: the page hides it, or it stood in what a limit cut off.
    Hidden,
}

/// What a number is about (`xbrli:context`).
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// Who files: for the SEC the Central Index Key, such as `0001045810`.
    pub entity: String,
    /// The time.
    pub period: Period,
    /// Axis and member of each dimension, in the order written.
    pub dimensions: Vec<Dimension>,
}

/// One dimension of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// The axis, such as `us-gaap:StatementBusinessSegmentsAxis`.
    pub axis: String,
    /// The member, or the text of a typed one.
    pub member: String,
}

/// A point or a span of time; dates as written, `2024-12-31`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Period {
    /// At the end of a day.
    Instant(String),
    /// From the start of the first day to the end of the last.
    Duration {
        /// The first day.
        start: String,
        /// The last day.
        end: String,
    },
    /// Always, or not said.
    Forever,
}

/// A unit: measures, and for a ratio those below the line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unit {
    /// Such as `iso4217:USD`.
    pub measures: Vec<String>,
    /// Such as `xbrli:shares` for an amount a share.
    pub per: Vec<String>,
}

impl Fact {
    /// The tagged value; `None` for a nil fact and for a format that is not known.
    pub fn value(&self) -> Option<f64> {
        if self.nil {
            return None;
        }
        let shown = self.shown()?;
        Some(self.apply(shown))
    }

    /// A number that the page shows, with the fact's scale and sign.
    pub fn apply(&self, shown: f64) -> f64 {
        let value = shown.abs() * 10f64.powi(self.scale);
        if self.negative { -value } else { value }
    }

    /// The number shown, read as the format says. Formats are known by the end of their name:
    /// the registry's versions differ in the prefix and in hyphens only.
    fn shown(&self) -> Option<f64> {
        let format = self.format.as_deref().unwrap_or("").rsplit(':').next().unwrap_or("").replace('-', "");
        match format.as_str() {
            "" | "numdotdecimal" | "numdotdecimalin" | "numunitdecimal" => parse_number(&self.text),
            "numcommadecimal" | "numcommadot" => parse_number(&self.text.replace('.', "").replace(',', ".")),
            "fixedzero" | "zerodash" | "numdash" => Some(0.0),
            "numwordsen" => number_in_words(&self.text),
            _ => None,
        }
    }
}

/// `twelve`, `twenty-five`, `no`; up to a hundred and its multiples.
pub fn number_in_words(text: &str) -> Option<f64> {
    #[rustfmt::skip]
    const SMALL: [&str; 20] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let text = text.trim().to_lowercase();
    if ["no", "none", "nil"].contains(&text.as_str()) {
        return Some(0.0);
    }
    let (mut total, mut group) = (0.0, None);
    for word in text.split([' ', '-', '\u{a0}']).filter(|word| !word.is_empty() && *word != "and") {
        let small = SMALL.iter().position(|small| *small == word).map(|index| index as f64);
        let tens = TENS.iter().position(|tens| *tens == word).map(|index| (index as f64 + 2.0) * 10.0);
        match (small.or(tens), word) {
            (Some(number), _) => group = Some(group.unwrap_or(0.0) + number),
            (None, "hundred") => group = Some(group.unwrap_or(1.0) * 100.0),
            (None, "thousand") => total += group.take().unwrap_or(1.0) * 1e3,
            (None, "million") => total += group.take().unwrap_or(1.0) * 1e6,
            (None, "billion") => total += group.take().unwrap_or(1.0) * 1e9,
            _ => return None,
        }
    }
    (total > 0.0 || group.is_some()).then_some(total + group.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(text: &str, format: &str, scale: i32, negative: bool) -> Fact {
        Fact {
            name: "us-gaap:Assets".into(),
            context: "c".into(),
            unit: None,
            scale,
            negative,
            decimals: None,
            format: Some(format.into()).filter(|format: &String| !format.is_empty()),
            nil: false,
            text: text.into(),
            place: FactPlace::Hidden,
            in_table: false,
        }
    }

    #[test]
    fn values() {
        assert_eq!(fact("1,234.5", "ixt:num-dot-decimal", 3, true).value(), Some(-1_234_500.0));
        assert_eq!(fact("1.234,5", "ixt:numcommadecimal", 0, false).value(), Some(1234.5));
        assert_eq!(fact("—", "ixt:fixed-zero", 6, false).value(), Some(0.0));
        assert_eq!(fact("twenty-five", "ixt-sec:numwordsen", 0, false).value(), Some(25.0));
        assert_eq!(fact("12", "", 0, false).value(), Some(12.0));
        assert_eq!(fact("12", "ixt:unheard-of", 0, false).value(), None);
        assert_eq!(Fact { nil: true, ..fact("12", "", 0, false) }.value(), None);
    }

    #[test]
    fn words() {
        for (words, number) in [("three", 3.0), ("one hundred and five", 105.0), ("Two thousand", 2000.0), ("no", 0.0)]
        {
            assert_eq!(number_in_words(words), Some(number), "{words}");
        }
        assert_eq!(number_in_words("several"), None);
        assert_eq!(number_in_words(""), None);
    }
}
