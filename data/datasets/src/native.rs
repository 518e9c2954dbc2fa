//! Labelled documents in the native form: JSON lines, each a document
//! ([`tabsegnet_document::native`]) with `"questions": [{"id", "question", "gold": [node ids]}]`
//! beside its blocks, and in a question, where they are known, its segments:
//! `"segments": [{"text", "nodes": [node ids]}]`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabsegnet_document::native::{DocumentJson, no_blocks};
use tabsegnet_store::read_text;

pub use tabsegnet_document::native::document_json;

use crate::error::{DataError, from_json};
use crate::sample::{Question, Sample, Segment};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionJson {
    id: String,
    question: String,
    gold: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    segments: Vec<SegmentJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentJson {
    text: String,
    nodes: Vec<String>,
}

/// Reads labelled documents: JSON lines, one document with its questions a line. Blank lines are
/// passed over; a file without any document is an error.
pub fn read_samples(path: &Path) -> Result<Vec<Sample>, DataError> {
    let text = read_text(path)?;
    let mut samples = Vec::new();
    for (line, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let json: DocumentJson<QuestionJson> = from_json(path, text).map_err(|error| match error {
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

/// The native JSON of a labelled document, one line.
pub fn sample_json(sample: &Sample) -> String {
    let segment = |s: &Segment| SegmentJson { text: s.text.clone(), nodes: s.nodes.clone() };
    let questions = sample.questions.iter().map(|q| QuestionJson {
        id: q.id.clone(),
        question: q.text.clone(),
        gold: q.gold.clone(),
        segments: q.segments.iter().map(segment).collect(),
    });
    // Strings, numbers and lists only: there is nothing here that JSON cannot hold.
    serde_json::to_string(&DocumentJson::new(&sample.document, questions.collect())).unwrap_or_default()
}

fn build(path: &Path, mut json: DocumentJson<QuestionJson>) -> Result<Sample, DataError> {
    let questions = std::mem::take(&mut json.questions);
    let document = json.into_document(path)?;
    if document.blocks.is_empty() && !questions.is_empty() {
        return Err(no_blocks(path, document.id).into());
    }
    if let Some(blank) = questions.iter().position(|question| question.question.trim().is_empty()) {
        return Err(DataError::Record {
            file: path.display().to_string(),
            record: document.id,
            field: format!("questions[{blank}].question"),
            message: "is blank; expected the question's text".into(),
        });
    }
    let segment = |SegmentJson { text, nodes }| Segment { text, nodes };
    let questions = questions.into_iter().map(|q| Question {
        id: q.id,
        text: q.question,
        gold: q.gold,
        segments: q.segments.into_iter().map(segment).collect(),
    });
    Ok(Sample { document, questions: questions.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"id": "r", "blocks": [{"passage": "Revenue rose."},
        {"table": {"header_rows": 1, "header_cols": 1,
                   "rows": [["", {"text": "2018", "colspan": 2}], ["a", "1", "2"]]}}],
        "questions": [{"id": "q", "question": "revenue?", "gold": ["p0"],
                       "segments": [{"text": "revenue", "nodes": ["p0"]}]}]}"#;

    fn parse(text: &str) -> Result<Sample, DataError> {
        let path = Path::new("r.json");
        build(path, from_json(path, text)?)
    }

    #[test]
    fn a_document_round_trips() {
        let sample = parse(REPORT).unwrap();
        assert_eq!(sample.document.tables().next().unwrap().cell_at(0, 2).unwrap().text, "2018");
        assert_eq!(sample.questions[0].segments[0].text, "revenue");
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
