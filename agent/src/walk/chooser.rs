//! Who chooses the next actions.

use std::collections::VecDeque;

use serde_json::Value;
use tabsegnet_llm::{Budget, ChatModel, LlmError, LlmSettings, Message, Piece, ReplySchema, Tokens, chat_json};

use crate::walk::action::{read_reply, reply_schema};
use crate::walk::cells::CellGraph;
use crate::walk::prompt;
use crate::walk::retriever::{Retrieved, retrieve};
use crate::walk::settings::{StartNodes, WalkSettings};
use crate::walk::trace::TraceEvent;

/// What a chooser sees of a walk.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The question.
    pub question: &'a str,
    /// The tables as a whole, where the settings want them; else empty.
    pub tables: &'a str,
    /// The nodes visited so far, as they are shown.
    pub visited: &'a [String],
    /// How they stand to each other.
    pub links: &'a [String],
    /// What happened so far.
    pub events: &'a [TraceEvent],
    /// The round to come, from 1.
    pub round: usize,
    /// Whether it has to end with it.
    pub last: bool,
    /// How the graph is walked.
    pub settings: &'a WalkSettings,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// Why.
    pub thought: String,
    /// Actions, not yet read.
    pub actions: Vec<Value>,
    /// What it took.
    pub tokens: Tokens,
    /// What was wrong at first.
    pub repaired: Option<String>,
}

/// Whose nodes a walk begins with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Begun {
    /// Numbers of nodes, best first; empty for the ranker's.
    pub nodes: Vec<u32>,
    /// What the trace tells of them.
    pub retrieved: Option<Retrieved>,
    /// Why it begins otherwise than the settings want, in words.
    pub note: Option<String>,
}

/// Chooses the next actions of a walk.
///
/// What always holds: the same view, after the same views, gives the same choice, as far as what is behind it does.
pub trait Chooser {
    /// What traces call it.
    fn name(&self) -> &str;

    /// The nodes to begin with; `ranked` are those that the ranker would have it begin with. Those, unless said.
    ///
    /// # Errors
    /// Where nothing could be chosen later either: the walk then ends.
    fn begin(&mut self, _cells: &CellGraph<'_>, _question: &str, _ranked: &[u32]) -> Result<Begun, LlmError> {
        Ok(Begun::default())
    }

    /// The next actions.
    ///
    /// # Errors
    /// Where nothing can be chosen: the walk then ends.
    fn choose(&mut self, view: &View<'_>) -> Result<Choice, LlmError>;
}

/// A language model chooses: one call a round, with a repair turn where the reply is no JSON of the form.
pub struct ModelChooser<'a> {
    model: &'a dyn ChatModel,
    settings: &'a LlmSettings,
    budget: &'a mut Budget,
    on_piece: &'a mut dyn FnMut(Piece<'_>),
    found: &'a str,
}

impl<'a> ModelChooser<'a> {
    /// A model within a budget; `on_piece` gets its replies as they come.
    pub fn new(
        model: &'a dyn ChatModel,
        settings: &'a LlmSettings,
        budget: &'a mut Budget,
        on_piece: &'a mut dyn FnMut(Piece<'_>),
    ) -> Self {
        Self { model, settings, budget, on_piece, found: "" }
    }

    /// With what is known of the tables of a corpus that are walked, such as [`found_tables`](crate::walk::found_tables) says.
    #[must_use]
    pub fn with_found(self, found: &'a str) -> Self {
        Self { found, ..self }
    }
}

impl Chooser for ModelChooser<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn begin(&mut self, cells: &CellGraph<'_>, question: &str, ranked: &[u32]) -> Result<Begun, LlmError> {
        let WalkSettings { start, start_nodes, .. } = *cells.settings();
        if start == StartNodes::Ranker {
            return Ok(Begun::default());
        }
        let found = retrieve(cells, question, start_nodes, (self.model, self.settings), self.budget, self.on_piece);
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let note = format!("the walk begins with the ranker's nodes: {}", error.passing()?);
                return Ok(Begun { note: Some(note), ..Begun::default() });
            }
        };
        let named: Vec<u32> = found.nodes.iter().filter_map(|id| cells.find(id).ok()).collect();
        let note = named.is_empty().then(|| "the walk begins with the ranker's nodes: the model named none".to_owned());
        let own = if start == StartNodes::Both { (start_nodes * 3).div_ceil(4) } else { start_nodes };
        let mut nodes = Vec::new();
        if !named.is_empty() {
            let more: &[u32] = if start == StartNodes::Both { ranked } else { &[] };
            for &node in named.iter().take(own).chain(more).chain(named.iter().skip(own)) {
                if nodes.len() < start_nodes && !nodes.contains(&node) {
                    nodes.push(node);
                }
            }
        }
        Ok(Begun { nodes, retrieved: Some(found), note })
    }

    fn choose(&mut self, view: &View<'_>) -> Result<Choice, LlmError> {
        let messages = vec![Message::system(prompt::system()), Message::user(prompt::user(view, self.found))];
        let schema = reply_schema(view.last, view.settings.actions_per_round);
        let request = self.settings.request(messages, Some(ReplySchema { name: "actions".to_owned(), schema }));
        let reply = chat_json(self.model, request, self.budget, self.on_piece, &read_reply)?;
        let (thought, actions) = reply.value;
        Ok(Choice { thought, actions, tokens: reply.tokens, repaired: reply.repaired })
    }
}

/// Choices given beforehand, such as those of a trace; behind the last it fails.
#[derive(Debug, Clone, Default)]
pub struct Script {
    name: String,
    /// The nodes to begin with, where a model named them.
    start: Vec<String>,
    choices: VecDeque<Choice>,
    given: usize,
}

impl Script {
    /// These choices, one a round.
    pub fn new(choices: impl IntoIterator<Item = Choice>) -> Self {
        Self { name: "script".to_owned(), start: Vec::new(), choices: choices.into_iter().collect(), given: 0 }
    }

    /// The choices of the first walk of a trace.
    pub fn of_trace(events: &[TraceEvent]) -> Self {
        let mut script = Self::new([]);
        let mut begun = false;
        for event in events {
            match event {
                TraceEvent::Start { .. } if begun => break,
                TraceEvent::Start { model, nodes, retrieved, .. } => {
                    script.name.clone_from(model);
                    if retrieved.is_some() {
                        script.start.clone_from(nodes);
                    }
                    begun = true;
                }
                TraceEvent::Round { thought, actions, tokens, repaired, .. } => script.choices.push_back(Choice {
                    thought: thought.clone(),
                    actions: actions.clone(),
                    tokens: *tokens,
                    repaired: repaired.clone(),
                }),
                TraceEvent::Checked { .. } | TraceEvent::End { .. } => {}
            }
        }
        script
    }
}

impl Chooser for Script {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin(&mut self, cells: &CellGraph<'_>, _: &str, _: &[u32]) -> Result<Begun, LlmError> {
        let nodes = self.start.iter().filter_map(|id| cells.find(id).ok()).collect();
        Ok(Begun { nodes, ..Begun::default() })
    }

    fn choose(&mut self, _: &View<'_>) -> Result<Choice, LlmError> {
        self.given += 1;
        self.choices.pop_front().ok_or(LlmError::ScriptEnded { number: self.given })
    }
}
