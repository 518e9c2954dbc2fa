//! The spans of time that a question names: years, quarters, months and days, in ISO dates.

use std::ops::Range;

use tabsegnet_document::months::MONTHS;

use crate::compose::sketch::{DatePart, Operand, Relation};
use crate::linking::Words;

/// A span of time that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Period {
    /// The words that name it.
    pub words: Range<usize>,
    /// Its first day.
    pub from: String,
    /// The day after its last.
    pub to: String,
}

impl Period {
    /// What a column of dates is held to where the question says `relation` of the span.
    pub fn operand(&self, relation: Relation) -> Option<Operand> {
        let [from, to] = [&self.from, &self.to].map(|day| Some(day.clone()));
        match relation {
            Relation::Equal => Some(Operand::Within(from, to)),
            Relation::Above => Some(Operand::Within(to, None)),
            Relation::AtLeast => Some(Operand::Within(from, None)),
            Relation::Below => Some(Operand::Within(None, from)),
            Relation::AtMost => Some(Operand::Within(None, to)),
            Relation::Unequal | Relation::Like | Relation::Unlike => None,
        }
    }
}

/// The part of dates that a question wants a row of each for, "per month", "yearly", or wants one of, "which month"; with
/// the words that say so.
pub(super) fn per_part(question: &Words) -> Option<(DatePart, Range<usize>)> {
    let text = |at: usize| question.words.get(at).map_or("", |word| word.text.as_str());
    let part = |text: &str| match text {
        "year" | "years" => Some(DatePart::Year),
        "quarter" | "quarters" => Some(DatePart::Quarter),
        "month" | "months" => Some(DatePart::Month),
        "day" | "days" | "date" => Some(DatePart::Day),
        _ => None,
    };
    (0..question.words.len()).find_map(|at| match text(at) {
        "yearly" | "annually" => Some((DatePart::Year, at..at + 1)),
        "quarterly" => Some((DatePart::Quarter, at..at + 1)),
        "monthly" => Some((DatePart::Month, at..at + 1)),
        "daily" => Some((DatePart::Day, at..at + 1)),
        "per" | "by" | "each" | "every" | "which" | "what" | "calendar" => {
            let part = part(text(at + 1))?;
            let opens = |back: usize| at.checked_sub(back).map_or("", text);
            let start = match (opens(2), opens(1), text(at)) {
                (_, "in" | "for" | "of", "each" | "every") => at - 1,
                _ => at,
            };
            Some((part, start..at + 2))
        }
        _ => None,
    })
}

/// Ordinals of quarters.
const ORDINALS: [[&str; 2]; 4] = [["first", "1st"], ["second", "2nd"], ["third", "3rd"], ["fourth", "4th"]];

/// The spans that a question names, in its order; two that "between … and" or "from … to" join are one.
pub(crate) fn periods(question: &Words) -> Vec<Period> {
    let texts: Vec<&str> = question.words.iter().map(|word| word.text.as_str()).collect();
    let mut found: Vec<Period> = Vec::new();
    let mut at = 0;
    while at < texts.len() {
        match period_at(&texts, at) {
            Some(mut period) => {
                at = period.words.end;
                period.words.start = start_of(&texts, period.words.start);
                found.push(period);
            }
            None => at += 1,
        }
    }
    joined(found, &texts)
}

/// Where "the start of 2024" begins, which is 2024 where it is said "since" or "before".
fn start_of(texts: &[&str], at: usize) -> usize {
    let before = |back: usize| at.checked_sub(back).and_then(|at| texts.get(at)).copied().unwrap_or_default();
    match (before(3), before(2), before(1)) {
        ("the", "start" | "beginning" | "end", "of") => at - 3,
        (_, "start" | "beginning" | "end", "of") => at - 2,
        _ => at,
    }
}

fn joined(found: Vec<Period>, texts: &[&str]) -> Vec<Period> {
    let mut all: Vec<Period> = Vec::new();
    for mut next in found {
        // "Between January and March 2024": the first month is of the same year.
        let before = |back: usize| next.words.start.checked_sub(back).and_then(|at| texts.get(at)).copied();
        let joins = matches!((before(3), before(1)), (Some("between"), Some("and")) | (Some("from"), Some("to")));
        if let Some(month) = before(2).filter(|_| joins).and_then(month)
            && let Some(year) = next.from.get(..4)
        {
            let from = format!("{year}-{month:02}-01");
            if from < next.to {
                next = Period { words: next.words.start - 3..next.words.end, from, to: next.to };
            }
        }
        let between = |last: &Period| {
            let opening = last.words.start.checked_sub(1).and_then(|at| texts.get(at)).copied();
            let middle = texts.get(last.words.end..next.words.start).unwrap_or_default();
            matches!((opening, middle), (Some("between"), ["and"]) | (Some("from"), ["to" | "until" | "through"]))
        };
        match all.last_mut().filter(|last| between(last) && last.from < next.to) {
            Some(last) => {
                last.words = last.words.start - 1..next.words.end;
                last.to = next.to;
            }
            None => all.push(next),
        }
    }
    all
}

