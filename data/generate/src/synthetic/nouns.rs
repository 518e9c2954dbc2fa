//! How questions name facts and times.

use std::collections::BTreeSet;

use super::amounts::Measure;
use super::dice::Dice;
use super::period::{Period, year_noun};
use super::report::Report;
use super::sheet::Fact;
use super::vocabulary::in_sentence;
use tabsegnet_document::model::join_non_empty;

/// In how many of 100 cases a question uses the report's own words.
const LITERAL: usize = 70;

/// As people write it, where tables have blanks before marks.
fn unspaced(words: &str) -> String {
    words.replace(" ,", ",").replace(" ' ", "' ").replace("( ", "(").replace(" )", ")")
}

/// Names the facts of one report.
pub(super) struct Nouns<'a> {
    report: &'a Report,
    /// Concepts that the report breaks down by parts of the company.
    divided: BTreeSet<&'static str>,
}

impl<'a> Nouns<'a> {
    /// `all` are the facts that a name must tell apart.
    pub fn new(report: &'a Report, all: &[Fact]) -> Self {
        let parts = all.iter().filter(|fact| !fact.scope.is_company());
        Self { report, divided: parts.map(|fact| fact.concept.id).collect() }
    }

    /// The concept alone, in the report's words or others.
    pub fn bare(&self, fact: &Fact, dice: &mut Dice) -> String {
        let words = if dice.chance(LITERAL) {
            in_sentence(self.report.label(fact.concept))
        } else {
            (*dice.pick(fact.concept.synonyms)).to_owned()
        };
        unspaced(&words)
    }

    /// What the fact is about, as a phrase after the concept; empty where nothing needs saying.
    pub fn scope(&self, fact: &Fact, dice: &mut Dice) -> String {
        if fact.scope.is_company() && !self.divided.contains(fact.concept.id) {
            return String::new();
        }
        dice.pick(&fact.scope.wordings).replace(" ,", ",")
    }

    /// Concept and scope.
    pub fn of(&self, fact: &Fact, dice: &mut Dice) -> String {
        format!("{} {}", self.bare(fact, dice), self.scope(fact, dice)).trim().to_owned()
    }

    /// A fact by itself, in the words that a question has for it: concept, scope, and its time if the
    /// question names a year. Before it where the question names the fact.
    pub fn segment(&self, fact: &Fact, question: &str) -> (usize, String) {
        let question = question.to_lowercase();
        let label = in_sentence(self.report.label(fact.concept));
        let ways =
            fact.concept.synonyms.iter().map(|&way| way.to_owned()).chain([label.clone()]).map(|way| unspaced(&way));
        // The longest, since one way may be a part of another.
        let query = ways.filter(|way| question.contains(&way.to_lowercase())).max_by_key(String::len);
        let scopes = fact.scope.wordings.iter().map(|way| unspaced(way));
        let scope = scopes.filter(|way| question.contains(&way.to_lowercase())).max_by_key(String::len);
        let name = query.unwrap_or_else(|| unspaced(&label));
        let place = question.find(&name.to_lowercase()).unwrap_or(usize::MAX);
        let year = |word: &str| word.len() == 4 && word.parse::<u32>().is_ok();
        let dated = question.split(|c: char| !c.is_ascii_digit()).any(year);
        let time = if dated { fact.period.short() } else { String::new() };
        let parts = [name, scope.unwrap_or_default(), time];
        (place, join_non_empty(parts.iter().map(String::as_str), " "))
    }

    /// Whether two facts of one concept differ by the part they are about alone. Awards are
    /// counted and priced, fair values stand in groups.
    pub fn same_detail(&self, one: &Fact, other: &Fact) -> bool {
        let detail = |fact: &Fact| fact.scope.key.split_once('/').map(|(_, detail)| detail.to_owned());
        detail(one) == detail(other)
    }

    /// Whether two facts hold at the same time, or one at the end of the other's year.
    pub fn same_time(&self, one: &Fact, other: &Fact) -> bool {
        one.period == other.period
            || matches!(
                (one.period, other.period),
                (Period::Year(a), Period::End(b)) | (Period::End(a), Period::Year(b)) if a == b
            )
    }

