//! Labelled documents in the native form: JSON lines, each a document
//! ([`tabsegnet_document::native`]) with `"questions": [{"id", "question", "gold": [node ids]}]`
//! beside its blocks, and in a question, where they are known, its segments:
//! `"segments": [{"text", "nodes": [node ids]}]`.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabsegnet_document::native::{DocumentJson, no_blocks};

use crate::config::DataConfig;
use crate::dataset::{Dataset, Inputs};
use crate::error::DataError;
use crate::record::{Place, read_all, read_lines};
use crate::sample::{Labels, Question, Sample, Samples, Segment};
use crate::source::json;

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

/// Your own documents and questions.
pub struct Native;

impl Dataset for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn about(&self) -> &'static str {
        "your own documents and questions, one JSON object a line"
    }

    fn read(&self, inputs: &Inputs, _config: &DataConfig, labels: Labels) -> Result<Samples, DataError> {
        let mut samples = Samples::default();
        for (place, json) in read_all(&inputs.files, |file| read_lines(file, "JSON document"))? {
            let Sample { document, questions } = sample(place.file, json)?;
            let position = samples.add_document(document);
            questions.into_iter().for_each(|question| samples.add_question(position, question, labels, NO_GOLD));
        }
        Ok(samples)
    }
}

/// Why a question is left out of every measure.
pub(crate) const NO_GOLD: &str = "no gold node (gold is empty)";

/// The native JSON of a labelled document, one line.
pub fn sample_json(sample: &Sample) -> String {
    let segment = |s: &Segment| SegmentJson { text: s.text.clone(), nodes: s.nodes.clone() };
    let questions = sample.questions.iter().map(|q| QuestionJson {
        id: q.id.clone(),
        question: q.text.clone(),
        gold: q.gold.clone(),
        segments: q.segments.iter().map(segment).collect(),
    });
    json(&DocumentJson::new(&sample.document, questions.collect()))
}

fn sample(path: &Path, mut json: DocumentJson<QuestionJson>) -> Result<Sample, DataError> {
    let questions = std::mem::take(&mut json.questions);
    let document = json.into_document(path)?;
    if document.blocks.is_empty() && !questions.is_empty() {
        return Err(no_blocks(path, document.id).into());
    }
    if let Some(blank) = questions.iter().position(|question| question.question.trim().is_empty()) {
        let place = Place { file: path, record: document.id };
        return Err(place.error(&format!("questions[{blank}].question"), "is blank; expected the question's text"));
    }
    let segment = |SegmentJson { text, nodes }| Segment { text, nodes };
    let questions = questions.into_iter().map(|q| Question {
        id: q.id,
        text: q.question,
        gold: q.gold,
        segments: q.segments.into_iter().map(segment).collect(),
        answer: None,
    });
    Ok(Sample { document, questions: questions.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabsegnet_document::from_json;

    const REPORT: &str = r#"{"id": "r", "blocks": [{"passage": "Revenue rose."},
        {"table": {"header_rows": 1, "header_cols": 1,
                   "rows": [["", {"text": "2018", "colspan": 2}], ["a", "1", "2"]]}}],
        "questions": [{"id": "q", "question": "revenue?", "gold": ["p0"],
                       "segments": [{"text": "revenue", "nodes": ["p0"]}]}]}"#;

    fn parse(text: &str) -> Result<Sample, DataError> {
        let path = Path::new("r.json");
        sample(path, from_json(path, text)?)
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
