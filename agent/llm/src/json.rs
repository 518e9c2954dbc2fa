//! JSON out of what a model says.

use serde_json::{Deserializer, Value};

use crate::budget::{Budget, Tokens};
use crate::chat::{ChatModel, ChatRequest, Finish, Message, Piece};
use crate::error::LlmError;

/// Places of a reply at which an object is looked for.
const TRIES: usize = 64;
/// Bytes of an unusable reply that the model is shown again.
const SHOWN: usize = 2000;

/// What was read from a reply, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonReply<T> {
    /// What was read.
    pub value: T,
    /// Tokens of all turns.
    pub tokens: Tokens,
    /// What was wrong with the first reply; `None` where it was right.
    pub repaired: Option<String>,
}

/// Has a model answer with a JSON object that `read` takes. Where it does not, it is told why and gets one more turn.
///
/// Text before and behind the object, such as thoughts and code fences, is passed over; of several objects the first that
/// `read` takes counts.
///
/// # Errors
/// Those of the model; [`LlmError::Invalid`] where the second reply is no better.
pub fn chat_json<T>(
    model: &dyn ChatModel,
    mut request: ChatRequest,
    budget: &mut Budget,
    on_piece: &mut dyn FnMut(Piece<'_>),
    read: &dyn Fn(Value) -> Result<T, String>,
) -> Result<JsonReply<T>, LlmError> {
    let mut tokens = Tokens::default();
    let mut first: Option<String> = None;
    loop {
        let reply = model.chat(&request, budget, on_piece)?;
        tokens += reply.tokens;
        let found = objects(&reply.content, read).or_else(|reason| {
            // Some servers put all of it where thoughts belong.
            if reply.content.trim().is_empty() { objects(&reply.reasoning, read) } else { Err(reason) }
        });
        let reason = match found {
            Ok(value) => return Ok(JsonReply { value, tokens, repaired: first }),
            Err(reason) => match &reply.finish {
                Finish::Stop => reason,
                Finish::Length => format!("the reply was cut off at {} tokens (llm.max_tokens)", request.max_tokens),
                Finish::Other(why) => format!("the reply ended with {why:?}: {reason}"),
            },
        };
        if first.is_some() {
            return Err(LlmError::Invalid { reason });
        }
        let mut shown = reply.content;
        if shown.len() > SHOWN {
            let end = (0..=SHOWN).rev().find(|&end| shown.is_char_boundary(end)).unwrap_or(0);
            shown.truncate(end);
        }
        if !shown.trim().is_empty() {
            request.messages.push(Message::assistant(shown));
        }
        let again = format!(
            "This cannot be used: {reason}. Answer again, with one JSON object of the form described, and nothing else. \
             Keep it short."
        );
        request.messages.push(Message::user(again));
        first = Some(reason);
        on_piece(Piece::Again);
    }
}

/// The first object of a text that `read` takes; else why the first object was not taken.
fn objects<T>(text: &str, read: &dyn Fn(Value) -> Result<T, String>) -> Result<T, String> {
    // What stands between the marks of thinking is no answer, whatever objects it has.
    let text = text.rsplit_once("</think>").map_or(text, |(_, answer)| answer);
    let mut wrong: Option<String> = None;
    let mut from = 0;
    for _ in 0..TRIES {
        let Some(start) = text.get(from..).and_then(|rest| rest.find('{')) else { break };
        let start = from + start;
        let mut values = Deserializer::from_str(text.get(start..).unwrap_or("")).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                from = start + values.byte_offset().max(1);
                match read(value) {
                    Ok(value) => return Ok(value),
                    Err(reason) => wrong.get_or_insert(reason),
                };
            }
            Some(Err(error)) => {
                from = start + 1;
                wrong.get_or_insert_with(|| format!("the JSON is broken: {error}"));
            }
            None => break,
        }
    }
    Err(wrong.unwrap_or_else(|| "there is no JSON object in it".to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{chat_json, objects};
    use crate::budget::{Budget, Limits};
    use crate::chat::{ChatRequest, Message};
    use crate::error::LlmError;
    use crate::scripted::Scripted;

    fn number(value: Value) -> Result<i64, String> {
        value.get("n").and_then(Value::as_i64).ok_or_else(|| "n is missing".to_owned())
    }

    #[test]
    fn objects_are_found_in_what_models_say() {
        for text in [
            "{\"n\": 7}",
            "I think {n} is seven.\n```json\n{\"n\": 7}\n```\nDone.",
            "<think>{\"n\": 8}? no</think>{\"n\": 7}",
            "{\"m\": {\"n\": 8}} {\"n\": 7}",
            "é { \"n\" : 7 } trailing }",
        ] {
            assert_eq!(objects(text, &number), Ok(7), "{text}");
        }
        for (text, reason) in [
            ("", "no JSON object"),
            ("seven", "no JSON object"),
            ("{\"n\": 7", "broken"),
            ("{\"m\": 1}", "n is missing"),
            ("[7]", "no JSON object"),
        ] {
            let found = objects(text, &number).unwrap_err();
            assert!(found.contains(reason), "{text}: {found}");
        }
        let deep = "{\"n\":".repeat(100_000);
        assert!(objects(&deep, &number).is_err());
    }

    #[test]
    fn a_bad_reply_gets_one_more_turn() {
        let request = || ChatRequest::new(vec![Message::user("n?")]);
        let run = |replies: &[&str]| {
            let mut budget = Budget::new(Limits::default());
            let model = Scripted::new(replies.iter().copied());
            let result = chat_json(&model, request(), &mut budget, &mut |_| {}, &number);
            (result, budget.spent().calls)
        };
        let (result, calls) = run(&["{\"n\": 1}"]);
        assert_eq!((result.unwrap().repaired, calls), (None, 1));
        let (result, calls) = run(&["one", "{\"n\": 1}"]);
        let reply = result.unwrap();
        assert_eq!((reply.value, calls), (1, 2));
        assert!(reply.repaired.unwrap().contains("no JSON object"));
        let (result, calls) = run(&["one", "two", "{\"n\": 1}"]);
        assert!(matches!(result, Err(LlmError::Invalid { .. })));
        assert_eq!(calls, 2);
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "(\\{|\\}|\"|n|:|7|\\[|é|\\\\| ){0,200}") {
            let _ = objects(&text, &number);
        }
    }
}
