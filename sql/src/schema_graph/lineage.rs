//! Which columns a view's columns are made of, read from its SQL.
//!
//! One level: what a column of the statement is made of are columns of the tables and views that the statement names,
//! not what those are made of in turn. Subqueries, common table expressions and set operations are looked through. A
//! column that is only filtered, grouped, ordered or joined by counts for nothing; one in a window (`OVER`) does.

mod scope;

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, Statement, TableFactor, Visitor, WildcardAdditionalOptions,
};
use sqlparser::parser::Parser;

use super::ddl::SqlDialect;
use crate::local_names::LocalNames;
use crate::walk::walk;
use scope::{Relation, Scope, made_by_function, merge, renamed};

/// A column of a table by both names, the table's without those of databases before it.
pub type SourceColumn = (String, String);

/// A column of a statement and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// The name, empty where the statement gives none.
    pub name: String,
    /// The columns it is made of, as the statement spells them or, where the table is known, as the table does.
    pub sources: BTreeSet<SourceColumn>,
}

/// A view that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineageError {
    /// The text is no SQL of the dialect.
    #[error("not SQL of this dialect: {0}")]
    Syntax(String),
    /// The text has no `SELECT`: it is of another kind, or empty.
    #[error("expected one CREATE VIEW, CREATE TABLE ... AS or SELECT")]
    NoQuery,
}

/// How deep a statement may be nested.
const NESTING: usize = 100;

/// Parses a statement without the stack overflowing.
pub(crate) fn parse(sql: &str, dialect: SqlDialect) -> Result<Vec<Statement>, LineageError> {
    let tokens = dialect.tokens(sql).map_err(LineageError::Syntax)?;
    let dialect = dialect.parser();
    let mut parser = Parser::new(&*dialect).with_recursion_limit(NESTING).with_tokens_with_locations(tokens);
    parser.parse_statements().map_err(|error| LineageError::Syntax(error.to_string()))
}

/// What the columns of a statement (`CREATE VIEW`, `CREATE TABLE ... AS`, `SELECT`) are made of, in their order. Of
/// several statements the last that has a query counts.
///
/// `columns` gives the columns of a table or view by its name, without those of databases before it, and none where it
/// is not known: then `*` gives none of its columns, and a column without a table's name may still be its.
///
/// # Errors
/// [`LineageError`] where the text is not SQL or has no query.
pub fn lineage(
    sql: &str,
    dialect: SqlDialect,
    columns: &dyn Fn(&str) -> Option<Vec<String>>,
) -> Result<Vec<Derived>, LineageError> {
    let statements = parse(sql, dialect)?;
    let mut found = None;
    for statement in &statements {
        found = match statement {
            Statement::CreateView(view) => {
                let names: Vec<&str> = view.columns.iter().map(|column| column.name.value.as_str()).collect();
                Some(of_query(&view.query, &names, columns))
            }
            Statement::CreateTable(table) => table.query.as_ref().map(|query| of_query(query, &[], columns)).or(found),
            Statement::Query(query) => Some(of_query(query, &[], columns)),
            _ => found,
        };
    }
    found.ok_or(LineageError::NoQuery)
}

/// The tables and views that the query of a statement names; none where the text is no SQL or has no query.
pub(crate) fn tables_read(sql: &str, dialect: SqlDialect) -> Option<BTreeSet<String>> {
    #[derive(Default)]
    struct Read {
        names: BTreeSet<String>,
        local: LocalNames,
    }
    impl Visitor for Read {
        type Break = ();

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            self.local.enter(query, |name| name.value.to_lowercase());
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.local.leave();
            ControlFlow::Continue(())
        }

        fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
            let table = last(name);
            // A name with a database before it is no common table expression.
            if name.0.len() > 1 || !self.local.has(&table.to_lowercase()) {
                self.names.insert(table);
            }
            ControlFlow::Continue(())
        }
    }
    let mut read = Read::default();
    let mut has_query = false;
    for statement in parse(sql, dialect).ok()? {
        let query = match &statement {
            Statement::CreateView(view) => Some(&view.query),
            Statement::CreateTable(table) => table.query.as_ref(),
            Statement::Query(query) => Some(query),
            _ => None,
        };
        if let Some(query) = query {
            has_query = true;
            let _ = walk(query, &mut read);
        }
    }
    has_query.then_some(read.names)
}

