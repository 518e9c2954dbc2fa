//! All nodes of a document in the order in which the page shows them. A node's position here is
//! its number in the page: that of its element among all nodes' elements.

use std::collections::HashMap;

use tabsegnet_document::model::{Block, Cell, CellRole, Document, Heading, Table, join_non_empty};
use tabsegnet_document::node_id;

/// What is known of a node without looking at the document again.
pub(crate) struct Node<'a> {
    pub id: String,
    /// Empty where the node has no text of its own, as a table without caption.
    pub text: &'a str,
    /// Where it stands: row-header and column-header path of a cell (`outer > inner`), else in
    /// words and "".
    pub place: [String; 2],
}

impl Node<'_> {
    /// Both parts of the place. Must agree with `place` in `page.js`.
    pub fn place(&self) -> String {
        join_non_empty(self.place.iter().map(String::as_str), ", ")
    }
}

pub(crate) struct Nodes<'a> {
    pub all: Vec<Node<'a>>,
    numbers: HashMap<String, usize>,
}

impl<'a> Nodes<'a> {
    pub fn new(document: &'a Document) -> Self {
        let mut all = Vec::new();
        let (mut headings, mut passages) = (0, 0);
        for block in &document.blocks {
            match block {
                Block::Heading(Heading { text, .. }) => {
                    all.push(Node { id: node_id::heading(headings), text, place: ["heading".into(), String::new()] });
                    headings += 1;
                }
                Block::Passage(text) => {
                    all.push(Node { id: node_id::passage(passages), text, place: ["sentence".into(), String::new()] });
                    passages += 1;
                }
                Block::Table(table) => {
                    let caption = Node {
                        id: node_id::caption(table.number()),
                        text: table.caption(),
                        place: [format!("caption of table {}", table.number()), String::new()],
                    };
                    all.push(caption);
                    all.extend(table.cells().iter().map(|cell| node_of_cell(table, cell)));
                }
            }
        }
        let numbers = all.iter().enumerate().map(|(number, node)| (node.id.clone(), number)).collect();
        Self { all, numbers }
    }

    /// A node's number by its id.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    pub fn get(&self, number: usize) -> Option<&Node<'a>> {
        self.all.get(number)
    }
}

fn node_of_cell<'a>(table: &Table, cell: &'a Cell) -> Node<'a> {
    let rows = table.path(&table.row_headers_of(cell));
    let columns = table.path(&table.column_headers_of(cell));
    let place = match table.role(cell) {
        CellRole::ColumnHeader => [under("column header", &columns), String::new()],
        CellRole::RowHeader => [under("row header", &rows), String::new()],
        CellRole::Data => [rows, columns],
    };
    Node { id: node_id::cell(table, cell), text: &cell.text, place }
}

fn under(kind: &str, outer: &str) -> String {
    if outer.is_empty() { kind.to_owned() } else { format!("{kind} under {outer}") }
}
