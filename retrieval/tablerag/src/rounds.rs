//! The rounds, and the answer at their end.

use serde::{Deserialize, Serialize};
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_llm::{LlmError, Tokens};
use tabsegnet_sql::{Rows, Value};

use crate::chunk::Span;
use crate::error::LibraryError;
use crate::execute::{Cited, Executed, Execution};
use crate::library::Library;
use crate::planner::{Evidence, Need, Planner, State, Statement, Step, Trust};
use crate::reranker::Reranker;
use crate::rules::row_text;
use crate::search::Found;
use crate::settings::RoundSettings;
use crate::trace::{KeptChunk, RoundEvent};
use tabsegnet_document::node_id;

/// The rounds could not be gone through.
#[derive(Debug, thiserror::Error)]
pub enum RoundError {
    /// The chunks cannot be searched.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The planner failed.
    #[error(transparent)]
    Planner(#[from] LlmError),
}

/// Something that was looked at before the answer was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What, in words.
    pub what: String,
    /// Whether it holds.
    pub passed: bool,
}

/// What is said to a question.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// The answer, one by one; empty where nothing is said.
    pub answer: Vec<String>,
    /// Whether nothing is said.
    pub abstained: bool,
    /// How sure it is, from 0 to 1; where nothing is said, how sure the best was.
    pub confidence: f32,
    /// Which source it follows.
    pub trust: Option<Trust>,
    /// The statement that it comes from, with its rows and cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed: Option<Executed>,
    /// What it rests on.
    pub cited: Vec<Cited>,
    /// What was looked at; all hold but for what speaks against a statement, unless nothing is said.
    pub checks: Vec<Check>,
    /// How it came about.
    pub trace: Vec<RoundEvent>,
    /// What a model read and wrote.
    pub tokens: Tokens,
}

/// What answers.
#[derive(Debug, Clone, Copy)]
pub struct Rounds<'a> {
    /// What is searched.
    pub library: &'a Library,
    /// What recalls and orders chunks.
    pub reranker: &'a Reranker,
    /// Where statements run.
    pub execution: &'a Execution,
    /// The settings.
    pub settings: &'a RoundSettings,
}

/// What the rounds found so far.
#[derive(Default)]
struct Seen {
    executed: Vec<Executed>,
    kept: Vec<Found>,
    confidence: f32,
    trust: Option<Trust>,
}

