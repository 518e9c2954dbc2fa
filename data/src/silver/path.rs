//! What headers say of a cell.

use super::Rows;
use super::words::{Asked, date, header, words};
use crate::document::{Cell, CellRole, Table};

/// Paths of headers as a question would have them.
pub(super) struct Paths<'a> {
    asked: &'a Asked,
    rows: Rows,
    /// Whether captions tell the tables with gold apart.
    captions: bool,
}

impl<'a> Paths<'a> {
    /// `tables` are those of the gold cells.
    pub(super) fn new<'t>(asked: &'a Asked, rows: Rows, tables: impl Iterator<Item = &'t Table>) -> Self {
        let mut tables: Vec<(usize, String)> = tables.map(|table| (table.number(), header(table.caption()))).collect();
        tables.sort();
        tables.dedup();
        let mut captions: Vec<&str> = tables.iter().map(|(_, caption)| caption.as_str()).collect();
        captions.sort_unstable();
        captions.dedup();
        let captions = tables.len() > 1 && captions.len() == tables.len() && !captions.contains(&"");
        Self { asked, rows, captions }
    }

    /// Rows, columns, and the caption where it tells apart.
    pub(super) fn cell(&self, table: &Table, cell: &Cell) -> String {
        let mut levels = self.of_rows(table, &table.row_headers_of(cell));
        levels.extend(self.levels(table, &table.column_headers_of(cell)));
        self.joined(table, &levels)
    }

    pub(super) fn row(&self, table: &Table, cell: &Cell) -> String {
        self.joined(table, &self.of_rows(table, &table.row_headers_of(cell)))
    }

    pub(super) fn column(&self, table: &Table, cell: &Cell) -> String {
        self.joined(table, &self.levels(table, &table.column_headers_of(cell)))
    }

    /// A header with those above it.
    pub(super) fn header(&self, table: &Table, cell: &Cell) -> String {
        let mut levels = match table.role(cell) {
            CellRole::RowHeader => table.row_headers_of(cell),
            CellRole::ColumnHeader | CellRole::Data => table.column_headers_of(cell),
        };
        levels.extend(table.cell_index_at(cell.row, cell.col));
        self.joined(table, &self.levels(table, &levels))
    }

    fn of_rows(&self, table: &Table, headers: &[usize]) -> Vec<String> {
        let levels = self.levels(table, headers);
        let named = self.rows == Rows::Measures || levels.iter().any(|level| self.asked.names(level));
        if named { levels } else { Vec::new() }
    }

    /// The texts of headers, outermost first: the innermost that has one, and the outer ones that the
    /// question names or that it takes to tell the inner one from its like.
    fn levels(&self, table: &Table, headers: &[usize]) -> Vec<String> {
        let mut levels: Vec<String> = Vec::new();
        let mut ambiguous = false;
        for &index in headers.iter().rev() {
            let cell = &table.cells()[index];
            let text = self.dated(table, cell, header(&cell.text));
            if text.is_empty() {
                continue;
            }
            if levels.is_empty() || ambiguous || self.asked.names(&text) {
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
        if self.asked.names_month(&text) {
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

/// Whether another header of the same kind has the text of this one.
fn is_repeated(table: &Table, cell: &Cell) -> bool {
    let like = |other: &&Cell| {
        (other.row, other.col) != (cell.row, cell.col)
            && table.role(other) == table.role(cell)
            && other.text.trim().eq_ignore_ascii_case(cell.text.trim())
    };
    table.cells().iter().any(|other| like(&other))
}
