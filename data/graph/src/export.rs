//! GraphML and DOT, for looking at a graph in other programs.

use petgraph::dot::{Config, Dot};
use petgraph::graph::EdgeReference;
use petgraph_graphml::GraphMl;
// XML 1.0 has no way to write most control characters.
use tabsegnet_store::printable;

use crate::graph::Graph;
use crate::node::Node;

/// A node that can be shown by texts.
pub trait NodeText: std::fmt::Debug {
    /// What tells it from all others.
    fn id(&self) -> &str;
    /// What it is.
    fn kind(&self) -> &str;
    /// What it says, in any characters.
    fn text(&self) -> &str;
}

impl NodeText for Node {
    fn id(&self) -> &str {
        &self.id
    }

    fn kind(&self) -> &str {
        self.kind.name()
    }

    fn text(&self) -> &str {
        &self.text
    }
}

impl<N: NodeText> Graph<N> {
    /// The graph as GraphML: nodes with `id`, `kind` and `text`, edges with `type`.
    pub fn to_graphml(&self) -> String {
        GraphMl::new(&self.to_petgraph())
            .pretty_print(true)
            .export_node_weights(Box::new(|node| {
                vec![
                    ("id".into(), printable(node.id()).into()),
                    ("kind".into(), node.kind().to_owned().into()),
                    ("text".into(), printable(node.text()).into()),
                ]
            }))
            .export_edge_weights(Box::new(|(name, _)| vec![("type".into(), (*name).into())]))
            .to_string()
    }

    /// The graph in Graphviz's DOT language, labels cut at 40 characters.
    pub fn to_dot(&self) -> String {
        let config = [Config::EdgeNoLabel, Config::NodeNoLabel];
        let edge = |_, edge: EdgeReference<'_, (&str, f32), u32>| format!("label=\"{}\"", edge.weight().0);
        let node = |_, (_, node): (_, &&N)| {
            let quoted = |text: String| text.replace('\\', "\\\\").replace('"', "\\\"");
            let short: String = printable(node.text()).chars().take(40).collect();
            format!("label=\"{}\\n{}\"", quoted(printable(node.id())), quoted(short))
        };
        format!("{:?}", Dot::with_attr_getters(&self.to_petgraph(), &config, &edge, &node))
    }
}
