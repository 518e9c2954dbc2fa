//! Statements for a question without a language model: over tables of records those that [`tabsegnet_sql::propose`] finds, over
//! one that people read those that [`tabsegnet_sql::generate`] makes.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tabsegnet_corpus::terms;
use tabsegnet_lexical::periods::is_year;
use tabsegnet_sql::compose::LEAST as LEAST_OF_RECORDS;
use tabsegnet_sql::generate::{Generation, Known, LEAST, Proposal, generate};
use tabsegnet_sql::schema_graph::{Semantics, SqlDialect};
use tabsegnet_sql::tables::{ColumnType, ImportedTable};
use tabsegnet_sql::{
    Database, ProposeError, QueryError, Rows, SEARCH, Sandbox, Schema, Target, Value, literal, propose, quote,
};

use crate::library::Library;
use crate::planner::Statement;
use crate::siblings::Meant;

/// Rows of a table that a question is read with.
const ROWS: usize = 5000;
/// Of these at most so many for each word of the question.
const ROWS_OF_WORD: usize = 200;
/// Time for finding statements over one table that people read.
const SEARCH_OF_TABLE: Duration = Duration::from_secs(6);
/// Time for reading what a question is read with, of one table.
const READING: Duration = Duration::from_secs(3);

/// Words that say nothing about rows.
const STOP: [&str; 40] = [
    "the", "and", "was", "were", "what", "which", "who", "when", "where", "how", "many", "much", "for", "with", "from",
    "that", "this", "are", "did", "does", "has", "had", "have", "than", "more", "less", "most", "least", "all", "any",
    "total", "average", "number", "each", "per", "their", "its", "not", "there", "been",
];

/// The likeliest statement for a question over some tables, by their places in [`Library::tables`].
pub(crate) fn likeliest(library: &Library, tables: &[usize], question: &str) -> Option<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    // What fails is no statement.
    let mut imported = tables.iter().filter_map(|&table| library.imported(table));
    if imported.any(|table| library.records().contains(&table.name)) {
        found.extend(over_records(library, question).ok().flatten());
    }
    for &table in tables {
        if !library.imported(table).is_some_and(ImportedTable::is_of_records) {
            let of_table = statement(library, table, question).ok().flatten();
            found.extend(of_table.map(|of| as_meant(of, library.meant(table, question))));
        }
    }
    surest(found)
}

/// A statement over a table, as likely as the table is meant.
fn as_meant(statement: Statement, meant: Meant) -> Statement {
    let confidence = statement.confidence.map(|confidence| confidence * meant.likelihood());
    let notes = statement.notes.into_iter().chain(meant.note()).collect();
    Statement { confidence, notes, ..statement }
}

/// The likeliest, those that are said before those that are only named; the first of equals.
fn surest(found: Vec<Statement>) -> Option<Statement> {
    let rank = |of: &Statement| (of.confidence.is_some_and(|confidence| confidence >= of.least), of.confidence);
    found.into_iter().reduce(|best, next| if rank(&best) < rank(&next) { next } else { best })
}

/// The statement over tables of records, joined where it needs several, as `query` finds it, however likely it is.
fn over_records(library: &Library, question: &str) -> Result<Option<Statement>, ProposeError> {
    let database = Database::open(library.database().path(), &Sandbox::default().for_reading())?;
    let mut schema = database.schema()?;
    schema.tables.retain(|table| library.records().contains(&table.name));
    let number = |name: &str| library.tables().iter().position(|stored| stored.schema.table_name == name);
    schema.tables.retain(|table| !number(&table.name).is_some_and(|table| library.means_another(table, question)));
    let found = proposed(library, &database, &schema, question, SEARCH)?;
    // Looks through cells, so for tables that are read alone.
    let meant = |name: &str| number(name).map_or(Meant::This, |table| library.meant(table, question));
    let least_meant = |statement: &Statement| {
        let read = schema.tables.iter().filter(|table| statement.sql.contains(&quote(&table.name)));
        read.map(|table| meant(&table.name)).min_by(|a, b| a.likelihood().total_cmp(&b.likelihood()))
    };
    let statement = first_of(found, LEAST_OF_RECORDS);
    Ok(statement.map(|of| least_meant(&of).map_or(of.clone(), |meant| as_meant(of, meant))))
}

/// What `query` proposes over the tables of a schema.
fn proposed(
    library: &Library,
    database: &Database,
    schema: &Schema,
    question: &str,
    time: Duration,
) -> Result<Generation, ProposeError> {
    let (semantics, labels) = (Semantics::default(), library.database().labels());
    let target = Target { schema, semantics: &semantics, dialect: SqlDialect::Sqlite, labels: &labels };
    propose(question, target, time, &mut |sql| database.query(sql))
}

