//! SQL by a language model: from the tables that a question may need and what joins them, one statement at a time, which
//! whoever calls runs behind the fence.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, Tokenizer};
use tabsegnet_llm::{
    Budget, ChatModel, JsonReply, LlmError, LlmSettings, Message, Piece, ReplySchema, Tokens, chat_json,
};
use tabsegnet_store::one_line;

use crate::error::QueryError;
use crate::generate::Labels;
use crate::joins::{Trap, traps_of_statement};
use crate::linking::{Linked, Linker, ValueLimits};
use crate::rows::{Rows, Value};
use crate::schema_graph::{ColumnNode, JoinOrigin, SchemaGraph, SqlDialect};

const SYSTEM: &str = include_str!("llm/prompt.txt");
/// What the statement selects.
const WITH_REASONS: &str =
    "Select what the subquery wants in the first column, and what shows that the row is the right one behind it.";
const ALONE: &str = "Select what the subquery wants and nothing beside it.";

/// What a statement is to be written for.
#[derive(Debug, Clone, Copy)]
pub struct StatementRequest<'a> {
    /// Whose SQL.
    pub dialect: SqlDialect,
    /// The question.
    pub question: &'a str,
    /// The tables, each as JSON in one line.
    pub tables: &'a [String],
    /// What joins them, in words.
    pub joins: &'a [String],
    /// Statements that were not run, each with the reason.
    pub refused: &'a [(String, String)],
    /// Whether the statement also selects what shows that a row is the right one.
    pub with_reasons: bool,
}

impl StatementRequest<'_> {
    fn system(&self) -> String {
        let dialect = match self.dialect {
            SqlDialect::Postgres => "PostgreSQL",
            SqlDialect::Mysql => "MySQL",
            SqlDialect::Duckdb => "DuckDB",
            SqlDialect::Snowflake => "Snowflake",
            SqlDialect::Sqlite | SqlDialect::Generic => "SQLite",
        };
        let select = if self.with_reasons { WITH_REASONS } else { ALONE };
        SYSTEM.trim_ascii_end().replace("{DIALECT}", dialect).replace("{SELECT}", select)
    }

    fn user(&self) -> String {
        let mut prompt = format!("Subquery: {}\n\nTables:\n", one_line(self.question));
        for table in self.tables {
            let _ = writeln!(prompt, "- {table}");
        }
        if !self.joins.is_empty() {
            prompt += "\nWhat joins them:\n";
            for join in self.joins {
                let _ = writeln!(prompt, "- {join}");
            }
        }
        for (sql, reason) in self.refused {
            let _ =
                writeln!(prompt, "\nThis statement was not run: {}\nWhy: {}", quoted(sql, 1000), quoted(reason, 500));
        }
        prompt
    }
}

/// Has a model write a statement; `None` where it says that the tables do not hold what the question wants.
///
/// # Errors
/// Those of the model; [`LlmError::Invalid`] where its second reply is no JSON of the form described either.
pub fn write_statement(
    (model, settings): (&dyn ChatModel, &LlmSettings),
    budget: &mut Budget,
    on_piece: &mut dyn FnMut(Piece<'_>),
    request: &StatementRequest<'_>,
) -> Result<JsonReply<Option<String>>, LlmError> {
    let schema = json!({
        "type": "object",
        "properties": {"thought": {"type": "string"}, "sql": {"type": "string"}},
        "required": ["thought", "sql"],
        "additionalProperties": false,
    });
    let messages = vec![Message::system(request.system()), Message::user(request.user())];
    let request = settings.request(messages, Some(ReplySchema { name: "statement".to_owned(), schema }));
    let read = |reply: Json| match reply.get("sql") {
        Some(Json::String(text)) => {
            let sql = text.trim().trim_end_matches(';').trim().to_owned();
            Ok((!sql.is_empty()).then_some(sql))
        }
        Some(_) => Err("sql is not a text".to_owned()),
        None => Err("sql is missing".to_owned()),
    };
    chat_json(model, request, budget, on_piece, &read)
}

/// A statement of a model that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The statement.
    pub sql: String,
    /// What it answers.
    pub rows: Rows,
    /// The first statement and why it was not run, where this is the second.
    pub repaired: Option<(String, String)>,
    /// What it may count more than once, by what it joins.
    pub traps: Vec<Trap>,
    /// Tokens of all turns.
    pub tokens: Tokens,
}

