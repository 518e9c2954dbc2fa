//! How questions are answered.

use serde::{Deserialize, Serialize};

/// The table `[tablerag]` of a config.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoundSettings {
    /// Subqueries up to the answer; the paper has 5.
    pub rounds: usize,
    /// Chunks that are recalled for a subquery; the paper has 30.
    pub recalled: usize,
    /// Chunks that are left of them; the paper has 3.
    pub kept: usize,
    /// Statements of one round, those that were refused or stopped among them.
    pub statements: usize,
    /// Rows of a result that a prompt shows.
    pub rows: usize,
    /// Characters of a chunk that a prompt shows.
    pub chunk_characters: usize,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self { rounds: 5, recalled: 30, kept: 3, statements: 2, rows: 20, chunk_characters: 6000 }
    }
}

impl RoundSettings {
    /// What is wrong with them, in words, where something is.
    pub fn problem(&self) -> Option<String> {
        let numbers = [
            ("rounds", self.rounds, 50),
            ("recalled", self.recalled, 1000),
            ("kept", self.kept, self.recalled),
            ("statements", self.statements, 10),
            ("rows", self.rows, 1000),
            ("chunk_characters", self.chunk_characters, 100_000),
        ];
        let wrong = numbers.into_iter().find(|(_, number, most)| !(1..=*most).contains(number));
        wrong.map(|(name, number, most)| format!("tablerag.{name} is {number}; expected 1 to {most}"))
    }
}
