//! From a document to its graph.

use std::collections::BTreeSet;

use petgraph::graph::{DiGraph, NodeIndex};

use super::{DocumentGraph, EdgeType, Node, NodeKind, TablePlace};
use crate::document::{Block, CellRole, Document, Table};
use crate::node_id;

impl DocumentGraph {
    /// Builds the graph of a document.
    pub fn new(document: &Document) -> Self {
        let mut builder = Builder::default();
        for block in &document.blocks {
            match block {
                Block::Passage(text) => builder.passage(text),
                Block::Table(table) => builder.table(table),
            }
        }
        Self { graph: builder.graph }
    }
}

#[derive(Default)]
struct Builder {
    graph: DiGraph<Node, EdgeType, u32>,
    passages: usize,
    last_passage: Option<NodeIndex>,
    last_caption: Option<NodeIndex>,
    /// Captions that no passage has come after yet.
    open_captions: Vec<NodeIndex>,
}

impl Builder {
    /// An edge and its reverse.
    fn connect(&mut self, a: NodeIndex, b: NodeIndex, edge_type: EdgeType) {
        self.graph.add_edge(a, b, edge_type);
        self.graph.add_edge(b, a, edge_type.reverse());
    }

    fn passage(&mut self, text: &str) {
        let node = self.graph.add_node(Node {
            id: node_id::passage(self.passages),
            kind: NodeKind::Passage,
            text: text.to_owned(),
            place: None,
        });
        self.passages += 1;
        if let Some(last) = self.last_passage.replace(node) {
            self.connect(last, node, EdgeType::PassageNext);
        }
        // A table touches the passage before it and the one after it; several tables in a row
        // share both.
        for caption in std::mem::take(&mut self.open_captions) {
            self.connect(node, caption, EdgeType::PassageCaption);
        }
    }

    fn table(&mut self, table: &Table) {
        let caption = self.graph.add_node(Node {
            id: node_id::caption(table.number()),
            kind: NodeKind::Caption,
            text: table.caption_text(),
            place: Some(TablePlace {
                table: table.number(),
                rowspan: table.rows(),
                colspan: table.cols(),
                ..TablePlace::default()
            }),
        });
        if let Some(passage) = self.last_passage {
            self.connect(passage, caption, EdgeType::PassageCaption);
        }
        self.open_captions.push(caption);
        if let Some(last) = self.last_caption.replace(caption) {
            self.connect(last, caption, EdgeType::CaptionNext);
        }

        let nodes = self.cell_nodes(table);
        for (cell, &node) in table.cells().iter().zip(&nodes) {
            match table.role(cell) {
                CellRole::ColumnHeader => self.connect(caption, node, EdgeType::CaptionColumnHeader),
                CellRole::RowHeader => self.connect(caption, node, EdgeType::CaptionRowHeader),
                CellRole::Data => {
                    self.connect(caption, node, EdgeType::CaptionCell);
                    for header in table.row_headers_of(cell) {
                        self.connect(nodes[header], node, EdgeType::RowHeaderCell);
                    }
                    for header in table.column_headers_of(cell) {
                        self.connect(nodes[header], node, EdgeType::ColumnHeaderCell);
                    }
                }
            }
        }
        for (a, b, edge_type) in neighbours(table) {
            self.connect(nodes[a], nodes[b], edge_type);
        }
    }

    fn cell_nodes(&mut self, table: &Table) -> Vec<NodeIndex> {
        let mut nodes = Vec::with_capacity(table.cells().len());
        for cell in table.cells() {
            let kind = match table.role(cell) {
                CellRole::ColumnHeader => NodeKind::ColumnHeader,
                CellRole::RowHeader => NodeKind::RowHeader,
                CellRole::Data => NodeKind::Cell,
            };
            nodes.push(self.graph.add_node(Node {
                id: node_id::cell(table, cell),
                kind,
                text: cell.text.clone(),
                place: Some(TablePlace {
                    table: table.number(),
                    row: cell.row,
                    col: cell.col,
                    rowspan: cell.rowspan,
                    colspan: cell.colspan,
                    row_path: table.path(&table.row_headers_of(cell)),
                    column_path: table.path(&table.column_headers_of(cell)),
                }),
            }));
        }
        nodes
    }
}

/// Pairs of cells that touch in the grid, by index, each once: data cells side by side, and
/// headers with the headers of the next level that they reach over (in header rows downwards, in
/// header columns rightwards), and the title of a row with the headers of the rows under it.
fn neighbours(table: &Table) -> BTreeSet<(usize, usize, EdgeType)> {
    let mut pairs = BTreeSet::new();
    for row in 0..table.rows() {
        let title = table.row_parent(row).and_then(|parent| table.title_of_row(parent).pop());
        let first =
            table.cell_index_at(row, 0).filter(|&first| table.role(&table.cells()[first]) == CellRole::RowHeader);
        if let (Some(title), Some(first)) = (title, first)
            && title != first
        {
            pairs.insert((title, first, EdgeType::HeaderChild));
        }
        for col in 0..table.cols() {
            let Some(here) = table.cell_index_at(row, col) else { continue };
            for (there, beside, header) in [
                (table.cell_index_at(row, col + 1), EdgeType::CellRight, CellRole::RowHeader),
                (table.cell_index_at(row + 1, col), EdgeType::CellBelow, CellRole::ColumnHeader),
            ] {
                let Some(there) = there.filter(|&there| there != here) else { continue };
                let roles = [here, there].map(|index| table.role(&table.cells()[index]));
                if roles == [CellRole::Data; 2] {
                    pairs.insert((here, there, beside));
                } else if roles == [header; 2] {
                    pairs.insert((here, there, EdgeType::HeaderChild));
                }
            }
        }
    }
    pairs
}
