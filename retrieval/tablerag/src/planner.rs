//! Who plans the rounds: what is looked for next, which statement is run, what rows and texts say together.

use serde::{Deserialize, Serialize};
use tabsegnet_llm::{LlmError, Tokens};
use tabsegnet_sql::Rows;

use crate::library::Library;
use crate::search::Found;
use crate::settings::RoundSettings;
use crate::trace::RoundEvent;

/// What a planner sees of the rounds so far.
#[derive(Debug, Clone, Copy)]
pub struct State<'a> {
    /// The question.
    pub question: &'a str,
    /// What is searched.
    pub library: &'a Library,
    /// What happened so far.
    pub events: &'a [RoundEvent],
    /// The chunks that the whole question leads to: what the first subquery is made with.
    pub overview: &'a [Found],
    /// The round to come, from 1; one more than there are where only an answer may come.
    pub round: usize,
    /// The settings.
    pub settings: &'a RoundSettings,
}

impl State<'_> {
    /// Whether there is no round left for a subquery.
    pub fn is_last(&self) -> bool {
        self.round > self.settings.rounds
    }
}

/// What is done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A subquery.
    Search {
        /// Why.
        thought: String,
        /// What is looked for.
        subquery: String,
    },
    /// The answer.
    Answer {
        /// One by one.
        answer: Vec<String>,
        /// Why.
        reason: String,
    },
    /// Nothing is said.
    Abstain {
        /// Why.
        reason: String,
    },
}

/// What a statement is wanted for.
#[derive(Debug, Clone, Copy)]
pub struct Need<'a> {
    /// The subquery.
    pub subquery: &'a str,
    /// The tables of the kept chunks, by their places in [`Library::tables`], the best first.
    pub tables: &'a [usize],
    /// Statements of this round that were refused or stopped, with the reason.
    pub refused: &'a [(String, String)],
}

/// A statement to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// SQL.
    pub sql: String,
    /// How likely it is right, from 0 to 1, where that is known.
    pub confidence: Option<f32>,
    /// From which confidence on its rows are an answer.
    pub least: f32,
    /// What speaks against it, in sentences.
    pub notes: Vec<String>,
}

/// What was found for a subquery.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The subquery.
    pub subquery: &'a str,
    /// The kept chunks, the best first.
    pub chunks: &'a [Found],
    /// The statement that was run, and its rows.
    pub executed: Option<(&'a Statement, &'a Rows)>,
    /// Statements that were refused or stopped, with the reason.
    pub refused: &'a [(String, String)],
}

/// Which of the two sources an answer follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The rows of a statement.
    Sql,
    /// The texts of the chunks.
    Text,
    /// Both say it.
    Both,
    /// None says it.
    Neither,
}

/// What rows and texts say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    /// One by one; empty where nothing is said.
    pub answer: Vec<String>,
    /// Which source it follows.
    pub trust: Trust,
    /// How sure it is, from 0 to 1.
    pub confidence: f32,
    /// Why.
    pub reason: String,
}

impl Weighed {
    /// Nothing is said.
    pub fn nothing(reason: impl Into<String>) -> Self {
        Self { answer: Vec::new(), trust: Trust::Neither, confidence: 0.0, reason: reason.into() }
    }
}

/// Plans the rounds.
///
/// What always holds: the same state, after the same states, gives the same step, as far as what is behind it does.
pub trait Planner {
    /// What traces call it.
    fn name(&self) -> &str;

    /// What is done next.
    ///
    /// # Errors
    /// Where nothing can be planned: the rounds then end.
    fn next(&mut self, state: &State<'_>) -> Result<Step, LlmError>;

    /// A statement for a subquery; nothing where no table says it.
    ///
    /// # Errors
    /// As [`Planner::next`].
    fn statement(&mut self, state: &State<'_>, need: &Need<'_>) -> Result<Option<Statement>, LlmError>;

    /// What rows and texts say to a subquery.
    ///
    /// # Errors
    /// As [`Planner::next`].
    fn weigh(&mut self, state: &State<'_>, evidence: &Evidence<'_>) -> Result<Weighed, LlmError>;

    /// What was read and written by a model so far.
    fn tokens(&self) -> Tokens {
        Tokens::default()
    }
}