/// The likeliest statement over a table that people read, however likely it is.
fn statement(library: &Library, table: usize, question: &str) -> Result<Option<Statement>, ProposeError> {
    let Some(stored) = library.tables().get(table) else { return Ok(None) };
    if is_of_another_year(library, table, question) || library.means_another(table, question) {
        return Ok(None);
    }
    let sandbox = Sandbox { rows: ROWS, deadline: READING, ..Sandbox::default().for_reading() };
    let database = Database::open(library.database().path(), &sandbox)?;
    let mut schema = database.schema()?;
    schema.tables.retain(|of| of.name == stored.schema.table_name);
    schema.views.clear();
    if library.table(table).is_none_or(|table| table.rows() <= ROWS) {
        let found = proposed(library, &database, &schema, question, SEARCH_OF_TABLE)?;
        return Ok(first_of(found, LEAST));
    }
    let known = known(library, table, &database, &schema, question)?;
    let scopes = known.table(0).into_iter().collect::<Vec<_>>();
    let found = generate(question, &known, &scopes, SEARCH_OF_TABLE, &mut |sql| database.query(sql));
    let best = match aggregate(question) {
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
    Ok(best.map(|best| of_proposal(best, LEAST, Vec::new())))
}

/// The likeliest of what was found, however likely; `least` is from which likelihood on such a statement is said.
fn first_of(found: Generation, least: f32) -> Option<Statement> {
    let (held_back, notes) = (found.abstained, found.notes);
    // What is likely and held back all the same answers another question.
    let best = found.proposals.into_iter().next().filter(|best| !held_back || best.confidence < least)?;
    Some(of_proposal(best, if held_back { least } else { LEAST }, notes))
}

fn of_proposal(best: Proposal, least: f32, notes: Vec<String>) -> Statement {
    Statement { sql: best.sql, confidence: Some(best.confidence), least, notes }
}

/// Whether a table's caption, headings, file and folders name years, its cells and the question others: what it says is of those.
fn is_of_another_year(library: &Library, table: usize, question: &str) -> bool {
    let years = |text: &str| -> Vec<String> { terms(text).into_iter().filter(|term| is_year(term)).collect() };
    let wanted = years(question);
    let Some(of) = library.table(table).filter(|_| !wanted.is_empty()) else { return false };
    let chunk = (0..library.chunks().len()).find(|&chunk| library.table_of(chunk) == Some(table));
    let section = chunk.and_then(|chunk| library.chunks().get(chunk)).map_or("", |chunk| chunk.section.as_str());
    let source = library.tables().get(table).and_then(|stored| library.sources().get(stored.document));
    let place = source.map_or("", |source| source.place.as_str());
    let over = [years(of.caption()), years(section), years(place)].concat();
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
                texts.push((of_text, format!("{name} = {}", literal(text))));
            }
        }
    }
    conditions.extend(texts.into_iter().map(|(_, condition)| condition));
    let filter = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    let sql = format!("SELECT {aggregate}{}) FROM {from}{filter}", quote(&measure.name));
    Some(Statement { sql, confidence: Some(AGGREGATED), least: LEAST, notes: Vec::new() })
}

/// What a question to a table with more than [`ROWS`] rows is read with: those that have words of the question, then rows at
/// even distances.
fn known(
    library: &Library,
    table: usize,
    database: &Database,
    schema: &Schema,
    question: &str,
) -> Result<Known, QueryError> {
    let imported = library.imported(table);
    let mut labels = imported.map(ImportedTable::labels).unwrap_or_default();
    for column in schema.tables.iter().flat_map(|table| &table.columns) {
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
    // What it wants is all columns of its one table.
    Known::read(schema, &labels, true, &mut |_| rows_for(database, name, &columns, rows, question))
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
    words.retain(|word| word.len() > 2 && !STOP.contains(&word.as_str()) || word.chars().all(|c| c.is_ascii_digit()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_a_statement_that_is_said_goes_before_one_that_is_only_named() {
        let of = |sql: &str, confidence, least| Statement {
            sql: sql.to_owned(),
            confidence: Some(confidence),
            least,
            notes: Vec::new(),
        };
        let named = of("SELECT 1", 0.4, LEAST_OF_RECORDS);
        let said = of("SELECT 2", 0.3, LEAST);
        assert_eq!(surest(vec![named.clone(), said.clone()]), Some(said.clone()));
        assert_eq!(surest(vec![said, of("SELECT 3", 0.3, LEAST)]).map(|found| found.sql), Some("SELECT 2".to_owned()));
        assert_eq!(surest(vec![named.clone()]), Some(named));
    }
}