/// Why there is no statement of a model.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The model failed.
    #[error(transparent)]
    Model(#[from] LlmError),
    /// The database failed.
    #[error(transparent)]
    Database(QueryError),
    /// It says that the tables do not hold what the question wants.
    #[error("the language model finds no statement for it")]
    Nothing,
    /// Neither of its two statements could be run.
    #[error("the language model's statements cannot be run: {}", .0.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>().join("; "))]
    Unusable(Vec<(String, String)>),
}

/// Has a model write a statement for what was linked, and runs it; where it cannot be run the model is told why and gets
/// one more turn. One that may read a field that the semantic file hides is not run. `run` runs a statement behind the fence, `read`
/// one that reads examples of values; of `labels` those that are empty are of columns that are not hidden from anybody.
///
/// # Errors
/// [`WriteError`].
pub fn answer(
    (question, dialect): (&str, SqlDialect),
    linker: &Linker<'_>,
    labels: &Labels,
    model: (&dyn ChatModel, &LlmSettings),
    budget: &mut Budget,
    read: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Result<Written, WriteError> {
    let linked = linker.link(question);
    let shown = tables(linker, &linked);
    let lines: Vec<String> = shown.iter().map(|&table| table_line(linker, &linked, table, read)).collect();
    let joins = joins(linker, &shown);
    let (mut refused, mut tokens) = (Vec::new(), Tokens::default());
    loop {
        let request = StatementRequest {
            dialect,
            question,
            tables: &lines,
            joins: &joins,
            refused: &refused,
            with_reasons: false,
        };
        let reply = write_statement(model, budget, &mut |_| {}, &request)?;
        tokens += reply.tokens;
        let Some(sql) = reply.value else { return Err(WriteError::Nothing) };
        let ran = match reads_hidden(&sql, (linker.graph(), labels), dialect) {
            Some(reason) => Err(QueryError::refused(reason)),
            None => run(&sql),
        };
        match ran {
            Ok(rows) => {
                let traps = traps_of_statement(&sql, linker.graph(), dialect);
                return Ok(Written { sql, rows, repaired: refused.pop(), traps, tokens });
            }
            Err(error @ QueryError::Failed { .. }) => return Err(WriteError::Database(error)),
            Err(error) => refused.push((sql, error.to_string())),
        }
        if refused.len() > 1 {
            return Err(WriteError::Unusable(refused));
        }
    }
}

/// Whether a statement may read a hidden field, and why that is thought, in a sentence: it has the field's name, or all columns of
/// something.
fn reads_hidden(sql: &str, (graph, labels): (&SchemaGraph, &Labels), dialect: SqlDialect) -> Option<String> {
    let is_unlabelled = |column: &ColumnNode| {
        let table = graph.tables().get(column.table).map(|table| table.name.clone()).unwrap_or_default();
        labels.get(&(table, column.name.clone())).is_some_and(String::is_empty)
    };
    let hidden = graph.columns().iter().filter(|column| column.hidden && !is_unlabelled(column));
    let hidden: HashSet<String> = hidden.map(|column| column.name.to_lowercase()).collect();
    if hidden.is_empty() {
        return None;
    }
    // What is no SQL is refused where it is run.
    let tokens = Tokenizer::new(dialect.parser().as_ref(), sql).tokenize().ok()?;
    let mut before: Option<&Token> = None;
    for token in tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))) {
        match token {
            Token::Word(word) if hidden.contains(&word.value.to_lowercase()) => {
                return Some(format!("the field {} is hidden", word.value));
            }
            Token::Mul => {
                let begins = match before {
                    Some(Token::Word(word)) => {
                        matches!(word.keyword, Keyword::SELECT | Keyword::DISTINCT | Keyword::ALL)
                    }
                    Some(Token::Comma | Token::Period) => true,
                    _ => false,
                };
                if begins {
                    return Some("* would read hidden fields; the columns are to be named".to_owned());
                }
            }
            _ => {}
        }
        before = Some(token);
    }
    None
}

/// All tables up to so many are shown, of more those of likely sets.
const ALL: usize = 6;
const MOST: usize = 10;
/// The likelihood of the sets whose tables are shown.
const LIKELY: f32 = 0.97;
/// Columns of a table that are shown, the likeliest; examples of each, and letters of one.
const COLUMNS: usize = 40;
const EXAMPLES: usize = 3;
const LETTERS: usize = 60;

