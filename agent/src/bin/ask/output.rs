//! Answers as text, as JSON, and as a page.

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use tabsegnet::OpenDocument;
use tabsegnet_agent::large::Excerpt;
use tabsegnet_agent::{Answer, Citation, page};
use tabsegnet_page::{Answer as Shown, Page};
use tabsegnet_store::{eprintln, printable, write_bytes_atomic};

use crate::large::LargeDocument;
use crate::{Format, Found};

/// Scores that a page holds for shades, over all questions: about a megabyte.
const SHADED: usize = 100_000;

/// Prints answers as they come, or gathers them for a file.
pub struct Writer<'a> {
    format: Format,
    output: Option<&'a Path>,
    about: Vec<(String, String)>,
    /// Answers so far.
    finished: usize,
    /// What waits for the end.
    text: String,
    list: Vec<Answer>,
    shown: Vec<Shown>,
    /// The document of a page.
    document: Option<OpenDocument>,
    /// Whether what is shown is made of tables of a corpus.
    of_tables: bool,
    /// A document of which tables went through SQL, and what is cited of it.
    large: Option<(Rc<LargeDocument>, Vec<Citation>)>,
}

impl<'a> Writer<'a> {
    /// To a file, or to stdout. `about` is what a page says of what made its answers.
    pub fn new(format: Format, output: Option<&'a Path>, about: Vec<(String, String)>) -> Self {
        Self {
            format,
            output,
            about,
            finished: 0,
            text: String::new(),
            list: Vec::new(),
            shown: Vec::new(),
            document: None,
            of_tables: false,
            large: None,
        }
    }

    /// Adds an answer from a document.
    pub fn add(&mut self, found: &Found, answer: Answer) -> Result<()> {
        let Found { document, ranking, tables } = found;
        if self.format != Format::Html {
            return self.add_without_document(answer);
        }
        let mut shown = page::shown(document.graph(), ranking, &answer);
        let shaded: usize = self.shown.iter().map(|shown| shown.scores.len()).sum();
        if shaded + shown.scores.len() > SHADED {
            eprintln!("the page shades no nodes for {:?}: it has many questions", ranking.question);
            shown.scores.clear();
        }
        self.of_tables = tables.is_some();
        self.shown.push(shown);
        self.finished += 1;
        self.document.get_or_insert_with(|| document.clone());
        Ok(())
    }

    /// Adds an answer from a document of which tables went through SQL.
    pub fn add_large(&mut self, large: &Rc<LargeDocument>, answer: Answer) -> Result<()> {
        if self.format != Format::Html {
            return self.add_without_document(answer);
        }
        self.of_tables = large.is_of_tables();
        self.shown.push(page::shown_of_sql(&answer));
        self.finished += 1;
        self.large.get_or_insert_with(|| (Rc::clone(large), Vec::new())).1.extend(answer.citations);
        Ok(())
    }

