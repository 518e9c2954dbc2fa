//! From a question to a statement: over tables that can be joined, and over one of records, by
//! [`compose`](crate::compose), over one that people read by [`generate`](crate::generate).

use std::time::{Duration, Instant};

use crate::catalogue::quote;
use crate::compose::{Composer, Model};
use crate::derived::with_fields;
use crate::error::QueryError;
use crate::generate::{Generation, Known, Labels, Scope, generate};
use crate::linking::{Linker, Model as LinkingModel, ValueIndex, ValueLimits};
use crate::narrowed::{Narrowed, narrowed};
use crate::refined::refined;
use crate::rows::{Rows, Value};
use crate::schema::{Schema, Table};
use crate::schema_graph::{SchemaGraph, SchemaGraphError, Semantics, SqlDialect};

/// Time for finding a statement: half of it for what is read of the tables, half for statements that are run.
pub const SEARCH: Duration = Duration::from_secs(10);

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
/// are sampled; it is called up to some hundred times, and some times for each column that is looked at, and not after
/// `time`. Of very many tables those that the question may be about are looked at ([`narrowed`]).
///
/// # Errors
/// [`ProposeError`].
pub fn propose(
    question: &str,
    target: Target<'_>,
    time: Duration,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Result<Generation, ProposeError> {
    let start = Instant::now();
    let left = || time.saturating_sub(start.elapsed());
    let narrowed = narrowed(question, target);
    let target = narrowed.as_ref().map_or(target, |narrowed| narrowed.target(target.dialect));
    let semantics = with_fields(question, target.schema, target.semantics);
    let target = Target { semantics: &semantics, ..target };
    let mut notes: Vec<String> = narrowed.iter().map(Narrowed::note).collect();
    if target.schema.tables.is_empty() && target.schema.views.is_empty() {
        notes.push("there are no tables".to_owned());
    }
    let found = found(question, target, (time, &left), run, &mut notes)?;
    Ok(Generation { notes: notes.into_iter().chain(found.notes).collect(), ..found })
}

/// How likely a statement as for records must be to go before one as for tables that people read.
const SURE: f32 = 0.7;

/// What is said where there was no time to read the values of all columns.
const TIME_FOR_VALUES: &str = "time ran out before the values of all columns were read";

/// The statement. Half of the time is for what is read of the tables, what is left for statements.
fn found(
    question: &str,
    target: Target<'_>,
    (time, left): (Duration, &dyn Fn() -> Duration),
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    notes: &mut Vec<String>,
) -> Result<Generation, ProposeError> {
    let (mut late, mut unread) = (false, false);
    let mut read = |sql: &str| {
        late |= left() < time / 2;
        if late { Err(QueryError::stopped("time")) } else { run(sql) }
    };
    let graph = schema_graph_of(target, &mut read)?;
    let mut scopes: Option<(Known, Vec<Scope>)> = None;
    if !graph.joins().iter().any(|join| join.from != join.to) {
        let order = target.dialect == SqlDialect::Sqlite;
        let known = Known::read(target.schema, target.labels, order, &mut |sql| {
            // Of a table for which there is no time the names are known.
            unread |= left() < time / 2;
            if unread { Ok(Rows { columns: Vec::new(), rows: Vec::new(), truncated: true }) } else { read(sql) }
        })?;
        let likeliest: Vec<Scope> = known.likeliest_table(question).into_iter().collect();
        scopes = Some((known, likeliest));
    }
    let of_people = |scopes: &[Scope]| {
        let tables = scopes.iter().flat_map(|scope| &scope.tables).filter_map(|table| target.schema.tables.get(*table));
        !tables.into_iter().any(|table| is_of_records(table, target.labels))
    };
    let values = ValueIndex::read(&graph, ValueLimits::default(), &mut read)?;
    notes.extend((late || unread).then(|| TIME_FOR_VALUES.to_owned()));
    let linker = Linker::new(&graph, values, LinkingModel::shipped());
    let composer = Composer::new(&linker, Model::shipped());
    let Some((known, scopes)) = scopes.filter(|(_, scopes)| of_people(scopes)) else {
        return Ok(composer.compose(question, left(), run));
    };
    let found = generate(question, &known, &scopes, left(), run);
    // "Average rate by region" is put to a table that people read as to records.
    let composed = composer.compose(question, left(), run);
    let [mut found, composed] = [found, composed].map(|of| refined(of, question, &known, run));
    let sure = |of: &Generation| of.proposals.first().map_or(0.0, |best| best.confidence);
    if !composed.abstained && sure(&composed) > sure(&found).max(SURE) {
        return Ok(composed);
    }
    let was_said = !found.abstained;
    found.hold_back_another(question, &graph);
    // What the one leaves out the other may say: "in March 2024", of a column of dates.
    let is_held_back = was_said && found.abstained;
    Ok(if is_held_back && !composed.abstained { composed } else { found })
}

/// Last words of names that tell records apart.
const IDS: [&str; 10] = ["id", "ids", "key", "code", "uuid", "guid", "sku", "ssn", "isbn", "ean"];

/// Whether a table was made for a program, with a record in each row, and not for people to read: it declares a key, its
/// columns are called as in a program (`order_date`), or one of them is an id. Of the tables of questions in the training
/// parts that is so of nearly all of Spider's and next to none of WikiTableQuestions'.
pub(crate) fn is_of_records(table: &Table, labels: &Labels) -> bool {
    let label = |column: &str| labels.get(&(table.name.clone(), column.to_owned()));
    let hidden = |column: &str| label(column).is_some_and(String::is_empty);
    if table.primary_key.iter().any(|column| !hidden(column)) {
        return true;
    }
    let called = table.columns.iter().filter_map(|column| label(&column.name)).map(String::as_str);
    let columns = table.columns.iter().map(|column| column.name.as_str()).filter(|name| !hidden(name));
    named_as_records(called, columns)
}

/// The same of what headers call columns, and of the names of all, which count where no header says anything: where some do,
/// the others were made beside them.
pub fn named_as_records<'n>(
    headers: impl IntoIterator<Item = &'n str>,
    columns: impl IntoIterator<Item = &'n str>,
) -> bool {
    let mut names: Vec<&str> = headers.into_iter().filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        names.extend(columns);
    }
    let in_program = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    names.iter().all(in_program) && names.iter().any(|name| name.contains('_'))
        || names.iter().any(|name| last_word(name).is_some_and(|word| IDS.contains(&word.as_str())))
}

