//! Measuring answers, by data set, by policy and by how sure they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Result;
use rayon::prelude::*;
use serde::Serialize;
use tabsegnet::{OpenDocument, RankedNode, Ranking, Session};
use tabsegnet_agent::{Answer, Candidates, Choice, Learnt, Policy, Rules, answer_with};
use tabsegnet_datasets::AnswerRule;
use tabsegnet_datasets::sample::Question;
use tabsegnet_evaluation::programs::same_program;
use tabsegnet_evaluation::risk_coverage::{RiskCoverage, RiskPoint, risk_coverage, to_html};
use tabsegnet_llm::Tokens;
use tabsegnet_store::write_bytes_atomic;

use super::language_model::LanguageModel;
use super::rule::{is_right, judged};
use super::{Data, open, rank};
use crate::progress::Progress;

/// What is put behind a policy's name where it sees the gold nodes alone.
const GOLD: &str = " from gold nodes";

/// An answer beside what is right.
#[derive(Debug, Clone, Serialize)]
struct Judged {
    id: String,
    answer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    abstained: bool,
    confidence: f32,
    /// The measure of the data set, from 0 to 1: execution accuracy, or exact match as the authors count it.
    right: f32,
    /// Program accuracy; TAT-QA's F1; strict exact match.
    second: f32,
    /// What a language model says of it, where one judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<bool>,
    /// What it took, where a language model is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    took: Option<Took>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Took {
    seconds: f64,
    tokens: Tokens,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
}

/// Who answers.
struct Methods<'a> {
    learnt: Vec<(String, Learnt)>,
    llm: Option<&'a LanguageModel>,
}

impl Methods<'_> {
    /// The answers of all to a question, by name. Those from gold nodes say how much better nodes would do.
    fn answers(
        &self,
        rule: AnswerRule,
        document: &OpenDocument,
        question: &Question,
        ranking: &Ranking,
    ) -> Result<Vec<(String, Judged)>> {
        let mut found = Vec::new();
        let mut add = |name: String, ranking: &Ranking, answer: &dyn Fn(&Ranking) -> Result<Answer>| -> Result<()> {
            let begun = Instant::now();
            let answer = answer(ranking)?;
            let seconds = begun.elapsed().as_secs_f64();
            let judge = match (self.llm, &question.answer) {
                (Some(llm), Some(gold)) => llm.verdict(question, gold, &answer)?,
                _ => None,
            };
            let took = self.llm.map(|_| Took { seconds, tokens: answer.tokens.unwrap_or_default(), cost: answer.cost });
            found.push((name, Judged { judge, took, ..compared(rule, question, answer) }));
            Ok(())
        };
        add("rules".to_owned(), ranking, &|ranking| Ok(Rules.answer(ranking)))?;
        for (name, learnt) in &self.learnt {
            add(name.clone(), ranking, &|ranking| Ok(answer_with(document, ranking, learnt)?))?;
            // Where the gold nodes alone say what is right, they cannot be given.
            if rule != AnswerRule::Nodes && self.llm.is_none() {
                let (gold_first, gold) = gold_first(ranking, &question.gold);
                add(format!("{name}{GOLD}"), &gold_first, &|ranking| Ok(learnt.answer_from(ranking, gold)))?;
            }
        }
        if let Some(llm) = self.llm {
            add("llm".to_owned(), ranking, &|ranking| llm.answer(document, ranking))?;
        }
        Ok(found)
    }
}

/// A ranking with the gold nodes first, and how many there are. Scores stay with their places.
fn gold_first(ranking: &Ranking, gold: &[String]) -> (Ranking, usize) {
    let (mut nodes, others): (Vec<RankedNode>, Vec<RankedNode>) =
        ranking.nodes.iter().cloned().partition(|node| gold.contains(&node.id));
    let count = nodes.len();
    nodes.extend(others);
    for (node, place) in nodes.iter_mut().zip(&ranking.nodes) {
        (node.rank, node.score) = (place.rank, place.score);
    }
    (Ranking { nodes, ..ranking.clone() }, count)
}

