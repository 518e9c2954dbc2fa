//! Questions as programs are given them: of the command line, of a file, of stdin.

use std::collections::HashSet;
use std::io::{self, BufRead as _};
use std::path::Path;

use serde_json::{Map, Value};
use tabsegnet_datasets::tables::{of_line, unpacked};
use tabsegnet_document::decode;
use tabsegnet_lexical::question::{UnfitQuestion, check};
use tabsegnet_store::{FileError, eprintln};

/// A question with an id that no other one has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenQuestion {
    /// A word.
    pub id: String,
    /// The question.
    pub text: String,
}

/// A question that cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// One of the command line.
    #[error("--question: {0}")]
    Given(UnfitQuestion),
    /// What stands in it.
    #[error("{place}: {message}")]
    Content {
        /// File and line.
        place: String,
        /// What is wrong, and what is expected.
        message: String,
    },
    /// Lines of stdin that were passed over, each told when it came.
    #[error("{count} of the lines of stdin could not be answered; each was told above")]
    PassedOver {
        /// How many.
        count: usize,
    },
}

/// Tells a line of stdin that is passed over on stderr, and where answers are lines of JSON as one of them too: `{"error": …}`.
fn tell_passed_over(error: &QuestionError, in_json: bool) -> io::Result<()> {
    eprintln!("error: {error}");
    if in_json {
        tabsegnet_store::print(&format!("{}\n", serde_json::json!({ "error": error.to_string() })))?;
    }
    Ok(())
}

fn wrong(place: impl Into<String>, message: impl Into<String>) -> QuestionError {
    QuestionError::Content { place: place.into(), message: message.into() }
}

/// Takes questions in and sees to their ids.
#[derive(Debug, Default)]
pub struct Questions {
    ids: HashSet<String>,
    count: usize,
}

/// The id, if there is one, and the question of a line that is not the question itself. Other keys are left alone: files of
/// questions have their answers in them.
fn of_object(line: &str) -> Result<(Option<String>, String), String> {
    let expected = "expected a question, or {\"id\": …, \"question\": …}";
    let mut object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| format!("{expected}: {}", of_line(&error.to_string())))?;
    let id = match object.remove("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) => Some(id),
        Some(Value::Number(id)) => Some(id.to_string()),
        Some(other) => return Err(format!("field id is {other}; expected a word")),
    };
    match object.remove("question") {
        Some(Value::String(question)) => Ok((id, question)),
        Some(other) => Err(format!("field question is {other}; expected the question's text")),
        None => Err(format!("field question is missing; {expected}")),
    }
}

/// Whether a line is a list of JSON, which is no question.
fn is_list(line: &str) -> bool {
    line.starts_with('[') && serde_json::from_str::<Vec<Value>>(line).is_ok()
}

/// A byte-order mark, which some editors begin a file with, says nothing.
fn is_blank_line(line: &str) -> bool {
    line.trim_start_matches('\u{feff}').trim().is_empty()
}

impl Questions {
    /// A line of a file or of stdin, the `number`-th of `place`, from 1.
    fn line(&mut self, place: &str, number: usize, line: &str) -> Result<GivenQuestion, QuestionError> {
        // Some editors begin a file with a byte-order mark.
        let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line }.trim();
        let at = format!("{place}: line {number}");
        let (id, text) = match line {
            object if object.starts_with('{') => of_object(object).map_err(|message| wrong(&at, message))?,
            list if is_list(list) => {
                return Err(wrong(at, "is a list; expected one question a line, or {\"id\": …, \"question\": …}"));
            }
            text => (None, text.to_owned()),
        };
        self.add(&at, id, text)
    }

    /// Gives a question without an id its number for one, or the next that no earlier question has.
    fn add(&mut self, place: &str, id: Option<String>, text: String) -> Result<GivenQuestion, QuestionError> {
        if let Err(unfit) = check(&text) {
            let of = id.map_or_else(String::new, |id| format!("{id}: "));
            return Err(wrong(place, format!("{of}{unfit}")));
        }
        self.count += 1;
        let mut free = (self.count..).map(|number| format!("q{number}")).filter(|id| !self.ids.contains(id));
        let id = id.or_else(|| free.next()).unwrap_or_default();
        if id.is_empty() || id.contains(char::is_whitespace) {
            let message = format!("the question's id {id:?} is empty or holds white space; expected a word");
            return Err(wrong(place, message));
        }
        if !self.ids.insert(id.clone()) {
            let message = format!("the question's id {id:?} is that of an earlier one; give each its own");
            return Err(wrong(place, message));
        }
        Ok(GivenQuestion { id, text })
    }

    /// Those of the command line and of a file, plain or packed (`.gz`), which has one a line: the question itself, or
    /// `{"id": …, "question": …}`. Without an id they are `q1`, `q2`, … What the file is encoded in is found as of documents.
    ///
    /// # Errors
    /// A file that cannot be read or is empty, a question that is blank or too long, an id that is no word or that of an earlier
    /// one.
    pub fn listed(&mut self, given: &[String], file: Option<&Path>) -> Result<Vec<GivenQuestion>, QuestionError> {
        let mut questions = Vec::new();
        for text in given {
            check(text).map_err(QuestionError::Given)?;
            questions.push(self.add("--question", None, text.clone())?);
        }
        if let Some(path) = file {
            let place = path.display().to_string();
            let (text, guessed) = decode(unpacked(path)?);
            if text.contains('\0') {
                return Err(wrong(place, "is no text; expected one question a line"));
            }
            guessed.into_iter().for_each(|guessed| eprintln!("warning: {place}: {guessed}"));
            let before = questions.len();
            for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !is_blank_line(line)) {
                questions.push(self.line(&place, number, line)?);
            }
            if questions.len() == before {
                return Err(wrong(place, "the file has no question; expected one a line"));
            }
        }
        Ok(questions)
    }

    /// Answers those of stdin, each as it comes. A line that cannot be taken is told on stderr, and where answers are lines of JSON
    /// (`in_json`) as one of them too, `{"error": …}`, and the next one is answered: who keeps a program running for its questions
    /// does not lose it by one of them.
    ///
    /// # Errors
    /// What `answer` says, stdin that cannot be read, stdout that is closed; at the end [`QuestionError::PassedOver`] where lines
    /// were.
    pub fn answer_stdin<E: From<QuestionError> + From<io::Error>>(
        &mut self,
        in_json: bool,
        mut answer: impl FnMut(&GivenQuestion) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut count = 0;
        for (number, line) in (1..).zip(io::stdin().lock().lines()) {
            let taken = match line {
                Ok(line) if is_blank_line(&line) => continue,
                Ok(line) => self.line("stdin", number, &line),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    Err(wrong(format!("stdin: line {number}"), "it is no UTF-8; send the questions as UTF-8"))
                }
                Err(error) => return Err(wrong("stdin", format!("line {number}: could not read: {error}")).into()),
            };
            match taken {
                Ok(question) => answer(&question)?,
                Err(error) => {
                    count += 1;
                    tell_passed_over(&error, in_json)?;
                }
            }
        }
        if count > 0 { Err(QuestionError::PassedOver { count }.into()) } else { Ok(()) }
    }
}
