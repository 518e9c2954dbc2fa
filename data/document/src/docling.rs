//! What docling writes as JSON (`DoclingDocument`): the way in for PDF, DOCX and PPTX.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use crate::builder::Builder;
use crate::error::{ReadError, from_json};
use crate::grid::{Grid, GridCell, RawCell};
use crate::locations::{Location, TableLocation};
use crate::options::Limits;

#[derive(Deserialize)]
struct Docling {
    body: Group,
    #[serde(default)]
    texts: Vec<Text>,
    #[serde(default)]
    tables: Vec<Table>,
    #[serde(default)]
    groups: Vec<Group>,
    #[serde(default)]
    pictures: Vec<Group>,
}

#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "$ref", alias = "cref")]
    target: String,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    children: Vec<Reference>,
    #[serde(default)]
    content_layer: Layer,
}

#[derive(Deserialize)]
struct Text {
    #[serde(default)]
    text: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    prov: Vec<Provenance>,
    /// Of a section header, 1 for the outermost.
    #[serde(default)]
    level: Option<u64>,
    #[serde(default)]
    children: Vec<Reference>,
    #[serde(default)]
    content_layer: Layer,
}

/// Page heads and feet are furniture.
#[derive(Deserialize, Default, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Layer {
    #[default]
    Body,
    Furniture,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Table {
    data: TableData,
    #[serde(default)]
    captions: Vec<Reference>,
    #[serde(default)]
    footnotes: Vec<Reference>,
    #[serde(default)]
    prov: Vec<Provenance>,
    #[serde(default)]
    content_layer: Layer,
}

#[derive(Deserialize)]
struct Provenance {
    page_no: u32,
}

#[derive(Deserialize)]
struct TableData {
    #[serde(default)]
    table_cells: Vec<Cell>,
    num_rows: usize,
    num_cols: usize,
}

#[derive(Deserialize)]
struct Cell {
    text: String,
    start_row_offset_idx: usize,
    end_row_offset_idx: usize,
    start_col_offset_idx: usize,
    end_col_offset_idx: usize,
    #[serde(default)]
    column_header: bool,
    #[serde(default)]
    row_header: bool,
}

/// Reads a document.
pub(crate) fn read(path: &Path, text: &str, limits: &Limits, builder: &mut Builder) -> Result<(), ReadError> {
    let document: Docling = from_json(path, text)?;
    builder.pictures += document.pictures.len();
    let captions: HashSet<&str> =
        document.tables.iter().flat_map(|table| &table.captions).map(|caption| caption.target.as_str()).collect();
    let texts: HashMap<String, &Text> =
        document.texts.iter().enumerate().map(|(index, text)| (format!("#/texts/{index}"), text)).collect();
    // A reference that leads back to where it came from is followed once.
    let mut seen: HashSet<&str> = HashSet::new();
    let mut open: Vec<&Reference> = document.body.children.iter().rev().collect();
    while let Some(reference) = open.pop() {
        let target = reference.target.as_str();
        if !seen.insert(target) || captions.contains(target) {
            continue;
        }
        let Some((list, index)) = target.trim_start_matches("#/").split_once('/') else { continue };
        let Ok(index) = index.parse::<usize>() else { continue };
        let children = match list {
            "texts" => document.texts.get(index).map(|text| {
                builder.at = page(&text.prov);
                if text.content_layer == Layer::Body {
                    let heading = match text.label.as_str() {
                        "title" => Some(1),
                        "section_header" => {
                            Some(text.level.map_or(2, |level| level.saturating_add(1).min(u64::from(u8::MAX)) as u8))
                        }
                        _ => None,
                    };
                    match (text.label.as_str(), heading) {
                        ("page_header" | "page_footer", _) => {}
                        (_, Some(level)) => builder.heading(&text.text, level),
                        (_, None) => drop(builder.paragraph::<()>(text.text.trim(), &[])),
                    }
                }
                &text.children
            }),
            "tables" => {
                if let Some(table) = document.tables.get(index).filter(|table| table.content_layer == Layer::Body) {
                    read_table(index, table, &texts, limits, builder);
                    let new = table.footnotes.iter().filter(|footnote| seen.insert(&footnote.target));
                    for footnote in new.filter_map(|footnote| texts.get(&footnote.target)) {
                        builder.at = page(&footnote.prov);
                        drop(builder.paragraph::<()>(footnote.text.trim(), &[]));
                    }
                }
                None
            }
            "groups" => document.groups.get(index).map(|group| &group.children),
            "pictures" => document
                .pictures
                .get(index)
                .filter(|picture| picture.content_layer == Layer::Body)
                .map(|picture| &picture.children),
            _ => None,
        };
        open.extend(children.into_iter().flatten().rev());
    }
    Ok(())
}

/// The page on which something begins.
fn page(prov: &[Provenance]) -> Option<Location> {
    prov.first().map(|prov| Location::Page(prov.page_no))
}

