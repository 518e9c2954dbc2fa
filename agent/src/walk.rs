//! Answers by walking the cell graph, as GraphOTTER does (Li et al. 2024): a language model, or a script, sees a few nodes,
//! thinks, acts, and sees what its actions bring, until it answers or gives up.
//!
//! [`CellGraph`] is what is walked; an [`Action`] is one move; a [`Chooser`] chooses the next moves; [`walk()`] runs the rounds
//! and holds an answer against the nodes that it cites; [`TraceEvent`]s tell what happened and can be replayed ([`replay()`]).
//! [`retrieve`] has a model read the whole document and name nodes to begin with. [`LlmPolicy`] puts it behind [`Policy`](crate::Policy).

mod action;
mod cells;
mod chooser;
mod compute;
mod episode;
mod found;
mod path;
mod policy;
mod prompt;
mod replay;
mod retriever;
mod rounds;
mod settings;
mod thoughts;
mod trace;
mod units;
mod verify;
mod windows;
pub(crate) mod wording;

pub use action::{Action, Call};
pub use cells::{CellGraph, Relation};
pub use chooser::{Begun, Choice, Chooser, ModelChooser, Script, View};
pub use found::found_tables;
pub use path::path;
pub use policy::{Attempt, Listener, LlmPolicy};
pub use replay::{Difference, replay, walks};
pub use retriever::{RetrieveError, Retrieved, retrieve};
pub use rounds::walk;
pub use settings::{StartNodes, WalkSettings};
pub use thoughts::Thoughts;
pub use trace::{Observation, TraceEvent, read_trace};

#[cfg(test)]
mod tests;
