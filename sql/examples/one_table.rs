//! Both ways from a question over one table to SQL, `generate` and `compose`, beside each other, and what `propose` makes of
//! them.
//!
//!     one_table spider DATASETS train|dev OUTPUT [--weights FILE] [--every N]
//!     one_table wikitq TABLES QUESTIONS train|dev OUTPUT [--every N]
//!
//! Of Spider those questions whose statement reads one table, with that table alone as the database, right by Spider's
//! rule; of WikiTableQuestions all (TABLES has `db` and `json`), right as its evaluator judges. OUTPUT has a line a
//! question: by way how likely its statement is and whether it is right.

#[path = "spider/rows.rs"]
mod rows;
mod spider;
mod wikitq;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rusqlite::Connection;
use tabsegnet_sql::compose::{Composer, Model};
use tabsegnet_sql::generate::{Generation, Known, Labels, generate};
use tabsegnet_sql::linking::{Linker, Model as LinkingModel, ValueIndex, ValueLimits};
use tabsegnet_sql::schema_graph::{SchemaGraph, Semantics, SqlDialect};
use tabsegnet_sql::{QueryError, Rows, Schema, Target, propose};

const TIME: Duration = Duration::from_secs(5);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (what, more) = words.split_at(words.iter().position(|word| word.starts_with("--")).unwrap_or(words.len()));
    let (mut model, mut every) = (Model::shipped().clone(), 1);
    for pair in more.chunks(2) {
        match pair {
            ["--weights", file] => model = serde_json::from_str(&std::fs::read_to_string(file)?)?,
            ["--every", number] => every = number.parse::<u64>()?.max(1),
            _ => bail!("see the head of this file"),
        }
    }
    match what {
        ["spider", data, part, output] => of_spider(data.as_ref(), part, output.as_ref(), &model, every),
        ["wikitq", tables, questions, part, output] => {
            of_wikitq(tables.as_ref(), questions.as_ref(), part, output.as_ref(), &model, every)
        }
        _ => bail!("see the head of this file"),
    }
}

/// One table, with both ways to ask it.
struct Both<'a> {
    schema: &'a Schema,
    semantics: Semantics,
    labels: &'a Labels,
    model: &'a Model,
}

impl Both<'_> {
    /// What each makes of a question.
    fn ask(
        &self,
        question: &str,
        known: &Known,
        run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    ) -> Result<[Generation; 3]> {
        let graph = SchemaGraph::new(self.schema, &self.semantics, SqlDialect::Sqlite)?;
        let values = ValueIndex::read(&graph, ValueLimits::default(), run)?;
        let linker = Linker::new(&graph, values, LinkingModel::shipped());
        let composed = Composer::new(&linker, self.model).compose(question, TIME, run);
        let scopes: Vec<_> = known.table(0).into_iter().collect();
        let generated = generate(question, known, &scopes, TIME, run);
        let (schema, labels) = (self.schema, self.labels);
        let target = Target { schema, semantics: &self.semantics, dialect: SqlDialect::Sqlite, labels };
        Ok([composed, generated, propose(question, target, TIME, run)?])
    }

    fn known(&self, run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>) -> Result<Known> {
        Ok(Known::read(self.schema, self.labels, true, run)?)
    }
}

/// What is counted of a way.
#[derive(Default)]
struct Counts {
    all: usize,
    right: [usize; 3],
    said: usize,
    said_right: usize,
}

impl Counts {
    fn line(
        &mut self,
        question: (&str, &str),
        found: &[Generation; 3],
        right: &mut dyn FnMut(&Generation) -> bool,
        milliseconds: f64,
    ) -> serde_json::Value {
        self.all += 1;
        let mut line = serde_json::json!({"of": question.0, "question": question.1, "milliseconds": milliseconds});
        for (at, (name, of)) in ["compose", "generate", "propose"].into_iter().zip(found).enumerate() {
            let is_right = right(of);
            self.right[at] += usize::from(is_right);
            if name == "propose" && !of.abstained {
                self.said += 1;
                self.said_right += usize::from(is_right);
            }
            let best = of.proposals.first();
            line[name] = serde_json::json!({
                "confidence": best.map_or(0.0, |best| best.confidence), "right": is_right,
                "sql": best.map_or("", |best| &best.sql),
            });
        }
        line
    }

    fn tell(&self, what: &str) {
        let share = |of: usize, all: usize| format!("{:.3}", of as f64 / all.max(1) as f64);
        let [compose, generate, propose] = self.right.map(|right| share(right, self.all));
        let (said, answered) = (share(self.said_right, self.all), share(self.said_right, self.said));
        println!(
            "| {what} | {} | {compose} | {generate} | {propose} | {} | {said} | {answered} |",
            self.all, self.said
        );
    }
}

