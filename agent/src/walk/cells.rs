//! The graph of a document as an agent sees it: each cell one node with its sets of rows and columns.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::OnceLock;

use tabsegnet::{Graph, Node, NodeKind};
use tabsegnet_document::numbers::{has_decimal_comma, parse_cell_number, with_points};
use tabsegnet_graph::{EdgeType, GridNode as _, Span};
use tabsegnet_store::one_line;

use crate::answer::Citation;
use crate::quantity::{Quantity, Scale, of_cell, of_sentence};
use crate::walk::settings::WalkSettings;

/// Nodes that [`CellGraph::within`] finds at most.
const MOST_WITHIN: usize = 2000;
/// Rows from the top of a table that may name the scale of its numbers.
const TOP: usize = 4;

/// How a neighbour stands to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Their sets of rows meet.
    SameRow,
    /// Their sets of columns meet.
    SameColumn,
    /// A header of the cell.
    Header,
    /// A cell that the header stands over or beside.
    CellOfHeader,
    /// The next outer header.
    OuterHeader,
    /// The next inner headers.
    InnerHeader,
    /// The table that it belongs to, or that the sentence stands beside.
    Table,
    /// Headers of the table.
    HeaderOfTable,
    /// A sentence beside the table, or before or after the sentence.
    Sentence,
    /// A heading over it.
    Heading,
    /// What stands under the heading.
    UnderHeading,
}

impl Relation {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::SameRow => "same row",
            Self::SameColumn => "same column",
            Self::Header => "headers",
            Self::CellOfHeader => "cells of this header",
            Self::OuterHeader => "outer header",
            Self::InnerHeader => "inner headers",
            Self::Table => "table",
            Self::HeaderOfTable => "headers of the table",
            Self::Sentence => "sentences",
            Self::Heading => "heading",
            Self::UnderHeading => "under this heading",
        }
    }

    /// The edge types whose sources are such neighbours, as the document's graph names them.
    fn edges(self) -> &'static [EdgeType] {
        use EdgeType as E;
        match self {
            Self::SameRow | Self::SameColumn => &[],
            Self::Header => &[E::RowHeaderCell, E::ColumnHeaderCell],
            Self::CellOfHeader => &[E::CellRowHeader, E::CellColumnHeader],
            Self::OuterHeader => &[E::HeaderChild],
            Self::InnerHeader => &[E::HeaderParent],
            Self::Table => &[E::CaptionCell, E::CaptionRowHeader, E::CaptionColumnHeader, E::CaptionPassage],
            Self::HeaderOfTable => &[E::RowHeaderCaption, E::ColumnHeaderCaption],
            Self::Sentence => &[E::PassageCaption, E::PassageNext, E::PassagePrevious],
            Self::Heading => &[E::HeadingPassage, E::HeadingCaption, E::HeadingChild],
            Self::UnderHeading => &[E::PassageHeading, E::CaptionHeading, E::HeadingParent],
        }
    }

    const OF_EDGES: [Self; 9] = [
        Self::Header,
        Self::CellOfHeader,
        Self::OuterHeader,
        Self::InnerHeader,
        Self::Table,
        Self::HeaderOfTable,
        Self::Sentence,
        Self::Heading,
        Self::UnderHeading,
    ];

    fn is_seen(self, settings: &WalkSettings) -> bool {
        match self {
            Self::SameRow | Self::SameColumn => true,
            Self::Header | Self::CellOfHeader | Self::OuterHeader | Self::InnerHeader | Self::HeaderOfTable => {
                settings.headers
            }
            Self::Table => settings.headers || settings.sentences || settings.sections,
            Self::Sentence => settings.sentences,
            Self::Heading | Self::UnderHeading => settings.sections,
        }
    }
}

/// The cells of a table, by row and by column.
struct Lines {
    rows: BTreeMap<usize, Vec<u32>>,
    columns: BTreeMap<usize, Vec<u32>>,
    /// Rows and columns of the grid.
    size: (usize, usize),
}

