//! GraphML and DOT, for looking at a document's graph in other programs.

use petgraph::dot::{Config, Dot};
use petgraph::graph::EdgeReference;
use petgraph_graphml::GraphMl;

use crate::graph::Graph;
use crate::node::Node;

impl Graph {
    /// The graph as GraphML: nodes with `id`, `kind` and `text`, edges with `type`.
    pub fn to_graphml(&self) -> String {
        GraphMl::new(&self.to_petgraph())
            .pretty_print(true)
            .export_node_weights(Box::new(|node| {
                vec![
                    ("id".into(), node.id.clone().into()),
                    ("kind".into(), node.kind.name().into()),
                    ("text".into(), printable(&node.text).into()),
                ]
            }))
            .export_edge_weights(Box::new(|(name, _)| vec![("type".into(), (*name).into())]))
            .to_string()
    }

    /// The graph in Graphviz's DOT language, labels cut at 40 characters.
    pub fn to_dot(&self) -> String {
        let config = [Config::EdgeNoLabel, Config::NodeNoLabel];
        let edge = |_, edge: EdgeReference<'_, (&str, f32), u32>| format!("label=\"{}\"", edge.weight().0);
        let node = |_, (_, node): (_, &&Node)| {
            let short: String = printable(&node.text).chars().take(40).collect();
            format!("label=\"{}\\n{}\"", node.id, short.replace('\\', "\\\\").replace('"', "\\\""))
        };
        format!("{:?}", Dot::with_attr_getters(&self.to_petgraph(), &config, &edge, &node))
    }
}

/// XML 1.0 has no way to write most control characters.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
