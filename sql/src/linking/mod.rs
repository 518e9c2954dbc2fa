//! Schema linking: which tables and columns a question needs, and how they are joined.
//!
//! Four log-linear models after each other: does the question mention a column (names, values of cells, pairs of words
//! seen in training); does it need a table; which tables with what joins them, of up to 162 candidates; and, with what
//! that says, does it need a column, be it to join by.

mod evidence;
mod explain;
#[cfg(feature = "training")]
pub mod fit;
mod model;
mod sets;
mod short;
mod similarity;
mod values;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::Serialize;

pub use explain::{Alternative, ExplainedColumn, ExplainedJoin, Explanation};
pub use model::{Model, Weights};
pub use similarity::Similarity;
pub use values::{FoundValue, ValueIndex, ValueLimits};
pub use words::Words;

use crate::joins::{JoinTree, Joiner, Trap, traps};
use crate::schema_graph::SchemaGraph;
pub(crate) use evidence::Mention;
use evidence::{Evidence, Vocabulary};
pub(crate) use evidence::{alike, grouped_by};

use model::{Compiled, logistic};
use sets::{Candidate, candidates};

/// A column with how likely a question needs it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkedColumn {
    /// Its number.
    pub column: usize,
    /// The probability that a statement for the question has it, also to join by.
    pub probability: f32,
    /// The probability that the question mentions it.
    pub mentioned: f32,
}

/// A table with how likely a question needs it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkedTable {
    /// Its number.
    pub table: usize,
    /// The probability that a statement for the question has it.
    pub probability: f32,
    /// The same by the table and its columns alone, whatever else the schema has: tables of several databases are compared
    /// by it.
    pub alone: f32,
}

/// Tables that a question may need together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableSet {
    /// The tables with what joins them.
    pub tree: JoinTree,
    /// How likely it is these.
    pub probability: f32,
}

/// What of a schema a question needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Linked {
    /// All columns but hidden ones, the likeliest first, of equal ones the first of the schema.
    pub columns: Vec<LinkedColumn>,
    /// All tables, the likeliest first, of equal ones the first of the schema.
    pub tables: Vec<LinkedTable>,
    /// The likeliest sets of tables, ten at most.
    pub sets: Vec<TableSet>,
    /// By column the values that the question names.
    pub values: BTreeMap<usize, Vec<FoundValue>>,
    /// Traps of the likeliest set.
    pub traps: Vec<Trap>,
}

/// How many sets are given.
const SETS: usize = 10;

/// Links questions to one schema.
pub struct Linker<'g> {
    graph: &'g SchemaGraph,
    values: ValueIndex,
    vocabulary: Vocabulary,
    joiner: Joiner<'g>,
    model: Compiled,
    /// The words of the schema's names as they are written.
    written: BTreeSet<String>,
}

/// A question, what of the schema it needs, and where its words say so.
pub(crate) struct Read {
    pub(crate) words: Words,
    pub(crate) linked: Linked,
    /// `[columns]`.
    pub(crate) columns: Vec<Mention>,
    /// `[tables]`.
    pub(crate) tables: Vec<Mention>,
    /// `[columns]`: the words of the columns' own names.
    pub(crate) names: Arc<[Words]>,
}

/// What is found of a question before the sets are weighed.
struct Weighed {
    mentioned: Vec<f32>,
    tables: Vec<f32>,
    candidates: Vec<Candidate>,
}

impl<'g> Linker<'g> {
    /// A linker for a graph, with a sample of its values, which may be empty.
    pub fn new(graph: &'g SchemaGraph, values: ValueIndex, model: &Model) -> Self {
        Self {
            graph,
            values,
            vocabulary: Vocabulary::new(graph),
            joiner: Joiner::new(graph),
            model: Compiled::new(model),
            written: short::written(graph),
        }
    }

