//! The state of a walk, and what actions do to it.

use std::collections::HashMap;

use serde_json::Value;
use tabsegnet::NodeKind;
use tabsegnet_store::one_line;

use crate::program::Program;
use crate::walk::action::{Action, Call};
use crate::walk::cells::{CellGraph, plain, short};
use crate::walk::compute::{Computed, compute};
use crate::walk::trace::Observation;

/// Nodes that a search shows.
const FOUND: usize = 8;
/// Nodes that may be visited; more would not be read.
const MOST_VISITED: usize = 64;
/// Links between visited nodes that are shown.
const MOST_LINKS: usize = 40;
/// Shared neighbours that a link shows.
const SHARED: usize = 4;

/// An answer before it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proposal {
    pub(crate) cells: Vec<u32>,
    pub(crate) operation: String,
    pub(crate) explanation: String,
    pub(crate) answer: Vec<String>,
}

/// How a round ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Turn {
    On,
    Answered(Proposal),
    Abstained(String),
}

/// A walk over one graph.
pub(crate) struct Episode<'a> {
    pub(crate) cells: &'a CellGraph<'a>,
    visited: Vec<u32>,
    /// Actions that were done and would bring the same again, by their JSON, with the round.
    done: HashMap<String, usize>,
    pub(crate) computed: Vec<Computed>,
}

impl<'a> Episode<'a> {
    /// Begins with visited nodes.
    pub(crate) fn new(cells: &'a CellGraph<'a>, start: &[u32]) -> Self {
        let mut episode = Self { cells, visited: Vec::new(), done: HashMap::new(), computed: Vec::new() };
        for &node in start {
            episode.visit(node);
        }
        episode
    }

    /// Whether it is new.
    fn visit(&mut self, node: u32) -> bool {
        let new = !self.visited.contains(&node) && self.visited.len() < MOST_VISITED;
        if new {
            self.visited.push(node);
        }
        new
    }

    /// The visited node that the ranker, or a model, thought the likeliest: the first cell, else the first sentence.
    pub(crate) fn likeliest(&self) -> Option<u32> {
        let first = |kind: NodeKind| {
            let is = |node: &&u32| self.cells.node(**node).is_some_and(|node| node.kind == kind);
            self.visited.iter().find(is).copied()
        };
        first(NodeKind::Cell).or_else(|| first(NodeKind::Passage))
    }

    /// Ids of the visited nodes, in their order.
    pub(crate) fn visited_ids(&self) -> Vec<String> {
        self.visited.iter().map(|&node| self.cells.id(node).to_owned()).collect()
    }

    /// The visited nodes as they are shown.
    pub(crate) fn visited(&self) -> Vec<String> {
        self.visited.iter().map(|&node| self.cells.shown_with_headers(node)).collect()
    }

    /// How visited nodes stand to each other: neighbours by their relation, others by what they share (the paper's reasoning
    /// trace).
    pub(crate) fn links(&self) -> Vec<String> {
        let mut links = Vec::new();
        for (number, &a) in self.visited.iter().enumerate() {
            for &b in self.visited.iter().skip(number + 1) {
                if links.len() >= MOST_LINKS {
                    return links;
                }
                let names = || format!("{} and {}", self.cells.id(a), self.cells.id(b));
                if let Some(relation) = self.cells.relation(a, b) {
                    links.push(format!("{}: {}", names(), relation.words()));
                    continue;
                }
                let shared = self.cells.shared(a, b);
                if !shared.is_empty() {
                    let shown: Vec<String> = shared.iter().take(SHARED).map(|&node| self.cells.shown(node)).collect();
                    let more = if shared.len() > SHARED {
                        format!(" and {} more", shared.len() - SHARED)
                    } else {
                        String::new()
                    };
                    links.push(format!("{} share {}{more}", names(), shown.join(", ")));
                }
            }
        }
        links
    }

    /// Carries out the actions of a round. In the last one an answer is all that is taken.
    pub(crate) fn act(&mut self, round: usize, actions: &[Value], last: bool) -> (Vec<Observation>, Turn) {
        let most = self.cells.settings().actions_per_round;
        let mut observations = Vec::new();
        let mut turn = Turn::On;
        let others = actions.len() > 1;
        for value in actions.iter().take(most) {
            let call = match Call::read(value) {
                Ok(call) => call,
                Err(text) => {
                    observations.push(Observation { action: "unreadable action".to_owned(), text, nodes: Vec::new() });
                    continue;
                }
            };
            let action = named(&call.action);
            let say = |text: &str| Observation { action: action.clone(), text: text.to_owned(), nodes: Vec::new() };
            if call.action.ends() {
                if others && !last {
                    observations.push(say("not taken: it has to stand alone. See first what the other actions bring"));
                } else if turn == Turn::On {
                    match self.end(&call.action) {
                        Ok(end) => turn = end,
                        Err(text) => observations.push(say(&text)),
                    }
                } else {
                    observations.push(say("not taken: the first answer of the reply counts"));
                }
                continue;
            }
            if last {
                observations.push(say("not done: this was the last round, in which only an answer counts"));
                continue;
            }
            let key = serde_json::to_string(&call.action).unwrap_or_default();
            if let Some(before) = self.done.get(&key) {
                observations.push(say(&format!("done already in round {before}; it brings the same again")));
                continue;
            }
            let (text, nodes) = self.carry_out(&call.action).unwrap_or_else(|text| (text, Vec::new()));
            match call.action {
                // Nodes that are left can be visited again, and be left again.
                Action::Backtrack { .. } => self.done.clear(),
                _ => drop(self.done.insert(key, round)),
            }
            let nodes = nodes.into_iter().map(|node| self.cells.id(node).to_owned()).collect();
            observations.push(Observation { action, text, nodes });
        }
        if let Some(more) = actions.len().checked_sub(most).filter(|more| *more > 0) {
            let text = format!("{more} more actions were not done: at most {most} a round");
            observations.push(Observation { action: "too many actions".to_owned(), text, nodes: Vec::new() });
        }
        (observations, turn)
    }

