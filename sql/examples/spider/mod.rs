//! Reading Spider, BIRD and BEAVER, for the examples that fit and measure.
#![allow(dead_code, reason = "each example uses a part")]

pub mod documents;
pub mod published;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use published::{Published, beaver, spider};
use serde::Deserialize;
use tabsegnet_sql::linking::fit::Example;
use tabsegnet_sql::linking::{ValueIndex, ValueLimits};
use tabsegnet_sql::schema_graph::{SchemaGraph, SqlDialect};
use tabsegnet_sql::{Database, Sandbox};

/// A question with what its statement has.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    pub db: String,
    pub question: String,
    #[serde(default)]
    pub sql: String,
    #[serde(default)]
    pub evidence: Option<String>,
    pub gold_tables: Option<Vec<String>>,
    #[serde(default)]
    pub gold_columns: Option<Vec<String>>,
    #[serde(default)]
    pub gold_joins: Option<Vec<(String, String)>>,
    /// BEAVER: what columns phrases of the question stand for.
    #[serde(default)]
    mapping: Option<BTreeMap<String, Vec<String>>>,
}

/// Databases in order of their names, with a sample of values.
pub struct Databases {
    pub names: Vec<String>,
    pub graphs: Vec<SchemaGraph>,
    pub values: Vec<ValueIndex>,
}

pub fn questions(file: &Path) -> Result<Vec<Question>> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let questions: Vec<Question> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(questions.into_iter().filter(|q| q.gold_tables.as_ref().is_some_and(|tables| !tables.is_empty())).collect())
}

/// Which joins a schema's graph has.
#[derive(Debug, Clone, Copy)]
pub struct Joins {
    /// Those of its foreign keys.
    pub declared: bool,
    /// Those that names of columns suggest.
    pub guessed: bool,
}

impl Joins {
    /// Those of foreign keys.
    pub const DECLARED: Self = Self { declared: true, guessed: false };
    /// Both.
    pub const ALL: Self = Self { declared: true, guessed: true };
}

/// The databases that the questions are for; `folder` has the SQLite files, if there are any.
fn databases(
    published: Vec<Published>,
    folder: Option<&Path>,
    questions: &[Question],
    joins: Joins,
) -> Result<Databases> {
    let wanted: BTreeSet<&str> = questions.iter().map(|question| question.db.as_str()).collect();
    let by_name: BTreeMap<String, Published> =
        published.into_iter().map(|published| (published.database.clone(), published)).collect();
    let mut found = Databases { names: Vec::new(), graphs: Vec::new(), values: Vec::new() };
    for name in wanted {
        let mut published = by_name.get(name).with_context(|| format!("{name}: no such schema"))?.clone();
        published.schema.tables.retain(|table| !table.name.starts_with("sqlite_"));
        published.semantics.tables.retain(|table, _| !table.starts_with("sqlite_"));
        if !joins.declared {
            published.schema.tables.iter_mut().for_each(|table| table.foreign_keys.clear());
        }
        let graph = SchemaGraph::new(&published.schema, &published.semantics, SqlDialect::Sqlite)?;
        let mut values = ValueIndex::default();
        if let Some(folder) = folder {
            let limits = ValueLimits::default();
            let sandbox = Sandbox {
                rows: limits.per_column,
                bytes: 4_000_000,
                deadline: Duration::from_secs(5),
                ..Sandbox::default()
            };
            let database = Database::open(&folder.join(format!("{name}.sqlite")), &sandbox)?;
            values = ValueIndex::read(&graph, limits, &mut |sql| database.query(sql))?;
        }
        found.names.push(name.to_owned());
        found.graphs.push(if joins.guessed { graph.with_guessed_joins() } else { graph });
        found.values.push(values);
    }
    Ok(found)
}

/// Spider: questions of a part, their databases.
pub fn of_spider(data: &Path, part: &str, joins: Joins) -> Result<(Vec<Question>, Databases)> {
    let folder = data.join("sql/spider");
    let questions = questions(&folder.join(format!("{part}.jsonl")))?;
    let published = spider(&std::fs::read_to_string(folder.join("tables.json"))?)?;
    let databases = databases(published, Some(&folder.join("db")), &questions, joins)?;
    Ok((questions, databases))
}

/// BIRD's development part; it has no rows.
pub fn of_bird(data: &Path, joins: Joins) -> Result<(Vec<Question>, Databases)> {
    let folder = data.join("sql/bird");
    let questions = questions(&folder.join("dev.jsonl"))?;
    let published = spider(&std::fs::read_to_string(folder.join("tables.json"))?)?;
    let databases = databases(published, None, &questions, joins)?;
    Ok((questions, databases))
}

/// BEAVER's data warehouse; it has no rows. Of its statements no columns are told: they are those that phrases are mapped
/// to, and those joined by.
pub fn of_beaver(data: &Path, joins: Joins) -> Result<(Vec<Question>, Databases)> {
    let folder = data.join("sql/beaver");
    let mut questions = questions(&folder.join("questions.jsonl"))?;
    questions.retain(|question| question.db == "dw");
    for question in &mut questions {
        let joined = question.gold_joins.iter().flatten().flat_map(|(a, b)| [a, b]);
        let columns = question.mapping.iter().flat_map(BTreeMap::values).flatten().chain(joined);
        question.gold_columns = Some(columns.cloned().collect());
    }
    let keys = std::fs::read_to_string(folder.join("dw_join_keys.json"))?;
    let published = beaver(&std::fs::read_to_string(folder.join("tables.json"))?, Some(&keys))?;
    let databases = databases(published, None, &questions, joins)?;
    Ok((questions, databases))
}

/// The number of a column by `table.column` in lower case.
pub fn column(graph: &SchemaGraph, id: &str) -> Option<usize> {
    // Names may have points.
    id.match_indices('.').find_map(|(at, _)| {
        let table = graph.table(id.get(..at)?)?;
        graph.column(table, id.get(at + 1..)?)
    })
}

/// Numbers of the gold tables, columns and joined pairs; what the schema does not have is left out.
pub struct Gold {
    pub tables: BTreeSet<usize>,
    pub columns: BTreeSet<usize>,
    pub joins: BTreeSet<(usize, usize)>,
}

impl Gold {
    pub fn of(question: &Question, graph: &SchemaGraph) -> Self {
        let tables = question.gold_tables.iter().flatten().filter_map(|name| graph.table(name)).collect();
        let columns = question.gold_columns.iter().flatten().filter_map(|id| column(graph, id)).collect();
        let pair = |(a, b): &(String, String)| {
            let (a, b) = (column(graph, a)?, column(graph, b)?);
            Some((a.min(b), a.max(b)))
        };
        let joins = question.gold_joins.iter().flatten().filter_map(pair).collect();
        Self { tables, columns, joins }
    }

    /// Columns that are joined by.
    pub fn joined(&self) -> BTreeSet<usize> {
        self.joins.iter().flat_map(|&(a, b)| [a, b]).collect()
    }
}

/// What there is to learn of each question.
pub fn examples(questions: &[Question], databases: &Databases) -> Vec<Example> {
    let example = |question: &Question| {
        let linker = databases.names.binary_search(&question.db).ok()?;
        let gold = Gold::of(question, databases.graphs.get(linker)?);
        let only_joined = gold.joined();
        let Gold { tables, columns, .. } = gold;
        Some(Example { question: question.question.clone(), linker, tables, columns, only_joined })
    };
    questions.iter().filter_map(example).collect()
}
