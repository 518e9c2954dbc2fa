//! What counts as a right answer.

use tabsegnet::Ranking;
use tabsegnet_agent::quantity::Scale;
use tabsegnet_agent::{Candidates, Prediction};
use tabsegnet_datasets::AnswerRule;
use tabsegnet_datasets::sample::{GoldAnswer, Question};
use tabsegnet_evaluation::answers::{Strictness, executes_to, rounds_to, same, tatqa};

/// Whether a candidate answers a question.
pub(super) fn is_right(
    rule: AnswerRule,
    question: &Question,
    ranking: &Ranking,
    candidates: &Candidates,
    number: usize,
    prediction: &Prediction,
) -> bool {
    match (&question.answer, rule) {
        (Some(gold), _) => {
            let Prediction { texts, value, scale, .. } = prediction;
            let [first, second] = judged(rule, gold, texts, value.as_deref(), *scale);
            // Most of a span teaches too.
            let right = if rule == AnswerRule::Span { second } else { first };
            // A number that merely happens to stand somewhere is no sum.
            let computed = matches!(gold.kind.as_str(), "arithmetic" | "count");
            right >= 0.8 && (!computed || candidates.is_computed(number))
        }
        _ => {
            let nodes = candidates.nodes(number);
            let first = nodes.first().and_then(|node| ranking.nodes.get(*node));
            !candidates.is_computed(number)
                && candidates.is_whole(number)
                && first.is_some_and(|node| question.gold.contains(&node.id))
        }
    }
}

/// The two measures of a data set, from 0 to 1: what FinQA's program gives, twice; TAT-QA's exact match and F1; exact
/// match as the authors count it and strictly.
pub(super) fn judged(
    rule: AnswerRule,
    gold: &GoldAnswer,
    texts: &[String],
    value: Option<&str>,
    scale: Option<Scale>,
) -> [f32; 2] {
    let flag = |is: bool| f32::from(u8::from(is));
    match rule {
        AnswerRule::Program => {
            let gives = |(value, expected): (&str, &String)| match gold.kind.as_str() {
                "written" => rounds_to(value, expected),
                _ => executes_to(value, expected),
            };
            [flag(value.zip(gold.values.first()).is_some_and(gives)); 2]
        }
        AnswerRule::Span => {
            let scale = scale.map_or_else(String::new, |scale| scale.to_string());
            let (exact, overlap) = tatqa(texts, &scale, &gold.values, &gold.scale, &gold.kind);
            [exact, overlap]
        }
        AnswerRule::Nodes => {
            let given = |expected: &String| Some(is_amount(value?.parse().ok()?, expected.parse().ok()?, scale));
            let right = gold.values.first().is_some_and(|expected| given(expected).unwrap_or(false));
            [flag(right); 2]
        }
        AnswerRule::Match => {
            [Strictness::Authors, Strictness::Strict].map(|strictness| flag(same(texts, &gold.values, strictness)))
        }
    }
}

/// Whether a number is an amount in full; of one whose scale is not known, by any.
fn is_amount(value: f64, amount: f64, scale: Option<Scale>) -> bool {
    let powers = scale.map_or(vec![0, 3, 6, 9], |scale| vec![scale.power() as i32]);
    // Values are rounded to five places.
    let near = |power| (value * 10_f64.powi(power) - amount).abs() <= 1.1e-5 + 2e-4 * amount.abs();
    powers.into_iter().any(near)
}

/// Which of a question's candidates are right.
pub(super) fn right(rule: AnswerRule, question: &Question, ranking: &Ranking, candidates: &Candidates) -> Vec<bool> {
    let is_right = |(number, prediction)| is_right(rule, question, ranking, candidates, number, prediction);
    candidates.predictions().iter().enumerate().map(is_right).collect()
}
