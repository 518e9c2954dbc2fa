//! Which cells of the database a result shows.
//!
//! SQLite and PostgreSQL tell the table and column of a result's column, and not the row. For a plain `SELECT` over tables,
//! the row ids of the tables are selected too, of PostgreSQL their primary keys; of groups, unions and views nothing is
//! said.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlparser::ast::{
    Expr, GroupByExpr, Ident, ObjectName, ObjectNamePart, Select, SelectItem, SetExpr, Statement, TableFactor,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;

use crate::rows::{Rows, Value};
use crate::schema::Schema;
use crate::statement::{Token, Tokens, look_into};
use crate::written::{Written, written};

/// A cell of a table in the database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The table.
    pub table: String,
    /// SQLite's id of the row; none of a PostgreSQL database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_id: Option<i64>,
    /// Of a PostgreSQL database the row's primary key by its columns; empty of SQLite.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub key: BTreeMap<String, Value>,
    /// The column.
    pub column: String,
}

/// Per row of a result, per column: where the value comes from. Empty where nothing is known of any.
pub type Origins = Vec<Vec<Option<Origin>>>;

/// Functions that make one row of many.
pub(crate) const AGGREGATES: [&str; 16] = [
    "avg", "count", "group_concat", "json_group_array", "json_group_object", "jsonb_group_array", "jsonb_group_object",
    "max", "median", "min", "percentile", "percentile_cont", "percentile_disc", "string_agg", "sum", "total",
];

/// A statement that selects row ids, or keys, too.
pub(crate) struct Traced {
    pub sql: String,
    /// The tables, in the order in which what tells their rows apart stands in the last columns.
    pub tables: Vec<TracedTable>,
}

/// A table whose rows are told apart.
pub(crate) struct TracedTable {
    pub name: String,
    /// The columns of its key, in the order in which they are selected; none where one row id is.
    pub key: Vec<String>,
}

/// The statement with the row ids of its tables, where each row of its result comes from one row of each.
pub(crate) fn trace(sql: &str, schema: &Schema) -> Option<Traced> {
    look_into(sql, |sql| rewrite(sql, schema))
}

fn rewrite(sql: &str, schema: &Schema) -> Option<Traced> {
    let mut statements = Parser::parse_sql(&SQLiteDialect {}, sql).ok()?;
    let [Statement::Query(query)] = statements.as_mut_slice() else { return None };
    let local: Vec<String> = query
        .with
        .iter()
        .flat_map(|with| &with.cte_tables)
        .map(|table| table.alias.name.value.to_ascii_lowercase())
        .collect();
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    if !is_plain(select) {
        return None;
    }
    let mut tables: Vec<TracedTable> = Vec::new();
    let mut items = Vec::new();
    for part in &select.from {
        for factor in std::iter::once(&part.relation).chain(part.joins.iter().map(|join| &join.relation)) {
            let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
            let name = last(name)?;
            let table = schema.tables.iter().find(|table| table.name.eq_ignore_ascii_case(&name.value))?;
            // What SQLite says of a column does not tell a table from itself.
            if local.contains(&name.value.to_ascii_lowercase()) || tables.iter().any(|known| known.name == table.name) {
                return None;
            }
            let row_id = ["rowid", "oid", "_rowid_"]
                .into_iter()
                .find(|row_id| !table.columns.iter().any(|column| column.name.eq_ignore_ascii_case(row_id)))?;
            let called = alias.as_ref().map_or(name, |alias| &alias.name);
            items.push(SelectItem::ExprWithAlias {
                expr: Expr::CompoundIdentifier(vec![Ident::with_quote('"', &called.value), Ident::new(row_id)]),
                alias: Ident::with_quote('"', format!("row id {}", tables.len())),
            });
            tables.push(TracedTable { name: table.name.clone(), key: Vec::new() });
        }
    }
    if tables.is_empty() {
        return None;
    }
    select.projection.extend(items);
    Some(Traced { sql: written(query, Written::Sqlite).ok()?, tables })
}

fn last(name: &ObjectName) -> Option<&Ident> {
    match name.0.last()? {
        ObjectNamePart::Identifier(name) => Some(name),
        ObjectNamePart::Function(_) => None,
    }
}

/// Whether a row of the result comes from one row of each table.
pub(crate) fn is_plain(select: &Select) -> bool {
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, more) if by.is_empty() && more.is_empty());
    if select.distinct.is_some() || grouped || select.having.is_some() || select.into.is_some() {
        return false;
    }
    let projection: Vec<String> = select.projection.iter().map(ToString::to_string).collect();
    let projection = projection.join(",");
    let mut before = None;
    !Tokens::of(&projection).any(|token| {
        let aggregate = token == Token::Sign('(')
            && matches!(before, Some(Token::Word(word) | Token::Quoted(word)) if AGGREGATES.iter().any(|name| name.eq_ignore_ascii_case(word)));
        before = Some(token);
        aggregate
    })
}

