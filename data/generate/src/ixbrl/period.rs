//! When a fact holds, and how people say it.

use std::fmt;

use tabsegnet_document::facts::{Facts, Period};
use tabsegnet_document::months::MONTHS;

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Date {
    pub year: i32,
    pub month: u32,
    pub day: u32,
}

impl Date {
    /// `2024-12-31`, with or without a time of the day behind it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().get(..10)?.splitn(3, '-');
        let mut number = || parts.next()?.parse::<u32>().ok();
        let (year, month, day) = (number()?, number()?, number()?);
        let known = (1900..=2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        known.then_some(Self { year: year as i32, month, day })
    }

    /// Days since 0000-03-01 (proleptic), so that differences are days.
    pub fn days(self) -> i64 {
        let (year, month) = (i64::from(self.year), i64::from(self.month));
        let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + i64::from(self.day) - 1
    }

    /// The last day of a calendar year.
    fn ends_year(self) -> bool {
        (self.month, self.day) == (12, 31)
    }
}

impl fmt::Display for Date {
    /// `January 26, 2025`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, rest) =
            MONTHS.get(self.month as usize - 1).and_then(|name| name.split_at_checked(1)).unwrap_or_default();
        write!(f, "{}{rest} {}, {}", first.to_uppercase(), self.day, self.year)
    }
}

/// How a filer numbers its years.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calendar {
    /// The last day of one of its fiscal years, and that year's number.
    year_end: Option<(Date, i32)>,
}

impl Calendar {
    /// From the fiscal year that the page says it reports on, `dei:DocumentFiscalYearFocus`, and
    /// the period it says that of. Nothing where that is no whole year, as in quarterly reports.
    pub fn of(facts: &Facts) -> Self {
        let year_end =
            facts.about.iter().filter(|about| about.name == "dei:DocumentFiscalYearFocus").find_map(|about| {
                let number: i32 = about.text.parse().ok()?;
                match Span::of(&facts.contexts.get(&about.context)?.period)? {
                    Span::Year(end) if (end.year - number).abs() <= 1 => Some((end, number)),
                    _ => None,
                }
            });
        Self { year_end }
    }

    /// The number of the fiscal year that ends on a day. Years of 52 and 53 weeks end on other days
    /// of the month each.
    pub fn year_ending(&self, day: Date) -> Option<i32> {
        let (end, number) = match self.year_end {
            Some(known) if !self.is_calendar() => known,
            _ => return day.ends_year().then_some(day.year),
        };
        let between = end.days() - day.days();
        let years = (between as f64 / 365.25).round();
        ((between as f64 - years * 365.25).abs() <= 9.0).then_some(number - years as i32)
    }

    /// Whether fiscal years are calendar years, or not known.
    fn is_calendar(&self) -> bool {
        self.year_end.is_none_or(|(end, number)| end.ends_year() && end.year == number)
    }

    /// Which quarter of which fiscal year ends on a day.
    fn quarter_ending(&self, day: Date) -> Option<(usize, i32)> {
        let (end, number) = self.year_end?;
        let between = (end.days() - day.days()) as f64;
        let quarters = (between / 91.3125).round();
        if (between - quarters * 91.3125).abs() > 9.0 {
            return None;
        }
        let quarters = quarters as i32;
        let years = quarters.div_euclid(4);
        Some((4 - quarters.rem_euclid(4) as usize, number - years))
    }
}

/// When a fact holds, of the kinds that questions are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Span {
    /// At the end of a day.
    At(Date),
    /// The year that ends on a day.
    Year(Date),
    /// So many months that end on a day: 3, 6 or 9.
    Months(u32, Date),
}

impl Span {
    /// `None` for spans that are neither years nor quarters, and for days that are none.
    pub fn of(period: &Period) -> Option<Self> {
        match period {
            Period::Instant(day) => Some(Self::At(Date::parse(day)?)),
            Period::Duration { start, end } => {
                let (start, end) = (Date::parse(start)?, Date::parse(end)?);
                match end.days() - start.days() + 1 {
                    350..=380 => Some(Self::Year(end)),
                    84..=98 => Some(Self::Months(3, end)),
                    175..=190 => Some(Self::Months(6, end)),
                    266..=281 => Some(Self::Months(9, end)),
                    _ => None,
                }
            }
            Period::Forever => None,
        }
    }

    /// The last day.
    pub fn end(self) -> Date {
        match self {
            Self::At(day) | Self::Year(day) | Self::Months(_, day) => day,
        }
    }

