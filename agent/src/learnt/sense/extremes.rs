//! Objections to what is said to be largest or smallest: names that are none of what the question chooses from.

use tabsegnet::RankedNode;

use crate::candidates::Candidate;
use crate::family::Family;
use crate::question::{Inquiry, stems, words};
use crate::words::last;
use crate::years::is_year;

/// What a question wants that chooses a time.
const TIMES: [&str; 7] = ["year", "quarter", "month", "period", "date", "week", "day"];

/// A year where the question wants no time, or a line that has what is compared among its names: "Revenues" and "Cost of sales" to
/// "which region has the largest revenues".
pub(super) fn objection(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let name = candidate.words.first().filter(|_| matches!(candidate.family, Family::ArgMax | Family::ArgMin))?;
    let first = inquiry.text.split_whitespace().next().unwrap_or_default();
    let wanted: Vec<&str> = inquiry.text.split_whitespace().skip(1).take(3).collect();
    let of_time = wanted.iter().any(|word| TIMES.iter().any(|time| word.starts_with(time)));
    if !matches!(first, "which" | "what") || of_time || inquiry.has(" or ") {
        return None;
    }
    if is_year(name.trim()) {
        return Some(format!("{name} is a year, and the question wants no time"));
    }
    // "Service" may be a service offering.
    let chosen: Vec<String> = stems(&wanted.join(" ")).collect();
    let is_compared = |name: &&str| {
        let stems = words(&name.to_lowercase());
        !stems.is_empty() && stems.iter().all(|(stem, _)| inquiry.words.contains(stem) && !chosen.contains(stem))
    };
    let is_row = candidate.facts.windows(2).all(|two| two[0].row() == two[1].row());
    let names = candidate.facts.iter().filter_map(|fact| {
        let node = nodes.get(fact.node)?;
        let path = if is_row { node.column_headers.as_deref() } else { node.row_headers.as_deref() }?;
        Some(last(path))
    });
    let compared = [name.as_str()].into_iter().chain(names).find(is_compared)?;
    Some(format!("{compared} is what the question compares by, and {name} stands beside it"))
}
