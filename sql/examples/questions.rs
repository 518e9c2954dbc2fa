//! Fits the weights that choose among candidate statements, `sql/src/generate/weights.json`, and answers questions with
//! them, on the tables of WikiTableQuestions as SQUALL's SQLite files.
//!
//!     questions --tables FOLDER --questions FILE fit OUTPUT [EVERY]
//!     questions --tables FOLDER --questions FILE answer train|dev OUTPUT [EVERY]
//!
//! With EVERY, one question in so many is taken. FOLDER has `db` and `json`. A table in five is of the part `dev`, by its
//! name; weights are fitted on the others. The softmax over a question's candidates and "none of them" is fitted to what
//! is right. OUTPUT of `answer` has a line a question: its id, confidence, whether nothing is said, whether any candidate
//! is right, milliseconds, the answer's values, the statement.

#[path = "spider/rows.rs"]
mod rows;
mod wikitq;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tabsegnet_choice::{Example, Fitting, fit};
use tabsegnet_sql::generate::fit::{Vocabulary, phrases, scored};
use tabsegnet_sql::generate::generate;
use wikitq::{Gold, Labelled, hash, is_dev, open, read, run, values};

const FITTING: Fitting = Fitting { steps: 150, rate: 0.05, penalty: 0.3 };
/// Questions that a word, and a feature, must have.
const WORDS: usize = 12;
const FEATURES: usize = 5;
/// Wrong candidates of a question that are fitted on: those that other weights find likeliest would be better, and cost
/// a second time.
const WRONG: usize = 120;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ["--tables", tables, "--questions", questions, what @ ..] = words.as_slice() else {
        bail!("see the head of this file")
    };
    let questions = read(questions.as_ref())?;
    match what {
        ["fit", output] => fit_on(tables.as_ref(), &questions, output.as_ref(), 1),
        ["fit", output, every] => fit_on(tables.as_ref(), &questions, output.as_ref(), every.parse()?),
        ["answer", part, output] => answer(tables.as_ref(), &questions, part, output.as_ref(), 1),
        ["answer", part, output, every] => answer(tables.as_ref(), &questions, part, output.as_ref(), every.parse()?),
        _ => bail!("see the head of this file"),
    }
}