    /// The graph.
    pub fn graph(&self) -> &'g SchemaGraph {
        self.graph
    }

    /// The values that it knows.
    pub(crate) fn values(&self) -> &ValueIndex {
        &self.values
    }

    /// What joins its tables.
    pub fn joiner(&self) -> &Joiner<'g> {
        &self.joiner
    }

    /// What the question needs. A question without a word that the schema has gets the probabilities of any question;
    /// an empty schema gives nothing.
    pub fn link(&self, question: &str) -> Linked {
        self.read(question).linked
    }

    /// The same where something else says how likely a set of tables is, which is put in order of number.
    pub(crate) fn link_by(&self, question: &str, likelihood: &dyn Fn(&[usize]) -> f32) -> Linked {
        self.read_by(question, likelihood).linked
    }

    /// A question with what the schema writes short in its own way as it has it.
    pub(crate) fn as_written(&self, question: &str) -> String {
        let words = Words::of(question);
        let found = self.values.find(&words);
        // The Curie Building is one whatever column `bldg` is.
        let valued: BTreeSet<&str> = found
            .values()
            .flatten()
            .flat_map(|value| words.words.get(value.words.clone()).unwrap_or_default())
            .map(|word| word.text.as_str())
            .collect();
        let known =
            |text: &str, stem: &str| self.vocabulary.has(stem) || valued.contains(text) || self.values.has(text, stem);
        short::as_written(question, &self.written, known)
    }

    /// What the question needs, and where it says so.
    pub(crate) fn read(&self, question: &str) -> Read {
        self.read_by(question, &|_| 1.0)
    }

    fn read_by(&self, question: &str, likelihood: &dyn Fn(&[usize]) -> f32) -> Read {
        let words = Words::of(&self.as_written(&question.chars().take(QUESTION).collect::<String>()));
        // Few questions that it has learnt from say "per".
        let groups = match words.words.iter().any(|word| matches!(word.text.as_str(), "per" | "by")) {
            true => Evidence::new(&words, self.graph, &self.vocabulary, &self.values.find(&words)).groups(),
            false => Vec::new(),
        };
        let words = words.for_each(&groups);
        let values = self.values.find(&words);
        let evidence = Evidence::new(&words, self.graph, &self.vocabulary, &values);
        let linked = self.linked(&words, &evidence, values.clone(), likelihood);
        let Evidence { columns, tables, .. } = evidence;
        Read { columns, tables, linked, words, names: Arc::clone(&self.vocabulary.own) }
    }

    fn linked(
        &self,
        words: &Words,
        evidence: &Evidence<'_>,
        values: BTreeMap<usize, Vec<FoundValue>>,
        likelihood: &dyn Fn(&[usize]) -> f32,
    ) -> Linked {
        let weighed = self.weigh(evidence);
        let sets = self.sets(words, &weighed.candidates, likelihood);
        let marginals = Marginals::new(self.graph, &sets);
        let columns =
            (0..self.graph.columns().len()).filter(|&at| self.graph.columns().get(at).is_some_and(|c| !c.hidden));
        let mut columns: Vec<LinkedColumn> = columns
            .map(|column| {
                let mentioned = weighed.mentioned.get(column).copied().unwrap_or_default();
                let features = marginals.features(self.graph, &self.vocabulary, column, mentioned);
                LinkedColumn { column, probability: logistic(self.model.column.score(&features)), mentioned }
            })
            .collect();
        columns.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.column.cmp(&b.column)));
        let odds = |table: usize| weighed.tables.get(table).copied().unwrap_or_default();
        let mut tables: Vec<LinkedTable> = (0..self.graph.tables().len())
            .map(|table| LinkedTable { table, probability: marginals.table(table), alone: logistic(odds(table)) })
            .collect();
        tables.sort_by(|a, b| {
            let by_set = b.probability.total_cmp(&a.probability);
            by_set.then(odds(b.table).total_cmp(&odds(a.table))).then(a.table.cmp(&b.table))
        });
        let found = match sets.first() {
            Some(best) if evidence.aggregates() => {
                let of = |column: &LinkedColumn| self.graph.columns().get(column.column).map(|c| c.table);
                let mut aggregated: Vec<usize> = columns.iter().filter(|c| c.mentioned > 0.5).filter_map(of).collect();
                aggregated.extend(best.tree.tables.iter().filter(|table| evidence.is_counted(**table)));
                traps(self.graph, &best.tree, &aggregated)
            }
            Some(best) => traps(self.graph, &best.tree, &[]),
            None => Vec::new(),
        };
        Linked { columns, tables, sets: sets.into_iter().take(SETS).collect(), values, traps: found }
    }

    fn weigh(&self, evidence: &Evidence<'_>) -> Weighed {
        // What each word of the question meets, as most meet nothing.
        let words = evidence.question.words.iter().map(|word| word.stem.as_str()).chain(["-"]);
        let met: HashMap<(&str, &str), &HashMap<String, f32>> = words
            .flat_map(|word| ["kind", "word", "name"].map(|kind| (kind, word)))
            .filter_map(|(kind, word)| Some(((kind, word), self.model.mention.met(kind, word)?)))
            .collect();
        let mentioned: Vec<f32> = (0..self.graph.columns().len())
            .map(|column| {
                let hidden = self.graph.columns().get(column).is_some_and(|column| column.hidden);
                if hidden {
                    return 0.0;
                }
                let plain = self.model.mention.score(&evidence.column_features(column));
                let pairs: f32 = if met.is_empty() {
                    0.0
                } else {
                    let weight = |(kind, word, meets): (&'static str, &str, &str)| {
                        met.get(&(kind, word)).and_then(|of| of.get(meets)).copied()
                    };
                    evidence.pairs(column).into_iter().filter_map(weight).sum()
                };
                logistic(plain + pairs)
            })
            .collect();
        let tables: Vec<f32> = (0..self.graph.tables().len())
            .map(|table| self.model.table.score(&evidence.table_features(table, &mentioned)))
            .collect();
        let candidates = candidates(evidence, &self.joiner, self.graph, &tables, &mentioned);
        Weighed { mentioned, tables, candidates }
    }

    /// The candidates with their probabilities, the likeliest first.
    fn sets(&self, question: &Words, candidates: &[Candidate], likelihood: &dyn Fn(&[usize]) -> f32) -> Vec<TableSet> {
        // What the question's words say of how many tables there are.
        let mut sizes: BTreeMap<&str, f32> = BTreeMap::new();
        let stems: BTreeSet<&str> = question.words.iter().map(|word| word.stem.as_str()).collect();
        for met in stems.into_iter().filter_map(|stem| self.model.set.met("size", stem)) {
            met.iter().for_each(|(size, weight)| *sizes.entry(size.as_str()).or_default() += weight);
        }
        let score = |candidate: &Candidate| {
            self.model.set.score(&candidate.features)
                + sizes.get(sets::size(&candidate.tree)).copied().unwrap_or_default()
                + likelihood(&candidate.tree.tables).ln()
        };
        let scores: Vec<f32> = candidates.iter().map(score).collect();
        let mut sets: Vec<TableSet> = candidates
            .iter()
            .zip(tabsegnet_choice::likelihoods(&scores))
            .map(|(candidate, probability)| TableSet { tree: candidate.tree.clone(), probability })
            .collect();
        sets.sort_by(|a, b| b.probability.total_cmp(&a.probability).then_with(|| a.tree.tables.cmp(&b.tree.tables)));
        sets
    }
}

