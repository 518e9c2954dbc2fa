//! The policy that has a language model walk.

use std::sync::Arc;

use tabsegnet::{Graph, Ranking};
use tabsegnet_llm::{Budget, ChatModel, LlmError, LlmSettings, Piece, RunCost, Spent};

use crate::answer::{Answer, Check};
use crate::rules::{Policy, Rules};
use crate::walk::cells::CellGraph;
use crate::walk::chooser::ModelChooser;
use crate::walk::rounds::{Walked, walk_on};
use crate::walk::settings::WalkSettings;
use crate::walk::trace::TraceEvent;

/// What a caller hears while answers are made. All of it may come from several threads.
pub trait Listener: Sync {
    /// A piece of a reply.
    fn piece(&self, _: Piece<'_>) {}

    /// An event of a trace.
    fn event(&self, _: &TraceEvent) {}

    /// Something that the user should know, such as that rules answer after all.
    fn notice(&self, _: &str) {}
}

/// Hears nothing.
impl Listener for () {}

/// How a question went with a model.
#[derive(Debug)]
pub struct Attempt {
    /// The answer, or why the model gave none.
    pub result: Result<Answer, LlmError>,
    /// Why the model gave none, where there is an answer nevertheless: the other policy's after replies that cannot be used, or
    /// an abstention where the budget was spent.
    pub instead_of: Option<LlmError>,
    /// What happened, up to where it failed.
    pub trace: Vec<TraceEvent>,
    /// What it took, failed calls too.
    pub spent: Spent,
}

/// A language model that walks the graph of one document; where its replies cannot be used, also after a repair turn,
/// another policy answers, the rules unless another is given, and that is said.
pub struct LlmPolicy<'a> {
    cells: CellGraph<'a>,
    model: &'a dyn ChatModel,
    llm: &'a LlmSettings,
    listener: &'a dyn Listener,
    otherwise: &'a dyn Policy,
    cost: Arc<RunCost>,
    found: String,
}

impl<'a> LlmPolicy<'a> {
    /// A model for questions about a document.
    pub fn new(
        graph: &'a Graph,
        walk: &WalkSettings,
        model: &'a dyn ChatModel,
        llm: &'a LlmSettings,
        listener: &'a dyn Listener,
    ) -> Self {
        let (cells, cost, found) = (CellGraph::new(graph, walk), Arc::default(), String::new());
        Self { cells, model, llm, listener, otherwise: &Rules, cost, found }
    }

    /// With another policy than the rules where the model's replies cannot be used.
    #[must_use]
    pub fn or_else(self, otherwise: &'a dyn Policy) -> Self {
        Self { otherwise, ..self }
    }

    /// With what other documents' questions have cost: `llm.budget.cost` is that of all together.
    #[must_use]
    pub fn charged_to(self, cost: Arc<RunCost>) -> Self {
        Self { cost, ..self }
    }

    /// With what is known of the tables of a corpus that the document is made of, such as
    /// [`found_tables`](crate::walk::found_tables) says: it stands in every prompt.
    #[must_use]
    pub fn with_found(self, found: String) -> Self {
        Self { found, ..self }
    }

    /// Answers the ranking's question.
    ///
    /// # Errors
    /// The model cannot be reached, refuses, or the like; what was spent up to then is booked.
    pub fn try_answer(&self, ranking: &Ranking) -> Result<Answer, LlmError> {
        self.attempt(ranking).result
    }

    /// As [`LlmPolicy::try_answer`], with what is known of a question of which nothing came.
    pub fn attempt(&self, ranking: &Ranking) -> Attempt {
        let mut budget = Budget::of_run(self.llm.budget.clone(), &self.cost);
        let mut trace = Vec::new();
        let mut sink = |event: &TraceEvent| {
            self.listener.event(event);
            if let TraceEvent::Start { id, note: Some(note), .. } = event {
                self.listener.notice(&format!("{id}: {note}"));
            }
            trace.push(event.clone());
        };
        let mut on_piece = |piece: Piece<'_>| self.listener.piece(piece);
        let mut chooser = ModelChooser::new(self.model, self.llm, &mut budget, &mut on_piece).with_found(&self.found);
        let result = walk_on(&self.cells, ranking, &mut chooser, &mut sink);
        let spent = budget.spent();
        let mut instead_of = None;
        let result = match result {
            Ok(Walked { answer, only_looked, spent }) => {
                instead_of = spent.map(LlmError::Budget);
                Ok(if only_looked { self.with_guess(ranking, answer) } else { answer })
            }
            Err(LlmError::Invalid { reason }) => {
                let id = &ranking.question_id;
                let who = self.otherwise.name();
                self.listener.notice(&format!("{id}: answered by {who}: the model's reply is not usable: {reason}"));
                instead_of = Some(LlmError::Invalid { reason });
                Ok(Answer { trace: trace.clone(), ..self.otherwise.answer(ranking) })
            }
            Err(error) => Err(error),
        };
        let result = result.map(|answer| Answer { tokens: Some(spent.tokens), cost: spent.cost, ..answer });
        Attempt { result, instead_of, trace, spent }
    }

    /// As [`Policy::answer`], with what the model failed with where the other policy answers.
    pub fn answer_or_else(&self, ranking: &Ranking) -> (Answer, Option<LlmError>) {
        let Attempt { result, trace, spent, .. } = self.attempt(ranking);
        match result {
            Ok(answer) => (answer, None),
            Err(error) => {
                let who = self.otherwise.name();
                self.listener.notice(&format!("{}: answered by {who}: {error}", ranking.question_id));
                let answer = self.otherwise.answer(ranking);
                (Answer { trace, tokens: Some(spent.tokens), cost: spent.cost, ..answer }, Some(error))
            }
        }
    }

    /// An abstention of a walk that was cut short before it had anything, with what the other policy says as the best so far.
    fn with_guess(&self, ranking: &Ranking, mut answer: Answer) -> Answer {
        let other = self.otherwise.answer(ranking);
        if !other.abstained {
            answer.unverified = Some(other.said());
            answer.citations = other.citations;
            let what = format!("the best so far is not the model's: it is what {} says", other.policy);
            answer.checks.push(Check { what, passed: false });
        }
        answer
    }
}

impl Policy for LlmPolicy<'_> {
    fn name(&self) -> &'static str {
        "llm"
    }

    /// As [`LlmPolicy::try_answer`]; where it fails, the other policy answers, with what the model did and took up to then, and
    /// that is said.
    fn answer(&self, ranking: &Ranking) -> Answer {
        self.answer_or_else(ranking).0
    }
}
