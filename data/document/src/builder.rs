//! A document in the making: what every reader puts its paragraphs and tables into.

use crate::facts::{FactPlace, Facts};
use crate::grid::{Grid, GridCell};
use crate::headers::{self, Known};
use crate::layout::Layout;
use crate::locations::{Location, TableLocation};
use crate::model::{Block, Document, Heading, join_non_empty};
use crate::options::ReadOptions;
use crate::read::{Cut, Inferred, ReadDocument};
use crate::sentences;

/// Paragraphs before a table that may say what it is.
const LINES_BEFORE: usize = 3;

/// The longest sentence that introduces a table.
const INTRODUCTION: usize = 300;

pub(crate) struct Builder<'a> {
    options: &'a ReadOptions,
    blocks: Vec<Block>,
    passages: usize,
    layout: Layout,
    /// What the file says of all its pages that amounts are counted in.
    pub unit: Option<String>,
    /// Where the next heading or paragraph stands.
    pub at: Option<Location>,
    tables: Vec<Inferred>,
    cells: usize,
    warnings: Vec<String>,
    cuts: Vec<Cut>,
    pub facts: Facts,
    /// What the file calls itself.
    pub title: Option<String>,
    /// Pictures of the file, which are not read.
    pub pictures: usize,
    /// The last paragraphs since the last table, and whether each is a heading.
    lines: Vec<(String, bool)>,
    /// The last heading.
    heading: String,
}

impl<'a> Builder<'a> {
    pub fn new(options: &'a ReadOptions) -> Self {
        Self {
            options,
            blocks: Vec::new(),
            passages: 0,
            layout: Layout::default(),
            unit: None,
            at: None,
            tables: Vec::new(),
            cells: 0,
            warnings: Vec::new(),
            cuts: Vec::new(),
            facts: Facts::default(),
            title: None,
            pictures: 0,
            lines: Vec::new(),
            heading: String::new(),
        }
    }

    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Warns that of a table's rows, as many as `of` where that is known, only the first were read.
    pub fn cut(&mut self, rows: usize, of: Option<usize>, warning: String) {
        self.cuts.push(Cut { rows, of, warning: warning.clone() });
        self.warn(warning);
    }

    /// The number that the next table gets.
    pub fn table_number(&self) -> usize {
        self.tables.len()
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: &str, level: u8) {
        let text = text.trim().to_owned();
        if text.is_empty() {
            return;
        }
        self.heading.clone_from(&text);
        self.line(text.clone(), true);
        self.layout.locations.headings.push(self.at.clone());
        self.blocks.push(Block::Heading(Heading { level, text }));
    }

    /// Adds a paragraph as one passage a sentence. Gives the passage of each mark, marks being pairs of a place in the
    /// text and anything.
    pub fn paragraph<T: Copy>(&mut self, text: &str, marks: &[(usize, T)]) -> Vec<(T, usize)> {
        let mut sentences = sentences::split(text);
        sentences.retain(|range| !text[range.clone()].trim().is_empty());
        let mut placed = Vec::with_capacity(marks.len());
        for &(at, mark) in marks {
            let sentence = sentences.partition_point(|range| range.end <= at).min(sentences.len().saturating_sub(1));
            placed.push((mark, self.passages + sentence));
        }
        if sentences.is_empty() {
            return Vec::new();
        }
        let first = self.passages;
        self.passages += sentences.len();
        self.layout.paragraphs.push(first..self.passages);
        self.layout.locations.passages.resize(self.passages, self.at.clone());
        self.blocks.extend(sentences.into_iter().map(|range| Block::Passage(text[range].trim().to_owned())));
        self.line(text.trim().to_owned(), false);
        placed
    }

    fn line(&mut self, text: String, heading: bool) {
        if self.lines.len() == LINES_BEFORE {
            self.lines.remove(0);
        }
        self.lines.push((text, heading));
    }