/// Letters of a question that are read.
const QUESTION: usize = 4000;

/// What the sets say of single tables and columns.
struct Marginals {
    tables: Vec<f32>,
    joins: Vec<f32>,
    best: Vec<bool>,
    size: f32,
}

impl Marginals {
    fn new(graph: &SchemaGraph, sets: &[TableSet]) -> Self {
        let mut tables = vec![0.0; graph.tables().len()];
        let mut joins = vec![0.0; graph.columns().len()];
        let mut best = vec![false; graph.columns().len()];
        for (place, set) in sets.iter().enumerate() {
            for &table in &set.tree.tables {
                if let Some(of) = tables.get_mut(table) {
                    *of += set.probability;
                }
            }
            let columns: BTreeSet<usize> = set
                .tree
                .joins
                .iter()
                .filter_map(|&join| graph.joins().get(join))
                .flat_map(|join| join.pairs.iter().flat_map(|&(a, b)| [a, b]))
                .collect();
            for column in columns {
                if let Some(of) = joins.get_mut(column) {
                    *of += set.probability;
                }
                if let (0, Some(of)) = (place, best.get_mut(column)) {
                    *of = true;
                }
            }
        }
        let size = sets.first().map_or(0.0, |best| best.tree.tables.len() as f32);
        Self { tables, joins, best, size }
    }

    fn table(&self, table: usize) -> f32 {
        self.tables.get(table).copied().unwrap_or_default().min(1.0)
    }

    fn features(
        &self,
        graph: &SchemaGraph,
        vocabulary: &Vocabulary,
        column: usize,
        mentioned: f32,
    ) -> Vec<(&'static str, f32)> {
        let odds = |p: f32| {
            let p = p.clamp(0.002, 0.998);
            (p / (1.0 - p)).ln()
        };
        let Some(node) = graph.columns().get(column) else { return Vec::new() };
        let (table, join) = (self.table(node.table), self.joins.get(column).copied().unwrap_or_default().min(1.0));
        let (refers, referred) = vocabulary.keys.get(column).copied().unwrap_or_default();
        let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
        vec![
            ("bias", 1.0),
            ("mentioned", odds(mentioned)),
            ("table", odds(table)),
            ("joins", odds(join)),
            ("mentioned and table", mentioned * table),
            ("mentioned or joins", mentioned.max(join)),
            ("in the best tree", flag(self.best.get(column).copied().unwrap_or_default())),
            ("primary key", flag(node.is_key)),
            ("primary key, table", flag(node.is_key) * table),
            ("refers", flag(refers)),
            ("refers, table", flag(refers) * table),
            ("referred to, table", flag(referred) * table),
            ("one table", flag(self.size < 1.5)),
        ]
    }
}

#[cfg(test)]
mod tests;
