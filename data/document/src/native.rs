//! The native document form: one JSON object.
//!
//! ```json
//! {"id": "report", "blocks": [
//!   {"heading": {"level": 1, "text": "Results"}}, {"passage": "Revenue rose."},
//!   {"table": {"caption": "Revenue", "header_rows": 1, "header_cols": 1,
//!              "rows": [["", "2018"], ["Products", {"text": "12", "rowspan": 1, "colspan": 1}]]}}]}
//! ```
//!
//! A table may carry `"number"`, the `n` of its node ids; without it tables are numbered in
//! reading order. A cell may carry `"stored"`, what it holds where its text shows less of it. A table may carry `"row_parents"`: for each row the other row that it stands under,
//! or null. A labelled document has `"questions"` beside its blocks.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{ReadError, from_json};
use crate::format::extension;
use crate::model::{Block, CellSource, Document, Heading, Table, TableSource};

/// A document with what is put to it, as its JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(deserialize = "Q: Deserialize<'de>"))]
pub struct DocumentJson<Q> {
    id: String,
    blocks: Vec<BlockJson>,
    /// Questions, in a form that is not the document's.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Q>,
}

/// What is said of JSON that by its name is no document.
fn otherwise(path: &Path, error: ReadError) -> ReadError {
    let message = match (path.file_name().and_then(OsStr::to_str), extension(path).as_str()) {
        (Some("corpus.json"), _) => {
            "belongs to a corpus that index made; search that with infer --corpus or ask --corpus"
        }
        (_, "jsonl" | "ndjson") => {
            "holds no document but, as its name says, records, one a line; index makes a corpus of tables, and query --database \
             reads them as tables"
        }
        _ => return error,
    };
    ReadError::Format { file: path.display().to_string(), message: message.to_owned() }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BlockJson {
    Heading(HeadingJson),
    Passage(String),
    Table(TableJson),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadingJson {
    #[serde(default = "outermost")]
    level: u8,
    text: String,
}

fn outermost() -> u8 {
    1
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableJson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
    #[serde(default)]
    caption: String,
    #[serde(default)]
    header_rows: usize,
    #[serde(default)]
    header_cols: usize,
    rows: Vec<Vec<CellJson>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    row_parents: Vec<Option<usize>>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a cell: text, or {\"text\", \"rowspan\", \"colspan\", \"stored\"}")]
enum CellJson {
    Text(String),
    Span(SpanJson),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpanJson {
    text: String,
    #[serde(default = "one")]
    rowspan: usize,
    #[serde(default = "one")]
    colspan: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stored: Option<String>,
}

fn one() -> usize {
    1
}

/// A document from its JSON; questions beside the blocks are allowed and not looked at.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Document, ReadError> {
    let json: DocumentJson<serde::de::IgnoredAny> = from_json(path, text).map_err(|error| otherwise(path, error))?;
    json.into_document(path)
}

/// There is nothing to rank.
pub fn no_blocks(path: &Path, record: String) -> ReadError {
    ReadError::Record {
        file: path.display().to_string(),
        record,
        field: "blocks".into(),
        message: "is empty; expected at least one passage or table".into(),
    }
}

impl<Q> DocumentJson<Q> {
    /// The JSON form of a document.
    pub fn new(document: &Document, questions: Vec<Q>) -> Self {
        let blocks = document.blocks.iter().map(|block| match block {
            Block::Heading(Heading { level, text }) => {
                BlockJson::Heading(HeadingJson { level: *level, text: text.clone() })
            }
            Block::Passage(text) => BlockJson::Passage(text.clone()),
            Block::Table(table) => BlockJson::Table(table_json(table)),
        });
        Self { id: document.id.clone(), blocks: blocks.collect(), questions }
    }

    /// The document; `path` is for messages.
    ///
    /// # Errors
    /// Two tables of one number, and cells that do not tile a grid.
    pub fn into_document(self, path: &Path) -> Result<Document, ReadError> {
        let record_error = |field: String, message: String| ReadError::Record {
            file: path.display().to_string(),
            record: self.id.clone(),
            field,
            message,
        };
        let mut numbers = HashSet::new();
        let mut next = 0;
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for (position, block) in self.blocks.into_iter().enumerate() {
            blocks.push(match block {
                BlockJson::Heading(HeadingJson { level, text }) => Block::Heading(Heading { level, text }),
                BlockJson::Passage(text) => Block::Passage(text),
                BlockJson::Table(json) => {
                    let number = json.number.unwrap_or(next);
                    next = number.saturating_add(1).max(next);
                    if !numbers.insert(number) {
                        return Err(record_error(
                            format!("blocks[{position}].table.number"),
                            format!("{number} is the number of an earlier table; give every table its own, or none"),
                        ));
                    }
                    let cells = json.rows.iter().flatten().enumerate();
                    let stored: Vec<(usize, String)> =
                        cells.filter_map(|(index, cell)| Some((index, cell.stored()?.to_owned()))).collect();
                    let rows = json.rows.into_iter().map(|row| row.into_iter().map(CellSource::from).collect());
                    let source = TableSource {
                        number,
                        caption: json.caption,
                        header_rows: json.header_rows,
                        header_cols: json.header_cols,
                        rows: rows.collect(),
                        row_parents: json.row_parents,
                    };
                    let table = Table::new(source).map(|table| table.with_stored(stored));
                    Block::Table(
                        table.map_err(|error| record_error(format!("blocks[{position}].table"), error.to_string()))?,
                    )
                }
            });
        }
        Ok(Document { id: self.id, blocks })
    }
}

/// The native JSON of a document, one line.
pub fn document_json(document: &Document) -> String {
    // Strings, numbers and lists only: there is nothing here that JSON cannot hold.
    serde_json::to_string(&DocumentJson::<()>::new(document, Vec::new())).unwrap_or_default()
}

impl From<CellJson> for CellSource {
    fn from(cell: CellJson) -> Self {
        match cell {
            CellJson::Text(text) => text.into(),
            CellJson::Span(SpanJson { text, rowspan, colspan, .. }) => Self { text, rowspan, colspan },
        }
    }
}

impl CellJson {
    fn stored(&self) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Span(span) => span.stored.as_deref(),
        }
    }
}

