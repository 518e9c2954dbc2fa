//! What headers say of a cell.

use super::Rows;
use super::headers::{date, header};
use super::words::{QuestionWords, is_year, words};
use tabsegnet_document::model::{Cell, CellRole, Table};

/// Paths of headers as a question would have them.
pub(super) struct Paths<'a> {
    query: &'a QuestionWords,
    rows: Rows,
    /// Whether captions distinguish the tables with gold.
    captions: bool,
}

impl<'a> Paths<'a> {
    /// `tables` are those of the gold cells.
    pub(super) fn new<'t>(query: &'a QuestionWords, rows: Rows, tables: impl Iterator<Item = &'t Table>) -> Self {
        let mut tables: Vec<(usize, String)> = tables.map(|table| (table.number(), header(table.caption()))).collect();
        tables.sort();
        tables.dedup();
        let mut captions: Vec<&str> = tables.iter().map(|(_, caption)| caption.as_str()).collect();
        captions.sort_unstable();
        captions.dedup();
        let captions = tables.len() > 1 && captions.len() == tables.len() && !captions.contains(&"");
        Self { query, rows, captions }
    }

    /// Rows, columns, and the caption where it distinguishes.
    pub(super) fn cell(&self, table: &Table, cell: &Cell) -> String {
        let mut levels = self.of_rows(table, &table.row_headers_of(cell));
        let columns = self.levels(table, &table.column_headers_of(cell));
        let needed = levels.is_empty() || table.cols() > table.num_header_cols() + 1;
        if needed || columns.iter().any(|level| self.query.names(level)) {
            levels.extend(columns);
        }
        self.joined(table, &levels)
    }

    pub(super) fn row(&self, table: &Table, cell: &Cell) -> String {
        self.joined(table, &self.of_rows(table, &table.row_headers_of(cell)))
    }

    pub(super) fn column(&self, table: &Table, cell: &Cell) -> String {
        self.joined(table, &self.levels(table, &table.column_headers_of(cell)))
    }

    /// A header with those above it. `Err` holds that of one that the question does not name, with as
    /// much of those above it as it does.
    pub(super) fn header(&self, table: &Table, cell: &Cell) -> Result<String, String> {
        let above = match table.role(cell) {
            CellRole::RowHeader => table.row_headers_of(cell),
            CellRole::ColumnHeader | CellRole::Data => table.column_headers_of(cell),
        };
        let own: Vec<usize> = table.cell_index_at(cell.row, cell.col).into_iter().collect();
        if self.query.names_most(&cell.text) {
            return Ok(self.joined(table, &self.levels(table, &[above, own].concat())));
        }
        let mut named = self.levels(table, &above);
        named.retain(|level| self.query.names_most(level));
        if !named.is_empty() {
            return Ok(self.joined(table, &named));
        }
        // What its column of headers is called is what was requested.
        let corner = self.joined(table, &self.levels(table, &table.column_headers_of(cell)));
        Err(match self.rows {
            Rows::Measures if corner.is_empty() => self.joined(table, &self.levels(table, &own)),
            _ => corner,
        })
    }

    fn of_rows(&self, table: &Table, headers: &[usize]) -> Vec<String> {
        let levels = self.levels(table, headers);
        let named = self.rows == Rows::Measures || levels.iter().any(|level| self.query.names(level));
        if named { levels } else { Vec::new() }
    }

    /// The texts of headers, outermost first: the innermost that has one, and the outer ones that the
    /// question names or that it takes to distinguish the inner one.
    fn levels(&self, table: &Table, headers: &[usize]) -> Vec<String> {
        let mut levels: Vec<String> = Vec::new();
        let mut ambiguous = false;
        for &index in headers.iter().rev() {
            let cell = &table.cells()[index];
            let text = self.dated(table, cell, header(&cell.text));
            // A number where a name should be says what is wanted only if the question has it.
            if text.is_empty() || is_number(&text) && !self.query.names(&text) {
                continue;
            }
            if levels.is_empty() || ambiguous || self.query.names_most(&text) {
                ambiguous = levels.is_empty() && is_repeated(table, cell);
                levels.push(text);
            }
        }
        levels.reverse();
        levels
    }

    /// A date as its year, where that says enough; nothing of one without a year that the question
    /// does not name.
    fn dated(&self, table: &Table, cell: &Cell, text: String) -> String {
        let Some(found) = date(&text).filter(|date| date.exact) else { return text };
        if self.query.names_month(&text) {
            return text;
        }
        let other = |other: &&Cell| {
            table.role(other) == table.role(cell) && other.text != cell.text && {
                date(&header(&other.text)).is_some_and(|other| other.year == found.year)
            }
        };
        match &found.year {
            Some(_) if table.cells().iter().any(|cell| other(&cell)) => text,
            Some(year) => year.clone(),
            None => String::new(),
        }
    }

    /// A part that another holds, word by word, is left out.
    fn joined(&self, table: &Table, levels: &[String]) -> String {
        let mut parts: Vec<Vec<String>> = Vec::new();
        let caption = if self.captions { header(table.caption()) } else { String::new() };
        for part in levels.iter().chain([&caption]) {
            let part: Vec<String> = words(part).into_iter().map(|word| word.text).collect();
            if part.is_empty() || parts.iter().any(|known| holds(known, &part)) {
                continue;
            }
            parts.retain(|known| !holds(&part, known));
            parts.push(part);
        }
        parts.concat().join(" ")
    }
}

/// Whether `part` is a run of the words of `whole`, case aside.
fn holds(whole: &[String], part: &[String]) -> bool {
    let same = |run: &[String]| run.iter().zip(part).all(|(a, b)| a.to_lowercase() == b.to_lowercase());
    whole.windows(part.len().max(1)).any(same)
}

/// Whether a text has no letter and no year.
fn is_number(text: &str) -> bool {
    !text.contains(char::is_alphabetic) && !text.split(|c: char| !c.is_ascii_digit()).any(is_year)
}

/// Whether another header of the same kind has the text of this one.
fn is_repeated(table: &Table, cell: &Cell) -> bool {
    let like = |other: &&Cell| {
        (other.row, other.col) != (cell.row, cell.col)
            && table.role(other) == table.role(cell)
            && other.text.trim().eq_ignore_ascii_case(cell.text.trim())
    };
    table.cells().iter().any(|other| like(&other))
}
