//! Answers by rules, without a language model: candidate programs over the best nodes, of which a log-linear model
//! takes one.

use rust_decimal::Decimal;
use tabsegnet::{NodeKind, RankedNode, Ranking};

use crate::answer::{Answer, Check, Citation};
use crate::candidates::{Candidate, Family, candidates, nothing};
use crate::checks::{check, check_number};
use crate::facts::{Fact, Facts};
use crate::quantity::Unit;
use crate::question::{Inquiry, Wanted};
use crate::run::Outcome;
use crate::weights::Weights;

/// Answers questions from ranked nodes.
///
/// What always holds: the same ranking gives the same answer; a ranking without nodes gives an abstention; the
/// confidence is from 0 to 1; an answer that is not an abstention cites at least one node, and all its checks pass; its
/// program, where it has one, gives its value from the cited nodes.
pub trait Policy: Sync {
    /// What answers call it: a word.
    fn name(&self) -> &'static str;

    /// Answers the ranking's question. Rows are completed from nodes far down: `ranking` should hold all of them.
    fn answer(&self, ranking: &Ranking) -> Answer;
}

/// Likelihood below which nothing is said: fewer than one such answer in sixteen would be right.
const LEAST: f32 = 0.06;
/// The same for sentences and words, whose likelihood is the ranker's.
const LEAST_WORDS: f32 = 0.05;
/// Best nodes among which a likelihood is shared out.
const SHARED: usize = 20;

/// Rules: what is wanted follows from the question's words, candidates from the best nodes' numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Policy for Rules {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn answer(&self, ranking: &Ranking) -> Answer {
        let inquiry = Inquiry::new(&ranking.question, ranking.read_as.as_deref());
        let answer = match inquiry.wanted {
            Wanted::Sentence => sentence(ranking),
            Wanted::Extreme { largest, year } => extreme(ranking, &inquiry, largest, year),
            Wanted::Value => None,
        };
        let answer = answer.unwrap_or_else(|| value(ranking, &inquiry));
        Answer {
            id: ranking.question_id.clone(),
            question: ranking.question.clone(),
            policy: self.name().to_owned(),
            ..answer
        }
    }
}

fn abstention(confidence: f32, checks: Vec<Check>) -> Answer {
    Answer { abstained: true, confidence, checks, ..Answer::default() }
}

/// Words of the document.
fn words(node: &RankedNode, answer: String, confidence: f32) -> Answer {
    let what = format!("the words stand in {}", node.id);
    Answer {
        answer,
        abstained: false,
        citations: vec![node.into()],
        ..abstention(confidence, vec![Check { what, passed: true }])
    }
}

/// The softmax of a node's score among the best nodes that are of its kind: what the reranker's trees are trained to
/// give.
fn likelihood(ranking: &Ranking, node: &RankedNode, of_kind: impl Fn(&RankedNode) -> bool) -> f32 {
    let best = ranking.nodes.iter().take(SHARED).filter(|other| of_kind(other));
    let sum: f32 = best.map(|other| (other.score - node.score).exp()).sum();
    if sum.is_finite() && sum > 0.0 { (1.0 / sum).min(1.0) } else { 0.0 }
}

fn sentence(ranking: &Ranking) -> Option<Answer> {
    let passage = |node: &RankedNode| node.kind == NodeKind::Passage;
    let node = ranking.nodes.iter().take(SHARED).find(|node| passage(node))?;
    let confidence = likelihood(ranking, node, passage);
    (confidence >= LEAST_WORDS).then(|| words(node, node.text.trim().to_owned(), confidence))
}

/// Which row, column or year has the largest or smallest number beside the best cell.
fn extreme(ranking: &Ranking, inquiry: &Inquiry, largest: bool, year: bool) -> Option<Answer> {
    let facts = Facts::new(ranking, inquiry);
    let best = facts.facts.iter().find(|fact| fact.place.is_some())?;
    let line = if year { facts.row(best.row()?, inquiry) } else { facts.column(best.column()?, inquiry) };
    let counted: Vec<Fact> = line.into_iter().filter(|fact| year || !fact.label.contains("total")).collect();
    if counted.len() < 2 {
        return None;
    }
    let values = counted.iter().map(|fact| fact.quantity.value);
    let wanted = if largest { values.max() } else { values.min() }?;
    let mut found = counted.iter().filter(|fact| fact.quantity.value == wanted);
    let (fact, None) = (found.next()?, found.next()) else { return None };
    let node = ranking.nodes.get(fact.node)?;
    let named = match (year, fact.latest()) {
        (true, Some(year)) => year.to_string(),
        (true, None) => node.column_headers.clone()?,
        (false, _) => node.row_headers.clone()?,
    };
    let confidence = likelihood(ranking, ranking.nodes.get(best.node)?, |node| node.kind == NodeKind::Cell);
    let mut answer = words(node, named, confidence);
    let others =
        counted.iter().filter(|other| other.node != fact.node).filter_map(|other| ranking.nodes.get(other.node));
    answer.citations.extend(others.map(Citation::from));
    let what = format!(
        "{} is the {} of {} numbers",
        fact.quantity.value,
        if largest { "largest" } else { "smallest" },
        counted.len()
    );
    answer.checks = vec![Check { what, passed: true }];
    Some(answer)
}

