//! The tables of a document as tables of a corpus.

use tabsegnet_document::model::{Block, Document, Heading, Outline, Table};
use tabsegnet_document::native::document_json;

use super::{Excerpt, TableRecord};

/// Most sentences on either side that a table of a document takes with it.
const BESIDE: usize = 20;

/// The tables of a document, each with the headings above it and the sentences beside it, as far as the next table or heading.
/// An id is the file's name and the table's number in it.
pub fn tables_of(document: &Document, file: &str) -> Vec<TableRecord> {
    let is_passage = |block: &&Block| matches!(block, Block::Passage(_));
    let mut outline: Outline<&str> = Outline::default();
    let (mut found, mut passages) = (Vec::new(), 0);
    for (at, block) in document.blocks.iter().enumerate() {
        match block {
            Block::Heading(Heading { level, text }) => {
                outline.enter(*level, text.as_str());
            }
            Block::Passage(_) => passages += 1,
            Block::Table(table) => {
                let (above, below) = document.blocks.split_at(at);
                let before = above.iter().rev().take_while(is_passage).take(BESIDE).count();
                let after = below.iter().skip(1).take_while(is_passage).take(BESIDE).count();
                let blocks = document.blocks[at - before..=at + after].to_vec();
                let title = document.id.clone();
                let section = outline.path().collect::<Vec<_>>().join(" -- ");
                let json = document_json(&Document { id: title.clone(), blocks });
                let excerpt = Some(Excerpt { document: json, passage: passages - before });
                found.push(TableRecord { title, section, excerpt, ..record(table, file) });
            }
        }
    }
    found
}

/// A table as a record: its header rows are one, merged cells stand in each of their places.
fn record(table: &Table, file: &str) -> TableRecord {
    let text = |row: usize, column: usize| table.cell_at(row, column).map_or("", |cell| cell.text.as_str());
    let header = (0..table.cols()).map(|column| {
        let mut parts: Vec<&str> = Vec::new();
        for row in 0..table.num_header_rows() {
            let part = text(row, column).trim();
            if !part.is_empty() && parts.last() != Some(&part) {
                parts.push(part);
            }
        }
        parts.join(" ")
    });
    let rows = (table.num_header_rows()..table.rows())
        .map(|row| (0..table.cols()).map(|column| text(row, column).to_owned()).collect());
    TableRecord {
        id: format!("{file}#t{}", table.number()),
        source: file.to_owned(),
        caption: table.caption().to_owned(),
        column_headers: header.collect(),
        rows: rows.collect(),
        ..TableRecord::default()
    }
}