fn period_at(texts: &[&str], at: usize) -> Option<Period> {
    let text = |more: usize| texts.get(at + more).copied().unwrap_or_default();
    // A year behind "of" too: "March of 2024".
    let year_behind = |more: usize| {
        let more = more + usize::from(text(more) == "of");
        Some((year(text(more))?, at + more + 1))
    };
    let of = |end: usize, from: (u32, u32, u32), to: (u32, u32, u32)| {
        let iso = |(year, month, day): (u32, u32, u32)| format!("{year:04}-{month:02}-{day:02}");
        Some(Period { words: at..end, from: iso(from), to: iso(to) })
    };
    let of_day = |end: usize, year: u32, month: u32, day: u32| {
        let last = last_day(year, month);
        let next = if day == last { after(year, month, 1) } else { (year, month, day + 1) };
        (1..=last).contains(&day).then(|| of(end, (year, month, day), next))?
    };
    let of_quarter = |quarter: u32, (year, end): (u32, usize)| {
        let first = 3 * quarter - 2;
        of(end, (year, first, 1), after(year, first, 3))
    };
    if let Some(month) = month(text(0)) {
        // March 5, 2024; March 2024.
        if let (Some(day), Some(year)) = (day(text(1)), year(text(2))) {
            return of_day(at + 3, year, month, day);
        }
        let (year, end) = year_behind(1)?;
        return of(end, (year, month, 1), after(year, month, 1));
    }
    if let (Some(day), Some(month), Some(year)) = (day(text(0)), month(text(1)), year(text(2))) {
        return of_day(at + 3, year, month, day);
    }
    if let Some(quarter) = text(0).strip_prefix('q').and_then(|number| number.parse::<u32>().ok())
        && (1..=4).contains(&quarter)
    {
        return of_quarter(quarter, year_behind(1)?);
    }
    // Words part letters from digits: "Q2".
    if text(0) == "q"
        && let Some(quarter) = text(1).parse::<u32>().ok().filter(|quarter| (1..=4).contains(quarter))
    {
        return of_quarter(quarter, year_behind(2)?);
    }
    if text(1) == "quarter"
        && let Some(quarter) = (1..).zip(ORDINALS).find(|(_, names)| names.contains(&text(0))).map(|(number, _)| number)
    {
        return of_quarter(quarter, year_behind(2)?);
    }
    let year = year(text(0))?;
    // 2024-03-05
    if let (Some(month), Some(day)) = (two_digits(text(1), 12), two_digits(text(2), 31)) {
        return of_day(at + 3, year, month, day);
    }
    of(at + 1, (year, 1, 1), (year + 1, 1, 1))
}

/// The first day of the month that is so many months later.
fn after(year: u32, month: u32, months: u32) -> (u32, u32, u32) {
    let month = month + months;
    if month > 12 { (year + 1, month - 12, 1) } else { (year, month, 1) }
}

fn last_day(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn year(text: &str) -> Option<u32> {
    text.parse().ok().filter(|year| text.len() == 4 && (1800..2200).contains(year))
}

fn day(text: &str) -> Option<u32> {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    number.parse().ok().filter(|day| (1..=31).contains(day))
}

fn two_digits(text: &str, most: u32) -> Option<u32> {
    text.parse().ok().filter(|number| text.len() == 2 && (1..=most).contains(number))
}

fn month(text: &str) -> Option<u32> {
    (1..).zip(MONTHS).find(|(_, month)| *month == text || month.get(..3) == Some(text)).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_of_dates_are_found() {
        let of = |question: &str| per_part(&Words::of(question));
        assert_eq!(of("How many orders per month in 2024?"), Some((DatePart::Month, 3..5)));
        assert_eq!(of("Number of policies started in each year"), Some((DatePart::Year, 4..7)));
        assert_eq!(of("Monthly revenue"), Some((DatePart::Month, 0..1)));
        assert_eq!(of("Which quarter had the most orders?"), Some((DatePart::Quarter, 0..2)));
        assert_eq!(of("How many days per order?"), None);
    }

    #[test]
    fn the_start_of_a_span_is_its_own() {
        let found = periods(&Words::of("flights cancelled since the start of 2024"));
        assert_eq!((found[0].words.clone(), found[0].from.as_str()), (3..7, "2024-01-01"));
    }

    #[test]
    fn spans_are_found() {
        let spans = |question: &str| -> Vec<[String; 2]> {
            periods(&Words::of(question)).into_iter().map(|period| [period.from, period.to]).collect()
        };
        for (question, from, to) in [
            ("orders in March 2024?", "2024-03-01", "2024-04-01"),
            ("orders in Dec of 2023", "2023-12-01", "2024-01-01"),
            ("orders of 2022", "2022-01-01", "2023-01-01"),
            ("orders in the second quarter of 2023", "2023-04-01", "2023-07-01"),
            ("orders in Q4 2023", "2023-10-01", "2024-01-01"),
            ("orders on February 29, 2024", "2024-02-29", "2024-03-01"),
            ("orders on 31 December 2023", "2023-12-31", "2024-01-01"),
            ("orders on 2024-03-05", "2024-03-05", "2024-03-06"),
            ("orders between January and March 2024", "2024-01-01", "2024-04-01"),
            ("orders between 2021 and 2023", "2021-01-01", "2024-01-01"),
            ("orders from May 2022 to June 2022", "2022-05-01", "2022-07-01"),
        ] {
            assert_eq!(spans(question), [[from.to_owned(), to.to_owned()]], "{question}");
        }
        assert_eq!(spans("orders in 2021 and in 2022").len(), 2);
        for none in ["may 5 orders", "orders over 500", "February 30", ""] {
            assert_eq!(spans(none), Vec::<[String; 2]>::new(), "{none}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(text in "(between |q|first quarter |march |31 |29 |2023-|02-|2024 |and |of ){0,8}") {
            for period in periods(&Words::of(&text)) {
                prop_assert!(period.from < period.to);
            }
        }
    }
}
