//! What the names in a query stand for: the relations of its `FROM`, with their columns where they are known.

use std::collections::BTreeSet;

use sqlparser::ast::{JoinConstraint, JoinOperator, TableAlias};

use super::{Derived, SourceColumn, last};

/// What stands in a `FROM`.
#[derive(Debug, Clone)]
pub(super) enum Relation {
    /// A table or view, with its columns where they are known.
    Table { name: String, columns: Option<Vec<String>> },
    /// Something whose columns the statement makes.
    Made(Vec<Derived>),
}

impl Relation {
    /// The sources of one of its columns: none where it has no such column.
    pub(super) fn column(&self, column: &str) -> Option<BTreeSet<SourceColumn>> {
        match self {
            Self::Table { name, columns: Some(columns) } => {
                let found = columns.iter().find(|known| known.eq_ignore_ascii_case(column))?;
                Some(BTreeSet::from([(name.clone(), found.clone())]))
            }
            Self::Table { .. } => None,
            Self::Made(made) => {
                made.iter().find(|made| made.name.eq_ignore_ascii_case(column)).map(|made| made.sources.clone())
            }
        }
    }

    pub(super) fn outputs(&self) -> Vec<Derived> {
        match self {
            Self::Table { name, columns } => {
                let of = |column: &String| Derived {
                    name: column.clone(),
                    sources: BTreeSet::from([(name.clone(), column.clone())]),
                };
                columns.iter().flatten().map(of).collect()
            }
            Self::Made(made) => made.clone(),
        }
    }
}

/// The relations that a `SELECT` may name, and those around it.
pub(super) struct Scope<'s> {
    pub(super) relations: Vec<(String, Relation)>,
    /// Columns that `USING` or `NATURAL` made one.
    pub(super) merged: Vec<String>,
    pub(super) outer: Option<&'s Self>,
}

impl Scope<'_> {
    pub(super) fn resolve(&self, table: Option<&str>, column: &str) -> Option<BTreeSet<SourceColumn>> {
        if let Some(table) = table {
            let named = self.relations.iter().find(|(name, _)| name.eq_ignore_ascii_case(table));
            let Some((_, relation)) = named else { return self.outer?.resolve(Some(table), column) };
            return relation.column(column).or_else(|| match relation {
                Relation::Table { name, columns: None } => Some(BTreeSet::from([(name.clone(), column.to_owned())])),
                _ => None,
            });
        }
        if let Some(found) = self.relations.iter().find_map(|(_, relation)| relation.column(column)) {
            return Some(found);
        }
        let unknown: Vec<&String> = self
            .relations
            .iter()
            .filter_map(|(_, relation)| match relation {
                Relation::Table { name, columns: None } => Some(name),
                _ => None,
            })
            .collect();
        match (unknown.as_slice(), self.outer.and_then(|outer| outer.resolve(None, column))) {
            (_, Some(found)) => Some(found),
            ([only], None) => Some(BTreeSet::from([((*only).clone(), column.to_owned())])),
            _ => None,
        }
    }
}

/// One column for each name after the alias; without names one that any name finds is not made.
pub(super) fn made_by_function(sources: BTreeSet<SourceColumn>, alias: Option<&TableAlias>) -> Relation {
    let columns: Vec<String> = match alias {
        Some(alias) if !alias.columns.is_empty() => alias.columns.iter().map(|c| c.name.value.clone()).collect(),
        Some(alias) => vec![alias.name.value.clone()],
        None => Vec::new(),
    };
    Relation::Made(columns.into_iter().map(|name| Derived { name, sources: sources.clone() }).collect())
}

pub(super) fn renamed(mut outputs: Vec<Derived>, alias: Option<&TableAlias>) -> Vec<Derived> {
    for (output, column) in outputs.iter_mut().zip(alias.into_iter().flat_map(|alias| &alias.columns)) {
        output.name.clone_from(&column.name.value);
    }
    outputs
}

/// Notes which columns a join makes one; `before` relations stood there before it.
pub(super) fn merge(scope: &mut Scope<'_>, before: usize, operator: &JoinOperator) {
    use JoinOperator::{CrossJoin, FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
    let constraint = match operator {
        Join(c) | Inner(c) | Left(c) | LeftOuter(c) | Right(c) | RightOuter(c) | FullOuter(c) | CrossJoin(c) => c,
        _ => return,
    };
    match constraint {
        JoinConstraint::Using(names) | JoinConstraint::UsingAlias(names, _) => {
            scope.merged.extend(names.iter().map(last));
        }
        JoinConstraint::Natural => {
            let names = |relations: &[(String, Relation)]| -> Vec<String> {
                relations.iter().flat_map(|(_, relation)| relation.outputs()).map(|output| output.name).collect()
            };
            let (old, new) = scope.relations.split_at(before.min(scope.relations.len()));
            let old = names(old);
            let both = names(new).into_iter().filter(|name| old.iter().any(|other| other.eq_ignore_ascii_case(name)));
            scope.merged.extend(both);
        }
        _ => {}
    }
}
