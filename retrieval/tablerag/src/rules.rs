//! Planning without a language model: the question is the one subquery, the statement is the likeliest of those that
//! [`tabsegnet_sql::generate`] makes over a table, or [`tabsegnet_sql::propose`] over tables of records, and the surer of rows and
//! texts is taken.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tabsegnet_corpus::terms;
use tabsegnet_lexical::periods::is_year;
use tabsegnet_llm::LlmError;
use tabsegnet_sql::generate::{Known, LEAST, generate};
use tabsegnet_sql::schema_graph::{Semantics, SqlDialect};
use tabsegnet_sql::tables::{ColumnType, ImportedTable};
use tabsegnet_sql::{Database, ProposeError, QueryError, Rows, SEARCH, Sandbox, Schema, Target, Value, propose};

use crate::library::Library;
use crate::planner::{Evidence, Need, Planner, State, Statement, Step, Trust, Weighed};
use crate::search::Found;
use crate::trace::RoundEvent;

/// What texts say to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// One by one.
    pub answer: Vec<String>,
    /// How likely it is right, from 0 to 1.
    pub confidence: f32,
}

/// Answers from texts: what the rules hold beside a statement's rows.
pub trait Reader {
    /// What the chunks say; nothing where they do not.
    fn read(&mut self, library: &Library, question: &str, chunks: &[Found]) -> Option<Reading>;
}

/// Reads nothing.
impl Reader for () {
    fn read(&mut self, _: &Library, _: &str, _: &[Found]) -> Option<Reading> {
        None
    }
}

/// Rows of a table that a question is read with.
const ROWS: usize = 5000;
/// Of these at most so many for each word of the question.
const ROWS_OF_WORD: usize = 200;
/// Time for finding statements over one table that people read.
const SEARCH_OF_TABLE: Duration = Duration::from_secs(6);
/// Time for reading what a question is read with, of one table.
const READING: Duration = Duration::from_secs(3);

/// Plans by rules.
pub struct Rules<R> {
    reader: R,
    /// Words that a question's words are not looked for in a large table by.
    stop: &'static [&'static str],
}

/// Words that say nothing about rows.
const STOP: [&str; 40] = [
    "the", "and", "was", "were", "what", "which", "who", "when", "where", "how", "many", "much", "for", "with", "from",
    "that", "this", "are", "did", "does", "has", "had", "have", "than", "more", "less", "most", "least", "all", "any",
    "total", "average", "number", "each", "per", "their", "its", "not", "there", "been",
];

impl<R: Reader> Rules<R> {
    /// With what reads the texts.
    pub fn new(reader: R) -> Self {
        Self { reader, stop: &STOP }
    }
}

impl<R: Reader> Planner for Rules<R> {
    fn name(&self) -> &str {
        "rules"
    }

    fn next(&mut self, state: &State<'_>) -> Result<Step, LlmError> {
        let weighed = state.events.iter().rev().find_map(|event| match event {
            RoundEvent::Weighed { answer, confidence, reason, .. } => Some((answer, *confidence, reason)),
            _ => None,
        });
        let unfounded = state.events.iter().any(|event| matches!(event, RoundEvent::Unfounded { .. }));
        Ok(match weighed {
            None => Step::Search { thought: String::new(), subquery: state.question.to_owned() },
            Some((answer, _, reason)) if !answer.is_empty() && !unfounded => {
                Step::Answer { answer: answer.clone(), reason: reason.clone() }
            }
            Some((_, confidence, _)) => Step::Abstain {
                reason: format!("neither rows nor texts say it with enough confidence ({confidence:.2})"),
            },
        })
    }

    fn statement(&mut self, state: &State<'_>, need: &Need<'_>) -> Result<Option<Statement>, LlmError> {
        // A statement of the generator that fails is no reason for another one.
        if !need.refused.is_empty() {
            return Ok(None);
        }
        let library = state.library;
        let records = Records::of(library);
        // What fails is no statement.
        let mut found: Vec<Statement> = Vec::new();
        if need.tables.iter().any(|&table| library.imported(table).is_some_and(|of| records.has(of))) {
            found.extend(over_records(library, &records, need.subquery).ok().flatten());
        }
        for &table in need.tables {
            if !library.imported(table).is_some_and(ImportedTable::is_of_records) {
                found.extend(statement(library, table, need.subquery, self.stop).ok().flatten());
            }
        }
        // The first of equals.
        Ok(found.into_iter().reduce(|best, next| if best.confidence < next.confidence { next } else { best }))
    }

