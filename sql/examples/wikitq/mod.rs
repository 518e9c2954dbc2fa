//! Reading WikiTableQuestions on SQUALL's SQLite files, for the examples that fit and measure.
#![allow(dead_code, reason = "each example uses a part")]

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value as Json;
use tabsegnet_sql::generate::{Known, Labels, Scope};
use tabsegnet_sql::{ColumnInfo, QueryError, Rows, Schema, Table, Value};

use crate::rows;

/// A question with its answer.
pub struct Labelled {
    pub id: String,
    pub text: String,
    pub answer: Vec<String>,
}

/// Questions by table.
pub fn read(path: &Path) -> Result<BTreeMap<String, Vec<Labelled>>> {
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
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

pub fn is_dev(table: &str) -> bool {
    hash(table).is_multiple_of(5)
}

/// A table, open.
pub struct Opened {
    pub connection: Connection,
    pub schema: Schema,
    pub labels: Labels,
    pub known: Known,
    pub scopes: Vec<Scope>,
}

pub fn run(connection: &Connection, sql: &str) -> Result<Rows, QueryError> {
    rows::run(connection, sql, usize::MAX)
}

pub fn open(folder: &Path, table: &str) -> Result<Opened> {
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
        columns.push(ColumnInfo { name: name.clone(), declared_type: kind.clone(), ..ColumnInfo::default() });
    }
    let table = Table { name: "w".to_owned(), columns, primary_key: vec!["id".to_owned()], ..Table::default() };
    let schema = Schema { tables: vec![table], views: Vec::new() };
    let known = Known::read(&schema, &labels, true, &mut |sql| run(&connection, sql))?;
    let scopes = known.table(0).into_iter().collect();
    Ok(Opened { connection, schema, labels, known, scopes })
}

/// The different values of the first column, as texts.
pub fn values(rows: &Rows) -> Vec<String> {
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
pub struct Gold(Vec<(String, Option<f64>)>);

impl Gold {
    pub fn new(answer: &[String]) -> Self {
        Self(answer.iter().map(|value| normal(value)).collect())
    }

    pub fn is(&self, values: &[String]) -> bool {
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
