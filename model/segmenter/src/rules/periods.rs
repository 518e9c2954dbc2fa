//! Expressions of time in a question.

use super::words::Token;

/// A word, or an expression of time.
#[derive(Debug)]
pub(super) enum Item<'q> {
    Word(&'q Token<'q>),
    Time(Time),
}

/// Years that are named together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// In the order of the question.
    named: Vec<u32>,
    /// Whether the years between the two are meant, where no change is wanted.
    range: bool,
    /// Whether `in`, `for` or `during` stands before it.
    inside: bool,
}

/// The most years that a range is expanded to.
const LONGEST: u32 = 6;

impl Time {
    /// The years; of a change the two ends.
    pub(super) fn years(&self, change: bool) -> Vec<String> {
        match *self.named.as_slice() {
            [from, to] if self.range && !change && to > from && to - from < LONGEST => {
                (from..=to).map(|year| year.to_string()).collect()
            }
            _ => self.named.iter().map(u32::to_string).collect(),
        }
    }
}

/// The year before the only one of a question, where it is named as the time in which something was.
pub(super) fn year_before(items: &[Item<'_>]) -> Option<String> {
    let mut times = items.iter().filter_map(|item| if let Item::Time(time) = item { Some(time) } else { None });
    match (times.next(), times.next()) {
        (Some(Time { named, inside: true, .. }), None) => match named.as_slice() {
            [year] => Some((year - 1).to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Before a year, part of its expression.
#[rustfmt::skip]
const BEFORE: [&str; 50] = [
    "in", "for", "during", "of", "at", "as", "on", "by", "from", "between", "since", "the", "year", "years",
    "fiscal", "fy", "ended", "ending", "end", "calendar", "through", "to", "until", "january", "february",
    "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "jan",
    "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "both", "period", "periods",
];

/// Between two years of one expression.
const JOINS: [&str; 14] =
    ["and", "to", "through", "until", "or", ",", "-", "–", "—", "vs", "versus", "over", "&", "than"];

/// Words with expressions of time, each as one item.
pub(super) fn items<'q>(tokens: &'q [Token<'q>]) -> Vec<Item<'q>> {
    let mut items: Vec<Item<'q>> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let Some((time, end)) = expression(tokens, at) else {
            items.push(Item::Word(token));
            at += 1;
            continue;
        };
        // "the 2011 plan": the year belongs to what follows, and what stands before it as well.
        let of_next = tokens.get(end).is_some_and(|next| !next.is(&AFTER));
        let inside = match of_next {
            true => false,
            false => absorb(&mut items),
        };
        items.push(Item::Time(Time { inside, ..time }));
        at = end;
    }
    items
}

/// What may follow an expression that stands for itself.
#[rustfmt::skip]
const AFTER: [&str; 34] = [
    ",", "and", "or", "is", "are", "was", "were", "to", "as", "compared", "in", "for", "of", "if", "than",
    "from", "by", "with", "versus", "vs", "due", "related", "that", "which", "respectively", "assuming", "did",
    "on", "at", "between", "excluding", "would", "represented", "attributable",
];

/// Takes the words of a time that stand before its year; whether they say that it is in it.
fn absorb(items: &mut Vec<Item<'_>>) -> bool {
    let mut inside = false;
    let of_date = |token: &Token<'_>| {
        token.is(&BEFORE) || token.is_comma() || token.lower.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day))
    };
    while let Some(Item::Word(token)) = items.last() {
        if !of_date(token) {
            break;
        }
        inside |= token.is(&["in", "for", "during", "of"]);
        items.pop();
    }
    inside
}

/// The expression of time whose first year is at a place, and where it ends.
fn expression(tokens: &[Token<'_>], start: usize) -> Option<(Time, usize)> {
    let first = tokens.get(start)?;
    if let Some((from, to)) = first.range() {
        return Some((Time { named: vec![from, to], range: true, inside: false }, start + 1));
    }
    let mut named = vec![first.year()?];
    let (mut end, mut range) = (start + 1, false);
    // A join, words of a time, and a year.
    loop {
        let mut next = end;
        while tokens.get(next).is_some_and(|token| token.is(&JOINS)) {
            next += 1;
        }
        let joined = next > end || tokens.get(next).is_some_and(|token| token.is(&["compared"]));
        let spans = tokens.get(end).is_some_and(|token| token.is(&["-", "–", "—", "through", "to", "until"]));
        while tokens.get(next).is_some_and(|token| {
            token.is(&BEFORE)
                || token.is(&["compared", "with", ",", "versus"])
                || token.lower.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day))
        }) {
            next += 1;
        }
        match tokens.get(next).and_then(Token::year) {
            Some(year) if joined && next - end <= 8 => {
                named.push(year);
                range |= spans;
                end = next + 1;
            }
            _ => break,
        }
    }
    range &= named.len() == 2;
    Some((Time { named, range, inside: false }, end))
}
