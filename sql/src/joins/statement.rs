//! Traps in a statement that somebody else wrote: what it joins and aggregates is read from its SQL.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    JoinConstraint, JoinOperator, Query, Select, SelectItem, TableFactor, TableWithJoins, Visitor,
};

use super::{JoinTree, Trap, traps};
use crate::local_names::LocalNames;
use crate::schema_graph::lineage::{last, parse};
use crate::schema_graph::{SchemaGraph, SqlDialect};
use crate::walk::{each_expression, walk};

/// Aggregates that a repeated row changes.
const REPEATING: [&str; 4] = ["count", "sum", "avg", "total"];

/// The traps of each `SELECT` of a statement that aggregates over tables by what joins them in the graph. Joins that the graph
/// does not know, tables that the statement makes itself, and what is no SQL have none; `DISTINCT` within an aggregate and
/// windows are no trap.
pub fn traps_of_statement(sql: &str, graph: &SchemaGraph, dialect: SqlDialect) -> Vec<Trap> {
    let mut reader = Reader { graph, local: LocalNames::default(), found: Vec::new() };
    for statement in parse(sql, dialect).unwrap_or_default() {
        let _ = walk(&statement, &mut reader);
    }
    reader.found
}

struct Reader<'g> {
    graph: &'g SchemaGraph,
    local: LocalNames,
    found: Vec<Trap>,
}

