//! The typed graph of a document.

mod build;
mod compressed;
mod export;

use petgraph::graph::DiGraph;
use serde::{Deserialize, Serialize};

pub use compressed::CompressedGraph;

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
}

impl NodeKind {
    /// All kinds; the position is the kind's number in prepared data.
    pub const ALL: [Self; 5] = [Self::Passage, Self::Caption, Self::ColumnHeader, Self::RowHeader, Self::Cell];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passage => "passage",
            Self::Caption => "caption",
            Self::ColumnHeader => "column_header",
            Self::RowHeader => "row_header",
            Self::Cell => "cell",
        }
    }
}

macro_rules! edge_types {
    ($($variant:ident / $reverse:ident: $name:literal, $reverse_name:literal;)*) => {
        /// What an edge says of its two ends. Every type has its reverse.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs)] // the names below are the documentation
        pub enum EdgeType { $($variant, $reverse,)* }

        impl EdgeType {
            /// All types; the position is the type's number, row `t` of the model's `R`.
            pub const ALL: [Self; 0 $(+ { let _ = Self::$variant; 2 })*] =
                [$(Self::$variant, Self::$reverse,)*];

            /// The name used in files: source kind, relation, destination kind.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name, Self::$reverse => $reverse_name,)* }
            }

            /// The type of the same connection seen from the other end.
            #[must_use]
            pub fn reverse(self) -> Self {
                match self { $(Self::$variant => Self::$reverse, Self::$reverse => Self::$variant,)* }
            }
        }
    };
}

edge_types! {
    PassageNext / PassagePrevious: "passage_next_passage", "passage_previous_passage";
    PassageCaption / CaptionPassage: "passage_to_caption", "caption_to_passage";
    CaptionNext / CaptionPrevious: "caption_next_caption", "caption_previous_caption";
    CaptionRowHeader / RowHeaderCaption: "caption_to_row_header", "row_header_to_caption";
    CaptionColumnHeader / ColumnHeaderCaption: "caption_to_column_header", "column_header_to_caption";
    CaptionCell / CellCaption: "caption_to_cell", "cell_to_caption";
    RowHeaderCell / CellRowHeader: "row_header_to_cell", "cell_to_row_header";
    ColumnHeaderCell / CellColumnHeader: "column_header_to_cell", "cell_to_column_header";
    CellRight / CellLeft: "cell_right_cell", "cell_left_cell";
    CellBelow / CellAbove: "cell_below_cell", "cell_above_cell";
    HeaderChild / HeaderParent: "header_child_header", "header_parent_header";
}

impl EdgeType {
    /// The type's number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The type with a number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The stable id, such as `t0:r3c2`.
    pub id: String,
    /// What the node is.
    pub kind: NodeKind,
    /// The text as the document has it (for a caption see [`crate::document::Table::caption_text`]).
    pub text: String,
    /// `None` for passages.
    pub place: Option<TablePlace>,
}

impl Node {
    /// What the encoder and the lexical rankers read. With [`CellText::Path`] a cell reads
    /// `row-header path | column-header path | value`, empty parts left out.
    pub fn ranking_text(&self, cell_text: CellText) -> String {
        match (&self.place, cell_text) {
            (Some(place), CellText::Path) if self.kind == NodeKind::Cell => {
                let parts = [place.row_path.as_str(), &place.column_path, &self.text];
                crate::document::join_non_empty(parts.into_iter(), " | ")
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

/// The graph of one document. Nodes are numbered in document order: block by block; in a table its
/// caption, then the cells by row, then column. Every edge has its reverse.
#[derive(Debug, Clone)]
pub struct DocumentGraph {
    graph: DiGraph<Node, EdgeType, u32>,
}

impl DocumentGraph {
    /// The nodes in document order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.graph.raw_nodes().iter().map(|node| &node.weight)
    }

    /// The underlying petgraph graph.
    pub fn as_petgraph(&self) -> &DiGraph<Node, EdgeType, u32> {
        &self.graph
    }
}

#[cfg(test)]
mod tests;