/// A number, a yes or no, or the words of the best cell.
fn value(ranking: &Ranking, inquiry: &Inquiry) -> Answer {
    let facts = Facts::new(ranking, inquiry);
    let all = candidates(&facts, inquiry);
    let weights = Weights::shipped();
    let none = weights.score(&nothing(&facts, inquiry));
    let scores: Vec<f32> = all.iter().map(|candidate| weights.score(&candidate.features)).collect();
    let highest = scores.iter().copied().fold(none, f32::max);
    let likelihoods: Vec<f32> = scores.iter().map(|score| (score - highest).exp()).collect();
    let sum = likelihoods.iter().sum::<f32>() + (none - highest).exp();
    // Programs that give the same value speak for it together.
    let mut values: Vec<(Outcome, f32, usize)> = Vec::new();
    let mut number_of = std::collections::HashMap::new();
    for (number, (candidate, likelihood)) in all.iter().zip(&likelihoods).enumerate() {
        let shown = rounded(candidate.outcome);
        let at = *number_of.entry(shown.to_string()).or_insert_with(|| {
            values.push((shown, 0.0, number));
            values.len() - 1
        });
        if let Some((_, of_value, best)) = values.get_mut(at) {
            *of_value += likelihood / sum;
            if likelihoods.get(*best).is_some_and(|of_best| likelihood > of_best) {
                *best = number;
            }
        }
    }
    let found = values.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best });
    let confidence = found.map_or(0.0, |(_, likelihood, _)| likelihood.clamp(0.0, 1.0));
    let chosen = found.and_then(|(_, _, number)| all.get(number));
    let looked_up = chosen.is_none_or(|candidate| candidate.family == Family::Lookup);
    if looked_up && let Some(words) = words_of_best(ranking, inquiry, confidence) {
        return words;
    }
    match chosen {
        Some(candidate) if confidence >= LEAST => computed(ranking, candidate, confidence, inquiry),
        _ => abstention(confidence, Vec::new()),
    }
}

/// To the five places that FinQA's script compares.
fn rounded(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Number(number) => Outcome::Number(number.round_dp(5).normalize()),
        verdict => verdict,
    }
}

/// The words of the best node, where it is a cell without a number and no number is wanted.
fn words_of_best(ranking: &Ranking, inquiry: &Inquiry, other: f32) -> Option<Answer> {
    let node = ranking.nodes.first().filter(|node| node.kind == NodeKind::Cell)?;
    let number =
        ["how much", "how many", "percent", "total", "average", "amount", "ratio"].iter().any(|cue| inquiry.has(cue));
    let shows_words = node.text.chars().filter(|c| c.is_alphabetic()).count() >= 3
        && !node.text.contains(|c: char| c.is_ascii_digit());
    let confidence = likelihood(ranking, node, |_| true);
    (shows_words && !number && confidence > other && confidence >= LEAST_WORDS)
        .then(|| words(node, node.text.trim().to_owned(), confidence))
}

fn computed(ranking: &Ranking, candidate: &Candidate, confidence: f32, inquiry: &Inquiry) -> Answer {
    let mut citations: Vec<Citation> = Vec::new();
    for node in candidate.facts.iter().filter_map(|fact| ranking.nodes.get(fact.node)) {
        if citations.iter().all(|citation| citation.node != node.id) {
            citations.push(node.into());
        }
    }
    let checks = match (&candidate.program, candidate.outcome) {
        (Some(program), outcome) => check(program, outcome, &citations),
        (None, Outcome::Number(number)) => vec![check_number(number, &citations)],
        (None, Outcome::Verdict(_)) => Vec::new(),
    };
    if citations.is_empty() || checks.iter().any(|check| !check.passed) {
        return abstention(confidence, checks);
    }
    let of_first = candidate.facts.first().and_then(|fact| fact.quantity.unit);
    let fraction = match candidate.family {
        Family::PercentChange | Family::Return | Family::ReturnDifference | Family::Share => true,
        Family::Ratio => ["percent", "portion", "share of", "%"].iter().any(|cue| inquiry.has(cue)),
        _ => false,
    };
    // A number whose own percent sign made it a hundredth in the program.
    let hundredth = candidate.program.is_some() && candidate.facts.iter().all(|fact| fact.percent_sign);
    let unit = match candidate.family {
        _ if fraction => Some(Unit::Percent),
        Family::Ratio | Family::Greater => None,
        Family::Product => {
            candidate.facts.iter().filter_map(|fact| fact.quantity.unit).find(|unit| *unit != Unit::Percent)
        }
        _ => of_first,
    };
    let scale = if fraction || unit == Some(Unit::Percent) { None } else { candidate.scale };
    let answer = match candidate.outcome {
        Outcome::Verdict(_) => candidate.outcome.to_string(),
        Outcome::Number(number) => {
            let percent = unit == Some(Unit::Percent) && (fraction || hundredth);
            let shown = if percent {
                number.checked_mul(Decimal::ONE_HUNDRED).unwrap_or(number).round_dp(2)
            } else {
                number.round_dp(5)
            };
            shown_number(shown, unit, scale.map(|scale| scale.to_string()))
        }
    };
    Answer {
        answer,
        abstained: false,
        value: Some(rounded(candidate.outcome).to_string()),
        unit,
        scale,
        program: candidate.program.as_ref().map(ToString::to_string),
        citations,
        ..abstention(confidence, checks)
    }
}

/// `-$1,234.5 million`, `12.3 %`.
fn shown_number(number: Decimal, unit: Option<Unit>, scale: Option<String>) -> String {
    let text = number.abs().normalize().to_string();
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let minus = if number.is_sign_negative() && !number.is_zero() { "-" } else { "" };
    let scale = scale.map_or_else(String::new, |scale| format!(" {scale}"));
    match unit {
        Some(Unit::Percent) => format!("{minus}{grouped}{rest} %"),
        Some(sign) => format!("{minus}{sign}{grouped}{rest}{scale}"),
        None => format!("{minus}{grouped}{rest}{scale}"),
    }
}

#[cfg(test)]
mod tests;
