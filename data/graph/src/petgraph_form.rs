//! To petgraph and back, for its algorithms and whatever else reads its graphs.

use petgraph::graph::DiGraph;

use crate::adjacency::Adjacency;
use crate::error::GraphError;
use crate::graph::Graph;
use crate::names::TypeNames;

impl<N> Graph<N> {
    /// The graph as petgraph's: node `i` is the `i`-th of [`Graph::nodes`], an edge has its type's name and its
    /// weight, which is 1 in a graph without weights.
    pub fn to_petgraph(&self) -> DiGraph<&N, (&str, f32), u32> {
        let mut graph = DiGraph::with_capacity(self.nodes.len(), self.adjacency.edges());
        let nodes: Vec<_> = self.nodes.iter().map(|node| graph.add_node(node)).collect();
        for (edge, (source, destination, edge_type)) in self.adjacency.iter().enumerate() {
            let name = self.adjacency.type_names().name(edge_type).unwrap_or_default();
            graph.add_edge(nodes[source as usize], nodes[destination as usize], (name, self.adjacency.weight(edge)));
        }
        graph
    }

    /// The graph of petgraph's, its edge types numbered as in `names`. With those of a graph it is the way back from
    /// [`Graph::to_petgraph`].
    ///
    /// # Errors
    /// An edge type that is not among `names`; a weight that is negative or not finite.
    pub fn from_petgraph<S: AsRef<str>>(
        graph: DiGraph<N, (S, f32), u32>,
        names: TypeNames,
    ) -> Result<Self, GraphError> {
        let (nodes, edges) = graph.into_nodes_edges();
        let nodes: Vec<N> = nodes.into_iter().map(|node| node.weight).collect();
        let mut weights = Vec::with_capacity(edges.len());
        let mut joined = Vec::with_capacity(edges.len());
        for edge in edges {
            let (name, weight) = &edge.weight;
            weights.push(*weight);
            let (source, destination) = (edge.source().index() as u32, edge.target().index() as u32);
            joined.push((source, destination, names.number(name.as_ref())?));
        }
        let adjacency = Adjacency::weighted(nodes.len(), names, &joined, &weights)?;
        Ok(Self { nodes, adjacency })
    }
}
