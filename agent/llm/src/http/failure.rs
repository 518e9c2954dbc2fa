//! What goes wrong with an attempt, and what to do about it.

use std::io;
use std::time::Duration;

/// Why an attempt failed.
pub(super) enum Failure {
    Status { status: u16, wait: Option<Duration>, location: Option<String>, said: String },
    Timeout { phase: &'static str, setting: &'static str },
    Broken(String),
    Cut(String),
    NotChat(String),
}

impl Failure {
    pub(super) fn of(error: &ureq::Error) -> Self {
        use ureq::Timeout;
        let timeout = |phase, setting| Self::Timeout { phase, setting };
        match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                timeout("the connection", "llm.connect_seconds")
            }
            ureq::Error::Timeout(Timeout::Global | Timeout::PerCall) => {
                timeout("the reply", "llm.call_seconds or llm.budget.seconds")
            }
            ureq::Error::Timeout(_) => timeout("the silence of the server", "llm.silence_seconds"),
            ureq::Error::Io(error) => Self::of_read(error),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::Protocol(_) => {
                Self::NotChat(format!("the server does not speak HTTP as expected: {error}"))
            }
            other => Self::Broken(other.to_string()),
        }
    }

    pub(super) fn of_read(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        match (inner, error.kind()) {
            (Some(inner), _) => Self::of(inner),
            (None, io::ErrorKind::InvalidData) => Self::NotChat(format!("the server's answer cannot be read: {error}")),
            (None, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
                Self::Timeout { phase: "the silence of the server", setting: "llm.silence_seconds" }
            }
            _ => Self::Broken(error.to_string()),
        }
    }

    /// Whether another attempt may do.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Status { status, .. } => is_busy(*status),
            Self::Timeout { .. } | Self::Broken(_) | Self::Cut(_) => true,
            Self::NotChat(_) => false,
        }
    }
}

/// What to set where a server refuses a request.
pub(super) fn hint(status: u16, said: &str) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    match status {
        400 | 413 | 422 if is_too_long(status, said) => {
            "the prompt and the reply have to fit the model's context: lower agent.prompt_tokens or llm.max_tokens, or have the \
             server take more"
        }
        404 | 405 => "llm.base_url usually ends in /v1, and llm.model names a model that the server has",
        400 | 422 if says(&["format", "schema", "grammar"]) => {
            "set llm.reply_format to json_object or text for a server without JSON schemas"
        }
        400 | 422 if says(&["tool", "function"]) => {
            "set llm.reply_format to json_schema, json_object or text for a server without tool calls"
        }
        400 | 422 => "llm.model, llm.max_tokens and llm.reply_format have to fit the server",
        _ => "see the server's own log",
    }
}

/// Whether a server refuses a conversation for its length: 413, or in its words.
fn is_too_long(status: u16, said: &str) -> bool {
    let said = said.to_lowercase();
    let of_context = said.contains("context")
        && ["length", "size", "window", "exceed", "too long", "tokens"].iter().any(|word| said.contains(word));
    status == 413
        || of_context
        || ["prompt is too long", "too many tokens", "input is too long"].iter().any(|words| said.contains(words))
}

pub(super) fn is_busy(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}