impl TracedTable {
    /// How many columns tell its rows apart.
    fn width(&self) -> usize {
        self.key.len().max(1)
    }

    /// The row that their values are of; none where an outer join has none.
    fn row(&self, ids: Vec<Value>) -> Option<Origin> {
        let mut origin = Origin { table: self.name.clone(), row_id: None, key: BTreeMap::new(), column: String::new() };
        match ids.as_slice() {
            [Value::Integer(row_id)] if self.key.is_empty() => origin.row_id = Some(*row_id),
            ids if self.key.is_empty() || ids.contains(&Value::Null) => return None,
            _ => origin.key = self.key.iter().cloned().zip(ids).collect(),
        }
        Some(origin)
    }
}

impl Traced {
    /// The rows as the statement itself gives them, and where their cells come from.
    pub(crate) fn split(&self, mut rows: Rows) -> (Rows, Origins) {
        let width = rows.columns.len().saturating_sub(self.tables.iter().map(TracedTable::width).sum());
        rows.columns.truncate(width);
        let mut origins = Vec::with_capacity(rows.rows.len());
        for row in &mut rows.rows {
            let mut ids = row.split_off(width.min(row.len())).into_iter();
            let found = self.tables.iter().map(|table| table.row(ids.by_ref().take(table.width()).collect()));
            let found: Vec<Option<Origin>> = found.collect();
            let of_column = |column: &crate::rows::Column| {
                let (table, column) = column.table.as_ref().zip(column.column.as_ref())?;
                // PostgreSQL tells names apart by case.
                let exact = self.tables.iter().position(|known| known.name == *table);
                let alike = || self.tables.iter().position(|known| known.name.eq_ignore_ascii_case(table));
                let at = exact.or_else(alike)?;
                let row = found.get(at)?.clone()?;
                Some(Origin { table: table.clone(), column: column.clone(), ..row })
            };
            origins.push(rows.columns.iter().map(of_column).collect());
        }
        (rows, origins)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use crate::{Database, Sandbox};

    #[test]
    fn cells_come_from_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE city (id INTEGER PRIMARY KEY, name, country); CREATE TABLE country (rowid, name);
                 INSERT INTO city VALUES (7, 'Rome', 'it'), (9, 'Oslo', 'no'); INSERT INTO country VALUES ('it', 'Italy');
                 CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES (1, 2);
                 CREATE VIEW names AS SELECT name FROM city",
            )
            .unwrap();
        let database = Database::open(&path, &Sandbox::default()).unwrap();
        let shown = |sql: &str| {
            let (rows, origins) = database.query_with_origins(sql).unwrap();
            assert!(origins.is_empty() || origins.len() == rows.rows.len());
            assert!(rows.columns.iter().all(|column| !column.name.contains("row id")));
            let cell = |origin: &Option<super::Origin>| {
                origin
                    .as_ref()
                    .map_or("-".to_owned(), |o| format!("{}.{}.{}", o.table, o.row_id.unwrap_or(-1), o.column))
            };
            origins.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(";")
        };
        assert_eq!(shown("SELECT name, 1 FROM city ORDER BY 1"), "city.9.name -;city.7.name -");
        assert_eq!(
            shown("SELECT c.name, l.name FROM city c LEFT JOIN country l ON l.rowid = c.country ORDER BY c.id"),
            "city.7.name country.1.name;city.9.name -"
        );
        // The statement that is run says the same: its texts are not changed.
        let odd = "SELECT name, 'a''''b', '\\''' FROM city WHERE name <> '''''' LIMIT 1";
        let (rows, origins) = database.query_with_origins(odd).unwrap();
        assert_eq!((rows.rows, origins.len()), (database.query(odd).unwrap().rows, 1));
        for sql in [
            "SELECT count(*) FROM city",
            "SELECT name, max (id) FROM city",
            "SELECT DISTINCT name FROM city",
            "SELECT name FROM city GROUP BY name",
            "SELECT name FROM names",
            "SELECT v FROM w",
            "SELECT a.name FROM city a, city b",
            "SELECT name FROM city UNION SELECT 1",
            "WITH city AS (SELECT 1 AS name) SELECT name FROM city",
            "SELECT c.name FROM (SELECT name FROM city) c, country",
        ] {
            assert_eq!(shown(sql), "", "{sql}");
        }
        assert!(database.query_with_origins("DROP TABLE city").is_err());
    }
}