impl Rounds<'_> {
    /// Answers a question. `sink` gets each event when it happens; they are also the outcome's trace.
    ///
    /// What always holds: there are at most `rounds` subqueries, and of each at most `statements` statements; what is
    /// answered stands in rows or in kept chunks and cites them; where the budget of a model is spent, nothing is said.
    ///
    /// # Errors
    /// The chunks cannot be searched; the planner fails for another reason than its budget.
    pub fn answer(
        &self,
        question: &str,
        planner: &mut dyn Planner,
        sink: &mut dyn FnMut(&RoundEvent),
    ) -> Result<Outcome, RoundError> {
        let mut events = Vec::new();
        let mut tell = |events: &mut Vec<RoundEvent>, event: RoundEvent| {
            sink(&event);
            events.push(event);
        };
        let name = planner.name().to_owned();
        tell(&mut events, RoundEvent::Start { question: question.to_owned(), planner: name });
        let overview = self.search(question)?;
        let mut seen = Seen::default();
        let mut unfounded = 0;
        let mut round = 1;
        let (answer, reason) = loop {
            let state = self.state(question, &events, &overview, round);
            let step = match planner.next(&state) {
                Err(LlmError::Budget(error)) => break (Vec::new(), error.to_string()),
                step => step?,
            };
            match step {
                Step::Abstain { reason } => break (Vec::new(), reason),
                Step::Answer { answer, reason } if answer.iter().all(|text| text.trim().is_empty()) => {
                    break (Vec::new(), reason);
                }
                Step::Answer { answer, reason } => {
                    let founded = answer.iter().all(|text| self.stands(text, &seen));
                    if founded {
                        break (answer, reason);
                    }
                    tell(&mut events, RoundEvent::Unfounded { round, answer });
                    unfounded += 1;
                    // One more try.
                    if unfounded > 1 {
                        break (Vec::new(), "two answers did not stand in what was found".to_owned());
                    }
                }
                Step::Search { .. } if state.is_last() => {
                    break (Vec::new(), format!("no answer in {} rounds", self.settings.rounds));
                }
                Step::Search { thought, subquery } => {
                    let subquery = if subquery.trim().is_empty() { question.to_owned() } else { subquery };
                    let kept = self.search(&subquery)?;
                    let chunks = kept.iter().map(|found| self.kept(found)).collect();
                    let told = RoundEvent::Subquery { round, thought, subquery: subquery.clone(), chunks };
                    tell(&mut events, told);
                    let turn = self.turn(question, &subquery, &kept, &overview, round, planner, &mut events, &mut tell);
                    seen.kept
                        .extend(kept.iter().filter(|found| !seen.kept.contains(found)).copied().collect::<Vec<_>>());
                    match turn {
                        Err(LlmError::Budget(error)) => break (Vec::new(), error.to_string()),
                        Err(error) => return Err(error.into()),
                        Ok((executed, confidence, trust)) => {
                            seen.executed.extend(executed);
                            (seen.confidence, seen.trust) = (confidence, Some(trust));
                        }
                    }
                    round += 1;
                }
            }
        };
        let abstained = answer.is_empty();
        let end = RoundEvent::End { answer: answer.clone(), abstained, reason: reason.clone() };
        tell(&mut events, end);
        let mut outcome = self.outcome(answer, &reason, seen);
        outcome.tokens = planner.tokens();
        outcome.trace = events;
        Ok(outcome)
    }

    /// One subquery: statements where a kept chunk is of a table, then both sources weighed.
    #[allow(clippy::too_many_arguments, clippy::type_complexity, reason = "a part of the one caller")]
    fn turn(
        &self,
        question: &str,
        subquery: &str,
        kept: &[Found],
        overview: &[Found],
        round: usize,
        planner: &mut dyn Planner,
        events: &mut Vec<RoundEvent>,
        tell: &mut dyn FnMut(&mut Vec<RoundEvent>, RoundEvent),
    ) -> Result<(Option<Executed>, f32, Trust), LlmError> {
        let mut tables: Vec<usize> = Vec::new();
        for table in kept.iter().filter_map(|found| self.library.table_of(found.chunk)) {
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        let mut refused: Vec<(String, String)> = Vec::new();
        let mut executed: Option<(Statement, Executed)> = None;
        while !tables.is_empty() && executed.is_none() && refused.len() < self.settings.statements {
            let state = self.state(question, events, overview, round);
            let need = Need { subquery, tables: &tables, refused: &refused };
            let Some(statement) = planner.statement(&state, &need)? else { break };
            match self.execution.run(self.library, &statement.sql) {
                Ok(run) => {
                    let run = Executed { notes: statement.notes.clone(), ..run };
                    let sql = statement.sql.clone();
                    tell(events, RoundEvent::Statement { round, sql, rows: Some(run.rows.clone()), refused: None });
                    executed = Some((statement, run));
                }
                Err(error) => {
                    let reason = error.to_string();
                    let told = RoundEvent::Statement {
                        round,
                        sql: statement.sql.clone(),
                        rows: None,
                        refused: Some(reason.clone()),
                    };
                    tell(events, told);
                    refused.push((statement.sql, reason));
                }
            }
        }
        let state = self.state(question, events, overview, round);
        let rows = executed.as_ref().map(|(statement, run)| (statement, &run.rows));
        let evidence = Evidence { subquery, chunks: kept, executed: rows, refused: &refused };
        let weighed = planner.weigh(&state, &evidence)?;
        let confidence = weighed.confidence.clamp(0.0, 1.0);
        let trust = weighed.trust;
        tell(events, RoundEvent::Weighed { round, answer: weighed.answer, trust, confidence, reason: weighed.reason });
        Ok((executed.map(|(_, run)| run), confidence, trust))
    }

    fn state<'s>(
        &'s self,
        question: &'s str,
        events: &'s [RoundEvent],
        overview: &'s [Found],
        round: usize,
    ) -> State<'s> {
        State { question, library: self.library, events, overview, round, settings: self.settings }
    }

    fn search(&self, text: &str) -> Result<Vec<Found>, LibraryError> {
        let mut found = self.library.search(text, self.reranker, self.settings.recalled, self.settings.recalled)?;
        let mut of_others = self.library.of_others(text, &found).into_iter();
        found.retain(|_| !of_others.next().unwrap_or_default());
        let mut found = self.library.of_meant(text, found);
        found.truncate(self.settings.kept);
        Ok(found)
    }

    fn kept(&self, found: &Found) -> KeptChunk {
        let chunk = self.library.chunks().get(found.chunk);
        let source = chunk.and_then(|chunk| self.library.sources().get(chunk.document));
        KeptChunk {
            document: source.map_or_else(String::new, |source| source.name.display().to_string()),
            place: chunk.map_or_else(String::new, |chunk| chunk.span.name()),
            table: self.library.schema_of(found.chunk).map(|schema| schema.table_name.clone()),
            score: found.score,
        }
    }

    /// Whether an answer stands in rows of a statement or in the text of a kept chunk.
    fn stands(&self, answer: &str, seen: &Seen) -> bool {
        seen.executed.iter().any(|run| in_rows(answer, &run.rows))
            || seen.kept.iter().any(|found| self.in_chunk(answer, found))
    }

    fn in_chunk(&self, answer: &str, found: &Found) -> bool {
        let wanted = plain(answer);
        self.library.chunks().get(found.chunk).is_some_and(|chunk| {
            !wanted.is_empty() && format!(" {} ", plain(&chunk.text)).contains(&format!(" {wanted} "))
        })
    }

    fn outcome(&self, answer: Vec<String>, reason: &str, seen: Seen) -> Outcome {
        let Seen { executed, kept, confidence, trust } = seen;
        if answer.is_empty() {
            let checks = vec![Check { what: reason.to_owned(), passed: false }];
            return Outcome { abstained: true, confidence, trust, checks, ..Outcome::default() };
        }
        let mut cited: Vec<Cited> = Vec::new();
        let mut checks = Vec::new();
        let mut used: Option<Executed> = None;
        for text in &answer {
            if let Some(run) = executed.iter().rev().find(|run| in_rows(text, &run.rows)) {
                checks.push(Check { what: format!("{text:?} is a value of the statement's rows"), passed: true });
                cited.extend(run.cited.iter().filter(|cell| !cited.contains(cell)).cloned().collect::<Vec<_>>());
                if used.is_none() {
                    checks.extend(run.notes.iter().map(|note| Check { what: note.clone(), passed: false }));
                    used = Some(run.clone());
                }
            } else if let Some(found) = kept.iter().find(|found| self.in_chunk(text, found)) {
                checks.push(Check { what: format!("{text:?} stands in {}", self.kept(found).place), passed: true });
                let passages = self.passages(found, text);
                cited.extend(passages.into_iter().filter(|cell| !cited.contains(cell)).collect::<Vec<_>>());
            }
        }
        Outcome { answer, abstained: false, confidence, trust, executed: used, cited, checks, ..Outcome::default() }
    }

    /// Where in a chunk a text stands: passages, or cells.
    fn passages(&self, found: &Found, text: &str) -> Vec<Cited> {
        let Some(chunk) = self.library.chunks().get(found.chunk) else { return Vec::new() };
        let Some(source) = self.library.sources().get(chunk.document) else { return Vec::new() };
        let document = source.name.display().to_string();
        let wanted = format!(" {} ", plain(text));
        let holds = |of: &str| format!(" {} ", plain(of)).contains(&wanted);
        match &chunk.span {
            Span::Text { from, to } => {
                let all: Vec<(usize, &str)> =
                    source.document.passages().enumerate().skip(from.0).take(to.0 + 1 - from.0).collect();
                let exact: Vec<(usize, &str)> = all.iter().copied().filter(|(_, of)| holds(of)).collect();
                // A text may run over the end of a passage.
                let of = if exact.is_empty() { all } else { exact };
                of.into_iter()
                    .map(|(number, of)| Cited {
                        document: document.clone(),
                        node: node_id::passage(number),
                        text: of.to_owned(),
                        row_headers: None,
                        column_headers: None,
                        cell: None,
                    })
                    .collect()
            }
            Span::Table { rows, .. } => {
                let Some(at) = self.library.table_of(found.chunk) else { return Vec::new() };
                let Some(table) = self.library.table(at) else { return Vec::new() };
                let cells = table.cells().iter().filter(|cell| rows.contains(&cell.row) && holds(&cell.text));
                cells.filter_map(|cell| crate::execute::cell(self.library, at, cell.row, cell.col)).collect()
            }
        }
    }
}

/// Words and numbers alone, in lower case.
fn plain(text: &str) -> String {
    tabsegnet_corpus::terms(text).join(" ")
}

/// Whether an answer is a value of rows, the same number or the same words, or a whole one of them as [`row_text`] writes it.
fn in_rows(answer: &str, rows: &Rows) -> bool {
    let number = parse_cell_number(answer);
    let wanted = plain(answer);
    let close = |value: f64| number.is_some_and(|number| (number - value).abs() <= 1e-9 * value.abs().max(1.0));
    if rows.rows.iter().any(|row| row.len() > 1 && row_text(row) == answer) {
        return true;
    }
    rows.rows.iter().flatten().any(|value| match value {
        #[allow(clippy::cast_precision_loss, reason = "compared with what a text says")]
        Value::Integer(value) => close(*value as f64),
        Value::Real(value) => close(*value),
        Value::Text(text) => {
            text == answer
                || !wanted.is_empty() && plain(text) == wanted
                || number.is_some() && parse_cell_number(text) == number
        }
        Value::Null | Value::Blob(_) => false,
    })
}
