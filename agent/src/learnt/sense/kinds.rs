//! What kind of thing a number is: a year that stands for a date, an amount of money, a percentage.

use std::collections::BTreeSet;

use tabsegnet::RankedNode;
use tabsegnet_document::facts::number_in_words;
use tabsegnet_document::months::MONTHS;

use crate::candidates::Candidate;
use crate::facts::Fact;
use crate::family::Family;
use crate::quantity::{Unit, Written, of_sentence, sum_of_others};
use crate::question::{Inquiry, stems, words};
use crate::run::Outcome;
use crate::years::{is_date, may_be_year, years};

use super::headers;

/// The question wants another kind than this, or nothing can be computed from such kinds.
pub(super) fn objection(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    no_year(candidate, inquiry)
        .or_else(|| no_name(candidate, inquiry))
        .or_else(|| denied(candidate, nodes, inquiry))
        .or_else(|| other_noun(candidate, nodes, inquiry))
        .or_else(|| total_among_parts(candidate))
        .or_else(|| other_months(candidate, nodes, inquiry))
        .or_else(|| no_count(candidate, inquiry))
        .or_else(|| no_amount(candidate, inquiry))
        .or_else(|| date(candidate, nodes, inquiry))
        .or_else(|| money_by_money(candidate))
        .or_else(|| percentage_by_percentage(candidate, inquiry))
}

/// The question asks in which year, and this says none.
fn no_year(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    const ASKS: [&str; 4] = [" which year ", " what year ", " which fiscal year ", " what fiscal year "];
    let asks = ASKS.iter().any(|asks| inquiry.text.contains(asks));
    let says = match candidate.outcome {
        Some(Outcome::Number(number)) => may_be_year(number),
        Some(_) => true,
        None => candidate.words.iter().any(|text| !years(text).is_empty()),
    };
    (asks && !says).then(|| "the question asks in which year, and this says none".to_owned())
}

/// The question asks which of several things, and this is a time, or how much of something.
fn no_name(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    #[rustfmt::skip]
    const OF_TIME: [&str; 9] = ["year", "quarter", "month", "period", "date", "day", "week", "when", "time"];
    #[rustfmt::skip]
    const OF_AMOUNT: [&str; 8] = ["percent", "amount", "number", "value", "rate", "share", "proportion", "portion"];
    let start = inquiry.text.trim_start();
    let asks = ["which ", "in which ", "who "].iter().any(|asks| start.starts_with(asks));
    let noun = start.split(' ').nth(1).unwrap_or_default();
    let of_amount = OF_AMOUNT.iter().any(|of| noun.starts_with(of));
    let is_amount = || {
        let says = |fact: &Fact| fact.quantity.unit.is_some() || fact.quantity.scale.is_some();
        matches!(candidate.outcome, Some(Outcome::Number(_)))
            && (candidate.program.is_some() || candidate.facts.iter().any(says))
    };
    if asks && !of_amount && is_amount() {
        return Some("the question asks which of several things, and this is an amount".to_owned());
    }
    let of_time = OF_TIME.iter().any(|of| inquiry.has(of));
    let is_time = |text: &String| {
        let is_part = |word: &str| {
            let word = word.to_lowercase();
            word.chars().all(|c| c.is_ascii_digit()) || MONTHS.contains(&word.as_str()) || word == "fy"
        };
        let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        !years(text).is_empty() && words.all(is_part)
    };
    // "Which was higher, 2010 or 2011".
    let is_name = matches!(candidate.family, Family::ArgMax | Family::ArgMin | Family::Which)
        || matches!(candidate.family, Family::Word | Family::Header) && inquiry.years.len() < 2;
    (asks && !of_time && is_name && candidate.words.iter().any(is_time))
        .then(|| "the question asks which of several things, and this is a time".to_owned())
}

/// What the number is of is called the opposite of what the question names: non-operating income is no operating income.
fn denied(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let denies = |header: &&str| {
        let header = header.to_lowercase();
        let mut after = header
            .split([' ', '>', '('])
            .filter_map(|word| word.strip_prefix("non-").or_else(|| word.strip_prefix("non")));
        after.any(|word| word.len() > 3 && inquiry.means(&format!(" {word}")) && !inquiry.means("non"))
    };
    let header =
        candidate.facts.iter().filter_map(|fact| nodes.get(fact.node)).flat_map(RankedNode::headers).find(denies)?;
    Some(format!("{header} is not what the question names"))
}

