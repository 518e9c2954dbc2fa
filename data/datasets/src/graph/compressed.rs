//! The arrays that training and ranking use.

use petgraph::visit::EdgeRef as _;

use super::DocumentGraph;

/// A graph as compressed sparse rows: the edges sorted by destination, then source, then type, and
/// for each node where its in-edges begin. Which edges there are is all it knows: texts and ids
/// stay with the nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompressedGraph {
    /// `[nodes + 1]`: node `v`'s in-edges are `offsets[v]..offsets[v + 1]`.
    offsets: Vec<u32>,
    /// `[edges]`: where each edge comes from.
    sources: Vec<u32>,
    /// `[edges]`: each edge's type number.
    types: Vec<u8>,
}

/// Arrays that are no graph.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("edge {edge} joins nodes {source_node} and {destination}, but the graph has {nodes} nodes")]
pub struct DanglingEdge {
    edge: usize,
    source_node: u32,
    destination: u32,
    nodes: usize,
}

impl CompressedGraph {
    /// Sorts edges given as (source, destination, type) in any order.
    pub fn new(nodes: usize, edges: &[(u32, u32, u8)]) -> Result<Self, DanglingEdge> {
        let outside = |&node: &u32| node as usize >= nodes;
        for (edge, (source, destination, _)) in edges.iter().enumerate() {
            if outside(source) || outside(destination) {
                let (source_node, destination) = (*source, *destination);
                return Err(DanglingEdge { edge, source_node, destination, nodes });
            }
        }
        let mut sorted: Vec<(u32, u32, u8)> = edges.iter().map(|&(s, d, t)| (d, s, t)).collect();
        sorted.sort_unstable();
        let mut offsets = vec![0; nodes + 1];
        for (destination, _, _) in &sorted {
            offsets[*destination as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let (sources, types) = sorted.into_iter().map(|(_, source, edge_type)| (source, edge_type)).unzip();
        Ok(Self { offsets, sources, types })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of directed edges.
    pub fn edges(&self) -> usize {
        self.sources.len()
    }

    /// `[nodes + 1]`: node `v`'s in-edges are `offsets()[v]..offsets()[v + 1]`.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// `[edges]`: where each edge comes from.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// `[edges]`: each edge's type number.
    pub fn types(&self) -> &[u8] {
        &self.types
    }

    /// All edges as (source, destination, type), by destination, source, type.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u8)> + '_ {
        (0..self.nodes()).flat_map(move |node| {
            let edges = self.offsets[node] as usize..self.offsets[node + 1] as usize;
            edges.map(move |edge| (self.sources[edge], node as u32, self.types[edge]))
        })
    }
}

impl DocumentGraph {
    /// The arrays that training and ranking use; node `i` is the `i`-th of [`DocumentGraph::nodes`].
    pub fn compress(&self) -> CompressedGraph {
        let edges: Vec<(u32, u32, u8)> = self
            .as_petgraph()
            .edge_references()
            .map(|e| (e.source().index() as u32, e.target().index() as u32, e.weight().number()))
            .collect();
        // The ends of a petgraph edge are nodes of its graph.
        CompressedGraph::new(self.nodes().len(), &edges).unwrap_or_default()
    }
}
