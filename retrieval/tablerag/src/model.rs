//! A language model plans: one call for the next step, one for a statement, one to weigh.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tabsegnet_llm::{Budget, ChatModel, LlmError, LlmSettings, Message, Piece, ReplySchema, Tokens, chat_json};
use tabsegnet_sql::Rows;
use tabsegnet_sql::llm::{StatementRequest, quoted, write_statement};
use tabsegnet_sql::schema_graph::SqlDialect;
use tabsegnet_store::one_line;

use crate::library::Library;
use crate::planner::{Evidence, Need, Planner, State, Statement, Step, Trust, Weighed};
use crate::search::Found;
use crate::trace::RoundEvent;

const NEXT: &str = include_str!("prompts/next.txt");
const WEIGH: &str = include_str!("prompts/weigh.txt");

/// The confidence of an answer that a model gives: how likely one is right was not measured.
const CONFIDENCE: f32 = 0.5;
/// Characters of a value that a prompt shows.
const VALUE: usize = 200;

/// A language model within a budget.
pub struct ModelPlanner<'a> {
    model: &'a dyn ChatModel,
    settings: &'a LlmSettings,
    budget: &'a mut Budget,
    on_piece: &'a mut dyn FnMut(Piece<'_>),
    tokens: Tokens,
}

impl<'a> ModelPlanner<'a> {
    /// `on_piece` gets replies as they come.
    pub fn new(
        model: &'a dyn ChatModel,
        settings: &'a LlmSettings,
        budget: &'a mut Budget,
        on_piece: &'a mut dyn FnMut(Piece<'_>),
    ) -> Self {
        Self { model, settings, budget, on_piece, tokens: Tokens::default() }
    }

    fn call<T>(
        &mut self,
        (name, system): (&str, &str),
        user: String,
        schema: Value,
        read: &dyn Fn(Value) -> Result<T, String>,
    ) -> Result<T, LlmError> {
        let messages = vec![Message::system(system.trim_ascii_end()), Message::user(user)];
        let request = self.settings.request(messages, Some(ReplySchema { name: name.to_owned(), schema }));
        let reply = chat_json(self.model, request, self.budget, self.on_piece, read)?;
        self.tokens += reply.tokens;
        Ok(reply.value)
    }
}

impl Planner for ModelPlanner<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn next(&mut self, state: &State<'_>) -> Result<Step, LlmError> {
        let actions: &[&str] = if state.is_last() { &["answer", "abstain"] } else { &["search", "answer", "abstain"] };
        let schema = json!({
            "type": "object",
            "properties": {
                "thought": {"type": "string"},
                "action": {"type": "string", "enum": actions},
                "subquery": {"type": "string"},
                "answer": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["thought", "action", "subquery", "answer"],
            "additionalProperties": false,
        });
        let last = state.is_last();
        self.call(("step", NEXT), next_prompt(state), schema, &|reply| read_step(&reply, last))
    }

    fn statement(&mut self, state: &State<'_>, need: &Need<'_>) -> Result<Option<Statement>, LlmError> {
        let tables: Vec<String> = need.tables.iter().map(|&table| schema_line(state.library, table)).collect();
        let request = StatementRequest {
            dialect: SqlDialect::Sqlite,
            question: need.subquery,
            tables: &tables,
            joins: &[],
            refused: need.refused,
            with_reasons: true,
        };
        let reply = write_statement((self.model, self.settings), self.budget, self.on_piece, &request)?;
        self.tokens += reply.tokens;
        Ok(reply.value.map(|sql| Statement { sql, confidence: None, least: 0.0, notes: Vec::new() }))
    }

    fn weigh(&mut self, state: &State<'_>, evidence: &Evidence<'_>) -> Result<Weighed, LlmError> {
        let schema = json!({
            "type": "object",
            "properties": {
                "answer": {"type": "array", "items": {"type": "string"}},
                "trust": {"type": "string", "enum": ["sql", "text", "both", "neither"]},
                "reason": {"type": "string"},
            },
            "required": ["answer", "trust", "reason"],
            "additionalProperties": false,
        });
        self.call(("weighed", WEIGH), weigh_prompt(state, evidence), schema, &|reply| read_weighed(&reply))
    }

    fn tokens(&self) -> Tokens {
        self.tokens
    }
}

