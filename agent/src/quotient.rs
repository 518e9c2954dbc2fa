//! Which of two things a question puts over the other: "the ratio of pilots to aircraft", "the sales to income ratio".

use std::collections::HashSet;

use tabsegnet::RankedNode;

use crate::facts::Fact;
use crate::question::stems;
use crate::years::named_years;

/// What a question calls the number above and the number below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quotient {
    above: Side,
    below: Side,
}

/// The words and years of one side that the other has not.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Side {
    words: HashSet<String>,
    years: Vec<u16>,
}

/// Words before "to" that it belongs to.
const OF_TO: [&str; 10] =
    ["attributable", "related", "relating", "due", "applicable", "compared", "subject", "prior", "paid", "up"];

impl Quotient {
    /// Of a question in lower case, where it names both.
    pub fn of(question: &str) -> Option<Self> {
        let (above, below) = sides(question)?;
        let (of_above, of_below): (HashSet<String>, HashSet<String>) = (stems(above).collect(), stems(below).collect());
        let (years_above, years_below) = (named_years(above), named_years(below));
        let side = |own: &HashSet<String>, other: &HashSet<String>, years: &[u16], others: &[u16]| Side {
            words: own.difference(other).cloned().collect(),
            years: years.iter().filter(|year| !others.contains(year)).copied().collect(),
        };
        Some(Self {
            above: side(&of_above, &of_below, &years_above, &years_below),
            below: side(&of_below, &of_above, &years_below, &years_above),
        })
    }

    /// Whether a number over another is what the question names the other way round.
    pub fn is_reversed(&self, above: &Fact, below: &Fact, nodes: &[RankedNode]) -> bool {
        let met = |fact: &Fact, side: &Side| {
            // Which of a sentence's years a number is of is a guess.
            let year = fact.place.is_some() && side.years.iter().any(|year| fact.years.contains(year));
            self.words(fact, nodes).intersection(&side.words).count() + usize::from(year)
        };
        let straight = met(above, &self.above) + met(below, &self.below);
        met(above, &self.below) + met(below, &self.above) > straight
    }

    /// The words that say what a number is: a cell's headers; of a sentence what stands between it and the next number where a
    /// side has a word of that, else what stands before it.
    fn words(&self, fact: &Fact, nodes: &[RankedNode]) -> HashSet<String> {
        if fact.place.is_some() {
            let headers = nodes.get(fact.node).into_iter().flat_map(RankedNode::headers);
            return headers.flat_map(|path| stems(&path.to_lowercase())).collect();
        }
        let Some((before, behind)) = fact.label.split_once(&fact.text.to_lowercase()) else { return HashSet::new() };
        let is_digit = |c: char| c.is_ascii_digit();
        let behind: HashSet<String> = stems(behind.split(is_digit).next().unwrap_or_default()).collect();
        if [&self.above, &self.below].into_iter().any(|side| !side.words.is_disjoint(&behind)) {
            return behind;
        }
        stems(before.rsplit(is_digit).next().unwrap_or_default()).collect()
    }
}

/// What stands on both sides of what parts them.
fn sides(question: &str) -> Option<(&str, &str)> {
    if let Some((above, below)) = question.split_once(" ratio").and_then(|(before, _)| parted(before, &[" to "])) {
        return Some((above, below));
    }
    let of = question.split_once("ratio of ").or_else(|| question.split_once("ratio between "));
    if let Some((_, both)) = of {
        return parted(
            both,
            &[" compared to ", " compared with ", " relative to ", " versus ", " to ", " over ", " and "],
        );
    }
    parted(question, &[" as a percent of ", " as a percentage of ", " as a share of "])
}

/// A text parted at the first of some phrases, "to" only where it belongs to no word before it.
fn parted<'t>(text: &'t str, phrases: &[&str]) -> Option<(&'t str, &'t str)> {
    let found = phrases.iter().find_map(|phrase| {
        let mut places = text.match_indices(phrase).map(|(at, _)| at);
        let at = places.find(|at| {
            let before = text[..*at].rsplit(' ').next().unwrap_or_default();
            *phrase != " to " || !OF_TO.contains(&before)
        })?;
        Some((at, phrase.len()))
    });
    found.map(|(at, length)| (&text[..at], &text[at + length..]))
}

#[cfg(test)]
mod tests {
    use super::{Quotient, sides};

    #[test]
    fn what_is_above_and_below_is_read() {
        for (question, expected) in [
            ("what is the ratio of pilots to aircraft in 2013?", Some(("pilots", "aircraft in 2013?"))),
            ("the ratio of cash attributable to staff to debt", Some(("cash attributable to staff", "debt"))),
            ("ratio of homes compared to offices", Some(("homes", "offices"))),
            ("what is the sales to income ratio?", Some(("what is the sales", "income"))),
            ("cost as a percent of value", Some(("cost", "value"))),
            ("what is the current ratio?", None),
            ("what were sales?", None),
        ] {
            assert_eq!(sides(question), expected, "{question}");
        }
        let of = Quotient::of("what is the ratio of net sales in 2008 to net sales in 2009").unwrap();
        assert_eq!((of.above.years, of.below.years), (vec![2008], vec![2009]));
        assert!(of.above.words.is_empty() && of.below.words.is_empty());
    }
}
