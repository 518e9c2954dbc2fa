//! Measuring answers, by data set and by how sure they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Result;
use rayon::prelude::*;
use serde::Serialize;
use tabsegnet::{Ranking, Session};
use tabsegnet_agent::{Answer, Candidates, Choice, Learnt, Policy, Rules};
use tabsegnet_datasets::sample::Question;
use tabsegnet_store::write_bytes_atomic;

use super::{Data, Rule, is_right, judged, open, rank};
use crate::progress::Progress;

/// An answer beside what is right.
#[derive(Debug, Clone, Serialize)]
struct Judged {
    id: String,
    answer: String,
    abstained: bool,
    confidence: f32,
    /// The measure of the data set, from 0 to 1: execution accuracy, or exact match as the authors count it.
    right: f32,
    /// Strict exact match; TAT-QA's F1.
    second: f32,
}

pub(super) fn measure(session: &Session, data: &[Data], directories: &[PathBuf], output: &Path) -> Result<String> {
    let mut policies: Vec<(String, Box<dyn Policy>)> = vec![("rules".into(), Box::new(Rules))];
    let mut first = None;
    for directory in directories {
        let name = if directories.len() == 1 { "learnt".to_owned() } else { directory.display().to_string() };
        let choice = Choice::read(directory)?;
        first.get_or_insert_with(|| choice.clone());
        policies.push((name, Box::new(Learnt(choice))));
    }
    let mut all: BTreeMap<&str, BTreeMap<&str, Vec<Judged>>> = BTreeMap::new();
    let mut text = String::new();
    for data in data {
        let progress = Progress::new(&format!("answers to {}", data.name), data.samples.len());
        let started = Instant::now();
        let (reached, proposed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let reach = |question: &Question, ranking: &Ranking| {
            let Some(choice) = &first else { return };
            let candidates = Candidates::of(ranking);
            let right = |number: usize| {
                let prediction = candidates.predictions().get(number);
                prediction
                    .is_some_and(|prediction| is_right(data.rule, question, ranking, &candidates, number, prediction))
            };
            reached.fetch_add(usize::from((0..candidates.len()).any(right)), Ordering::Relaxed);
            let kept = choice.proposals(&candidates).kept;
            proposed.fetch_add(usize::from(kept.into_iter().any(right)), Ordering::Relaxed);
        };
        let judged: Vec<Vec<Vec<Judged>>> = data
            .samples
            .par_iter()
            .map(|sample| {
                let document = open(session, sample)?;
                let mut of_document = Vec::new();
                for question in &sample.questions {
                    let ranking = rank(&document, question)?;
                    reach(question, &ranking);
                    let judged = policies.iter().map(|(_, policy)| judge(data.rule, question, policy.answer(&ranking)));
                    of_document.push(judged.collect());
                }
                Ok(of_document)
            })
            .collect::<Result<_>>()?;
        progress.finish(&format!("{} documents in {:.1} s", data.samples.len(), started.elapsed().as_secs_f64()));
        for (at, (name, _)) in policies.iter().enumerate() {
            let answers: Vec<Judged> =
                judged.iter().flatten().filter_map(|of_question: &Vec<Judged>| of_question.get(at).cloned()).collect();
            all.entry(&data.name).or_default().insert(name, answers);
        }
        let _ = writeln!(text, "{}", table(data, all.get(data.name.as_str())));
        if first.is_some() {
            let questions: usize = data.samples.iter().map(|sample| sample.questions.len()).sum();
            let share = |count: AtomicUsize| count.into_inner() as f64 / questions.max(1) as f64;
            let _ = writeln!(
                text,
                "A right answer is among the candidates of {:.3} of the questions, among the proposals of {:.3}.\n",
                share(reached),
                share(proposed)
            );
        }
    }
    write_bytes_atomic(&output.join("answers.md"), text.as_bytes())?;
    write_bytes_atomic(&output.join("answers.json"), &serde_json::to_vec_pretty(&all)?)?;
    Ok(format!("{text}report: {}", output.join("answers.md").display()))
}

fn judge(rule: Rule, question: &Question, answer: Answer) -> Judged {
    let [right, second] = if answer.abstained { [0.0; 2] } else { scores(rule, question, &answer) };
    let Answer { id, answer, abstained, confidence, .. } = answer;
    Judged { id, answer, abstained, confidence, right, second }
}

fn scores(rule: Rule, question: &Question, answer: &Answer) -> [f32; 2] {
    let Some(gold) = &question.answer else {
        let cited = question.gold.iter().filter(|gold| answer.citations.iter().any(|of| of.node == **gold)).count();
        let all = question.gold.len().max(1);
        return [f32::from(u8::from(cited > 0)), cited as f32 / all as f32];
    };
    judged(rule, gold, &answer.answers, answer.value.as_deref(), answer.scale)
}

/// What the two columns of figures are.
fn measures(rule: Rule) -> [&'static str; 2] {
    match rule {
        Rule::Finqa => ["execution accuracy", "the same"],
        Rule::Tatqa => ["EM", "F1"],
        Rule::Match => ["EM (authors')", "EM (strict)"],
        Rule::Nodes => ["a gold node is cited", "share of them"],
    }
}

fn table(data: &Data, methods: Option<&BTreeMap<&str, Vec<Judged>>>) -> String {
    let questions: usize = data.samples.iter().map(|sample| sample.questions.len()).sum();
    let all = questions.max(1);
    let [first, second] = measures(data.rule);
    let mut text = format!(
        "## {}\n\n{all} questions on {} documents; an abstention is wrong.\n\n| policy | {first} | {second} | answered | {first} of the \
         answered | of the surest quarter | wrong with confidence ≥ .8 |\n|---|---:|---:|---:|---:|---:|---:|\n",
        data.name,
        data.samples.len()
    );
    for (name, judged) in methods.into_iter().flatten() {
        let mut sorted: Vec<&Judged> = judged.iter().filter(|of| !of.abstained).collect();
        sorted.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.id.cmp(&b.id)));
        let sum = |of: &[&Judged]| of.iter().map(|of| f64::from(of.right)).sum::<f64>();
        let mean = |of: &[&Judged]| if of.is_empty() { 0.0 } else { sum(of) / of.len() as f64 };
        let second: f64 = judged.iter().map(|of| f64::from(of.second)).sum::<f64>() / all as f64;
        let surest = &sorted[..(all / 4).min(sorted.len())];
        let wrong = sorted.iter().filter(|of| of.confidence >= 0.8 && of.right < 0.5).count() as f64 / all as f64;
        let _ = writeln!(
            text,
            "| {name} | {:.3} | {second:.3} | {} | {:.3} | {:.3} | {wrong:.3} |",
            sum(&sorted) / all as f64,
            sorted.len(),
            mean(&sorted),
            mean(surest)
        );
    }
    for (name, judged) in methods.into_iter().flatten().filter(|(name, _)| **name != "rules") {
        let _ = writeln!(text, "\nRisk and coverage of {name}:\n\n| confidence | answered | right |\n|---|---:|---:|");
        for (low, high) in [(0.9, 1.01), (0.8, 0.9), (0.6, 0.8), (0.4, 0.6), (0.2, 0.4), (0.0, 0.2)] {
            let of: Vec<&Judged> =
                judged.iter().filter(|of| !of.abstained && (low..high).contains(&of.confidence)).collect();
            let right: f64 = of.iter().map(|of| f64::from(of.right)).sum();
            let share = if of.is_empty() { "–".to_owned() } else { format!("{:.3}", right / of.len() as f64) };
            let _ = writeln!(text, "| {low} to {} | {} | {share} |", if high > 1.0 { 1.0 } else { high }, of.len());
        }
    }
    text
}