    fn weigh(&mut self, state: &State<'_>, evidence: &Evidence<'_>) -> Result<Weighed, LlmError> {
        let of_rows = evidence.executed.and_then(|(statement, rows)| {
            let answer = answer_of(rows);
            (!answer.is_empty()).then(|| (answer, statement.confidence.unwrap_or(0.0)))
        });
        let of_texts = self.reader.read(state.library, evidence.subquery, evidence.chunks);
        Ok(weigh(of_rows, of_texts))
    }
}

/// The surer of both, rows where they are as sure; both together where they say the same. Rows below what the generator
/// calls likely are no answer.
fn weigh(of_rows: Option<(Vec<String>, f32)>, of_texts: Option<Reading>) -> Weighed {
    match (of_rows, of_texts) {
        (Some((answer, confidence)), Some(reading)) if answer == reading.answer => Weighed {
            answer,
            trust: Trust::Both,
            // Two sources that are wrong for different reasons.
            confidence: 1.0 - (1.0 - confidence) * (1.0 - reading.confidence),
            reason: "rows and texts say the same".to_owned(),
        },
        (Some((answer, confidence)), reading)
            if confidence >= LEAST && reading.as_ref().is_none_or(|reading| confidence >= reading.confidence) =>
        {
            let reason = match reading {
                Some(reading) => format!("rows are surer than texts, {confidence:.2} to {:.2}", reading.confidence),
                None => format!("rows say it, texts do not ({confidence:.2})"),
            };
            Weighed { answer, trust: Trust::Sql, confidence, reason }
        }
        (of_rows, Some(reading)) => {
            let reason = match of_rows {
                Some((_, rows)) => format!("texts are surer than rows, {:.2} to {rows:.2}", reading.confidence),
                None => format!("texts say it, rows do not ({:.2})", reading.confidence),
            };
            Weighed { answer: reading.answer, trust: Trust::Text, confidence: reading.confidence, reason }
        }
        (Some((_, confidence)), None) => {
            Weighed { confidence, ..Weighed::nothing(format!("no statement is likely enough ({confidence:.2})")) }
        }
        (None, None) => Weighed::nothing("neither rows nor texts say it"),
    }
}

/// The values of the first column, each once.
fn answer_of(rows: &Rows) -> Vec<String> {
    let mut answer: Vec<String> = Vec::new();
    for value in rows.rows.iter().filter_map(|row| row.first()) {
        let text = match value {
            Value::Null | Value::Blob(_) => continue,
            Value::Integer(value) => value.to_string(),
            Value::Real(value) => shown(*value),
            Value::Text(text) => text.trim().to_owned(),
        };
        if !text.is_empty() && !answer.contains(&text) {
            answer.push(text);
        }
    }
    answer
}

/// A number without what its binary form adds to a sum: twelve digits count.
fn shown(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { value.abs().log10().floor().clamp(-12.0, 15.0) as i32 };
    let places = (11 - digits).clamp(0, 12) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Tables of records, and those that have a column of the same name, which they may be joined by.
struct Records<'l> {
    tables: HashSet<&'l str>,
}

impl<'l> Records<'l> {
    fn of(library: &'l Library) -> Self {
        let names = |table: &ImportedTable| -> HashSet<String> {
            table.columns.iter().map(|column| column.name.to_lowercase()).collect()
        };
        let all = &library.database().tables;
        let of_records: HashSet<String> = all.iter().filter(|table| table.is_of_records()).flat_map(names).collect();
        let shares = |table: &&ImportedTable| names(table).iter().any(|name| of_records.contains(name));
        Self { tables: all.iter().filter(shares).map(|table| table.name.as_str()).collect() }
    }

    fn has(&self, table: &ImportedTable) -> bool {
        self.tables.contains(table.name.as_str())
    }
}