/// A document's graph with what finds nodes in it. Nodes go by their numbers; merged cells are one node with several rows or
/// columns. Cheap to make: the lines of a table are laid out when they are first wanted.
pub struct CellGraph<'a> {
    graph: &'a Graph,
    settings: WalkSettings,
    numbers: HashMap<&'a str, u32>,
    /// By the table's number; the node is its caption.
    tables: BTreeMap<usize, (Option<u32>, OnceLock<Lines>)>,
}

impl<'a> CellGraph<'a> {
    /// A graph of which an agent sees what the settings say.
    pub fn new(graph: &'a Graph, settings: &WalkSettings) -> Self {
        let mut tables: BTreeMap<usize, (Option<u32>, OnceLock<Lines>)> = BTreeMap::new();
        for (number, node) in (0..).zip(graph.nodes()) {
            if let Some(place) = &node.place {
                let table = tables.entry(place.table).or_default();
                if node.kind == NodeKind::Caption {
                    table.0 = Some(number);
                }
            }
        }
        let numbers = (0..).zip(graph.nodes()).map(|(number, node)| (node.id.as_str(), number)).collect();
        Self { graph, settings: settings.clone(), numbers, tables }
    }

    /// Which edges are seen, and how much of them.
    pub fn settings(&self) -> &WalkSettings {
        &self.settings
    }

