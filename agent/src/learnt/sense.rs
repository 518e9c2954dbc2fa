//! What makes no sense though every number stands in a cell: a change from nothing, the number of another year, an amount
//! where a ratio is wanted.

mod extremes;
mod kinds;
mod places;
mod world;

use std::collections::BTreeSet;

use rust_decimal::Decimal;
use tabsegnet::ranking::Position;
use tabsegnet::{NodeKind, RankedNode};
use tabsegnet_document::facts::number_in_words;
use tabsegnet_document::months::MONTHS;

use crate::answer::Check;
use crate::candidates::Candidate;
use crate::facts::Fact;
use crate::family::Family;
use crate::names::is_named;
use crate::question::{Inquiry, names_quarter, quarters, stems};
use crate::run::Outcome;
use crate::years::is_year;

/// The first objection to a candidate, as a check that fails.
pub(super) fn objection(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<Check> {
    let of_sense = match (candidate.family, candidate.facts.as_slice()) {
        (Family::Lookup, [fact]) => {
            let node = nodes.get(fact.node);
            other_year(fact, nodes, inquiry)
                .or_else(|| no_ratio(fact, node, inquiry))
                .or_else(|| no_percentage_wanted(fact, node, inquiry))
                .or_else(|| no_quarter(node, inquiry))
                .or_else(|| no_dividend(fact, node, inquiry))
                .or_else(|| no_difference(fact, node, inquiry))
        }
        (Family::Ratio, [a, b]) if a.quantity.value.is_zero() => {
            Some(format!("{} over {} may be the other way round, by 0", a.text, b.text))
        }
        _ => None,
    };
    let of_sense = match inquiry.wants_verdict() && !is_verdict(candidate, inquiry) {
        true => Some("the question asks whether it is, and this is neither yes nor no".to_owned()),
        false => of_sense,
    };
    let what = undefined(candidate, inquiry)
        .or(of_sense)
        .or_else(|| kinds::objection(candidate, nodes, inquiry))
        .or_else(|| places::objection(candidate, nodes, inquiry))
        .or_else(|| one_time(candidate, inquiry))
        .or_else(|| extremes::objection(candidate, nodes, inquiry))
        .or_else(|| changes_of_changes(candidate, nodes))
        .or_else(|| unwanted(candidate, inquiry))
        .or_else(|| no_age(candidate, inquiry))
        .or_else(|| no_number(candidate, inquiry))
        .or_else(|| other_quarter(&candidate.facts, nodes, inquiry))
        .or_else(|| left_out(candidate, nodes, inquiry))
        .or_else(|| world::objection(candidate, nodes, inquiry))
        .or_else(|| another(candidate, nodes, inquiry));
    what.map(|what| Check { what, passed: false })
}

/// Whether a candidate may be what a question wants that is answered with yes or no: the comparison of two numbers; where that
/// alone does not say it a sentence, or a cell that does.
fn is_verdict(candidate: &Candidate, inquiry: &Inquiry) -> bool {
    let says = |words: &String| ["yes", "no"].contains(&words.trim().to_lowercase().as_str());
    match candidate.family {
        Family::Greater => inquiry.is_comparison(),
        Family::Sentence | Family::Span => !inquiry.is_comparison() || inquiry.compares_with_before(),
        _ => candidate.words.iter().any(says),
    }
}

/// Whether a candidate is what the question wants and has no value: then nothing else is the answer.
pub(super) fn is_undefined(candidate: &Candidate, inquiry: &Inquiry) -> bool {
    undefined(candidate, inquiry).is_some()
}

/// The percentage of a change from nothing.
fn undefined(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    match (candidate.family, candidate.facts.as_slice()) {
        (Family::PercentChange, [new, old]) => from_nothing(new, old),
        // Nor is their difference one.
        (Family::Change, [new, old]) if old.quantity.value.is_zero() && !new.is_percent() && inquiry.has("percent") => {
            Some(no_percentage(old))
        }
        (Family::Share, [part, _]) if part.quantity.value.is_zero() && is_change(inquiry) => Some(no_percentage(part)),
        _ => None,
    }
}

/// Nodes from which on a document is a whole report, which names what it has numbers of. Of an excerpt the question may
/// name the company, and the excerpt not.
const WHOLE: usize = 1000;

/// Passages and headings that a report begins with, which name whose it is.
const COVER: usize = 40;

/// The question names something, and no number of the answer is of it: in no header, caption or section, and in no sentence.
fn another(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    candidate.outcome.filter(|_| nodes.len() >= WHOLE)?;
    let cited = || candidate.facts.iter().filter_map(|fact| nodes.get(fact.node));
    let is_cover = |node: &&RankedNode| match node.position {
        Position::Heading { heading } => heading < COVER,
        Position::Passage { passage } => passage < COVER,
        _ => false,
    };
    // In small letters it may be any noun of the document.
    let of_all = |name: &str| {
        let small = name.starts_with(char::is_lowercase);
        is_named(name, nodes.iter().filter(|node| small || is_cover(node)).map(|node| node.text.as_str()))
    };
    let unnamed = inquiry.proper.iter().find(|name| !is_named(name, cited().flat_map(texts)) && !of_all(name))?;
    Some(format!(
        "the question names {unnamed}, and no number that the answer rests on is of it, as far as its headers say"
    ))
}

/// The paths of a cell's row headers and column headers.
fn headers(node: Option<&RankedNode>) -> impl Iterator<Item = &str> {
    node.into_iter().flat_map(RankedNode::headers)
}

/// What a node says and stands under.
fn texts(node: &RankedNode) -> impl Iterator<Item = &str> {
    let section = node.section.iter().map(String::as_str);
    node.headers().chain(node.caption.as_deref()).chain(section).chain([node.text.as_str()])
}

/// The question asks for a quarter, and the number is of a year, or of it is not said.
fn no_quarter(node: Option<&RankedNode>, inquiry: &Inquiry) -> Option<String> {
    let node = node.filter(|_| inquiry.names_quarter())?;
    let said: Vec<String> = texts(node).map(str::to_lowercase).collect();
    let says = |is: fn(&str) -> bool| said.iter().any(|text| is(text));
    let of_year =
        says(|text| ["year ended", "years ended", "fiscal year", "twelve months"].iter().any(|of| text.contains(of)));
    let of_day = says(|text| MONTHS.iter().any(|month| text.contains(month)));
    let is_one = |header: &str| !quarters_of(header).is_empty();
    let amiss = !says(names_quarter) && !headers(Some(node)).any(is_one) && (of_year || !of_day);
    amiss.then(|| format!("the question asks for a quarter, and {} is not said to be of one", node.text))
}

/// The quarters that a header names, an ordinal alone among them: "2019 > First".
fn quarters_of(header: &str) -> BTreeSet<usize> {
    const ORDINALS: [&str; 4] = ["first", "second", "third", "fourth"];
    let header = header.to_lowercase();
    let ordinal = ORDINALS.iter().position(|ordinal| header.split(" > ").any(|of| of.trim() == *ordinal));
    quarters(&header).into_iter().chain(ordinal.map(|at| at + 1)).collect()
}

/// The question names quarters, and the number is of another by its headers; what is worked out may be of several, of which "the
/// third and fourth quarter" names one.
fn other_quarter(facts: &[Fact], nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let named = Some(quarters(&inquiry.text)).filter(|named| !named.is_empty())?;
    let [fact] = facts else { return None };
    let mut of_headers = headers(nodes.get(fact.node)).map(quarters_of);
    let of = of_headers.find(|of| !of.is_empty() && of.is_disjoint(&named))?;
    let shown = |of: &BTreeSet<usize>| of.iter().map(|quarter| format!("Q{quarter}")).collect::<Vec<_>>().join(", ");
    Some(format!("a number is of {}, the question names {}", shown(&of), shown(&named)))
}

/// The question asks for the dividend of a share, and the number is not called one: earnings per share look like it.
fn no_dividend(fact: &Fact, node: Option<&RankedNode>, inquiry: &Inquiry) -> Option<String> {
    let wanted = inquiry.has("dividend") && inquiry.has("per share") && fact.place.is_some();
    let called = || node.is_some_and(|node| texts(node).any(|text| text.to_lowercase().contains("dividend")));
    (wanted && !called()).then(|| format!("the question asks for a dividend, and {} is not called one", fact.text))
}

/// The question leaves something out ("outside the United States"), and a number is of that.
fn left_out(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    const LEAVE: [&str; 5] = [" outside ", " other than ", " excluding ", " except ", " apart from "];
    const OTHERS: [&str; 9] =
        ["outside", "non-", "international", "foreign", "rest of", "other", "excluding", "except", "abroad"];
    let (leave, rest) = LEAVE.iter().find_map(|leave| Some((leave.trim(), inquiry.text.split_once(leave)?.1)))?;
    let after = ["the u.s.", "the us", "u.s.", "us"].iter().find_map(|us| {
        let rest = rest.strip_prefix(us).filter(|rest| !rest.starts_with(char::is_alphanumeric))?;
        Some(format!("united states {rest}"))
    });
    let named: Vec<String> = stems(after.as_deref().unwrap_or(rest)).take(2).collect();
    let of_that = |text: &str| {
        let text = text.to_lowercase();
        let own: Vec<String> = stems(&text).collect();
        !named.is_empty()
            && named.iter().all(|word| own.contains(word))
            && !OTHERS.iter().any(|other| text.contains(other))
    };
    // The largest of several is named first.
    let cited = match (candidate.outcome, candidate.family) {
        (Some(_), _) => candidate.facts.as_slice(),
        (None, Family::ArgMax | Family::ArgMin) => candidate.facts.get(..1)?,
        _ => return None,
    };
    let fact = cited.iter().find(|fact| headers(nodes.get(fact.node)).any(of_that))?;
    Some(format!("the question asks for what is {leave} something, and {} is of that", fact.text))
}

/// The question asks by how much something changed, and the number is what it changed to.
fn no_difference(fact: &Fact, node: Option<&RankedNode>, inquiry: &Inquiry) -> Option<String> {
    let start = inquiry.text.trim_start();
    let wanted = ["by how much ", "by how many "].iter().any(|by| start.starts_with(by)) && fact.place.is_some();
    let called = || {
        headers(node).map(str::to_lowercase).any(|header| {
            changes(&header)
                || ["difference", "variance", "var.", "vs", "+/-", "%", "over"].iter().any(|cue| header.contains(cue))
        })
    };
    (wanted && !fact.is_percent() && !called())
        .then(|| format!("the question asks by how much, and {} is not called a change", fact.text))
}

/// The question asks what percentage something is, and the number is an amount.
fn no_percentage_wanted(fact: &Fact, node: Option<&RankedNode>, inquiry: &Inquiry) -> Option<String> {
    let counts = fact.quantity.unit.is_some()
        || fact.quantity.scale.is_some()
        || fact.quantity.value.abs() > Decimal::ONE_HUNDRED;
    // Of dollars "in millions, except percentages" makes none.
    let is_money = fact.quantity.unit.is_some();
    let called = node.is_some_and(|node| {
        let texts: Vec<&str> = if is_money { headers(Some(node)).collect() } else { texts(node).collect() };
        texts.iter().any(|text| text.contains('%') || text.to_lowercase().contains("percent"))
    });
    let wanted = inquiry.wants_percentage() && counts || inquiry.wants_percent_change() && fact.place.is_some();
    let amount = wanted && !fact.is_percent() && !called;
    amount.then(|| format!("the question asks for a percentage, and {} is an amount", fact.text))
}

/// What asks for a mean; of the questions of FinQA's training part all that want one have such a word.
const MEANS: [&str; 6] = ["average", "avg", "mean", "per ", "annual", "typical"];
/// What asks for one number by another; all but two in a hundred of those questions have such a word.
#[rustfmt::skip]
const QUOTIENTS: [&str; 51] = [
    "percent", "%", "share", "ratio", "proportion", "portion", "part of", "margin", "rate", "per ", "times",
    "fraction", "relative", "compar", "as a", "yield", "return", "coverage", "turnover", "multiple", "growth", "grew",
    "change", "increas", "decreas", "declin", "rise", "rose", "fall", "fell", "drop", "reduc", "contribut", "weight",
    "account", "compris", "represent", "exceed", "mix", "consist", "out of", "made up", "make up", "how much of",
    "implied", "fluctuat", "variation", "price", "number of", "divid", " over ",
];

/// A mean, or one number by another, where nothing in the question asks for it: of amounts these are small numbers that look
/// like any other answer.
fn unwanted(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    let wants = |cues: &[&str]| cues.iter().any(|cue| inquiry.has(cue));
    match candidate.family {
        Family::Average | Family::RunAverage if !wants(&MEANS) => Some("the question asks for no mean".to_owned()),
        Family::Change | Family::PercentChange if wants_sum(inquiry) => {
            Some("the question asks for a sum, and this is a difference".to_owned())
        }
        // "What were total expenses", of which a part and its percentage are said.
        Family::Ratio if candidate.facts.get(1).is_some_and(Fact::is_percent) => None,
        Family::Ratio | Family::Share if !wants(&QUOTIENTS) && !wants(&MEANS) => {
            Some("the question asks for no number by another".to_owned())
        }
        _ => None,
    }
}

/// Whether a question wants several numbers added up, and says of nothing that it changed.
fn wants_sum(inquiry: &Inquiry) -> bool {
    const SUMS: [&str; 5] = ["add up", "adds up", "sum of", "put together", "taken together"];
    const APART: [&str; 9] = ["differ", " than ", "compared", "versus", " from ", "less", "fell", " rise", "rose"];
    let has = |cues: &[&str]| cues.iter().any(|cue| inquiry.has(cue));
    has(&SUMS) && !has(&APART) && !is_change(inquiry)
}

/// The question names two years, and both numbers of a change are of one that is not the later.
fn one_time(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    let (Family::Change | Family::PercentChange, [a, b]) = (candidate.family, candidate.facts.as_slice()) else {
        return None;
    };
    let ([first, second], [year]) = (inquiry.years.as_slice(), a.years.as_slice()) else { return None };
    let amiss = a.years == b.years && year < first.max(second) && (year == first || year == second);
    (amiss && a.place.is_some()).then(|| format!("{} and {} are both of {year}", a.text, b.text))
}

/// The question asks how old somebody is.
fn no_age(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    let age = |number: Decimal| number.is_integer() && (Decimal::from(14)..Decimal::from(111)).contains(&number);
    let is_age = match (candidate.family, candidate.outcome) {
        (Family::Lookup, Some(Outcome::Number(number))) => age(number) && candidate.scale.is_none(),
        // "58 years".
        (_, None) => candidate.words.iter().all(|words| words.split(' ').any(|word| word.parse().is_ok_and(age))),
        _ => false,
    };
    (inquiry.text.trim_start().starts_with("how old") && !is_age).then(|| "the question asks for an age".to_owned())
}

/// The question asks how many or how much, and the words have no number, or a day alone.
fn no_number(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    let asks = ["how many ", "how much "].iter().any(|asks| inquiry.text.contains(asks));
    let is_day = |word: &str| word.len() == 10 && word.matches('-').count() == 2;
    let is_number = |word: &str| {
        let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
        letters.contains(|c: char| c.is_ascii_digit()) && !is_day(letters) && !is_year(letters)
            || number_in_words(letters).is_some()
    };
    let says = |words: &String| words.split_whitespace().any(is_number);
    let says_none = candidate.outcome.is_none() && !candidate.words.iter().any(says);
    (asks && says_none).then(|| "the question asks how many or how much, and the words have no number".to_owned())
}

/// A change of numbers that are changes themselves.
fn changes_of_changes(candidate: &Candidate, nodes: &[RankedNode]) -> Option<String> {
    let [a, b] = candidate.facts.as_slice() else { return None };
    let of_changes = |fact: &Fact| {
        let column = nodes.get(fact.node).and_then(|node| node.column_headers.as_ref());
        column.is_some_and(|column| changes(&column.to_lowercase()))
    };
    let is_change = matches!(candidate.family, Family::Change | Family::PercentChange);
    match (of_changes(a), of_changes(b)) {
        _ if !is_change => None,
        (true, true) => Some(format!("{} and {} are changes themselves", a.text, b.text)),
        (true, false) => Some(format!("{} is a change itself", a.text)),
        (false, true) => Some(format!("{} is a change itself", b.text)),
        (false, false) => None,
    }
}

/// The question names years, and the number is of others: by its headers, and where these name none, by what stands over its
/// table.
fn other_year(fact: &Fact, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let node = nodes.get(fact.node);
    let over = |node: &RankedNode| -> Vec<u16> {
        let headings = node.caption.as_deref().into_iter().chain(node.section.last().map(String::as_str));
        headings.flat_map(|heading| inquiry.years_in(heading)).collect()
    };
    let mut of = match (fact.years.as_slice(), node) {
        ([], Some(node)) if fact.place.is_some() => over(node),
        (of, _) => of.to_vec(),
    };
    // A column of shares between those of years is of one of these.
    if of.is_empty()
        && fact.is_percent()
        && let Some((table, row, _)) = fact.place
    {
        let beside = nodes.iter().filter(|node| {
            matches!(node.position, Position::Cell { table: of, row: at, .. } if (of, at) == (table, row))
                && node.kind == NodeKind::Cell
        });
        of = beside.flat_map(|node| node.column_headers.iter().flat_map(|header| inquiry.years_in(header))).collect();
        of.sort_unstable();
        of.dedup();
    }
    let named = &inquiry.years;
    // A fiscal year may end in the one after: October 2025 is of fiscal 2026.
    let in_fiscal = |year: &u16| named.contains(&(year + 1));
    let of_day = || {
        node.and_then(|node| node.column_headers.as_ref()).is_some_and(|header| {
            let header = header.to_lowercase();
            MONTHS.iter().any(|month| header.contains(month.get(..3).unwrap_or(month)))
        })
    };
    if (inquiry.has("fiscal") || inquiry.has("fy")) && of.iter().any(in_fiscal) && of_day() {
        return None;
    }
    let other = !named.is_empty() && !of.is_empty() && named.iter().all(|year| !of.contains(year));
    let shown = |years: &[u16]| years.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    other.then(|| format!("the number is of {}, the question names {}", shown(&of), shown(named)))
}

/// What is no amount; in their last word headers say the same.
const RATIOS: [&str; 7] =
    [" ratio", " margin", " density", " per employee", " per capita", " interest coverage", " tax rate"];

/// The question asks for a ratio, and the number is an amount that is not called so.
fn no_ratio(fact: &Fact, node: Option<&RankedNode>, inquiry: &Inquiry) -> Option<String> {
    let wanted = RATIOS.iter().find(|ratio| inquiry.has(ratio))?;
    let node = node.filter(|node| node.kind == NodeKind::Cell && !fact.is_percent())?;
    let word = wanted.rsplit(' ').next().unwrap_or(wanted);
    let named = node.headers().chain(node.caption.as_deref()).any(|header| header.to_lowercase().contains(word));
    (!named).then(|| format!("the question asks for a{wanted}, and {} is an amount", fact.text))
}

fn is_change(inquiry: &Inquiry) -> bool {
    changes(&inquiry.text)
}

fn changes(text: &str) -> bool {
    ["change", "increas", "decreas", "growth", "grow", "declin"].iter().any(|cue| text.contains(cue))
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
