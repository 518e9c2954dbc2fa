//! Nodes and edges together, and what can be done with them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::adjacency::Adjacency;
use crate::error::GraphError;
use crate::node::Node;

/// Nodes, numbered from 0, and typed edges between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph<N = Node> {
    pub(crate) nodes: Vec<N>,
    pub(crate) adjacency: Adjacency,
}

impl<N> Default for Graph<N> {
    /// No node.
    fn default() -> Self {
        Self { nodes: Vec::new(), adjacency: Adjacency::default() }
    }
}

impl<N> Graph<N> {
    /// Nodes with the edges between them.
    ///
    /// # Errors
    /// Edges for another number of nodes.
    pub fn new(nodes: Vec<N>, adjacency: Adjacency) -> Result<Self, GraphError> {
        let (expected, found) = (adjacency.nodes(), nodes.len());
        if expected == found { Ok(Self { nodes, adjacency }) } else { Err(GraphError::NodeCount { expected, found }) }
    }

    /// The nodes, by number.
    pub fn nodes(&self) -> &[N] {
        &self.nodes
    }

    /// The edges.
    pub fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// Nodes from which an edge of one of the types leads to the node, rising, each once; none for a node that is
    /// not there. Where a type has a reverse, as in documents, the reverse gives the other direction.
    ///
    /// # Errors
    /// A name that is no edge type of the graph.
    pub fn neighbours(&self, node: u32, types: &[&str]) -> Result<Vec<u32>, GraphError> {
        let wanted = self.wanted(types)?;
        // In-edges are sorted by source.
        let mut found: Vec<u32> = self.sources(node, &wanted).collect();
        found.dedup();
        Ok(found)
    }

    /// A shortest path along edges of the types, both ends in it: as few edges as there can be, weights not looked
    /// at; the same one each time. A node alone is the path to itself; nothing where no path leads there or an end
    /// is no node.
    ///
    /// # Errors
    /// A name that is no edge type of the graph.
    pub fn path(&self, from: u32, to: u32, types: &[&str]) -> Result<Option<Vec<u32>>, GraphError> {
        let wanted = self.wanted(types)?;
        if [from, to].iter().any(|&end| end as usize >= self.nodes.len()) {
            return Ok(None);
        }
        // Breadth first against the edges' direction, which is how they are kept.
        let mut next: Vec<Option<u32>> = vec![None; self.nodes.len()];
        next[to as usize] = Some(to);
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            if node == from {
                break;
            }
            for source in self.sources(node, &wanted) {
                if next[source as usize].is_none() {
                    next[source as usize] = Some(node);
                    queue.push_back(source);
                }
            }
        }
        let onwards = |&node: &u32| next[node as usize].filter(|_| node != to);
        Ok(next[from as usize].map(|_| std::iter::successors(Some(from), onwards).collect()))
    }

    /// By type number whether a type is among those named.
    fn wanted(&self, types: &[&str]) -> Result<Vec<bool>, GraphError> {
        let names = self.adjacency.type_names();
        let mut wanted = vec![false; names.len()];
        for name in types {
            wanted[usize::from(names.number(name)?)] = true;
        }
        Ok(wanted)
    }

    fn sources(&self, node: u32, wanted: &[bool]) -> impl Iterator<Item = u32> {
        let edges = self.adjacency.edges_into(node);
        let (sources, types) = (self.adjacency.sources(), self.adjacency.types());
        edges.filter(|&edge| wanted[usize::from(types[edge])]).map(|edge| sources[edge])
    }
}

/// The part of a table's grid that a node covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The table's number.
    pub table: usize,
    /// Rows from 0.
    pub rows: Range<usize>,
    /// Columns from 0.
    pub columns: Range<usize>,
}

/// A node that may be a cell of a table.
pub trait GridNode {
    /// What it covers; none for what is no cell, such as a sentence or what stands for a whole table.
    fn span(&self) -> Option<Span>;
}

impl<N: GridNode> Graph<N> {
    /// The cells of each row of a table, headers among them, by the row's number; in a row by column. A cell that
    /// covers several rows is in each of them. A row in which no cell begins is left out.
    pub fn rows(&self, table: usize) -> BTreeMap<usize, Vec<u32>> {
        self.lines(table, |span| (&span.rows, &span.columns))
    }

    /// As [`Graph::rows`] the columns, in a column by row.
    pub fn columns(&self, table: usize) -> BTreeMap<usize, Vec<u32>> {
        self.lines(table, |span| (&span.columns, &span.rows))
    }

    /// `sides` gives of a cell which lines it covers, and where in a line it stands.
    fn lines(&self, table: usize, sides: fn(&Span) -> (&Range<usize>, &Range<usize>)) -> BTreeMap<usize, Vec<u32>> {
        let cells = self.nodes.iter().zip(0..).filter_map(|(node, number)| Some((node.span()?, number)));
        let mut cells: Vec<(Span, u32)> = cells.filter(|(span, _)| span.table == table).collect();
        cells.sort_by_key(|(span, number)| (sides(span).1.start, *number));
        let mut lines: BTreeMap<usize, Vec<u32>> =
            cells.iter().map(|(span, _)| (sides(span).0.start, Vec::new())).collect();
        for (span, number) in &cells {
            let Range { start, end } = *sides(span).0;
            // A cell covers a line at least.
            lines.range_mut(start..end.max(start.saturating_add(1))).for_each(|(_, line)| line.push(*number));
        }
        lines
    }
}
