//! The way that a walk took, as a page draws it.

use tabsegnet_page::{Move, PathStep};

use crate::answer::Check;
use crate::walk::action::{Action, Call};
use crate::walk::cells::CellGraph;
use crate::walk::episode::named;
use crate::walk::trace::{Observation, TraceEvent};

/// The steps of a walk over `cells`, in order: the start, then a step a round with a move an action.
///
/// What always holds: the nodes of all moves are nodes of the graph; an action that could not be carried out leads nowhere.
pub fn path(cells: &CellGraph<'_>, trace: &[TraceEvent]) -> Vec<PathStep> {
    let mut way = Way { cells, at: None };
    let mut steps: Vec<PathStep> = Vec::new();
    for event in trace {
        match event {
            TraceEvent::Start { nodes, retrieved, .. } => {
                let to = way.known(nodes);
                let named =
                    retrieved.as_ref().map_or(0, |found| to.iter().filter(|node| found.nodes.contains(node)).count());
                let action = match named {
                    0 => format!("{} best nodes of the ranker", to.len()),
                    named => format!("{} nodes, {named} of them named by the model", to.len()),
                };
                let moves = vec![Move { action, seen: String::new(), from: Vec::new(), to }];
                steps.push(PathStep { title: "Start".to_owned(), thought: String::new(), moves });
            }
            TraceEvent::Round { round, thought, actions, observations, .. } => {
                let mut observations = observations.iter().peekable();
                let mut moves = Vec::new();
                for call in actions.iter().map(Call::read) {
                    let name = call.as_ref().map_or_else(|_| String::new(), |call| named(&call.action));
                    let seen = observations.next_if(|seen| call.is_err() || seen.action == name);
                    match (call, seen) {
                        (Ok(call), seen) => moves.push(way.go(&call.action, name, seen)),
                        (Err(_), Some(seen)) => moves.push(said(seen)),
                        (Err(_), None) => {}
                    }
                }
                // What belongs to no action, such as that there were too many.
                moves.extend(observations.map(said));
                steps.push(PathStep { title: format!("Round {round}"), thought: thought.clone(), moves });
            }
            TraceEvent::Checked { checks, .. } => {
                if let Some(last) = steps.last_mut().and_then(|step| step.moves.last_mut()) {
                    last.seen = verdict(checks);
                }
            }
            TraceEvent::End { .. } => {}
        }
    }
    steps
}

/// An observation that leads nowhere.
fn said(seen: &Observation) -> Move {
    Move { action: seen.action.clone(), seen: seen.text.clone(), from: Vec::new(), to: Vec::new() }
}

fn verdict(checks: &[Check]) -> String {
    let failed: Vec<&str> = checks.iter().filter(|check| !check.passed).map(|check| check.what.as_str()).collect();
    match failed.as_slice() {
        [] => "all checks hold".to_owned(),
        failed => format!("not taken; these do not hold: {}", failed.join("; ")),
    }
}

struct Way<'a> {
    cells: &'a CellGraph<'a>,
    /// The node last visited.
    at: Option<String>,
}

impl Way<'_> {
    /// The nodes of ids, as the graph calls them.
    fn known<'i>(&self, ids: impl IntoIterator<Item = &'i String>) -> Vec<String> {
        let id = |id: &String| {
            let bare = id.trim().split(' ').next().unwrap_or("");
            self.cells.find(bare).ok().map(|node| self.cells.id(node).to_owned())
        };
        ids.into_iter().filter_map(id).collect()
    }

    fn go(&mut self, action: &Action, name: String, seen: Option<&Observation>) -> Move {
        let found = seen.map_or_else(Vec::new, |seen| self.known(&seen.nodes));
        let (from, to) = match action {
            Action::VisitNode { .. } | Action::Backtrack { .. } => {
                // A search that finds several goes to none of them.
                let from = self.at.clone().into_iter().filter(|at| !found.contains(at)).collect();
                if let [node] = found.as_slice() {
                    self.at = Some(node.clone());
                }
                (from, found)
            }
            Action::GetAllNeighbours { node, .. } | Action::GetNodesWithin { node, .. } => (self.known([node]), found),
            Action::GetSharedNeighbours { node, other, .. } => (self.known([node, other]), found),
            Action::Compute { .. } => (Vec::new(), found),
            Action::AnswerQuestion { cells, .. } => (Vec::new(), self.known(cells)),
            Action::Abstain { .. } => (Vec::new(), Vec::new()),
        };
        let seen = match (action, seen) {
            (_, Some(seen)) => seen.text.clone(),
            (Action::AnswerQuestion { explanation, .. } | Action::Abstain { explanation }, None) => explanation.clone(),
            (_, None) => String::new(),
        };
        let from = if to.is_empty() { Vec::new() } else { from };
        Move { action: name, seen, from, to }
    }
}
