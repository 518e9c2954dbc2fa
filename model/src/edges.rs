//! The edges of a batch as arrays, by destination and by source.

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
        // Counting sort by source; stable, so each source's edges stay in order.
        let mut source_offsets = vec![0; source_nodes + 1];
        for &source in &sources {
            source_offsets[source as usize + 1] += 1;
        }
        for node in 0..source_nodes {
            source_offsets[node + 1] += source_offsets[node];
        }
        let mut next = source_offsets.clone();
        let mut by_source = vec![0; sources.len()];
        for (edge, &source) in sources.iter().enumerate() {
            by_source[next[source as usize] as usize] = edge as u32;
            next[source as usize] += 1;
        }
        Self { offsets, sources, destinations, strengths, source_offsets, by_source }
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
