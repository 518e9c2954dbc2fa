//! Files of records, a table each, as documents.

use std::path::Path;

use tabsegnet_document::model::{Block, Document};
use tabsegnet_document::{Cut, KnownTable, ReadDocument, ReadOptions, extension, read, read_source, table_with};

use crate::error::RecordsError;
use crate::sqlite::{is_database, read_database};
use crate::{lines, parquet_file};

/// A file as a document.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadFile {
    /// The document. Tables of records have a row of headers.
    pub document: Document,
    /// What a page calls itself.
    pub title: Option<String>,
    /// What was cut off, left out or guessed.
    pub warnings: Vec<String>,
    /// Of the warnings, those that say that something was cut off.
    pub cuts: Vec<Cut>,
}

impl ReadFile {
    pub(crate) fn of_tables(file: &Path, blocks: Vec<Block>, cuts: Vec<Cut>) -> Self {
        let warnings = cuts.iter().map(|cut| cut.warning.clone()).collect();
        Self { document: Document { id: stem(file), blocks }, title: None, warnings, cuts }
    }
}

/// Reads a file: a SQLite database by what it begins with, Parquet and JSON lines by its ending, all else as
/// [`tabsegnet_document::read()`] does.
///
/// # Errors
/// The file cannot be read, or is of no known form.
pub fn read_file(file: &Path, options: &ReadOptions) -> Result<ReadFile, RecordsError> {
    if is_database(file) {
        return read_database(file, options);
    }
    if has_records(file) {
        return read_records(file, options);
    }
    let ReadDocument { document, title, warnings, cuts, .. } = read(file, options)?;
    Ok(ReadFile { document, title, warnings, cuts })
}

