//! A model that says what it was given to say.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::budget::{Budget, Tokens, estimated_tokens};
use crate::chat::{ChatModel, ChatRequest, Finish, Piece, Reply};
use crate::error::LlmError;

/// Replies given beforehand, one a call in their order: for tests and measurements. Behind the last it fails. Tokens are
/// estimates.
#[derive(Debug, Default)]
pub struct Scripted {
    replies: Vec<String>,
    next: AtomicUsize,
}

impl Scripted {
    /// A model with these replies.
    pub fn new<T: Into<String>>(replies: impl IntoIterator<Item = T>) -> Self {
        Self { replies: replies.into_iter().map(Into::into).collect(), next: AtomicUsize::new(0) }
    }
}

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn chat(
        &self,
        request: &ChatRequest,
        budget: &mut Budget,
        on_piece: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Reply, LlmError> {
        let prompt = request.estimated_tokens();
        budget.check(prompt.saturating_add(u64::from(request.max_tokens)), None)?;
        budget.begin_call();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let content = self.replies.get(number).ok_or(LlmError::ScriptEnded { number: number + 1 })?.clone();
        on_piece(Piece::Text(&content));
        let tokens = Tokens { prompt, completion: estimated_tokens(&content), estimated: true };
        budget.book(tokens, None);
        let reasoning = String::new();
        Ok(Reply { content, reasoning, finish: Finish::Stop, tokens, cost: None, recorded: false })
    }
}
