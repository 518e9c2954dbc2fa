//! What comes of a reply, whole or in pieces.

use serde::Deserialize;
use serde_json::Value;

use crate::budget::Tokens;
use crate::chat::{Finish, Piece};
use crate::http::failure::Failure;

/// Bytes of content that one reply may have.
pub(super) const MAX_REPLY: usize = 4 << 20;

/// What has come of a reply.
#[derive(Default)]
pub(super) struct Got {
    pub(super) content: String,
    pub(super) reasoning: String,
    pub(super) finish: Option<Finish>,
    pub(super) tokens: Option<Tokens>,
    /// The number of the tool call that is the reply.
    tool: Option<usize>,
}

impl Got {
    /// Takes a chunk of a stream, or a whole reply; whether it said anything of a reply.
    pub(super) fn take(&mut self, chunk: Chunk, on_piece: &mut dyn FnMut(Piece<'_>)) -> Result<bool, Failure> {
        // Some servers send empty counts: no request has no tokens.
        if let Some(usage) = chunk.usage.filter(|usage| usage.prompt_tokens > 0) {
            self.tokens =
                Some(Tokens { prompt: usage.prompt_tokens, completion: usage.completion_tokens, estimated: false });
        }
        let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() else { return Ok(false) };
        let said = choice.delta.or(choice.message).unwrap_or_default();
        if let Some(reasoning) = said.reasoning_content.or(said.reasoning) {
            self.reasoning.push_str(&reasoning);
        }
        if let Some(content) = said.content.filter(|content| !content.is_empty()) {
            self.content.push_str(&content);
            on_piece(Piece::Text(&content));
        }
        for (place, call) in said.tool_calls.unwrap_or_default().into_iter().enumerate() {
            // Of several calls the first is the reply.
            let number = call.index.unwrap_or(place);
            let Some(arguments) = call.function.and_then(|function| function.arguments) else { continue };
            if *self.tool.get_or_insert(number) != number {
                continue;
            }
            // Some servers write the arguments as JSON and not as a text with JSON in it.
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            self.content.push_str(&arguments);
            on_piece(Piece::Text(&arguments));
        }
        if self.content.len() + self.reasoning.len() > MAX_REPLY {
            return Err(Failure::NotChat(format!("the reply has more than {MAX_REPLY} bytes")));
        }
        if let Some(reason) = choice.finish_reason {
            self.finish = Some(reason.as_str().into());
        }
        Ok(true)
    }
}

/// A chunk of a stream, or a whole completion: they differ in `delta` and `message`.
#[derive(Deserialize)]
pub(super) struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Said>,
    message: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Said {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

/// A call, or in a stream a piece of one: pieces of one call have its number.
#[derive(Deserialize)]
struct ToolCall {
    index: Option<usize>,
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}
