//! The cheapest tree that holds some tables (Dreyfus and Wagner, 1971), in the part of the graph that can matter.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::Joiner;

/// So many tables are joined by the exact method, which takes 3^tables steps.
const EXACT: usize = 8;

/// Where no more tables than these can be reached, all of them are looked at.
const ALL: usize = 64;

/// In larger schemas: by how many joins a path may be longer than the shortest and still be looked at.
const DETOUR: usize = 1;

/// A cost and the joins that make it, in this order: of the same cost the lowest numbers of joins.
type Found = Option<(f64, BTreeSet<usize>)>;

fn better(new: &(f64, BTreeSet<usize>), old: &Found) -> bool {
    const EQUAL: f64 = 1e-9;
    match old {
        None => true,
        Some(old) if new.0 < old.0 - EQUAL => true,
        Some(old) => new.0 < old.0 + EQUAL && new.1 < old.1,
    }
}

/// The tables that can matter for joining some of them, with what joins them.
pub(super) struct Local {
    /// By place, what leads from there: place, join, cost. Of joins between the same tables the cheapest.
    edges: Vec<Vec<(usize, usize, f64)>>,
    /// By place, the places that it refers to by joins that are said to be there.
    refers: Vec<BTreeSet<usize>>,
    places: HashMap<usize, usize>,
    /// By place, which part of what is connected it is in.
    parts: Vec<usize>,
}

/// What a join of a table that refers to many of the others takes off, at most: a star of what a row refers to rather than a
/// chain through it.
const STAR: f64 = 0.1;

/// What is guessed costs more.
const SAID: f64 = 1.5;

impl Local {
    pub(super) fn new(joiner: &Joiner<'_>, terminals: &[usize], costs: &[f64], without: Option<usize>) -> Self {
        let far: Vec<HashMap<usize, usize>> =
            terminals.iter().map(|&table| distances(joiner, table, without)).collect();
        let mut nodes: BTreeSet<usize> = terminals.iter().copied().collect();
        if far.iter().map(HashMap::len).max().unwrap_or_default() <= ALL {
            nodes.extend(far.iter().flat_map(HashMap::keys));
        } else {
            // Tables on a path between two of them that is hardly longer than the shortest.
            for (a, from) in far.iter().enumerate() {
                for (to, &end) in far.iter().zip(terminals).skip(a + 1) {
                    let Some(&direct) = from.get(&end) else { continue };
                    let within = |(table, distance): (&usize, &usize)| {
                        to.get(table).is_some_and(|rest| distance + rest <= direct + DETOUR).then_some(*table)
                    };
                    nodes.extend(from.iter().filter_map(within));
                }
            }
        }
        let nodes: Vec<usize> = nodes.into_iter().collect();
        let places: HashMap<usize, usize> = nodes.iter().copied().zip(0..).collect();
        let mut edges: Vec<Vec<(usize, usize, f64)>> = Vec::with_capacity(nodes.len());
        let mut refers: Vec<BTreeSet<usize>> = Vec::with_capacity(nodes.len());
        for &table in &nodes {
            let mut best: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
            for (join, other) in joiner.joins_of(table) {
                let Some(&to) = places.get(&other) else { continue };
                let cost = costs.get(join).copied().unwrap_or_else(|| joiner.plain_cost(join));
                if Some(join) != without && best.get(&to).is_none_or(|old| cost < old.0) {
                    best.insert(to, (cost, join));
                }
            }
            let is_referring = |join: usize| joiner.referring.get(join).is_some_and(|of| *of == Some(table));
            let referred = best.iter().filter(|(_, (cost, join))| *cost < SAID && is_referring(*join));
            refers.push(referred.map(|(to, _)| *to).collect());
            edges.push(best.into_iter().map(|(to, (cost, join))| (to, join, cost)).collect());
        }
        let mut parts = vec![usize::MAX; edges.len()];
        for start in 0..edges.len() {
            let mut open = vec![start];
            while let Some(place) = open.pop() {
                if let Some(part) = parts.get_mut(place).filter(|part| **part == usize::MAX) {
                    *part = start;
                    open.extend(edges.get(place).into_iter().flatten().map(|(to, ..)| *to));
                }
            }
        }
        Self { edges, refers, places, parts }
    }

    /// The joins of the cheapest tree that holds the tables, or forest where nothing connects some of them.
    pub(super) fn cheapest(&self, terminals: &[usize]) -> BTreeSet<usize> {
        let ends: Vec<usize> = terminals.iter().filter_map(|table| self.places.get(table).copied()).collect();
        let mut by_part: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &end in &ends {
            by_part.entry(self.parts.get(end).copied().unwrap_or_default()).or_default().push(end);
        }
        by_part.into_values().flat_map(|ends| self.connected(&ends)).collect()
    }

    fn connected(&self, ends: &[usize]) -> BTreeSet<usize> {
        if ends.len() < 2 {
            return BTreeSet::new();
        }
        let mut edges = self.edges.clone();
        if ends.len() > 2 {
            let to_ends = |refers: &BTreeSet<usize>| refers.iter().filter(|to| ends.contains(to)).count() as f64;
            let shares: Vec<f64> = self.refers.iter().map(|refers| to_ends(refers) / (ends.len() - 1) as f64).collect();
            let of = |place: usize| shares.get(place).copied().unwrap_or_default();
            for (place, edges) in edges.iter_mut().enumerate() {
                edges.iter_mut().for_each(|(to, _, cost)| *cost -= STAR * of(place).max(of(*to)));
            }
        }
        if ends.len() > EXACT { path_by_path(&edges, ends) } else { exact(&edges, ends) }
    }
}

