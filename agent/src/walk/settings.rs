//! How a graph is walked.

use serde::{Deserialize, Serialize};

/// Whose nodes a walk begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartNodes {
    /// The ranker's best.
    #[default]
    Ranker,
    /// Those that the language model names, after it has read the document.
    Llm,
    /// Three quarters of them the language model's, the rest the ranker's best others, as GraphOTTER has six and two.
    Both,
}

/// The table `[agent]` of a config.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WalkSettings {
    /// Rounds up to the answer; GraphOTTER has 5.
    pub rounds: usize,
    /// Whose nodes are visited at the start.
    pub start: StartNodes,
    /// How many; GraphOTTER has at most 8.
    pub start_nodes: usize,
    /// Prompts in which a language model may read a document to name nodes of it: a longer one is not read.
    pub windows: usize,
    /// Actions of one round that are carried out.
    pub actions_per_round: usize,
    /// Nodes that one observation shows; the rest comes in pages.
    pub page: usize,
    /// Whether the tables of the start nodes stand in the prompt as a whole.
    pub whole_tables: bool,
    /// Whether headers know their cells and cells their headers, beside the same row and the same column.
    pub headers: bool,
    /// Whether tables know the sentences beside them.
    pub sentences: bool,
    /// Whether headings know what stands under them.
    pub sections: bool,
    /// Tokens that a prompt may have, roughly: the oldest observations give way.
    pub prompt_tokens: usize,
}

impl Default for WalkSettings {
    fn default() -> Self {
        Self {
            rounds: 5,
            start: StartNodes::Ranker,
            start_nodes: 8,
            windows: 4,
            actions_per_round: 8,
            page: 40,
            whole_tables: false,
            headers: true,
            sentences: true,
            sections: true,
            prompt_tokens: 12_000,
        }
    }
}

impl WalkSettings {
    /// What is wrong with them, in words, where something is.
    pub fn problem(&self) -> Option<String> {
        let numbers = [
            ("rounds", self.rounds, 50),
            ("start_nodes", self.start_nodes, 64),
            ("windows", self.windows, 1000),
            ("actions_per_round", self.actions_per_round, 64),
            ("page", self.page, 1000),
        ];
        let wrong = numbers.into_iter().find(|(_, number, most)| !(1..=*most).contains(number));
        wrong
            .map(|(name, number, most)| format!("agent.{name} is {number}; expected 1 to {most}"))
            .or_else(|| (self.prompt_tokens < 1000).then(|| "agent.prompt_tokens: expected at least 1000".to_owned()))
    }
}
