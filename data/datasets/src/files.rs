//! Your own files, in any form that the project reads, and questions to them: JSON lines, each a question with the file that
//! it is put to and the ids of its gold nodes, as `infer` prints them.
//!
//! ```json
//! {"id": "q1", "document": "report.html", "question": "…", "gold": ["p3", {"node": "t0:r1c1", "sha256": "6b86b273"}]}
//! ```
//!
//! A path is relative to the file that names it. Ids count what stands in a document, so that they may come to name other
//! nodes where the file, or how it is read, changes; a question with a gold node whose text has not the SHA-256 that is given
//! with it (its first hexadecimal digits, eight or more) is left out of every measure.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tabsegnet_document::{ReadOptions, read};
use tabsegnet_graph::Graph;
use tabsegnet_store::sha256;

use crate::config::{DataConfig, Part};
use crate::dataset::{Dataset, Inputs};
use crate::error::DataError;
use crate::native::NO_GOLD;
use crate::record::{Ids, Place, read_all, read_lines};
use crate::sample::{Labels, Places, Question, Samples};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    id: Option<String>,
    document: Option<String>,
    question: Option<String>,
    gold: Option<Vec<Gold>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a node's id, or {\"node\", \"sha256\"}")]
enum Gold {
    Node(String),
    Text(GoldText),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GoldText {
    node: String,
    /// Of the node's text; its first digits suffice.
    sha256: String,
}

impl Gold {
    /// The node, and the digits that its text's SHA-256 begins with where they are given.
    fn parts(self, place: &Place<'_>, at: usize) -> Result<(String, Option<String>), DataError> {
        match self {
            Self::Node(node) => Ok((node, None)),
            Self::Text(GoldText { node, sha256: digits }) => {
                if digits.len() < DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    let message = format!("is {digits:?}; expected {DIGITS} hexadecimal digits or more");
                    return Err(place.error(&format!("gold[{at}].sha256"), message));
                }
                Ok((node, Some(digits.to_ascii_lowercase())))
            }
        }
    }
}

/// SHA-256 of the texts of documents' nodes, by the documents' positions; of those that a question wants them of.
#[derive(Default)]
struct Texts(HashMap<usize, HashMap<String, String>>);

impl Texts {
    /// Whether there is such a node and its text's SHA-256 begins with these digits.
    fn begins_with(&mut self, samples: &Samples, document: usize, node: &str, digits: &str) -> bool {
        let texts = self.0.entry(document).or_insert_with(|| {
            let graph = Graph::of(&samples.samples[document].document);
            graph.nodes().iter().map(|node| (node.id.clone(), sha256(node.text.as_bytes()))).collect()
        });
        texts.get(node).is_some_and(|text| text.starts_with(digits))
    }
}

/// Your own files and questions.
pub struct OwnFiles;

/// Why a question is left out of every measure.
const OTHER_TEXT: &str = "a gold node has another text than when the question was written";

/// Fewer say too little.
const DIGITS: usize = 8;

impl Dataset for OwnFiles {
    fn name(&self) -> &'static str {
        "files"
    }

    fn about(&self) -> &'static str {
        "your own files, and questions to them, one JSON object a line"
    }

    fn inputs(&self, config: &DataConfig, part: Part) -> Result<Inputs, DataError> {
        let inputs = Inputs::of(self.takes(), config, part)?;
        let mut documents = Vec::new();
        for (mut place, record) in records(&inputs.files)? {
            place.record = record.id.unwrap_or(place.record);
            if let Some(document) = record.document {
                documents.push(path_of(&place, &document)?);
            }
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(Inputs { documents, ..inputs })
    }

    fn read(&self, inputs: &Inputs, _config: &DataConfig, labels: Labels) -> Result<Samples, DataError> {
        let (mut samples, mut places, mut ids) = (Samples::default(), Places::default(), Ids::default());
        let mut names: HashMap<String, PathBuf> = HashMap::new();
        let mut texts = Texts::default();
        for (mut place, record) in records(&inputs.files)? {
            let id = ids.take(&mut place, record.id, "id")?;
            let text = place.question(record.question, "question")?;
            let named = place.require(record.document, "document", "the file that the question is put to")?;
            let path = path_of(&place, &named)?;
            let position = places.of(&mut samples, path.clone(), || {
                let document = read(&path, &ReadOptions::default())?.document;
                match names.insert(document.id.clone(), path.clone()) {
                    None => Ok(document),
                    Some(other) => {
                        let message = format!(
                            "{} and {} are both called {}; rename one",
                            other.display(),
                            path.display(),
                            document.id
                        );
                        Err(place.error("document", message))
                    }
                }
            })?;
            let (mut gold, mut reason) = (Vec::new(), NO_GOLD);
            for (at, entry) in record.gold.unwrap_or_default().into_iter().enumerate() {
                let (node, digits) = entry.parts(&place, at)?;
                if digits.is_some_and(|digits| !texts.begins_with(&samples, position, &node, &digits)) {
                    reason = OTHER_TEXT;
                }
                gold.push(node);
            }
            if reason == OTHER_TEXT {
                gold.clear();
            }
            samples.add_question(position, Question::new(id, text, gold), labels, reason);
        }
        Ok(samples)
    }
}

