//! The fiscal years of a report: which one "last year" is, and on which day one ends that is named after the year before. A
//! retailer's fiscal 2024 ends on February 2, 2025, and its balance sheets say that day alone.

use std::collections::BTreeMap;

use tabsegnet_document::months::MONTHS;

use crate::periods::{is_year, year_at};
use crate::tokenize;

/// What stands before the day on the cover of a report, and among how many texts of a document the cover is.
const ENDED: &str = "fiscal year ended";
const COVER: usize = 300;

/// Texts longer than this are not looked through for days.
const LONGEST: usize = 200;

/// The months, by their places, in which a fiscal year may end that is named after the year before.
const EARLY: std::ops::Range<usize> = 0..3;

/// Days that the ends of a fiscal year of 52 or 53 weeks differ by.
pub const WITHIN: u16 = 10;

/// Words of a question that wants what was at the end of a year.
const AT_END: [&str; 8] = ["end", "ended", "ends", "ending", "close", "closed", "closing", "balance"];

/// The last year that a report is about, the longer ones first.
const LAST: [&str; 12] = [
    "the most recent fiscal year", "most recent fiscal year", "the most recent year", "the latest fiscal year",
    "the last fiscal year", "the past fiscal year", "this past fiscal year", "last fiscal year", "the latest year",
    "the last year", "the past year", "last year",
];

/// Before "last year" in a question that compares another year with it.
const THAN: [&str; 8] = ["than", "vs", "versus", "with", "to", "against", "from", "over"];

/// Days since the year began, about; `month` is its place in [`MONTHS`].
pub fn day_of_year(month: usize, day: u16) -> u16 {
    31 * month as u16 + day
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Day {
    year: u16,
    /// Its place in [`MONTHS`].
    month: usize,
    day: u16,
}

impl Day {
    /// Days since the year began, about.
    fn of_year(self) -> u16 {
        day_of_year(self.month, self.day)
    }

    fn all(text: &str) -> Vec<Self> {
        let tokens = tokenize(text);
        let days = tokens.windows(3).filter_map(|date| {
            let month = MONTHS.iter().position(|month| *month == date[0])?;
            let day = date[1].parse().ok().filter(|day| (1..=31).contains(day))?;
            let year = date[2].parse().ok().filter(|_| is_year(&date[2]))?;
            Some(Self { year, month, day })
        });
        days.collect()
    }
}

/// What a report calls its fiscal years.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FiscalYears {
    /// The one that it is about.
    last: Option<u16>,
    /// The days on which they end, where those are of the year after.
    ends: BTreeMap<u16, Day>,
}

impl FiscalYears {
    /// As a document's texts have it: its cover says on which day the fiscal year ended, which is named after the year before
    /// where the document calls that one fiscal more than twice as often. Without such a cover nothing is known.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str> + Clone) -> Self {
        let Some(end) = on_cover(texts.clone()) else { return Self::default() };
        let before = end.year - 1;
        if !EARLY.contains(&end.month) {
            return Self { last: Some(end.year), ends: BTreeMap::new() };
        }
        let (mut called, mut called_before) = (0, 0);
        for text in texts.clone() {
            for year in named(&tokenize(text)) {
                called += usize::from(year == end.year);
                called_before += usize::from(year == before);
            }
        }
        if called_before <= 2 * called {
            return Self { last: Some(end.year), ends: BTreeMap::new() };
        }
        let mut days: BTreeMap<u16, BTreeMap<Day, usize>> = BTreeMap::new();
        for text in texts.into_iter().filter(|text| text.len() <= LONGEST) {
            for day in Day::all(text).into_iter().filter(|day| day.of_year().abs_diff(end.of_year()) <= WITHIN) {
                *days.entry(day.year - 1).or_default().entry(day).or_default() += 1;
            }
        }
        let most = |of_year: BTreeMap<Day, usize>| of_year.into_iter().max_by_key(|(_, times)| *times);
        let ends = days.into_iter().filter_map(|(year, of_year)| Some((year, most(of_year)?.0)));
        Self { last: Some(before), ends: ends.collect() }
    }

    /// A question with the number of the year that it calls the last, where it names none and compares none with it; `None`
    /// for others.
    pub fn with_last(&self, question: &str) -> Option<String> {
        let last = self.last?;
        let lower = question.to_ascii_lowercase();
        let tokens = tokenize(&lower);
        if named(&tokens).next().is_some() || tokens.iter().any(|token| is_year(token)) || lower.contains("this year") {
            return None;
        }
        let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let found = LAST.iter().find_map(|phrase| Some((lower.find(phrase)?, phrase.len())));
        let (at, length) = found.filter(|(at, length)| {
            !joins(lower[..*at].chars().next_back()) && !joins(lower[at + length..].chars().next())
        })?;
        let before = tokenize(&lower[..at]);
        // "over the last year" is during it.
        let compared =
            before.last().is_some_and(|word| THAN.contains(&word.as_str()) && (word != "over" || length == 9));
        let fiscal = if self.ends.contains_key(&last) { "fiscal " } else { "" };
        (!compared).then(|| format!("{}{fiscal}{last}{}", &question[..at], &question[at + length..]))
    }

    /// A question about the end of a fiscal year, with its day behind it; `None` for others.
    pub fn dated(&self, question: &str) -> Option<String> {
        if self.ends.is_empty() {
            return None;
        }
        let tokens = tokenize(question);
        let [fiscal] = named(&tokens).collect::<Vec<_>>()[..] else { return None };
        let Day { year, month, day } = *self.ends.get(&fiscal)?;
        let said = tokens.iter().any(|token| *token == year.to_string());
        if said || !tokens.iter().any(|token| AT_END.contains(&token.as_str())) {
            return None;
        }
        let text = question.trim_end();
        let words = text.trim_end_matches(['?', '.', '!', ' ']);
        let mut name = MONTHS.get(month)?.to_string();
        name[..1].make_ascii_uppercase();
        Some(format!("{words} ({name} {day}, {year}){}", &text[words.len()..]))
    }
}

