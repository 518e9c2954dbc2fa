//! Which tables a statement needs together, with what joins them.

use std::collections::BTreeSet;

use super::evidence::Evidence;
use crate::joins::{JoinTree, Joiner};
use crate::schema_graph::SchemaGraph;

/// So many of the best tables are put together.
const TABLES: usize = 8;

/// So many of them at most, tables in between not counted.
const TOGETHER: usize = 4;

/// Tables that may be what a statement needs.
pub(super) struct Candidate {
    pub(super) tree: JoinTree,
    pub(super) features: Vec<(&'static str, f32)>,
}

/// All candidates, each set of tables once; `tables` are the scores (log-odds) of all tables and `mentioned` the
/// probabilities of all columns.
pub(super) fn candidates(
    evidence: &Evidence<'_>,
    joiner: &Joiner<'_>,
    graph: &SchemaGraph,
    tables: &[f32],
    mentioned: &[f32],
) -> Vec<Candidate> {
    let mut order: Vec<usize> = (0..tables.len()).collect();
    let score = |table: usize| tables.get(table).copied().unwrap_or_default();
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    let order: Vec<usize> = order.into_iter().take(TABLES).collect();
    let mut costs = joiner.costs(evidence.question);
    // Of ways that are as short the one through likelier tables.
    for (cost, join) in costs.iter_mut().zip(graph.joins()) {
        let probable = |table| super::model::logistic(score(table));
        *cost += 0.1 - 0.05 * f64::from(probable(join.from) + probable(join.to));
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for chosen in 1_u32..1 << order.len() {
        if chosen.count_ones() as usize > TOGETHER {
            continue;
        }
        let picked: Vec<usize> =
            order.iter().enumerate().filter(|(at, _)| chosen & (1 << at) != 0).map(|(_, table)| *table).collect();
        let tree = joiner.tree(&picked, &costs);
        if seen.insert(tree.tables.clone()) {
            found.push(Candidate { tree, features: Vec::new() });
        }
    }
    // Words that some table has, and what each table of a candidate has of them.
    let involved: BTreeSet<usize> = found.iter().flat_map(|candidate| candidate.tree.tables.iter().copied()).collect();
    let covered: std::collections::HashMap<usize, Vec<f32>> =
        involved.iter().map(|&table| (table, evidence.covered(table))).collect();
    for candidate in &mut found {
        candidate.features = features(evidence, graph, &candidate.tree, &covered, tables, mentioned);
    }
    found
}

fn features(
    evidence: &Evidence<'_>,
    graph: &SchemaGraph,
    tree: &JoinTree,
    covered: &std::collections::HashMap<usize, Vec<f32>>,
    tables: &[f32],
    mentioned: &[f32],
) -> Vec<(&'static str, f32)> {
    let count = tree.tables.len();
    let mut features: Vec<(&'static str, f32)> = Vec::new();
    let mut add = |name: &'static str, value: f32| {
        if value != 0.0 {
            features.push((name, value));
        }
    };
    add(["no table", "one table", "two tables", "three tables", "four tables", "more tables"][count.min(5)], 1.0);
    let scores: Vec<f32> =
        tree.tables.iter().map(|&table| tables.get(table).copied().unwrap_or_default().clamp(-6.0, 6.0)).collect();
    add("tables", scores.iter().sum());
    add("weakest", scores.iter().copied().fold(f32::INFINITY, f32::min));
    add("strongest", scores.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let words = evidence.question.words.len();
    let has = |table: usize, word: usize| covered.get(&table).and_then(|c| c.get(word)).copied().unwrap_or_default();
    let best = |word: usize| tree.tables.iter().map(|&table| has(table, word)).fold(0.0, f32::max);
    let anywhere = |word: usize| covered.values().filter_map(|c| c.get(word)).copied().fold(0.0, f32::max);
    add("words", (0..words).map(best).sum());
    add("words missed", (0..words).map(|word| (anywhere(word) - best(word)).max(0.0)).sum());
    add("words whole", (0..words).filter(|&word| best(word) > 0.99).count() as f32);
    let degree = |table: usize| {
        let joins = tree.joins.iter().filter_map(|&join| graph.joins().get(join));
        joins.filter(|join| join.from == table || join.to == table).count()
    };
    let (mut bare_leaves, mut bare_bridges, mut own_words) = (0.0, 0.0, 0.0);
    let mut weakest_leaf = f32::INFINITY;
    for (&table, &score) in tree.tables.iter().zip(&scores) {
        let others = |word: usize| tree.tables.iter().filter(|&&t| t != table).map(|&t| has(t, word)).fold(0.0, f32::max);
        let own: f32 = (0..words).map(|word| (has(table, word) - others(word)).max(0.0)).sum();
        own_words += own.min(2.0);
        let is_leaf = degree(table) < 2;
        if count > 1 && is_leaf {
            weakest_leaf = weakest_leaf.min(score);
            if own < 0.3 {
                bare_leaves += 1.0;
            }
        }
        if !is_leaf && own < 0.3 {
            bare_bridges += 1.0;
        }
    }
    add("words of one table", own_words);
    add("bare leaves", bare_leaves);
    add("bare bridges", bare_bridges);
    if weakest_leaf.is_finite() {
        add("weakest leaf", weakest_leaf);
    }
    let is_in = |column: usize| graph.columns().get(column).is_some_and(|column| tree.tables.contains(&column.table));
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (column, &probability) in mentioned.iter().enumerate() {
        if is_in(column) { inside.push(probability) } else { outside.push(probability) }
    }
    outside.sort_by(|a, b| b.total_cmp(a));
    add("best column missed", outside.first().copied().unwrap_or_default());
    add("second column missed", outside.get(1).copied().unwrap_or_default());
    add("columns missed", outside.iter().filter(|p| **p > 0.5).count() as f32);
    add("columns", inside.iter().filter(|p| **p > 0.5).count().min(6) as f32);
    let valued = |inside: bool| {
        let of = evidence.values.iter().filter(|(column, values)| {
            is_in(**column) == inside && values.iter().any(|value| !value.is_number)
        });
        of.flat_map(|(_, values)| values.iter().map(|value| value.words.clone())).collect::<Vec<_>>()
    };
    let (here, there) = (valued(true), valued(false));
    add("values missed", there.iter().filter(|words| !here.contains(words)).count().min(3) as f32);
    if !tree.is_connected() {
        add("not connected", 1.0);
    }
    if let [only] = tree.tables.as_slice() {
        let node = evidence.tables.get(*only);
        add("one table, said whole", if node.is_some_and(|node| !node.spans.is_empty()) { 1.0 } else { 0.0 });
    }
    let said = (0..graph.tables().len())
        .filter(|table| !tree.tables.contains(table))
        .filter(|table| evidence.tables.get(*table).is_some_and(|mention| !mention.spans.is_empty()));
    add("tables said and missed", said.count().min(3) as f32);
    features
}
