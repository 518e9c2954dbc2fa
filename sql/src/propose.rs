//! From a question to a statement: over tables that can be joined by [`compose`](crate::compose), else over one table by
//! [`generate`](crate::generate).

use std::time::Duration;

use crate::catalogue::quote;
use crate::compose::{Composer, Model};
use crate::error::QueryError;
use crate::generate::{Generation, Known, Labels, Scope, generate};
use crate::linking::{Linker, Model as LinkingModel, ValueIndex, ValueLimits};
use crate::rows::{Rows, Value};
use crate::schema::Schema;
use crate::schema_graph::{SchemaGraph, SchemaGraphError, Semantics, SqlDialect};

/// What a question is put to.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The tables.
    pub schema: &'a Schema,
    /// What the schema does not say of itself.
    pub semantics: &'a Semantics,
    /// How its views are written.
    pub dialect: SqlDialect,
    /// What people call columns, beside that.
    pub labels: &'a Labels,
}

/// Why no statement could be looked for.
#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    /// The semantics do not fit the schema.
    #[error(transparent)]
    Graph(#[from] SchemaGraphError),
    /// The database cannot be read.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// Proposes a statement for a question. `run` runs one that reads; with at most so many rows as it gives at once, values
/// are sampled; it is called up to some hundred times, and not for candidates after `time`.
///
/// # Errors
/// [`ProposeError`].
pub fn propose(
    question: &str,
    target: Target<'_>,
    time: Duration,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Result<Generation, ProposeError> {
    let graph = graph(target, run)?;
    if graph.joins().iter().any(|join| join.from != join.to) {
        let values = ValueIndex::read(&graph, ValueLimits::default(), run)?;
        let linker = Linker::new(&graph, values, LinkingModel::shipped());
        return Ok(Composer::new(&linker, Model::shipped()).compose(question, time, run));
    }
    let order = target.dialect == SqlDialect::Sqlite;
    let known = Known::read(target.schema, target.labels, order, run)?;
    let scopes: Vec<Scope> = known.likeliest_table(question).into_iter().collect();
    Ok(generate(question, &known, &scopes, time, run))
}

/// Runs a statement.
pub type Run<'r> = dyn FnMut(&str) -> Result<Rows, QueryError> + 'r;

/// What is done with what links questions.
pub type Then<'t, T> = dyn FnMut(&Linker<'_>, &mut Run<'_>) -> T + 't;

/// Gives what links questions to a target to `then`, with `run`, which reads values.
///
/// # Errors
/// [`ProposeError`].
pub fn linked<T>(
    target: Target<'_>,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    then: &mut Then<'_, T>,
) -> Result<T, ProposeError> {
    let graph = graph(target, run)?;
    let values = ValueIndex::read(&graph, ValueLimits::default(), run)?;
    Ok(then(&Linker::new(&graph, values, LinkingModel::shipped()), run))
}

/// The graph of a target, with what people call its columns and, where few are declared, guessed joins.
fn graph(
    target: Target<'_>,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Result<SchemaGraph, ProposeError> {
    let mut semantics = target.semantics.clone();
    for ((table, column), label) in target.labels {
        let of = semantics.tables.entry(table.clone()).or_default().columns.entry(column.clone()).or_default();
        if of.name.is_none() && !label.is_empty() {
            of.name = Some(label.clone());
        }
    }
    let schema = with_likely_keys(target.schema, run);
    Ok(SchemaGraph::new(&schema, &semantics, target.dialect)?.with_guessed_joins())
}

/// Where nothing declares a key, as in a folder of files: a table's first column that has another value in each row, and a
/// name that another table has too, is taken for its key.
fn with_likely_keys(schema: &Schema, run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>) -> Schema {
    let mut schema = schema.clone();
    if schema.tables.iter().any(|table| !table.foreign_keys.is_empty()) {
        return schema;
    }
    let names: Vec<Vec<String>> = schema
        .tables
        .iter()
        .map(|table| table.columns.iter().map(|column| column.name.to_lowercase()).collect())
        .collect();
    for (at, table) in schema.tables.iter_mut().enumerate().filter(|(_, table)| table.primary_key.is_empty()) {
        let shared = |name: &String| {
            let others = names.iter().enumerate().filter(|(other, _)| *other != at);
            others.into_iter().any(|(_, of)| of.contains(&name.to_lowercase()))
        };
        let key = table.columns.iter().map(|column| &column.name).filter(|name| shared(name)).find(|name| {
            let (column, table) = (quote(name), quote(&table.name));
            let sql = format!("SELECT count(*) > 0 AND count(*) = count(DISTINCT {column}) FROM {table}");
            run(&sql).is_ok_and(|rows| matches!(rows.rows.first().map(Vec::as_slice), Some([Value::Integer(1)])))
        });
        table.primary_key.extend(key.cloned());
    }
    schema
}