/// The statement over tables of records, joined where it needs several, as `query` finds it; nothing where none is likely
/// enough.
fn over_records(library: &Library, records: &Records<'_>, question: &str) -> Result<Option<Statement>, ProposeError> {
    let files = library.database();
    let database = Database::open(files.path(), &Sandbox::default().for_reading())?;
    let mut schema = database.schema()?;
    schema.tables.retain(|table| records.tables.contains(table.name.as_str()));
    let (semantics, labels) = (Semantics::default(), files.labels());
    let target = Target { schema: &schema, semantics: &semantics, dialect: SqlDialect::Sqlite, labels: &labels };
    let found = propose(question, target, SEARCH, &mut |sql| database.query(sql))?;
    let statement =
        |sql: String, confidence| Statement { sql, confidence: Some(confidence), notes: found.notes.clone() };
    Ok(found.chosen().map(|chosen| statement(chosen.sql.clone(), chosen.confidence)))
}

/// The likeliest statement over a table that people read, however likely it is.
fn statement(library: &Library, table: usize, question: &str, stop: &[&str]) -> Result<Option<Statement>, QueryError> {
    let Some(stored) = library.tables().get(table) else { return Ok(None) };
    if is_of_another_year(library, table, question) {
        return Ok(None);
    }
    let sandbox = Sandbox { rows: ROWS, bytes: 20_000_000, deadline: READING, ..Sandbox::default() };
    let database = Database::open(library.database().path(), &sandbox)?;
    let mut schema = database.schema()?;
    schema.tables.retain(|of| of.name == stored.schema.table_name);
    schema.views.clear();
    let known = known(library, table, &database, &schema, question, stop)?;
    let scopes = known.table(0).into_iter().collect::<Vec<_>>();
    let found = generate(question, &known, &scopes, SEARCH_OF_TABLE, &mut |sql| database.query(sql));
    let is_large = library.table(table).is_some_and(|table| table.rows() > ROWS);
    let best = match aggregate(question).filter(|_| is_large) {
        // Of a large table a total is no cell: the likeliest statement that makes one, or none.
        Some(aggregate) => {
            let of = found.proposals.into_iter().find(|proposal| proposal.sql.to_lowercase().contains(aggregate));
            match of.filter(|proposal| proposal.confidence >= LEAST) {
                Some(proposal) => Some(proposal),
                None => return Ok(aggregated(library, table, &database, question, aggregate)),
            }
        }
        None => found.proposals.into_iter().next(),
    };
    Ok(best.map(|best| Statement { sql: best.sql, confidence: Some(best.confidence), notes: Vec::new() }))
}

/// Whether a table's caption and headings name years, its cells and the question others: what it says is of those.
fn is_of_another_year(library: &Library, table: usize, question: &str) -> bool {
    let years = |text: &str| -> Vec<String> { terms(text).into_iter().filter(|term| is_year(term)).collect() };
    let wanted = years(question);
    let Some(of) = library.table(table).filter(|_| !wanted.is_empty()) else { return false };
    let chunk = (0..library.chunks().len()).find(|&chunk| library.table_of(chunk) == Some(table));
    let section = chunk.and_then(|chunk| library.chunks().get(chunk)).map_or("", |chunk| chunk.section.as_str());
    let over = [years(of.caption()), years(section)].concat();
    let has_wanted = |text: &str| years(text).iter().any(|year| wanted.contains(year));
    !over.is_empty()
        && !over.iter().any(|year| wanted.contains(year))
        && !of.cells().iter().any(|cell| has_wanted(&cell.text))
}

/// The aggregate that a question names.
fn aggregate(question: &str) -> Option<&'static str> {
    let words = terms(question);
    let has = |all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()));
    if has(&["total", "sum", "combined", "altogether"]) {
        return Some("sum(");
    }
    has(&["average", "mean"]).then_some("avg(")
}

/// How sure a statement of [`aggregated`] is: where it is made, nothing of the question is left over that it could mean;
/// it was not measured.
const AGGREGATED: f32 = 0.5;
/// Different texts of a column that are looked for in a question.
const TEXTS: usize = 1000;

