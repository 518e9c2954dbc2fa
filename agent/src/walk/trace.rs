//! What happened on a walk, as JSON lines that can be replayed.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tabsegnet_llm::Tokens;

use crate::answer::Check;
use crate::walk::retriever::Retrieved;

/// What an action brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The action in short, or that it could not be read.
    pub action: String,
    /// What is seen.
    pub text: String,
    /// The ids of the nodes in it, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
}

/// A line of a trace. Without times: the same walk writes the same lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TraceEvent {
    /// The walk begins.
    Start {
        /// The question's id.
        id: String,
        /// The question.
        question: String,
        /// The document's id.
        document: String,
        /// The model.
        model: String,
        /// The nodes visited at the start.
        nodes: Vec<String>,
        /// How they stand to each other.
        links: Vec<String>,
        /// What a model named that read the document to say where to begin; absent where none did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retrieved: Option<Retrieved>,
        /// Why it begins otherwise than the settings want.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A round is over.
    Round {
        /// From 1.
        round: usize,
        /// What was thought.
        thought: String,
        /// The actions as they were chosen.
        actions: Vec<Value>,
        /// What they brought.
        observations: Vec<Observation>,
        /// The nodes visited by now, in their order.
        visited: Vec<String>,
        /// What the model's reply took.
        tokens: Tokens,
        /// What was wrong with its first reply, where there was a repair turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repaired: Option<String>,
    },
    /// An answer was held against what it cites.
    Checked {
        /// The round it comes from.
        round: usize,
        /// The answer.
        answer: String,
        /// What was looked at.
        checks: Vec<Check>,
    },
    /// The walk is over.
    End {
        /// The answer; empty where there is none.
        answer: String,
        /// Whether nothing is said.
        abstained: bool,
        /// Why it ended as it did.
        reason: String,
    },
}

/// The events of a trace file, in order.
///
/// # Errors
/// The number of a line that is none, and what is wrong with it. A last line that was cut off is left out.
pub fn read_trace(text: &str) -> Result<Vec<TraceEvent>, String> {
    let mut events = Vec::new();
    for (number, line) in (1..).zip(text.split_inclusive('\n')).filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(event) => events.push(event),
            Err(_) if !line.ends_with('\n') => break,
            Err(error) => return Err(format!("line {number}: {error}; expected a trace, such as --trace writes")),
        }
    }
    Ok(events)
}
