//! How tables are joined: the smallest tree of foreign keys and relations that holds them all.

mod statement;
mod steiner;
mod traps;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

pub use statement::traps_of_statement;
pub use traps::{Trap, traps};

use crate::linking::{Words, alike};
use crate::schema_graph::{Cardinality, Join, JoinOrigin, SchemaGraph};
use steiner::Local;

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

    /// Its joins.
    pub fn joins_in<'g>(&self, graph: &'g SchemaGraph) -> impl Iterator<Item = &'g Join> {
        self.joins.iter().filter_map(|&join| graph.joins().get(join))
    }

    /// Whether a table that is joined may have several rows for one of `table`.
    pub fn repeats(&self, graph: &SchemaGraph, table: usize) -> bool {
        self.joins_in(graph).any(|join| join.to == table)
    }
}

/// What tables can be joined by, and how dear each is. A self-reference joins no two tables and is in no tree.
#[derive(Debug, Clone)]
pub struct Joiner<'g> {
    graph: &'g SchemaGraph,
    /// By table, numbers of joins from or to it, rising, without implied ones.
    by_table: Vec<Vec<usize>>,
    /// By the columns that refer to the same one, the lower first: the join that this implies.
    implied: HashMap<(usize, usize), usize>,
    /// By join, what tells it from others between the same tables.
    roles: Vec<Vec<String>>,
    /// By join, the cost without a question.
    plain: Vec<f64>,
    /// By join, the table that refers to the other.
    referring: Vec<Option<usize>>,
}

/// What a word of the question that tells of a key takes off its cost.
const ROLE: f64 = 0.05;

/// What a word that would tell of a key and is not there adds: the plainest key is the one nobody needs to tell of.
const UNTOLD: f64 = 0.005;

/// What a key adds that is named after the table that refers by it, as `friend_id` of `friend` is, where another key of the table
/// leads to the same one: it is of whom the row tells the other, and rows are counted and listed by the other.
const NAMED_AFTER_OWN: f64 = 2.0 * UNTOLD;

/// What names of columns that are equal take off.
const SAME_NAME: f64 = 0.02;

/// What a column that has the whole name of a table that it joins takes off.
const NAMES_TABLE: f64 = 0.03;

impl<'g> Joiner<'g> {
    /// All joins of a graph.
    pub fn new(graph: &'g SchemaGraph) -> Self {
        let mut by_table = vec![Vec::new(); graph.tables().len()];
        let joins = graph.joins().iter().enumerate();
        for (number, join) in joins.filter(|(_, join)| join.from != join.to && join.origin != JoinOrigin::Implied) {
            for table in [join.from, join.to] {
                if let Some(joins) = by_table.get_mut(table) {
                    joins.push(number);
                }
            }
        }
        let implied = |(number, join): (usize, &Join)| match join.pairs.as_slice() {
            [(a, b)] if join.origin == JoinOrigin::Implied => Some((((*a).min(*b), (*a).max(*b)), number)),
            _ => None,
        };
        let implied = graph.joins().iter().enumerate().filter_map(implied).collect();
        let roles = graph.joins().iter().map(|join| role_words(graph, join)).collect();
        let plain = graph.joins().iter().map(|join| plain_cost(graph, join)).collect();
        let referring = graph.joins().iter().map(|join| referring(graph, join)).collect();
        Self { graph, by_table, implied, roles, plain, referring }
    }

    /// The cost of each join for a question. What the database or the semantic file says costs 1, what is guessed, or
    /// follows from two that are said, a little less than 2. A little comes off where both columns have one name, where
    /// a column has the name of one of the tables, and where the question has a word that tells this key from others,
    /// as "home" does where a game refers to a home and an away team.
    pub fn costs(&self, question: &Words) -> Vec<f64> {
        let cost = |(roles, plain): (&Vec<String>, &f64)| {
            let told: f64 = roles.iter().map(|role| told(question, role)).sum();
            let untold = roles.iter().filter(|role| told_by(question, role).is_none()).count();
            plain - ROLE * told.min(3.0) + UNTOLD * untold.min(3) as f64
        };
        self.roles.iter().zip(&self.plain).map(cost).collect()
    }