    fn end(&self, action: &Action) -> Result<Turn, String> {
        match action {
            Action::AnswerQuestion { cells, operation, explanation, answer } => {
                let answer: Vec<String> =
                    answer.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect();
                if answer.is_empty() {
                    return Err("not taken: \"answer\" is empty; give it, or Abstain".to_owned());
                }
                let cells = self.find_all(cells)?;
                let (operation, explanation) = (operation.clone(), explanation.clone());
                Ok(Turn::Answered(Proposal { cells, operation, explanation, answer }))
            }
            Action::Abstain { explanation } => Ok(Turn::Abstained(explanation.clone())),
            _ => Err("not an end".to_owned()),
        }
    }

    /// The nodes of some ids, each once.
    fn find_all(&self, ids: &[String]) -> Result<Vec<u32>, String> {
        let mut found = Vec::new();
        for id in ids.iter().filter(|id| !id.trim().is_empty()) {
            let node = self.find(id, "")?;
            if !found.contains(&node) {
                found.push(node);
            }
            if found.len() > MOST_VISITED {
                return Err(format!("more than {MOST_VISITED} cells are cited; name those that the answer rests on"));
            }
        }
        if found.is_empty() { Err("\"cells\" is empty; name the nodes that it rests on".to_owned()) } else { Ok(found) }
    }

    /// The node of an id, whose text is as given where one is given. Ids with their texts behind, as they are shown, are
    /// taken too.
    fn find(&self, id: &str, text: &str) -> Result<u32, String> {
        let (id, behind) = id.trim().split_once(' ').unwrap_or((id.trim(), ""));
        let node = self.cells.find(id)?;
        let quoted = |text: &str| serde_json::from_str::<String>(text.trim()).unwrap_or_else(|_| text.to_owned());
        for text in [quoted(text), quoted(behind)] {
            // What was shown cut down may be given back so.
            let wanted = plain(text.trim().trim_end_matches('…'));
            let held = self.cells.node(node).map(|node| plain(&node.text)).unwrap_or_default();
            let same = wanted.is_empty() || held == wanted || text.trim().ends_with('…') && held.starts_with(&wanted);
            if !same && !behind.is_empty() && text == behind {
                continue;
            }
            if !same {
                let (others, _) = self.cells.search(&wanted, &[node], FOUND);
                let others: Vec<String> = others.iter().map(|&other| self.cells.shown(other)).collect();
                let hint = match others.is_empty() {
                    true => "no node holds it".to_owned(),
                    false => format!("it stands in {}", others.join(", ")),
                };
                return Err(format!("{} is not {:?}: {hint}", self.cells.shown(node), short(&text)));
            }
        }
        Ok(node)
    }

    /// What an action brings, and the nodes in it; or what is wrong with it.
    fn carry_out(&mut self, action: &Action) -> Result<(String, Vec<u32>), String> {
        match action {
            Action::VisitNode { node, text } if node.trim().is_empty() => self.look_for(text),
            Action::VisitNode { node, text } => {
                let node = self.find(node, text)?;
                Ok((self.arrive(node), vec![node]))
            }
            Action::GetAllNeighbours { node, text, page } => {
                let node = self.find(node, text)?;
                let groups: Vec<(String, Vec<u32>)> = self
                    .cells
                    .neighbours(node)
                    .into_iter()
                    .map(|(relation, nodes)| (relation.words().to_owned(), nodes))
                    .collect();
                self.paged(&groups, *page, "no neighbours")
            }
            Action::GetSharedNeighbours { node, text, other, page } => {
                let (a, b) = (self.find(node, text)?, self.find(other, "")?);
                if a == b {
                    return Err("both are one node; name two".to_owned());
                }
                self.paged(&[("shared".to_owned(), self.cells.shared(a, b))], *page, "they share no neighbour")
            }
            Action::GetNodesWithin { node, text, hops, page } => {
                if !(1..=3).contains(hops) {
                    return Err(format!("{hops} hops; expected 1 to 3"));
                }
                let node = self.find(node, text)?;
                let within = self.cells.within(node, *hops);
                let at =
                    |wanted: usize| within.iter().filter(|(hop, _)| *hop == wanted).map(|(_, node)| *node).collect();
                let groups: Vec<(String, Vec<u32>)> =
                    (1..=*hops).map(|hop| (format!("{hop} steps away"), at(hop))).collect();
                self.paged(&groups, *page, "no neighbours")
            }
            Action::Backtrack { node } => {
                let node = self.find(node, "")?;
                let Some(at) = self.visited.iter().position(|visited| *visited == node) else {
                    return Err(format!("{} was not visited; name a visited node", self.cells.id(node)));
                };
                let left = self.visited.len() - at - 1;
                self.visited.truncate(at + 1);
                Ok((format!("back at {}; {left} nodes visited after it are left", self.cells.shown(node)), vec![node]))
            }
            Action::Compute { program, cells } => self.compute(program, cells),
            Action::AnswerQuestion { .. } | Action::Abstain { .. } => Err("not a move".to_owned()),
        }
    }

