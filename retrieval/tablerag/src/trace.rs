//! What happened while a question was answered.

use serde::{Deserialize, Serialize};
use tabsegnet_sql::Rows;

use crate::planner::Trust;

/// A chunk that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptChunk {
    /// Its document.
    pub document: String,
    /// Where it stands, as [`Span::name`](crate::Span::name) has it.
    pub place: String,
    /// The table of the database that it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The order of the trees.
    pub score: f32,
}

/// A line of a trace. Without times: the same rounds write the same lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RoundEvent {
    /// It begins.
    Start {
        /// The question.
        question: String,
        /// Who plans.
        planner: String,
    },
    /// A subquery, and the chunks for it.
    Subquery {
        /// From 1.
        round: usize,
        /// Why.
        thought: String,
        /// The subquery.
        subquery: String,
        /// What was kept.
        chunks: Vec<KeptChunk>,
    },
    /// A statement was run.
    Statement {
        /// The round.
        round: usize,
        /// The statement.
        sql: String,
        /// What it gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<Rows>,
        /// Why it gave nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
    },
    /// Rows and texts were weighed.
    Weighed {
        /// The round.
        round: usize,
        /// The answer to the subquery; empty where there is none.
        answer: Vec<String>,
        /// Which of the two it follows.
        trust: Trust,
        /// How sure it is, from 0 to 1.
        confidence: f32,
        /// Why.
        reason: String,
    },
    /// An answer did not stand in what was found.
    Unfounded {
        /// The round.
        round: usize,
        /// What does not.
        answer: Vec<String>,
    },
    /// It is over.
    End {
        /// The answer.
        answer: Vec<String>,
        /// Whether nothing is said.
        abstained: bool,
        /// Why it ended as it did.
        reason: String,
    },
}
