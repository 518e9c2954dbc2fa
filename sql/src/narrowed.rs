//! Of a schema with very many tables those that a question may be about.
//!
//! To read values of all tables and to weigh all of them with each other takes longer than anybody waits. The words of
//! the question in the names of tables and columns leave some hundreds; their values are read as of any other.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::generate::Labels;
use crate::linking::Words;
use crate::propose::Target;
use crate::schema::{ColumnInfo, Schema};
use crate::schema_graph::{Semantics, SqlDialect};

/// So many tables are looked at.
const TABLES: usize = 200;

/// So many of them for their own words, before those that they are joined with.
const BY_WORDS: usize = 150;

/// So many columns.
const COLUMNS: usize = 10_000;

/// Letters of a question that are read.
const LETTERS: usize = 4000;

/// A part of a schema, and of what is known beside it.
#[derive(Debug, Clone)]
pub struct Narrowed {
    /// The tables and views.
    pub schema: Schema,
    /// What the schema does not say of itself.
    pub semantics: Semantics,
    labels: Labels,
    left_out: usize,
}

/// The tables that a question may be about; none where all of them can be looked at.
pub fn narrowed(question: &str, target: Target<'_>) -> Option<Narrowed> {
    let (tables, views) = (&target.schema.tables, &target.schema.views);
    let named = tables.iter().map(|table| (table.name.as_str(), table.columns.as_slice()));
    let named: Vec<(&str, &[ColumnInfo])> =
        named.chain(views.iter().map(|view| (view.name.as_str(), view.columns.as_slice()))).collect();
    if named.len() <= TABLES && named.iter().map(|(_, columns)| columns.len()).sum::<usize>() <= COLUMNS {
        return None;
    }
    let scores = scores(question, &named, target);
    let kept = kept(&scores, &named, target);
    let names: HashSet<String> = named
        .iter()
        .enumerate()
        .filter(|(at, _)| kept.contains(at))
        .map(|(_, (name, _))| name.to_lowercase())
        .collect();
    let has = |name: &str| names.contains(&name.to_lowercase());
    let known: HashSet<String> = named.iter().map(|(name, _)| name.to_lowercase()).collect();
    // What is said of a table that nobody has stays, to be told of.
    let stays = |name: &str| has(name) || !known.contains(&name.to_lowercase());
    let mut schema = target.schema.clone();
    schema.tables.retain(|table| has(&table.name));
    schema.views.retain(|view| has(&view.name));
    // Where time is short, values are read of the first.
    let by_name: HashMap<String, f64> =
        named.iter().zip(&scores).map(|((name, _), score)| (name.to_lowercase(), *score)).collect();
    let score = |name: &str| by_name.get(&name.to_lowercase()).copied().unwrap_or_default();
    schema.tables.sort_by(|a, b| score(&b.name).total_cmp(&score(&a.name)));
    for table in &mut schema.tables {
        table.foreign_keys.retain(|key| stays(&key.table));
    }
    let mut semantics = target.semantics.clone();
    semantics.tables.retain(|table, _| stays(table));
    semantics.relations.retain(|relation| stays(&relation.from) && stays(&relation.to));
    let labels = target.labels.iter().filter(|((table, _), _)| has(table));
    let labels = labels.map(|(key, label)| (key.clone(), label.clone())).collect();
    let left_out = named.len().saturating_sub(schema.tables.len() + schema.views.len());
    Some(Narrowed { schema, semantics, labels, left_out })
}

impl Narrowed {
    /// What a question is put to instead.
    pub fn target(&self, dialect: SqlDialect) -> Target<'_> {
        Target { schema: &self.schema, semantics: &self.semantics, dialect, labels: &self.labels }
    }

    /// How many tables were left out, in a sentence.
    pub fn note(&self) -> String {
        let left = self.schema.tables.len() + self.schema.views.len();
        format!(
            "{} tables were not looked at, only the {left} whose names have most words of the question",
            self.left_out
        )
    }
}

/// How many words of the question the names of each table have, by how much each tells; a column's counts for half.
fn scores(question: &str, named: &[(&str, &[ColumnInfo])], target: Target<'_>) -> Vec<f64> {
    let words = Words::of(&question.chars().take(LETTERS).collect::<String>()).words;
    let wanted: HashSet<String> = words.into_iter().filter(|word| !word.is_stop).map(|word| word.stem).collect();
    let said: HashMap<String, _> =
        target.semantics.tables.iter().map(|(name, said)| (name.to_lowercase(), said)).collect();
    let mut called: HashMap<&str, Vec<&str>> = HashMap::new();
    for ((table, _), label) in target.labels {
        called.entry(table).or_default().push(label);
    }
    let found: Vec<(BTreeSet<String>, BTreeSet<String>)> = named
        .iter()
        .map(|(name, columns)| {
            let said = said.get(&name.to_lowercase());
            let of_table = said.iter().flat_map(|said| said.name.iter().chain(&said.synonyms)).map(String::as_str);
            let of_columns = said.iter().flat_map(|said| &said.columns);
            let of_columns = of_columns.flat_map(|(name, said)| {
                std::iter::once(name).chain(&said.name).chain(&said.synonyms).map(String::as_str)
            });
            let labels = called.get(name).into_iter().flatten().copied();
            (
                met(&wanted, std::iter::once(*name).chain(of_table)),
                met(&wanted, columns.iter().map(|column| column.name.as_str()).chain(of_columns).chain(labels)),
            )
        })
        .collect();
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for (of_table, of_columns) in &found {
        for stem in of_table.union(of_columns) {
            *counts.entry(stem).or_default() += 1.0;
        }
    }
    let all = named.len() as f64;
    let tells = |stem: &String| (1.0 + all / counts.get(stem.as_str()).copied().unwrap_or(1.0)).ln();
    let score = |(of_table, of_columns): &(BTreeSet<String>, BTreeSet<String>)| {
        of_table.iter().map(tells).sum::<f64>() + of_columns.iter().map(tells).sum::<f64>() / 2.0
    };
    found.iter().map(score).collect()
}