fn table_json(table: &Table) -> TableJson {
    let mut rows: Vec<Vec<CellJson>> = (0..table.rows()).map(|_| Vec::new()).collect();
    for (index, cell) in table.cells().iter().enumerate() {
        let text = cell.text.clone();
        rows[cell.row].push(match (cell.rowspan, cell.colspan, table.stored(index)) {
            (1, 1, None) => CellJson::Text(text),
            (rowspan, colspan, stored) => {
                CellJson::Span(SpanJson { text, rowspan, colspan, stored: stored.map(str::to_owned) })
            }
        });
    }
    let row_parents: Vec<Option<usize>> = (0..table.rows()).map(|row| table.row_parent(row)).collect();
    TableJson {
        number: Some(table.number()),
        caption: table.caption().to_owned(),
        header_rows: table.num_header_rows(),
        header_cols: table.num_header_cols(),
        rows,
        row_parents: if row_parents.iter().all(Option::is_none) { Vec::new() } else { row_parents },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Document, ReadError> {
        parse(Path::new("r.json"), text)
    }

    #[test]
    fn a_document_round_trips_with_its_outer_rows() {
        let text = r#"{"id": "r", "blocks": [{"heading": {"level": 2, "text": "Results"}}, {"passage": "Revenue rose."},
            {"table": {"header_rows": 1, "header_cols": 1, "row_parents": [null, null, 1],
                       "rows": [["", {"text": "2018", "colspan": 2}], ["Sales:", "", ""],
                                ["a", "1", {"text": "2", "stored": "2.25"}]]}}]}"#;
        let document = parsed(text).unwrap();
        let table = document.tables().next().unwrap();
        let cell = table.cell_at(2, 2).unwrap();
        assert_eq!(table.path(&table.row_headers_of(cell)), "Sales: > a");
        assert_eq!((table.value_at(2, 2), table.value_at(2, 1), table.value_at(3, 1)), (Some("2.25"), Some("1"), None));
        assert_eq!(parsed(&document_json(&document)).unwrap(), document);
    }

    #[test]
    fn a_row_under_itself_is_refused() {
        let message = |parents: &str| {
            let text = format!(
                r#"{{"id": "r", "blocks": [{{"table": {{"row_parents": {parents}, "rows": [["a"], ["b"]]}}}}]}}"#
            );
            parsed(&text).unwrap_err().to_string()
        };
        let own = message("[null, 1]");
        assert!(own.contains("field blocks[0].table: row_parents gives row 1 the parent 1"), "{own}");
        let each_other = message("[1, 0]");
        assert!(each_other.contains("row_parents puts row 0 under more than"), "{each_other}");
    }
}