fn records(files: &[PathBuf]) -> Result<Vec<(Place<'_>, Record)>, DataError> {
    read_all(files, |file| read_lines(file, "question"))
}

/// A file that a record names.
///
/// # Errors
/// There is no such file.
fn path_of(place: &Place<'_>, name: &str) -> Result<PathBuf, DataError> {
    let path = place.file.parent().unwrap_or(Path::new("")).join(name);
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("there is no file {}; paths are relative to the file with the questions", path.display());
    Err(place.error("document", message))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Reads these lines beside a report of one sentence, and a letter of the report's name in another folder.
    fn read_lines_of(lines: &str) -> Result<Samples, DataError> {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            path
        };
        file("report.md", "Revenue rose.\n");
        file("other/report.txt", "Costs fell.\n");
        let files = vec![file("train.jsonl", lines)];
        let config = DataConfig {
            root: directory.path().display().to_string(),
            train: vec!["train.jsonl".into()],
            ..DataConfig::default()
        };
        let inputs = OwnFiles.inputs(&config, Part::Train)?;
        assert_eq!(inputs.files, files);
        OwnFiles.read(&inputs, &config, Labels::Required)
    }

    fn line(gold: &str) -> String {
        format!(r#"{{"id": "q", "document": "report.md", "question": "what rose?", "gold": {gold}}}"#)
    }

    #[test]
    fn a_text_that_changed_leaves_its_question_out() {
        let samples =
            |digits: &str| read_lines_of(&line(&format!(r#"[{{"node": "p0", "sha256": "{digits}"}}]"#))).unwrap();
        let digits = sha256(b"Revenue rose.");
        assert_eq!(samples(&digits).samples[0].questions[0].gold, ["p0"]);
        assert_eq!(samples(&digits[..DIGITS].to_uppercase()).samples[0].questions[0].gold, ["p0"]);
        let other = samples(&sha256(b"Revenue fell.")[..DIGITS]);
        assert_eq!(other.left_out.len(), 1);
        assert_eq!(other.left_out[0].reason, OTHER_TEXT);
    }

    #[test]
    fn errors_name_the_record_and_what_was_expected() {
        let message = |lines: &str| read_lines_of(lines).unwrap_err().to_string();
        let good = line(r#"["p0"]"#);
        assert!(
            message(&good.replace("report.md", "nowhere.md")).contains("record q, field document: there is no file")
        );
        assert!(message(&good.replace("what rose?", " ")).contains("record q, field question: is blank"));
        assert!(message(&good.replace("gold", "golden")).contains("golden"));
        assert!(message(&line("[7]")).contains("a node's id"));
        assert!(
            message(&line(r#"[{"node": "p0", "sha256": "12"}]"#)).contains("gold[0].sha256: is \"12\"; expected 8")
        );
        assert!(message(&format!("{good}\n{good}")).contains("a record of this id already"));
        let two = format!("{good}\n{}", good.replace("\"q\"", "\"r\"").replace("report.md", "other/report.txt"));
        assert!(message(&two).contains("are both called report"), "{}", message(&two));
        assert!(message("").contains("one question a line"));
    }
}