    /// Whether two spans are of one length.
    pub fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::Months(a, _), Self::Months(b, _)) => a == b,
            _ => std::mem::discriminant(&self) == std::mem::discriminant(&other),
        }
    }

    /// Ways to say it: a preposition, and what it stands before. There is always one.
    pub fn names(self, calendar: &Calendar) -> Vec<(&'static str, String)> {
        let year = calendar.year_ending(self.end());
        let plain = calendar.is_calendar();
        let end = self.end();
        let mut names = Vec::new();
        match (self, year) {
            (Self::Year(_), Some(year)) if plain => {
                names.extend([("in", format!("{year}")), ("for", format!("{year}")), ("in", format!("fiscal {year}"))]);
                names.push(("for", format!("the year ended {end}")));
            }
            (Self::Year(_), Some(year)) => {
                names.extend([("in", format!("fiscal {year}")), ("for", format!("fiscal year {year}"))]);
                names.push(("for", format!("the fiscal year ended {end}")));
            }
            (Self::Year(_), None) => names.push(("for", format!("the year ended {end}"))),
            (Self::At(_), Some(year)) if plain => {
                names.extend([("as of", end.to_string()), ("at", format!("the end of {year}"))]);
            }
            (Self::At(_), Some(year)) => {
                names.extend([("as of", end.to_string()), ("at", format!("the end of fiscal {year}"))]);
            }
            (Self::At(_), None) => names.push(("as of", end.to_string())),
            (Self::Months(3, _), _) => {
                names.push(("in", format!("the three months ended {end}")));
                names.push(("for", format!("the quarter ended {end}")));
                if let Some((quarter, year)) = calendar.quarter_ending(end) {
                    let quarter = ["first", "second", "third", "fourth"].get(quarter - 1).unwrap_or(&"");
                    let fiscal = if plain { "" } else { "fiscal " };
                    names.push(("in", format!("the {quarter} quarter of {fiscal}{year}")));
                }
            }
            (Self::Months(months, _), _) => {
                let months = if months == 6 { "six" } else { "nine" };
                names.push(("in", format!("the {months} months ended {end}")));
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tabsegnet_document::facts::{About, Context};

    use super::*;

    fn day(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    /// A filer's calendar by the year it reports on.
    fn calendar(start: &str, end: &str, number: &str) -> Calendar {
        let period = Period::Duration { start: start.into(), end: end.into() };
        let context = Context { entity: "7".into(), period, dimensions: Vec::new() };
        let about = About { name: "dei:DocumentFiscalYearFocus".into(), context: "c".into(), text: number.into() };
        let contexts = BTreeMap::from([("c".to_owned(), context)]);
        Calendar::of(&Facts { contexts, about: vec![about], ..Facts::default() })
    }

    fn names(span: Span, calendar: &Calendar) -> Vec<String> {
        span.names(calendar).into_iter().map(|(preposition, name)| format!("{preposition} {name}")).collect()
    }

    #[test]
    fn days_count_over_leap_years() {
        assert_eq!(day("2024-03-01").days() - day("2024-02-28").days(), 2);
        assert_eq!(day("2025-01-26").days() - day("2024-01-28").days(), 364);
        assert_eq!(day("2000-01-01").days() - day("1999-12-31").days(), 1);
        assert_eq!(Date::parse("2024-13-01"), None);
        assert_eq!(Date::parse("soon"), None);
    }

    #[test]
    fn calendar_years_are_named_by_their_number() {
        let calendar = calendar("2024-01-01", "2024-12-31", "2024");
        let span = Span::of(&Period::Duration { start: "2023-01-01".into(), end: "2023-12-31".into() }).unwrap();
        assert_eq!(
            names(span, &calendar),
            ["in 2023", "for 2023", "in fiscal 2023", "for the year ended December 31, 2023"]
        );
        assert_eq!(names(Span::At(day("2023-12-31")), &calendar), ["as of December 31, 2023", "at the end of 2023"]);
        assert_eq!(names(Span::At(day("2025-01-17")), &calendar), ["as of January 17, 2025"]);
        assert!(
            names(Span::Months(3, day("2024-03-31")), &calendar).contains(&"in the first quarter of 2024".to_owned())
        );
    }

    #[test]
    fn fiscal_years_are_named_as_the_filer_names_them() {
        // 52 weeks that end in January bear the number of the year they end in, or of the one before.
        let chips = calendar("2024-01-29", "2025-01-26", "2025");
        assert!(names(Span::Year(day("2023-01-29")), &chips).contains(&"in fiscal 2023".to_owned()));
        let stores = calendar("2024-01-29", "2025-02-02", "2024");
        assert!(names(Span::At(day("2024-01-28")), &stores).contains(&"at the end of fiscal 2023".to_owned()));
        assert!(
            names(Span::Months(3, day("2024-10-27")), &stores)
                .contains(&"in the third quarter of fiscal 2024".to_owned())
        );
    }

    #[test]
    fn quarterly_reports_name_years_by_their_last_day() {
        let calendar = calendar("2024-07-01", "2024-09-30", "2025");
        assert_eq!(names(Span::Year(day("2024-06-30")), &calendar), ["for the year ended June 30, 2024"]);
        assert_eq!(
            names(Span::Months(9, day("2024-09-30")), &calendar),
            ["in the nine months ended September 30, 2024"]
        );
        let day = Period::Duration { start: "2024-01-01".into(), end: "2024-01-01".into() };
        assert_eq!(Span::of(&day), None);
    }
}