    fn arrive(&mut self, node: u32) -> String {
        let shown = self.cells.shown(node);
        if self.visit(node) {
            return format!("now visited: {shown}");
        }
        match self.visited.contains(&node) {
            true => format!("visited before: {shown}"),
            false => format!("not kept, {MOST_VISITED} nodes are visited already: {shown}"),
        }
    }

    /// Goes to the only node with a text; of several the reader is to choose.
    fn look_for(&mut self, text: &str) -> Result<(String, Vec<u32>), String> {
        if text.trim().is_empty() {
            return Err("give an id as node, or a text to look for".to_owned());
        }
        let (found, all) = self.cells.search(text, &self.visited, FOUND);
        match found.as_slice() {
            [] => Err(format!("no node holds {:?}; try one word of it", short(text))),
            &[node] => Ok((self.arrive(node), found)),
            _ => {
                let shown: Vec<String> = found.iter().map(|&node| self.cells.shown(node)).collect();
                let of = if all > found.len() { format!(" (of {all})") } else { String::new() };
                Ok((format!("several hold it{of}; visit one by its id: {}", shown.join(", ")), found))
            }
        }
    }

    /// One page of groups of nodes.
    fn paged(&self, groups: &[(String, Vec<u32>)], page: usize, none: &str) -> Result<(String, Vec<u32>), String> {
        let size = self.cells.settings().page;
        let all: usize = groups.iter().map(|(_, nodes)| nodes.len()).sum();
        let pages = all.div_ceil(size);
        if all == 0 {
            return Ok((none.to_owned(), Vec::new()));
        }
        if !(1..=pages).contains(&page) {
            return Err(format!("there is no page {page}; there are pages 1 to {pages}"));
        }
        let first = (page - 1) * size;
        let (mut at, mut parts, mut nodes) = (0, Vec::new(), Vec::new());
        for (name, group) in groups {
            let on_page = group.iter().enumerate().filter(|(place, _)| (first..first + size).contains(&(at + place)));
            let on_page: Vec<u32> = on_page.map(|(_, node)| *node).collect();
            at += group.len();
            if !on_page.is_empty() {
                let shown: Vec<String> = on_page.iter().map(|&node| self.cells.shown(node)).collect();
                parts.push(format!("{name}: {}", shown.join(", ")));
                nodes.extend(on_page);
            }
        }
        let mut text = parts.join("; ");
        if pages > 1 {
            text += &format!(" (page {page} of {pages})");
        }
        Ok((text, nodes))
    }

    fn compute(&mut self, program: &str, ids: &[String]) -> Result<(String, Vec<u32>), String> {
        let program: Program = program.parse().map_err(|error| format!("not a program: {error}"))?;
        let cells = self.find_all(ids)?;
        let computed = compute(self.cells, program, cells.clone())?;
        let text = format!("{} = {}", computed.program, computed.outcome);
        self.computed.push(computed);
        Ok((text, cells))
    }
}

/// An action in short.
pub(crate) fn named(action: &Action) -> String {
    let text = match action {
        Action::VisitNode { node, text } if node.trim().is_empty() => format!("VisitNode({text:?})"),
        Action::VisitNode { node, .. } => format!("VisitNode({node})"),
        Action::GetAllNeighbours { node, page, .. } => format!("GetAllNeighbours({node}, page {page})"),
        Action::GetSharedNeighbours { node, other, page, .. } => {
            format!("GetSharedNeighbours({node}, {other}, page {page})")
        }
        Action::GetNodesWithin { node, hops, page, .. } => format!("GetNodesWithin({node}, {hops} hops, page {page})"),
        Action::Backtrack { node } => format!("Backtrack({node})"),
        Action::Compute { program, .. } => format!("Compute({program})"),
        Action::AnswerQuestion { answer, .. } => format!("AnswerQuestion({})", answer.join("; ")),
        Action::Abstain { .. } => "Abstain".to_owned(),
    };
    short(&one_line(&text))
}
