//! Nodes of a document's graph, and what names a node anywhere.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::graph::{GridNode, Span};

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A sentence.
    Passage,
    /// What stands for a whole table.
    Caption,
    /// A cell of a header row.
    ColumnHeader,
    /// A cell of a header column.
    RowHeader,
    /// Any other cell.
    Cell,
    /// A heading.
    Heading,
}

impl NodeKind {
    /// All kinds; the position is the kind's number in prepared data.
    pub const ALL: [Self; 6] =
        [Self::Passage, Self::Caption, Self::ColumnHeader, Self::RowHeader, Self::Cell, Self::Heading];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passage => "passage",
            Self::Caption => "caption",
            Self::ColumnHeader => "column_header",
            Self::RowHeader => "row_header",
            Self::Cell => "cell",
            Self::Heading => "heading",
        }
    }
}

/// Where a node of a table stands. Rows and columns are those of the source table's grid, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TablePlace {
    /// The table's number.
    pub table: usize,
    /// Top row; 0 for a caption.
    pub row: usize,
    /// Leftmost column; 0 for a caption.
    pub col: usize,
    /// Rows covered.
    pub rowspan: usize,
    /// Columns covered.
    pub colspan: usize,
    /// Row-header path, `outer > inner`; empty where there is none.
    pub row_path: String,
    /// Column-header path, `outer > inner`; empty where there is none.
    pub column_path: String,
}

/// A node of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The stable id, such as `t0:r3c2`.
    pub id: String,
    /// What the node is.
    pub kind: NodeKind,
    /// The text as the document has it (for a caption see [`tabsegnet_document::model::Table::caption_text`]).
    pub text: String,
    /// `None` for headings and passages.
    pub place: Option<TablePlace>,
    /// The node of the heading that it stands under, by number; for a heading the next outer one. Always an earlier node.
    pub section: Option<u32>,
}

/// The headings that a node of `nodes` stands under, outermost first.
pub fn section_path(nodes: &[Node], node: &Node) -> Vec<String> {
    let outer = |heading: &&Node| heading.section.and_then(|outer| nodes.get(outer as usize));
    let first = node.section.and_then(|heading| nodes.get(heading as usize));
    // An earlier node each, so that there is an end.
    let mut path: Vec<String> =
        std::iter::successors(first, outer).take(nodes.len()).map(|heading| heading.text.clone()).collect();
    path.reverse();
    path
}

impl Node {
    /// What the encoder and the lexical rankers read. With [`CellText::Path`] a cell reads
    /// `row-header path | column-header path | value`, empty parts left out.
    pub fn ranking_text(&self, cell_text: CellText) -> String {
        match (&self.place, cell_text) {
            (Some(place), CellText::Path) if self.kind == NodeKind::Cell => {
                let parts = [place.row_path.as_str(), &place.column_path, &self.text];
                tabsegnet_document::model::join_non_empty(parts.into_iter(), " | ")
            }
            _ => self.text.clone(),
        }
    }
}

/// What stands for a cell when its text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellText {
    /// `row-header path | column-header path | value`.
    #[default]
    Path,
    /// The value alone.
    Bare,
}

/// How a document becomes a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphConfig {
    /// What stands for a cell when its text is read.
    pub cell_text: CellText,
}

impl GridNode for Node {
    fn span(&self) -> Option<Span> {
        let place = self
            .place
            .as_ref()
            .filter(|_| !matches!(self.kind, NodeKind::Passage | NodeKind::Caption | NodeKind::Heading))?;
        Some(Span {
            table: place.table,
            rows: place.row..place.row.saturating_add(place.rowspan),
            columns: place.col..place.col.saturating_add(place.colspan),
        })
    }
}

/// A node of any document: what stays the same between runs and programs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeRef {
    /// The document's id.
    pub document: String,
    /// The node's id in it, such as `t0:r3c2`.
    pub node: String,
}

impl fmt::Display for NodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.document, self.node)
    }
}