/// The aggregate of the one number column that a question names, over the rows that have its numbers and texts. Nothing
/// where a number or text of the question may stand in two columns, or in none.
fn aggregated(
    library: &Library,
    table: usize,
    database: &Database,
    question: &str,
    aggregate: &str,
) -> Option<Statement> {
    let imported = library.imported(table)?;
    let words = terms(question);
    let names = |column: &&tabsegnet_sql::tables::ImportedColumn| {
        let label = terms(&column.header);
        !label.is_empty() && label.iter().all(|term| words.contains(term))
    };
    let numbers = || imported.columns.iter().filter(|column| column.kind != ColumnType::Text);
    let mut named = numbers().filter(names);
    let (measure, None) = (named.next()?, named.next()) else { return None };
    let from = quote(&imported.name);
    let has = |condition: &str| {
        let found = database.query(&format!("SELECT 1 FROM {from} WHERE {condition} LIMIT 1"));
        found.is_ok_and(|rows| !rows.rows.is_empty())
    };
    let mut conditions: Vec<String> = Vec::new();
    for word in words.iter().filter(|word| word.parse::<f64>().is_ok()) {
        let in_column = |column: &&tabsegnet_sql::tables::ImportedColumn| {
            column.name != measure.name
                && !numbers_rows(database, &imported.name, &column.name, column.kind.sql())
                && has(&format!("{} = {word}", quote(&column.name)))
        };
        let mut columns = numbers().filter(in_column);
        let (column, None) = (columns.next()?, columns.next()) else { return None };
        conditions.push(format!("{} = {word}", quote(&column.name)));
    }
    let mut texts: Vec<(Vec<String>, String)> = Vec::new();
    for column in imported.columns.iter().filter(|column| column.kind == ColumnType::Text) {
        let name = quote(&column.name);
        let Ok(rows) = database.query(&format!("SELECT DISTINCT {name} FROM {from} LIMIT {}", TEXTS + 1)) else {
            continue;
        };
        if rows.rows.len() > TEXTS {
            continue;
        }
        for value in rows.rows.iter().filter_map(|row| row.first()) {
            let Value::Text(text) = value else { continue };
            let of_text = terms(text);
            if !of_text.is_empty() && words.windows(of_text.len()).any(|part| part == of_text) {
                if texts.iter().any(|(other, _)| *other == of_text) {
                    return None;
                }
                texts.push((of_text, format!("{name} = '{}'", text.replace('\'', "''"))));
            }
        }
    }
    conditions.extend(texts.into_iter().map(|(_, condition)| condition));
    let filter = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    let sql = format!("SELECT {aggregate}{}) FROM {from}{filter}", quote(&measure.name));
    Some(Statement { sql, confidence: Some(AGGREGATED), notes: Vec::new() })
}

/// What a question is read with. Of a table with more than [`ROWS`] rows those that have words of the question, then rows
/// at even distances.
fn known(
    library: &Library,
    table: usize,
    database: &Database,
    schema: &Schema,
    question: &str,
    stop: &[&str],
) -> Result<Known, QueryError> {
    let imported = library.imported(table);
    let mut labels = imported.map(ImportedTable::labels).unwrap_or_default();
    let large = library.table(table).is_some_and(|table| table.rows() > ROWS);
    for column in schema.tables.iter().flat_map(|table| &table.columns).filter(|_| large) {
        let name = imported.map_or("", |table| table.name.as_str());
        // A column that numbers the rows has every number of a question: it counts where the question names it.
        let label = labels.get(&(name.to_owned(), column.name.clone())).map_or(column.name.as_str(), String::as_str);
        let named = terms(label).iter().all(|term| terms(question).contains(term));
        if !named && numbers_rows(database, name, &column.name, &column.declared_type) {
            labels.insert((name.to_owned(), column.name.clone()), String::new());
        }
    }
    let rows = library.table(table).map_or(0, |table| table.rows());
    let columns: Vec<&str> =
        schema.tables.iter().flat_map(|table| &table.columns).map(|column| column.name.as_str()).collect();
    let name = schema.tables.first().map_or("", |table| table.name.as_str());
    Known::read(schema, &labels, true, &mut |sql| match rows > ROWS {
        // What it wants is all columns of its one table.
        true => rows_for(database, name, &columns, rows, question, stop),
        false => database.query(sql),
    })
}