    /// Adds a table whose headers are to be inferred. Gives the place of each tagged number in it. `source` says to people
    /// where it stands.
    pub fn table(
        &mut self,
        mut grid: Grid,
        caption: &str,
        source: String,
        mut location: Option<TableLocation>,
    ) -> Vec<(usize, FactPlace)> {
        let number = self.table_number();
        let given = self.options.tables.get(&number).copied().unwrap_or_default();
        let known = Known {
            rows: given.header_rows.or(self.options.header_rows),
            cols: given.header_cols.or(self.options.header_cols),
        };
        let mut places = Vec::new();
        if grid.rows * grid.cols == 0 {
            return places;
        }
        if grid.cells.iter().all(GridCell::is_empty) {
            self.warn(format!("{source}: the table is left out, all its cells are empty"));
            return places;
        }
        let mut caption = match caption.trim() {
            "" => self.caption_before(),
            // What counts its numbers may stand before it all the same.
            own => {
                let last = self.lines.last().map(|(line, _)| line.as_str());
                join_non_empty([own].into_iter().chain(last.filter(|line| headers::is_unit_line(line))), " ")
            }
        };
        if known.rows.is_none() {
            let rows = grid.rows;
            for title in grid.take_titles() {
                places.extend(title.facts.iter().map(|&fact| (fact, FactPlace::Caption(number))));
                caption = join_non_empty([caption.as_str(), &title.text].into_iter(), " ");
            }
            if let Some(location) = &mut location {
                location.rows.drain(..(rows - grid.rows).min(location.rows.len()));
            }
        }
        self.cells += grid.rows * grid.cols;
        if self.cells > self.options.limits.max_cells {
            let limit = self.options.limits.max_cells;
            self.warn(format!("{source}: the table is left out, all tables together have more than {limit} cells"));
            self.cells -= grid.rows * grid.cols;
            return Vec::new();
        }
        let mut headers = headers::infer(&grid, known);
        if let Some(TableLocation { first: Location::Cell { .. }, rows, .. }) = &location {
            headers.end_groups(&grid, rows);
        }
        grid.fill_stubs(headers.rows, headers.cols);
        let outer: std::collections::BTreeSet<usize> = headers.parents.iter().copied().flatten().collect();
        grid.widen_titles(outer.into_iter());
        let own = headers::unit_in_corner(&grid, headers.rows).or_else(|| headers::unit_below(&grid, headers.rows));
        let all =
            self.unit.as_deref().filter(|_| !headers::names_unit(&caption) && !headers::has_unit(&grid, headers.rows));
        if let Some(unit) = own.or(all) {
            caption = join_non_empty([caption.as_str(), unit].into_iter(), " ");
        }
        grid.show_in_full(&caption, headers.rows);
        for cell in &grid.cells {
            let place = FactPlace::Cell { table: number, row: cell.row, col: cell.col };
            places.extend(cell.facts.iter().map(|&fact| (fact, place)));
        }
        let headers::Headers { rows, cols, parents, why } = headers;
        match grid.into_table(number, caption, (rows, cols), parents) {
            Ok(table) => {
                self.tables.push(Inferred { number, header_rows: rows, header_cols: cols, why, source });
                self.layout.locations.tables.push(location);
                self.blocks.push(Block::Table(table));
                self.lines.clear();
                places
            }
            Err(error) => {
                self.warn(format!("{source}: the table is left out: {error}"));
                Vec::new()
            }
        }
    }

    /// The lines before a table that name it: headings and units right above it, a sentence that
    /// leads up to it, else the last heading.
    fn caption_before(&self) -> String {
        let mut parts: Vec<&str> = Vec::new();
        let mut headed = false;
        for (distance, (line, heading)) in self.lines.iter().rev().enumerate() {
            let introduction = if distance == 0 && !heading { introduction(line) } else { None };
            if !(*heading || introduction.is_some() || headers::is_unit_line(line)) {
                break;
            }
            headed |= *heading || introduction.is_some();
            parts.push(introduction.unwrap_or(line));
        }
        if !headed && !self.heading.is_empty() {
            parts.push(&self.heading);
        }
        join_non_empty(parts.into_iter().rev(), " ")
    }

    pub fn finish(self, id: String, format: crate::Format) -> ReadDocument {
        ReadDocument {
            document: Document { id, blocks: self.blocks },
            layout: self.layout,
            format,
            facts: self.facts,
            tables: self.tables,
            warnings: self.warnings,
            cuts: self.cuts,
            title: self.title,
        }
    }
}

/// The last sentence of a paragraph, where it says that a table follows: it ends in a colon, or says so.
fn introduction(paragraph: &str) -> Option<&str> {
    let sentence = paragraph[sentences::split(paragraph).pop()?].trim();
    let lower = sentence.to_lowercase();
    let announces = sentence.ends_with(':')
        || ["following table", "table below", "tables below", "following tables", "as follows", "set forth below"]
            .iter()
            .any(|words| lower.contains(words));
    (announces && sentence.len() <= INTRODUCTION).then_some(sentence)
}
