//! Fits the weights that choose among candidate programs, `agent/src/weights.json`, on questions with known answers.
//!
//!     fit_answers --output agent/src/weights.json KIND:RANKINGS:DATA...
//!
//! KIND is `finqa` or `tatqa`, RANKINGS what `infer --dataset KIND --input DATA --format jsonl --top-k 400` writes, DATA the
//! published file. The softmax over a question's candidates and "none of them" is fitted to what is right.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::Value;
use tabsegnet::Ranking;
use tabsegnet_agent::Outcome;
use tabsegnet_agent::fit::{Scored, feature_names, scored_candidates};
use tabsegnet_choice::{Example, Fitting, fit};

const FITTING: Fitting = Fitting { steps: 200, rate: 0.05, penalty: 0.4 };

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flag, output, parts @ ..] = arguments.as_slice() else { bail!("see the head of this file") };
    if flag != "--output" || parts.is_empty() {
        bail!("see the head of this file");
    }
    let mut examples = Vec::new();
    for part in parts {
        let [kind, rankings, data] = part.split(':').collect::<Vec<_>>()[..] else {
            bail!("{part}: KIND:RANKINGS:DATA")
        };
        let before = examples.len();
        examples.extend(read(kind, rankings.as_ref(), data.as_ref())?);
        let of = &examples[before..];
        let reached = of.iter().filter(|example| !example.right[0]).count();
        println!("{kind}: {} questions, {reached} with a right candidate", of.len());
    }
    let weights = fit(&examples, feature_names().len(), FITTING, |progress| {
        if progress.step % 20 == 0 {
            let right = progress.right as f32 / examples.len() as f32;
            println!("step {}: loss {:.4}, right {right:.4}", progress.step, progress.loss);
        }
    });
    let table: BTreeMap<String, f32> = feature_names()
        .into_iter()
        .zip(weights)
        .map(|(name, weight)| (name, (weight * 1000.0).round() / 1000.0))
        .filter(|(_, weight)| *weight != 0.0)
        .collect();
    std::fs::write(output, serde_json::to_string_pretty(&table)? + "\n")?;
    Ok(())
}

fn read(kind: &str, rankings: &Path, data: &Path) -> Result<Vec<Example<u16>>> {
    let records: Value = serde_json::from_str(&std::fs::read_to_string(data)?)?;
    let mut gold: BTreeMap<String, Value> = BTreeMap::new();
    for record in records.as_array().context("a list")? {
        match kind {
            "finqa" => {
                gold.insert(record["id"].as_str().unwrap_or_default().to_owned(), record["qa"].clone());
            }
            "tatqa" => {
                for question in record["questions"].as_array().into_iter().flatten() {
                    gold.insert(question["uid"].as_str().unwrap_or_default().to_owned(), question.clone());
                }
            }
            other => bail!("{other}: expected finqa or tatqa"),
        }
    }
    let mut examples = Vec::new();
    for line in std::fs::read_to_string(rankings)?.lines() {
        let ranking: Ranking = serde_json::from_str(line)?;
        let Some(gold) = gold.get(&ranking.question_id) else { bail!("{}: no such question", ranking.question_id) };
        let known = match kind {
            "finqa" => !gold["exe_ans"].is_null(),
            _ => matches!(gold["answer_type"].as_str(), Some("span" | "arithmetic")),
        };
        if !known {
            continue;
        }
        let (nothing, scored) = scored_candidates(&ranking);
        let mut right: Vec<bool> = scored
            .iter()
            .map(|scored| if kind == "finqa" { right_finqa(gold, scored) } else { right_tatqa(gold, scored) })
            .collect();
        right.insert(0, !right.iter().any(|right| *right));
        let choices = std::iter::once(nothing).chain(scored.into_iter().map(|scored| scored.features)).collect();
        examples.push(Example { choices, right });
    }
    Ok(examples)
}

fn right_finqa(gold: &Value, scored: &Scored) -> bool {
    match (&gold["exe_ans"], scored.outcome) {
        (Value::String(expected), outcome) => outcome.to_string() == *expected,
        (expected, Outcome::Number(number)) => {
            expected.as_f64().zip(number.to_f64()).is_some_and(|(expected, number)| (expected - number).abs() < 1.1e-5)
        }
        _ => false,
    }
}

/// A number as the answer has it, rounded as the answer is; a percentage may be a fraction.
fn right_tatqa(gold: &Value, scored: &Scored) -> bool {
    let Outcome::Number(number) = scored.outcome else { return false };
    let shown = match &gold["answer"] {
        Value::Array(spans) if spans.len() == 1 => spans[0].as_str().unwrap_or_default().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return false,
    };
    let negative = shown.contains('(') || shown.contains('-');
    let digits: String = shown.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let words = shown.chars().filter(|c| c.is_alphabetic()).count();
    let Ok(expected) = digits.trim_end_matches('.').parse::<Decimal>() else { return false };
    if words > 9 {
        return false;
    }
    let expected = if negative { -expected } else { expected };
    let percent = gold["scale"] == "percent" || shown.contains('%');
    let matches = |number: Decimal| number.round_dp(expected.scale()) == expected;
    let fraction = percent && !scored.looked_up && number.checked_mul(Decimal::ONE_HUNDRED).is_some_and(matches);
    if gold["answer_type"] == "arithmetic" && scored.looked_up {
        return false;
    }
    fraction || matches(number) && (!percent || scored.looked_up || number.abs() >= Decimal::ONE)
}
