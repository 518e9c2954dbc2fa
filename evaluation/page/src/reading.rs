//! The document as it reads.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use tabsegnet_document::Layout;
use tabsegnet_document::model::{Block, Cell, CellRole, Document, Heading, Table};
use tabsegnet_document::numbers::parse_cell_number;

use crate::kit::{self, escape};
use crate::marks::{Marks, Ranked};
use crate::palette;
use crate::text::direction;

/// Paragraphs that a browser lays out together; those far from the window it leaves for later.
const PARAGRAPHS_TOGETHER: usize = 16;

/// Deepest indent of rows that stand under rows.
const DEEPEST: usize = 4;

/// The blocks of a document as HTML, with the marks of the first answer.
pub(crate) fn render(document: &Document, layout: Option<&Layout>, answers: &[Marks]) -> String {
    let mut reading = Reading { html: String::new(), number: 0, looks: looks(answers), part: Part::default() };
    let passages = document.passages().count();
    let paragraphs = paragraphs(layout, passages);
    let mut passage = 0;
    let mut before = None;
    for block in &document.blocks {
        match block {
            Block::Heading(Heading { level, text }) => {
                before = None;
                reading.end_paragraph();
                reading.start_paragraph(Some(*level));
                reading.sentence(text);
            }
            Block::Passage(text) => {
                let paragraph = paragraphs.get(passage).copied().flatten();
                passage += 1;
                if paragraph.is_none() || paragraph != before {
                    reading.end_paragraph();
                    reading.start_paragraph(None);
                }
                before = paragraph;
                reading.sentence(text);
            }
            Block::Table(table) => {
                before = None;
                reading.end_part();
                reading.table(table);
            }
        }
    }
    reading.end_part();
    reading.html
}

/// The paragraph of each passage.
fn paragraphs(layout: Option<&Layout>, passages: usize) -> Vec<Option<usize>> {
    let mut of_passage = vec![None; passages];
    for (number, paragraph) in layout.iter().flat_map(|layout| &layout.paragraphs).enumerate() {
        let range = paragraph.start.min(passages)..paragraph.end.min(passages);
        of_passage.get_mut(range).into_iter().flatten().for_each(|of_passage| *of_passage = Some(number));
    }
    of_passage
}

/// How the first answer marks a node.
#[derive(Default)]
struct Look<'m> {
    /// From 1.
    shade: Option<usize>,
    ranked: Option<&'m Ranked<'m>>,
    /// Whether any answer's ranks or path lead to it.
    target: bool,
}

fn looks<'m>(answers: &'m [Marks<'m>]) -> HashMap<usize, Look<'m>> {
    let mut looks: HashMap<usize, Look> = HashMap::new();
    for ranked in answers.iter().flat_map(|marks| &marks.ranked) {
        looks.entry(ranked.number).or_default().target = true;
    }
    for (from, to) in answers.iter().flat_map(|marks| &marks.path).flatten() {
        from.iter().chain(to).for_each(|number| looks.entry(*number).or_default().target = true);
    }
    if let Some(first) = answers.first() {
        for ranked in &first.ranked {
            looks.entry(ranked.number).or_default().ranked = Some(ranked);
        }
        for (level, numbers) in first.shades.iter().enumerate() {
            for number in numbers {
                looks.entry(*number).or_default().shade = Some(level + 1);
            }
        }
    }
    looks
}

/// The number of a ranked node with the letter of its segment.
pub(crate) fn badge(ranked: &Ranked) -> String {
    let rank = ranked.rank;
    match ranked.segment {
        Some(segment) => format!(
            "<span class=\"b {}\"><span class=\"vh\">rank </span>{rank}<span class=\"vh\">, segment </span><b>{}</b></span> ",
            kit::class(segment),
            palette::letters(segment)
        ),
        None => format!("<span class=\"b\"><span class=\"vh\">rank </span>{rank}</span> "),
    }
}

/// Paragraphs that are laid out together.
#[derive(Default)]
struct Part {
    html: String,
    paragraphs: usize,
    /// The tag to close, such as `p`.
    open: Option<String>,
    sentences: usize,
    characters: usize,
    /// Estimated height in font sizes.
    height: f64,
}

struct Reading<'m> {
    html: String,
    /// The next node's number.
    number: usize,
    looks: HashMap<usize, Look<'m>>,
    part: Part,
}