fn text(reply: &Value, field: &str) -> Result<String, String> {
    match reply.get(field) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("{field} is not a text")),
        None => Err(format!("{field} is missing")),
    }
}

/// A list of texts, or a single one; numbers are texts.
fn texts(reply: &Value, field: &str) -> Result<Vec<String>, String> {
    let one = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("{field} has something that is no text")),
    };
    match reply.get(field) {
        Some(Value::Array(all)) => all.iter().map(one).collect(),
        Some(Value::Null) | None => Ok(Vec::new()),
        Some(value) => Ok(vec![one(value)?]),
    }
}

fn read_step(reply: &Value, last: bool) -> Result<Step, String> {
    let thought = text(reply, "thought").unwrap_or_default();
    match text(reply, "action")?.as_str() {
        "search" if last => Err("no round is left; expected action answer or abstain".to_owned()),
        "search" => match text(reply, "subquery")? {
            subquery if subquery.trim().is_empty() => Err("subquery is empty".to_owned()),
            subquery => Ok(Step::Search { thought, subquery }),
        },
        "answer" => match texts(reply, "answer")? {
            answer if answer.iter().all(|text| text.trim().is_empty()) => Err("answer is empty".to_owned()),
            answer => Ok(Step::Answer { answer, reason: thought }),
        },
        "abstain" => Ok(Step::Abstain { reason: thought }),
        other => Err(format!("there is no action {other:?}; expected search, answer or abstain")),
    }
}

fn read_weighed(reply: &Value) -> Result<Weighed, String> {
    let trust = match text(reply, "trust")?.as_str() {
        "sql" => Trust::Sql,
        "text" => Trust::Text,
        "both" => Trust::Both,
        "neither" => Trust::Neither,
        other => return Err(format!("there is no trust {other:?}; expected sql, text, both or neither")),
    };
    let answer = texts(reply, "answer")?;
    let confidence = if answer.is_empty() { 0.0 } else { CONFIDENCE };
    Ok(Weighed { answer, trust, confidence, reason: text(reply, "reason").unwrap_or_default() })
}

fn source(library: &Library, found: &Found) -> String {
    let chunk = library.chunks().get(found.chunk);
    let title =
        chunk.and_then(|chunk| library.sources().get(chunk.document)).map_or("", |source| source.title.as_str());
    let place = chunk.map_or_else(String::new, |chunk| chunk.span.name());
    format!("{} {place}", quoted(title, VALUE))
}

fn schema_line(library: &Library, table: usize) -> String {
    library.tables().get(table).map_or_else(String::new, |stored| json!(stored.schema).to_string())
}

/// What happened in the rounds so far, in words.
fn so_far(state: &State<'_>) -> String {
    let mut told = String::new();
    for event in state.events {
        match event {
            RoundEvent::Subquery { round, subquery, .. } => {
                let _ = writeln!(told, "{round}. Subquery: {}", one_line(subquery));
            }
            RoundEvent::Weighed { answer, trust, reason, .. } => {
                let answer: Vec<String> = answer.iter().map(|text| quoted(text, VALUE)).collect();
                let trust = json!(trust);
                let _ = writeln!(told, "   Found ({trust}): {} - {}", answer.join(", "), one_line(reason));
            }
            RoundEvent::Unfounded { answer, .. } => {
                let answer: Vec<String> = answer.iter().map(|text| quoted(text, VALUE)).collect();
                let _ = writeln!(
                    told,
                    "   The answer {} was not taken: it stands in nothing that was found.",
                    answer.join(", ")
                );
            }
            RoundEvent::Start { .. } | RoundEvent::Statement { .. } | RoundEvent::End { .. } => {}
        }
    }
    told
}

