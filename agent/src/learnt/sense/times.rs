//! Of which times two numbers are: a change is of one thing at two times, a sum over years of all of them.

use tabsegnet::RankedNode;

use crate::candidates::Candidate;
use crate::facts::Fact;
use crate::family::Family;
use crate::question::Inquiry;
use crate::words::last;

/// Numbers are of other times than the question names.
pub(super) fn objection(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let [a, b] = candidate.facts.as_slice() else { return None };
    match candidate.family {
        Family::Change | Family::PercentChange => other_row(a, b, nodes, inquiry).or_else(|| one_time(a, b, inquiry)),
        Family::Sum | Family::Average => years_between(a, b, inquiry),
        _ => None,
    }
}

/// The question names two years, and the numbers are of two rows of one table that are called otherwise.
fn other_row(a: &Fact, b: &Fact, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let ((table, row), (other_table, other)) = a.row().zip(b.row())?;
    let called = |fact: &Fact| {
        let path = nodes.get(fact.node).and_then(|node| node.row_headers.as_deref())?;
        Some(last(path).to_lowercase()).filter(|called| !called.contains(|c: char| c.is_ascii_digit()))
    };
    let apart = table == other_table && row != other && a.column() != b.column();
    let (of_a, of_b) = (called(a)?, called(b)?);
    let amiss = inquiry.years.len() == 2 && apart && of_a != of_b && a.years != b.years;
    amiss.then(|| format!("{} is of {of_a} and {} of {of_b}, which is no change between two years", a.text, b.text))
}

/// The question names two years, and both numbers are of one that is not the later.
fn one_time(a: &Fact, b: &Fact, inquiry: &Inquiry) -> Option<String> {
    let ([first, second], [year]) = (inquiry.years.as_slice(), a.years.as_slice()) else { return None };
    let amiss = a.years == b.years && year < first.max(second) && (year == first || year == second);
    (amiss && a.place.is_some()).then(|| format!("{} and {} are both of {year}", a.text, b.text))
}

/// The question names years of which others lie between the two that the numbers are of: "for 2014 through 2016".
fn years_between(a: &Fact, b: &Fact, inquiry: &Inquiry) -> Option<String> {
    let (from, to) = a.latest().zip(b.latest()).map(|(a, b)| (a.min(b), a.max(b)))?;
    let between = || inquiry.years.iter().any(|year| from < *year && *year < to);
    let joined = || {
        let behind = inquiry.text.split_once(&from.to_string()).map_or("", |(_, behind)| behind.trim_start());
        let join = ["through ", "to ", "until ", "till ", "thru "].iter().find_map(|join| behind.strip_prefix(join));
        join.is_some_and(|rest| rest.trim_start().starts_with(&to.to_string()))
    };
    let in_row = a.row().is_some() && a.row() == b.row();
    let amiss = in_row && to - from > 1 && (between() || joined());
    amiss.then(|| format!("the years between {from} and {to} are meant too"))
}
