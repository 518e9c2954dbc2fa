//! What is no graph.

/// Parts that make no graph, or a name that a graph does not have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GraphError {
    /// An edge to or from a node that is not there.
    #[error("edge {edge} joins nodes {source_node} and {destination}, but the graph has {nodes} nodes")]
    Dangling {
        /// Position among the edges given.
        edge: usize,
        /// Where it begins.
        source_node: u32,
        /// Where it ends.
        destination: u32,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// An edge of a type without a name.
    #[error("edge {edge} is of type {edge_type}, but the graph has {types} edge types")]
    TypeNumber {
        /// Position among the edges given.
        edge: usize,
        /// Its type's number.
        edge_type: u8,
        /// Names of edge types.
        types: usize,
    },
    /// A name that is no edge type of the graph.
    #[error("there is no edge type {name:?}{}", hint(.nearest))]
    UnknownType {
        /// The name.
        name: String,
        /// The most similar name that there is.
        nearest: Option<String>,
    },
    /// A name given to two edge types.
    #[error("two edge types are named {name:?}; give each a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// More edge types than a byte can number.
    #[error("{found} edge types, but a graph has at most 256")]
    TooManyTypes {
        /// How many.
        found: usize,
    },
    /// A weight that is no number from 0, or not as many weights as edges.
    #[error("weight {at} of the edges is {found}; expected a finite number from 0 for each of {edges} edges")]
    Weight {
        /// Position among the edges given.
        at: usize,
        /// What stands there; `NaN` where there is none.
        found: f32,
        /// Edges.
        edges: usize,
    },
    /// Edges for another number of nodes.
    #[error("the edges are those of {expected} nodes, but there are {found}")]
    NodeCount {
        /// Nodes that the edges are for.
        expected: usize,
        /// Nodes given.
        found: usize,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; the nearest known one is {name:?}"))
}
