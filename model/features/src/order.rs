//! Where the sentences and tables of a document stand.

use tabsegnet_graph::{Node, NodeKind};

use crate::numbers::Numbers;
use crate::phrases::Phrases;
use crate::strings::Strings;

/// A sentence of less is a number of a page or a broken piece.
pub(crate) const SENTENCE: usize = 4;

/// A document as its own features see it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) strings: &'a Strings,
    pub(crate) phrases: &'a Phrases,
    pub(crate) order: &'a Order,
    pub(crate) numbers: &'a Numbers,
}

/// Where the sentences and tables of a document stand, by node.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) passages: Vec<usize>,
    /// The first and the last node of each table.
    pub(crate) ends: Vec<(usize, usize)>,
    /// The nearest sentence before each table and after it.
    pub(crate) near: Vec<[Option<usize>; 2]>,
    /// Rows and columns of each table.
    pub(crate) size: Vec<(usize, usize)>,
}

impl Order {
    pub(crate) fn new(nodes: &[Node], strings: &Strings) -> Self {
        let passages: Vec<usize> = (0..nodes.len()).filter(|&node| nodes[node].kind == NodeKind::Passage).collect();
        let mut ends: Vec<Option<(usize, usize)>> = vec![None; strings.tables];
        for (node, table) in strings.tables_of_nodes().enumerate() {
            if let Some(table) = table {
                ends[table] = Some((ends[table].map_or(node, |(first, _)| first), node));
            }
        }
        let ends: Vec<(usize, usize)> = ends.into_iter().map(Option::unwrap_or_default).collect();
        let is_sentence = |&&node: &&usize| nodes[node].text.len() >= SENTENCE;
        let near = |&(first, last): &(usize, usize)| {
            let place = passages.partition_point(|&node| node < first);
            let before = passages[..place].iter().rev().find(is_sentence).copied();
            let after = passages[place..].iter().filter(|&&node| node > last).find(is_sentence).copied();
            [before, after]
        };
        Self { near: ends.iter().map(near).collect(), passages, ends, size: sizes(nodes, strings) }
    }
}

/// Rows and columns of each table.
pub(crate) fn sizes(nodes: &[Node], strings: &Strings) -> Vec<(usize, usize)> {
    let mut sizes = vec![(1, 1); strings.tables];
    for (node, table) in nodes.iter().zip(strings.tables_of_nodes()) {
        if let (Some(place), Some(table)) = (&node.place, table) {
            let (rows, cols) = &mut sizes[table];
            (*rows, *cols) = ((*rows).max(place.row + place.rowspan), (*cols).max(place.col + place.colspan));
        }
    }
    sizes
}
