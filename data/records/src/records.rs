//! Files of records, a table each, as documents.

use std::path::Path;

use tabsegnet_document::model::{Block, Document};
use tabsegnet_document::{Cut, KnownTable, ReadOptions, read_source, table_with};

use crate::error::RecordsError;
use crate::{lines, parquet_file};

/// A file of records as a document.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadRecords {
    /// The document: tables, each with a row of headers.
    pub document: Document,
    /// What of it was cut off.
    pub cuts: Vec<Cut>,
}

/// A file's ending, in small letters.
pub fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// What a document is called that is made of a file.
pub(crate) fn stem(file: &Path) -> String {
    file.file_stem().map_or_else(|| "records".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Whether a file's ending is that of records: JSON lines and Parquet, which [`tabsegnet_document::read()`] does not read.
pub fn has_records(file: &Path) -> bool {
    ["jsonl", "parquet"].contains(&extension(file).as_str())
}

/// Reads a file of records as a document, with its cells as texts. Beyond the cells that a table may have it is cut off.
///
/// # Errors
/// The file cannot be read, or holds no table.
pub fn read_records(file: &Path, options: &ReadOptions) -> Result<ReadRecords, RecordsError> {
    let most = options.limits.max_cells_per_table;
    let (header, records, all) = match extension(file).as_str() {
        "parquet" => parquet_file::with(file, |parquet| -> Result<_, RecordsError> {
            let header: Vec<String> = parquet.columns().iter().map(|column| column.name.clone()).collect();
            let (rows, all) = parquet.texts(most)?;
            Ok((header, rows, all))
        })?,
        _ => {
            let (header, rows) = json_lines(file, options)?;
            let all = rows.len();
            (header, rows, all)
        }
    };
    let mut cuts = Vec::new();
    let known = KnownTable::default();
    let block = table(file, known, (header, records), all, most, &mut cuts)?;
    Ok(ReadRecords { document: Document { id: stem(file), blocks: vec![block] }, cuts })
}

/// A table of the first of `all` records.
pub(crate) fn table(
    file: &Path,
    known: KnownTable,
    (header, mut records): (Vec<String>, Vec<Vec<String>>),
    all: usize,
    most: usize,
    cuts: &mut Vec<Cut>,
) -> Result<Block, RecordsError> {
    if header.is_empty() {
        return Err(RecordsError::Empty(file.to_owned()));
    }
    records.truncate((most / header.len()).saturating_sub(1));
    let read = records.len();
    if read < all {
        let name = if known.caption.is_empty() { "the table" } else { &known.caption };
        let warning = format!("{name} is cut off after {read} of {all} records: a table may have {most} cells");
        cuts.push(Cut { rows: read, of: Some(all), warning });
    }
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(records).collect();
    // No record stands under another.
    let known = KnownTable { header_rows: Some(1), row_parents: Some(Vec::new()), ..known };
    let (table, _) = table_with(&rows, &[], known).map_err(|error| RecordsError::file(file, error.to_string()))?;
    Ok(Block::Table(table))
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
