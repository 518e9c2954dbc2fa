//! Questions about one document: of the command line, of a file, of stdin.

use std::collections::HashSet;
use std::io::{self, BufRead as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use tabsegnet_datasets::tables::{TableQuestion, read_questions};
use tabsegnet_store::read_text;

/// A question with an id that no other one has.
pub struct Question {
    /// Empty for the only question of the command line, which needs none.
    pub id: String,
    /// The question.
    pub text: String,
}

/// Takes questions in and sees to their ids.
#[derive(Default)]
pub struct Questions {
    ids: HashSet<String>,
    count: usize,
}

/// A line that is not the question itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<String>,
    question: String,
}

impl Questions {
    /// A line of a file or of stdin, the `number`-th of `place`, from 1.
    fn line(&mut self, place: &str, number: usize, line: &str) -> Result<Question> {
        // Some editors begin a file with a byte-order mark.
        let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line }.trim();
        let at = || format!("{place}: line {number}");
        let (id, text) = if line.starts_with('{') {
            let Line { id, question } = serde_json::from_str(line)
                .with_context(|| format!("{}: expected a question, or {{\"id\": …, \"question\": …}}", at()))?;
            (id, question)
        } else {
            (None, line.to_owned())
        };
        if text.trim().is_empty() {
            bail!("{}: the question is blank; expected a question in words", at());
        }
        self.add(id, text).with_context(at)
    }

    /// Gives a question without an id its number for one, or the next that no earlier question has.
    fn add(&mut self, id: Option<String>, text: String) -> Result<Question> {
        self.count += 1;
        let mut free = (self.count..).map(|number| format!("q{number}")).filter(|id| !self.ids.contains(id));
        let id = id.or_else(|| free.next()).context("no number is left for a question's id")?;
        if id.is_empty() || id.contains(char::is_whitespace) {
            bail!("the question's id {id:?} is empty or holds white space; expected a word");
        }
        if !self.ids.insert(id.clone()) {
            bail!("the question's id {id:?} is that of an earlier one; give each its own");
        }
        Ok(Question { id, text })
    }

    /// Those of the command line and of a file.
    pub fn listed(&mut self, arguments: &[String], file: Option<&Path>) -> Result<Vec<Question>> {
        let mut questions = Vec::new();
        for text in arguments {
            questions.push(self.add(None, text.clone())?);
        }
        if let Some(path) = file {
            let (place, text) = (path.display().to_string(), read_text(path)?);
            for (number, line) in (1..).zip(text.lines()) {
                questions.push(self.line(&place, number, line)?);
            }
            if text.is_empty() {
                bail!("{place}: the file is empty; expected a question a line");
            }
        }
        Ok(questions)
    }

    /// Those of the command line and of a file of questions to a corpus: lines of JSON, plain or packed, whose other keys
    /// (gold, answers) are left alone, or a file as [`Questions::listed`] takes it.
    pub fn listed_for_corpus(&mut self, arguments: &[String], file: Option<&Path>) -> Result<Vec<Question>> {
        let name = file.map(|path| path.display().to_string().to_ascii_lowercase()).unwrap_or_default();
        let Some(path) = file.filter(|_| [".jsonl", ".jsonl.gz"].iter().any(|end| name.ends_with(end))) else {
            return self.listed(arguments, file);
        };
        let mut questions = self.listed(arguments, None)?;
        for (number, question) in (1..).zip(read_questions(path)?) {
            let TableQuestion { id, question, .. } = question?;
            questions
                .push(self.add(Some(id), question).with_context(|| format!("{}: question {number}", path.display()))?);
        }
        if questions.is_empty() {
            bail!("{}: the file is empty; expected a question a line", path.display());
        }
        Ok(questions)
    }

    /// Those of stdin, each as it comes.
    pub fn stdin(&mut self) -> impl Iterator<Item = Result<Question>> {
        (1..).zip(io::stdin().lock().lines()).map(|(number, line)| {
            let line = line.with_context(|| format!("stdin: line {number}: could not read"))?;
            self.line("stdin", number, &line)
        })
    }
}
