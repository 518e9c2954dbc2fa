//! How tables are joined.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use tabsegnet_sql::joins::{JoinTree, Joiner};
use tabsegnet_sql::linking::{Linker, Model, Similarity, Words};
use tabsegnet_sql::schema_graph::SchemaGraph;

use crate::anchor::paths_to_anchor;
use crate::linkers;
use crate::spider::{Databases, Gold, Joins, Question, of_beaver, of_bird, of_spider};

fn pairs(graph: &SchemaGraph, tree: &JoinTree) -> BTreeSet<(usize, usize)> {
    let joins = tree.joins_in(graph);
    joins.flat_map(|join| join.pairs.iter().map(|&(a, b)| (a.min(b), a.max(b)))).collect()
}

/// Which columns are equal in the end, whichever pairs say so.
fn classes(pairs: &BTreeSet<(usize, usize)>) -> BTreeSet<BTreeSet<usize>> {
    let mut classes: Vec<BTreeSet<usize>> = Vec::new();
    for &(a, b) in pairs {
        let (mut joined, rest): (Vec<_>, Vec<_>) = classes.into_iter().partition(|c| c.contains(&a) || c.contains(&b));
        joined.push(BTreeSet::from([a, b]));
        classes = rest;
        classes.push(joined.into_iter().flatten().collect());
    }
    classes.into_iter().collect()
}

fn shown(graph: &SchemaGraph, pairs: &BTreeSet<(usize, usize)>) -> String {
    let pair = |&(a, b): &(usize, usize)| format!("{}={}", graph.column_id(a), graph.column_id(b));
    pairs.iter().map(pair).collect::<Vec<_>>().join(" ")
}

pub fn figures(data: &Path, model: &Model, wrong: bool, part: &str) -> Result<()> {
    println!("Joins, of questions whose statement joins two tables or more:\n");
    println!("| | questions | joins: recall | precision | exact | the same columns equal |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (joins, how) in [(Joins::DECLARED, "declared joins"), (Joins::ALL, "and guessed ones")] {
        let sets = [
            ("Spider", part, of_spider(data, part, joins)?),
            ("BIRD", "dev", of_bird(data, joins)?),
            ("BEAVER dw", "visible", of_beaver(data, joins)?),
        ];
        for (name, part, set) in &sets {
            let linkers = linkers(&set.1, model, true);
            let shown = format!("{name}, from the question alone, {how}");
            report(&shown, part, set, wrong && joins.guessed, |question, at, _| {
                let linked = linkers.get(at)?.link(&question.question);
                linked.sets.into_iter().next().map(|set| set.tree)
            });
            let shown = format!("{name}, from the gold tables, {how}");
            report(&shown, part, set, wrong && joins.guessed, |question, at, gold| {
                let joiner = Joiner::new(set.1.graphs.get(at)?);
                let tables: Vec<usize> = gold.tables.iter().copied().collect();
                Some(joiner.tree(&tables, &joiner.costs(&Words::of(&question.question))))
            });
        }
    }
    println!();
    Ok(())
}

/// By which columns tables are taken.
#[derive(Clone, Copy)]
enum By {
    /// Those of which eq. 2 says at least so much.
    Similarity(f32),
    /// Those that the fitted model finds mentioned rather than not.
    Mention,
}

/// What joins them.
#[derive(Clone, Copy)]
enum Graph {
    Nothing,
    Anchor,
    Tree,
}

/// How often tables and joins are exact when tables are those of single columns, with and without the graph.
pub fn with_and_without(data: &Path, part: &str, model: &Model) -> Result<()> {
    let train = of_spider(data, "train", Joins::DECLARED)?;
    let of_train = linkers(&train.1, model, true);
    let steps = (1..20).map(|step| step as f32 / 20.0);
    let reached = |least: f32| columns_joined(&train, &of_train, By::Similarity(least), Graph::Anchor).1;
    let best = steps.map(|least| (reached(least), least)).max_by(|a, b| a.0.total_cmp(&b.0));
    let least = best.map_or(0.5, |(_, least)| least);
    let questions = of_spider(data, part, Joins::DECLARED)?;
    let linkers = linkers(&questions.1, model, true);
    println!("Tables of single columns, with and without the graph, Spider's {part} part, declared joins:\n");
    println!("| columns | joined by | exact tables | exact joins |\n|---|---|---:|---:|");
    for (columns, by) in [
        (format!("eq. 2 of SGAM ≥ {least:.2} (from the training part)"), By::Similarity(least)),
        ("mentioned, fitted".to_owned(), By::Mention),
    ] {
        for (joined, graph) in [
            ("nothing", Graph::Nothing),
            ("paths to v* (eq. 8), pruned and merged", Graph::Anchor),
            ("the cheapest tree", Graph::Tree),
        ] {
            let (tables, joins) = columns_joined(&questions, &linkers, by, graph);
            println!("| {columns} | {joined} | {tables:.3} | {joins:.3} |");
        }
    }
    println!();
    Ok(())
}

