//! Questions as programs are given them: of the command line, of a file, of stdin.

use std::collections::HashSet;
use std::io::{self, BufRead as _};
use std::path::Path;

use serde::Deserialize;
use tabsegnet_datasets::tables::unpacked_text;
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

/// A line that is not the question itself. Other keys are left alone: files of questions have their answers in them.
#[derive(Deserialize)]
struct Line {
    id: Option<String>,
    question: String,
}

/// Whether a question has neither a letter nor a digit.
pub fn is_blank(question: &str) -> bool {
    !question.contains(char::is_alphanumeric)
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
        let (id, text) = if line.starts_with('{') {
            let Line { id, question } = serde_json::from_str(line).map_err(|error| {
                wrong(&at, format!("expected a question, or {{\"id\": …, \"question\": …}}: {error}"))
            })?;
            (id, question)
        } else {
            (None, line.to_owned())
        };
        self.add(&at, id, text)
    }

    /// Gives a question without an id its number for one, or the next that no earlier question has.
    fn add(&mut self, place: &str, id: Option<String>, text: String) -> Result<GivenQuestion, QuestionError> {
        if is_blank(&text) {
            return Err(wrong(place, "the question is blank; expected a question in words"));
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
    /// `{"id": …, "question": …}`. Without an id they are `q1`, `q2`, …
    ///
    /// # Errors
    /// A file that cannot be read or is empty, a blank question, an id that is no word or that of an earlier one.
    pub fn listed(&mut self, given: &[String], file: Option<&Path>) -> Result<Vec<GivenQuestion>, QuestionError> {
        let mut questions = Vec::new();
        for text in given {
            questions.push(self.add("--question", None, text.clone())?);
        }
        if let Some(path) = file {
            let (place, text) = (path.display().to_string(), unpacked_text(path)?);
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
                    Err(wrong(format!("stdin: line {number}"), "it is no UTF-8"))
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
