//! Joins that make aggregates count rows more than once.

use serde::Serialize;

use super::JoinTree;
use crate::schema_graph::{Cardinality, Join, JoinOrigin, SchemaGraph};

/// A part of a join tree in which a sum, an average or a count over some columns is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "trap", rename_all = "snake_case")]
pub enum Trap {
    /// Many rows of one table meet one row of another, which is repeated for each of them.
    FanOut {
        /// The table whose rows are repeated.
        one: String,
        /// The table that repeats them.
        many: String,
    },
    /// Two tables each have many rows for one row of a third: each row of the one meets each of the other.
    Chasm {
        /// The table in the middle.
        one: String,
        /// The first of the two.
        many: String,
        /// The second.
        other: String,
    },
}

impl std::fmt::Display for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FanOut { one, many } => write!(
                f,
                "fan-out: a row of {one} appears once for each of its rows of {many}; sums, averages and counts over \
                 {one} need DISTINCT or a subquery"
            ),
            Self::Chasm { one, many, other } => write!(
                f,
                "chasm: a row of {one} has many rows of {many} and many of {other}, and each meets each; aggregate \
                 them apart before the join"
            ),
        }
    }
}

/// The traps of a tree: chasms always, also where two tables are joined past the one that both refer to; fan-outs over the tables
/// that `aggregated` names by their numbers.
pub fn traps(graph: &SchemaGraph, tree: &JoinTree, aggregated: &[usize]) -> Vec<Trap> {
    let name = |table: usize| graph.tables().get(table).map(|table| table.name.clone()).unwrap_or_default();
    // (one, many)
    let mut sides: Vec<(usize, usize)> = Vec::new();
    for join in tree.joins_in(graph) {
        match join.cardinality {
            Cardinality::ManyToOne => sides.push((join.to, join.from)),
            Cardinality::ManyToMany => match both_refer_to(graph, join) {
                Some(one) => sides.extend([(one, join.from), (one, join.to)]),
                None => sides.extend([(join.to, join.from), (join.from, join.to)]),
            },
            Cardinality::OneToOne => {}
        }
    }
    let mut found = Vec::new();
    for (place, &(one, many)) in sides.iter().enumerate() {
        for &(other_one, other) in sides.iter().skip(place + 1) {
            if one == other_one && many != other {
                found.push(Trap::Chasm { one: name(one), many: name(many), other: name(other) });
            }
        }
        if aggregated.contains(&one) && tree.tables.contains(&one) {
            found.push(Trap::FanOut { one: name(one), many: name(many) });
        }
    }
    found
}

/// The table to whose key both columns of a join refer.
fn both_refer_to(graph: &SchemaGraph, join: &Join) -> Option<usize> {
    let &[(a, b)] = join.pairs.as_slice() else { return None };
    let key_of = |column: usize| {
        let declared =
            graph.joins().iter().filter(|join| matches!(join.origin, JoinOrigin::Declared | JoinOrigin::Curated));
        declared.filter_map(move |join| match join.pairs.as_slice() {
            &[(from, to)] if from == column && join.cardinality == Cardinality::ManyToOne => Some((join.to, to)),
            _ => None,
        })
    };
    let of_a: Vec<(usize, usize)> = key_of(a).collect();
    key_of(b).find(|key| of_a.contains(key)).map(|(table, _)| table)
}
