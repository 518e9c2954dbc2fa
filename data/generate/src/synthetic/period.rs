//! When a fact holds, and how a question says so.

use super::dice::Dice;

/// A time that a column, a row or a sentence gives a figure for. Years are fiscal years.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Period {
    /// During a year.
    Year(i32),
    /// At the end of a year.
    End(i32),
    /// During a quarter (1 to 4) of a year.
    Quarter(usize, i32),
    /// Payable in a year.
    Due(i32),
    /// Payable after a year.
    After(i32),
    /// Payable at any time.
    AllDue,
}

impl Period {
    /// What distinguishes it from other periods in fact keys.
    pub fn key(self) -> String {
        match self {
            Self::Year(year) => format!("{year}"),
            Self::End(year) => format!("end {year}"),
            Self::Quarter(quarter, year) => format!("quarter {quarter} of {year}"),
            Self::Due(year) => format!("due {year}"),
            Self::After(year) => format!("due after {year}"),
            Self::AllDue => "due".into(),
        }
    }

    /// The time as a segment of a question ends with it; empty for payments at any time.
    pub fn short(self) -> String {
        match self {
            Self::Year(year) | Self::End(year) => year.to_string(),
            Self::Quarter(quarter, year) => {
                format!("{} quarter {year}", ["first", "second", "third", "fourth"][(quarter.max(1) - 1).min(3)])
            }
            Self::AllDue => String::new(),
            due => due.key(),
        }
    }

    /// The same time one year earlier; `None` for payments that are due.
    pub fn year_before(self) -> Option<Self> {
        match self {
            Self::Year(year) => Some(Self::Year(year - 1)),
            Self::End(year) => Some(Self::End(year - 1)),
            Self::Quarter(quarter, year) => Some(Self::Quarter(quarter, year - 1)),
            _ => None,
        }
    }

    /// The year as a noun, and the phrase it stands in: `in fiscal 2018`. `report` is the fiscal year
    /// of the report, which a relative wording starts from.
    pub fn phrase(self, report: i32, dice: &mut Dice) -> String {
        match self {
            Self::Year(y) => {
                format!("{} {}", dice.pick(&["in", "during", "for"]), year_noun(y, report, dice))
            }
            Self::End(y) => {
                let at = dice.pick(&["at the end of", "at the close of", "on the last day of"]);
                format!("{at} {}", year_noun(y, report, dice))
            }
            Self::Quarter(quarter, y) => {
                let words: &[&str] = match quarter {
                    1 => &["the first quarter", "the opening three months"],
                    2 => &["the second quarter", "months four to six"],
                    3 => &["the third quarter", "months seven to nine"],
                    _ => &["the fourth quarter", "the closing three months"],
                };
                format!("in {} of {}", dice.pick(words), year_noun(y, report, dice))
            }
            Self::Due(y) => {
                let due = dice.pick(&["due in", "payable in", "falling due in"]);
                format!("{due} {}", year_noun(y, report, dice))
            }
            Self::After(y) => format!("{} {y}", dice.pick(&["due after", "payable beyond"])),
            Self::AllDue => dice.pick(&["due over all years", "payable over time in total"]).to_string(),
        }
    }
}

/// A fiscal year as a noun phrase, absolute or relative to the report's.
pub(super) fn year_noun(year: i32, report: i32, dice: &mut Dice) -> String {
    if dice.chance(75) {
        return if dice.chance(50) { format!("{year}") } else { format!("fiscal {year}") };
    }
    let variants: &[&str] = match year - report {
        0 => &["the year under review", "the latest fiscal year", "the most recent year reported"],
        -1 => &["the year before fiscal {}", "the year preceding {}", "the year prior to the one under review"],
        -2 => &["the year two before fiscal {}", "the second year before {}"],
        1 => &["the year after fiscal {}", "the year following the one under review"],
        2 => &["the second year after fiscal {}"],
        _ => return format!("{year}"),
    };
    dice.pick(variants).replace("{}", &report.to_string())
}
