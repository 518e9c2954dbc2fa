//! The typed graph: nodes, and directed edges whose types go by names that the graph itself carries.
//!
//! One [`Graph`] for documents ([`Graph::of`]) and for whatever else has nodes and typed edges, such as the tables
//! of a corpus or the columns of a database schema: the nodes are of any type, the names of edge types any list
//! ([`TypeNames`]), weights optional. Who is joined with whom is compressed sparse rows ([`Adjacency`]), which
//! training and ranking read.
//!
//! ```
//! use tabsegnet_graph::{Adjacency, Graph, TypeNames};
//!
//! // A schema: orders.customer refers to customers.id.
//! let names = TypeNames::new(["refers_to", "key_of"])?;
//! let columns = vec!["orders.id", "orders.customer", "customers.id"];
//! let schema = Graph::new(columns, Adjacency::new(3, names, &[(1, 2, 0), (0, 1, 1)])?)?;
//! assert_eq!(schema.path(0, 2, &["refers_to", "key_of"])?, Some(vec![0, 1, 2]));
//! assert_eq!(schema.neighbours(2, &["refers_to"])?, [1]);
//! # Ok::<(), tabsegnet_graph::GraphError>(())
//! ```

mod adjacency;
mod document;
mod edge_type;
mod error;
mod export;
mod graph;
mod names;
mod node;
mod petgraph_form;

pub use adjacency::Adjacency;
pub use edge_type::EdgeType;
pub use error::GraphError;
pub use export::NodeText;
pub use graph::{Graph, GridNode, Span};
pub use names::TypeNames;
pub use node::{CellText, GraphConfig, Node, NodeKind, NodeRef, TablePlace, section_path};

#[cfg(test)]
mod tests;
