//! Operations on graphs of any kind, each against what its documentation says.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::arbitrary_document;
use crate::{Adjacency, EdgeType, Graph, GraphError, GridNode as _, NodeRef, TypeNames};

const NAMES: [&str; 3] = ["joins", "holds", "refers_to"];

fn names() -> TypeNames {
    TypeNames::new(NAMES).unwrap()
}

/// Source, destination, type.
type Edge = (u32, u32, u8);

/// Nodes without a text, with weighted edges of three types.
fn arbitrary_graph() -> impl Strategy<Value = (Graph<u32>, Vec<Edge>)> {
    (1..12_u32).prop_flat_map(|nodes| {
        let edge = ((0..nodes, 0..nodes, 0..3_u8), prop_oneof![Just(1.0_f32), 0.0..9.0_f32]);
        prop::collection::vec(edge, 0..30).prop_map(move |edges| {
            let (edges, weights): (Vec<Edge>, Vec<f32>) = edges.into_iter().unzip();
            let adjacency = Adjacency::weighted(nodes as usize, names(), &edges, &weights).unwrap();
            (Graph::new((0..nodes).collect(), adjacency).unwrap(), edges)
        })
    })
}

fn wanted() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(NAMES.to_vec(), 0..=3)
}

/// Edges of the types named, source and destination.
fn of_types(edges: &[Edge], types: &[&str]) -> BTreeSet<(u32, u32)> {
    let wanted = |number: &u8| types.contains(&NAMES[usize::from(*number)]);
    edges
        .iter()
        .filter(|(_, _, number)| wanted(number))
        .map(|&(source, destination, _)| (source, destination))
        .collect()
}

proptest! {
    #[test]
    fn edges_among_some_nodes_are_those_with_both_ends_there((graph, _) in arbitrary_graph(), chosen in any::<u16>()) {
        let all = graph.adjacency();
        let nodes: Vec<u32> = (0..all.nodes() as u32).filter(|node| chosen >> node & 1 == 1).collect();
        let place = |node: u32| nodes.binary_search(&node).ok().map(|place| place as u32);
        let edges = all.iter().enumerate().filter_map(|(edge, (from, to, of_type))| {
            Some(((place(from)?, place(to)?, of_type), all.weight(edge)))
        });
        let (edges, weights): (Vec<Edge>, Vec<f32>) = edges.unzip();
        prop_assert_eq!(all.among(&nodes), Adjacency::weighted(nodes.len(), names(), &edges, &weights).unwrap());
    }

    #[test]
    fn neighbours_are_the_sources_of_edges_of_the_types((graph, edges) in arbitrary_graph(), types in wanted()) {
        let joined = of_types(&edges, &types);
        for node in 0..graph.nodes().len() as u32 + 2 {
            let sources: Vec<u32> = joined.iter().filter(|(_, to)| *to == node).map(|&(from, _)| from).collect();
            prop_assert_eq!(graph.neighbours(node, &types).unwrap(), sources);
        }
    }

    #[test]
    fn a_path_follows_edges_of_the_types_and_none_is_shorter((graph, edges) in arbitrary_graph(), types in wanted()) {
        let joined = of_types(&edges, &types);
        let nodes = graph.nodes().len() as u32;
        for from in 0..nodes {
            // Nodes that so many steps reach, and no fewer.
            let (mut reached, mut front) = (BTreeSet::from([from]), BTreeSet::from([from]));
            let mut steps = 0;
            while !front.is_empty() {
                for &to in &front {
                    let path = graph.path(from, to, &types).unwrap().unwrap();
                    prop_assert_eq!((path.len() - 1, path[0], path[path.len() - 1]), (steps, from, to));
                    prop_assert!(path.windows(2).all(|pair| joined.contains(&(pair[0], pair[1]))));
                }
                let next = joined.iter().filter(|(source, _)| front.contains(source)).map(|&(_, to)| to);
                front = next.filter(|to| !reached.contains(to)).collect();
                reached.extend(&front);
                steps += 1;
            }
            for to in (0..nodes + 2).filter(|to| !reached.contains(to)) {
                prop_assert_eq!(graph.path(from, to, &types).unwrap(), None);
            }
        }
    }

    #[test]
    fn petgraph_has_the_same_nodes_edges_and_weights_and_gives_them_back((graph, edges) in arbitrary_graph()) {
        let other = graph.to_petgraph();
        prop_assert_eq!((other.node_count(), other.edge_count()), (graph.nodes().len(), edges.len()));
        let owned = other.map(|_, node| **node, |_, &(name, weight)| (name.to_owned(), weight));
        prop_assert_eq!(Graph::from_petgraph(owned, names()).unwrap(), graph);
    }

    #[test]
    fn rows_and_columns_hold_each_cell_where_it_stands(document in arbitrary_document()) {
        let graph = Graph::of(&document);
        for table in document.tables() {
            let (rows, columns) = (graph.rows(table.number()), graph.columns(table.number()));
            let cells = graph.nodes().iter().zip(0..).filter_map(|(node, number)| Some((node.span()?, number)));
            let cells: Vec<(_, u32)> = cells.filter(|(span, _)| span.table == table.number()).collect();
            prop_assert_eq!(cells.len(), table.cells().len());
            let starts: BTreeSet<usize> = cells.iter().map(|(span, _)| span.rows.start).collect();
            prop_assert!(rows.keys().eq(&starts));
            for (row, found) in &rows {
                for (span, number) in &cells {
                    prop_assert_eq!(found.contains(number), span.rows.contains(row));
                }
                let place = |number: &u32| graph.nodes()[*number as usize].span().map(|span| span.columns.start);
                prop_assert!(found.is_sorted_by_key(place));
            }
            for (column, found) in &columns {
                for (span, number) in &cells {
                    prop_assert_eq!(found.contains(number), span.columns.contains(column));
                }
            }
        }
        prop_assert!(graph.rows(99).is_empty() && graph.columns(99).is_empty());
    }

    #[test]
    fn in_a_document_the_reverse_type_is_the_way_back(document in arbitrary_document()) {
        let graph = Graph::of(&document);
        for edge_type in EdgeType::ALL {
            for node in 0..graph.nodes().len() as u32 {
                for source in graph.neighbours(node, &[edge_type.name()]).unwrap() {
                    let back = graph.neighbours(source, &[edge_type.reverse().name()]).unwrap();
                    prop_assert!(back.contains(&node));
                }
            }
        }
    }
}