/// How many joins away each table is that can be reached.
fn distances(joiner: &Joiner<'_>, from: usize, without: Option<usize>) -> HashMap<usize, usize> {
    let mut found = HashMap::from([(from, 0)]);
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((table, distance)) = queue.pop_front() {
        for (join, other) in joiner.joins_of(table) {
            if Some(join) != without && !found.contains_key(&other) {
                found.insert(other, distance + 1);
                queue.push_back((other, distance + 1));
            }
        }
    }
    found
}

/// Relaxes all nodes from those that have a value, the cheapest first.
fn spread(edges: &[Vec<(usize, usize, f64)>], found: &mut [Found]) {
    let mut done = vec![false; found.len()];
    loop {
        let mut next: Option<usize> = None;
        for (place, value) in found.iter().enumerate() {
            let Some(value) = value else { continue };
            let is_best = next.and_then(|best| found.get(best)).is_none_or(|best| better(value, best));
            if !done.get(place).copied().unwrap_or(true) && is_best {
                next = Some(place);
            }
        }
        let Some(place) = next else { return };
        if let Some(done) = done.get_mut(place) {
            *done = true;
        }
        let Some((cost, joins)) = found.get(place).cloned().flatten() else { continue };
        for &(to, join, more) in edges.get(place).into_iter().flatten() {
            let Some(old) = found.get_mut(to) else { continue };
            // Most offers are dearer; only the others are worth a set of their own.
            if old.as_ref().is_some_and(|old| old.0 + 1e-6 < cost + more) {
                continue;
            }
            let mut with = joins.clone();
            with.insert(join);
            let new = (cost + more, with);
            if better(&new, old) {
                *old = Some(new);
            }
        }
    }
}

fn exact(edges: &[Vec<(usize, usize, f64)>], ends: &[usize]) -> BTreeSet<usize> {
    let Some((&root, others)) = ends.split_last() else { return BTreeSet::new() };
    let full = (1_usize << others.len()) - 1;
    // By set of ends, by node: the cheapest tree that holds them and the node.
    let mut trees: Vec<Vec<Found>> = vec![vec![None; edges.len()]; full + 1];
    for set in 1..=full {
        let mut found: Vec<Found> = vec![None; edges.len()];
        if set.is_power_of_two() {
            let end = others.get(set.trailing_zeros() as usize).copied().unwrap_or_default();
            if let Some(start) = found.get_mut(end) {
                *start = Some((0.0, BTreeSet::new()));
            }
        } else {
            let mut part = (set - 1) & set;
            while part > 0 {
                if part >= set & !part {
                    let (Some(a), Some(b)) = (trees.get(part), trees.get(set & !part)) else { break };
                    for ((a, b), old) in a.iter().zip(b).zip(&mut found) {
                        let (Some(a), Some(b)) = (a, b) else { continue };
                        if old.as_ref().is_some_and(|old| old.0 + 1e-6 < a.0 + b.0) {
                            continue;
                        }
                        let new = (a.0 + b.0, a.1.union(&b.1).copied().collect());
                        if better(&new, old) {
                            *old = Some(new);
                        }
                    }
                }
                part = (part - 1) & set;
            }
        }
        spread(edges, &mut found);
        if let Some(place) = trees.get_mut(set) {
            *place = found;
        }
    }
    let best = trees.get(full).and_then(|found| found.get(root)).cloned().flatten();
    best.map(|(_, joins)| joins).unwrap_or_default()
}

/// One table after the other, each by the cheapest path to what is joined already (Takahashi and Matsuyama, 1980).
fn path_by_path(edges: &[Vec<(usize, usize, f64)>], ends: &[usize]) -> BTreeSet<usize> {
    let mut ends: Vec<usize> = ends.to_vec();
    let mut inside: BTreeSet<usize> = BTreeSet::new();
    let mut joins = BTreeSet::new();
    if !ends.is_empty() {
        inside.insert(ends.remove(0));
    }
    while !ends.is_empty() {
        let mut found: Vec<Found> = vec![None; edges.len()];
        for &node in &inside {
            if let Some(start) = found.get_mut(node) {
                *start = Some((0.0, BTreeSet::new()));
            }
        }
        spread(edges, &mut found);
        let value = |end: usize| found.get(end).cloned().flatten();
        let nearest = (0..ends.len()).min_by(|&a, &b| {
            let cost = |at: usize| ends.get(at).and_then(|&end| value(end)).map_or(f64::INFINITY, |found| found.0);
            cost(a).total_cmp(&cost(b))
        });
        let Some(nearest) = nearest else { break };
        let end = ends.remove(nearest);
        inside.insert(end);
        let path = value(end).map(|(_, path)| path).unwrap_or_default();
        for (node, of) in edges.iter().enumerate() {
            if of.iter().any(|(_, join, _)| path.contains(join)) {
                // Both ends of a join on the path have it among their edges, others may have a parallel one alone.
                inside.insert(node);
            }
        }
        joins.extend(path);
    }
    joins
}