/// The day on which the fiscal year ended by a document's cover, in one text or in the next.
fn on_cover<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Day> {
    let mut texts = texts.into_iter().take(COVER);
    while let Some(text) = texts.next() {
        let lower = text.to_ascii_lowercase();
        if let Some(at) = lower.find(ENDED) {
            let day = Day::all(&lower[at..]).first().copied();
            return day.or_else(|| Day::all(texts.next()?).first().copied());
        }
    }
    None
}

/// The years that tokens call fiscal: `fiscal 2024`, `fiscal year 2024`, `FY24`.
fn named(tokens: &[String]) -> impl Iterator<Item = u16> {
    let fiscal = |at: usize| {
        let before = |back: usize| at.checked_sub(back).map_or("", |before| tokens[before].as_str());
        matches!((before(2), before(1)), (_, "fiscal" | "fy") | ("fiscal", "year"))
    };
    (0..tokens.len()).filter(move |&at| fiscal(at)).filter_map(|at| year_at(tokens, at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHOP: [&str; 7] = [
        "For the fiscal year ended February 2, 2025",
        "In fiscal 2024 we sold more than in fiscal 2023.",
        "Fiscal 2024",
        "FY24, fiscal year 2024",
        "We expect fiscal 2025 to be better.",
        "February 2, 2025",
        "January 28, 2024",
    ];

    #[test]
    fn the_end_of_a_fiscal_year_has_its_day() {
        let shop = FiscalYears::of(SHOP);
        for (question, dated) in [
            ("Inventories at the end of fiscal 2024?", "Inventories at the end of fiscal 2024 (February 2, 2025)?"),
            ("When FY23 closed: debt", "When FY23 closed: debt (January 28, 2024)"),
        ] {
            assert_eq!(shop.dated(question).as_deref(), Some(dated));
        }
        for question in [
            "Sales in fiscal 2024?",
            "Debt at the end of 2024",
            "Cash at the end of fiscal 2024 and of fiscal 2023?",
            "",
        ] {
            assert_eq!(shop.dated(question), None, "{question}");
        }
    }

    #[test]
    fn a_year_named_after_the_one_in_which_it_ends_has_none() {
        let mut texts = SHOP;
        texts[1] = "In fiscal 2025 we sold more than in fiscal 2024; fiscal 2025 was good.";
        assert_eq!(FiscalYears::of(texts), FiscalYears { last: Some(2025), ends: BTreeMap::new() });
        let texts = ["For the Fiscal Year Ended", "December 31, 2024", "fiscal 2023", "fiscal 2023"];
        assert_eq!(FiscalYears::of(texts), FiscalYears { last: Some(2024), ends: BTreeMap::new() });
        assert_eq!(FiscalYears::of(["Year ended December 31, 2024"]), FiscalYears::default());
    }

    #[test]
    fn the_last_year_has_its_number() {
        let shop = FiscalYears::of(SHOP);
        for (question, read) in [
            ("Tax paid last year, and the year before?", "Tax paid fiscal 2024, and the year before?"),
            ("Last Year's top line", "fiscal 2024's top line"),
            ("Sales over the last fiscal year", "Sales over fiscal 2024"),
        ] {
            assert_eq!(shop.with_last(question).as_deref(), Some(read));
        }
        for question in [
            "Sales in 2023 and last year", "Sales this year and last year", "How do sales compare with last year?",
            "Sales up over last year?", "At last years", "Sales?",
        ] {
            assert_eq!(shop.with_last(question), None, "{question}");
        }
        assert_eq!(FiscalYears::default().with_last("Sales last year"), None);
    }

    proptest! {
        #[test]
        fn any_texts_are_read(text in "\\PC{0,40}|(fiscal|year|ended|march|[0-9]{1,6}|[ ,])*", question in "\\PC{0,40}") {
            let years = FiscalYears::of([text.as_str(), "fiscal year ended march 1, 2000"]);
            let _ = (years.dated(&question), years.with_last(&format!("{question} last year {text}")));
        }
    }
}
