//! How tables are joined: the smallest tree of foreign keys and relations that holds them all.

mod steiner;
mod traps;

use std::collections::BTreeSet;

use serde::Serialize;

pub use traps::{Trap, traps};

use crate::linking::Words;
use crate::schema_graph::{Join, SchemaGraph};

/// Tables with what joins them. A forest where the schema does not connect them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JoinTree {
    /// Numbers of the tables, rising: those to be joined and those in between.
    pub tables: Vec<usize>,
    /// Numbers of the joins ([`SchemaGraph::joins`]), rising. One less than tables where all are connected.
    pub joins: Vec<usize>,
    /// The sum of the joins' costs.
    pub cost: f64,
}

impl JoinTree {
    /// Whether nothing connects some of the tables with the others.
    pub fn is_connected(&self) -> bool {
        self.joins.len() + 1 >= self.tables.len()
    }
}

/// What tables can be joined by, and how dear each is. A self-reference joins no two tables and is in no tree.
#[derive(Debug, Clone)]
pub struct Joiner<'g> {
    graph: &'g SchemaGraph,
    /// By table, numbers of joins from or to it, rising.
    by_table: Vec<Vec<usize>>,
}

/// What a word of the question that tells of a key takes off its cost.
const ROLE: f64 = 0.05;

/// What names of columns that are equal take off.
const SAME_NAME: f64 = 0.02;

impl<'g> Joiner<'g> {
    /// All joins of a graph.
    pub fn new(graph: &'g SchemaGraph) -> Self {
        let mut by_table = vec![Vec::new(); graph.tables().len()];
        for (number, join) in graph.joins().iter().enumerate().filter(|(_, join)| join.from != join.to) {
            for table in [join.from, join.to] {
                if let Some(joins) = by_table.get_mut(table) {
                    joins.push(number);
                }
            }
        }
        Self { graph, by_table }
    }

    /// The cost of each join for a question: 1, a little less where the question has a word that tells this key from
    /// others, as "home" does where a game refers to a home and an away team, or where both columns have one name.
    pub fn costs(&self, question: &Words) -> Vec<f64> {
        let cost = |join: &Join| {
            let roles = role_words(self.graph, join);
            let told = roles.iter().filter(|role| question.has(role)).count();
            let same = join.pairs.iter().all(|&(a, b)| {
                let name = |column: usize| self.graph.columns().get(column).map(|c| c.name.to_lowercase());
                name(a) == name(b)
            });
            1.0 - ROLE * told.min(3) as f64 - if same { SAME_NAME } else { 0.0 }
        };
        self.graph.joins().iter().map(cost).collect()
    }

    /// The cheapest tree that holds the tables; of trees that cost the same the one with the lowest numbers of joins.
    /// Numbers of tables that are not there are passed over; for no table it is empty. With more than eight tables it
    /// may be dearer than the cheapest by up to a factor of two.
    ///
    /// `costs` are those of [`SchemaGraph::joins`]; a join without one costs 1.
    pub fn tree(&self, tables: &[usize], costs: &[f64]) -> JoinTree {
        self.tree_without(tables, costs, None)
    }

    fn tree_without(&self, tables: &[usize], costs: &[f64], without: Option<usize>) -> JoinTree {
        let terminals: BTreeSet<usize> = tables.iter().copied().filter(|&table| table < self.by_table.len()).collect();
        let terminals: Vec<usize> = terminals.into_iter().collect();
        let joins = steiner::cheapest(self, &terminals, costs, without);
        let mut all: BTreeSet<usize> = terminals.into_iter().collect();
        let mut cost = 0.0;
        for &number in &joins {
            cost += costs.get(number).copied().unwrap_or(1.0);
            all.extend(self.graph.joins().get(number).into_iter().flat_map(|join| [join.from, join.to]));
        }
        JoinTree { tables: all.into_iter().collect(), joins: joins.into_iter().collect(), cost }
    }

    /// Other trees that hold the tables, each without one join of the tree, cheapest first; no join of it can be left
    /// out where there is none.
    pub fn alternatives(&self, tables: &[usize], costs: &[f64], tree: &JoinTree) -> Vec<JoinTree> {
        let mut found: Vec<JoinTree> = Vec::new();
        for &join in &tree.joins {
            let other = self.tree_without(tables, costs, Some(join));
            let as_connected = other.tables.len() - other.joins.len() == tree.tables.len() - tree.joins.len();
            if as_connected && other.joins != tree.joins && !found.contains(&other) {
                found.push(other);
            }
        }
        found.sort_by(|a, b| a.cost.total_cmp(&b.cost).then_with(|| a.joins.cmp(&b.joins)));
        found
    }

    /// Why a tree has a join, in a sentence.
    pub fn reason(&self, number: usize, tables: &[usize], question: &Words) -> String {
        let Some(join) = self.graph.joins().get(number) else { return String::new() };
        let name = |table: usize| self.graph.tables().get(table).map(|t| t.name.clone()).unwrap_or_default();
        let mut reason = match (join.declared, &join.role) {
            (true, _) => format!("foreign key of {}", name(join.from)),
            (false, Some(role)) => format!("relation {role:?} of the semantic file"),
            (false, None) => "relation of the semantic file".to_owned(),
        };
        if join.pairs.len() > 1 {
            reason.push_str(", all of its columns");
        }
        let between: Vec<String> =
            [join.from, join.to].into_iter().filter(|table| !tables.contains(table)).map(name).collect();
        if !between.is_empty() {
            reason.push_str(&format!("; {} stands between", between.join(" and ")));
        }
        let same_ends = |other: &Join| {
            (other.from, other.to) == (join.from, join.to) || (other.to, other.from) == (join.from, join.to)
        };
        let parallel = self.graph.joins().iter().filter(|other| same_ends(other)).count();
        if parallel > 1 {
            let told: Vec<String> =
                role_words(self.graph, join).into_iter().filter(|role| question.has(role)).collect();
            if told.is_empty() {
                reason.push_str(&format!("; one of {parallel} that join these tables, no word tells which"));
            } else {
                reason.push_str(&format!("; of {parallel} that join these tables the one told by {:?}", told.join(" ")));
            }
        }
        reason
    }

    fn joins_of(&self, table: usize) -> impl Iterator<Item = (usize, usize)> {
        let joins = self.by_table.get(table).map(Vec::as_slice).unwrap_or_default();
        joins.iter().filter_map(move |&number| {
            let join = self.graph.joins().get(number)?;
            Some((number, if join.from == table { join.to } else { join.from }))
        })
    }
}

/// Stems that tell a key from others between the same tables: those of its columns and its role that neither the table
/// it leads to nor the column it names has.
fn role_words(graph: &SchemaGraph, join: &Join) -> Vec<String> {
    let stems = |text: &str| Words::of_name(text).stems();
    let mut plain: BTreeSet<String> = ["id", "code", "key", "no", "number", "fk"].map(str::to_owned).into();
    if let Some(table) = graph.tables().get(join.to) {
        plain.extend(stems(&table.name));
        plain.extend(table.names.iter().flat_map(|name| stems(name)));
    }
    let mut words: Vec<String> = join.role.as_deref().map(stems).unwrap_or_default();
    for &(from, to) in &join.pairs {
        if let Some(to) = graph.columns().get(to) {
            plain.extend(stems(&to.name));
        }
        if let Some(from) = graph.columns().get(from) {
            words.extend(from.names.iter().chain([&from.name]).flat_map(|name| stems(name)));
        }
    }
    words.retain(|word| !plain.contains(word));
    words.sort();
    words.dedup();
    words
}

#[cfg(test)]
mod tests;
