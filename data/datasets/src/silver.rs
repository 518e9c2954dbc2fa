//! Silver segments: what a question asks for in each place, derived from its gold nodes.
//! For data sets that name gold nodes and no segments.
//!
//! The rule, for each gold node:
//!
//! 1. **A cell** asks for its row headers, then its column headers, the innermost of each. An outer
//!    level is there where the question has at least half of its content words, or where several rows
//!    (columns) of the table have the inner text. The column of a table with one data column is there
//!    where the question names it. Of an unnamed row of a table of entities ([`Rows::Entities`]) the
//!    column alone: the row is what is wanted. Where gold lies in several tables whose captions
//!    differ, the caption follows.
//! 2. **A whole row** as gold (two cells or more) of whose columns the question names fewer than half
//!    is one segment, the row without a column; likewise a whole column of three cells or more. A line
//!    without a header asks for what of the question the caption covers.
//! 3. **A header** asks for its path, if the question has at least half of its own content words; else
//!    for those headers above it that the question so names, since it is itself the answer. A path of
//!    neither sort is left out where another node gives a segment. A year alone goes to the segments that have it.
//! 4. **A sentence** (also a caption, and a cell without headers) asks for the part of the question that it
//!    covers: the shortest run of the question's words that holds all content words shared with it,
//!    without stop words at its ends. Its years come last, as those of a cell do, and of several each
//!    makes a segment, since a question does not know whether a table or a sentence has it. It asks for
//!    nothing where it shares none, or years alone. A part whose content words the other segments hold is
//!    none of its own: the sentence goes to the segment that holds most of them.
//!
//! Texts of headers lose units and footnote marks; a number that is no year and not in the question
//! names nothing; a date is its year, unless the question names the month or another header of the
//! table has the same year; a part that repeats the words of another is left out. Segments that differ in
//! case alone are one, with the nodes of both. More than [`MOST`] are reduced by asking for whole
//! rows, or whole columns where those are fewer; of what is still too many the first [`MOST`] stay. They
//! stand in the order in which the question names them, those it names in the same place in the document's.
//! Constants of a program have no node and so no segment.

mod headers;
mod path;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use path::Paths;
use words::{QuestionWords, content, is_year};

use crate::sample::{Samples, Segment};
use tabsegnet_document::model::{Block, Cell, CellRole, Document, Heading, Table};
use tabsegnet_document::node_id;

/// The most segments of one question.
const MOST: usize = 6;

/// What the rows of a data set's tables are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Things that are measured, as in reports: a question may name them in other words.
    Measures,
    /// Entities, as in encyclopedias: a question that does not name one asks for it.
    Entities,
}

/// Gives each question without segments those of its gold nodes.
pub(crate) fn label(samples: &mut Samples, rows: Rows) {
    for sample in &mut samples.samples {
        if sample.questions.iter().all(|question| question.gold.is_empty()) {
            continue;
        }
        let nodes = Nodes::new(&sample.document);
        for question in sample.questions.iter_mut().filter(|question| question.segments.is_empty()) {
            question.segments = nodes.segments(&question.text, &question.gold, rows);
        }
    }
}

/// What the row and the column of a cell are called where no question names them: the innermost headers.
pub fn names(table: &Table, cell: &Cell) -> [String; 2] {
    let query = QuestionWords::new("");
    let paths = Paths::new(&query, Rows::Measures, std::iter::empty());
    [paths.row(table, cell), paths.column(table, cell)]
}

/// A node of a document.
#[derive(Clone, Copy)]
enum Place<'d> {
    Text(&'d str),
    Caption(&'d Table),
    Cell(&'d Table, &'d Cell),
}

/// The nodes of a document by id, with their places in it.
struct Nodes<'d>(HashMap<String, (usize, Place<'d>)>);

/// A segment in the making: what it reads and which nodes, by place, it is for.
#[derive(Clone)]
struct Draft {
    text: String,
    nodes: BTreeMap<usize, String>,
    kind: Use,
}

/// What becomes of a draft beside others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// It stays.
    Whole,
    /// A part of the question: it stays where it says something that the others do not.
    Part,
    /// It stays where it is alone.
    Spare,
}

/// A gold cell: its place among the nodes, its id, where it stands.
#[derive(Clone)]
struct Gold<'d> {
    order: usize,
    id: String,
    table: &'d Table,
    cell: &'d Cell,
}

