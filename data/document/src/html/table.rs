//! One `<table>` of a page: its cells, and whether it is a table or only laid out as one.

use super::compact::{align_years, compact, join_numbers};
use super::dom::{Dom, Id, Step};
use super::style::hides;
use super::text::{Run, is_mark, read_all};
use crate::facts::Fact;
use crate::grid::{Grid, GridCell, RawCell, Style};
use crate::kind::Kind;
use crate::numbers::parse_cell_number;

/// What a `<table>` turned out to be.
pub(super) enum Read {
    /// A table, with its `<caption>`, and where it was cut: after how many rows of how many.
    Table { grid: Grid, caption: Box<Run>, cut: Option<(usize, usize)> },
    /// Text that was only laid out: one run a row.
    Layout(Vec<Run>),
    /// Other tables stand in its cells and hold what it holds: to be walked through.
    Frame,
    /// Nothing.
    Empty,
}

/// Reads a table without the tables in its cells.
pub(super) fn read(dom: &Dom, table: Id, max_cells: usize, facts: &mut Vec<Fact>) -> Read {
    if is_frame(dom, table) {
        return Read::Frame;
    }
    let mut caption = Run::default();
    let mut rows: Vec<Vec<(RawCell, Run)>> = Vec::new();
    let mut in_head = false;
    let mut marked = dom.attribute(table, "role") == Some("presentation");
    let presentation = marked;
    let mut walk = dom.walk(table);
    while let Some(step) = walk.next() {
        let (Step::Enter(id) | Step::Leave(id)) = step;
        let entered = matches!(step, Step::Enter(_));
        match dom.name(id) {
            // It takes no column either: filings that were made in a spreadsheet keep what is merged away there as such cells.
            _ if entered && hides(dom, id) => walk.pass_over(id),
            "table" if entered && id != table => walk.pass_over(id),
            "thead" => in_head = entered,
            "tr" if entered => rows.push(Vec::new()),
            "caption" if entered => {
                marked = true;
                caption.append(read_all(dom, id, facts));
                walk.pass_over(id);
            }
            "td" | "th" if entered => {
                let run = read_all(dom, id, facts);
                let header = in_head || dom.name(id) == "th";
                marked |= header;
                if let Some(row) = rows.last_mut() {
                    row.push((cell(dom, id, &run, header), run));
                }
                walk.pass_over(id);
            }
            _ => {}
        }
    }
    let linked = rows.iter().filter(|row| row.iter().any(|(_, run)| run.linked > 0)).count();
    let layout = |rows: Vec<Vec<(RawCell, Run)>>| {
        let rows = rows.into_iter().map(|row| {
            row.into_iter().fold(Run::default(), |mut line, (_, run)| {
                line.append(run);
                line
            })
        });
        Read::Layout(rows.filter(|run| !run.is_empty()).collect())
    };
    let filled = rows.iter().filter(|row| row.iter().any(|(cell, _)| !cell.text.is_empty())).count();
    if filled == 0 {
        return Read::Empty;
    }
    // Contents: most rows lead to a place in the page, and few have more numbers than that of a page.
    let numbers = |row: &&Vec<(RawCell, Run)>| {
        row.iter().filter(|(cell, _)| parse_cell_number(&cell.text).is_some_and(|number| number != 0.0)).count() > 2
    };
    let of_numbers = rows.iter().filter(numbers).count();
    if presentation || (filled > 2 && linked * 2 > filled && of_numbers * 2 <= filled) {
        return layout(rows);
    }
    let cells = rows.iter().map(|row| join_numbers(without_mark_cells(row))).collect();
    let (grid, cut) = Grid::place(cells, max_cells);
    let grid = align_years(compact(grid));
    if !marked && is_layout(&grid) { layout(rows) } else { Read::Table { grid, caption: Box::new(caption), cut } }
}