    /// Whether two facts hold at the same time or at most a year apart.
    pub fn close_in_time(&self, one: &Fact, other: &Fact) -> bool {
        let year = |fact: &Fact| match fact.period {
            Period::Year(year) | Period::End(year) => Some(year),
            _ => None,
        };
        matches!((year(one), year(other)), (Some(a), Some(b)) if (a - b).abs() < 2)
    }

    /// `from 2017 to 2018`, for two periods of one kind.
    pub fn change_span(&self, before: &Fact, after: &Fact, dice: &mut Dice) -> String {
        let mut year = |y: i32| year_noun(y, self.report.year, dice);
        match (before.period, after.period) {
            (Period::End(a), Period::End(b)) => {
                format!("from the end of {} to the end of {}", year(a), year(b))
            }
            (Period::Quarter(quarter, a), Period::Quarter(_, b)) => {
                let words = ["first", "second", "third", "fourth"][(quarter.max(1) - 1).min(3)];
                format!("from the {words} quarter of {} to the same months of {}", year(a), year(b))
            }
            (Period::Year(a), Period::Year(b)) => format!("from {} to {}", year(a), year(b)),
            (a, b) => format!("from {} to {}", a.key(), b.key()),
        }
    }

    /// Consecutive periods of one kind, the last of them at the end.
    pub fn list(&self, facts: &[&Fact], dice: &mut Dice) -> String {
        let count = if facts.len() == 2 { "two" } else { "three" };
        let names: Vec<String> = facts
            .iter()
            .map(|fact| match fact.period {
                Period::Quarter(quarter, _) => {
                    ["first", "second", "third", "fourth"][(quarter.max(1) - 1).min(3)].into()
                }
                Period::Year(y) | Period::Due(y) => y.to_string(),
                other => other.key(),
            })
            .collect();
        let (last, rest) = names.split_last().map_or((String::new(), &[][..]), |(last, rest)| (last.clone(), rest));
        let listed = format!("{} and {last}", rest.join(", "));
        match facts.last().map(|fact| fact.period) {
            Some(Period::Quarter(_, y)) => {
                format!("in the {listed} quarters of {}", year_noun(y, self.report.year, dice))
            }
            Some(Period::Due(_)) => format!("due in {listed}"),
            Some(Period::Year(y)) if dice.chance(40) => {
                format!("over the {count} years that end with {}", year_noun(y, self.report.year, dice))
            }
            _ => format!("in {listed}"),
        }
    }

    /// A question for one figure over another.
    pub fn ratio(&self, first: &Fact, second: &Fact, dice: &mut Dice) -> String {
        let (mut a, mut b) = (self.of(first, dice), self.of(second, dice));
        let mut when = first.period.phrase(self.report.year, dice);
        if first.period != second.period {
            let other = match (first.period, second.period) {
                (Period::Year(x), Period::End(y)) if x == y => "at the end of that year".into(),
                (Period::End(x), Period::Year(y)) if x == y => "over that year".into(),
                _ => second.period.phrase(self.report.year, dice),
            };
            a = format!("{a} {when}");
            b = format!("{b} {other}");
            when = String::new();
        }
        let templates: &[&str] = match second.measure {
            Measure::Count => &[
                "How much is there of {a} for each person counted in {b} {p}?",
                "Divide {a} by {b} {p}.",
                "What is the ratio of {a} to {b} {p}?",
            ],
            _ => &[
                "What is the ratio of {a} to {b} {p}?",
                "Set {a} in relation to {b} {p}.",
                "What percentage of {b} would {a} equal {p}?",
                "How many times could {a} cover {b} {p}?",
                "For every dollar of {b}, how much is there of {a} {p}?",
                "Express {a} as a share of {b} {p}.",
            ],
        };
        // A phrase of time on the first noun must come before the second noun.
        let templates = if when.is_empty() { &templates[..2] } else { templates };
        let text = dice.pick(templates).replace("{a}", &a).replace("{b}", &b).replace("{p}", &when);
        text.replace(" ?", "?").replace(" .", ".")
    }
}
