//! Joins as SGAM has them, for comparison: from each table a path to one key, v* (eq. 8), pruned (eq. 10) and merged.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tabsegnet_sql::joins::JoinTree;
use tabsegnet_sql::schema_graph::{JoinOrigin, SchemaGraph};

/// v*: the column of a primary key that the primary keys of most tables are or refer to, of several the first
/// declared. Depth in eq. 8 is not defined where keys have several columns. None where no table has a key.
fn anchor(graph: &SchemaGraph) -> Option<usize> {
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
pub fn paths_to_anchor(graph: &SchemaGraph, tables: &[usize]) -> JoinTree {
    let wanted: BTreeSet<usize> = tables.iter().copied().filter(|&table| table < graph.tables().len()).collect();
    let root = anchor(graph).and_then(|column| graph.columns().get(column)).map(|column| column.table);
    // By table, the join that leads towards v*, and the table behind it.
    let mut towards: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut open: VecDeque<usize> = root.into_iter().collect();
    while let Some(table) = open.pop_front() {
        let of_table = graph.joins().iter().enumerate().filter(|(_, join)| {
            join.origin != JoinOrigin::Implied && join.from != join.to && [join.from, join.to].contains(&table)
        });
        for (number, join) in of_table {
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

#[cfg(test)]
mod tests {
    use tabsegnet_sql::Schema;
    use tabsegnet_sql::schema_graph::{Semantics, SqlDialect};

    use super::*;

    fn of(ddl: &str) -> SchemaGraph {
        let (schema, _) = Schema::from_ddl(ddl, SqlDialect::Generic).unwrap();
        SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Generic).unwrap()
    }

    #[test]
    fn paths_to_one_key_are_merged_and_their_idle_ends_cut() {
        let graph = of("CREATE TABLE crash (caseid INT PRIMARY KEY, day TEXT);
             CREATE TABLE vehicle (caseid INT REFERENCES crash, no INT, make TEXT, PRIMARY KEY (caseid, no));
             CREATE TABLE occupant (caseid INT, no INT, seat INT, age INT, PRIMARY KEY (caseid, no, seat),
                                    FOREIGN KEY (caseid, no) REFERENCES vehicle (caseid, no));
             CREATE TABLE note (id INT PRIMARY KEY, caseid INT REFERENCES crash);
             CREATE TABLE island (x INT)");
        assert_eq!(graph.column_id(anchor(&graph).unwrap()), "crash.caseid");
        let tree = |names: &[&str]| {
            let numbers: Vec<usize> = names.iter().map(|name| graph.table(name).unwrap()).collect();
            let tree = paths_to_anchor(&graph, &numbers);
            let joins = tree.joins_in(&graph).flat_map(|join| &join.pairs);
            let pairs = joins.map(|&(a, b)| format!("{}={}", graph.column_id(a), graph.column_id(b)));
            (pairs.collect::<Vec<String>>(), tree.is_connected())
        };
        let (vehicle, note) = ("vehicle.caseid=crash.caseid", "note.caseid=crash.caseid");
        let occupant = ["occupant.caseid=vehicle.caseid", "occupant.no=vehicle.no"];
        // Both paths lead over the vehicle to the crash, which nothing asks for.
        assert_eq!(tree(&["occupant", "vehicle"]), (occupant.map(str::to_owned).to_vec(), true));
        assert_eq!(
            tree(&["note", "occupant"]),
            ([vehicle, occupant[0], occupant[1], note].map(str::to_owned).to_vec(), true)
        );
        assert_eq!(tree(&["vehicle"]), (vec![], true));
        assert_eq!(tree(&["island", "crash"]), (vec![], false));
        let none = of("CREATE TABLE a (x INT)");
        assert_eq!((anchor(&none), paths_to_anchor(&none, &[0, 9]).tables), (None, vec![0]));
    }
}