fn read_table(index: usize, table: &Table, texts: &HashMap<String, &Text>, limits: &Limits, builder: &mut Builder) {
    let location = page(&table.prov);
    let place = format!("tables[{index}]{}", location.as_ref().map_or(String::new(), |page| format!(", {page}")));
    let TableData { table_cells, num_rows, num_cols } = &table.data;
    // Rows and columns in which no cell begins hold nothing, however many the file says there are.
    let last_row = table_cells.iter().map(|cell| cell.start_row_offset_idx).max();
    let last_col = table_cells.iter().map(|cell| cell.start_col_offset_idx).max();
    let within = |said: usize, last: Option<usize>| last.map_or(0, |last| said.min(last.saturating_add(1)));
    let (mut rows, cols) = (within(*num_rows, last_row), within(*num_cols, last_col));
    if cols > limits.max_cells_per_table {
        builder.warn(format!("{place}: the table is left out, it has {cols} columns"));
    }
    if cols == 0 || cols > limits.max_cells_per_table {
        return;
    }
    if rows > limits.max_cells_per_table / cols {
        let of = rows;
        rows = limits.max_cells_per_table / cols;
        builder.cut(rows, Some(of), format!("{place}: the table is cut off after {rows} of {of} rows"));
    }
    let mut cells: Vec<GridCell> = table_cells
        .iter()
        .filter(|cell| cell.start_row_offset_idx < rows && cell.start_col_offset_idx < cols)
        .map(|cell| {
            let (row, col) = (cell.start_row_offset_idx, cell.start_col_offset_idx);
            let mut raw = RawCell::new(cell.text.trim());
            raw.rowspan = cell.end_row_offset_idx.saturating_sub(row).max(1);
            raw.colspan = cell.end_col_offset_idx.saturating_sub(col).clamp(1, cols - col);
            raw.style.header = cell.column_header || cell.row_header;
            GridCell::new(row, col, raw)
        })
        .collect();
    cells.sort_by_key(|cell| (cell.row, cell.col));
    let caption: Vec<&str> =
        table.captions.iter().filter_map(|caption| texts.get(&caption.target)).map(|text| text.text.trim()).collect();
    builder.table(Grid::from_cells(rows, cols, cells), &caption.join(" "), place, location.map(TableLocation::at));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Format, ReadError, ReadOptions, read_bytes};

    const DOCUMENT: &str = r##"{"schema_name": "DoclingDocument", "version": "1.5.0", "name": "r",
      "body": {"self_ref": "#/body", "children": [{"$ref": "#/texts/0"}, {"$ref": "#/groups/0"}, {"$ref": "#/tables/0"}, {"$ref": "#/texts/3"}]},
      "groups": [{"children": [{"$ref": "#/texts/1"}, {"$ref": "#/groups/0"}]}],
      "texts": [{"label": "section_header", "text": "Revenue", "level": 1},
                {"label": "text", "text": "It rose. It fell."},
                {"label": "caption", "text": "Revenue by year"},
                {"label": "page_footer", "text": "12", "content_layer": "furniture"}],
      "tables": [{"captions": [{"$ref": "#/texts/2"}], "prov": [{"page_no": 3, "bbox": {}}],
        "data": {"num_rows": 2, "num_cols": 3, "table_cells": [
          {"text": "", "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 0, "end_col_offset_idx": 1},
          {"text": "Years", "column_header": true, "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 1, "end_col_offset_idx": 3},
          {"text": "Cloud", "row_header": true, "start_row_offset_idx": 1, "end_row_offset_idx": 2, "start_col_offset_idx": 0, "end_col_offset_idx": 1},
          {"text": "1", "start_row_offset_idx": 1, "end_row_offset_idx": 2, "start_col_offset_idx": 1, "end_col_offset_idx": 2},
          {"text": "2", "start_row_offset_idx": 1, "end_row_offset_idx": 9, "start_col_offset_idx": 2, "end_col_offset_idx": 99}]}}]}"##;

    #[test]
    fn texts_and_tables_come_in_the_order_of_the_body() {
        let read = read_bytes(Path::new("r.json"), DOCUMENT.into(), &ReadOptions::default()).unwrap();
        assert_eq!(read.format, Format::Docling);
        assert_eq!(read.document.passages().collect::<Vec<_>>(), ["It rose.", "It fell."]);
        assert_eq!(read.document.headings().map(|h| (h.level, h.text.as_str())).collect::<Vec<_>>(), [(2, "Revenue")]);
        let table = read.document.tables().next().unwrap();
        assert_eq!((table.caption(), table.num_header_rows(), table.num_header_cols()), ("Revenue by year", 1, 1));
        assert_eq!(table.path(&table.column_headers_of(table.cell_at(1, 2).unwrap())), "Years");
        assert_eq!(read.tables[0].source, "tables[0], page 3");
        assert_eq!((read.layout.paragraphs.len(), read.layout.paragraphs.first()), (1, Some(&(0..2))));
    }

    /// Found by fuzzing: a hundred bytes took seconds.
    #[test]
    fn rows_that_are_only_said_take_nothing() {
        let text = DOCUMENT.replace("\"num_rows\": 2,", "\"num_rows\": 99999999999,");
        let read = read_bytes(Path::new("r.json"), text.into(), &ReadOptions::default()).unwrap();
        let table = read.document.tables().next().unwrap();
        assert_eq!((table.rows(), table.cols()), (2, 3));
        assert_eq!(read.warnings, [""; 0]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let text = DOCUMENT.replace("\"num_rows\": 2,", "");
        let error = read_bytes(Path::new("r.json"), text.into(), &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, ReadError::Json { .. }), "{error}");
        assert!(error.to_string().contains("tables[0].data"), "{error}");
    }
}