pub(super) fn measure(
    session: &Session,
    data: &[Data],
    directories: &[PathBuf],
    llm: Option<&LanguageModel>,
    output: &Path,
) -> Result<String> {
    let mut methods = Methods { learnt: Vec::new(), llm };
    let mut first = None;
    for directory in directories {
        let name = if directories.len() == 1 { "learnt".to_owned() } else { directory.display().to_string() };
        let choice = Choice::read(directory)?;
        first.get_or_insert_with(|| choice.clone());
        methods.learnt.push((name, Learnt(choice)));
    }
    let mut all: BTreeMap<&str, BTreeMap<String, Vec<Judged>>> = BTreeMap::new();
    let mut text = String::new();
    if let Some(llm) = llm {
        let judge = llm.judge_name().map_or_else(String::new, |judge| format!(", judged by {judge}"));
        let _ = writeln!(text, "llm: {}{judge}\n", llm.name());
    }
    for data in data {
        let progress = Progress::new(&format!("answers to {}", data.name), data.samples.len());
        let started = Instant::now();
        let [reached, proposed, reached_from_gold] = [const { AtomicUsize::new(0) }; 3];
        let reach = |question: &Question, ranking: &Ranking| {
            let Some(choice) = &first else { return };
            let right = |ranking: &Ranking, candidates: &Candidates, number: usize| {
                let prediction = candidates.predictions().get(number);
                prediction
                    .is_some_and(|prediction| is_right(data.rule, question, ranking, candidates, number, prediction))
            };
            let count = |of: &AtomicUsize, reached: bool| of.fetch_add(usize::from(reached), Ordering::Relaxed);
            let candidates = Candidates::of(ranking);
            count(&reached, (0..candidates.len()).any(|number| right(ranking, &candidates, number)));
            let mut kept = choice.proposals(&candidates).kept.into_iter();
            count(&proposed, kept.any(|number| right(ranking, &candidates, number)));
            let (ranking, gold) = gold_first(ranking, &question.gold);
            let mut candidates = Candidates::of(&ranking);
            candidates.keep_first(gold);
            count(&reached_from_gold, (0..candidates.len()).any(|number| right(&ranking, &candidates, number)));
        };
        let judged: Vec<Vec<(String, Judged)>> = data
            .samples
            .par_iter()
            .map(|sample| {
                let document = open(session, sample)?;
                let mut of_document = Vec::new();
                for question in &sample.questions {
                    let ranking = rank(&document, question)?;
                    reach(question, &ranking);
                    of_document.extend(methods.answers(data.rule, &document, question, &ranking)?);
                }
                Ok(of_document)
            })
            .collect::<Result<_>>()?;
        progress.finish(&format!("{} documents in {:.1} s", data.samples.len(), started.elapsed().as_secs_f64()));
        for (name, of) in judged.into_iter().flatten() {
            all.entry(&data.name).or_default().entry(name).or_default().push(of);
        }
        let _ = writeln!(text, "{}", table(data, all.get(data.name.as_str())));
        if first.is_some() {
            let questions: usize = data.samples.iter().map(|sample| sample.questions.len()).sum();
            let share = |count: AtomicUsize| count.into_inner() as f64 / questions.max(1) as f64;
            let _ = writeln!(
                text,
                "A right answer is among the candidates of {:.3} of the questions, among the proposals of {:.3}; \
                 among those that rest on gold nodes alone, of {:.3}.\n",
                share(reached),
                share(proposed),
                share(reached_from_gold)
            );
        }
    }
    text += &llm.map_or_else(|| Ok(String::new()), LanguageModel::failures)?;
    write_bytes_atomic(&output.join("answers.md"), text.as_bytes())?;
    write_bytes_atomic(&output.join("answers.json"), &serde_json::to_vec_pretty(&all)?)?;
    let curves: BTreeMap<&str, BTreeMap<&str, RiskCoverage>> = all
        .iter()
        .map(|(data, methods)| (*data, methods.iter().map(|(name, of)| (name.as_str(), curve(of))).collect()))
        .collect();
    write_bytes_atomic(&output.join("risk_coverage.json"), &serde_json::to_vec_pretty(&curves)?)?;
    let page = output.join("answers.html");
    write_bytes_atomic(&page, to_html(&curves).as_bytes())?;
    Ok(format!("{text}report: {}, risk and coverage drawn: {}", output.join("answers.md").display(), page.display()))
}

/// Risk and coverage of answers to all questions, abstentions among them.
fn curve(judged: &[Judged]) -> RiskCoverage {
    let given: Vec<(f32, f32)> = judged.iter().filter(|of| !of.abstained).map(|of| (of.confidence, of.right)).collect();
    risk_coverage(&given, judged.len())
}

fn compared(rule: AnswerRule, question: &Question, answer: Answer) -> Judged {
    let [right, second] = if answer.abstained { [0.0; 2] } else { scores(rule, question, &answer) };
    let Answer { answer, program, abstained, confidence, .. } = answer;
    Judged { id: question.id.clone(), answer, program, abstained, confidence, right, second, judge: None, took: None }
}

fn scores(rule: AnswerRule, question: &Question, answer: &Answer) -> [f32; 2] {
    let flag = |is: bool| f32::from(u8::from(is));
    let Some(gold) = &question.answer else {
        let cited = question.gold.iter().filter(|gold| answer.citations.iter().any(|of| of.node == **gold)).count();
        let all = question.gold.len().max(1);
        return [flag(cited > 0), cited as f32 / all as f32];
    };
    let [first, second] = judged(rule, gold, &answer.answers, answer.value.as_deref(), answer.scale);
    let program = answer.program.as_deref().unwrap_or_default();
    if rule == AnswerRule::Program { [first, flag(same_program(program, &gold.program))] } else { [first, second] }
}

