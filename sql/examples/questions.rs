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

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value as Json;
use tabsegnet_choice::{Example, Fitting, fit};
use tabsegnet_sql::generate::{Known, Labels, Scope, Vocabulary, generate, phrases, scored};
use tabsegnet_sql::{ColumnInfo, QueryError, Rows, Schema, Table, Value};

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

struct Labelled {
    id: String,
    text: String,
    answer: Vec<String>,
}

/// Questions by table.
fn read(path: &Path) -> Result<BTreeMap<String, Vec<Labelled>>> {
    let mut questions: BTreeMap<String, Vec<Labelled>> = BTreeMap::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let record: Json = serde_json::from_str(line)?;
        let text = |field: &str| record[field].as_str().map(str::to_owned).context("a text");
        let answer = record["answer"].as_array().context("an answer")?;
        let answer = answer.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
        let question = Labelled { id: text("id")?, text: text("question")?, answer };
        questions.entry(text("squall")?).or_default().push(question);
    }
    Ok(questions)
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn is_dev(table: &str) -> bool {
    hash(table).is_multiple_of(5)
}

struct Opened {
    connection: Connection,
    known: Known,
    scopes: Vec<Scope>,
}

fn run(connection: &Connection, sql: &str) -> Result<Rows, QueryError> {
    rows::run(connection, sql, usize::MAX)
}

fn open(folder: &Path, table: &str) -> Result<Opened> {
    let connection =
        Connection::open_with_flags(folder.join(format!("db/{table}.db")), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let json: Json = serde_json::from_slice(&std::fs::read(folder.join(format!("json/{table}.json")))?)?;
    let headers = json["headers"].as_array().context("headers")?;
    let listed = run(&connection, "SELECT name, type, pk FROM pragma_table_info('w')")?;
    let (mut columns, mut labels) = (Vec::new(), Labels::new());
    for row in &listed.rows {
        let [Value::Text(name), Value::Text(kind), _] = row.as_slice() else {
            bail!("{table}: a column's name and type")
        };
        if ["id", "agg"].contains(&name.as_str()) {
            labels.insert(("w".to_owned(), name.clone()), String::new());
        } else if let Some(at) = name.strip_prefix('c').and_then(|at| at.parse::<usize>().ok()) {
            let header = headers.get(at + 1).and_then(Json::as_str).unwrap_or_default();
            let label = if header.trim().is_empty() { "column" } else { header };
            labels.insert(("w".to_owned(), name.clone()), label.to_owned());
        }
        columns.push(ColumnInfo { name: name.clone(), declared_type: kind.clone(), not_null: false, generated: false });
    }
    let table = Table {
        name: "w".to_owned(),
        columns,
        primary_key: vec!["id".to_owned()],
        foreign_keys: Vec::new(),
        module: None,
        problem: None,
    };
    let schema = Schema { tables: vec![table], views: Vec::new() };
    let known = Known::read(&schema, &labels, true, &mut |sql| run(&connection, sql))?;
    let scopes = known.table(0).into_iter().collect();
    Ok(Opened { connection, known, scopes })
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

/// The different values of the first column, as texts.
fn values(rows: &Rows) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for row in &rows.rows {
        let text = match row.first() {
            Some(Value::Integer(value)) => value.to_string(),
            Some(Value::Real(value)) => value.to_string(),
            Some(Value::Text(text)) => text.clone(),
            _ => continue,
        };
        if !values.contains(&text) {
            values.push(text);
        }
    }
    values
}

/// The values of an answer, normalised as the published evaluator does, diacritics aside; numbers with commas are
/// numbers.
struct Gold(Vec<(String, Option<f64>)>);

impl Gold {
    fn new(answer: &[String]) -> Self {
        Self(answer.iter().map(|value| normal(value)).collect())
    }

    fn is(&self, values: &[String]) -> bool {
        let mut found: Vec<(String, Option<f64>)> = values.iter().map(|value| normal(value)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup();
        let same = |one: &(String, Option<f64>), other: &(String, Option<f64>)| {
            one.0 == other.0 || one.1.zip(other.1).is_some_and(|(a, b)| (a - b).abs() < 1e-6)
        };
        found.len() == self.0.len() && self.0.iter().all(|gold| found.iter().any(|value| same(gold, value)))
    }
}

fn normal(text: &str) -> (String, Option<f64>) {
    let mut text: String = text
        .to_lowercase()
        .chars()
        .map(|c| match c {
            '‘' | '’' | '´' | '`' => '\'',
            '“' | '”' => '"',
            '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
            other => other,
        })
        .collect();
    loop {
        let mut next = text.trim().trim_end_matches(['•', '♦', '†', '‡', '*', '#', '+']).trim().to_owned();
        if next.ends_with(']')
            && let Some(at) = next.rfind('[').filter(|at| *at > 0)
        {
            next.truncate(at);
        }
        if next.ends_with(')')
            && let Some(at) = next.rfind(" (")
        {
            next.truncate(at);
        }
        if let Some(inner) =
            next.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|inner| !inner.contains('"'))
        {
            next = inner.to_owned();
        }
        if next == text {
            break;
        }
        text = next;
    }
    let text = text.strip_suffix('.').unwrap_or(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    let number = text.replace(',', "").parse().ok().filter(|number: &f64| number.is_finite());
    (text, number)
}
