//! The years that a text names.

use rust_decimal::Decimal;
use tabsegnet_document::months::MONTHS;

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
                } else if digits.len() == 2 && before.to_lowercase().ends_with("fy") {
                    found.extend(digits.parse::<u16>().ok().map(|year| (2000 + year, from)));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
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
    use super::years;

    #[test]
    fn years_are_neither_amounts_nor_decades() {
        let named = |text: &str| years(text).into_iter().map(|(year, _)| year).collect::<Vec<_>>();
        assert_eq!(named("for december 312007 and 2006, in the 2010s, $ 2,014 and 2,000"), [2007, 2006]);
        assert_eq!(named("the company 2019s plan, FY19, year 312007"), [2019]);
    }
}
