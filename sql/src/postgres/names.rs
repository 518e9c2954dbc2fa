//! What the names in a statement stand for, and the statement as it is sent.
//!
//! A statement runs where nothing but the server's own functions, operators and types is found by its name. Its tables are
//! therefore written with their schemas. The server also takes `t.f` for a call of the function `f` where `t` has no
//! column `f`: where it has such a function, what `t` means must have the column.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor, TableWithJoins, Visitor, VisitorMut,
};

use super::catalogue::{Attributes, Catalogue};
use super::check::{Checked, Flow, check, parts, refuse, spelled, with_query};
use crate::error::QueryError;
use crate::local_names::LocalNames;
use crate::walk::{walk, walk_mut};
use crate::written::{Written, written};

/// A statement as it is sent.
///
/// # Errors
/// [`QueryError::Refused`] where it names what cannot be seen, may call a function by a dot, or cannot be written so that
/// it reads as it was understood.
pub(super) fn resolved(
    checked: &Checked,
    catalogue: &Catalogue,
    attributes: &Attributes,
) -> Result<String, QueryError> {
    catalogue.own.allow()?;
    let sql = rewritten(&checked.sql, catalogue, attributes)?;
    // What is sent is looked at too: it must do no more, whatever became of it where it was written out.
    let again = check(&sql)?;
    if !again.attributes.is_subset(&checked.attributes) {
        return Err(QueryError::refused("the statement cannot be written out"));
    }
    rewritten(&sql, catalogue, attributes)?;
    Ok(sql)
}

fn rewritten(sql: &str, catalogue: &Catalogue, attributes: &Attributes) -> Result<String, QueryError> {
    with_query(sql, |query| {
        let work = |query: &mut Query| -> Flow {
            walk_mut(&mut *query, &mut Tables { catalogue, local: LocalNames::default() })?;
            if attributes.names.is_empty() {
                return ControlFlow::Continue(());
            }
            let mut made = Made::default();
            walk(&*query, &mut made)?;
            let mut columns = Columns { catalogue, attributes, made, known: BTreeMap::new(), called: BTreeMap::new() };
            walk(&*query, &mut columns)?;
            walk(&*query, &mut Accesses { attributes, called: columns.called })
        };
        if let ControlFlow::Break(reason) = work(&mut *query) {
            return Err(QueryError::refused(reason));
        }
        written(query, Written::Postgres).map_err(QueryError::refused)
    })
}

/// Writes tables with their schemas.
struct Tables<'c> {
    catalogue: &'c Catalogue,
    local: LocalNames,
}

impl VisitorMut for Tables<'_> {
    type Break = String;

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        self.local.enter(query, spelled);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> Flow {
        self.local.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> Flow {
        let TableFactor::Table { name, args: None, .. } = factor else { return ControlFlow::Continue(()) };
        let parts = parts(name).unwrap_or_default();
        let (schema, table) = match parts.as_slice() {
            [table] if self.local.has(table) => return ControlFlow::Continue(()),
            [table] => (None, table.as_str()),
            [schema, table] => (Some(schema.as_str()), table.as_str()),
            _ => return refuse(format!("{name} cannot be read")),
        };
        let Some(relation) = self.catalogue.find(schema, table) else {
            let schema = schema.map_or(String::new(), |schema| format!("{schema}."));
            return refuse(format!("no such table: {schema}{table}"));
        };
        if self.catalogue.own.is_in(relation.oid) {
            return refuse(format!(
                "{table} cannot be read: it has values that the database casts or checks by a function of its own, which \
                 the statement could call; a view that casts them to another type can be read"
            ));
        }
        let whole = [&relation.schema, &relation.name].map(|part| Ident::with_quote('"', part.as_str()));
        *name = ObjectName::from(whole.to_vec());
        ControlFlow::Continue(())
    }
}

/// Names of common table expressions, and those that two have.
#[derive(Default)]
struct Made {
    names: BTreeSet<String>,
    twice: BTreeSet<String>,
}

impl Visitor for Made {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            let name = spelled(&table.alias.name);
            if !self.names.insert(name.clone()) {
                self.twice.insert(name);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Which of the names that may be functions are sure to be columns of what stands in a `FROM`.
struct Columns<'c> {
    catalogue: &'c Catalogue,
    attributes: &'c Attributes,
    made: Made,
    /// Of common table expressions.
    known: BTreeMap<String, BTreeSet<String>>,
    /// By a name in any `FROM`: what all have that are called so.
    called: BTreeMap<String, BTreeSet<String>>,
}

/// What something in a `FROM` is called, and the columns that it is sure to have.
type Called = (Option<String>, BTreeSet<String>);

impl Columns<'_> {
    fn call(&mut self, (name, columns): Called) {
        let Some(name) = name else { return };
        match self.called.get_mut(&name) {
            Some(known) => known.retain(|column| columns.contains(column)),
            None => {
                self.called.insert(name, columns);
            }
        }
    }

    /// `JOIN ... USING (a) AS x`: a name for the columns that both have.
    fn call_joins(&mut self, joins: &[Join]) {
        use JoinOperator::{FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
        for join in joins {
            let (Join(by) | Inner(by) | Left(by) | LeftOuter(by) | Right(by) | RightOuter(by) | FullOuter(by)) =
                &join.join_operator
            else {
                continue;
            };
            if let JoinConstraint::UsingAlias(names, alias) = by {
                let columns = names.iter().filter_map(|name| parts(name)?.pop()).collect();
                self.call((Some(spelled(alias)), columns));
            }
        }
    }

    fn define(&mut self, query: &Query) {
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            let name = spelled(&table.alias.name);
            if !self.made.twice.contains(&name) && !self.known.contains_key(&name) {
                let columns = match listed(&table.alias) {
                    Some(columns) => columns,
                    None => self.of_query(&table.query),
                };
                self.known.insert(name, columns);
            }
        }
    }