/// The last word of a name, in lower case: `id` of `order_id`, `Order ID` and `orderId`.
fn last_word(name: &str) -> Option<String> {
    let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let mut word: Vec<char> = Vec::new();
    for letter in name.chars().rev() {
        let breaks = word.last().is_some_and(|after| after.is_uppercase() && letter.is_lowercase());
        if !letter.is_alphanumeric() || breaks {
            break;
        }
        word.push(letter);
    }
    (!word.is_empty()).then(|| word.iter().rev().collect::<String>().to_lowercase())
}

/// Runs a statement.
pub type Run<'r> = dyn FnMut(&str) -> Result<Rows, QueryError> + 'r;

/// What is done with what links questions.
pub type Then<'t, T> = dyn FnMut(&Linker<'_>, &mut Run<'_>) -> T + 't;

/// Gives what links questions to a target to `then`, with `run`, which reads values for at most `time`. Of very many
/// tables it links to those that the question may be about ([`narrowed`]), which is the second thing that comes back.
///
/// # Errors
/// [`ProposeError`].
pub fn linked<T>(
    question: &str,
    target: Target<'_>,
    time: Duration,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    then: &mut Then<'_, T>,
) -> Result<(T, Vec<String>), ProposeError> {
    let start = Instant::now();
    let narrowed = narrowed(question, target);
    let target = narrowed.as_ref().map_or(target, |narrowed| narrowed.target(target.dialect));
    let mut notes: Vec<String> = narrowed.iter().map(Narrowed::note).collect();
    let mut late = false;
    let mut read = |sql: &str| {
        late |= start.elapsed() > time;
        if late { Err(QueryError::stopped("time")) } else { run(sql) }
    };
    let graph = schema_graph_of(target, &mut read)?;
    let values = ValueIndex::read(&graph, ValueLimits::default(), &mut read)?;
    notes.extend(late.then(|| TIME_FOR_VALUES.to_owned()));
    Ok((then(&Linker::new(&graph, values, LinkingModel::shipped()), run), notes))
}

/// The graph that questions to a target are put to: with what people call its columns, keys that are likely where none is declared,
/// and guessed joins. `run` runs a statement that reads.
///
/// # Errors
/// The semantics do not fit the schema.
pub fn schema_graph_of(
    target: Target<'_>,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Result<SchemaGraph, ProposeError> {
    let mut semantics = target.semantics.clone();
    // Labels of hidden tables, and of those that are not looked at, are of no table here.
    let is_there = |name: &String| target.schema.tables.iter().any(|table| table.name == *name);
    for ((table, column), label) in target.labels.iter().filter(|((table, _), _)| is_there(table)) {
        let of = semantics.tables.entry(table.clone()).or_default().columns.entry(column.clone()).or_default();
        of.hidden |= label.is_empty();
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
            let (column, table) = (quote(name), table.quoted());
            let sql = format!("SELECT count(*) > 0 AND count(*) = count(DISTINCT {column}) FROM {table}");
            run(&sql).is_ok_and(|rows| matches!(rows.rows.first().map(Vec::as_slice), Some([Value::Integer(1)])))
        });
        table.primary_key.extend(key.cloned());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ColumnInfo;

    #[test]
    fn tables_of_records_are_told_from_those_that_people_read() {
        let table = |names: &[&str], key: &[&str]| Table {
            name: "t".to_owned(),
            columns: names
                .iter()
                .map(|name| ColumnInfo { name: (*name).to_owned(), ..ColumnInfo::default() })
                .collect(),
            primary_key: key.iter().map(|name| (*name).to_owned()).collect(),
            ..Table::default()
        };
        let labels = |of: &[(&str, &str)]| -> Labels {
            of.iter().map(|(name, label)| (("t".to_owned(), (*name).to_owned()), (*label).to_owned())).collect()
        };
        let none = Labels::new();
        for (names, key) in [
            (&["order_date", "amount"][..], &[][..]),
            (&["Customer", "Order ID"], &[]),
            (&["customerId", "x y"], &[]),
            (&["a", "b"], &["a"]),
        ] {
            assert!(is_of_records(&table(names, key), &none), "{names:?}");
        }
        for names in [&["Rank", "Nation", "Gold"][..], &["Year", "Winner(s)"], &["paid", "grid"], &[]] {
            assert!(!is_of_records(&table(names, &[]), &none), "{names:?}");
        }
        // What files call them counts, and a key that is hidden does not.
        let read = labels(&[("id", ""), ("air_date", "Air date"), ("no", "No.")]);
        assert!(!is_of_records(&table(&["id", "air_date", "no"], &["id"]), &read));
        let beside = labels(&[("c1", "Year"), ("c2", "Nation")]);
        assert!(!is_of_records(&table(&["c1", "c1_number", "c2"], &[]), &beside));
        assert!(is_of_records(&table(&["c1", "c1_text"], &[]), &labels(&[("c1", "order_no")])));
    }
}