fn of_spider(data: &Path, part: &str, output: &Path, model: &Model, every: u64) -> Result<()> {
    let folder = data.join("sql/spider");
    let questions = spider::questions(&folder.join(format!("{part}.jsonl")))?;
    let published = spider::published::spider(&std::fs::read_to_string(folder.join("tables.json"))?)?;
    let published: BTreeMap<_, _> = published.into_iter().map(|of| (of.database.clone(), of)).collect();
    let (mut lines, mut counts) = (String::new(), Counts::default());
    for question in questions.iter().filter(|q| q.gold_tables.as_ref().is_some_and(|tables| tables.len() == 1)) {
        if !wikitq::hash(&question.question).is_multiple_of(every) {
            continue;
        }
        let (Some(of), Some([table])) = (published.get(&question.db), question.gold_tables.as_deref()) else {
            bail!("{}: no such database", question.db)
        };
        let (mut schema, mut semantics) = (of.schema.clone(), of.semantics.clone());
        schema.tables.retain(|other| other.name.eq_ignore_ascii_case(table));
        schema.tables.iter_mut().for_each(|table| table.foreign_keys.clear());
        semantics.tables.retain(|other, _| other.eq_ignore_ascii_case(table));
        semantics.relations.clear();
        let connection = rows::open(data, &question.db)?;
        let Ok(gold) = rows::Gold::new(&question.sql, &connection) else { continue };
        let mut labels = Labels::new();
        for (table, of) in &semantics.tables {
            for (column, of) in &of.columns {
                let spelled = schema.tables.iter().flat_map(|table| &table.columns);
                let spelled = spelled.map(|column| &column.name).find(|name| name.eq_ignore_ascii_case(column));
                let table = schema.tables.first().map_or(table, |table| &table.name);
                labels.insert((table.clone(), spelled.unwrap_or(column).clone()), of.name.clone().unwrap_or_default());
            }
        }
        labels.retain(|_, label| !label.is_empty());
        let both = Both { schema: &schema, semantics, labels: &labels, model };
        let mut run = |sql: &str| rows::run(&connection, sql, rows::MOST_ROWS);
        let start = Instant::now();
        let known = both.known(&mut run)?;
        let found = both.ask(&question.question, &known, &mut run)?;
        let took = start.elapsed().as_secs_f64() * 1000.0;
        let mut right = |of: &Generation| of.proposals.first().is_some_and(|best| gold.is_of(&best.sql, &connection));
        let mut line = counts.line((&question.db, &question.question), &found, &mut right, took);
        line["gold"] = question.sql.clone().into();
        writeln!(lines, "{line}")?;
    }
    std::fs::write(output, lines)?;
    counts.tell(&format!("Spider, {part}"));
    Ok(())
}

fn of_wikitq(tables: &Path, questions: &Path, part: &str, output: &Path, model: &Model, every: u64) -> Result<()> {
    let questions = wikitq::read(questions)?;
    let (mut lines, mut counts) = (String::new(), Counts::default());
    for (table, questions) in questions.iter().filter(|(table, _)| wikitq::is_dev(table) == (part == "dev")) {
        let mut questions =
            questions.iter().filter(|question| wikitq::hash(&question.id).is_multiple_of(every)).peekable();
        if questions.peek().is_none() {
            continue;
        }
        let opened = wikitq::open(tables, table)?;
        let mut semantics = Semantics::default();
        for ((table, column), label) in &opened.labels {
            let of = semantics.tables.entry(table.clone()).or_default().columns.entry(column.clone()).or_default();
            of.hidden = label.is_empty();
            of.name = (!label.is_empty()).then(|| label.clone());
        }
        let both = Both { schema: &opened.schema, semantics, labels: &opened.labels, model };
        let quick = |connection: &Connection, sql: &str| rows::run(connection, sql, rows::MOST_ROWS);
        let mut run = |sql: &str| quick(&opened.connection, sql);
        for question in questions {
            let gold = wikitq::Gold::new(&question.answer);
            let start = Instant::now();
            let found = both.ask(&question.text, &opened.known, &mut run)?;
            let took = start.elapsed().as_secs_f64() * 1000.0;
            let mut right = |of: &Generation| {
                gold.is(&of.proposals.first().map_or_else(Vec::new, |best| wikitq::values(&best.rows)))
            };
            let mut line = counts.line((table, &question.text), &found, &mut right, took);
            line["gold"] = question.answer.clone().into();
            line["id"] = question.id.clone().into();
            writeln!(lines, "{line}")?;
        }
    }
    std::fs::write(output, lines)?;
    counts.tell(&format!("WikiTableQuestions, {part}"));
    Ok(())
}