/// The question asks how many there are of something that another number of the same sentence counts: of "36,000 employees in 38
/// countries" 38 are no employees.
fn other_noun(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let ([fact], Family::Lookup) = (candidate.facts.as_slice(), candidate.family) else { return None };
    // "34 papers in 2023, and 27 in 2022".
    let is_told_by_year = fact.years.iter().any(|year| inquiry.years.contains(year));
    let text = nodes.get(fact.node).filter(|_| fact.place.is_none() && !is_told_by_year)?.text.to_lowercase();
    let nouns: Vec<String> = inquiry.text.split_once("how many ").map(|(_, after)| counted(after))?;
    let is_counted = |behind: &str| {
        let behind = behind.split(['.', ';', ',']).next().unwrap_or_default();
        words(behind).into_iter().take(NOUN).any(|(word, _)| nouns.contains(&word))
    };
    let counts = |written: &Written| is_counted(text.get(written.end..).unwrap_or_default());
    let all = of_sentence(&text);
    all.get(fact.number).filter(|own| !counts(own))?;
    let digits = all.iter().find(|written| counts(written)).and_then(|other| text.get(other.start..other.end));
    // "Nine collective agreements".
    let tokens: Vec<&str> = text.split(' ').collect();
    let is_spelled = |(at, word): &(usize, &str)| {
        number_in_words(word).is_some() && is_counted(&tokens.get(at + 1..).unwrap_or_default().join(" "))
    };
    let spelled = || tokens.iter().copied().enumerate().find(is_spelled).map(|(_, word)| word);
    let other = digits.or_else(spelled)?;
    Some(format!(
        "the question asks how many there are of what {other} counts, and {} counts something else",
        fact.text
    ))
}

/// Words behind a number, but for those without meaning, that say what it counts.
const NOUN: usize = 3;

/// What "how many" counts, as stems: the words before a verb.
fn counted(after: &str) -> Vec<String> {
    #[rustfmt::skip]
    const VERBS: [&str; 18] = [
        "did", "does", "do", "is", "are", "was", "were", "has", "have", "had", "will", "would", "can", "could", "work", "works",
        "of", "in",
    ];
    let noun = after.split(' ').take_while(|word| !VERBS.contains(word)).collect::<Vec<&str>>().join(" ");
    stems(&noun).collect()
}

/// A sum of parts and of their sum.
fn total_among_parts(candidate: &Candidate) -> Option<String> {
    if !matches!(candidate.family, Family::Sum | Family::RunSum | Family::RunAverage) || candidate.facts.len() < 3 {
        return None;
    }
    let is_total = sum_of_others(candidate.facts.iter().map(|fact| fact.quantity.value));
    let fact = candidate.facts.iter().find(|fact| is_total(fact.quantity.value))?;
    Some(format!("{} is the sum of the others already", fact.text))
}

/// Whether a number is a year that a row or a column tells, and not an amount.
fn is_year_of_date(fact: &Fact, nodes: &[RankedNode]) -> bool {
    is_date(&fact.text, headers(nodes.get(fact.node)))
}

/// A year where the question asks how much or how many, or computed from years where it asks for no time.
fn date(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let of_time = ["year", "how long", "how old", " age ", " later", " earlier", " apart", " when "]
        .iter()
        .any(|of| inquiry.text.contains(of));
    let asks = ["how many ", "how much "].iter().any(|asks| inquiry.text.contains(asks));
    let amiss = match candidate.family {
        Family::Lookup => asks && !of_time,
        _ => candidate.program.is_some() && !of_time,
    };
    let fact = candidate.facts.iter().find(|fact| is_year_of_date(fact, nodes)).filter(|_| amiss)?;
    Some(format!("{} is a date, and the question asks for none", fact.text))
}

/// Amounts of money are not multiplied.
fn money_by_money(candidate: &Candidate) -> Option<String> {
    let [a, b] = candidate.facts.as_slice() else { return None };
    let is_money = |fact: &Fact| fact.quantity.unit.is_some_and(|unit| unit != Unit::Percent);
    (candidate.family == Family::Product && is_money(a) && is_money(b))
        .then(|| format!("{} and {} are amounts of money, which are not multiplied", a.text, b.text))
}

/// The question asks what percentage something is, and this is one percentage by another.
fn percentage_by_percentage(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    let [a, b] = candidate.facts.as_slice() else { return None };
    let both = a.is_percent() && b.is_percent();
    let by = matches!(candidate.family, Family::Ratio | Family::Share);
    (by && both && inquiry.wants_percentage()).then(|| format!("{} by {} is no share of anything", a.text, b.text))
}

