//! An answer as the page of a document shows it.

use std::collections::HashMap;

use tabsegnet::{Graph, RankedNode, Ranking};
use tabsegnet_page::{Answer as Shown, Move, PathStep, RankedNode as ShownNode, Reply};
use tabsegnet_tablerag::RoundEvent;

use crate::answer::Answer;
use crate::checks::CitedRows;
use crate::program::Program;
use crate::walk::{CellGraph, WalkSettings, path};

/// What a page of the ranking's document shows of an answer: the cited nodes with their ranks, all nodes shaded by rank, and
/// how the answer was come to.
pub fn shown(graph: &Graph, ranking: &Ranking, answer: &Answer) -> Shown {
    let ranked: HashMap<&str, &RankedNode> = ranking.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let cited = answer.citations.iter().filter_map(|citation| {
        let node = ranked.get(citation.node.as_str())?;
        Some(ShownNode { id: node.id.clone(), rank: node.rank, score: node.score, segment: None, explanation: None })
    });
    // Ids of the graph are found under any settings.
    let cells = CellGraph::new(graph, &WalkSettings::default());
    let reply = reply(answer, steps(answer), path(&cells, &answer.trace));
    Shown {
        question: ranking.question.clone(),
        nodes: cited.collect(),
        scores: ranking.nodes.iter().map(|node| (node.id.clone(), node.score)).collect(),
        reply: Some(reply),
        ..Shown::default()
    }
}

/// What a page shows of an answer from tables that went through SQL: the cited nodes in their order, the statement, and the
/// rounds.
pub fn shown_of_sql(answer: &Answer) -> Shown {
    let mut ids: Vec<&str> = Vec::new();
    for citation in &answer.citations {
        if !ids.contains(&citation.node.as_str()) {
            ids.push(&citation.node);
        }
    }
    let node =
        |(id, rank): (&str, usize)| ShownNode { id: id.to_owned(), rank, score: 0.0, segment: None, explanation: None };
    let program = match &answer.sql {
        Some(sql) => vec![(sql.clone(), answer.answer.clone())],
        None => steps(answer),
    };
    Shown {
        question: answer.question.clone(),
        nodes: ids.into_iter().zip(1..).map(node).collect(),
        reply: Some(reply(answer, program, rounds(&answer.rounds))),
        ..Shown::default()
    }
}

fn reply(answer: &Answer, program: Vec<(String, String)>, path: Vec<PathStep>) -> Reply {
    let mut facts = vec![("answered by".to_owned(), answer.policy.clone())];
    if let Some(tokens) = answer.tokens {
        facts.push(("tokens".to_owned(), format!("{} read, {} written", tokens.prompt, tokens.completion)));
    }
    facts.extend(answer.cost.map(|cost| ("cost".to_owned(), format!("{cost:.4}"))));
    let note = answer.unverified.as_ref().map(|unverified| format!("The best that did not hold: {unverified}"));
    Reply {
        text: answer.said(),
        note: note.unwrap_or_default(),
        confidence: answer.confidence,
        facts,
        program,
        checks: checks(answer),
        path,
    }
}

/// Rounds over chunks and statements as steps; what they found has no nodes that a path could lead over.
fn rounds(events: &[RoundEvent]) -> Vec<PathStep> {
    let mut steps: Vec<PathStep> = Vec::new();
    let add = |steps: &mut Vec<PathStep>, action: String, seen: String| {
        if let Some(step) = steps.last_mut() {
            step.moves.push(Move { action, seen, from: Vec::new(), to: Vec::new() });
        }
    };
    for event in events {
        match event {
            RoundEvent::Subquery { round, thought, subquery, chunks } => {
                steps.push(PathStep { title: format!("Round {round}"), thought: thought.clone(), moves: Vec::new() });
                let places: Vec<&str> = chunks.iter().map(|chunk| chunk.place.as_str()).collect();
                add(&mut steps, format!("look for {subquery:?}"), places.join(", "));
            }
            RoundEvent::Statement { sql, rows, refused, .. } => {
                let rows = rows.as_ref().map(|rows| match (rows.rows.len(), rows.truncated) {
                    (1, false) => "1 row".to_owned(),
                    (count, false) => format!("{count} rows"),
                    (count, true) => format!("{count} rows and more"),
                });
                let seen = refused.clone().or(rows).unwrap_or_default();
                add(&mut steps, sql.clone(), seen);
            }
            RoundEvent::Weighed { answer, reason, .. } => {
                add(&mut steps, format!("found {:?}", answer.join("; ")), reason.clone())
            }
            RoundEvent::Unfounded { answer, .. } => {
                add(
                    &mut steps,
                    format!("not taken: {:?}", answer.join("; ")),
                    "it does not stand in what was found".to_owned(),
                );
            }
            RoundEvent::Start { .. } | RoundEvent::End { .. } => {}
        }
    }
    steps
}

/// What was looked at, each once: a number may stand in several steps.
fn checks(answer: &Answer) -> Vec<(String, bool)> {
    let mut checks: Vec<(String, bool)> = Vec::new();
    for check in &answer.checks {
        let check = (check.what.clone(), check.passed);
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    checks
}

/// Each step of the answer's program with what it gives.
fn steps(answer: &Answer) -> Vec<(String, String)> {
    let program = answer.program.as_ref().and_then(|program| program.parse::<Program>().ok());
    let rows = CitedRows::new(&answer.citations);
    let steps = program.as_ref().map_or(&[][..], Program::steps);
    let result = |last: usize| {
        let first = Program::new(steps.iter().take(last).cloned().collect()).ok()?;
        first.run(&rows).ok().map(|outcome| outcome.to_string())
    };
    steps.iter().zip(1..).map(|(step, last)| (step.to_string(), result(last).unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_a_program_has_its_result() {
        let program = Some("subtract(120, 100), divide(#0, 100)".to_owned());
        let found = steps(&Answer { program, ..Answer::default() });
        let found: Vec<(&str, &str)> = found.iter().map(|(step, result)| (step.as_str(), result.as_str())).collect();
        assert_eq!(found, [("subtract(120, 100)", "20"), ("divide(#0, 100)", "0.2")]);
        assert_eq!(steps(&Answer { program: Some("divide(1, 0)".into()), ..Answer::default() })[0].1, "");
        assert!(steps(&Answer::default()).is_empty());
    }
}
