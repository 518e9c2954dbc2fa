//! The edges of a batch as arrays, by destination and by source.

#[cfg(feature = "gpu")]
use std::sync::Arc;

use tabsegnet_graph::Adjacency;

use crate::config::{EdgeTypes, ModelConfig};

/// Marks a channel of a node without in-edges in [`crate::aggregate`].
pub(crate) const NO_EDGE: u32 = u32::MAX;

/// The edges of a document that a model hears: those of types that it was trained with, in the graph's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    /// `[nodes + 1]`: node `v`'s in-edges are `offsets[v]..offsets[v + 1]`.
    pub(crate) offsets: Vec<u32>,
    /// `[heard]`: source node and row of `R`.
    pub(crate) edges: Vec<(u32, u32)>,
    /// `[heard]`: position in the graph; empty where all edges are heard, each in its place.
    positions: Vec<u32>,
}

impl Heard {
    /// Types are those of the same name.
    pub(crate) fn new(config: &ModelConfig, graph: &Adjacency) -> Self {
        // Row of R of each of the graph's types.
        let row = |name: &str| {
            let number = config.edge_type_names.number(name).ok()?;
            match config.edge_types {
                EdgeTypes::Typed => Some(u32::from(number)),
                EdgeTypes::Single => Some(0),
                EdgeTypes::None => None,
            }
        };
        let rows: Vec<Option<u32>> = graph.type_names().iter().map(row).collect();
        let edge = |edge: usize| Some((graph.sources()[edge], rows[usize::from(graph.types()[edge])]?));
        let edges: Vec<(u32, u32)> = (0..graph.edges()).filter_map(edge).collect();
        if edges.len() == graph.edges() {
            return Self { offsets: graph.offsets().to_vec(), edges, positions: Vec::new() };
        }
        let positions: Vec<u32> =
            (0..graph.edges()).filter(|&position| edge(position).is_some()).map(|position| position as u32).collect();
        let before = |&offset: &u32| positions.partition_point(|position| *position < offset) as u32;
        Self { offsets: graph.offsets().iter().map(before).collect(), edges, positions }
    }

    /// Where a heard edge stands in the graph.
    pub(crate) fn position(&self, edge: usize) -> usize {
        self.positions.get(edge).map_or(edge, |&position| position as usize)
    }
}

/// Edges sorted by destination, with the way back by source. Edge `e` of a batch is position `e`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EdgeIndex {
    /// `[nodes + 1]`: node `v`'s in-edges are `offsets[v]..offsets[v + 1]`.
    pub(crate) offsets: Vec<u32>,
    /// `[edges]`: source node.
    pub(crate) sources: Vec<u32>,
    /// `[edges]`: destination node.
    pub(crate) destinations: Vec<u32>,
    /// `[edges]`: position in the flattened `[questions, edge_types]` strength table.
    pub(crate) strengths: Vec<u32>,
    /// `[source nodes + 1]`: node `u`'s out-edges are `by_source[source_offsets[u]..source_offsets[u + 1]]`.
    pub(crate) source_offsets: Vec<u32>,
    /// `[edges]`: edges by source, then by position.
    pub(crate) by_source: Vec<u32>,
    /// The same on a GPU, after the first use there.
    #[cfg(feature = "gpu")]
    pub(crate) on_gpu: Arc<crate::aggregate::gpu::Edges>,
}

/// Positions by their key, which is below `keys_below`, then by themselves: position
/// `order[offsets[key]..offsets[key + 1]]` have the key.
pub(crate) fn sort_by_key(keys_below: usize, keys: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0; keys_below + 1];
    for &key in keys {
        offsets[key as usize + 1] += 1;
    }
    for key in 0..keys_below {
        offsets[key + 1] += offsets[key];
    }
    let mut next = offsets.clone();
    let mut order = vec![0; keys.len()];
    for (position, &key) in keys.iter().enumerate() {
        order[next[key as usize] as usize] = position as u32;
        next[key as usize] += 1;
    }
    (offsets, order)
}