    /// That a join of a tree is by one of several keys to the same table, of which the question tells none, in sentences.
    pub(crate) fn undecided(&self, question: &Words, tree: &JoinTree) -> Vec<String> {
        let joins = self.graph.joins();
        let is_told = |join: &usize| {
            let roles = self.roles.get(*join).map_or(&[][..], Vec::as_slice);
            roles.is_empty() || roles.iter().any(|role| told_by(question, role).is_some())
        };
        let key = |join: &usize| {
            let pair = joins.get(*join).and_then(|join| join.pairs.first());
            pair.map_or_else(String::new, |(from, _)| self.graph.column_id(*from))
        };
        let undecided = tree.joins.iter().filter_map(|number| {
            let join = joins.get(*number)?;
            let beside = joins.iter().enumerate().filter(|(_, other)| {
                (other.from, other.to) == (join.from, join.to) && other.origin == JoinOrigin::Declared
            });
            let all: Vec<usize> = beside.map(|(number, _)| number).collect();
            let is_one = all.iter().filter(|other| tree.joins.contains(other)).count() == 1;
            (all.len() > 1 && is_one && !all.iter().any(is_told)).then(|| {
                let to = &self.graph.tables()[join.to].name;
                let keys: Vec<String> = all.iter().map(key).collect();
                format!("{} lead to {to}, and the question does not tell which of them is meant", keys.join(" and "))
            })
        });
        undecided.collect()
    }

    fn plain_cost(&self, join: usize) -> f64 {
        self.plain.get(join).copied().unwrap_or(1.0)
    }

    /// The cheapest tree that holds the tables; of trees that cost the same the one with the lowest numbers of joins.
    /// Numbers of tables that are not there are passed over; for no table it is empty. With more than eight tables it
    /// may be dearer than the cheapest by up to a factor of two.
    ///
    /// `costs` are those of [`SchemaGraph::joins`]; a join without one costs what it does without a question.
    pub fn tree(&self, tables: &[usize], costs: &[f64]) -> JoinTree {
        self.tree_without(tables, costs, None)
    }

    fn tree_without(&self, tables: &[usize], costs: &[f64], without: Option<usize>) -> JoinTree {
        let terminals: BTreeSet<usize> = tables.iter().copied().filter(|&table| table < self.by_table.len()).collect();
        let terminals: Vec<usize> = terminals.into_iter().collect();
        let joins = Local::new(self, &terminals, costs, without).cheapest(&terminals);
        self.tree_of(terminals, joins, costs)
    }

