//! Where in its table a number stands: at the other end of a period, at rates of another year, in one part of what has a total.

use tabsegnet::ranking::Position;
use tabsegnet::{NodeKind, RankedNode};

use crate::candidates::Candidate;
use crate::facts::Fact;
use crate::family::Family;
use crate::question::{Inquiry, stems};
use crate::words::last;

use super::{WHOLE, headers};

/// A number stands where the question does not look.
pub(super) fn objection(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    candidate.outcome?;
    let in_tables = || candidate.facts.iter().filter(|fact| fact.place.is_some());
    in_tables()
        .find_map(|fact| other_rates(fact, nodes, inquiry))
        .or_else(|| in_tables().find_map(|fact| deferred(fact, nodes, inquiry)))
        .or_else(|| in_tables().find_map(|fact| other_end(fact, nodes, inquiry)))
        .or_else(|| in_tables().find_map(|fact| part(candidate.family, fact, nodes, inquiry)))
        .or_else(|| in_tables().find_map(|fact| component(candidate.family, fact, nodes, inquiry)))
}

/// A number is worked out with rates of exchange of another year, which the question does not ask for.
fn other_rates(fact: &Fact, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    const RATES: [&str; 6] =
        ["constant currency", "constant-currency", "currency-neutral", "currency neutral", "fx effect", "fx impact"];
    const ASKS: [&str; 5] = ["constant", "neutral", "currenc", "exchange", " fx "];
    let asks = ASKS.iter().any(|cue| inquiry.has(cue));
    let is_of_rates = |header: &str| {
        let header = header.to_lowercase();
        RATES.iter().any(|rates| header.contains(rates))
    };
    let amiss = !asks && headers(nodes.get(fact.node)).any(is_of_rates);
    amiss.then(|| format!("{} is at other rates of exchange than those of its year", fact.text))
}

/// What stands under deferred taxes is no amount of what it is called: "capitalized research and development" is a tax asset there.
/// Of an excerpt that has no other the tax asset is meant.
fn deferred(fact: &Fact, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let asks = [" tax", "deferred", "valuation allowance"].iter().any(|cue| inquiry.has(cue));
    let is_deferred = |header: &str| header.to_lowercase().contains("deferred tax");
    (nodes.len() >= WHOLE && !asks && headers(nodes.get(fact.node)).any(is_deferred))
        .then(|| format!("{} is of deferred taxes, which the question does not name", fact.text))
}

/// The question asks for what there was at one end of a period, and a number is called that of the other end.
fn other_end(fact: &Fact, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    const BEGINS: [&str; 4] = ["beginning of", "beginning balance", "opening", "start of"];
    const ENDS: [&str; 6] = ["end of", "ending balance", "closing", "year-end", "year end", "ended with"];
    let asks = |ends: &[&str]| ends.iter().any(|end| inquiry.has(end));
    let says = |ends: &[&str]| {
        headers(nodes.get(fact.node)).any(|header| {
            let innermost = last(header).to_lowercase();
            ends.iter().any(|end| innermost.contains(end))
        })
    };
    let (begins, ends) = (says(&BEGINS), says(&ENDS));
    let amiss = asks(&ENDS) && !asks(&BEGINS) && begins && !ends || asks(&BEGINS) && !asks(&ENDS) && ends && !begins;
    amiss.then(|| format!("{} is of the other end of the period", fact.text))
}

/// Whether a family rests on what single rows are of.
fn is_of_rows(family: Family) -> bool {
    matches!(family, Family::Lookup | Family::Change | Family::PercentChange)
}

/// The cells below and above a number, itself among them.
fn in_column<'n>(fact: &Fact, nodes: &'n [RankedNode]) -> impl Iterator<Item = &'n RankedNode> {
    let column = fact.column();
    nodes.iter().filter(move |node| {
        let is = |(table, col)| matches!(node.position, Position::Cell { table: of, col: at, .. } if (of, at) == (table, col));
        node.kind == NodeKind::Cell && column.is_some_and(is)
    })
}

/// The question has the whole name of a total, and a number beside it in the same column is of something else.
fn component(family: Family, fact: &Fact, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    // Of a share of a total the part is a part.
    if !is_of_rows(family) || inquiry.wants_percentage() || !inquiry.has("total ") {
        return None;
    }
    let node = nodes.get(fact.node)?;
    let label = |node: &RankedNode| {
        let innermost = last(node.row_headers.as_deref()?).to_lowercase();
        (!innermost.is_empty()).then_some(innermost)
    };
    let is_said = |label: &str| {
        inquiry.text.match_indices(label).any(|(at, _)| {
            let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let (before, behind) = (&inquiry.text[..at], &inquiry.text[at + label.len()..]);
            !joins(before.chars().next_back()) && !joins(behind.chars().next())
        })
    };
    let own = label(node).filter(|own| !inquiry.text.contains(own.as_str()))?;
    let is_total =
        |other: &&RankedNode| label(other).is_some_and(|label| label.starts_with("total ") && is_said(&label));
    let total = in_column(fact, nodes).find(is_total)?;
    Some(format!("{} is of {own}, and {} of what the question names", fact.text, total.text))
}

/// What every part has of it: "collaboration revenues" are named by the collaboration.
const AMOUNTS: &str = "revenue sales amount net income expense cost";

/// Letters that two forms of one word share.
const BEGIN: usize = 5;

/// The question names a thing and none of its parts, and a number is of one part: its table has a total of all.
fn part(family: Family, fact: &Fact, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    if !is_of_rows(family) {
        return None;
    }
    let node = nodes.get(fact.node)?;
    let (thing, own) = node.row_headers.as_ref()?.rsplit_once(" > ")?;
    let of = |text: &str| stems(&text.to_lowercase()).collect::<Vec<String>>();
    let name = of(last(thing));
    let is_named = !name.is_empty() && name.iter().all(|word| inquiry.words.contains(word));
    let mut parts = of(own);
    parts.retain(|part| !of(AMOUNTS).contains(part));
    // "Internationally" is of "International".
    let is_said = |part: &String| {
        let begin: String = part.chars().take(BEGIN).collect();
        inquiry.words.iter().any(|word| word == part || part.chars().count() > BEGIN && word.starts_with(&begin))
    };
    let is_part = !parts.is_empty() && !parts.iter().any(is_said) && !own.to_lowercase().contains("total");
    if !is_named || !is_part {
        return None;
    }
    let is_total = |other: &&RankedNode| {
        let path = other.row_headers.as_ref().and_then(|path| path.rsplit_once(" > "));
        path.is_some_and(|(of, own)| of == thing && own.to_lowercase().starts_with("total"))
    };
    let total = in_column(fact, nodes).find(is_total)?;
    Some(format!("{} is of {own} alone, and {} of all of {thing}", fact.text, total.text))
}
