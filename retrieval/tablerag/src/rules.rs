//! Planning without a language model: the question is the one subquery, the statement is the likeliest of those that
//! [`tabsegnet_sql::generate`] makes over a table, or [`tabsegnet_sql::propose`] over tables of records, and the surer of rows and
//! texts is taken.

use tabsegnet_llm::LlmError;
use tabsegnet_sql::{Rows, Value};

use crate::library::Library;
use crate::planner::{Evidence, Need, Planner, State, Statement, Step, Trust, Weighed};
use crate::search::Found;
use crate::statements::likeliest;
use crate::trace::RoundEvent;

/// What texts say to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// One by one.
    pub answer: Vec<String>,
    /// How likely it is right, from 0 to 1.
    pub confidence: f32,
}

/// Answers from texts: what the rules hold beside a statement's rows.
pub trait Reader {
    /// What the chunks say; nothing where they do not.
    fn read(&mut self, library: &Library, question: &str, chunks: &[Found]) -> Option<Reading>;
}

/// Reads nothing.
impl Reader for () {
    fn read(&mut self, _: &Library, _: &str, _: &[Found]) -> Option<Reading> {
        None
    }
}

/// Plans by rules.
pub struct Rules<R> {
    reader: R,
}

impl<R: Reader> Rules<R> {
    /// With what reads the texts.
    pub fn new(reader: R) -> Self {
        Self { reader }
    }
}

impl<R: Reader> Planner for Rules<R> {
    fn name(&self) -> &str {
        "rules"
    }

    fn next(&mut self, state: &State<'_>) -> Result<Step, LlmError> {
        let weighed = state.events.iter().rev().find_map(|event| match event {
            RoundEvent::Weighed { answer, confidence, reason, .. } => Some((answer, *confidence, reason)),
            _ => None,
        });
        let unfounded = state.events.iter().any(|event| matches!(event, RoundEvent::Unfounded { .. }));
        Ok(match weighed {
            None => match state.library.unknown_name(state.question) {
                Some(name) => Step::Abstain { reason: format!("the question names {name}, which no document says") },
                None => Step::Search { thought: String::new(), subquery: state.question.to_owned() },
            },
            Some((answer, _, reason)) if !answer.is_empty() && !unfounded => {
                Step::Answer { answer: answer.clone(), reason: reason.clone() }
            }
            Some((answer, _, reason)) if answer.is_empty() => Step::Abstain { reason: reason.clone() },
            Some((_, confidence, _)) => Step::Abstain {
                reason: format!("neither rows nor texts say it with enough confidence ({confidence:.2})"),
            },
        })
    }

    fn statement(&mut self, state: &State<'_>, need: &Need<'_>) -> Result<Option<Statement>, LlmError> {
        // A statement of the generator that fails is no reason for another one.
        if !need.refused.is_empty() {
            return Ok(None);
        }
        Ok(likeliest(state.library, need.tables, need.subquery))
    }

    fn weigh(&mut self, state: &State<'_>, evidence: &Evidence<'_>) -> Result<Weighed, LlmError> {
        let of_rows = evidence.executed.and_then(|(statement, rows)| {
            let answer = answer_of(rows);
            (!answer.is_empty()).then_some((answer, statement))
        });
        let of_texts = self.reader.read(state.library, evidence.subquery, evidence.chunks);
        Ok(weigh(of_rows, of_texts))
    }
}

/// What texts must be surer by than rows, which are of all of a table.
const SURER: f32 = 0.1;

/// The surer of both, rows where they are nearly as sure; both together where they say the same. Rows below what the generator
/// calls likely are no answer.
fn weigh(of_rows: Option<(Vec<String>, &Statement)>, of_texts: Option<Reading>) -> Weighed {
    let of_rows = of_rows.map(|(answer, statement)| (answer, statement.confidence.unwrap_or(0.0), statement));
    match (of_rows, of_texts) {
        (Some((answer, confidence, _)), Some(reading)) if answer == reading.answer => Weighed {
            answer,
            trust: Trust::Both,
            // Two sources that are wrong for different reasons.
            confidence: 1.0 - (1.0 - confidence) * (1.0 - reading.confidence),
            reason: "rows and texts say the same".to_owned(),
        },
        (Some((answer, confidence, statement)), reading)
            if confidence >= statement.least
                && reading.as_ref().is_none_or(|reading| confidence + SURER >= reading.confidence) =>
        {
            let reason = match reading {
                Some(reading) => format!("rows are as sure as texts, {confidence:.2} to {:.2}", reading.confidence),
                None => format!("rows say it, texts do not ({confidence:.2})"),
            };
            Weighed { answer, trust: Trust::Sql, confidence, reason }
        }
        (of_rows, Some(reading)) => {
            let reason = match of_rows {
                Some((_, rows, _)) => format!("texts are surer than rows, {:.2} to {rows:.2}", reading.confidence),
                None => format!("texts say it, rows do not ({:.2})", reading.confidence),
            };
            Weighed { answer: reading.answer, trust: Trust::Text, confidence: reading.confidence, reason }
        }
        (Some((_, confidence, statement)), None) => {
            let reason = format!("no statement is likely enough; the likeliest ({confidence:.2}): {}", statement.sql);
            Weighed { confidence, ..Weighed::nothing(reason) }
        }
        (None, None) => Weighed::nothing("neither rows nor texts say it"),
    }
}