impl Reading<'_> {
    fn start_paragraph(&mut self, heading: Option<u8>) {
        if self.part.paragraphs >= PARAGRAPHS_TOGETHER {
            self.end_part();
        }
        // The page's title and the document's own heading take the first two levels.
        let tag = heading.map_or_else(|| "p".to_owned(), |level| format!("h{}", level.saturating_add(2).clamp(3, 6)));
        let _ = write!(self.part.html, "<{tag} dir=\"auto\">");
        self.part.open = Some(tag);
        self.part.paragraphs += 1;
        self.part.sentences = 0;
        self.part.characters = 0;
    }

    fn end_paragraph(&mut self) {
        if let Some(tag) = self.part.open.take() {
            let _ = writeln!(self.part.html, "</{tag}>");
            self.part.height += self.part.characters.div_ceil(80).max(1) as f64 * 1.6 + 0.8;
        }
    }

    fn sentence(&mut self, text: &str) {
        let (attributes, badge) = self.next_node("s", text.trim().is_empty().then_some("blank"));
        let gap = if self.part.sentences > 0 { " " } else { "" };
        let _ = write!(self.part.html, "{gap}<span{attributes}>{badge}{}</span>", escape(text));
        self.part.sentences += 1;
        self.part.characters += text.chars().count();
    }

    fn end_part(&mut self) {
        self.end_paragraph();
        let part = std::mem::take(&mut self.part);
        if part.paragraphs > 0 {
            let _ = write!(
                self.html,
                "<div class=\"part text\" style=\"--h:{:.0}em\">\n{}</div>\n",
                part.height.ceil(),
                part.html
            );
        }
    }

    /// Attributes and number sign of the next node's element. Nodes' elements are counted, not
    /// named: only those that ranks lead to have an id.
    fn next_node(&mut self, class: &str, more: Option<&str>) -> (String, String) {
        let number = self.number;
        self.number += 1;
        let mut classes: Vec<String> = [Some(class), more].into_iter().flatten().map(str::to_owned).collect();
        let (mut id, mut sign) = (String::new(), String::new());
        if let Some(look) = self.looks.get(&number) {
            if look.target {
                id = format!(" id=\"n{number}\"");
            }
            if let Some(shade) = look.shade {
                classes.push(format!("l{shade}"));
            }
            if let Some(ranked) = look.ranked {
                classes.push("k".to_owned());
                classes.extend(ranked.segment.map(kit::class));
                sign = badge(ranked);
            }
        }
        classes.retain(|class| !class.is_empty());
        let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
        (class + &id, sign)
    }

    fn table(&mut self, table: &Table) {
        let number = table.number();
        let caption = match table.caption().trim() {
            "" => "<i>without a caption</i>".to_owned(),
            text => escape(text),
        };
        let (attributes, badge) = self.next_node("", None);
        let _ = write!(
            self.html,
            "<div class=\"part scroll\" style=\"--h:{}em\" role=\"group\" aria-label=\"Table {number}\" tabindex=\"0\"><table>\n\
             <caption{attributes}><span{}>{badge}<span class=\"tag\">Table {number}</span> {caption}</span></caption>\n",
            table.rows() * 2 + 3,
            direction(table.caption()),
        );
        let levels = row_levels(table);
        let numeric = numeric_columns(table);
        let head = rows_of_head(table);
        let mut cells = table.cells().iter().peekable();
        for row in 0..table.rows() {
            if row == 0 {
                self.html += if head > 0 { "<thead>\n" } else { "<tbody>\n" };
            } else if row == head {
                self.html += "</thead>\n<tbody>\n";
            }
            self.html += "<tr>";
            let mut indent = levels.get(row).copied().unwrap_or(0);
            while let Some(cell) = cells.next_if(|cell| cell.row == row) {
                self.cell(table, cell, std::mem::take(&mut indent), &numeric);
            }
            self.html += "</tr>\n";
        }
        self.html += if head == table.rows() { "</thead>\n" } else { "</tbody>\n" };
        self.html += "</table></div>\n";
    }

    fn cell(&mut self, table: &Table, cell: &Cell, indent: usize, numeric: &HashSet<usize>) {
        let role = table.role(cell);
        let right = match role {
            CellRole::ColumnHeader => {
                cell.colspan == 1 && numeric.contains(&cell.col) && cell.col >= table.num_header_cols()
            }
            CellRole::RowHeader => false,
            CellRole::Data => parse_cell_number(&cell.text).is_some(),
        };
        let indent = (indent > 0).then(|| format!("i{indent}"));
        let class = match right {
            true => "r",
            false if is_code(&cell.text) => "w",
            false => "",
        };
        let (mut attributes, badge) = self.next_node(class, indent.as_deref());
        // A header without a word heads nothing.
        let header = !cell.text.trim().is_empty() && role != CellRole::Data;
        if header {
            attributes += match role {
                CellRole::ColumnHeader if cell.colspan > 1 => " scope=\"colgroup\"",
                CellRole::ColumnHeader => " scope=\"col\"",
                _ if cell.rowspan > 1 => " scope=\"rowgroup\"",
                _ => " scope=\"row\"",
            };
        }
        for (name, span) in [("rowspan", cell.rowspan), ("colspan", cell.colspan)] {
            if span > 1 {
                let _ = write!(attributes, " {name}=\"{span}\"");
            }
        }
        attributes += direction(&cell.text);
        let tag = if header { "th" } else { "td" };
        let _ = write!(self.html, "<{tag}{attributes}>{badge}{}</{tag}>", escape(&cell.text));
    }
}

/// Whether a text is a date or a code, which is not to be parted at its hyphens.
fn is_code(text: &str) -> bool {
    const LONGEST: usize = 24;
    text.len() <= LONGEST && text.contains(['-', '/']) && !text.trim().contains(char::is_whitespace)
}

/// Rows of the table's head. None where a cell reaches from the header rows into the body: a
/// browser would cut it off there.
fn rows_of_head(table: &Table) -> usize {
    let head = table.num_header_rows();
    let reaches = |cell: &Cell| cell.row < head && cell.row + cell.rowspan > head;
    if table.cells().iter().any(reaches) { 0 } else { head }
}

/// How many rows each row stands under.
fn row_levels(table: &Table) -> Vec<usize> {
    let mut levels = Vec::with_capacity(table.rows());
    for row in 0..table.rows() {
        let above = table.row_parent(row).and_then(|parent| levels.get(parent).copied());
        levels.push(above.map_or(0, |level: usize| (level + 1).min(DEEPEST)));
    }
    levels
}

/// Columns in which most cells with a text are numbers: their headers stand over them.
fn numeric_columns(table: &Table) -> HashSet<usize> {
    let mut counts: HashMap<usize, (usize, usize)> = HashMap::new();
    for cell in table.cells().iter().filter(|cell| table.role(cell) == CellRole::Data && !cell.text.trim().is_empty()) {
        let (numbers, all) = counts.entry(cell.col).or_default();
        *numbers += usize::from(parse_cell_number(&cell.text).is_some());
        *all += 1;
    }
    counts.into_iter().filter(|(_, (numbers, all))| numbers * 2 > *all).map(|(col, _)| col).collect()
}