/// The question asks how many there are, and this is money or a percentage.
fn no_count(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    #[rustfmt::skip]
    const OF_MONEY: [&str; 17] = [
        "dollar", "money", "cent", "euro", "pound", "$", "€", "£", "usd", "million", "billion", "thousand", "amount", "value",
        "worth", "cost", "price",
    ];
    let of = |words: &[&str]| words.iter().any(|word| inquiry.has(word));
    if !inquiry.has("how many ") {
        return None;
    }
    let is_money = candidate.facts.iter().any(|fact| fact.quantity.unit.is_some_and(|unit| unit != Unit::Percent));
    let is_percentage = match (candidate.family, candidate.facts.as_slice()) {
        (Family::Lookup, [fact]) => fact.is_percent(),
        (Family::Sum | Family::RunSum, facts) => facts.iter().all(Fact::is_percent),
        (family, _) => family == Family::PercentChange,
    };
    match candidate.family {
        _ if is_percentage && !of(&["percent", "basis point"]) => {
            Some("the question asks how many, and this is a percentage".to_owned())
        }
        Family::Lookup | Family::Product | Family::Sum | Family::Change if is_money && !of(&OF_MONEY) => {
            Some("the question asks how many, and this is money".to_owned())
        }
        _ => None,
    }
}

/// The question asks how much of something there was, and this is a percentage.
fn no_amount(candidate: &Candidate, inquiry: &Inquiry) -> Option<String> {
    #[rustfmt::skip]
    const AMOUNTS: [&str; 12] = [
        "revenue", " sales", "net income", "earnings", "profit", " expense", " cash", " assets", " liabilities", " debt", "dividends",
        " equity",
    ];
    #[rustfmt::skip]
    const SHARES: [&str; 26] = [
        "percent", "%", "margin", "rate", "growth", "grow", "grew", "share", "portion", "part", "change", "increas", "decreas", "ratio",
        "yield", "return", "how fast", "declin", " rise", " fall", " drop", "weight", "mix", "account for", "much of", "contribut",
    ];
    let ([fact], Family::Lookup) = (candidate.facts.as_slice(), candidate.family) else { return None };
    let start = inquiry.text.trim_start();
    let asks =
        ["what was ", "what were ", "what is ", "what are ", "how much "].iter().any(|asks| start.starts_with(asks));
    let of = |words: &[&str]| words.iter().any(|word| inquiry.has(word));
    (asks && fact.is_percent() && of(&AMOUNTS) && !of(&SHARES))
        .then(|| format!("the question asks for an amount, and {} is a percentage", fact.text))
}

/// How many months the spans of time have that a text in lower case names, and which halves of a year.
fn spans(text: &str) -> (BTreeSet<u8>, BTreeSet<u8>) {
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let (mut months, mut halves) = (BTreeSet::new(), BTreeSet::new());
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or("");
        let (of, half) = match (*word, next) {
            ("q1" | "q2" | "q3" | "q4" | "quarter", _) | ("three", "months") => (3, None),
            ("h1", _) | ("first", "half") => (6, Some(1)),
            ("h2", _) | ("second", "half") => (6, Some(2)),
            ("six", "months") | ("6m", _) => (6, None),
            ("nine", "months") | ("9m", _) => (9, None),
            ("full" | "whole", "year") | ("twelve", "months") | ("year" | "years", "ended") => (12, None),
            _ => continue,
        };
        months.insert(of);
        halves.extend(half);
    }
    (months, halves)
}

/// The question names a span of months, and a number is of a longer or shorter one, or of the other half of a year.
fn other_months(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    let (mut wanted, halves) = spans(&inquiry.text);
    let of_year = || inquiry.has(" fy") || inquiry.has("fiscal year");
    if wanted.is_empty() && candidate.family == Family::Lookup && of_year() {
        wanted.insert(12);
    }
    let is_other = |fact: &&Fact| {
        let headers: Vec<String> = headers(nodes.get(fact.node)).map(str::to_lowercase).collect();
        let (months, of_halves) = spans(&headers.join(" | "));
        let apart = |a: &BTreeSet<u8>, b: &BTreeSet<u8>| !a.is_empty() && !b.is_empty() && a.is_disjoint(b);
        apart(&wanted, &months) || apart(&halves, &of_halves)
    };
    let fact = candidate.facts.iter().find(is_other)?;
    Some(format!("{} is of another span of time than the question names", fact.text))
}