fn next_prompt(state: &State<'_>) -> String {
    let mut prompt = format!("Question: {}\n", one_line(state.question));
    let mut tables: Vec<usize> = Vec::new();
    for table in state.overview.iter().filter_map(|found| state.library.table_of(found.chunk)) {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    if !tables.is_empty() {
        prompt += "\nTables near the question:\n";
        for table in tables {
            let _ = writeln!(prompt, "- {}", schema_line(state.library, table));
        }
    }
    let told = so_far(state);
    if !told.is_empty() {
        let _ = write!(prompt, "\nSo far:\n{told}");
    }
    let _ = match state.is_last() {
        true => writeln!(prompt, "\nNo round is left: answer, or abstain."),
        false => writeln!(prompt, "\nThis is round {} of {}.", state.round, state.settings.rounds),
    };
    prompt
}

fn weigh_prompt(state: &State<'_>, evidence: &Evidence<'_>) -> String {
    let mut prompt = format!("Subquery: {}\n", one_line(evidence.subquery));
    match evidence.executed {
        Some((statement, rows)) => {
            let _ = writeln!(prompt, "\nStatement: {}\nRows:", quoted(&statement.sql, 2000));
            prompt += &shown(rows, state.settings.rows);
        }
        None if evidence.refused.is_empty() => prompt += "\nNo statement was run.\n",
        None => {
            for (sql, reason) in evidence.refused {
                let _ = writeln!(
                    prompt,
                    "\nStatement that was not run: {}\nWhy: {}",
                    quoted(sql, 1000),
                    quoted(reason, 500)
                );
            }
        }
    }
    prompt += "\nTexts:\n";
    for found in evidence.chunks {
        let text = state.library.chunks().get(found.chunk).map_or("", |chunk| chunk.text.as_str());
        let _ =
            writeln!(prompt, "- {}: {}", source(state.library, found), quoted(text, state.settings.chunk_characters));
    }
    prompt
}

/// Rows as JSON lists, the first of them.
fn shown(rows: &Rows, most: usize) -> String {
    let names: Vec<&str> = rows.columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = format!("{}\n", json!(names));
    for row in rows.rows.iter().take(most) {
        let values: Vec<Value> = row
            .iter()
            .map(|value| match serde_json::to_value(value) {
                Ok(Value::String(text)) => Value::String(text.chars().take(VALUE).collect()),
                Ok(value) => value,
                Err(_) => Value::Null,
            })
            .collect();
        let _ = writeln!(text, "{}", Value::Array(values));
    }
    if rows.truncated || rows.rows.len() > most {
        text += "and more rows\n";
    } else if rows.rows.is_empty() {
        text += "no rows\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_or_refused_in_words() {
        let step = |value: Value| read_step(&value, false);
        assert_eq!(
            step(json!({"thought": "t", "action": "search", "subquery": "x"})),
            Ok(Step::Search { thought: "t".into(), subquery: "x".into() })
        );
        assert_eq!(
            step(json!({"action": "answer", "answer": 15})),
            Ok(Step::Answer { answer: vec!["15".into()], reason: String::new() })
        );
        assert_eq!(step(json!({"action": "abstain"})), Ok(Step::Abstain { reason: String::new() }));
        for (value, words) in [
            (json!({"action": "fly"}), "no action \"fly\""),
            (json!({}), "action is missing"),
            (json!({"action": 7}), "action is not a text"),
            (json!({"action": "search", "subquery": " "}), "subquery is empty"),
            (json!({"action": "answer", "answer": []}), "answer is empty"),
            (json!({"action": "answer", "answer": [[1]]}), "no text"),
        ] {
            assert!(step(value.clone()).unwrap_err().contains(words), "{value}");
        }
        assert!(
            read_step(&json!({"action": "search", "subquery": "x"}), true).unwrap_err().contains("no round is left")
        );
        assert!(read_weighed(&json!({"answer": ["1"], "trust": "gut"})).unwrap_err().contains("no trust \"gut\""));
        let weighed = read_weighed(&json!({"answer": ["1"], "trust": "both", "reason": "r"})).unwrap();
        assert_eq!((weighed.trust, weighed.confidence), (Trust::Both, CONFIDENCE));
    }
}
