//! From a document to its graph.

use std::collections::BTreeSet;

use tabsegnet_document::model::{Block, CellRole, Document, Heading, Outline, Table};
use tabsegnet_document::node_id;

use crate::adjacency::Adjacency;
use crate::edge_type::EdgeType;
use crate::graph::Graph;
use crate::names::TypeNames;
use crate::node::{Node, NodeKind, TablePlace};

impl Graph {
    /// The graph of a document. Nodes are numbered in document order: block by block; in a table its caption, then
    /// the cells by row, then column. Its edge types are [`EdgeType`]'s, every edge has its reverse, and there are no
    /// weights.
    pub fn of(document: &Document) -> Self {
        let mut builder = Builder::default();
        for block in &document.blocks {
            match block {
                Block::Heading(heading) => builder.heading(heading),
                Block::Passage(text) => builder.passage(text),
                Block::Table(table) => builder.table(table),
            }
        }
        let Builder { nodes, edges, .. } = builder;
        // The builder's edges join its own nodes.
        let adjacency = Adjacency::new(nodes.len(), TypeNames::default(), &edges).unwrap_or_default();
        Self { nodes, adjacency }
    }
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    /// Source, destination, type.
    edges: Vec<(u32, u32, u8)>,
    headings: usize,
    outline: Outline<u32>,
    passages: usize,
    last_passage: Option<u32>,
    last_caption: Option<u32>,
    /// Captions that no passage has come after yet.
    open_captions: Vec<u32>,
}

impl Builder {
    /// The node's number.
    fn add(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// An edge and its reverse.
    fn connect(&mut self, a: u32, b: u32, edge_type: EdgeType) {
        self.edges.push((a, b, edge_type.number()));
        self.edges.push((b, a, edge_type.reverse().number()));
    }

    fn heading(&mut self, heading: &Heading) {
        let number = self.nodes.len() as u32;
        let outer = self.outline.enter(heading.level, number);
        let node = self.add(Node {
            id: node_id::heading(self.headings),
            kind: NodeKind::Heading,
            text: heading.text.clone(),
            place: None,
            section: outer,
        });
        self.headings += 1;
        if let Some(outer) = outer {
            self.connect(outer, node, EdgeType::HeadingChild);
        }
    }

    fn passage(&mut self, text: &str) {
        let node = self.add(Node {
            id: node_id::passage(self.passages),
            kind: NodeKind::Passage,
            text: text.to_owned(),
            place: None,
            section: self.outline.innermost(),
        });
        self.passages += 1;
        if let Some(heading) = self.outline.innermost() {
            self.connect(heading, node, EdgeType::HeadingPassage);
        }
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
        let caption = self.add(Node {
            id: node_id::caption(table.number()),
            kind: NodeKind::Caption,
            text: table.caption_text(),
            place: Some(TablePlace {
                table: table.number(),
                rowspan: table.rows(),
                colspan: table.cols(),
                ..TablePlace::default()
            }),
            section: self.outline.innermost(),
        });
        if let Some(heading) = self.outline.innermost() {
            self.connect(heading, caption, EdgeType::HeadingCaption);
        }
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

    fn cell_nodes(&mut self, table: &Table) -> Vec<u32> {
        let mut nodes = Vec::with_capacity(table.cells().len());
        for cell in table.cells() {
            let kind = match table.role(cell) {
                CellRole::ColumnHeader => NodeKind::ColumnHeader,
                CellRole::RowHeader => NodeKind::RowHeader,
                CellRole::Data => NodeKind::Cell,
            };
            nodes.push(self.add(Node {
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
                section: self.outline.innermost(),
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