impl<'d> Nodes<'d> {
    fn new(document: &'d Document) -> Self {
        let mut nodes = HashMap::new();
        let (mut headings, mut passages) = (0, 0);
        for block in &document.blocks {
            match block {
                Block::Heading(Heading { text, .. }) => {
                    nodes.insert(node_id::heading(headings), (nodes.len(), Place::Text(text)));
                    headings += 1;
                }
                Block::Passage(text) => {
                    nodes.insert(node_id::passage(passages), (nodes.len(), Place::Text(text)));
                    passages += 1;
                }
                Block::Table(table) => {
                    nodes.insert(node_id::caption(table.number()), (nodes.len(), Place::Caption(table)));
                    for cell in table.cells() {
                        nodes.insert(node_id::cell(table, cell), (nodes.len(), Place::Cell(table, cell)));
                    }
                }
            }
        }
        Self(nodes)
    }

    fn segments(&self, question: &str, gold: &[String], rows: Rows) -> Vec<Segment> {
        let query = QuestionWords::new(question);
        let mut gold: Vec<(usize, &String, Place<'d>)> =
            gold.iter().filter_map(|id| self.0.get(id).map(|&(order, place)| (order, id, place))).collect();
        gold.sort_by_key(|&(order, ..)| order);
        gold.dedup_by_key(|&mut (order, ..)| order);
        let paths = Paths::new(&query, rows, gold.iter().filter_map(|&(_, _, place)| place.table()));

        let (mut cells, mut drafts) = (Vec::new(), Vec::new());
        for &(order, id, place) in &gold {
            let (texts, kind) = match place {
                Place::Cell(table, cell) if table.role(cell) == CellRole::Data => {
                    cells.push(Gold { order, id: id.clone(), table, cell });
                    continue;
                }
                Place::Cell(table, cell) => match paths.header(table, cell) {
                    // What it asks for beside the cells of its row or column.
                    Ok(path) if content(&path).iter().all(|key| is_year(key)) => (vec![path], Use::Part),
                    Ok(path) => (vec![path], Use::Whole),
                    Err(path) => (vec![path], Use::Spare),
                },
                Place::Text(text) if query.shares_years_alone(text) => continue,
                Place::Text(text) => (query.covered(text), Use::Part),
                Place::Caption(table) => (query.covered(&table.caption_text()), Use::Spare),
            };
            drafts.extend(texts.into_iter().map(|text| Draft { text, nodes: [(order, id.clone())].into(), kind }));
        }
        let with = |groups: Vec<Group<'d>>| {
            let cells = groups.into_iter().map(|group| group.draft(&paths, &query));
            finish(drafts.iter().cloned().chain(cells).collect(), &query)
        };
        let mut found = with(whole_lines(&cells, &query));
        if found.len() > MOST {
            found = with(fewer_lines(&cells));
            found.truncate(MOST);
        }
        found
            .into_iter()
            .map(|draft| Segment { text: draft.text, nodes: draft.nodes.into_values().collect() })
            .collect()
    }
}

impl<'d> Place<'d> {
    fn table(self) -> Option<&'d Table> {
        match self {
            Place::Cell(table, cell) if table.role(cell) == CellRole::Data => Some(table),
            _ => None,
        }
    }
}

/// Cells that one segment asks for.
enum Group<'d> {
    Cell(Gold<'d>),
    Row(Vec<Gold<'d>>),
    Column(Vec<Gold<'d>>),
}

impl Group<'_> {
    fn draft(self, paths: &Paths<'_>, query: &QuestionWords) -> Draft {
        let (text, cells) = match self {
            Self::Cell(gold) => (paths.cell(gold.table, gold.cell), vec![gold]),
            Self::Row(cells) => (cells.first().map_or_else(String::new, |g| paths.row(g.table, g.cell)), cells),
            Self::Column(cells) => (cells.first().map_or_else(String::new, |g| paths.column(g.table, g.cell)), cells),
        };
        // A line without a header of its own, or a cell without any.
        let in_caption = || cells.first().map(|gold| query.covered(gold.table.caption()).join(" "));
        let first = || cells.first().map(|gold| paths.cell(gold.table, gold.cell));
        let values = || {
            Some(
                query
                    .covered(&cells.iter().map(|gold| gold.cell.text.as_str()).collect::<Vec<_>>().join(" "))
                    .join(" "),
            )
        };
        let is_text = |text: &String| !text.is_empty();
        let text = Some(text).filter(is_text);
        let text = text.or_else(|| in_caption().filter(is_text)).or_else(|| first().filter(is_text)).or_else(values);
        let nodes = cells.into_iter().map(|gold| (gold.order, gold.id)).collect();
        Draft { text: text.unwrap_or_default(), nodes, kind: Use::Whole }
    }
}

/// A line of a table: the table's number, the row or column.
type Line = (usize, usize);

/// Cells by their row, or column, of their table.
fn lines<'d>(cells: &[Gold<'d>], line: fn(&Cell) -> usize) -> BTreeMap<Line, Vec<Gold<'d>>> {
    let mut lines: BTreeMap<Line, Vec<Gold<'d>>> = BTreeMap::new();
    for gold in cells {
        lines.entry((gold.table.number(), line(gold.cell))).or_default().push(gold.clone());
    }
    lines
}

