//! Segments by rules, without a model: pure functions of the question.
//!
//! 1. Expressions of time are found (`periods`): years, lists and ranges of them, `from … to …`. A change
//!    `in 2010` is one from 2009.
//! 2. What is left is cut where two things are wanted (`parts`): `ratio of X to Y`, `X as a
//!    percentage of Y`, `what percentage of X is Y`, `difference between X and Y`, and at `and` where both sides
//!    are whole: each has a time, or an article, or the question says `both` or `respectively`. `research and
//!    development` stays one thing.
//! 3. Words that ask and words of arithmetic are taken off both ends (`words`).
//! 4. Each thing gets the times named with it, else each of those named for all.
//!
//! Where no thing is left the whole question is its own segment.

mod parts;
mod periods;
mod words;

use periods::Item;

use crate::{Segmenter, SegmenterError};

/// Another rule is another segmenter: the number rises with each change of what is found.
pub(crate) const IDENTITY: &str = "rules 1";
/// The most segments of one question; beyond it times are left out.
pub const MOST: usize = 8;

/// Finds segments by rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

impl Segmenter for Rules {
    fn identity(&self) -> &str {
        IDENTITY
    }

    fn segments(&self, question: &str) -> Result<Vec<String>, SegmenterError> {
        Ok(segments(question))
    }
}

/// The segments of a question, in its order, none twice; none of a blank one.
pub fn segments(question: &str) -> Vec<String> {
    let tokens = words::tokens(question);
    let items = periods::items(&tokens);
    let changes = words::asks_for_change(&tokens);
    let mut parts: Vec<Part<'_>> = parts::parts(&items).iter().map(|items| Part::new(items)).collect();
    parts.retain(|part| !part.words.is_empty());

    let own = parts.iter().filter(|part| !part.times.is_empty()).count();
    let mut common: Vec<String> = Vec::new();
    for item in &items {
        let Item::Time(time) = item else { continue };
        common.extend(time.years(changes).into_iter().filter(|year| !common.contains(year)).collect::<Vec<_>>());
    }
    // Two things in one year are compared with each other.
    let before = (changes && common.len() == 1 && parts.len() == 1).then(|| periods::year_before(&items)).flatten();
    common.splice(0..0, before.clone());
    let times = |part: &Part<'_>| -> Vec<String> {
        if own < parts.len() || parts.len() < 2 {
            return common.clone();
        }
        part.times.iter().flat_map(|time| time.years(changes)).collect()
    };
    let all: Vec<(&Part<'_>, Vec<String>)> = parts.iter().map(|part| (part, times(part))).collect();
    let many = all.iter().map(|(_, times)| times.len().max(1)).sum::<usize>() > MOST;
    let mut found: Vec<String> = Vec::new();
    for (part, times) in &all {
        let name = part.words.join(" ");
        if times.is_empty() || many {
            add(&mut found, name);
        } else {
            times.iter().for_each(|time| add(&mut found, format!("{name} {time}")));
        }
    }
    found.truncate(MOST);
    if found.is_empty() {
        add(&mut found, question.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    found
}

fn add(found: &mut Vec<String>, segment: String) {
    let known = found.iter().any(|other| other.to_lowercase() == segment.to_lowercase());
    if !known && !segment.trim().is_empty() {
        found.push(segment);
    }
}

/// A thing that is wanted.
struct Part<'i> {
    words: Vec<&'i str>,
    times: Vec<&'i periods::Time>,
}

impl<'i> Part<'i> {
    fn new(items: &[&'i Item<'i>]) -> Self {
        let mut words = Vec::new();
        let mut times = Vec::new();
        for &item in items {
            match item {
                Item::Word(token) => words.push(*token),
                Item::Time(time) => times.push(time),
            }
        }
        // "in Europe , what was revenue": both sides name the one thing.
        let asks = words.iter().position(|token| token.is(&["what", "how", "what's"])).unwrap_or_default();
        let (before, after) = words.split_at(asks);
        let named = [words::trimmed(before), words::trimmed(after)].concat();
        let words = named.iter().filter(|token| !token.is_comma()).map(|token| token.text).collect();
        Self { words, times }
    }
}

#[cfg(test)]
mod tests;
