//! The rounds of a walk, and the answer at its end.

use tabsegnet::{NodeKind, Ranking};
use tabsegnet_llm::{BudgetError, LlmError, Tokens};

use crate::answer::{Answer, Check, Citation};
use crate::walk::cells::CellGraph;
use crate::walk::chooser::{Begun, Chooser, View};
use crate::walk::episode::{Episode, Proposal, Turn};
use crate::walk::trace::TraceEvent;
use crate::walk::verify::{Verified, verify};

/// The confidence of every answer of a walk that holds: how likely a model is right was not measured, and cannot be known
/// beforehand.
const CONFIDENCE: f32 = 0.5;
/// Bytes that whole tables may take of a prompt, for every token that it may have.
const TABLE_BYTES: usize = 2;

/// Answers the question of a ranking by a walk that begins at its best nodes, or at those that the chooser names. `sink` gets each event when it happens; they
/// are also the answer's trace.
///
/// What always holds: there are at most `rounds` rounds and one more for an answer that did not hold; an answer that is not
/// an abstention has checks that all pass and at least one citation; where the budget or the rounds are spent, the answer is
/// an abstention whose `unverified` is the best so far: an answer that did not hold, else what was computed last, else the
/// likeliest visited cell.
///
/// # Errors
/// Where the chooser fails for another reason than its budget.
pub fn walk(
    cells: &CellGraph<'_>,
    ranking: &Ranking,
    chooser: &mut dyn Chooser,
    sink: &mut dyn FnMut(&TraceEvent),
) -> Result<Answer, LlmError> {
    walk_on(cells, ranking, chooser, sink).map(|walked| walked.answer)
}

/// The end of a walk.
pub(crate) struct Walked {
    pub(crate) answer: Answer,
    /// Whether it was cut short before anything was answered or computed: its best is a cell that was merely looked at.
    pub(crate) only_looked: bool,
    /// The budget that was spent before it came to its end.
    pub(crate) spent: Option<BudgetError>,
}

/// As [`walk()`], with how it ended.
///
/// # Errors
/// As [`walk()`].
pub(crate) fn walk_on(
    cells: &CellGraph<'_>,
    ranking: &Ranking,
    chooser: &mut dyn Chooser,
    sink: &mut dyn FnMut(&TraceEvent),
) -> Result<Walked, LlmError> {
    let settings = cells.settings();
    let ranked: Vec<u32> = ranking
        .nodes
        .iter()
        .filter(|node| match node.kind {
            NodeKind::Cell | NodeKind::ColumnHeader | NodeKind::RowHeader => true,
            NodeKind::Passage | NodeKind::Caption => settings.sentences,
            NodeKind::Heading => settings.sections,
        })
        .filter_map(|node| cells.find(&node.id).ok())
        .take(settings.start_nodes)
        .collect();
    let begun = chooser.begin(cells, &ranking.question, &ranked);
    let (begun, failed) = begun.map_or_else(|error| (Begun::default(), Some(error)), |begun| (begun, None));
    let Begun { nodes: start, retrieved, note } = begun;
    let start = if start.is_empty() { ranked } else { start };
    let tables = match settings.whole_tables {
        true => cells.tables_of(&start, settings.prompt_tokens.saturating_mul(TABLE_BYTES)),
        false => String::new(),
    };
    let mut episode = Episode::new(cells, &start);
    let tokens = retrieved.as_ref().map_or_else(Tokens::default, |retrieved| retrieved.tokens);
    let mut walk = Walk { events: Vec::new(), sink, tokens, ranking };
    walk.tell(TraceEvent::Start {
        id: ranking.question_id.clone(),
        question: ranking.question.clone(),
        document: ranking.document.clone(),
        model: chooser.name().to_owned(),
        nodes: episode.visited_ids(),
        links: episode.links(),
        retrieved,
        note,
    });
    if let Some(error) = failed {
        walk.tell(TraceEvent::End { answer: String::new(), abstained: true, reason: error.to_string() });
        return Err(error);
    }
    let mut rounds = settings.rounds;
    let mut refused: Option<(Proposal, Verified)> = None;
    let (mut round, mut spent) = (0, None);
    let (reason, cut_short) = loop {
        if round >= rounds {
            break (format!("no answer in {round} rounds"), true);
        }
        round += 1;
        let last = round >= rounds;
        let (visited, links) = (episode.visited(), episode.links());
        let view = View {
            question: &ranking.question,
            tables: &tables,
            visited: &visited,
            links: &links,
            events: &walk.events,
            round,
            last,
            settings,
        };
        let choice = match chooser.choose(&view) {
            Ok(choice) => choice,
            Err(LlmError::Budget(error)) => {
                let reason = error.to_string();
                spent = Some(error);
                break (reason, true);
            }
            Err(error) => {
                walk.tell(TraceEvent::End { answer: String::new(), abstained: true, reason: error.to_string() });
                return Err(error);
            }
        };
        walk.tokens += choice.tokens;
        let (observations, turn) = episode.act(round, &choice.actions, last);
        walk.tell(TraceEvent::Round {
            round,
            thought: choice.thought,
            actions: choice.actions,
            observations,
            visited: episode.visited_ids(),
            tokens: choice.tokens,
            repaired: choice.repaired,
        });
        match turn {
            Turn::On => {}
            Turn::Abstained(why) => break (format!("the document does not say it: {why}"), false),
            Turn::Answered(proposal) => {
                let verified = verify(cells, &ranking.question, &proposal, &episode.computed);
                let answer = proposal.answer.join("; ");
                walk.tell(TraceEvent::Checked { round, answer, checks: verified.checks.clone() });
                if verified.holds() {
                    return Ok(Walked { answer: walk.answered(&proposal, verified), only_looked: false, spent: None });
                }
                // One retry, which the rounds need not have room for.
                if refused.replace((proposal, verified)).is_some() {
                    break ("two answers did not hold".to_owned(), false);
                }
                rounds = rounds.max(round + 1);
            }
        }
    };
    Ok(Walked { spent, ..walk.abstained(&episode, refused, reason, cut_short) })
}