    /// Adds an answer that no document can be shown of.
    pub fn add_without_document(&mut self, answer: Answer) -> Result<()> {
        match self.format {
            Format::Table => self.write(&lines(&answer))?,
            Format::Jsonl => self.write(&(serde_json::to_string(&answer)? + "\n"))?,
            Format::Json => self.list.push(answer),
            Format::Html => bail!(
                "--format html: there is no document to show, as the corpus has no table for the question; expected --format \
                 table, json or jsonl"
            ),
        }
        self.finished += 1;
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<()> {
        match self.output {
            Some(_) => self.text += text,
            None => print(text)?,
        }
        Ok(())
    }

    /// Writes what waits.
    pub fn finish(mut self) -> Result<()> {
        self.make_text()?;
        match self.output {
            Some(path) => Ok(write_bytes_atomic(path, self.text.as_bytes())?),
            None if self.text.is_empty() => Ok(()),
            None => print(&self.text),
        }
    }

    /// Writes the answers that were finished before an error ended the rest: they may have been paid for. The file of
    /// `--output` stays as it is; they go beside it.
    pub fn finish_part(mut self) -> Result<()> {
        let waits = matches!(self.format, Format::Json | Format::Html) || self.output.is_some();
        if self.finished == 0 || !waits {
            return Ok(());
        }
        self.make_text()?;
        let finished = self.finished;
        match self.output {
            Some(path) => {
                let mut part = path.as_os_str().to_owned();
                part.push(".partial");
                let part = Path::new(&part);
                write_bytes_atomic(part, self.text.as_bytes())?;
                eprintln!("the {finished} answers that were finished are in {}", part.display());
            }
            None => {
                print(&self.text)?;
                eprintln!("{finished} answers were finished");
            }
        }
        Ok(())
    }

    fn make_text(&mut self) -> Result<()> {
        // The tables of a corpus are a document of one question alone.
        let of_question = match self.shown.as_slice() {
            [only] if self.of_tables => Some(&only.question),
            _ => None,
        };
        match (self.format, &self.document) {
            (Format::Json, _) => self.text = serde_json::to_string_pretty(&self.list)? + "\n",
            (Format::Html, Some(open)) => {
                let read = open.read()?;
                let title = of_question.unwrap_or(&read.document.id);
                let (about, answers) = (&self.about, &self.shown);
                let layout = Some(&read.layout);
                self.text = Page { title, about, document: &read.document, layout, answers }.html()?;
            }
            (Format::Html, None) => {
                let Some((large, citations)) = &self.large else { bail!("--format html: there is no question") };
                let Excerpt { document, layout, rows } = large.tables().excerpt(citations)?;
                let title = of_question.unwrap_or(&document.id);
                let (about, answers) = (&self.about, &self.shown);
                let page = Page { title, about, document: &document, layout: Some(&layout), answers };
                self.text = page.html_of_part(&rows)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// To stdout, at once.
pub fn print(text: &str) -> Result<()> {
    tabsegnet_store::print(text).context("stdout: could not write")
}

/// Below it an answer is called a guess: of FinQA's and TAT-QA's such ones less than one in three is right
/// (docs/answers.md).
const GUESS: f32 = 0.3;

/// Lines for a terminal.
fn lines(answer: &Answer) -> String {
    let mut lines = vec![answer.question.clone()];
    lines.extend(answer.read_as.as_ref().map(|read_as| format!("  read as: {read_as}")));
    if answer.abstained {
        let why: Vec<&str> =
            answer.checks.iter().filter(|check| !check.passed).map(|check| check.what.as_str()).collect();
        lines.push(match answer.policy.as_str() {
            "llm" | "none" => format!("  does not know: {}", why.join("; ")),
            _ => {
                let why = if why.is_empty() { String::new() } else { format!(": {}", why.join("; ")) };
                format!("  does not know (the best guess has confidence {:.2}){why}", answer.confidence)
            }
        });
        lines.extend(answer.unverified.as_ref().map(|unverified| format!("  not verified: {unverified}")));
    } else {
        let guess = if answer.confidence < GUESS { ": a guess" } else { "" };
        lines.push(format!("  {}   confidence {:.2}{guess}", answer.said(), answer.confidence));
        lines.extend(answer.program.as_ref().map(|program| format!("  program: {program}")));
        lines.extend(answer.sql.as_ref().map(|sql| format!("  sql: {sql}")));
        let doubts = answer.checks.iter().filter(|check| !check.passed);
        lines.extend(doubts.map(|check| format!("  note: {}", check.what)));
        for citation in &answer.citations {
            let headers: Vec<&str> = citation.headers().collect();
            let table = citation.table.as_ref().or(citation.file.as_ref());
            let table = table.map_or_else(String::new, |table| format!(" in {table}"));
            let location = citation.location.as_ref().map_or_else(String::new, |location| format!(" at {location}"));
            lines.push(format!("  {}{table}{location}: {} {}", citation.node, citation.text, headers.join(" | ")));
        }
    }
    lines.iter().map(|line| printable(line) + "\n").collect()
}