#[test]
fn parts_that_make_no_graph_are_refused() {
    let error =
        |edges: &[Edge], weights: &[f32]| Adjacency::weighted(2, names(), edges, weights).unwrap_err().to_string();
    assert_eq!(error(&[(0, 2, 0)], &[1.0]), "edge 0 joins nodes 0 and 2, but the graph has 2 nodes");
    assert_eq!(error(&[(0, 1, 0), (1, 0, 3)], &[1.0; 2]), "edge 1 is of type 3, but the graph has 3 edge types");
    assert!(error(&[(0, 1, 0)], &[-1.0]).starts_with("weight 0 of the edges is -1; expected a finite number"));
    assert!(error(&[(0, 1, 0)], &[f32::INFINITY]).starts_with("weight 0 of the edges is inf"));
    assert!(error(&[(0, 1, 0)], &[]).starts_with("weight 0 of the edges is NaN"));
    assert!(error(&[(0, 1, 0)], &[1.0; 2]).starts_with("weight 1 of the edges is 1; expected"));
    let two = Adjacency::new(2, names(), &[]).unwrap();
    assert_eq!(Graph::new(vec!["a"], two.clone()), Err(GraphError::NodeCount { expected: 2, found: 1 }));
    let graph = Graph::new(vec!["a", "b"], two).unwrap();
    let unknown = graph.path(0, 1, &["refersto"]).unwrap_err().to_string();
    assert_eq!(unknown, "there is no edge type \"refersto\"; the nearest known one is \"refers_to\"");
    assert!(graph.neighbours(0, &["hold"]).is_err());
}

#[test]
fn weights_of_1_are_none() {
    let edges = [(0, 1, 0), (1, 0, 2)];
    let unweighted = Adjacency::new(2, names(), &edges).unwrap();
    assert_eq!(Adjacency::weighted(2, names(), &edges, &[1.0; 2]).unwrap(), unweighted);
    let weighted = Adjacency::weighted(2, names(), &edges, &[0.5, 2.0]).unwrap();
    // Sorted by destination.
    assert_eq!(weighted.weights(), [2.0, 0.5]);
    assert_eq!((weighted.type_name(0), weighted.type_name(1)), ("refers_to", "joins"));
}

#[test]
fn a_node_of_any_document_has_a_name_that_sorts_and_travels() {
    let node = |document: &str, node: &str| NodeRef { document: document.into(), node: node.into() };
    let cell = node("10-k", "t0:r3c2");
    assert_eq!(cell.to_string(), "10-k#t0:r3c2");
    let json = serde_json::to_string(&cell).unwrap();
    assert_eq!(json, r#"{"document":"10-k","node":"t0:r3c2"}"#);
    assert_eq!(serde_json::from_str::<NodeRef>(&json).unwrap(), cell);
    assert!(node("10-k", "t9") < node("10-q", "t0") && node("10-k", "p0") < cell);
}