    /// What is the same for many trees among some tables.
    pub(crate) fn among(&self, tables: &[usize], costs: &[f64]) -> Among<'_> {
        Among { joiner: self, local: Local::new(self, tables, costs, None), costs: costs.to_vec() }
    }

    /// Tables in between to which two others refer by the same key are left out: what refers is joined directly.
    fn without_middles(&self, terminals: &[usize], mut joins: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut by_table: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &number in &joins {
            for table in self.graph.joins().get(number).into_iter().flat_map(|join| [join.from, join.to]) {
                by_table.entry(table).or_default().push(number);
            }
        }
        for (table, of) in by_table.into_iter().filter(|(table, _)| !terminals.contains(table)) {
            let [a, b] = of.as_slice() else { continue };
            if !joins.contains(a) || !joins.contains(b) {
                continue;
            }
            let referring = |number: usize| {
                let join = self.graph.joins().get(number).filter(|join| join.to == table)?;
                join.pairs.first().copied()
            };
            let (Some((from, key)), Some((other, same))) = (referring(*a), referring(*b)) else { continue };
            if let Some(&direct) = self.implied.get(&(from.min(other), from.max(other))).filter(|_| key == same) {
                joins.remove(a);
                joins.remove(b);
                joins.insert(direct);
            }
        }
        joins
    }

    fn tree_of(&self, terminals: Vec<usize>, joins: BTreeSet<usize>, costs: &[f64]) -> JoinTree {
        let joins = self.without_middles(&terminals, joins);
        let mut all: BTreeSet<usize> = terminals.into_iter().collect();
        let mut cost = 0.0;
        for &number in &joins {
            cost += costs.get(number).copied().unwrap_or_else(|| self.plain_cost(number));
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
        let mut reason = match (join.origin, &join.role) {
            (JoinOrigin::Declared, _) => format!("foreign key of {}", name(join.from)),
            (JoinOrigin::Curated, Some(role)) => format!("relation {role:?} of the semantic file"),
            (JoinOrigin::Curated, None) => "relation of the semantic file".to_owned(),
            (JoinOrigin::Implied, _) => "both refer to the same key".to_owned(),
            (JoinOrigin::Guessed, _) => "guessed from names, nothing declares it".to_owned(),
        };
        if join.pairs.len() > 1 {
            reason.push_str(", all of its columns");
        }
        let between: Vec<String> =
            [join.from, join.to].into_iter().filter(|table| !tables.contains(table)).map(name).collect();
        if !between.is_empty() {
            let stand = if between.len() == 1 { "stands" } else { "stand" };
            reason.push_str(&format!("; {} {stand} between", between.join(" and ")));
        }
        let same_ends = |other: &Join| {
            matches!(other.origin, JoinOrigin::Declared | JoinOrigin::Curated)
                && ((other.from, other.to) == (join.from, join.to) || (other.to, other.from) == (join.from, join.to))
        };
        let parallel = self.graph.joins().iter().filter(|other| same_ends(other)).count();
        if parallel > 1 {
            let told: Vec<String> =
                role_words(self.graph, join).iter().filter_map(|role| told_by(question, role)).collect();
            if told.is_empty() {
                reason.push_str(&format!("; one of {parallel} that join these tables, no word tells which"));
            } else {
                reason
                    .push_str(&format!("; of {parallel} that join these tables the one told by {:?}", told.join(" ")));
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

/// Trees among some tables.
pub(crate) struct Among<'j> {
    joiner: &'j Joiner<'j>,
    local: Local,
    costs: Vec<f64>,
}

impl Among<'_> {
    /// As [`Joiner::tree`], of some of the tables.
    pub(crate) fn tree(&self, tables: &[usize]) -> JoinTree {
        self.joiner.tree_of(tables.to_vec(), self.local.cheapest(tables), &self.costs)
    }
}

/// Stems that tell a key from others between the same tables: those of its columns and its role that neither the table
/// it leads to nor the column it names has, nor the table that it is named after: a question that has that means the table.
fn role_words(graph: &SchemaGraph, join: &Join) -> Vec<String> {
    let stems = |text: &str| Words::of_name(text).stems();
    let mut plain: BTreeSet<String> = ["id", "code", "key", "no", "number", "fk"].map(str::to_owned).into();
    plain.extend(stems_of_names(graph, join.to));
    if is_named_after_own(graph, join) {
        plain.extend(stems_of_names(graph, join.from));
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

/// The stems of a table's own name.
fn stems_of_name(graph: &SchemaGraph, table: usize) -> BTreeSet<String> {
    graph.tables().get(table).into_iter().flat_map(|table| Words::of_name(table.own_name()).stems()).collect()
}

/// And of all that it is called.
fn stems_of_names(graph: &SchemaGraph, table: usize) -> BTreeSet<String> {
    let table = graph.tables().get(table).into_iter();
    let names = table.flat_map(|table| table.names.iter().map(String::as_str).chain([table.own_name()]));
    names.flat_map(|name| Words::of_name(name).stems()).collect()
}

/// Whether a key has the whole name of the table that refers by it, and another of the table leads to the same one.
fn is_named_after_own(graph: &SchemaGraph, join: &Join) -> bool {
    let own = stems_of_name(graph, join.from);
    let name = |column: usize| graph.columns().get(column).map(|column| column.name.as_str()).unwrap_or_default();
    // Where both columns have one name, it is that of the key, whichever table is said to refer to the other.
    let names =
        join.pairs.iter().map(|&(from, to)| (name(from), name(to))).filter(|(from, to)| !from.eq_ignore_ascii_case(to));
    let stems: BTreeSet<String> = names.flat_map(|(from, _)| Words::of_name(from).stems()).collect();
    let parallel = || {
        let same = graph.joins().iter().filter(|other| (other.from, other.to) == (join.from, join.to));
        same.filter(|other| other.origin == join.origin).count() > 1
    };
    !own.is_empty() && own.is_subset(&stems) && parallel()
}

/// The cost of a join without a question.
fn plain_cost(graph: &SchemaGraph, join: &Join) -> f64 {
    let cost = match join.origin {
        JoinOrigin::Declared | JoinOrigin::Curated => 1.0,
        JoinOrigin::Implied | JoinOrigin::Guessed => 1.9,
    };
    let name = |column: usize| graph.columns().get(column).map(|column| column.name.to_lowercase());
    let same = join.pairs.iter().all(|&(a, b)| name(a) == name(b));
    let cost = cost - if same { SAME_NAME } else { 0.0 };
    match is_named_after_own(graph, join) {
        true => cost + NAMED_AFTER_OWN,
        false => cost - NAMES_TABLE * names_table(graph, join),
    }
}

/// Words that tell of two keys to one table which one is meant, by stems of words in the names of such keys.
#[rustfmt::skip]
const ENDS: [(&[&str], &[&str]); 4] = [
    (&["destin", "dest", "to", "arriv", "arr", "target", "receiv", "dropoff"],
     &["to", "into", "arriv", "bound", "toward", "destin", "reach", "land"]),
    (&["origin", "from", "sourc", "src", "depart", "departur", "dep", "send", "sender", "pickup"],
     &["from", "leav", "left", "depart", "origin"]),
    (&["winner", "victor"], &["won", "win", "beat"]),
    (&["loser"], &["lost", "lose", "defeat"]),
];

/// The word of the question that tells of a role: of the same stem, of the same end of two, or most of it.
fn told_by(question: &Words, role: &str) -> Option<String> {
    let found = question.words.iter().find(|word| word.stem == role);
    let ends = || {
        let (_, told) = ENDS.iter().find(|(roles, _)| roles.contains(&role))?;
        question.words.iter().find(|word| told.contains(&word.stem.as_str()))
    };
    let found = found.or_else(ends);
    let found = found.or_else(|| question.words.iter().find(|word| !word.is_stop && alike(&word.stem, role) >= 0.6));
    found.map(|word| word.text.clone())
}

fn told(question: &Words, role: &str) -> f64 {
    if question.has(role) {
        1.0
    } else if told_by(question, role).is_some() {
        0.5
    } else {
        0.0
    }
}

/// The table of a join that refers to the other: the one with many rows for one; where no cardinality tells, the one whose
/// partner's name the columns have.
fn referring(graph: &SchemaGraph, join: &Join) -> Option<usize> {
    if join.cardinality == Cardinality::ManyToOne {
        return Some(join.from);
    }
    let (from, to) = names_of_tables(graph, join);
    (from != to).then_some(if to > from { join.from } else { join.to })
}

/// How much of the name of one of its tables a join's columns have, 0 to 1.
fn names_table(graph: &SchemaGraph, join: &Join) -> f64 {
    let (from, to) = names_of_tables(graph, join);
    from.max(to)
}

/// How much of the names of its two tables a join's columns have, each 0 to 1; words that both tables have tell nothing.
fn names_of_tables(graph: &SchemaGraph, join: &Join) -> (f64, f64) {
    let (from, to) = (stems_of_name(graph, join.from), stems_of_name(graph, join.to));
    let columns: BTreeSet<String> = join
        .pairs
        .iter()
        .flat_map(|&(a, b)| [a, b])
        .filter_map(|column| graph.columns().get(column))
        .flat_map(|column| Words::of_name(&column.name).stems())
        .collect();
    let share = |own: &BTreeSet<String>, other: &BTreeSet<String>| {
        let own: BTreeSet<&String> = own.difference(other).collect();
        if own.is_empty() {
            0.0
        } else {
            own.iter().filter(|stem| columns.contains(**stem)).count() as f64 / own.len() as f64
        }
    };
    (share(&from, &to), share(&to, &from))
}

#[cfg(test)]
mod tests;
