//! The schema of a database, as far as it may be seen.

use std::collections::HashMap;
use std::time::Duration;

use rusqlite::Connection;
use serde::Serialize;

use crate::catalogue::{Catalogue, Kind, mentions, quote};
use crate::error::{QueryError, classify};
use crate::sandbox::Clock;

/// The tables and views of a database, in the order of their creation. Tables in which virtual tables keep
/// their rows are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schema {
    /// Tables, also virtual ones.
    pub tables: Vec<Table>,
    /// Views.
    pub views: Vec<View>,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The name as it was created.
    pub name: String,
    /// On a server, the schema that has to be named with it, and that the name has before it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The columns in their order.
    pub columns: Vec<ColumnInfo>,
    /// The columns of the primary key in the key's order; empty where none is declared.
    pub primary_key: Vec<String>,
    /// Foreign keys in the order of their declaration; those that lead to a hidden table are left out.
    pub foreign_keys: Vec<ForeignKey>,
    /// The module of a virtual table.
    pub module: Option<String>,
    /// Why the columns could not be read: a virtual table of a module that SQLite does not have here.
    pub problem: Option<String>,
}

/// A column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ColumnInfo {
    /// The name as it was created.
    pub name: String,
    /// The type as it was declared, empty where none was.
    pub declared_type: String,
    /// Whether it is declared NOT NULL.
    pub not_null: bool,
    /// Whether it is computed from other columns.
    pub generated: bool,
}

/// A foreign key, a composite one whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    /// The columns that refer.
    pub columns: Vec<String>,
    /// The table they refer to: as it was created, else as the key spells it.
    pub table: String,
    /// The columns they refer to, one each, as the table spells them; where the key names none, the table's primary key.
    pub referenced: Vec<String>,
    /// Whether the table or one of its columns is missing, or the primary key has another number of columns.
    pub dangling: bool,
}

/// A view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct View {
    /// The name as it was created.
    pub name: String,
    /// As of a [`Table`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The columns in their order.
    pub columns: Vec<ColumnInfo>,
    /// The statement that made it; none where its text has the name of a hidden table, though it reads none.
    pub sql: Option<String>,
    /// Why SQLite cannot read it: it is circular, or what it reads is missing.
    pub problem: Option<String>,
}

impl Table {
    /// The name as a statement has it.
    pub(crate) fn quoted(&self) -> String {
        quoted(self.schema.as_deref(), &self.name)
    }
}

/// The parts of a table's name: its schema where that has to be named, and the name in it.
pub(crate) fn parts<'n>(schema: Option<&str>, name: &'n str) -> Vec<&'n str> {
    let both = schema.and_then(|schema| {
        let (schema, own) = name.split_at_checked(schema.len())?;
        Some(vec![schema, own.strip_prefix('.')?])
    });
    both.unwrap_or_else(|| vec![name])
}

/// A table's name as a statement has it.
pub(crate) fn quoted(schema: Option<&str>, name: &str) -> String {
    parts(schema, name).into_iter().map(quote).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
impl Schema {
    /// The same tables in a schema of a server that has to be named with them.
    pub(crate) fn in_schema(mut self, schema: &str) -> Self {
        for table in &mut self.tables {
            table.name = format!("{schema}.{}", table.name);
            table.schema = Some(schema.to_owned());
            table.foreign_keys.iter_mut().for_each(|key| key.table = format!("{schema}.{}", key.table));
        }
        self
    }
}

/// Time for a view whose columns SQLite must find out.
const VIEW_TIME: Duration = Duration::from_millis(50);

/// A column and its place in the primary key, from 1; 0 where it is in none.
struct Found {
    info: ColumnInfo,
    key: i64,
}

fn columns(connection: &Connection, table: &str, all: bool) -> rusqlite::Result<Vec<Found>> {
    let mut statement = connection.prepare(&format!("PRAGMA main.table_xinfo({})", quote(table)))?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        // 1 is a hidden column of a virtual table, 2 and 3 are generated columns.
        let kind: i64 = row.get("hidden")?;
        if kind == 1 && !all {
            continue;
        }
        let info = ColumnInfo {
            name: row.get("name")?,
            declared_type: row.get::<_, Option<String>>("type")?.unwrap_or_default(),
            not_null: row.get("notnull")?,
            generated: kind > 1,
        };
        found.push(Found { info, key: row.get("pk")? });
    }
    Ok(found)
}

/// All names by which a column can be called, also those that `*` leaves out.
pub(crate) fn column_names(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    Ok(columns(connection, table, true)?.into_iter().map(|found| found.info.name).collect())
}

fn primary_key(columns: &[Found]) -> Vec<String> {
    let mut key: Vec<&Found> = columns.iter().filter(|column| column.key > 0).collect();
    key.sort_by_key(|column| column.key);
    key.into_iter().map(|column| column.info.name.clone()).collect()
}

