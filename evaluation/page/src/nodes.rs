//! All nodes of a document in the order in which the page shows them. A node's position here is
//! its number in the page: that of its element among all nodes' elements.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use tabsegnet_document::model::{
    Block, Cell, CellRole, Document, Heading, Outline, Table, join_non_empty, path_in_short,
};
use tabsegnet_document::{Layout, Location, node_id};

use crate::text::shorten;

/// Most characters of a heading and of a caption where they say what a node stands in.
const SHOWN: usize = 80;

/// What is known of a node without looking at the document again.
pub(crate) struct Node<'a> {
    pub id: String,
    /// Empty where the node has no text of its own, as a table without caption.
    pub text: &'a str,
    /// Where it stands: row-header and column-header path of a cell (`outer > inner`), else in
    /// words and "".
    pub place: [String; 2],
    /// The heading that it stands under; of a heading the one above it. Empty where there is none.
    section: &'a str,
    /// The same with those around it.
    sections: Rc<str>,
    /// Where it stands in the file; empty where that is not known.
    location: String,
    /// The table that it is a part of.
    table: Option<&'a Table>,
}

impl Node<'_> {
    /// Both parts of the place. Must agree with `place` in `page.js`.
    pub fn place(&self) -> String {
        join_non_empty(self.place.iter().map(String::as_str), ", ")
    }

    /// What it stands in: its section, the table that it is a part of, and the place in the file.
    pub fn within(&self) -> String {
        let caption = self.table.map_or("", Table::caption).trim();
        // A caption that nothing else gave is the heading itself.
        let section = match self.sections.strip_suffix(self.section) {
            Some(outer) if caption.starts_with(self.section) => outer.trim_end_matches(" > "),
            _ => &self.sections,
        };
        let table = self.table.map(|table| match caption {
            "" => format!("Table {}", table.number()),
            caption => format!("Table {}: {}", table.number(), shorten(caption, SHOWN)),
        });
        join_non_empty(
            [shorten(section, 2 * SHOWN).as_str(), table.as_deref().unwrap_or_default(), &self.location].into_iter(),
            " · ",
        )
    }
}

pub(crate) struct Nodes<'a> {
    pub all: Vec<Node<'a>>,
    numbers: HashMap<String, usize>,
}

impl<'a> Nodes<'a> {
    /// `rows` are those of tables that are parts of others ([`Page::html_of_part`](crate::Page::html_of_part)).
    pub fn new(document: &'a Document, layout: Option<&Layout>, rows: &BTreeMap<usize, Vec<usize>>) -> Self {
        let none = Layout::default();
        let at = &layout.unwrap_or(&none).locations;
        let shown = |location: Option<Location>| location.map_or_else(String::new, |location| location.to_string());
        let mut all = Vec::new();
        let (mut headings, mut passages) = (0, 0);
        let mut outline: Outline<&str> = Outline::default();
        let mut sections: Rc<str> = "".into();
        for block in &document.blocks {
            let section = outline.innermost().unwrap_or_default();
            match block {
                Block::Heading(Heading { level, text }) => {
                    let section = outline.enter(*level, text.trim()).unwrap_or_default();
                    let mut path: Vec<&str> = outline.path().collect();
                    sections = path_in_short(path.iter().copied()).into();
                    path.pop();
                    let place = ["heading".into(), String::new()];
                    all.push(Node {
                        id: node_id::heading(headings),
                        text,
                        place,
                        section,
                        sections: path_in_short(path).into(),
                        location: shown(at.heading(headings)),
                        table: None,
                    });
                    headings += 1;
                }
                Block::Passage(text) => {
                    let place = ["sentence".into(), String::new()];
                    all.push(Node {
                        id: node_id::passage(passages),
                        text,
                        place,
                        section,
                        sections: Rc::clone(&sections),
                        location: shown(at.passage(passages)),
                        table: None,
                    });
                    passages += 1;
                }
                Block::Table(table) => {
                    let caption = Node {
                        id: node_id::caption(table.number()),
                        text: table.caption(),
                        place: [format!("caption of table {}", table.number()), String::new()],
                        section,
                        sections: Rc::clone(&sections),
                        location: shown(at.table(table.number())),
                        table: None,
                    };
                    all.push(caption);
                    let rows = rows.get(&table.number());
                    let row = |cell: &Cell| rows.and_then(|rows| rows.get(cell.row)).copied().unwrap_or(cell.row);
                    all.extend(table.cells().iter().map(|cell| {
                        let node = node_of_cell(table, cell, row(cell), (section, &sections));
                        Node { location: shown(at.cell(table.number(), cell.row, cell.col)), ..node }
                    }));
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

fn node_of_cell<'a>(
    table: &'a Table,
    cell: &'a Cell,
    row: usize,
    (section, sections): (&'a str, &Rc<str>),
) -> Node<'a> {
    let sections = Rc::clone(sections);
    let rows = table.path(&table.row_headers_of(cell));
    let columns = table.path(&table.column_headers_of(cell));
    let place = match table.role(cell) {
        CellRole::ColumnHeader => [under("column header", &columns), String::new()],
        CellRole::RowHeader => [under("row header", &rows), String::new()],
        CellRole::Data => [rows, columns],
    };
    Node {
        id: node_id::cell_in_row(table, cell, row),
        text: &cell.text,
        place,
        section,
        sections,
        location: String::new(),
        table: Some(table),
    }
}

fn under(kind: &str, outer: &str) -> String {
    if outer.is_empty() { kind.to_owned() } else { format!("{kind} under {outer}") }
}