/// What the two columns of figures are.
fn measures(rule: AnswerRule) -> [&'static str; 2] {
    match rule {
        AnswerRule::Program => ["execution accuracy", "program accuracy"],
        AnswerRule::Span => ["EM", "F1"],
        AnswerRule::Match => ["EM (authors')", "EM (strict)"],
        AnswerRule::Nodes => ["the number is right, or a gold node is cited", "share of them"],
    }
}

fn table(data: &Data, methods: Option<&BTreeMap<String, Vec<Judged>>>) -> String {
    let questions: usize = data.samples.iter().map(|sample| sample.questions.len()).sum();
    let all = questions.max(1);
    let [first, second] = measures(data.rule);
    let methods = || methods.into_iter().flatten();
    let mut text = format!(
        "## {}\n\n{all} questions on {} documents; an abstention is wrong.\n\n| policy | {first} | {second} | answered | {first} of the \
         answered | of the surest quarter | wrong with confidence ≥ .8 |\n|---|---:|---:|---:|---:|---:|---:|\n",
        data.name,
        data.samples.len()
    );
    for (name, judged) in methods() {
        let mut sorted: Vec<&Judged> = judged.iter().filter(|of| !of.abstained).collect();
        sorted.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.id.cmp(&b.id)));
        // The sum of nothing is −0.
        let sum = |of: &[&Judged]| of.iter().map(|of| f64::from(of.right)).sum::<f64>() + 0.0;
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
    text += &taken(methods().map(|(name, judged)| (name.as_str(), judged.as_slice())));
    // A language model's confidence is always the same.
    for (name, judged) in
        methods().filter(|(name, _)| !["rules", "llm"].contains(&name.as_str()) && !name.ends_with(GOLD))
    {
        let _ = writeln!(text, "\nRisk and coverage of {name}:\n\n| confidence | answered | right |\n|---|---:|---:|");
        for (low, high) in [(0.9, 1.01), (0.8, 0.9), (0.6, 0.8), (0.4, 0.6), (0.2, 0.4), (0.0, 0.2)] {
            let of: Vec<&Judged> =
                judged.iter().filter(|of| !of.abstained && (low..high).contains(&of.confidence)).collect();
            let right: f64 = of.iter().map(|of| f64::from(of.right)).sum();
            let share = if of.is_empty() { "–".to_owned() } else { format!("{:.3}", right / of.len() as f64) };
            let _ = writeln!(text, "| {low} to {} | {} | {share} |", if high > 1.0 { 1.0 } else { high }, of.len());
        }
        let RiskCoverage { area, points } = curve(judged);
        let area = area.map_or_else(|| "–".to_owned(), |area| format!("{area:.3}"));
        let _ = writeln!(
            text,
            "\nThe surest answers first; area under the curve of risk {area}:\n\n| coverage | risk | confidence from |\n|---|---:|---:|"
        );
        for RiskPoint { coverage, risk, confidence } in points {
            let _ = writeln!(text, "| {coverage:.1} | {risk:.3} | {confidence:.2} |");
        }
    }
    text
}

/// What answers took, and what the judge says, where a language model is measured.
fn taken<'j>(methods: impl Iterator<Item = (&'j str, &'j [Judged])>) -> String {
    let mut rows = String::new();
    for (name, judged) in methods {
        let took: Vec<Took> = judged.iter().filter_map(|of| of.took).collect();
        let mut seconds: Vec<f64> = took.iter().map(|took| took.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (seconds.len() as f64 * share) as usize;
            seconds.get(place.min(seconds.len().saturating_sub(1))).copied()
        };
        let (Some(median), Some(slow)) = (at(0.5), at(0.9)) else { continue };
        let mean = |of: fn(&Tokens) -> u64| {
            took.iter().map(|took| of(&took.tokens) as f64).sum::<f64>() / took.len().max(1) as f64
        };
        let verdicts: Vec<bool> = judged.iter().filter_map(|of| of.judge).collect();
        let right = verdicts.iter().filter(|right| **right).count() as f64 / verdicts.len().max(1) as f64;
        let judge = if verdicts.is_empty() { "–".to_owned() } else { format!("{right:.3} of {}", verdicts.len()) };
        let cost = took.iter().filter_map(|took| took.cost).reduce(|sum, cost| sum + cost);
        let cost = cost.map_or_else(|| "–".to_owned(), |cost| format!("{cost:.4}"));
        let (read, written) = (mean(|tokens| tokens.prompt), mean(|tokens| tokens.completion));
        let _ = writeln!(rows, "| {name} | {judge} | {median:.3} | {slow:.3} | {read:.0} | {written:.0} | {cost} |");
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\n| policy | right, says the judge | seconds a question (median) | 9 of 10 within | tokens read a question | written | cost \
         of all |\n|---|---:|---:|---:|---:|---:|---:|\n{rows}"
    )
}
