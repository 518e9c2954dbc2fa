//! Which of two ways joins what the question names: a reference that says more than it does, or the table that links both.

use crate::joins::JoinTree;
use crate::linking::Words;
use crate::schema_graph::{Join, JoinOrigin, SchemaGraph};

/// Why a statement may join by another way than is meant, in a sentence: the lawyers of a matter are not the one who leads it where a
/// table has all of them.
pub(super) fn undecided(graph: &SchemaGraph, tree: &JoinTree, question: &Words) -> Option<String> {
    const OF_KEYS: [&str; 5] = ["id", "key", "code", "number", "by"];
    let says_more = |join: &&Join| {
        let [(from, _)] = join.pairs[..] else { return false };
        let (Some(column), Some(to)) = (graph.columns().get(from), graph.tables().get(join.to)) else { return false };
        let of_table = Words::of_name(to.own_name()).stems();
        let stems = Words::of_name(&column.name).stems().into_iter();
        let role: Vec<String> =
            stems.filter(|stem| !of_table.contains(stem) && !OF_KEYS.contains(&stem.as_str())).collect();
        !role.is_empty() && !role.iter().any(|stem| question.has(stem))
    };
    let refers = |table: usize, to: usize| {
        let is = |join: &Join| join.from == table && join.to == to && join.origin != JoinOrigin::Implied;
        graph.joins().iter().any(is)
    };
    // It is called after both, and has nothing else.
    let is_link = |table: usize, join: &Join| {
        let Some(node) = graph.tables().get(table) else { return false };
        let name = Words::of_name(node.own_name());
        let ends =
            [join.from, join.to].map(|end| graph.tables().get(end).map(|of| Words::of_name(of.own_name()).stems()));
        let is_called = ends.into_iter().flatten().flatten().all(|stem| name.has(&stem));
        is_called && node.columns.len() <= 3
    };
    let links = |join: &&Join| {
        let others = (0..graph.tables().len()).filter(|table| ![join.from, join.to].contains(table));
        others
            .filter(|table| !tree.tables.contains(table))
            .find(|table| is_link(*table, join) && refers(*table, join.from) && refers(*table, join.to))
    };
    let join = tree
        .joins_in(graph)
        .filter(|join| join.from != join.to && says_more(join))
        .find(|join| links(join).is_some())?;
    let (column, other) = (graph.column_id(join.pairs.first()?.0), graph.tables().get(links(&join)?)?.own_name());
    Some(format!("the statement joins by {column}, and the question does not tell whether {other} is meant"))
}