    /// The node with a number.
    pub fn node(&self, number: u32) -> Option<&'a Node> {
        self.graph.nodes().get(number as usize)
    }

    /// The id of a node; empty for one that is not there.
    pub fn id(&self, number: u32) -> &'a str {
        self.node(number).map_or("", |node| node.id.as_str())
    }

    fn lines(&self, table: usize) -> Option<&Lines> {
        let (_, lines) = self.tables.get(&table)?;
        Some(lines.get_or_init(|| {
            let (rows, columns) = (self.graph.rows(table), self.graph.columns(table));
            let cells = rows.values().flatten().filter_map(|&cell| self.span(cell));
            let size =
                cells.fold((0, 0), |(rows, columns), span| (rows.max(span.rows.end), columns.max(span.columns.end)));
            Lines { rows, columns, size }
        }))
    }

    /// The node of a table's caption.
    pub(crate) fn caption(&self, table: usize) -> Option<u32> {
        self.tables.get(&table)?.0
    }

    /// The cells of a table row by row, headers among them.
    pub(crate) fn rows(&self, table: usize) -> impl Iterator<Item = &[u32]> {
        self.lines(table).into_iter().flat_map(|lines| lines.rows.values().map(Vec::as_slice))
    }

    fn span(&self, number: u32) -> Option<Span> {
        self.node(number).and_then(Node::span)
    }

    /// The node that an id names. Beside ids any place of a table, `t0:r3c2`, names the cell that covers it: header rows and
    /// merged cells may be named so too.
    ///
    /// # Errors
    /// Why there is none, in words for who wrote the id.
    pub fn find(&self, id: &str) -> Result<u32, String> {
        let id = id.trim().trim_matches(['[', ']', '`', '"']);
        if let Some(number) = self.numbers.get(id) {
            return Ok(*number);
        }
        let place = id.strip_prefix('t').and_then(|rest| rest.split_once(":r"));
        let place = place.and_then(|(table, cell)| {
            let (row, column) = cell.split_once(['c', 'h'])?;
            Some((table.parse().ok()?, row.parse().ok()?, column.parse().ok()?))
        });
        let Some((table, row, column)) = place else {
            return Err(format!(
                "there is no node {:?}; ids look like t0:r1c2, t0:h0c1, t0:r1h0, t0, p3 or s1",
                short(id)
            ));
        };
        let Some(lines) = self.lines(table) else { return Err(format!("there is no table t{table}")) };
        let (rows, columns) = lines.size;
        if row >= rows || column >= columns {
            return Err(format!(
                "{} is outside table t{table}, which has rows 0 to {} and columns 0 to {}",
                short(id),
                rows.saturating_sub(1),
                columns.saturating_sub(1)
            ));
        }
        let covers = |cell: &u32| {
            self.span(*cell).is_some_and(|span| span.rows.contains(&row) && span.columns.contains(&column))
        };
        let mut line = lines.rows.get(&row).into_iter().chain(lines.columns.get(&column)).flatten();
        line.find(|cell| covers(cell)).copied().ok_or_else(|| format!("no cell covers {}", short(id)))
    }

    /// Nodes whose text is the query, whatever its case and blanks; without one, those that hold it; without those, those
    /// with all its words. Those in tables of `near` come first. At most `most`, and how many there are.
    pub fn search(&self, query: &str, near: &[u32], most: usize) -> (Vec<u32>, usize) {
        let query = plain(query);
        if query.is_empty() {
            return (Vec::new(), 0);
        }
        let words: Vec<&str> = query.split(' ').collect();
        let mut found: [Vec<u32>; 3] = Default::default();
        for (number, node) in (0..).zip(self.graph.nodes()) {
            let text = plain(&node.text);
            let place = if text == query {
                0
            } else if text.contains(&query) {
                1
            } else if words.iter().all(|word| text.split(' ').any(|other| other == *word)) {
                2
            } else {
                continue;
            };
            if let Some(found) = found.get_mut(place) {
                found.push(number);
            }
        }
        let mut best = found.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        let tables: BTreeSet<Option<usize>> = near.iter().map(|&number| self.table(number)).collect();
        best.sort_by_key(|&number| (!tables.contains(&self.table(number)), number));
        let all = best.len();
        best.truncate(most);
        (best, all)
    }

    /// The table that a node is in.
    fn table(&self, number: u32) -> Option<usize> {
        self.node(number)?.place.as_ref().map(|place| place.table)
    }

    /// The neighbours of a node, relation by relation, in each by place; each without the node itself. A node that is not
    /// there has none.
    pub fn neighbours(&self, number: u32) -> Vec<(Relation, Vec<u32>)> {
        let mut found = Vec::new();
        for relation in [Relation::SameRow, Relation::SameColumn] {
            found.push((relation, self.line(number, relation)));
        }
        for relation in Relation::OF_EDGES.into_iter().filter(|relation| relation.is_seen(&self.settings)) {
            found.push((relation, self.along(number, relation)));
        }
        found.retain(|(_, nodes)| !nodes.is_empty());
        found
    }

    fn along(&self, number: u32, relation: Relation) -> Vec<u32> {
        let adjacency = self.graph.adjacency();
        let wanted = |edge: &usize| {
            let of = adjacency.types().get(*edge).copied().and_then(EdgeType::from_number);
            of.is_some_and(|of| relation.edges().contains(&of))
        };
        let edges = adjacency.edges_into(number).filter(wanted);
        let found: BTreeSet<u32> = edges.filter_map(|edge| adjacency.sources().get(edge).copied()).collect();
        found.into_iter().collect()
    }

    fn line(&self, number: u32, relation: Relation) -> Vec<u32> {
        let Some(span) = self.span(number) else { return Vec::new() };
        let Some(lines) = self.lines(span.table) else { return Vec::new() };
        let (lines, range) = match relation {
            Relation::SameRow => (&lines.rows, span.rows),
            _ => (&lines.columns, span.columns),
        };
        let Range { start, end } = range;
        let mut seen = BTreeSet::from([number]);
        let cells = lines.range(start..end.max(start.saturating_add(1))).flat_map(|(_, cells)| cells);
        cells.copied().filter(|cell| seen.insert(*cell)).collect()
    }

    /// The texts of the cells in the rows and columns of a cell.
    pub(crate) fn texts_in_line(&self, number: u32) -> impl Iterator<Item = &'a str> {
        let cells = [Relation::SameRow, Relation::SameColumn].map(|relation| self.line(number, relation));
        cells.into_iter().flatten().filter_map(move |cell| self.node(cell)).map(|node| node.text.as_str())
    }

    /// How two nodes stand to each other, where one is a neighbour of the other.
    pub fn relation(&self, a: u32, b: u32) -> Option<Relation> {
        if let (Some(one), Some(other)) = (self.span(a), self.span(b))
            && one.table == other.table
            && a != b
        {
            let meet = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
            if meet(&one.rows, &other.rows) {
                return Some(Relation::SameRow);
            }
            if meet(&one.columns, &other.columns) {
                return Some(Relation::SameColumn);
            }
        }
        let of = |node: u32, other: u32| {
            self.neighbours(node).into_iter().find(|(_, nodes)| nodes.contains(&other)).map(|(relation, _)| relation)
        };
        // A table's cells are no neighbours of it, which would be all of them, but it is one of theirs.
        of(a, b).or_else(|| of(b, a))
    }

    /// Nodes that are neighbours of both, by number: of two cells those where their rows and columns cross, what both are
    /// headers of, the rest of a line that both stand in; not the table, which all its cells share.
    pub fn shared(&self, a: u32, b: u32) -> Vec<u32> {
        let cells = self.span(a).is_some() && self.span(b).is_some();
        let all = |number: u32| -> BTreeSet<u32> {
            let relations = self.neighbours(number).into_iter();
            relations
                .filter(|(relation, _)| !cells || *relation != Relation::Table)
                .flat_map(|(_, nodes)| nodes)
                .collect()
        };
        let of_b = all(b);
        all(a).into_iter().filter(|node| of_b.contains(node) && *node != a && *node != b).collect()
    }

    /// Nodes that so many steps along rows, columns and seen edges reach, nearest first, then by number; at most some
    /// thousands.
    pub fn within(&self, number: u32, hops: usize) -> Vec<(usize, u32)> {
        let mut seen = BTreeSet::from([number]);
        let mut queue = VecDeque::from([(0, number)]);
        let mut found = Vec::new();
        while let Some((distance, node)) = queue.pop_front() {
            if distance >= hops || found.len() >= MOST_WITHIN {
                break;
            }
            for next in self.neighbours(node).into_iter().flat_map(|(_, nodes)| nodes) {
                if seen.insert(next) {
                    found.push((distance + 1, next));
                    queue.push_back((distance + 1, next));
                }
            }
        }
        found.sort_unstable();
        found.truncate(MOST_WITHIN);
        found
    }

    /// A node as prompts and observations show it: its id, its text as a JSON string on one line, and what a merged cell
    /// covers.
    pub fn shown(&self, number: u32) -> String {
        let Some(node) = self.node(number) else { return String::new() };
        let text = serde_json::Value::from(short(&one_line(&node.text))).to_string();
        let mut shown = format!("{} {text}", node.id);
        if let Some(Span { rows, columns, .. }) = node.span()
            && (rows.len() > 1 || columns.len() > 1)
        {
            let line = |name: &str, range: &Range<usize>| match range.len() {
                0 | 1 => format!("{name} {}", range.start),
                _ => format!("{name}s {} to {}", range.start, range.end - 1),
            };
            shown += &format!(" ({}, {})", line("row", &rows), line("column", &columns));
        }
        shown
    }

    /// The same with the headers that the document's reader found, where they are seen.
    pub fn shown_with_headers(&self, number: u32) -> String {
        let shown = self.shown(number);
        let node = self.node(number).filter(|node| node.kind == NodeKind::Cell && self.settings.headers);
        let Some(place) = node.and_then(|node| node.place.as_ref()) else { return shown };
        let quoted = |text: &String| serde_json::Value::from(short(&one_line(text))).to_string();
        let paths: Vec<String> =
            [&place.row_path, &place.column_path].into_iter().filter(|path| !path.is_empty()).map(quoted).collect();
        if paths.is_empty() { shown } else { format!("{shown}, headers {}", paths.join(" and ")) }
    }

    /// The tables of some nodes, row by row, each cell with its id; at most about so many bytes.
    pub fn tables_of(&self, nodes: &[u32], most: usize) -> String {
        let mut text = String::new();
        let tables: BTreeSet<usize> = nodes.iter().filter_map(|&number| self.table(number)).collect();
        'tables: for table in tables {
            if let Some((Some(caption), _)) = self.tables.get(&table) {
                text += &format!("Table {}\n", self.shown(*caption));
            }
            for cells in self.lines(table).into_iter().flat_map(|lines| lines.rows.values()) {
                let row: Vec<String> = cells.iter().map(|&cell| self.shown(cell)).collect();
                if text.len() + row.iter().map(String::len).sum::<usize>() > most {
                    text += "(the rest is left out)\n";
                    break 'tables;
                }
                text += &row.join(" | ");
                text.push('\n');
            }
        }
        text
    }

    /// The node as what an answer rests on.
    pub fn citation(&self, number: u32) -> Option<Citation> {
        let node = self.node(number)?;
        let path = |path: &str| (node.kind == NodeKind::Cell && !path.is_empty()).then(|| path.to_owned());
        Some(Citation {
            node: node.id.clone(),
            text: node.text.clone(),
            row_headers: node.place.as_ref().and_then(|place| path(&place.row_path)),
            column_headers: node.place.as_ref().and_then(|place| path(&place.column_path)),
            position: node.into(),
            location: None,
            table: None,
            file: None,
            id_in_file: None,
        })
    }

    /// The numbers of a node with unit and scale, from itself, its headers, what stands over the table and names its scale, its
    /// caption and headings.
    pub fn quantities(&self, number: u32) -> Vec<Quantity> {
        let Some(node) = self.node(number) else { return Vec::new() };
        let of_text = || -> Vec<Quantity> { of_sentence(&node.text).into_iter().map(|of| of.quantity).collect() };
        let Some(place) = &node.place else { return of_text() };
        let text = if has_decimal_comma(&node.text) { &with_points(&node.text) } else { &node.text };
        if node.kind != NodeKind::Cell {
            // What the table says of its numbers is not of a year in a header.
            return of_cell(text, [], 0, None).map_or_else(of_text, |quantity| vec![quantity]);
        }
        let section = tabsegnet_graph::section_path(self.graph.nodes(), node);
        let mut headings = vec![place.row_path.as_str(), place.column_path.as_str()];
        headings.extend(self.over(place.table));
        let caption = self.caption(place.table).and_then(|caption| self.node(caption));
        // A caption that is made of column headers says of each column what one says.
        headings.extend(caption.map(|caption| caption.text.as_str()).filter(|text| !text.contains(" | ")));
        headings.extend(section.iter().rev().map(String::as_str));
        // A cell may say more than a number: "$5 million in 2016".
        of_cell(text, headings, 2, None).map_or_else(of_text, |quantity| vec![quantity])
    }

    /// What the first rows of a table say of all its numbers: the headers over its row headers, and rows without numbers
    /// that name a scale, such as `(in thousands)`.
    fn over(&self, table: usize) -> Vec<&'a str> {
        let mut found = Vec::new();
        for cells in self.rows(table).take(TOP) {
            let nodes: Vec<&Node> = cells.iter().filter_map(|&cell| self.node(cell)).collect();
            let is_number = |node: &&Node| node.kind == NodeKind::Cell && parse_cell_number(&node.text).is_some();
            let has_numbers = nodes.iter().any(is_number);
            for node in nodes {
                let corner =
                    node.kind == NodeKind::ColumnHeader && node.span().is_some_and(|span| span.columns.start == 0);
                let said =
                    node.kind != NodeKind::ColumnHeader && !has_numbers && Scale::of_heading(&node.text).is_some();
                if corner || said {
                    found.push(node.text.as_str());
                }
            }
        }
        found
    }
}

/// Characters of a text that are shown.
const SHOWN: usize = 300;

/// A text cut down to what is shown.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text.to_owned(),
    }
}

/// As texts are compared: in lower case, on one line.
pub(crate) fn plain(text: &str) -> String {
    one_line(text).to_lowercase()
}
