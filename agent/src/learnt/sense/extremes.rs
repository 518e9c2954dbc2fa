//! Objections to what is said to be largest or smallest: names that are none of what the question chooses from.

use crate::candidates::Candidate;
use crate::family::Family;
use crate::question::{Inquiry, words};
use crate::years::is_year;

/// What a question wants that chooses a time.
const TIMES: [&str; 7] = ["year", "quarter", "month", "period", "date", "week", "day"];

/// A year where the question wants no time, or the name of what is compared: "Revenues" to "which region has the largest revenues".
pub(super) fn objection(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
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
    let chosen: Vec<String> = words(&wanted.join(" ")).into_iter().map(|(stem, _)| stem).collect();
    let stems = words(&name.to_lowercase());
    let is_compared = |stem: &String| inquiry.words.contains(stem) && !chosen.contains(stem);
    let is_compared = !stems.is_empty() && stems.iter().all(|(stem, _)| is_compared(stem));
    is_compared.then(|| format!("{name} is what the question compares by, and not what it chooses from"))
}
