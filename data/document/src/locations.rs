//! Where nodes stand in the file that a document was read from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a file, as a person looks it up there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// A cell of a workbook, `'Q3 results'!E4`.
    Cell {
        /// The sheet's name.
        sheet: String,
        /// From 0.
        row: u32,
        /// From 0.
        col: u32,
    },
    /// A line of a text, from 1; that on which a paragraph begins for all of its sentences.
    Line(u32),
    /// A page, from 1.
    Page(u32),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cell { sheet, row, col } => {
                let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
                let plain = sheet.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
                    && sheet.bytes().next().is_some_and(letter);
                match plain {
                    true => write!(f, "{sheet}!")?,
                    false => write!(f, "'{}'!", sheet.replace('\'', "''"))?,
                }
                write!(f, "{}{}", letters(*col), u64::from(*row) + 1)
            }
            Self::Line(line) => write!(f, "line {line}"),
            Self::Page(page) => write!(f, "page {page}"),
        }
    }
}

/// `A`, `Z`, `AA`: a column's name.
pub(crate) fn letters(col: u32) -> String {
    let (mut col, mut name) = (u64::from(col) + 1, Vec::new());
    while col > 0 {
        name.push(b'A' + ((col - 1) % 26) as u8);
        col = (col - 1) / 26;
    }
    name.reverse();
    String::from_utf8(name).unwrap_or_default()
}

/// Where a table stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableLocation {
    /// Its top left.
    pub first: Location,
    /// Of each row of the grid, its row of the sheet, from 0, or its line, from 1; empty where the file does not tell.
    pub rows: Vec<u32>,
    /// Of each column of the grid, its column of the sheet, from 0; empty elsewhere.
    pub cols: Vec<u32>,
}

impl TableLocation {
    /// All of it at one place.
    pub fn at(first: Location) -> Self {
        Self { first, rows: Vec::new(), cols: Vec::new() }
    }
}

/// Where a document's nodes stand, as far as its file tells: in workbooks, delimited values, Markdown, text and what
/// docling writes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Locations {
    pub(crate) headings: Vec<Option<Location>>,
    pub(crate) passages: Vec<Option<Location>>,
    pub(crate) tables: Vec<Option<TableLocation>>,
}

impl Locations {
    /// Whether the file tells of no node where it stands.
    pub fn is_empty(&self) -> bool {
        let Self { headings, passages, tables } = self;
        headings.iter().chain(passages).all(Option::is_none) && tables.iter().all(Option::is_none)
    }

    /// Of the `number`-th heading, from 0.
    pub fn heading(&self, number: usize) -> Option<Location> {
        self.headings.get(number)?.clone()
    }

    /// Of the `number`-th passage, from 0.
    pub fn passage(&self, number: usize) -> Option<Location> {
        self.passages.get(number)?.clone()
    }

    /// Of the table `number`: its top left.
    pub fn table(&self, number: usize) -> Option<Location> {
        Some(self.tables.get(number)?.as_ref()?.first.clone())
    }

    /// Of a position of a table's grid, from 0.
    pub fn cell(&self, table: usize, row: usize, col: usize) -> Option<Location> {
        let TableLocation { first, rows, cols } = self.tables.get(table)?.as_ref()?;
        let row = rows.get(row).copied();
        Some(match (first, row) {
            (Location::Cell { sheet, .. }, Some(row)) => {
                Location::Cell { sheet: sheet.clone(), row, col: *cols.get(col)? }
            }
            (Location::Line(_), Some(row)) => Location::Line(row),
            _ => first.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Location;
    use crate::{ReadDocument, ReadOptions, read_bytes};

    fn read(name: &str, text: &str) -> ReadDocument {
        read_bytes(Path::new(name), text.into(), &ReadOptions::default()).unwrap()
    }

    /// The location of each node as text: headings, passages, then the cells of the tables.
    fn all(read: &ReadDocument) -> Vec<String> {
        let at = &read.layout.locations;
        let shown = |location: Option<Location>, text: &str| {
            format!("{text}: {}", location.map_or("nowhere".into(), |at| at.to_string()))
        };
        let headings = read.document.headings().enumerate().map(|(number, it)| shown(at.heading(number), &it.text));
        let passages = read.document.passages().enumerate().map(|(number, text)| shown(at.passage(number), text));
        let cells = read.document.tables().flat_map(|table| {
            table.cells().iter().map(|cell| shown(at.cell(table.number(), cell.row, cell.col), &cell.text))
        });
        headings.chain(passages).chain(cells).collect()
    }

    #[test]
    fn cells_are_named_as_spreadsheets_do() {
        let cell = |sheet: &str, row, col| Location::Cell { sheet: sheet.into(), row, col }.to_string();
        assert_eq!(cell("Gap", 3, 4), "Gap!E4");
        assert_eq!(cell("Q3 results", 0, 26), "'Q3 results'!AA1");
        assert_eq!(cell("it's", 1_048_575, 16_383), "'it''s'!XFD1048576");
        assert_eq!(cell("2024", 0, 0), "'2024'!A1");
    }

    #[test]
    fn records_count_the_lines_that_are_blank_or_within_quotes() {
        let read = read("x.csv", "\n\nname,sold\n\"pe\nars\",3\r\n\r\nplums,5\n");
        assert_eq!(
            all(&read),
            ["name: line 3", "sold: line 3", "pe\nars: line 4", "3: line 4", "plums: line 7", "5: line 7"]
        );
    }

    #[test]
    fn a_title_above_a_table_moves_no_row() {
        let read = read("x.csv", "Sales by fruit\n\nname,sold\npears,3\n,,\nStock\n,2024\nplums,5\n");
        let at = all(&read);
        assert!(at.contains(&"pears: line 4".to_owned()) && at.contains(&"plums: line 8".to_owned()), "{at:?}");
        assert_eq!(read.layout.locations.table(0), Some(Location::Line(1)));
    }

    #[test]
    fn markdown_tells_lines_of_paragraphs_and_rows_also_within_html() {
        let read = read(
            "x.md",
            "# Report\n\nIt rose. It\nfell.\n\n- one\n\n| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n\n\
             <table><tr><th>c</th><th>d</th></tr><tr><td>3</td><td>4</td></tr></table>\n",
        );
        let wanted = [
            "Report: line 1", "It rose.: line 3", "It fell.: line 3", "one: line 6", "a: line 8", "b: line 8",
            "x: line 10", "1: line 10", "y: line 11", "2: line 11", "c: line 13", "d: line 13", "3: line 13",
            "4: line 13",
        ];
        assert_eq!(all(&read), wanted);
    }

    #[test]
    fn text_tells_lines() {
        assert_eq!(
            all(&read("x.txt", "One.\n\n\nTwo\nlines. Three.\n")),
            ["One.: line 1", "Two lines.: line 4", "Three.: line 4"]
        );
    }
}
