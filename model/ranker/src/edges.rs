//! The edges of a batch as arrays, by destination and by source.

#[cfg(feature = "gpu")]
use std::sync::Arc;

/// Marks a channel of a node without in-edges in [`crate::aggregate`].
pub(crate) const NO_EDGE: u32 = u32::MAX;

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
    use super::EdgeIndex;

    #[test]
    fn the_way_back_holds_the_same_edges() {
        // 1→0, 2→0, 0→2, 1→2
        let edges = EdgeIndex::new(vec![0, 2, 2, 4], vec![1, 2, 0, 1], vec![0; 4]);
        assert_eq!(edges.destinations, [0, 0, 2, 2]);
        assert_eq!([edges.out_of(0), edges.out_of(1), edges.out_of(2)], [&[2][..], &[0, 3], &[1]]);
        assert!(EdgeIndex::new(vec![0], vec![], vec![]).is_empty());
    }
}