/// The share of questions with exact tables, and of those that join the share with exact joins.
fn columns_joined(
    (questions, databases): &(Vec<Question>, Databases),
    linkers: &[Linker<'_>],
    by: By,
    how: Graph,
) -> (f64, f64) {
    let similar: Vec<Similarity> = databases.graphs.iter().map(|graph| Similarity::new(graph, &[])).collect();
    let (mut exact, mut joining, mut exact_joins) = (0, 0, 0);
    for question in questions {
        let Ok(at) = databases.names.binary_search(&question.db) else { continue };
        let (Some(linker), Some(similar)) = (linkers.get(at), similar.get(at)) else { continue };
        let graph = linker.graph();
        let words = Words::of(&question.question);
        let columns: Vec<usize> = match by {
            By::Similarity(least) => {
                let scores = similar.scores(&words).into_iter().enumerate();
                scores.filter(|(_, score)| *score >= least).map(|(column, _)| column).collect()
            }
            By::Mention => {
                let columns = linker.link(&question.question).columns;
                columns.into_iter().filter(|column| column.mentioned >= 0.5).map(|column| column.column).collect()
            }
        };
        let tables = columns.iter().filter_map(|&column| graph.columns().get(column)).map(|column| column.table);
        let tables: Vec<usize> = tables.collect::<BTreeSet<_>>().into_iter().collect();
        let tree = match how {
            Graph::Nothing => JoinTree { tables, joins: Vec::new(), cost: 0.0 },
            Graph::Anchor => paths_to_anchor(graph, &tables),
            Graph::Tree => linker.joiner().tree(&tables, &linker.joiner().costs(&words)),
        };
        let gold = Gold::of(question, graph);
        exact += usize::from(tree.tables.iter().copied().collect::<BTreeSet<_>>() == gold.tables);
        if !gold.joins.is_empty() {
            joining += 1;
            exact_joins += usize::from(pairs(graph, &tree) == gold.joins);
        }
    }
    let share = |of: usize, all: usize| of as f64 / all.max(1) as f64;
    (share(exact, questions.len()), share(exact_joins, joining))
}

fn report(
    name: &str,
    part: &str,
    (questions, databases): &(Vec<Question>, Databases),
    wrong: bool,
    tree: impl Fn(&Question, usize, &Gold) -> Option<JoinTree>,
) {
    let (mut count, mut exact, mut equal) = (0, 0, 0);
    // Of all questions together: joins wanted, those that were found, and how many of them are wanted.
    let (mut wanted, mut all, mut hit) = (0, 0, 0);
    for question in questions {
        let Ok(at) = databases.names.binary_search(&question.db) else { continue };
        let Some(graph) = databases.graphs.get(at) else { continue };
        let gold = Gold::of(question, graph);
        let written = question.gold_joins.as_ref().map_or(0, Vec::len);
        let tables = question.gold_tables.as_ref().map_or(0, |tables| tables.iter().collect::<BTreeSet<_>>().len());
        if tables < 2 || written == 0 {
            continue;
        }
        count += 1;
        let found = tree(question, at, &gold).map(|tree| pairs(graph, &tree)).unwrap_or_default();
        let right = found == gold.joins;
        exact += usize::from(right);
        (wanted, all) = (wanted + gold.joins.len(), all + found.len());
        hit += found.intersection(&gold.joins).count();
        equal += usize::from(classes(&found) == classes(&gold.joins));
        if wrong && !right {
            eprintln!(
                "{name}\t{}\t{}\tgold {}\tfound {}",
                question.db,
                question.question,
                shown(graph, &gold.joins),
                shown(graph, &found)
            );
        }
    }
    let share = |of: usize| of as f64 / f64::from(count.max(1));
    let of = |all: usize| hit as f64 / all.max(1) as f64;
    let (exact, equal) = (share(exact), share(equal));
    println!("| {name} ({part}) | {count} | {:.3} | {:.3} | {exact:.3} | {equal:.3} |", of(wanted), of(all));
}
