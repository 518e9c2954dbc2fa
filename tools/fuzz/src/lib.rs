//! What every target on a document does with its bytes.

use std::path::Path;

use tabsegnet_document::model::{CellRole, Table};
use tabsegnet_document::native::document_json;
use tabsegnet_document::{Format, ReadDocument, ReadOptions, read_bytes};

/// Reads bytes as a document of a given form, and checks what holds of every document.
pub fn read(name: &str, format: Format, bytes: &[u8]) {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    if let Ok(read) = read_bytes(Path::new(name), bytes.to_vec(), &options) {
        check(&read);
    }
    // As a program reads it: the form by name and content.
    if let Ok(read) = read_bytes(Path::new(name), bytes.to_vec(), &ReadOptions::default()) {
        check(&read);
    }
}

/// Every cell has its headers, and the document is the same after it was written and read.
fn check(read: &ReadDocument) {
    assert_eq!(read.tables.len(), read.document.tables().count(), "one report of inference a table");
    for table in read.document.tables() {
        check_table(table);
    }
    let json = document_json(&read.document).into_bytes();
    let again = read_bytes(Path::new("again.json"), json, &native()).map(|read| read.document);
    match again {
        Ok(again) => assert_eq!(again, read.document, "written and read"),
        Err(error) => panic!("a document that was read cannot be read again: {error}"),
    }
}

fn native() -> ReadOptions {
    ReadOptions { format: Some(Format::Native), ..ReadOptions::default() }
}

/// Cells tile the grid and headers are headers.
pub fn check_table(table: &Table) {
    let covered: usize = table.cells().iter().map(|cell| cell.rowspan * cell.colspan).sum();
    assert_eq!(covered, table.rows() * table.cols());
    // The paths of wide cells are long: enough of them is enough.
    for cell in table.cells().iter().take(2000) {
        for header in table.column_headers_of(cell) {
            assert_eq!(table.role(&table.cells()[header]), CellRole::ColumnHeader);
        }
        for header in table.row_headers_of(cell) {
            assert!(table.cells()[header].row <= cell.row + cell.rowspan);
        }
    }
}
