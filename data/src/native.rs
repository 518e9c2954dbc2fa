//! The native document form: one JSON document, and JSON lines of labelled documents.
//!
//! ```json
//! {"id": "report", "blocks": [
//!   {"passage": "Revenue rose."},
//!   {"table": {"caption": "Revenue", "header_rows": 1, "header_cols": 1,
//!              "rows": [["", "2018"], ["Products", {"text": "12", "rowspan": 1, "colspan": 1}]]}}]}
//! ```
//!
//! A table may carry `"number"`, the `n` of its node ids; without it tables are numbered in
//! reading order. A labelled document has `"questions": [{"id", "question", "gold": [node ids]}]`
//! beside its blocks.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::document::{Block, CellSource, Document, Table, TableSource};
use crate::error::{DataError, from_json};
use crate::sample::{Question, Sample};
use tabsegnet_files::read_text;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentJson {
    id: String,
    blocks: Vec<BlockJson>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    questions: Vec<QuestionJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BlockJson {
    Passage(String),
    Table(TableJson),
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
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a cell: text, or {\"text\", \"rowspan\", \"colspan\"}")]
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
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionJson {
    id: String,
    question: String,
    gold: Vec<String>,
}

fn one() -> usize {
    1
}

/// Reads one native JSON document. Questions beside the blocks are allowed and not looked at.
pub fn read_document(path: &Path) -> Result<Document, DataError> {
    let text = read_text(path)?;
    let json: DocumentJson = from_json(path, &text)?;
    let document = build(path, json)?.document;
    if document.blocks.is_empty() { Err(no_blocks(path, document.id)) } else { Ok(document) }
}

/// There is nothing to rank.
fn no_blocks(path: &Path, record: String) -> DataError {
    DataError::Record {
        file: path.display().to_string(),
        record,
        field: "blocks".into(),
        message: "is empty; expected at least one passage or table".into(),
    }
}

/// Reads labelled documents: JSON lines, one document with its questions a line. Blank lines are
/// passed over; a file without any document is an error.
pub fn read_samples(path: &Path) -> Result<Vec<Sample>, DataError> {
    let text = read_text(path)?;
    let mut samples = Vec::new();
    for (line, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let json: DocumentJson = from_json(path, text).map_err(|error| match error {
            DataError::Json { file, place, message } => {
                DataError::Json { file, place: format!("line {}, {place}", line + 1), message }
            }
            other => other,
        })?;
        samples.push(build(path, json)?);
    }
    if samples.is_empty() {
        return Err(DataError::Json {
            file: path.display().to_string(),
            place: "the whole file".into(),
            message: "no document; expected one JSON document a line".into(),
        });
    }
    Ok(samples)
}

/// The native JSON of a document, one line.
pub fn document_json(document: &Document) -> String {
    to_json(document, &[])
}

/// The native JSON of a labelled document, one line.
pub fn sample_json(sample: &Sample) -> String {
    to_json(&sample.document, &sample.questions)
}

fn build(path: &Path, json: DocumentJson) -> Result<Sample, DataError> {
    let record_error = |field: String, message: String| DataError::Record {
        file: path.display().to_string(),
        record: json.id.clone(),
        field,
        message,
    };
    let mut numbers = HashSet::new();
    let mut next = 0;
    let mut blocks = Vec::with_capacity(json.blocks.len());
    for (position, block) in json.blocks.into_iter().enumerate() {
        blocks.push(match block {
            BlockJson::Passage(text) => Block::Passage(text),
            BlockJson::Table(table) => {
                let number = table.number.unwrap_or(next);
                next = number.saturating_add(1).max(next);
                if !numbers.insert(number) {
                    return Err(record_error(
                        format!("blocks[{position}].table.number"),
                        format!("{number} is the number of an earlier table; give every table its own, or none"),
                    ));
                }
                let source = TableSource {
                    number,
                    caption: table.caption,
                    header_rows: table.header_rows,
                    header_cols: table.header_cols,
                    rows: table.rows.into_iter().map(|row| row.into_iter().map(CellSource::from).collect()).collect(),
                    ..TableSource::default()
                };
                Block::Table(
                    Table::new(source)
                        .map_err(|error| record_error(format!("blocks[{position}].table"), error.to_string()))?,
                )
            }
        });
    }
    if blocks.is_empty() && !json.questions.is_empty() {
        return Err(no_blocks(path, json.id));
    }
    if let Some(blank) = json.questions.iter().position(|question| question.question.trim().is_empty()) {
        let message = "is blank; expected the question's text".into();
        return Err(record_error(format!("questions[{blank}].question"), message));
    }
    let questions = json.questions.into_iter().map(|q| Question { id: q.id, text: q.question, gold: q.gold }).collect();
    Ok(Sample { document: Document { id: json.id, blocks }, questions })
}

impl From<CellJson> for CellSource {
    fn from(cell: CellJson) -> Self {
        match cell {
            CellJson::Text(text) => text.into(),
            CellJson::Span(SpanJson { text, rowspan, colspan }) => Self { text, rowspan, colspan },
        }
    }
}

fn to_json(document: &Document, questions: &[Question]) -> String {
    let blocks = document.blocks.iter().map(|block| match block {
        Block::Passage(text) => BlockJson::Passage(text.clone()),
        Block::Table(table) => BlockJson::Table(table_json(table)),
    });
    let json = DocumentJson {
        id: document.id.clone(),
        blocks: blocks.collect(),
        questions: questions
            .iter()
            .map(|q| QuestionJson { id: q.id.clone(), question: q.text.clone(), gold: q.gold.clone() })
            .collect(),
    };
    // Strings, numbers and lists only: there is nothing here that JSON cannot hold.
    serde_json::to_string(&json).unwrap_or_default()
}

fn table_json(table: &Table) -> TableJson {
    let mut rows: Vec<Vec<CellJson>> = (0..table.rows()).map(|_| Vec::new()).collect();
    for cell in table.cells() {
        let text = cell.text.clone();
        rows[cell.row].push(match (cell.rowspan, cell.colspan) {
            (1, 1) => CellJson::Text(text),
            (rowspan, colspan) => CellJson::Span(SpanJson { text, rowspan, colspan }),
        });
    }
    TableJson {
        number: Some(table.number()),
        caption: table.caption().to_owned(),
        header_rows: table.header_rows(),
        header_cols: table.header_cols(),
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"id": "r", "blocks": [{"passage": "Revenue rose."},
        {"table": {"header_rows": 1, "header_cols": 1,
                   "rows": [["", {"text": "2018", "colspan": 2}], ["a", "1", "2"]]}}],
        "questions": [{"id": "q", "question": "revenue?", "gold": ["p0"]}]}"#;

    fn parse(text: &str) -> Result<Sample, DataError> {
        let path = Path::new("r.json");
        build(path, from_json(path, text)?)
    }

    #[test]
    fn a_document_round_trips() {
        let sample = parse(REPORT).unwrap();
        assert_eq!(sample.document.tables().next().unwrap().cell_at(0, 2).unwrap().text, "2018");
        let again = parse(&sample_json(&sample)).unwrap();
        assert_eq!(again, sample);
    }

    #[test]
    fn errors_name_file_place_and_what_was_expected() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert!(message("").contains("r.json: the whole file: the file is empty"));
        assert!(message(r#"{"id": "r", "blocks": [{"passage": 1}]}"#).contains("blocks[0].passage"));
        assert!(message(r#"{"id": "r", "bloks": []}"#).contains("bloks"));
        assert!(message(&REPORT[..60]).contains("EOF"));
        assert!(message(&format!("{REPORT} x")).contains("after the end"));
        let ragged = r#"{"id": "r", "blocks": [{"table": {"rows": [["a"], ["b", "c"]]}}]}"#;
        assert!(message(ragged).contains("record r, field blocks[0].table: row 1 covers 2 columns"));
        let twice = r#"{"id": "r", "blocks": [{"table": {"number": 1, "rows": [["a"]]}}, {"table": {"number": 1, "rows": [["b"]]}}]}"#;
        assert!(message(twice).contains("blocks[1].table.number"));
        let nothing = r#"{"id": "r", "blocks": [], "questions": [{"id": "q", "question": "revenue?", "gold": []}]}"#;
        assert!(message(nothing).contains("record r, field blocks: is empty"));
        assert!(message(&REPORT.replace("revenue?", " ")).contains("field questions[0].question: is blank"));
        let cell = r#"{"id": "r", "blocks": [{"table": {"rows": [[7]]}}]}"#;
        assert!(message(cell).contains("blocks[0].table.rows[0][0]: a cell"), "{}", message(cell));
    }
}
