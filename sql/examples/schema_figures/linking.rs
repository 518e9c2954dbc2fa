//! Which columns and tables are found.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use tabsegnet_sql::linking::{Model, Similarity, Words};

use crate::linkers;
use crate::spider::{Databases, Gold, Question, documents};

/// Sums of figures by name, in the order of the names.
#[derive(Default)]
pub struct Sums(BTreeMap<&'static str, (f64, usize)>);

impl Sums {
    pub fn add(&mut self, name: &'static str, value: f64) {
        let of = self.0.entry(name).or_default();
        of.0 += value;
        of.1 += 1;
    }

    pub fn mean(&self, name: &str) -> f64 {
        self.0.get(name).map_or(f64::NAN, |(sum, count)| sum / (*count).max(1) as f64)
    }
}

pub fn is(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

const AT: [(usize, &str, &str); 3] =
    [(5, "recall@5", "all@5"), (10, "recall@10", "all@10"), (20, "recall@20", "all@20")];

/// What a ranking of columns, the best first with scores, is worth.
pub fn rank(sums: &mut Sums, order: &[(usize, f32)], gold: &BTreeSet<usize>) {
    if gold.is_empty() {
        return;
    }
    for (k, recall, all) in AT {
        let found = order.iter().take(k).filter(|(column, _)| gold.contains(column)).count();
        sums.add(recall, found as f64 / gold.len() as f64);
        sums.add(all, is(found == gold.len()));
    }
    let (right, others): (Vec<&(usize, f32)>, Vec<_>) = order.iter().partition(|(column, _)| gold.contains(column));
    if !others.is_empty() && !right.is_empty() {
        let beats = |a: f32, b: f32| {
            if a > b {
                1.0
            } else if a == b {
                0.5
            } else {
                0.0
            }
        };
        let won: f64 = right.iter().flat_map(|(_, a)| others.iter().map(move |(_, b)| beats(*a, *b))).sum();
        sums.add("AUC", won / (right.len() * others.len()) as f64);
    }
}

const TABLES_AT: [(usize, &str); 5] =
    [(1, "recall@1"), (2, "recall@2"), (3, "recall@3"), (5, "recall@5"), (10, "recall@10")];

pub fn recall_of_tables<T: Ord>(sums: &mut Sums, order: impl Iterator<Item = T> + Clone, gold: &BTreeSet<T>) {
    for (k, recall) in TABLES_AT {
        let found = order.clone().take(k).filter(|table| gold.contains(table)).count();
        sums.add(recall, found as f64 / gold.len() as f64);
    }
}

/// Scores of nodes by question and node.
pub struct Ranking(HashMap<String, HashMap<String, f32>>);

impl Ranking {
    /// From TREC lines: question, Q0, node, rank, score, name.
    pub fn read(file: &Path) -> Result<Self> {
        let mut scores: HashMap<String, HashMap<String, f32>> = HashMap::new();
        for line in std::fs::read_to_string(file).with_context(|| file.display().to_string())?.lines() {
            let [question, _, node, _, score, _] = line.split(' ').collect::<Vec<_>>()[..] else {
                bail!("{}: no TREC line: {line}", file.display());
            };
            scores.entry(question.to_owned()).or_default().insert(node.to_owned(), score.parse()?);
        }
        Ok(Self(scores))
    }

    fn score(&self, question: &str, node: &str) -> Option<f32> {
        self.0.get(question)?.get(node).copied()
    }
}

/// Things by their scores, the best first, of equal ones the first.
fn by_score(count: usize, score: impl Fn(usize) -> Result<f32>) -> Result<Vec<(usize, f32)>> {
    let mut order: Vec<(usize, f32)> = (0..count).map(|at| Ok((at, score(at)?))).collect::<Result<_>>()?;
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(order)
}

/// Columns and tables among those of the question's own database.
pub fn alone(
    (questions, databases): &(Vec<Question>, Databases),
    part: &str,
    model: &Model,
    rankings: &[(String, Vec<Ranking>)],
    wrong: bool,
) -> Result<()> {
    println!(
        "Schema linking on Spider, {part} part ({} questions, {} databases):\n",
        questions.len(),
        databases.names.len()
    );
    println!("| | recall@5 | @10 | @20 | all of them @5 | @10 | @20 | AUC |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let line = |name: &str, sums: &Sums| {
        let names = ["recall@5", "recall@10", "recall@20", "all@5", "all@10", "all@20", "AUC"];
        let cells: Vec<String> = names.iter().map(|name| format!("{:.3}", sums.mean(name))).collect();
        println!("| {name} | {} |", cells.join(" | "));
    };
    let mut tables = Sums::default();
    for (name, with_values) in [("columns, fitted weights", true), ("the same without values", false)] {
        let linkers = linkers(databases, model, with_values);
        let mut sums = Sums::default();
        for question in questions {
            let Some(linker) = databases.names.binary_search(&question.db).ok().and_then(|at| linkers.get(at)) else {
                continue;
            };
            let gold = Gold::of(question, linker.graph());
            let start = Instant::now();
            let linked = linker.link(&question.question);
            let seconds = start.elapsed().as_secs_f64();
            let order: Vec<(usize, f32)> = linked.columns.iter().map(|c| (c.column, c.probability)).collect();
            rank(&mut sums, &order, &gold.columns);
            if !with_values {
                continue;
            }
            tables.add("ms", seconds * 1000.0);
            recall_of_tables(&mut tables, linked.tables.iter().map(|table| table.table), &gold.tables);
            let set =
                |at: usize| linked.sets.get(at).map(|set| set.tree.tables.iter().copied().collect::<BTreeSet<_>>());
            let exact = set(0).as_ref() == Some(&gold.tables);
            tables.add("exact", is(exact));
            tables.add("in three", is((0..3).any(|at| set(at).as_ref() == Some(&gold.tables))));
            tables.add("in ten", is((0..10).any(|at| set(at).as_ref() == Some(&gold.tables))));
            let sure = linked.sets.first().is_some_and(|best| best.probability >= 0.8);
            tables.add("sure", is(sure));
            if sure {
                tables.add("exact, sure", is(exact));
            }
            if wrong && !exact {
                let names = |set: &BTreeSet<usize>| {
                    let name = |&table: &usize| linker.graph().tables().get(table).map(|t| t.name.to_lowercase());
                    set.iter().filter_map(name).collect::<Vec<_>>().join(",")
                };
                eprintln!(
                    "tables\t{}\t{}\tgold {}\tfound {}",
                    question.db,
                    question.question,
                    names(&gold.tables),
                    names(&set(0).unwrap_or_default())
                );
            }
        }
        line(name, &sums);
    }
    let mut sums = Sums::default();
    let similar: Vec<Similarity> = databases.graphs.iter().map(|graph| Similarity::new(graph, &[])).collect();
    for question in questions {
        let Ok(at) = databases.names.binary_search(&question.db) else { continue };
        let (Some(similar), Some(graph)) = (similar.get(at), databases.graphs.get(at)) else { continue };
        let scores = similar.scores(&Words::of(&question.question));
        let order = by_score(scores.len(), |at| Ok(scores.get(at).copied().unwrap_or_default()))?;
        rank(&mut sums, &order, &Gold::of(question, graph).columns);
    }
    line("columns, eq. 2 of SGAM on TF-IDF", &sums);
    let mut others = Vec::new();
    for (name, rankings) in rankings {
        let (mut sums, mut tables) = (Sums::default(), Sums::default());
        for (number, question) in questions.iter().enumerate() {
            let Ok(at) = databases.names.binary_search(&question.db) else { continue };
            let Some(graph) = databases.graphs.get(at) else { continue };
            let gold = Gold::of(question, graph);
            for ranking in rankings {
                let id = documents::id(part, number);
                let of = |node: &str| ranking.score(&id, node).with_context(|| format!("{name}: {id} has no {node}"));
                rank(
                    &mut sums,
                    &by_score(graph.columns().len(), |at| of(&documents::column(graph, at)))?,
                    &gold.columns,
                );
                let order = by_score(graph.tables().len(), |at| of(&documents::table(at)))?;
                recall_of_tables(&mut tables, order.iter().map(|(table, _)| *table), &gold.tables);
            }
        }
        line(&format!("columns, {name}"), &sums);
        others.push((name, tables));
    }
    let headers: String = others.iter().map(|(name, _)| format!(" {name} |")).collect();
    println!("\n| tables | fitted weights |{headers}\n|---|---:|{}", "---:|".repeat(others.len()));
    for (name, of) in [
        ("recall@1", "recall@1"),
        ("recall@2", "recall@2"),
        ("recall@3", "recall@3"),
        ("exact set", "exact"),
        ("exact set among the first three", "in three"),
        ("exact set among the first ten", "in ten"),
        ("share of questions with a set of probability ≥ .8", "sure"),
        ("exact set, of those", "exact, sure"),
    ] {
        let cell = |(_, sums): &(&String, Sums)| match sums.mean(of) {
            mean if mean.is_nan() => " |".to_owned(),
            mean => format!(" {mean:.3} |"),
        };
        println!("| {name} | {:.3} |{}", tables.mean(of), others.iter().map(cell).collect::<String>());
    }
    println!("| milliseconds a question, mean | {:.2} |{}\n", tables.mean("ms"), " |".repeat(others.len()));
    Ok(())
}

/// Each question put to all databases of a part at once: tables by their own probability times that of the likeliest table
/// of their database, which says how much the question is about it at all.
pub fn pooled((questions, databases): &(Vec<Question>, Databases), model: &Model) {
    let linkers = linkers(databases, model, true);
    let mut sums = Sums::default();
    for question in questions {
        let mut tables: Vec<((usize, usize), f32)> = Vec::new();
        let mut gold = BTreeSet::new();
        for (at, linker) in linkers.iter().enumerate() {
            let linked = linker.link(&question.question);
            let best = linked.tables.iter().map(|table| table.alone).fold(0.0, f32::max);
            tables.extend(linked.tables.iter().map(|table| ((at, table.table), table.alone * best)));
            if databases.names.get(at) == Some(&question.db) {
                gold.extend(Gold::of(question, linker.graph()).tables.into_iter().map(|table| (at, table)));
            }
        }
        tables.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        recall_of_tables(&mut sums, tables.iter().map(|(table, _)| *table), &gold);
    }
    let tables: usize = linkers.iter().map(|linker| linker.graph().tables().len()).sum();
    println!("Tables among those of all {} databases, {tables} in all:\n", linkers.len());
    println!("| recall@1 | @2 | @3 | @5 | @10 |\n|---:|---:|---:|---:|---:|");
    let cells: Vec<String> = TABLES_AT.iter().map(|(_, name)| format!("{:.3}", sums.mean(name))).collect();
    println!("| {} |\n", cells.join(" | "));
}
