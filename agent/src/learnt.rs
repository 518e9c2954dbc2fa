//! Answers by the learnt choice.

mod sense;

use tabsegnet::Ranking;

use crate::answer::{Answer, Check, Citation};
use crate::candidates::Candidate;
use crate::checks::{check, check_number};
use crate::choice::{Candidates, Choice};
use crate::either::Either;
use crate::family::Family;
use crate::prediction::Prediction;
use crate::question::Inquiry;
use crate::rules::Policy;
use crate::run::Outcome;
use crate::threshold::Threshold;

use sense::{is_undefined, objection};

/// Likeliest candidates that are looked at until one is not objected to.
const SAID: usize = 20;

/// Answers with the candidate that a [`Choice`] takes, or abstains where its confidence is below the threshold.
#[derive(Debug, Clone)]
pub struct Learnt(pub Choice);

impl Learnt {
    /// Answers from the ranking's first `nodes` nodes alone, such as those that are known to be right; the others say what
    /// stands around them.
    pub fn answer_from(&self, ranking: &Ranking, nodes: usize) -> Answer {
        let mut candidates = Candidates::of(ranking);
        candidates.keep_first(nodes);
        self.answer_with(ranking, &candidates)
    }

    fn answer_with(&self, ranking: &Ranking, candidates: &Candidates) -> Answer {
        let chosen = self.0.choose(candidates);
        let confidence = chosen.first().map_or(0.0, |chosen| chosen.confidence);
        let mut answer = Answer::abstention(confidence, Vec::new());
        // Where the likeliest is objected to, the next that is likely enough; else why the likeliest is not said.
        for chosen in chosen.into_iter().take_while(|chosen| chosen.is_said).take(SAID) {
            let parts = candidates.candidates.get(chosen.candidate).zip(candidates.predictions.get(chosen.candidate));
            let Some(parts) = parts else { continue };
            let next = given(ranking, &candidates.inquiry, parts, chosen.confidence);
            if !next.abstained {
                answer = next;
                break;
            }
            if answer.checks.is_empty() {
                answer = next;
            }
            if is_undefined(parts.0, &candidates.inquiry) {
                break;
            }
        }
        answer.of(ranking, self.name())
    }
}

impl Policy for Learnt {
    fn name(&self) -> &'static str {
        "learnt"
    }

    fn answer(&self, ranking: &Ranking) -> Answer {
        let to = |candidates: Candidates| self.answer_with(ranking, &candidates);
        let answer = if let Some(threshold) = Threshold::of(&ranking.question) {
            threshold.verdict(to(threshold.candidates(ranking)))
        } else if let Some(either) = Either::of(&ranking.question) {
            either.year(to(either.candidates(ranking)))
        } else {
            to(Candidates::of(ranking))
        };
        answer.of(ranking, self.name())
    }
}

/// The answer of a candidate; an abstention where a check fails.
pub(crate) fn given(
    ranking: &Ranking,
    inquiry: &Inquiry,
    (candidate, prediction): (&Candidate, &Prediction),
    confidence: f32,
) -> Answer {
    let mut citations: Vec<Citation> = Vec::new();
    for node in candidate.facts.iter().filter_map(|fact| ranking.nodes.get(fact.node)) {
        if citations.iter().all(|citation| citation.node != node.id) {
            citations.push(node.into());
        }
    }
    let mut checks = match (&candidate.program, candidate.outcome) {
        (Some(program), Some(outcome)) => check(program, outcome, &citations),
        (None, Some(Outcome::Number(_))) if candidate.family == Family::Count => {
            let what = format!("{} of {} numbers are counted", prediction.text(), citations.len());
            vec![Check { what, passed: true }]
        }
        (None, Some(Outcome::Number(number))) => vec![check_number(number, &citations)],
        _ => prediction.texts.iter().map(|text| check_words(text, &citations)).collect(),
    };
    checks.extend(objection(candidate, &ranking.nodes, inquiry));
    if citations.is_empty() || checks.iter().any(|check| !check.passed) {
        return Answer::abstention(confidence, checks);
    }
    Answer {
        answer: prediction.text(),
        answers: prediction.texts.clone(),
        abstained: false,
        value: prediction.value.clone(),
        unit: prediction.unit,
        scale: prediction.scale,
        program: candidate.program.as_ref().map(ToString::to_string),
        citations,
        ..Answer::abstention(confidence, checks)
    }
}

/// Whether words stand in a cited node or its headers.
pub(crate) fn check_words(words: &str, citations: &[Citation]) -> Check {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let wanted = plain(words);
    let holds = |citation: &&Citation| {
        let texts = [Some(&citation.text), citation.row_headers.as_ref(), citation.column_headers.as_ref()];
        texts.into_iter().flatten().any(|text| plain(text).contains(&wanted))
    };
    match citations.iter().find(holds) {
        Some(citation) => Check { what: format!("the words stand in {}", citation.node), passed: true },
        None => Check { what: format!("{words:?} stands in a cited node"), passed: false },
    }
}

#[cfg(test)]
mod tests;
