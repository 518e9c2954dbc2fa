//! Which tables a statement needs together, with what joins them.

use std::collections::{BTreeSet, HashMap};

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
    let among = joiner.among(&order, &costs);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for chosen in 1_u32..1 << order.len() {
        if chosen.count_ones() as usize > TOGETHER {
            continue;
        }
        let mut picked: Vec<usize> =
            order.iter().enumerate().filter(|(at, _)| chosen & (1 << at) != 0).map(|(_, table)| *table).collect();
        picked.sort_unstable();
        let tree = among.tree(&picked);
        if seen.insert(tree.tables.clone()) {
            found.push(Candidate { tree, features: Vec::new() });
        }
    }
    // Words that some table has, and what each table of a candidate has of them.
    let involved: BTreeSet<usize> = found.iter().flat_map(|candidate| candidate.tree.tables.iter().copied()).collect();
    let covered: HashMap<usize, Vec<f32>> = involved.iter().map(|&table| (table, evidence.covered(table))).collect();
    for candidate in &mut found {
        candidate.features = features(evidence, graph, &candidate.tree, &covered, tables, mentioned);
    }
    found
}

fn features(
    evidence: &Evidence<'_>,
    graph: &SchemaGraph,
    tree: &JoinTree,
    covered: &HashMap<usize, Vec<f32>>,
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
    let missed: f32 = (0..words).map(|word| (anywhere(word) - best(word)).max(0.0)).sum();
    add("words missed", missed);
    add("words whole", (0..words).filter(|&word| best(word) > 0.99).count() as f32);
    let degree = |table: usize| {
        let joins = tree.joins_in(graph);
        joins.filter(|join| join.from == table || join.to == table).count()
    };
    let best_column = |table: usize| {
        let columns = graph.tables().get(table).map(|table| table.columns.clone()).unwrap_or_default();
        mentioned.get(columns).unwrap_or_default().iter().copied().fold(0.0, f32::max)
    };
    let said = |table: usize| evidence.tables.get(table).is_some_and(|mention| mention.coverage > 0.99);
    let (mut bare_leaves, mut bare_bridges, mut own_words) = (0.0_f32, 0.0_f32, 0.0_f32);
    let (mut unsaid_leaves, mut columnless_leaves, mut silent_leaves) = (0.0, 0.0, 0.0);
    let mut weakest_leaf = f32::INFINITY;
    for (&table, &score) in tree.tables.iter().zip(&scores) {
        let others =
            |word: usize| tree.tables.iter().filter(|&&t| t != table).map(|&t| has(t, word)).fold(0.0, f32::max);
        let own: f32 = (0..words).map(|word| (has(table, word) - others(word)).max(0.0)).sum();
        own_words += own.min(2.0);
        let is_leaf = degree(table) < 2;
        if count > 1 && is_leaf {
            weakest_leaf = weakest_leaf.min(score);
            let without_column = best_column(table) < 0.3;
            unsaid_leaves += f32::from(u8::from(!said(table)));
            columnless_leaves += f32::from(u8::from(without_column));
            silent_leaves += f32::from(u8::from(without_column && !said(table)));
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
    add("leaves not said", unsaid_leaves);
    add("leaves without a column", columnless_leaves);
    add("silent leaves", silent_leaves);
    add("tables said", tree.tables.iter().filter(|table| said(**table)).count() as f32);
    add("words missed, none", if missed < 0.3 { 1.0 } else { 0.0 });
    add("words missed, one", if (0.3..1.3).contains(&missed) { 1.0 } else { 0.0 });
    add("bare bridges", bare_bridges);
    if weakest_leaf.is_finite() {
        add("weakest leaf", weakest_leaf);
        let steps = ["weakest leaf, 0", "weakest leaf, 1", "weakest leaf, 2", "weakest leaf, 3"];
        let step = if weakest_leaf < -3.0 {
            0
        } else if weakest_leaf < -1.5 {
            1
        } else if weakest_leaf < 0.0 {
            2
        } else {
            3
        };
        add(steps[step], 1.0);
    }
    let is_in = |column: usize| graph.columns().get(column).is_some_and(|column| tree.tables.contains(&column.table));
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (column, &probability) in mentioned.iter().enumerate() {
        if is_in(column) { inside.push(probability) } else { outside.push(probability) }
    }
    outside.sort_by(|a, b| b.total_cmp(a));
    add("best column missed", outside.first().copied().unwrap_or_default());
    add("second column missed", outside.get(1).copied().unwrap_or_default());
    // Of columns of one name the best of those that are not in the tables, where none of them is.
    let mut groups: f32 = 0.0;
    for (column, &probability) in mentioned.iter().enumerate().filter(|(column, p)| **p > 0.1 && !is_in(*column)) {
        let rivals = evidence.rivals(column);
        let at = |other: &usize| mentioned.get(*other).copied().unwrap_or_default();
        let inside = rivals.iter().filter(|other| is_in(**other)).map(at).fold(0.0, f32::max);
        let is_best = !rivals.iter().any(|other| !is_in(*other) && (at(other), column) > (probability, *other));
        if is_best {
            groups += (probability - inside).max(0.0);
        }
    }
    add("names missed", groups);
    add("names missed, many", (groups - 0.5).max(0.0));
    if count == 1 {
        add("one table, names missed", groups);
        add("one table, words missed", missed);
    }
    add("columns missed", outside.iter().filter(|p| **p > 0.5).count() as f32);
    add("columns", inside.iter().filter(|p| **p > 0.5).count().min(6) as f32);
    let valued = |inside: bool| {
        let of = evidence
            .values
            .iter()
            .filter(|(column, values)| is_in(**column) == inside && values.iter().any(|value| !value.is_number));
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

/// By the number of tables, three and more alike.
pub(super) fn size(tree: &JoinTree) -> &'static str {
    match tree.tables.len() {
        0 | 1 => "one",
        2 => "two",
        _ => "more",
    }
}
