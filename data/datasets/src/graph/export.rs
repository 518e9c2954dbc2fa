//! GraphML and DOT, for looking at a graph in other programs.

use petgraph::dot::{Config, Dot};
use petgraph_graphml::GraphMl;

use super::{DocumentGraph, EdgeType};

impl DocumentGraph {
    /// The graph as GraphML: nodes with `id`, `kind` and `text`, edges with `type`.
    pub fn to_graphml(&self) -> String {
        GraphMl::new(self.as_petgraph())
            .pretty_print(true)
            .export_node_weights(Box::new(|node| {
                vec![
                    ("id".into(), node.id.clone().into()),
                    ("kind".into(), node.kind.name().into()),
                    ("text".into(), printable(&node.text).into()),
                ]
            }))
            .export_edge_weights(Box::new(|edge| vec![("type".into(), edge.name().into())]))
            .to_string()
    }

    /// The graph in Graphviz's DOT language, labels cut at 40 characters.
    pub fn to_dot(&self) -> String {
        let config = [Config::EdgeNoLabel, Config::NodeNoLabel];
        let edge =
            |_, edge: petgraph::graph::EdgeReference<'_, EdgeType, u32>| format!("label=\"{}\"", edge.weight().name());
        let node = |_, (_, node): (_, &super::Node)| {
            let short: String = printable(&node.text).chars().take(40).collect();
            format!("label=\"{}\\n{}\"", node.id, short.replace('\\', "\\\\").replace('"', "\\\""))
        };
        Dot::with_attr_getters(self.as_petgraph(), &config, &edge, &node).to_string_debug()
    }
}

/// XML 1.0 has no way to write most control characters.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

trait ToStringDebug {
    fn to_string_debug(&self) -> String;
}

impl<T: std::fmt::Debug> ToStringDebug for T {
    fn to_string_debug(&self) -> String {
        format!("{self:?}")
    }
}