/// Rule 2: whole rows and columns, the other cells one by one.
fn whole_lines<'d>(cells: &[Gold<'d>], query: &QuestionWords) -> Vec<Group<'d>> {
    let mut groups = Vec::new();
    let mut rest = Vec::new();
    for row in lines(cells, |cell| cell.row).into_values() {
        match is_whole(&row, query, 2, |cell| cell.row, Table::column_headers_of) {
            true => groups.push(Group::Row(row)),
            false => rest.extend(row),
        }
    }
    for column in lines(&rest, |cell| cell.col).into_values() {
        match is_whole(&column, query, 3, |cell| cell.col, Table::row_headers_of) {
            true => groups.push(Group::Column(column)),
            false => groups.extend(column.into_iter().map(Group::Cell)),
        }
    }
    groups
}

/// Whether the cells are all of a line that have a text, and the question names fewer than half of their
/// headers across it.
fn is_whole(
    cells: &[Gold<'_>],
    query: &QuestionWords,
    least: usize,
    line: fn(&Cell) -> usize,
    across: fn(&Table, &Cell) -> Vec<usize>,
) -> bool {
    let Some(Gold { table, cell: first, .. }) = cells.first() else { return false };
    let data =
        |cell: &&Cell| line(cell) == line(first) && table.role(cell) == CellRole::Data && !cell.text.trim().is_empty();
    let named = |gold: &&Gold<'_>| query.names(&table.path(&across(table, gold.cell)));
    cells.len() >= least
        && table.cells().iter().filter(data).count() <= cells.len()
        && cells.iter().filter(named).count() * 2 < cells.len()
}

/// All rows, or all columns where those are fewer.
fn fewer_lines<'d>(cells: &[Gold<'d>]) -> Vec<Group<'d>> {
    let (rows, columns) = (lines(cells, |cell| cell.row), lines(cells, |cell| cell.col));
    if columns.len() < rows.len() {
        columns.into_values().map(Group::Column).collect()
    } else {
        rows.into_values().map(Group::Row).collect()
    }
}

/// Equal ones merged, those that say nothing of their own joined to others, in order.
fn finish(drafts: Vec<Draft>, query: &QuestionWords) -> Vec<Draft> {
    let mut merged: Vec<(String, Draft)> = Vec::new();
    for draft in drafts.into_iter().filter(|draft| !draft.text.is_empty()) {
        let key = draft.text.to_lowercase();
        match merged.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => {
                known.kind = known.kind.min(draft.kind);
                known.nodes.extend(draft.nodes);
            }
            None => merged.push((key, draft)),
        }
    }
    let mut drafts = joined(merged.into_iter().map(|(_, draft)| draft).collect());
    if drafts.iter().any(|draft| draft.kind != Use::Spare) {
        drafts.retain(|draft| draft.kind != Use::Spare);
    }
    drafts.sort_by_cached_key(|draft| (query.positions(&draft.text), draft.nodes.keys().next().copied()));
    drafts
}

/// Parts of the question whose content words the others hold go into the one that holds most of them:
/// the shortest parts first, so that the longest of several like ones stays.
fn joined(mut drafts: Vec<Draft>) -> Vec<Draft> {
    drafts.sort_by_cached_key(|draft| (draft.kind == Use::Part, content(&draft.text).len()));
    let mut part = 0;
    while part < drafts.len() {
        let own = content(&drafts[part].text);
        let held = |draft: &Draft| content(&draft.text).intersection(&own).cloned().collect::<BTreeSet<String>>();
        let others = drafts.iter().enumerate().filter(|&(other, draft)| other != part && draft.kind != Use::Spare);
        let shared: Vec<(usize, BTreeSet<String>)> = others.map(|(other, draft)| (other, held(draft))).collect();
        let all: BTreeSet<&String> = shared.iter().flat_map(|(_, keys)| keys).collect();
        // The first of those that hold equally many.
        let most = shared.iter().rev().max_by_key(|(_, keys)| keys.len());
        match most {
            Some(&(most, _)) if drafts[part].kind == Use::Part && all.len() == own.len() => {
                let nodes = std::mem::take(&mut drafts[part].nodes);
                drafts[most].nodes.extend(nodes);
                drafts.remove(part);
            }
            _ => part += 1,
        }
    }
    drafts
}

#[cfg(test)]
mod tests;