pub(super) fn cell(dom: &Dom, id: Id, run: &Run, header: bool) -> RawCell {
    let span = |name| dom.attribute(id, name).and_then(|span| span.trim().parse::<usize>().ok());
    // A rowspan of 0 reaches to the end of the table.
    let rowspan = span("rowspan").map_or(1, |span| if span == 0 { usize::MAX } else { span });
    RawCell {
        text: run.text.clone(),
        rowspan: rowspan.min(65_534),
        colspan: span("colspan").unwrap_or(1).clamp(1, 1000),
        style: Style { header, bold: run.is_bold(), indent: run.indent },
        facts: run.facts.iter().map(|&(_, fact)| fact).collect(),
        stored: None,
    }
}

/// The row's cells; a footnote mark in a cell of its own behind a number leaves the cell empty.
fn without_mark_cells(row: &[(RawCell, Run)]) -> Vec<RawCell> {
    let mut cells = Vec::with_capacity(row.len());
    let mut after_value = false;
    for (cell, run) in row {
        let mut cell = cell.clone();
        let mark = run.raised > 0 && run.raised == run.solid && is_mark(&run.text) && cell.facts.is_empty();
        if mark && after_value {
            cell.text.clear();
        }
        if !cell.text.is_empty() {
            after_value = true;
        }
        cells.push(cell);
    }
    cells
}

/// Tables in cells, and little beside them.
fn is_frame(dom: &Dom, table: Id) -> bool {
    let nested: Vec<Id> = dom.subtree(table).filter(|&id| id != table && dom.name(id) == "table").collect();
    if nested.is_empty() {
        return false;
    }
    let (mut filled, mut inner) = (0, 0);
    let mut walk = dom.walk(table);
    while let Some(step) = walk.next() {
        let Step::Enter(id) = step else { continue };
        match dom.name(id) {
            "td" | "th" => {
                let holds_table = dom.subtree(id).any(|below| dom.name(below) == "table");
                inner += usize::from(holds_table);
                filled += usize::from(!holds_table && !dom.text(id).trim().is_empty());
                walk.pass_over(id);
            }
            "table" if id != table => walk.pass_over(id),
            _ => {}
        }
    }
    filled <= inner * 3
}

/// Whether an unmarked table only sets text side by side: one column, bullets and paragraphs, a
/// line of a page's head or foot, prose.
fn is_layout(grid: &Grid) -> bool {
    let filled = |cell: &&GridCell| !cell.is_empty();
    let cells: Vec<&GridCell> = grid.cells.iter().filter(filled).collect();
    let facts = cells.iter().filter(|cell| cell.col > 0).any(|cell| !cell.facts.is_empty() && cell.text.len() < 40);
    if grid.cols <= 1 {
        return true;
    }
    let values = cells.iter().filter(|cell| cell.col > 0 && matches!(cell.kind, Kind::Number | Kind::Year)).count();
    if grid.rows == 1 {
        return !facts && values < 2;
    }
    let first: Vec<&&GridCell> = cells.iter().filter(|cell| cell.col == 0).collect();
    let bullets = first.iter().filter(|cell| is_bullet(&cell.text)).count();
    if bullets > 0 && bullets == first.len() && values == 0 {
        return true;
    }
    if values > 0 || facts {
        return false;
    }
    let beside: Vec<usize> = cells.iter().filter(|cell| cell.col > 0).map(|cell| cell.text.chars().count()).collect();
    let mean = beside.iter().sum::<usize>() / beside.len().max(1);
    mean > 160 || beside.len() < 2
}

/// `•`, `(a)`, `1.`, `*`: what stands before a paragraph.
pub(super) fn is_bullet(text: &str) -> bool {
    let text = text.trim();
    let inner = text.trim_start_matches('(').trim_end_matches([')', '.', ':']);
    // `None.` is a word.
    let is_roman = |c: char| matches!(c.to_ascii_lowercase(), 'i' | 'v' | 'x' | 'l' | 'c');
    let is_word = inner.len() > 2 && inner.chars().all(|c| c.is_alphabetic()) && !inner.chars().all(is_roman);
    text.chars().count() <= 6
        && (text.chars().all(|c| !c.is_alphanumeric())
            || (inner.len() < text.len()
                && inner.len() <= 4
                && !is_word
                && inner.chars().all(|c| c.is_ascii_alphanumeric()))
            || matches!(text, "o" | "Ø"))
}