fn of_query(query: &Query, names: &[&str], columns: &dyn Fn(&str) -> Option<Vec<String>>) -> Vec<Derived> {
    let mut outputs = Reader { columns }.query(query, &HashMap::new(), None);
    for (output, name) in outputs.iter_mut().zip(names) {
        (*name).clone_into(&mut output.name);
    }
    outputs
}

type Named = HashMap<String, Vec<Derived>>;

struct Reader<'a> {
    columns: &'a dyn Fn(&str) -> Option<Vec<String>>,
}

impl Reader<'_> {
    fn query(&self, query: &Query, around: &Named, outer: Option<&Scope<'_>>) -> Vec<Derived> {
        let mut named = around.clone();
        if let Some(with) = &query.with {
            for table in &with.cte_tables {
                let key = table.alias.name.value.to_lowercase();
                if with.recursive {
                    // A recursive one begins with what its first part gives.
                    let mut body: &SetExpr = &table.query.body;
                    while let SetExpr::SetOperation { left, .. } = body {
                        body = left;
                    }
                    let first = renamed(self.body(body, &named, outer), Some(&table.alias));
                    named.insert(key.clone(), first);
                }
                let outputs = renamed(self.query(&table.query, &named, outer), Some(&table.alias));
                named.insert(key, outputs);
            }
        }
        self.body(&query.body, &named, outer)
    }

    fn body(&self, body: &SetExpr, named: &Named, outer: Option<&Scope<'_>>) -> Vec<Derived> {
        match body {
            SetExpr::Select(select) => self.select(select, named, outer),
            SetExpr::Query(query) => self.query(query, named, outer),
            SetExpr::SetOperation { left, right, .. } => {
                let mut outputs = self.body(left, named, outer);
                for (output, other) in outputs.iter_mut().zip(self.body(right, named, outer)) {
                    output.sources.extend(other.sources);
                }
                outputs
            }
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                let name = |place: usize| Derived { name: format!("column{place}"), sources: BTreeSet::new() };
                (1..=width).map(name).collect()
            }
            SetExpr::Table(table) => {
                let name = table.table_name.as_ref().map(|name| name.value.clone()).unwrap_or_default();
                self.table(&name, named).outputs()
            }
            _ => Vec::new(),
        }
    }

    fn table(&self, name: &str, named: &Named) -> Relation {
        match named.get(&name.to_lowercase()) {
            Some(made) => Relation::Made(made.clone()),
            None => Relation::Table { name: name.to_owned(), columns: (self.columns)(name) },
        }
    }

    fn select(&self, select: &Select, named: &Named, outer: Option<&Scope<'_>>) -> Vec<Derived> {
        let mut scope = Scope { relations: Vec::new(), merged: Vec::new(), outer };
        for from in &select.from {
            self.factor(&from.relation, named, &mut scope);
            for join in &from.joins {
                let before = scope.relations.len();
                self.factor(&join.relation, named, &mut scope);
                merge(&mut scope, before, &join.join_operator);
            }
        }
        let mut outputs: Vec<Derived> = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(expression) => {
                    let sources = self.sources(expression, named, &scope, &outputs);
                    outputs.push(Derived { name: implied_name(expression), sources });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let sources = self.sources(expr, named, &scope, &outputs);
                    outputs.push(Derived { name: alias.value.clone(), sources });
                }
                SelectItem::ExprWithAliases { expr, aliases } => {
                    let sources = self.sources(expr, named, &scope, &outputs);
                    let of = |alias: &Ident| Derived { name: alias.value.clone(), sources: sources.clone() };
                    outputs.extend(aliases.iter().map(of));
                }
                SelectItem::Wildcard(options) => {
                    let mut seen = Vec::new();
                    let all = scope.relations.iter().flat_map(|(_, relation)| relation.outputs());
                    let all: Vec<Derived> = all
                        .filter(|output| {
                            let once = scope.merged.iter().any(|name| name.eq_ignore_ascii_case(&output.name));
                            let name = output.name.to_lowercase();
                            !once
                                || !seen.contains(&name) && {
                                    seen.push(name);
                                    true
                                }
                        })
                        .collect();
                    let chosen = self.chosen(all, options, named, &scope, &outputs);
                    outputs.extend(chosen);
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(table), options) => {
                    let table = last(table);
                    let of = scope.relations.iter().find(|(name, _)| name.eq_ignore_ascii_case(&table));
                    let all = of.map(|(_, relation)| relation.outputs()).unwrap_or_default();
                    let chosen = self.chosen(all, options, named, &scope, &outputs);
                    outputs.extend(chosen);
                }
                SelectItem::QualifiedWildcard(..) => {}
            }
        }
        outputs
    }

    /// What `*` gives after `EXCLUDE`, `EXCEPT`, `REPLACE` and `RENAME`.
    fn chosen(
        &self,
        mut all: Vec<Derived>,
        options: &WildcardAdditionalOptions,
        named: &Named,
        scope: &Scope<'_>,
        before: &[Derived],
    ) -> Vec<Derived> {
        let mut left_out: Vec<String> = Vec::new();
        if let Some(exclude) = &options.opt_exclude {
            use sqlparser::ast::ExcludeSelectItem::{Multiple, Single};
            match exclude {
                Single(name) => left_out.push(last(name)),
                Multiple(names) => left_out.extend(names.iter().map(last)),
            }
        }
        if let Some(except) = &options.opt_except {
            left_out.push(except.first_element.value.clone());
            left_out.extend(except.additional_elements.iter().map(|name| name.value.clone()));
        }
        all.retain(|output| !left_out.iter().any(|name| name.eq_ignore_ascii_case(&output.name)));
        if let Some(replace) = &options.opt_replace {
            for item in &replace.items {
                let sources = self.sources(&item.expr, named, scope, before);
                let name = &item.column_name.value;
                all.iter_mut()
                    .filter(|output| output.name.eq_ignore_ascii_case(name))
                    .for_each(|output| output.sources.clone_from(&sources));
            }
        }
        if let Some(rename) = &options.opt_rename {
            use sqlparser::ast::RenameSelectItem::{Multiple, Single};
            let renames = match rename {
                Single(one) => std::slice::from_ref(one),
                Multiple(many) => many.as_slice(),
            };
            for output in &mut all {
                if let Some(to) = renames.iter().find(|r| r.ident.value.eq_ignore_ascii_case(&output.name)) {
                    output.name.clone_from(&to.alias.value);
                }
            }
        }
        all
    }

    fn factor(&self, factor: &TableFactor, named: &Named, scope: &mut Scope<'_>) {
        let (relation, alias, name) = match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let table = last(name);
                // A name with a database before it is no common table expression.
                let known = if name.0.len() > 1 {
                    Relation::Table { columns: (self.columns)(&table), name: table.clone() }
                } else {
                    self.table(&table, named)
                };
                (known, alias, table)
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                let around = if *lateral { Some(&*scope) } else { scope.outer };
                (Relation::Made(self.query(subquery, named, around)), alias, String::new())
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let mut within = Scope { relations: Vec::new(), merged: Vec::new(), outer: scope.outer };
                self.factor(&table_with_joins.relation, named, &mut within);
                for join in &table_with_joins.joins {
                    let before = within.relations.len();
                    self.factor(&join.relation, named, &mut within);
                    merge(&mut within, before, &join.join_operator);
                }
                if alias.is_none() {
                    scope.relations.append(&mut within.relations);
                    scope.merged.append(&mut within.merged);
                    return;
                }
                let all = within.relations.iter().flat_map(|(_, relation)| relation.outputs()).collect();
                (Relation::Made(all), alias, String::new())
            }
            TableFactor::Pivot { table, alias, .. } | TableFactor::Unpivot { table, alias, .. } => {
                self.factor(table, named, scope);
                let Some((name, relation)) = scope.relations.pop() else { return };
                (Relation::Made(relation.outputs()), alias, name)
            }
            TableFactor::UNNEST { alias, array_exprs, .. } => {
                let sources: BTreeSet<_> =
                    array_exprs.iter().flat_map(|argument| self.sources(argument, named, scope, &[])).collect();
                (made_by_function(sources, alias.as_ref()), alias, "unnest".to_owned())
            }
            TableFactor::Table { name, alias, args: Some(args), .. } => {
                let sources = self.of_arguments(&args.args, named, scope);
                (made_by_function(sources, alias.as_ref()), alias, last(name))
            }
            TableFactor::Function { name, args, alias, .. } => {
                let sources = self.of_arguments(args, named, scope);
                (made_by_function(sources, alias.as_ref()), alias, last(name))
            }
            TableFactor::TableFunction { expr, alias } => {
                let sources = self.sources(expr, named, scope, &[]);
                (made_by_function(sources, alias.as_ref()), alias, String::new())
            }
            _ => return,
        };
        let name = alias.as_ref().map_or(name, |alias| alias.name.value.clone());
        let relation = match (relation, alias) {
            (Relation::Table { name, columns }, Some(alias)) if !alias.columns.is_empty() => {
                Relation::Made(renamed(Relation::Table { name, columns }.outputs(), Some(alias)))
            }
            (Relation::Made(made), alias) => Relation::Made(renamed(made, alias.as_ref())),
            (table, _) => table,
        };
        scope.relations.push((name, relation));
    }

    fn of_arguments(&self, args: &[FunctionArg], named: &Named, scope: &Scope<'_>) -> BTreeSet<SourceColumn> {
        let mut sources = BTreeSet::new();
        for argument in args {
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) = argument {
                sources.extend(self.sources(expression, named, scope, &[]));
            }
        }
        sources
    }

    /// The columns that an expression has; a subquery counts with what it selects. `before` are the columns that stand
    /// before it in the same list, whose names it may use.
    fn sources(
        &self,
        expression: &Expr,
        named: &Named,
        scope: &Scope<'_>,
        before: &[Derived],
    ) -> BTreeSet<SourceColumn> {
        let mut mentioned = Mentioned::default();
        let _ = walk(expression, &mut mentioned);
        let mut sources = BTreeSet::new();
        for names in &mentioned.columns {
            let (table, column) = match names.as_slice() {
                [column] => (None, column),
                [.., table, column] => (Some(table.value.as_str()), column),
                [] => continue,
            };
            let own = scope.resolve(table, &column.value);
            let alias = || before.iter().rev().find(|output| output.name.eq_ignore_ascii_case(&column.value));
            match own {
                Some(found) => sources.extend(found),
                None if table.is_none() => sources.extend(alias().map(|o| o.sources.clone()).unwrap_or_default()),
                None => {}
            }
        }
        for query in &mentioned.queries {
            sources.extend(self.query(query, named, Some(scope)).into_iter().flat_map(|output| output.sources));
        }
        sources
    }
}

/// Columns and subqueries of an expression, without what is within the subqueries.
#[derive(Default)]
struct Mentioned {
    depth: usize,
    columns: Vec<Vec<Ident>>,
    queries: Vec<Query>,
}

impl Visitor for Mentioned {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.queries.push(query.clone());
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
        if self.depth == 0 {
            match expression {
                Expr::Identifier(name) => self.columns.push(vec![name.clone()]),
                Expr::CompoundIdentifier(names) => self.columns.push(names.clone()),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

/// The last part of a name.
pub(crate) fn last(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(|name| name.value.clone()).unwrap_or_default()
}

fn implied_name(expression: &Expr) -> String {
    match expression {
        Expr::Identifier(name) => name.value.clone(),
        Expr::CompoundIdentifier(names) => names.last().map(|name| name.value.clone()).unwrap_or_default(),
        Expr::Nested(within) => implied_name(within),
        _ => String::new(),
    }
}
