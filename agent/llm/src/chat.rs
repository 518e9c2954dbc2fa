//! What is sent to a model and what comes back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::budget::{Budget, Tokens, estimated_tokens};
use crate::error::LlmError;

/// A language model that answers conversations.
///
/// What always holds: nothing is sent that the budget has no room for, and each attempt is booked in it, failed ones too; the
/// pieces that `on_piece` gets since the last [`Piece::Again`] make up the content of the reply; an error says what was tried
/// and what to set.
pub trait ChatModel: Send + Sync {
    /// The model's name, as answers and records have it.
    fn name(&self) -> &str;

    /// What who uses it should know, in words.
    fn notice(&self) -> Option<String> {
        None
    }

    /// The reply to a conversation.
    ///
    /// # Errors
    /// What [`LlmError`] lists.
    fn chat(
        &self,
        request: &ChatRequest,
        budget: &mut Budget,
        on_piece: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Reply, LlmError>;
}

/// What comes while a reply is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The next part of the content.
    Text(&'a str),
    /// What came so far is void: the attempt failed and is made again.
    Again,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// Who wants something.
    User,
    /// The model.
    Assistant,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What.
    pub content: String,
}

impl Message {
    /// Instructions.
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// A user's turn.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// A model's turn.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// The JSON schema that a reply is to follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplySchema {
    /// A name for it: letters, digits, `_`.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

/// A conversation that wants a reply, and how it is to be made. Two requests that are equal have the same digest in a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The turns so far.
    pub messages: Vec<Message>,
    /// What the reply is to look like; `None`: any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<ReplySchema>,
    /// Tokens that the reply may have.
    pub max_tokens: u32,
    /// 0: the likeliest reply.
    pub temperature: f32,
    /// For servers that take one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl ChatRequest {
    /// A request for text of at most 1,024 tokens at temperature 0.
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, schema: None, max_tokens: 1024, temperature: 0.0, seed: None }
    }

    /// About how many tokens the turns have, rather more than fewer.
    pub fn estimated_tokens(&self) -> u64 {
        let schema = self.schema.as_ref().map_or(0, |schema| estimated_tokens(&schema.schema.to_string()));
        schema + self.messages.iter().map(|message| 8 + estimated_tokens(&message.content)).sum::<u64>()
    }
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It is whole.
    Stop,
    /// It was cut off at the most tokens allowed.
    Length,
    /// Something else, in the server's words.
    #[serde(untagged)]
    Other(String),
}

impl From<&str> for Finish {
    fn from(reason: &str) -> Self {
        match reason {
            "stop" | "tool_calls" | "" => Self::Stop,
            "length" => Self::Length,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// What a model says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text.
    pub content: String,
    /// What it thought before, where the server gives it apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens read and written.
    pub tokens: Tokens,
    /// By the prices in the settings; absent without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Whether it comes from a record, so that it cost nothing now.
    #[serde(skip)]
    pub recorded: bool,
}
