//! What makes no sense though every number stands in a cell: a percentage less a fraction, a change from nothing, the
//! number of another year.

use rust_decimal::Decimal;

use crate::answer::Check;
use crate::candidates::Candidate;
use crate::facts::Fact;
use crate::family::Family;
use crate::question::Inquiry;

/// The first objection to a candidate, as a check that fails.
pub(super) fn objection(candidate: &Candidate, inquiry: &Inquiry) -> Option<Check> {
    let what = match (candidate.family, candidate.facts.as_slice()) {
        (Family::Lookup, [fact]) => other_year(fact, inquiry),
        (Family::PercentChange, [new, old]) => from_nothing(new, old).or_else(|| fraction(new, old)),
        // Nor is their difference one.
        (Family::Change, [new, old]) if old.quantity.value.is_zero() && !new.is_percent() && inquiry.has("percent") => {
            Some(no_percentage(old))
        }
        (Family::Share, [part, _]) if part.quantity.value.is_zero() && is_change(inquiry) => Some(no_percentage(part)),
        (Family::Ratio, [a, b]) if a.quantity.value.is_zero() => {
            Some(format!("{} over {} may be the other way round, by 0", a.text, b.text))
        }
        (Family::Change | Family::Sum | Family::Average | Family::Greater, [a, b]) => fraction(a, b),
        _ => None,
    };
    what.map(|what| Check { what, passed: false })
}

/// The question names years, and the number is of others.
fn other_year(fact: &Fact, inquiry: &Inquiry) -> Option<String> {
    let (named, of) = (&inquiry.years, &fact.years);
    let other = !named.is_empty() && !of.is_empty() && named.iter().all(|year| !of.contains(year));
    let shown = |years: &[u16]| years.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    other.then(|| format!("the number is of {}, the question names {}", shown(of), shown(named)))
}

fn is_change(inquiry: &Inquiry) -> bool {
    ["change", "increas", "decreas", "growth", "grow", "declin"].iter().any(|cue| inquiry.has(cue))
}

/// A change to 0 is what is left where the one from 0 has no value: only the years tell that it is meant.
fn from_nothing(new: &Fact, old: &Fact) -> Option<String> {
    let latest = |fact: &Fact| fact.years.iter().max().copied();
    let later = latest(new).zip(latest(old)).is_some_and(|(new, old)| new > old);
    // Where the change of one line has no value, another line's number is no base for it.
    let apart = |a: Option<(usize, usize)>, b| a.is_some() && b != a;
    let other_line = apart(new.row(), old.row()) && apart(new.column(), old.column());
    (new.quantity.value.is_zero() && (!later || other_line)).then(|| no_percentage(new))
}

fn no_percentage(from: &Fact) -> String {
    format!("a change from {} has no percentage", from.text)
}

/// 12 % and 0.1 count in different ways, as far as anyone can tell.
fn fraction(a: &Fact, b: &Fact) -> Option<String> {
    let is = |percent: &Fact, other: &Fact| {
        let below_one = other.quantity.unit.is_none() && other.quantity.value.abs() <= Decimal::ONE;
        percent.percent_sign
            && percent.quantity.value.abs() > Decimal::ONE
            && below_one
            && !other.quantity.value.is_zero()
    };
    (is(a, b) || is(b, a)).then(|| format!("{} and {} are no two percentages, or no two fractions", a.text, b.text))
}
