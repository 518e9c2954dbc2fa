//! Files of records, a table each, as documents.

use std::path::Path;

use tabsegnet_document::model::{Block, Document};
use tabsegnet_document::{Cut, KnownTable, ReadOptions, read_source, table_with};

use super::files::{ImportError, extension};
use super::lines;
use super::parquet_file::{self, Texts};

/// A file of records, a table, as a document.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadRecords {
    /// The document: one table, with a row of headers.
    pub document: Document,
    /// What of it was cut off.
    pub cut: Option<Cut>,
}

/// Whether a file's ending is that of records: JSON lines and Parquet, which [`tabsegnet_document::read()`] does not read.
pub fn has_records(file: &Path) -> bool {
    ["jsonl", "parquet"].contains(&extension(file).as_str())
}

/// Reads a file of records as a document, with its cells as texts. Beyond the cells that a table may have it is cut off.
///
/// # Errors
/// [`ImportError`]: the file cannot be read, or holds no table.
pub fn read_records(file: &Path, options: &ReadOptions) -> Result<ReadRecords, ImportError> {
    let most = options.limits.max_cells_per_table;
    let Texts { header, rows: mut records, all } = match extension(file).as_str() {
        "parquet" => parquet_file::texts(file, most)?,
        _ => {
            let (header, rows) = json_lines(file, options)?;
            Texts { all: rows.len(), header, rows }
        }
    };
    if header.is_empty() {
        return Err(ImportError::Empty(file.to_owned()));
    }
    records.truncate((most / header.len()).saturating_sub(1));
    let read = records.len();
    let cut = (read < all).then(|| {
        let warning = format!("the table is cut off after {read} of {all} records: a table may have {most} cells");
        Cut { rows: read, of: Some(all), warning }
    });
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(records).collect();
    // No record stands under another.
    let known = KnownTable { header_rows: Some(1), row_parents: Some(Vec::new()), ..KnownTable::default() };
    let (table, _) = table_with(&rows, &[], known)
        .map_err(|error| ImportError::File { path: file.to_owned(), message: error.to_string() })?;
    let id = file.file_stem().map_or_else(|| "records".to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok(ReadRecords { document: Document { id, blocks: vec![Block::Table(table)] }, cut })
}

/// Header and records of a file of JSON lines, as texts.
pub(super) fn json_lines(file: &Path, options: &ReadOptions) -> Result<(Vec<String>, Vec<Vec<String>>), ImportError> {
    let failed = |message: String| ImportError::File { path: file.to_owned(), message };
    let bytes = read_source(file, options)?;
    let text = String::from_utf8(bytes).map_err(|error| failed(format!("is not UTF-8: {error}")))?;
    lines::read(&text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::tables::FileDatabase;

    const PARQUET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parquet");

    /// The rows of a database's only table.
    fn rows(database: &FileDatabase) -> Vec<String> {
        let [table] = database.tables.as_slice() else { panic!("{:?}", database.tables) };
        let connection = Connection::open(database.path()).unwrap();
        let mut statement = connection.prepare(&format!("SELECT * FROM {}", table.name)).unwrap();
        let width = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values = (0..width).map(|at| row.get_ref(at).map(|value| format!("{value:?}")));
            values.collect::<rusqlite::Result<Vec<String>>>().map(|values| values.join(" "))
        };
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn records_are_documents_with_the_same_table() {
        let folder = tempfile::tempdir().unwrap();
        let lines = folder.path().join("people.jsonl");
        std::fs::write(&lines, "{\"name\": \"Ann\", \"age\": 3}\n{\"name\": \"Bo\", \"city\": \"Rome\"}\n").unwrap();
        let options = ReadOptions::default();
        for file in [lines, Path::new(PARQUET).join("orders.parquet")] {
            assert!(has_records(&file) && !has_records(folder.path()));
            let read = read_records(&file, &options).unwrap();
            assert_eq!(read.cut, None);
            let made = FileDatabase::of_documents([(file.as_path(), &read.document)]).unwrap();
            let opened = FileDatabase::open(&file).unwrap();
            assert_eq!((rows(&made), made.tables[0].name.as_str()), (rows(&opened), opened.tables[0].name.as_str()));
        }
        let orders = Path::new(PARQUET).join("orders.parquet");
        let read = read_records(&orders, &options).unwrap();
        let made = FileDatabase::of_documents([(orders.as_path(), &read.document)]).unwrap();
        let cited = made.cited("orders", 4, "amount").unwrap();
        assert_eq!((cited.node.as_deref(), cited.header.as_str()), (Some("t0:r4c2"), "amount"));
        let table = read.document.tables().next().unwrap();
        assert_eq!((table.rows(), table.num_header_rows(), table.cell_at(4, 2).unwrap().text.as_str()), (9, 1, "500"));
    }

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
    fn records_beyond_the_cells_of_a_table_are_cut_off_and_damaged_ones_told() {
        let folder = tempfile::tempdir().unwrap();
        let lines = folder.path().join("a.jsonl");
        std::fs::write(&lines, "{\"a\": 1, \"b\": 2}\n".repeat(9)).unwrap();
        let mut options = ReadOptions::default();
        options.limits.max_cells_per_table = 16;
        for (file, read, all) in [(Path::new(PARQUET).join("orders.parquet"), 3, 8), (lines, 7, 9)] {
            let found = read_records(&file, &options).unwrap();
            let cut = found.cut.unwrap();
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
