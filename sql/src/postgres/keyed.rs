//! Which rows of its tables a result shows: a statement that selects their primary keys too.

use std::collections::HashMap;

use sqlparser::ast::{Expr, Ident, Query, SelectItem, SetExpr, TableFactor};

use super::catalogue::Catalogue;
use super::check::{parts, spelled, with_query};
use crate::origins::{Traced, TracedTable, is_plain};
use crate::statement::LOOKED_INTO;
use crate::written::{Written, written};

/// The statement with the primary keys of its tables, where each row of its result comes from one row of each. It is to be
/// looked at as any other before it is sent.
pub(super) fn trace(sql: &str, catalogue: &Catalogue, keys: &HashMap<u32, Vec<String>>) -> Option<Traced> {
    if sql.len() > LOOKED_INTO {
        return None;
    }
    with_query(sql, |query| Ok(rewrite(query, catalogue, keys))).ok().flatten()
}

fn rewrite(query: &mut Query, catalogue: &Catalogue, keys: &HashMap<u32, Vec<String>>) -> Option<Traced> {
    let local = query.with.iter().flat_map(|with| &with.cte_tables).map(|table| spelled(&table.alias.name));
    let local: Vec<String> = local.collect();
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    if !is_plain(select) {
        return None;
    }
    let quoted = |name: &str| Ident::with_quote('"', name);
    let mut tables: Vec<TracedTable> = Vec::new();
    let mut items = Vec::new();
    for part in &select.from {
        for factor in std::iter::once(&part.relation).chain(part.joins.iter().map(|join| &join.relation)) {
            let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
            // Columns that an alias names anew are not the table's.
            if alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
                return None;
            }
            let names = parts(name)?;
            let (schema, table) = match names.as_slice() {
                [table] if local.contains(table) => return None,
                [table] => (None, table.as_str()),
                [schema, table] => (Some(schema.as_str()), table.as_str()),
                _ => return None,
            };
            let relation = catalogue.find(schema, table)?;
            let (shown, key) = (relation.shown(), keys.get(&relation.oid)?);
            // What the server says of a column does not tell a table from itself.
            if tables.iter().any(|known| known.name == shown) {
                return None;
            }
            let called = alias.as_ref().map_or_else(|| table.to_owned(), |alias| spelled(&alias.name));
            for column in key {
                items.push(SelectItem::ExprWithAlias {
                    expr: Expr::CompoundIdentifier(vec![quoted(&called), quoted(column)]),
                    alias: quoted(&format!("key {}", items.len())),
                });
            }
            tables.push(TracedTable { name: shown, key: key.clone() });
        }
    }
    if tables.is_empty() {
        return None;
    }
    select.projection.extend(items);
    Some(Traced { sql: written(query, Written::Postgres).ok()?, tables })
}
