//! Language models behind any OpenAI-compatible chat endpoint, and from GGUF files.
//!
//! A [`ChatModel`] answers a [`ChatRequest`] within a [`Budget`]: [`HttpModel`] over the network, [`Recorded`] from a file of
//! replies, [`Scripted`] from a list, with the feature `gguf` `GgufModel` on this machine; [`OpenModel`] is what settings name.
//! [`chat_json`] gets a JSON object out of any of them, validated, with one repair turn.
//!
//! ```
//! use tabsegnet_llm::{Budget, ChatModel as _, ChatRequest, Limits, Message, Scripted};
//!
//! let model = Scripted::new(["Deferred revenue was $1,281 million."]);
//! let request = ChatRequest::new(vec![Message::user("What was deferred revenue?")]);
//! let mut budget = Budget::new(Limits::default());
//! let reply = model.chat(&request, &mut budget, &mut |_| {})?;
//! assert_eq!(reply.content, "Deferred revenue was $1,281 million.");
//! assert_eq!(budget.spent().calls, 1);
//! # Ok::<(), tabsegnet_llm::LlmError>(())
//! ```
//!
//! An API key comes from an environment variable alone. It is never shown, logged or recorded, and is sent to the host of the
//! base URL only: redirects are not followed.

mod budget;
mod chat;
mod config;
mod error;
#[cfg(feature = "gguf")]
pub mod gguf;
mod http;
mod json;
mod open;
mod recorded;
mod scripted;
mod secret;
mod settings;
mod sse;

pub use budget::{Budget, Limits, RunCost, Spent, Tokens, estimated_tokens};
pub use chat::{ChatModel, ChatRequest, Finish, Message, Piece, Reply, ReplySchema, Role};
pub use config::{ConfigError, read_config};
pub use error::{BudgetError, LlmError};
pub use http::HttpModel;
pub use json::{JsonReply, chat_json};
pub use open::{OpenModel, no_model, without_address};
pub use recorded::Recorded;
pub use scripted::Scripted;
pub use secret::Secret;
pub use settings::{LlmSettings, ReplyFormat};