fn tables(linker: &Linker<'_>, linked: &Linked) -> Vec<usize> {
    let all = linker.graph().tables();
    if all.len() <= ALL {
        return (0..all.len()).collect();
    }
    let (mut shown, mut likelihood) = (BTreeSet::new(), 0.0);
    for set in &linked.sets {
        if likelihood >= LIKELY || shown.len() >= MOST {
            break;
        }
        shown.extend(&set.tree.tables);
        likelihood += set.probability;
    }
    shown.into_iter().collect()
}

fn table_line(
    linker: &Linker<'_>,
    linked: &Linked,
    table: usize,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> String {
    let graph = linker.graph();
    let Some(node) = graph.tables().get(table) else { return String::new() };
    let of = |column: usize| graph.columns().get(column).is_some_and(|found| found.table == table);
    // The likeliest, in the order of the table.
    let columns = linked.columns.iter().map(|column| column.column).filter(|&column| of(column)).take(COLUMNS);
    let columns: BTreeSet<usize> = columns.collect();
    let mut listed = Vec::new();
    for column in columns {
        let Some(found) = graph.columns().get(column) else { continue };
        let mut told = Map::new();
        told.insert("name".to_owned(), Json::from(found.name.as_str()));
        told.insert("type".to_owned(), Json::from(found.declared_type.as_str()));
        if let Some(expression) = &found.expression {
            told.insert("expression".to_owned(), Json::from(expression.as_str()));
        }
        if let Some(name) = found.names.first() {
            told.insert("called".to_owned(), Json::from(name.as_str()));
        }
        if let Some(description) = &found.description {
            told.insert("description".to_owned(), Json::from(cut(description, 3 * LETTERS)));
        }
        let named = linked.values.get(&column).into_iter().flatten().map(|value| value.value.clone());
        let mut examples: Vec<String> = named.take(EXAMPLES).collect();
        let (name, from) = (graph.column_sql(column, false), node.quoted());
        // Of a column with fewer values every row would be read.
        let rows = ValueLimits::default().rows;
        let few = format!("SELECT {name} AS v FROM {from} WHERE {name} IS NOT NULL LIMIT {rows}");
        let sql = format!("SELECT DISTINCT v FROM ({few}) AS few LIMIT {EXAMPLES}");
        for value in run(&sql).map(|rows| rows.rows).unwrap_or_default().into_iter().flatten() {
            let text = match value {
                Value::Text(text) => text,
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => value.to_string(),
                Value::Null | Value::Blob(_) => continue,
            };
            if examples.len() < EXAMPLES && !examples.contains(&text) {
                examples.push(text);
            }
        }
        let examples: Vec<String> = examples.iter().map(|text| cut(text, LETTERS)).collect();
        told.insert("examples".to_owned(), Json::from(examples));
        listed.push(Json::Object(told));
    }
    let mut told = Map::new();
    // One pair of quotes would make the schema a part of the name.
    let name = if node.schema.is_some() { node.quoted() } else { node.name.clone() };
    told.insert("name".to_owned(), Json::from(name));
    if let Some(name) = node.names.first() {
        told.insert("called".to_owned(), Json::from(name.as_str()));
    }
    if let Some(description) = &node.description {
        told.insert("description".to_owned(), Json::from(cut(description, 3 * LETTERS)));
    }
    told.insert("columns".to_owned(), Json::Array(listed));
    Json::Object(told).to_string()
}

/// What joins the tables shown; what is guessed only where nothing else does.
fn joins(linker: &Linker<'_>, shown: &[usize]) -> Vec<String> {
    let graph = linker.graph();
    let within = graph.joins().iter().filter(|join| shown.contains(&join.from) && shown.contains(&join.to));
    let told = |join: &&crate::schema_graph::Join| {
        let pair = |&(a, b): &(usize, usize)| format!("{} = {}", graph.column_id(a), graph.column_id(b));
        let pairs: Vec<String> = join.pairs.iter().map(pair).collect();
        let text = format!("{} ({})", pairs.join(" AND "), join.cardinality.in_words());
        one_line(&text)
    };
    let said = |join: &&crate::schema_graph::Join| matches!(join.origin, JoinOrigin::Declared | JoinOrigin::Curated);
    let declared: Vec<String> = within.clone().filter(said).map(|join| told(&join)).collect();
    let guessed = || within.filter(|join| join.origin == JoinOrigin::Guessed).map(|join| told(&join)).collect();
    if declared.is_empty() { guessed() } else { declared }
}

fn cut(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// A text as data: one line, in quotation marks, what would end them escaped; at most so many characters of it.
pub fn quoted(text: &str, most: usize) -> String {
    Json::String(cut(text, most)).to_string()
}

#[cfg(test)]
mod tests;
