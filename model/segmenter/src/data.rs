//! Questions with their segments: JSON lines `{"question", "segments": [text…], "id"?}`; other keys
//! are passed over.

use std::path::Path;

use serde::Deserialize;
use tabsegnet_store::read_text;

use crate::SegmenterError;

/// A question and what a segmenter should find in it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LabelledQuestion {
    /// Empty where it has none.
    #[serde(default)]
    pub id: String,
    /// The question.
    pub question: String,
    /// At least one.
    pub segments: Vec<String>,
}

/// Reads a file of labelled questions.
///
/// # Errors
/// A line that is no such object, a question without a word, a question without segments.
pub fn read(path: &Path) -> Result<Vec<LabelledQuestion>, SegmenterError> {
    let text = read_text(path)?;
    let mut questions = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let refused = |reason: String| SegmenterError::Line { path: path.to_owned(), line: number, reason };
        let question: LabelledQuestion = serde_json::from_str(line).map_err(|error| {
            refused(format!("{error}; expected one object a line: {{\"question\": text, \"segments\": [text, …]}}"))
        })?;
        if question.question.trim().is_empty() {
            return Err(refused("the question is blank".to_owned()));
        }
        if question.segments.iter().all(|segment| segment.trim().is_empty()) {
            return Err(refused("the question has no segment; leave it out".to_owned()));
        }
        questions.push(question);
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<LabelledQuestion>, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("q.jsonl");
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|error| error.to_string().rsplit('/').next().unwrap().to_owned())
    }

    #[test]
    fn lines_are_read_and_other_keys_passed_over() {
        let read = of("{\"question\": \"q?\", \"segments\": [\"a\", \"b\"], \"nodes\": [\"t0:r1c1\"]}\n\n").unwrap();
        assert_eq!((read.len(), read[0].segments.len(), read[0].id.as_str()), (1, 2, ""));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let good = "{\"question\": \"q?\", \"segments\": [\"a\"]}\n";
        for (bad, expected) in [
            ("{\"question\": \"q?\"}", "q.jsonl, line 2: missing field `segments`"),
            ("{\"question\": \" \", \"segments\": [\"a\"]}", "q.jsonl, line 2: the question is blank"),
            ("{\"question\": \"q\", \"segments\": [\" \"]}", "q.jsonl, line 2: the question has no segment"),
            ("[", "q.jsonl, line 2: EOF"),
        ] {
            let error = of(&format!("{good}{bad}")).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