/// What a document is called that is made of a file.
fn stem(file: &Path) -> String {
    file.file_stem().map_or_else(|| "records".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Whether a file's ending is that of records: JSON lines and Parquet.
pub fn has_records(file: &Path) -> bool {
    ["jsonl", "parquet"].contains(&extension(file).as_str())
}

/// Reads a file of records as a document, with its cells as texts. Beyond the cells that a table may have it is cut off.
///
/// # Errors
/// The file cannot be read, or holds no table.
pub fn read_records(file: &Path, options: &ReadOptions) -> Result<ReadFile, RecordsError> {
    let most = options.limits.max_cells_per_table;
    let (records, all) = match extension(file).as_str() {
        "parquet" => parquet_file::with(file, |parquet| -> Result<_, RecordsError> {
            let mut records = Records::new(parquet.columns().iter().map(|column| column.name.clone()).collect(), most);
            let all = parquet.texts(&mut records)?;
            Ok((records, all))
        })?,
        _ => {
            let (header, rows) = json_lines(file, options)?;
            let (mut records, all) = (Records::new(header, most), rows.len());
            for row in rows {
                if records.is_full() {
                    break;
                }
                records.push(row);
            }
            (records, all)
        }
    };
    let mut cuts = Vec::new();
    let block = records.into_table(file, KnownTable::default(), all, &mut cuts)?;
    Ok(ReadFile::of_tables(file, vec![block], cuts))
}

/// Bytes of a table's cells beyond which it is cut off: a value that a file holds once may stand in every row, and columns
/// that are computed may say more than the file holds.
const MOST_TEXT: usize = 512 << 20;

/// The first records of a table as texts, as many as it may have.
pub(crate) struct Records {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    most_cells: usize,
    most_bytes: usize,
    bytes: usize,
}

impl Records {
    pub(crate) fn new(header: Vec<String>, most_cells: usize) -> Self {
        Self { header, rows: Vec::new(), most_cells, most_bytes: MOST_TEXT, bytes: 0 }
    }

    /// The cells so far, those of the header among them.
    pub(crate) fn cells(&self) -> usize {
        (self.rows.len() + 1) * self.header.len()
    }

    /// Whether another record would be one too many; without columns any is.
    pub(crate) fn is_full(&self) -> bool {
        self.header.is_empty() || self.has_most_cells() || self.bytes > self.most_bytes
    }

    fn has_most_cells(&self) -> bool {
        self.cells() + self.header.len() > self.most_cells
    }

    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.bytes += row.iter().map(String::len).sum::<usize>();
        self.rows.push(row);
    }

    /// A table of these, the first of `all` records.
    pub(crate) fn into_table(
        self,
        file: &Path,
        known: KnownTable,
        all: usize,
        cuts: &mut Vec<Cut>,
    ) -> Result<Block, RecordsError> {
        if self.header.is_empty() {
            return Err(RecordsError::Empty(file.to_owned()));
        }
        let read = self.rows.len();
        if read < all {
            let name = if known.caption.is_empty() { "the table" } else { &known.caption };
            let may = match self.has_most_cells() {
                true => format!("have {} cells", self.most_cells),
                false => format!("hold {} MiB of text", self.most_bytes >> 20),
            };
            let warning = format!("{name} is cut off after {read} of {all} records: a table may {may}");
            cuts.push(Cut { rows: read, of: Some(all), warning });
        }
        let rows: Vec<Vec<String>> = std::iter::once(self.header).chain(self.rows).collect();
        // No record stands under another.
        let known = KnownTable { header_rows: Some(1), row_parents: Some(Vec::new()), ..known };
        let (table, _) = table_with(&rows, &[], known).map_err(|error| RecordsError::file(file, error.to_string()))?;
        Ok(Block::Table(table))
    }
}

/// Header and records of a file of JSON lines, as texts.
///
/// # Errors
/// The file cannot be read, or a line is no object.
pub fn json_lines(file: &Path, options: &ReadOptions) -> Result<(Vec<String>, Vec<Vec<String>>), RecordsError> {
    let bytes = read_source(file, options)?;
    let text = String::from_utf8(bytes).map_err(|error| RecordsError::file(file, format!("is not UTF-8: {error}")))?;
    lines::read(&text).map_err(|message| RecordsError::file(file, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARQUET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parquet");

    #[test]
    fn cells_of_parquet_are_texts_of_all_kinds() {
        let read = read_records(&Path::new(PARQUET).join("kinds.parquet"), &ReadOptions::default()).unwrap();
        let table = read.document.tables().next().unwrap();
        let text = |row: usize, col: usize| table.cell_at(row, col).unwrap().text.as_str();
        let cell = |name: &str, row: usize| text(row, (0..table.cols()).find(|&col| text(0, col) == name).unwrap());
        for (name, first) in [
            ("Whole", "1"),
            ("fraction", "0.1"),
            ("price", "12.5"),
            ("exact", "12345678901234567890.12"),
            ("count", "7"),
            ("flag", "1"),
            ("day", "2024-02-29"),
            ("at ns", "2024-02-29 12:34:56.789"),
            ("bytes", "00ff"),
            ("list", "[1,2,null]"),
            ("kind", "a"),
        ] {
            assert_eq!(cell(name, 1), first, "{name}");
        }
        assert_eq!((cell("exact", 2), cell("exact", 3), table.rows()), ("-12345678901234567890.12", "", 4));
    }

    #[test]
    fn records_beyond_the_bytes_of_a_table_are_cut_off() {
        assert!(Records::new(Vec::new(), 100).is_full());
        let mut records = Records::new(vec!["a".to_owned()], 100);
        records.most_bytes = 3 << 20;
        while !records.is_full() {
            records.push(vec!["x".repeat(1 << 20)]);
        }
        let mut cuts = Vec::new();
        records.into_table(Path::new("a.parquet"), KnownTable::default(), 9, &mut cuts).unwrap();
        assert_eq!(cuts[0].warning, "the table is cut off after 4 of 9 records: a table may hold 3 MiB of text");
    }

    #[test]
    fn records_beyond_the_cells_of_a_table_are_cut_off_and_damaged_ones_told() {
        let folder = tempfile::tempdir().unwrap();
        let lines = folder.path().join("a.jsonl");
        std::fs::write(&lines, "{\"a\": 1, \"b\": 2}\n".repeat(9)).unwrap();
        let mut options = ReadOptions::default();
        options.limits.max_cells_per_table = 16;
        for (file, read, all) in [(Path::new(PARQUET).join("orders.parquet"), 3, 8), (lines, 7, 9)] {
            let found = read_records(&file, &options).unwrap();
            let [cut] = found.cuts.as_slice() else { panic!("{:?}", found.cuts) };
            assert_eq!((cut.rows, cut.of), (read, Some(all)));
            assert!(cut.warning.contains(&format!("after {read} of {all} records")), "{}", cut.warning);
            assert_eq!(found.document.tables().next().unwrap().rows(), read + 1);
        }
        for (name, text, said) in
            [("a.parquet", "PAR1 no PAR1", "Parquet"), ("b.jsonl", "{", "line 1"), ("c.jsonl", "", "")]
        {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            let error = read_records(&file, &options).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(said), "{error}");
        }
    }
}
