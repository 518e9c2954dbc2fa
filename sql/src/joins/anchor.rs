//! Joins as SGAM has them, for comparison: from each table a path to one key, v* (eq. 8), pruned (eq. 10) and merged.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{JoinTree, Joiner};

impl Joiner<'_> {
    /// v*: the column of a primary key that the primary keys of most tables are or refer to, of several the first
    /// declared. Depth in eq. 8 is not defined where keys have several columns. None where no table has a key.
    pub fn anchor(&self) -> Option<usize> {
        let graph = self.graph;
        let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for join in graph.joins() {
            join.pairs.iter().for_each(|&(from, to)| next.entry(from).or_default().push(to));
        }
        // By column of a key, the tables whose keys lead to it.
        let mut tables: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (number, table) in graph.tables().iter().enumerate() {
            let mut seen: BTreeSet<usize> = table.primary_key.iter().copied().collect();
            let mut open: Vec<usize> = table.primary_key.clone();
            while let Some(column) = open.pop() {
                if graph.columns().get(column).is_some_and(|column| column.is_key) {
                    tables.entry(column).or_default().insert(number);
                }
                open.extend(next.get(&column).into_iter().flatten().filter(|to| seen.insert(**to)));
            }
        }
        tables.into_iter().max_by_key(|(column, of)| (of.len(), std::cmp::Reverse(*column))).map(|(column, _)| column)
    }

    /// From each table the shortest path of joins to the table of v*, all of them merged. What is cut off (eq. 10) are
    /// ends that no table needs; eq. 10 as it is written would drop the tables themselves. Tables without a path stay
    /// alone.
    pub fn paths_to_anchor(&self, tables: &[usize]) -> JoinTree {
        let wanted: BTreeSet<usize> = tables.iter().copied().filter(|&table| table < self.by_table.len()).collect();
        let root = self.anchor().and_then(|column| self.graph.columns().get(column)).map(|column| column.table);
        // By table, the join that leads towards v*, and the table behind it.
        let mut towards: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut open: VecDeque<usize> = root.into_iter().collect();
        while let Some(table) = open.pop_front() {
            for &number in self.by_table.get(table).into_iter().flatten() {
                let Some(join) = self.graph.joins().get(number) else { continue };
                let other = if join.from == table { join.to } else { join.from };
                if Some(other) != root && !towards.contains_key(&other) {
                    towards.insert(other, (number, table));
                    open.push_back(other);
                }
            }
        }
        let mut joins: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for &table in &wanted {
            let mut at = table;
            while let Some(&(join, next)) = towards.get(&at) {
                joins.insert(join, (at, next));
                at = next;
            }
        }
        loop {
            let mut ends: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (&join, &(a, b)) in &joins {
                [a, b].into_iter().for_each(|table| ends.entry(table).or_default().push(join));
            }
            let idle = ends.iter().find(|(table, of)| of.len() == 1 && !wanted.contains(table));
            let Some(join) = idle.and_then(|(_, of)| of.first().copied()) else { break };
            joins.remove(&join);
        }
        let mut all = wanted;
        all.extend(joins.values().flat_map(|&(a, b)| [a, b]));
        let cost = joins.len() as f64;
        JoinTree { tables: all.into_iter().collect(), joins: joins.into_keys().collect(), cost }
    }
}
