//! SQL from a question without a language model: candidate statements over linked columns and values, of which a
//! log-linear model takes one, or none.
//!
//! Candidates are made over a [`Scope`], which is a table, or tables with the `FROM` clause that joins them.

mod candidates;
mod conditions;
mod features;
mod known;
mod question;
mod weights;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::QueryError;
use crate::rows::{Rows, Value};
use candidates::Candidate;
pub use features::Vocabulary;
use features::{Featurizer, Names};
pub use known::{Field, Known, Labels, Scope};
use question::Question;
use weights::Weights;

/// A candidate whose rows have more different values than this answers no question.
const MOST_ROWS: usize = 10;

/// How likely a statement must be to be proposed; [`Generation::chosen`] says what is below it.
pub const LEAST: f32 = 0.25;

/// A statement for a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The statement.
    pub sql: String,
    /// What it answers.
    pub rows: Rows,
    /// How likely its answer is right, from 0 to 1, all statements with the same answer taken together.
    pub confidence: f32,
}

/// What was made of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Generation {
    /// The best statements by their answers, the likeliest first; each has another answer. At most five.
    pub proposals: Vec<Proposal>,
    /// Whether nothing is said: the best is less likely than [`LEAST`], or there is none.
    pub abstained: bool,
}

impl Generation {
    /// The statement, unless nothing is said.
    pub fn chosen(&self) -> Option<&Proposal> {
        self.proposals.first().filter(|_| !self.abstained)
    }
}

/// How many proposals are named.
const NAMED: usize = 5;

/// A candidate that was run.
struct Answered {
    candidate: Candidate,
    rows: Rows,
    /// Its values, for comparing with others.
    answer: Vec<String>,
}

/// Proposes a statement. `run` runs one that reads; it is called up to some hundred times, and not after `time`.
pub fn generate(
    question: &str,
    known: &Known,
    scopes: &[Scope],
    time: Duration,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Generation {
    let weights = Weights::shipped();
    let mut names = Names::Fixed(weights.names());
    let read = Question::new(question, known);
    let start = Instant::now();
    let mut answered = Vec::new();
    for scope in scopes {
        answered.extend(answer(&read, known, scope, &mut |sql| {
            if start.elapsed() > time { Err(QueryError::stopped("time")) } else { run(sql) }
        }));
    }
    let mut features = Featurizer::new(&read, known);
    let mut scores = vec![weights.score(&features.none(&mut names))];
    scores.extend(answered.iter().map(|each| weights.score(&features.of(&each.candidate, &each.rows, &mut names))));
    let likelihoods = tabsegnet_choice::likelihoods(&scores);
    let mut of_answer: HashMap<&[String], (f32, f32, usize)> = HashMap::new();
    for (at, (each, likelihood)) in answered.iter().zip(likelihoods.iter().skip(1)).enumerate() {
        let (all, best, best_at) = of_answer.entry(&each.answer).or_insert((0.0, -1.0, at));
        *all += likelihood;
        if likelihood > best {
            (*best, *best_at) = (*likelihood, at);
        }
    }
    let mut ranked: Vec<(f32, usize)> = of_answer.into_values().map(|(all, _, at)| (all, at)).collect();
    ranked.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    ranked.truncate(NAMED);
    let proposals: Vec<Proposal> = ranked
        .into_iter()
        .filter_map(|(confidence, at)| {
            let each = answered.get(at)?;
            Some(Proposal { sql: each.candidate.sql.clone(), rows: each.rows.clone(), confidence: confidence.min(1.0) })
        })
        .collect();
    let abstained = proposals.first().is_none_or(|best| best.confidence < LEAST);
    Generation { proposals, abstained }
}

/// Makes the candidates of a scope and runs them; those that say nothing, or too much, are left out.
fn answer(
    question: &Question,
    known: &Known,
    scope: &Scope,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Vec<Answered> {
    let mut answered = Vec::new();
    for candidate in candidates::candidates(question, known, scope) {
        let Ok(rows) = run(&candidate.sql) else { continue };
        let answer = answer_of(&rows);
        if !answer.is_empty() && answer.len() <= MOST_ROWS && !rows.truncated {
            answered.push(Answered { candidate, rows, answer });
        }
    }
    answered
}

/// The different values of the first column in order; empty where one is NULL.
fn answer_of(rows: &Rows) -> Vec<String> {
    let mut answer = Vec::new();
    for row in &rows.rows {
        let text = match row.first() {
            Some(Value::Integer(value)) => value.to_string(),
            // As the integer that it is.
            #[allow(clippy::float_cmp, reason = "a whole number is one exactly")]
            Some(Value::Real(value)) if value.trunc() == *value && value.abs() < 1e15 => format!("{value:.0}"),
            Some(Value::Real(value)) => format!("{value}"),
            Some(Value::Text(text)) if !text.trim().is_empty() => text.trim().to_lowercase(),
            _ => return Vec::new(),
        };
        answer.push(text);
    }
    answer.sort();
    answer.dedup();
    answer
}

/// A candidate for fitting: its answer and its features.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The statement.
    pub sql: String,
    /// The different values of its first column.
    pub answer: Vec<String>,
    /// Its features, by the vocabulary's numbers.
    pub features: tabsegnet_choice::Features<u32>,
}

/// What fitting takes: the features of no answer, and all candidates of a question. New features get numbers.
pub fn scored(
    question: &str,
    known: &Known,
    scopes: &[Scope],
    vocabulary: &mut Vocabulary,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> (tabsegnet_choice::Features<u32>, Vec<Scored>) {
    let read = Question::new(question, known);
    let mut names = Names::Growing(vocabulary);
    let mut features = Featurizer::new(&read, known);
    let none = features.none(&mut names);
    let mut all = Vec::new();
    for scope in scopes {
        for each in answer(&read, known, scope, run) {
            let of = features.of(&each.candidate, &each.rows, &mut names);
            all.push(Scored { sql: each.candidate.sql, answer: each.answer, features: of });
        }
    }
    (none, all)
}

/// The words, pairs of words, words of labels (`label ...`) and head words (`head ...`) of a question: what a
/// [`Vocabulary`] is made of.
pub fn phrases(question: &str, known: &Known) -> Vec<String> {
    features::phrases_of(&Question::new(question, known), known)
}