impl EdgeIndex {
    /// From arrays sorted by destination: `offsets` `[nodes + 1]`, `sources` and `strengths`
    /// `[edges]`. Sources are nodes of the same graph.
    pub fn new(offsets: Vec<u32>, sources: Vec<u32>, strengths: Vec<u32>) -> Self {
        let nodes = offsets.len().saturating_sub(1);
        Self::bipartite(nodes, offsets, sources, strengths)
    }

    /// Edges from one set of `source_nodes` nodes to another of `offsets.len() − 1`, such as from
    /// tokens to the texts that they stand in.
    pub fn bipartite(source_nodes: usize, offsets: Vec<u32>, sources: Vec<u32>, strengths: Vec<u32>) -> Self {
        let nodes = offsets.len().saturating_sub(1);
        let mut destinations = vec![0; sources.len()];
        for node in 0..nodes {
            destinations[offsets[node] as usize..offsets[node + 1] as usize].fill(node as u32);
        }
        let (source_offsets, by_source) = sort_by_key(source_nodes, &sources);
        Self {
            offsets,
            sources,
            destinations,
            strengths,
            source_offsets,
            by_source,
            #[cfg(feature = "gpu")]
            on_gpu: Arc::default(),
        }
    }

    /// Number of nodes that edges end at.
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The edges that end at a node.
    pub(crate) fn into(&self, node: usize) -> std::ops::Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }

    /// The edges that begin at a node.
    pub(crate) fn out_of(&self, node: usize) -> &[u32] {
        &self.by_source[self.source_offsets[node] as usize..self.source_offsets[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use tabsegnet_graph::{Adjacency, TypeNames};

    use super::{EdgeIndex, Heard};
    use crate::config::{EdgeTypes, ModelConfig};

    #[test]
    fn types_are_those_of_the_same_name_and_others_are_not_heard() {
        let names = |names: &[&str]| TypeNames::new(names.iter().copied()).unwrap();
        let edges = [(1, 0, 0), (2, 0, 1), (0, 1, 2), (2, 1, 0), (1, 2, 2), (0, 2, 1)];
        let graph = Adjacency::new(3, names(&["joins", "cell_right_cell", "cell_left_cell"]), &edges).unwrap();
        let heard = |edge_types| {
            let edge_type_names = names(&["cell_left_cell", "cell_right_cell", "caption_to_cell"]);
            Heard::new(&ModelConfig { edge_types, edge_type_names, ..ModelConfig::default() }, &graph)
        };
        let typed = heard(EdgeTypes::Typed);
        assert_eq!(
            (typed.offsets.as_slice(), typed.edges.as_slice()),
            (&[0, 1, 2, 4][..], &[(2, 1), (0, 0), (0, 1), (1, 0)][..])
        );
        assert_eq!([0, 1, 2, 3].map(|edge| typed.position(edge)), [1, 2, 4, 5]);
        let single = heard(EdgeTypes::Single);
        assert_eq!((&single.offsets, single.edges.as_slice()), (&typed.offsets, &[(2, 0), (0, 0), (0, 0), (1, 0)][..]));
        let none = heard(EdgeTypes::None);
        assert_eq!((none.offsets.as_slice(), none.edges.len()), (&[0; 4][..], 0));
    }

    #[test]
    fn the_way_back_holds_the_same_edges() {
        // 1→0, 2→0, 0→2, 1→2
        let edges = EdgeIndex::new(vec![0, 2, 2, 4], vec![1, 2, 0, 1], vec![0; 4]);
        assert_eq!(edges.destinations, [0, 0, 2, 2]);
        assert_eq!([edges.out_of(0), edges.out_of(1), edges.out_of(2)], [&[2][..], &[0, 3], &[1]]);
        assert!(EdgeIndex::new(vec![0], vec![], vec![]).is_empty());
    }
}