/// A row of `foreign_key_list`.
struct Part {
    key: i64,
    table: String,
    from: String,
    to: Option<String>,
}

fn foreign_key_parts(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Part>> {
    let mut statement = connection.prepare(&format!("PRAGMA main.foreign_key_list({})", quote(table)))?;
    let rows = statement.query_map([], |row| {
        Ok((
            row.get::<_, i64>("seq")?,
            Part { key: row.get("id")?, table: row.get("table")?, from: row.get("from")?, to: row.get("to")? },
        ))
    })?;
    let mut parts: Vec<(i64, Part)> = rows.collect::<rusqlite::Result<_>>()?;
    // SQLite numbers keys from the last that was declared.
    parts.sort_by_key(|(place, part)| (std::cmp::Reverse(part.key), *place));
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

/// Reads what the catalogue lets be seen.
pub(crate) fn read(connection: &Connection, clock: &Clock, catalogue: &Catalogue) -> Result<Schema, QueryError> {
    let failed = |error: rusqlite::Error| match classify(&error) {
        QueryError::Refused { reason } => QueryError::failed(reason),
        other => other,
    };
    let mut schema = Schema { tables: Vec::new(), views: Vec::new() };
    // Names in lower case → name as created, column names, primary key.
    let mut targets: HashMap<String, (String, Vec<String>, Vec<String>)> = HashMap::new();
    for object in &catalogue.visible {
        let found = if object.kind == Kind::View {
            clock.within(VIEW_TIME, || columns(connection, &object.name, false))
        } else {
            columns(connection, &object.name, false)
        };
        let (found, problem) = match found.map_err(|error| classify(&error)) {
            // It was dropped after the names were read.
            Ok(found) if found.is_empty() => continue,
            Ok(found) => (found, None),
            Err(QueryError::Stopped { .. }) if object.kind == Kind::View && !clock.is_over() => {
                (Vec::new(), Some("what it reads cannot be found out soon".to_owned()))
            }
            Err(QueryError::Refused { reason: problem } | QueryError::Failed { message: problem }) => {
                (Vec::new(), Some(problem))
            }
            Err(stopped) => return Err(stopped),
        };
        let key = primary_key(&found);
        let columns: Vec<ColumnInfo> = found.into_iter().map(|found| found.info).collect();
        match &object.kind {
            Kind::Shadow => {}
            Kind::View => schema.views.push(View {
                name: object.name.clone(),
                schema: None,
                columns,
                sql: (!mentions(&object.sql, &catalogue.hidden)).then(|| object.sql.clone()),
                problem,
            }),
            Kind::Table | Kind::Virtual { .. } => {
                let names = columns.iter().map(|column| column.name.clone()).collect();
                targets.insert(object.name.to_ascii_lowercase(), (object.name.clone(), names, key.clone()));
                let module = match &object.kind {
                    Kind::Virtual { module } => Some(module.clone()),
                    _ => None,
                };
                let name = object.name.clone();
                schema.tables.push(Table { name, columns, primary_key: key, module, problem, ..Table::default() });
            }
        }
    }
    for table in &mut schema.tables {
        let parts = foreign_key_parts(connection, &table.name).map_err(failed)?;
        for parts in parts.chunk_by(|a, b| a.key == b.key) {
            let Some(first) = parts.first() else { continue };
            let target = first.table.to_ascii_lowercase();
            if !catalogue.hidden.contains(&target) {
                table.foreign_keys.push(foreign_key(&table.columns, parts, &first.table, targets.get(&target)));
            }
        }
    }
    Ok(schema)
}

fn foreign_key(
    own: &[ColumnInfo],
    parts: &[Part],
    table: &str,
    target: Option<&(String, Vec<String>, Vec<String>)>,
) -> ForeignKey {
    let own: Vec<String> = own.iter().map(|column| column.name.clone()).collect();
    let columns: Vec<String> = parts.iter().map(|part| spelled(&part.from, &own)).collect();
    let named: Option<Vec<&str>> = parts.iter().map(|part| part.to.as_deref()).collect();
    let Some((name, names, key)) = target else {
        let referenced = named.unwrap_or_default().into_iter().map(str::to_owned).collect();
        return ForeignKey { columns, table: table.to_owned(), referenced, dangling: true };
    };
    let referenced: Vec<String> = match named {
        Some(named) => named.into_iter().map(|to| spelled(to, names)).collect(),
        None => key.clone(),
    };
    let dangling = referenced.len() != columns.len() || referenced.iter().any(|to| !names.contains(to));
    ForeignKey { columns, table: name.clone(), referenced, dangling }
}

/// A name as the table spells it.
fn spelled(name: &str, names: &[String]) -> String {
    names.iter().find(|other| other.eq_ignore_ascii_case(name)).map_or(name, String::as_str).to_owned()
}