/// The stems of names that are wanted.
fn met<'n>(wanted: &HashSet<String>, names: impl Iterator<Item = &'n str>) -> BTreeSet<String> {
    names.flat_map(|name| Words::of_name(name).stems()).filter(|stem| wanted.contains(stem)).collect()
}

/// The numbers of the best tables and of those that they are joined with, by the number of tables and columns; of equal
/// ones the first.
fn kept(scores: &[f64], named: &[(&str, &[ColumnInfo])], target: Target<'_>) -> BTreeSet<usize> {
    let mut order: Vec<usize> = (0..named.len()).collect();
    let score = |at: usize| scores.get(at).copied().unwrap_or_default();
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    let places: HashMap<String, usize> =
        named.iter().enumerate().map(|(at, (name, _))| (name.to_lowercase(), at)).collect();
    let mut joined: HashMap<usize, Vec<usize>> = HashMap::new();
    let keys = target
        .schema
        .tables
        .iter()
        .flat_map(|table| table.foreign_keys.iter().map(move |key| (&table.name, &key.table)));
    let said = target.semantics.relations.iter().map(|relation| (&relation.from, &relation.to));
    for (from, to) in keys.chain(said) {
        if let (Some(&from), Some(&to)) = (places.get(&from.to_lowercase()), places.get(&to.to_lowercase())) {
            joined.entry(from).or_default().push(to);
            joined.entry(to).or_default().push(from);
        }
    }
    let best: Vec<usize> = order.iter().copied().take(BY_WORDS).filter(|&at| score(at) > 0.0).collect();
    let beside = best.iter().flat_map(|at| joined.get(at).into_iter().flatten().copied());
    let (mut kept, mut columns) = (BTreeSet::new(), 0);
    for at in best.iter().copied().chain(beside).chain(order.iter().copied()) {
        let width = named.get(at).map_or(0, |(_, columns)| columns.len());
        if kept.len() < TABLES && (columns + width <= COLUMNS || kept.is_empty()) && kept.insert(at) {
            columns += width;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` tables in a row, each of which refers to the one before it.
    fn many(n: usize) -> Schema {
        let ddl: Vec<String> = (0..n)
            .map(|at| {
                let before = at.saturating_sub(1);
                format!(
                    "CREATE TABLE tab{at} (id INT PRIMARY KEY, name TEXT, v{at} INT, prev INT REFERENCES tab{before});"
                )
            })
            .collect();
        Schema::from_ddl(&ddl.concat(), SqlDialect::Generic).unwrap().0
    }

    #[test]
    fn few_tables_stay_as_they_are() {
        let (schema, semantics, labels) = (many(TABLES), Semantics::default(), Labels::new());
        let target = Target { schema: &schema, semantics: &semantics, dialect: SqlDialect::Generic, labels: &labels };
        assert!(narrowed("name of tab7", target).is_none());
    }

    #[test]
    fn of_very_many_tables_those_of_the_question_stay_with_what_joins_them() {
        let (schema, labels) = (many(3000), Labels::new());
        let semantics = Semantics::parse(
            "[tables.tab17]\nsynonyms = ['walrus']\n[tables.tab18]\nname = 'x'\n[tables.nowhere]\nname = 'y'",
        )
        .unwrap();
        let target = Target { schema: &schema, semantics: &semantics, dialect: SqlDialect::Generic, labels: &labels };
        let found = narrowed("the walrus of tab2345 with the largest v2345", target).unwrap();
        let names: HashSet<&str> = found.schema.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names.len(), TABLES);
        for name in ["tab2345", "tab2344", "tab2346", "tab17", "tab18"] {
            assert!(names.contains(name), "{name}");
        }
        assert_eq!(found.schema.tables[0].name, "tab2345", "its values are read first");
        // No key leads to what is left out; what is said of no table at all is still told of.
        let mut keys = found.schema.tables.iter().flat_map(|table| &table.foreign_keys);
        assert!(keys.all(|key| names.contains(key.table.as_str())));
        assert!(found.semantics.tables.contains_key("nowhere"));
        assert!(found.note().starts_with("2800 tables were not looked at"), "{}", found.note());
    }

    #[test]
    fn very_many_columns_are_cut_too() {
        let columns: Vec<String> = (0..1000).map(|at| format!("c{at} INT")).collect();
        let ddl: Vec<String> = (0..20).map(|at| format!("CREATE TABLE tab{at} ({});", columns.join(", "))).collect();
        let (schema, _) = Schema::from_ddl(&ddl.concat(), SqlDialect::Generic).unwrap();
        let (semantics, labels) = (Semantics::default(), Labels::new());
        let target = Target { schema: &schema, semantics: &semantics, dialect: SqlDialect::Generic, labels: &labels };
        let found = narrowed("c5 of tab19", target).unwrap();
        assert_eq!(found.schema.tables.len(), 10);
        assert!(found.schema.tables[..2].iter().any(|table| table.name == "tab19"));
    }
}