struct Walk<'a> {
    events: Vec<TraceEvent>,
    sink: &'a mut dyn FnMut(&TraceEvent),
    tokens: Tokens,
    ranking: &'a Ranking,
}

impl Walk<'_> {
    fn tell(&mut self, event: TraceEvent) {
        (self.sink)(&event);
        self.events.push(event);
    }

    fn answered(mut self, proposal: &Proposal, verified: Verified) -> Answer {
        let answer = proposal.answer.join("; ");
        self.tell(TraceEvent::End { answer: answer.clone(), abstained: false, reason: proposal.explanation.clone() });
        Answer {
            answer,
            answers: proposal.answer.clone(),
            confidence: CONFIDENCE,
            value: verified.value.map(|value| value.to_string()),
            unit: verified.unit,
            scale: verified.scale,
            program: verified.program.map(|program| program.to_string()),
            citations: verified.citations,
            checks: verified.checks,
            ..self.done()
        }
    }

    fn abstained(
        mut self,
        episode: &Episode<'_>,
        refused: Option<(Proposal, Verified)>,
        reason: String,
        cut_short: bool,
    ) -> Walked {
        let cited = |cells: &[u32]| -> Vec<Citation> {
            cells.iter().filter_map(|&cell| episode.cells.citation(cell)).collect()
        };
        let only_looked = cut_short && refused.is_none() && episode.computed.is_empty();
        let (mut unverified, mut checks, mut citations) = (None, Vec::new(), Vec::new());
        if let Some((proposal, verified)) = refused {
            unverified = Some(proposal.answer.join("; "));
            (checks, citations) = (verified.checks, verified.citations);
        } else if let Some(computed) = episode.computed.last() {
            unverified = Some(computed.outcome.to_string());
            citations = cited(&computed.cells);
        } else if let Some(cell) = episode.likeliest().filter(|_| only_looked) {
            unverified = episode.cells.node(cell).map(|node| node.text.clone());
            citations = cited(&[cell]);
        }
        checks.push(Check { what: reason.clone(), passed: false });
        self.tell(TraceEvent::End { answer: String::new(), abstained: true, reason });
        let answer = Answer { abstained: true, unverified, checks, citations, ..self.done() };
        Walked { answer, only_looked, spent: None }
    }

    /// What every answer has.
    fn done(self) -> Answer {
        let answer = Answer { tokens: Some(self.tokens), trace: self.events, ..Answer::default() };
        answer.of(self.ranking, "llm")
    }
}
