//! From a question to a statement: over tables that can be joined by [`compose`](crate::compose), else over one table by
//! [`generate`](crate::generate).

use std::time::Duration;

use crate::compose::{Composer, Model};
use crate::error::QueryError;
use crate::generate::{Generation, Known, Labels, Scope, generate};
use crate::linking::{Linker, Model as LinkingModel, ValueIndex, ValueLimits};
use crate::rows::Rows;
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
    let mut semantics = target.semantics.clone();
    for ((table, column), label) in target.labels {
        let of = semantics.tables.entry(table.clone()).or_default().columns.entry(column.clone()).or_default();
        if of.name.is_none() && !label.is_empty() {
            of.name = Some(label.clone());
        }
    }
    let graph = SchemaGraph::new(target.schema, &semantics, target.dialect)?.with_guessed_joins();
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