fn fit_on(folder: &Path, questions: &BTreeMap<String, Vec<Labelled>>, output: &Path, every: u64) -> Result<()> {
    let start = Instant::now();
    let train = || questions.iter().filter(|(table, _)| !is_dev(table));
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (table, questions) in train() {
        let opened = open(folder, table)?;
        for question in questions {
            for phrase in phrases(&question.text, &opened.known) {
                *counts.entry(phrase).or_default() += 1;
            }
        }
    }
    let enough: HashSet<String> =
        counts.into_iter().filter(|(_, count)| *count >= WORDS).map(|(phrase, _)| phrase).collect();
    println!("{} phrases, {:?}", enough.len(), start.elapsed());
    let mut vocabulary = Vocabulary::new(enough);
    let (mut examples, mut reached, mut made) = (Vec::new(), 0, 0);
    for (table, questions) in train() {
        let opened = open(folder, table)?;
        for question in questions.iter().filter(|question| hash(&question.id).is_multiple_of(every.max(1))) {
            let (none, candidates) =
                scored(&question.text, &opened.known, &opened.scopes, &mut vocabulary, &mut |sql| {
                    run(&opened.connection, sql)
                });
            made += candidates.len();
            let gold = Gold::new(&question.answer);
            let right: Vec<bool> = candidates.iter().map(|candidate| gold.is(&candidate.answer)).collect();
            let any = right.contains(&true);
            reached += usize::from(any);
            let mut example = Example { choices: vec![none], right: vec![!any] };
            let wrong = right.iter().filter(|right| !**right).count();
            for (at, (candidate, right)) in candidates.into_iter().zip(right).enumerate() {
                let taken = wrong <= WRONG || hash(&format!("{}{at}", question.id)) % (wrong as u64) < WRONG as u64;
                if right || taken {
                    example.choices.push(candidate.features);
                    example.right.push(right);
                }
            }
            examples.push(example);
        }
    }
    println!(
        "{} questions, {reached} with a right candidate, {made} candidates, {:?}",
        examples.len(),
        start.elapsed()
    );
    let names = vocabulary.names();
    let mut seen = vec![0usize; names.len()];
    for example in &examples {
        let of: HashSet<u32> = example.choices.iter().flatten().map(|(id, _)| *id).collect();
        of.into_iter().for_each(|id| seen[id as usize] += 1);
    }
    let (mut numbers, mut kept) = (vec![u32::MAX; names.len()], Vec::new());
    for (id, name) in names.into_iter().enumerate().filter(|(id, _)| seen[*id] >= FEATURES) {
        numbers[id] = u32::try_from(kept.len())?;
        kept.push(name);
    }
    for features in examples.iter_mut().flat_map(|example| &mut example.choices) {
        features.iter_mut().for_each(|(id, _)| *id = numbers[*id as usize]);
        features.retain(|(id, _)| *id != u32::MAX);
    }
    println!("{} features, {:?}", kept.len(), start.elapsed());
    let weights = fit(&examples, kept.len(), FITTING, |progress| {
        if progress.step % 10 == 0 {
            let share = progress.right as f32 / examples.len() as f32;
            println!("step {}: loss {:.4}, right {share:.4}", progress.step, progress.loss);
        }
    });
    let table: BTreeMap<String, f32> = kept
        .into_iter()
        .zip(weights)
        .map(|(name, weight)| (name, (weight * 100.0).round() / 100.0))
        .filter(|(_, weight)| weight.abs() >= 0.05)
        .collect();
    println!("{} weights, {:?}", table.len(), start.elapsed());
    std::fs::write(output, serde_json::to_string_pretty(&table)? + "\n")?;
    Ok(())
}

fn answer(
    folder: &Path,
    questions: &BTreeMap<String, Vec<Labelled>>,
    part: &str,
    output: &Path,
    every: u64,
) -> Result<()> {
    if !["train", "dev"].contains(&part) {
        bail!("{part}: expected train or dev");
    }
    let mut lines = String::new();
    let (mut all, mut right, mut said, mut said_right, mut reached) = (0, 0, 0, 0, 0);
    for (table, questions) in questions.iter().filter(|(table, _)| is_dev(table) == (part == "dev")) {
        let opened = open(folder, table)?;
        for question in questions.iter().filter(|question| hash(&question.id).is_multiple_of(every.max(1))) {
            let start = Instant::now();
            let gold = Gold::new(&question.answer);
            let mut any = false;
            let found = generate(&question.text, &opened.known, &opened.scopes, Duration::from_secs(10), &mut |sql| {
                let rows = run(&opened.connection, sql)?;
                any |= gold.is(&values(&rows));
                Ok(rows)
            });
            let took = start.elapsed().as_millis();
            let best = found.proposals.first();
            let values = best.map_or_else(Vec::new, |best| values(&best.rows));
            let is_right = gold.is(&values);
            all += 1;
            right += usize::from(is_right);
            reached += usize::from(any);
            said += usize::from(!found.abstained);
            said_right += usize::from(!found.abstained && is_right);
            let record = serde_json::json!({
                "id": question.id, "question": question.text, "gold": question.answer,
                "confidence": best.map_or(0.0, |best| best.confidence), "abstained": found.abstained,
                "reached": any, "right": is_right, "milliseconds": took, "answer": values,
                "sql": best.map_or("", |best| &best.sql),
            });
            writeln!(lines, "{record}")?;
        }
    }
    std::fs::write(PathBuf::from(output), lines)?;
    println!(
        "{part}: {all} questions, {reached} with a right candidate, {right} right; {said} said, {said_right} of them right"
    );
    Ok(())
}
