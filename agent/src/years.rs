//! The years that a text names.

use rust_decimal::Decimal;
use tabsegnet_document::months::MONTHS;
use tabsegnet_lexical::fiscal::{WITHIN, day_of_year};

/// Whether digits look like a year of a report.
pub(crate) fn is_year(digits: &str) -> bool {
    digits.len() == 4 && digits.parse::<u16>().is_ok_and(|year| (1980..=2045).contains(&year))
}

/// The years in a text, in its order, with the byte where each begins; `FY19` is 2019, `2015-17` counts 2015 only,
/// `2010s` none.
pub(crate) fn years(text: &str) -> Vec<(u16, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_ascii_digit(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let digits = text.get(from..at).unwrap_or("");
                let before = text.get(..from).unwrap_or("").trim_end();
                let money = before.ends_with(['$', '€', '£']);
                let amount = text.get(at..).is_some_and(|after| after.starts_with(",0"));
                let alone = digits.len() == 4 && !money && !amount && c != 's';
                // `december 312007` of texts that lost what stood between.
                let behind_day = (5..=6).contains(&digits.len()) && is_month(&last_word(before));
                let last_four = digits.get(digits.len().saturating_sub(4)..).unwrap_or("");
                if is_year(last_four) && (alone || behind_day) {
                    found.extend(last_four.parse().ok().map(|year| (year, at - 4)));
                } else if digits.len() == 2 && last_word(before).ends_with("fy") {
                    found.extend(digits.parse::<u16>().ok().map(|year| (2000 + year, from)));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// The day on which a fiscal year ends that is named after the year before: a retailer's fiscal 2024 ends on February 2, 2025.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FiscalEnd(u16);

impl FiscalEnd {
    /// As a question is read that names a year, with the day behind it in brackets.
    pub fn of(question: &str, read_as: &str) -> Option<Self> {
        let (_, day) = read_as.rsplit_once('(')?;
        let (day, _) = day.split_once(')')?;
        let [(year, at)] = years(day)[..] else { return None };
        let is_named = years(question).iter().any(|(named, _)| named + 1 == year);
        is_named.then(|| day_before(day, at)).flatten().map(Self)
    }

    /// The years that a text names, each day on which such a fiscal year ends as that year.
    pub fn years(end: Option<Self>, text: &str) -> Vec<(u16, usize)> {
        let mut found = years(text);
        let Some(Self(end)) = end else { return found };
        for (year, at) in &mut found {
            if day_before(text, *at).is_some_and(|day| day.abs_diff(end) <= WITHIN) {
                *year -= 1;
            }
        }
        found
    }
}

/// The days since the year began, about, of the day that stands before a byte: `february 2, `.
fn day_before(text: &str, at: usize) -> Option<u16> {
    let before = text.get(..at)?.trim_end_matches([',', ' ', '\u{a0}']);
    let number = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    let word = last_word(before.strip_suffix(number)?.trim_end());
    let month = MONTHS.iter().position(|month| *month == word)?;
    number.parse::<u16>().ok().filter(|day| (1..=31).contains(day)).map(|day| day_of_year(month, day))
}

pub(crate) fn is_month(word: &str) -> bool {
    word == "sept" || MONTHS.iter().any(|month| *month == word || month.get(..3) == Some(word))
}

/// The letters that a text ends with, in lower case.
pub(crate) fn last_word(text: &str) -> String {
    text.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or("").to_lowercase()
}

/// Each once, in the text's order.
pub(crate) fn named_years(text: &str) -> Vec<u16> {
    let mut named = Vec::new();
    for (year, _) in years(text) {
        if !named.contains(&year) {
            named.push(year);
        }
    }
    named
}

/// Whether a number may be a year, of more than those that part years from amounts ([`is_year`]): where a date is looked for.
pub(crate) fn may_be_year(number: Decimal) -> bool {
    number.is_integer() && (Decimal::from(1900)..Decimal::from(2100)).contains(&number)
}

/// What a header says whose cells are dates; a year in it says that they are of that year.
const OF_DATES: [&str; 9] = ["date", "year", "expir", "matur", "since", "founded", "opened", "born", "built"];

/// Whether a cell is a year that a header says it tells, and no amount: `2034` below `Maturity`.
pub(crate) fn is_date<'h>(cell: &str, headers: impl IntoIterator<Item = &'h str>) -> bool {
    let digits = cell.trim();
    let is_year = digits.len() == 4 && digits.parse().is_ok_and(may_be_year);
    let tells = |header: &str| {
        let innermost = header.rsplit(" > ").next().unwrap_or_default().to_lowercase();
        OF_DATES.iter().any(|of| innermost.contains(of)) && years(&innermost).is_empty()
    };
    is_year && headers.into_iter().any(tells)
}

#[cfg(test)]
mod tests {
    use super::{FiscalEnd, years};

    #[test]
    fn a_day_may_be_of_the_fiscal_year_before() {
        let question = "goodwill at the end of fiscal 2024?";
        let end = FiscalEnd::of(question, "goodwill at the end of fiscal 2024 (February 2, 2025)?");
        let of = |text: &str| FiscalEnd::years(end, text).into_iter().map(|(year, _)| year).collect::<Vec<_>>();
        assert_eq!(of("february 2, 2025 and january 28, 2024; fiscal 2025, march 31, 2025"), [2024, 2023, 2025, 2025]);
        for read_as in [question, "goodwill (net) at the end of 2024", "goodwill at the end of 2024 (February 2, 2023)"]
        {
            assert_eq!(FiscalEnd::of(question, read_as), None);
        }
        assert_eq!(FiscalEnd::years(None, "february 2, 2025"), [(2025, 12)]);
    }

    #[test]
    fn regression_many_short_numbers_are_read_in_time() {
        let started = std::time::Instant::now();
        assert_eq!(years(&"and 12 ".repeat(200_000)), []);
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }

    #[test]
    fn years_are_neither_amounts_nor_decades() {
        let named = |text: &str| years(text).into_iter().map(|(year, _)| year).collect::<Vec<_>>();
        assert_eq!(named("for december 312007 and 2006, in the 2010s, $ 2,014 and 2,000"), [2007, 2006]);
        assert_eq!(named("the company 2019s plan, FY19, year 312007"), [2019]);
    }
}