/// The rows, each once.
fn answer_of(rows: &Rows) -> Vec<String> {
    let mut answer: Vec<String> = Vec::new();
    for text in rows.rows.iter().map(|row| row_text(row)) {
        if !text.is_empty() && !answer.contains(&text) {
            answer.push(text);
        }
    }
    answer
}

/// The value of a row of one column; of several what the row is of before its numbers, "North: 12".
pub(crate) fn row_text(row: &[Value]) -> String {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    for value in row {
        match value {
            Value::Null | Value::Blob(_) => {}
            Value::Integer(value) => numbers.push(value.to_string()),
            Value::Real(value) => numbers.push(shown(*value)),
            Value::Text(text) => texts.extend(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        }
    }
    let parts = [texts.join(", "), numbers.join(", ")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<String>>().join(": ")
}

/// A number without what its binary form adds to a sum: twelve digits count.
fn shown(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { value.abs().log10().floor().clamp(-12.0, 15.0) as i32 };
    let places = (11 - digits).clamp(0, 12) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(answer: &str, confidence: f32) -> Option<Reading> {
        Some(Reading { answer: vec![answer.to_owned()], confidence })
    }

    #[test]
    fn the_surer_source_is_taken() {
        let statement = |confidence| Statement {
            sql: "SELECT 1".to_owned(),
            confidence: Some(confidence),
            least: 0.25,
            notes: Vec::new(),
        };
        let rows = |answer: &str, confidence| Some((vec![answer.to_owned()], confidence));
        for (of_rows, of_texts, answer, trust) in [
            (rows("1", 0.8), reading("2", 0.5), "1", Trust::Sql),
            (rows("1", 0.5), reading("2", 0.55), "1", Trust::Sql),
            (rows("1", 0.5), reading("2", 0.8), "2", Trust::Text),
            (rows("1", 0.1), None, "", Trust::Neither),
            (rows("1", 0.1), reading("2", 0.05), "2", Trust::Text),
            (None, reading("2", 0.3), "2", Trust::Text),
            (None, None, "", Trust::Neither),
        ] {
            let of_rows = of_rows.map(|(answer, confidence)| (answer, statement(confidence)));
            let weighed = weigh(of_rows.as_ref().map(|(answer, of)| (answer.clone(), of)), of_texts);
            assert_eq!((weighed.answer.join(""), weighed.trust), (answer.to_owned(), trust), "{weighed:?}");
        }
        let both = weigh(Some((vec!["1".to_owned()], &statement(0.5))), reading("1", 0.5));
        assert_eq!((both.trust, both.confidence), (Trust::Both, 0.75));
    }

    #[test]
    fn rows_of_groups_say_which_group_they_are() {
        let rows = |rows: Vec<Vec<Value>>| answer_of(&Rows { columns: Vec::new(), rows, truncated: false });
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(
            rows(vec![vec![Value::Integer(12), text("North")], vec![Value::Integer(12), text("South")]]),
            ["North: 12", "South: 12"]
        );
        assert_eq!(rows(vec![vec![text("a"), Value::Null], vec![text("a"), Value::Null]]), ["a"]);
    }

    #[test]
    fn numbers_are_shown_without_what_their_binary_form_adds() {
        let told: Vec<String> = [0.1 + 0.2, 8_345_678.129_999_999, 3.0, 1e15, -2.5, 0.0].map(shown).to_vec();
        assert_eq!(told, ["0.3", "8345678.13", "3", "1000000000000000", "-2.5", "0"]);
    }
}