    fn of_query(&mut self, query: &Query) -> BTreeSet<String> {
        self.define(query);
        self.of_body(&query.body)
    }

    fn of_body(&mut self, body: &SetExpr) -> BTreeSet<String> {
        match body {
            SetExpr::Select(select) => self.of_select(select),
            SetExpr::Query(query) => self.of_query(query),
            // The first part names the columns.
            SetExpr::SetOperation { left, .. } => self.of_body(left),
            _ => BTreeSet::new(),
        }
    }

    fn of_select(&mut self, select: &Select) -> BTreeSet<String> {
        let has_star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
        let mut from: Vec<Called> = Vec::new();
        // Once, however many stars there are.
        if select.projection.iter().any(has_star) {
            select.from.iter().for_each(|part| from.extend(self.of_joined(part)));
        }
        let mut columns = BTreeSet::new();
        for item in &select.projection {
            match item {
                SelectItem::ExprWithAlias { alias, .. } => {
                    columns.insert(spelled(alias));
                }
                SelectItem::UnnamedExpr(Expr::Identifier(name)) => {
                    columns.insert(spelled(name));
                }
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => columns.extend(names.last().map(spelled)),
                SelectItem::Wildcard(_) => columns.extend(from.iter().flat_map(|(_, of)| of.clone())),
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    let wanted = parts(name).and_then(|mut parts| parts.pop());
                    let of = from.iter().filter(|(called, _)| *called == wanted);
                    columns.extend(of.flat_map(|(_, of)| of.clone()));
                }
                _ => {}
            }
        }
        columns.retain(|name| self.attributes.names.contains(name));
        columns
    }

    fn of_joined(&mut self, part: &TableWithJoins) -> Vec<Called> {
        let factors = std::iter::once(&part.relation).chain(part.joins.iter().map(|join| &join.relation));
        factors.map(|factor| self.of_factor(factor)).collect()
    }

    fn of_factor(&mut self, factor: &TableFactor) -> Called {
        let (own, alias, columns) = match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let parts = parts(name).unwrap_or_default();
                let columns = match parts.as_slice() {
                    [local] => self.known.get(local).cloned(),
                    [schema, table] => {
                        self.catalogue.find(Some(schema), table).map(|relation| self.attributes.of(relation.oid))
                    }
                    _ => None,
                };
                (parts.last().cloned(), alias, columns.unwrap_or_default())
            }
            TableFactor::Table { name, alias, .. } | TableFactor::Function { name, alias, .. } => {
                (parts(name).and_then(|mut parts| parts.pop()), alias, BTreeSet::new())
            }
            TableFactor::UNNEST { alias, .. } => (Some("unnest".to_owned()), alias, BTreeSet::new()),
            TableFactor::Derived { subquery, alias, .. } => (None, alias, self.of_query(subquery)),
            TableFactor::NestedJoin { table_with_joins, alias } => {
                (None, alias, self.of_joined(table_with_joins).into_iter().flat_map(|(_, of)| of).collect())
            }
            _ => return (None, BTreeSet::new()),
        };
        match alias {
            None => (own, columns),
            Some(alias) => (Some(spelled(&alias.name)), listed(alias).unwrap_or(columns)),
        }
    }
}

/// The columns that an alias names.
fn listed(alias: &TableAlias) -> Option<BTreeSet<String>> {
    (!alias.columns.is_empty()).then(|| alias.columns.iter().map(|column| spelled(&column.name)).collect())
}

impl Visitor for Columns<'_> {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        self.define(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> Flow {
        select.from.iter().for_each(|part| self.call_joins(&part.joins));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            self.call_joins(&table_with_joins.joins);
        }
        let called = self.of_factor(factor);
        self.call(called);
        ControlFlow::Continue(())
    }
}

/// Looks at names behind a dot.
struct Accesses<'c> {
    attributes: &'c Attributes,
    called: BTreeMap<String, BTreeSet<String>>,
}

impl Accesses<'_> {
    /// Whether the last of some names is sure to be a column.
    fn column(&self, names: &[Ident]) -> Flow {
        let [.., table, name] = names else { return ControlFlow::Continue(()) };
        let (table, name) = (spelled(table), spelled(name));
        let is_column = self.called.get(&table).is_some_and(|columns| columns.contains(&name));
        if is_column || !self.attributes.names.contains(&name) {
            return ControlFlow::Continue(());
        }
        refuse(format!("{table}.{name} may be no column but a call of the function {name}, which is not allowed"))
    }
}

impl Visitor for Accesses<'_> {
    type Break = String;

    fn pre_visit_expr(&mut self, expression: &Expr) -> Flow {
        match expression {
            Expr::CompoundIdentifier(names) => self.column(names),
            Expr::CompoundFieldAccess { root, access_chain } => {
                // Of `t.a[1].b` what stands before the brackets is a column, what comes behind them a field.
                let mut names = Vec::new();
                if let Expr::Identifier(first) = root.as_ref() {
                    names.push(first.clone());
                }
                let mut is_field = names.is_empty();
                for access in access_chain {
                    match access {
                        AccessExpr::Dot(Expr::Identifier(name)) if is_field => {
                            if self.attributes.names.contains(&spelled(name)) {
                                return refuse(format!("{name} may be a function, which is not allowed behind a dot"));
                            }
                        }
                        AccessExpr::Dot(Expr::Identifier(name)) => names.push(name.clone()),
                        _ => is_field = true,
                    }
                }
                self.column(&names)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