impl Visitor for Reader<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.local.enter(query, |name| name.value.to_lowercase());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.local.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let mut from = From { graph: self.graph, local: &self.local, tables: Vec::new(), equal: BTreeSet::new() };
        select.from.iter().for_each(|tables| from.add(tables));
        select.selection.iter().for_each(|condition| from.equate(condition));
        let shown = select.projection.iter().filter_map(|item| match item {
            SelectItem::UnnamedExpr(expression) | SelectItem::ExprWithAlias { expr: expression, .. } => {
                Some(expression)
            }
            _ => None,
        });
        let mut aggregates = Aggregates { from: &from, depth: 0, any: false, tables: BTreeSet::new() };
        for expression in shown.chain(&select.having) {
            let _ = walk(expression, &mut aggregates);
        }
        if aggregates.any {
            let aggregated: Vec<usize> = aggregates.tables.into_iter().collect();
            let new = traps(self.graph, &from.tree(), &aggregated);
            for trap in new {
                if !self.found.contains(&trap) {
                    self.found.push(trap);
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// The tables of a `FROM` and the columns that are equal in all of its rows.
struct From<'s> {
    graph: &'s SchemaGraph,
    local: &'s LocalNames,
    /// By the names that they have here.
    tables: Vec<(String, Option<usize>)>,
    /// By their numbers, the smaller first.
    equal: BTreeSet<(usize, usize)>,
}

impl From<'_> {
    fn add(&mut self, tables: &TableWithJoins) {
        self.factor(&tables.relation);
        for join in &tables.joins {
            let before = self.tables.len();
            self.factor(&join.relation);
            use JoinOperator::{CrossJoin, FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
            match &join.join_operator {
                Join(c) | Inner(c) | Left(c) | LeftOuter(c) | Right(c) | RightOuter(c) | FullOuter(c)
                | CrossJoin(c) => match c {
                    JoinConstraint::On(condition) => self.equate(condition),
                    JoinConstraint::Using(names) | JoinConstraint::UsingAlias(names, _) => {
                        names.iter().for_each(|name| self.share(before, &last(name)));
                    }
                    JoinConstraint::Natural => {
                        let columns = self.graph.columns().iter();
                        let joined: Vec<usize> = self.numbers().skip(before).collect();
                        let names: Vec<String> = columns
                            .filter(|column| joined.contains(&column.table))
                            .map(|column| column.name.clone())
                            .collect();
                        names.iter().for_each(|name| self.share(before, name));
                    }
                    JoinConstraint::None => {}
                },
                _ => {}
            }
        }
    }

    fn factor(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let table = last(name);
                let is_made = name.0.len() == 1 && self.local.has(&table.to_lowercase());
                let parts: Vec<&str> = name.0.iter().filter_map(|part| Some(part.as_ident()?.value.as_str())).collect();
                let number = self.graph.table(&parts.join(".")).or_else(|| self.graph.table(&table));
                let called = alias.as_ref().map_or(table, |alias| alias.name.value.clone());
                self.tables.push((called, number.filter(|_| !is_made)));
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => self.add(table_with_joins),
            TableFactor::Derived { alias: Some(alias), .. } => self.tables.push((alias.name.value.clone(), None)),
            _ => {}
        }
    }

    /// The tables that are the schema's.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.tables.iter().filter_map(|(_, number)| *number)
    }

    /// Takes the equalities that a condition needs.
    fn equate(&mut self, condition: &Expr) {
        match condition {
            Expr::Nested(within) => self.equate(within),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.equate(left);
                self.equate(right);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                if let (Some(a), Some(b)) = (self.column(left), self.column(right)) {
                    self.equal.insert((a.min(b), a.max(b)));
                }
            }
            _ => {}
        }
    }

    /// A column of this name is equal in the tables before a join and the one that it joins.
    fn share(&mut self, before: usize, name: &str) {
        let of = |number: Option<usize>| number.and_then(|table| self.graph.column(table, name));
        let (old, new) = self.tables.split_at(before.min(self.tables.len()));
        let old: Vec<usize> = old.iter().filter_map(|(_, table)| of(*table)).collect();
        for added in new.iter().filter_map(|(_, table)| of(*table)).collect::<Vec<_>>() {
            self.equal.extend(old.iter().map(|&known| (known.min(added), known.max(added))));
        }
    }

    fn column(&self, expression: &Expr) -> Option<usize> {
        match expression {
            Expr::Nested(within) => self.column(within),
            Expr::Identifier(name) => self.numbers().find_map(|table| self.graph.column(table, &name.value)),
            Expr::CompoundIdentifier(names) => {
                let [.., table, column] = names.as_slice() else { return None };
                let named = self.tables.iter().find(|(called, _)| called.eq_ignore_ascii_case(&table.value));
                self.graph.column(named?.1?, &column.value)
            }
            _ => None,
        }
    }

    /// The table whose column an expression is.
    fn table_of(&self, expression: &Expr) -> Option<usize> {
        Some(self.graph.columns().get(self.column(expression)?)?.table)
    }

    /// The graph's joins all of whose columns are equal.
    fn tree(&self) -> JoinTree {
        let is_joined =
            |pairs: &[(usize, usize)]| pairs.iter().all(|&(a, b)| self.equal.contains(&(a.min(b), a.max(b))));
        // Two foreign keys on the same columns join once.
        let mut joined: BTreeMap<Vec<(usize, usize)>, usize> = BTreeMap::new();
        for (number, join) in self.graph.joins().iter().enumerate() {
            if join.from != join.to && !join.pairs.is_empty() && is_joined(&join.pairs) {
                joined.entry(join.pairs.clone()).or_insert(number);
            }
        }
        let tables: BTreeSet<usize> = self.numbers().collect();
        let mut joins: Vec<usize> = joined.into_values().collect();
        joins.sort_unstable();
        JoinTree { tables: tables.into_iter().collect(), joins, cost: 0.0 }
    }
}

/// What the aggregates of a `SELECT` are over, those of its subqueries left out.
struct Aggregates<'f, 's> {
    from: &'f From<'s>,
    depth: usize,
    any: bool,
    tables: BTreeSet<usize>,
}

impl Visitor for Aggregates<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expression
            && self.depth == 0
            && repeats(function)
        {
            self.any = true;
            let FunctionArguments::List(list) = &function.args else { return ControlFlow::Continue(()) };
            for argument in &list.args {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(taken)) = argument {
                    each_expression(taken, &mut |part| self.tables.extend(self.from.table_of(part)));
                }
            }
        }
        ControlFlow::Continue(())
    }
}

fn repeats(function: &Function) -> bool {
    let is_distinct = match &function.args {
        FunctionArguments::List(list) => list.duplicate_treatment == Some(DuplicateTreatment::Distinct),
        _ => false,
    };
    let name = last(&function.name).to_lowercase();
    !is_distinct && function.over.is_none() && REPEATING.contains(&name.as_str())
}