/// Whether the values of a column are whole numbers, each once.
fn numbers_rows(database: &Database, table: &str, column: &str, kind: &str) -> bool {
    let column = quote(column);
    let sql = format!("SELECT count(DISTINCT {column}) = count(*) FROM {}", quote(table));
    kind == "INTEGER"
        && database
            .query(&sql)
            .is_ok_and(|rows| rows.rows.first().and_then(|row| row.first()) == Some(&Value::Integer(1)))
}

fn rows_for(
    database: &Database,
    table: &str,
    columns: &[&str],
    rows: usize,
    question: &str,
    stop: &[&str],
) -> Result<Rows, QueryError> {
    let list = columns.iter().map(|column| quote(column)).collect::<Vec<_>>().join(", ");
    let from = quote(table);
    let start = Instant::now();
    let mut all: Option<Rows> = None;
    let mut seen: HashMap<String, ()> = HashMap::new();
    let mut add = |found: Rows, all: &mut Option<Rows>| {
        let into = all.get_or_insert_with(|| Rows { rows: Vec::new(), truncated: false, ..found.clone() });
        for row in found.rows {
            if into.rows.len() < ROWS && seen.insert(format!("{row:?}"), ()).is_none() {
                into.rows.push(row);
            }
        }
    };
    let mut words = terms(question);
    words.sort_unstable();
    words.dedup();
    words.retain(|word| word.len() > 2 && !stop.contains(&word.as_str()) || word.chars().all(|c| c.is_ascii_digit()));
    for word in words {
        if start.elapsed() > READING {
            break;
        }
        // Letters and digits alone, so that nothing has to be quoted.
        let has = columns.iter().map(|column| format!("{} LIKE '%{word}%'", quote(column))).collect::<Vec<_>>();
        let sql = format!("SELECT {list} FROM {from} WHERE {} LIMIT {ROWS_OF_WORD}", has.join(" OR "));
        // A word that takes too long is left out.
        if let Ok(found) = database.query(&sql) {
            add(found, &mut all);
        }
    }
    let left = ROWS.saturating_sub(all.as_ref().map_or(0, |all| all.rows.len())).max(1);
    let step = rows.div_ceil(left).max(1);
    add(database.query(&format!("SELECT {list} FROM {from} WHERE rowid % {step} = 0 LIMIT {left}"))?, &mut all);
    Ok(all.unwrap_or_else(|| Rows { columns: Vec::new(), rows: Vec::new(), truncated: false }))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(answer: &str, confidence: f32) -> Option<Reading> {
        Some(Reading { answer: vec![answer.to_owned()], confidence })
    }

    #[test]
    fn the_surer_source_is_taken() {
        let rows = |answer: &str, confidence| Some((vec![answer.to_owned()], confidence));
        for (of_rows, of_texts, answer, trust) in [
            (rows("1", 0.8), reading("2", 0.5), "1", Trust::Sql),
            (rows("1", 0.5), reading("2", 0.8), "2", Trust::Text),
            (rows("1", 0.1), None, "", Trust::Neither),
            (rows("1", 0.1), reading("2", 0.05), "2", Trust::Text),
            (None, reading("2", 0.3), "2", Trust::Text),
            (None, None, "", Trust::Neither),
        ] {
            let weighed = weigh(of_rows, of_texts);
            assert_eq!((weighed.answer.join(""), weighed.trust), (answer.to_owned(), trust), "{weighed:?}");
        }
        let both = weigh(rows("1", 0.5), reading("1", 0.5));
        assert_eq!((both.trust, both.confidence), (Trust::Both, 0.75));
    }

    #[test]
    fn numbers_are_shown_without_what_their_binary_form_adds() {
        let told: Vec<String> = [0.1 + 0.2, 8_345_678.129_999_999, 3.0, 1e15, -2.5, 0.0].map(shown).to_vec();
        assert_eq!(told, ["0.3", "8345678.13", "3", "1000000000000000", "-2.5", "0"]);
    }
}
