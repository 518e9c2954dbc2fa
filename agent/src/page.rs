//! An answer as the page of a document shows it.

use std::collections::HashMap;

use tabsegnet::{Graph, RankedNode, Ranking};
use tabsegnet_page::{Answer as Shown, Move, PathStep, RankedNode as ShownNode, Reply};
use tabsegnet_tablerag::RoundEvent;

use crate::answer::Answer;
use crate::checks::CitedRows;
use crate::program::Program;
use crate::walk::{CellGraph, WalkSettings, path};

/// Ranked nodes that a choice among them is shown to begin with: as many as a walk visits at its start.
const BEGUN: usize = 8;

/// What a page of the ranking's document shows of an answer: the cited nodes with their ranks, all nodes shaded by rank, and
/// how the answer was come to.
pub fn shown(graph: &Graph, ranking: &Ranking, answer: &Answer) -> Shown {
    let ranked: HashMap<&str, &RankedNode> = ranking.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let cited = answer.citations.iter().filter_map(|citation| {
        let node = ranked.get(citation.node.as_str())?;
        Some(ShownNode {
            id: node.id.clone(),
            rank: node.rank,
            score: node.score,
            segment: None,
            duplicates: Vec::new(),
            explanation: None,
        })
    });
    // Ids of the graph are found under any settings.
    let cells = CellGraph::new(graph, &WalkSettings::default());
    let mut way = path(&cells, &answer.trace);
    // A walk tells how a model came to an answer; where another policy answers in the end, its way follows.
    if answer.policy != "llm" {
        way.extend(choice(ranking, &ranked, answer));
    }
    let reply = reply(answer, steps(answer), way);
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
    let node = |(id, rank): (&str, usize)| ShownNode {
        id: id.to_owned(),
        rank,
        score: 0.0,
        segment: None,
        duplicates: Vec::new(),
        explanation: None,
    };
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

/// How an answer was chosen from ranked nodes, in the form of a walk: the best nodes, the cells that were taken, the program over
/// them, and what is said.
fn choice(ranking: &Ranking, ranked: &HashMap<&str, &RankedNode>, answer: &Answer) -> Vec<PathStep> {
    let step = |title: &str, moves| PathStep { title: title.to_owned(), thought: String::new(), moves };
    let best: Vec<String> = ranking.nodes.iter().take(BEGUN).map(|node| node.id.clone()).collect();
    let action = format!("{} best nodes of the ranker", best.len());
    let mut way = vec![step("Ranked nodes", vec![Move { action, to: best, ..Move::default() }])];
    let mut taken: Vec<String> = Vec::new();
    let mut cells = Vec::new();
    for citation in &answer.citations {
        let Some(node) = ranked.get(citation.node.as_str()) else { continue };
        let headers = citation.headers();
        let seen = std::iter::once(citation.text.as_str()).chain(headers).collect::<Vec<_>>().join(" | ");
        let action = format!("take {}, rank {}", node.id, node.rank);
        cells.push(Move { action, seen, to: vec![node.id.clone()], ..Move::default() });
        taken.push(node.id.clone());
    }
    if !cells.is_empty() {
        way.push(step("Cells", cells));
    }
    let program: Vec<Move> =
        steps(answer).into_iter().map(|(action, seen)| Move { action, seen, ..Move::default() }).collect();
    if !program.is_empty() {
        way.push(step("Program", program));
    }
    let end = if answer.abstained {
        let failed: Vec<&str> =
            answer.checks.iter().filter(|check| !check.passed).map(|check| check.what.as_str()).collect();
        Move { action: "does not know".to_owned(), seen: failed.join("; "), ..Move::default() }
    } else {
        Move { action: "answer".to_owned(), seen: answer.said(), to: taken, ..Move::default() }
    };
    way.push(step("Answer", vec![end]));
    way
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
    use tabsegnet::NodeKind;
    use tabsegnet::ranking::Position;

    use super::*;
    use crate::answer::{Check, Citation};

    #[test]
    fn a_choice_leads_from_ranked_nodes_over_cells_and_program_to_the_answer() {
        let node = |id: &str, rank: usize, col: usize, text: &str| RankedNode {
            rank,
            id: id.to_owned(),
            kind: NodeKind::Cell,
            text: text.to_owned(),
            section: [].into(),
            row_headers: Some("Net sales".to_owned()),
            column_headers: None,
            caption: None,
            position: Position::Cell { table: 0, row: 1, col, rowspan: 1, colspan: 1 },
            location: None,
            duplicates: Vec::new(),
            segment: None,
            score: 0.0,
            explanation: None,
        };
        let mut nodes = vec![node("t0:r1c1", 1, 1, "120"), node("t0:r1c2", 2, 2, "100")];
        nodes.extend((3..12).map(|rank| node(&format!("t0:r{rank}c1"), rank, 1, "7")));
        let ranking = Ranking {
            question_id: "q1".to_owned(),
            question: "By how much did net sales grow?".to_owned(),
            read_as: None,
            document: "sales".to_owned(),
            nodes_in_document: nodes.len(),
            warnings: Vec::new(),
            segments: Vec::new(),
            edge_strengths: Vec::new(),
            nodes,
        };
        let ranked: HashMap<&str, &RankedNode> = ranking.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let answer = Answer {
            answer: "20".to_owned(),
            program: Some("subtract(120, 100)".to_owned()),
            citations: ranking.nodes.iter().take(2).map(Citation::from).collect(),
            ..Answer::default()
        };
        let way = choice(&ranking, &ranked, &answer);
        let titles = |way: &[PathStep]| way.iter().map(|step| step.title.clone()).collect::<Vec<_>>();
        assert_eq!(titles(&way), ["Ranked nodes", "Cells", "Program", "Answer"]);
        assert_eq!(way[0].moves[0].to.len(), BEGUN);
        let taken = &way[1].moves[1];
        assert_eq!((taken.action.as_str(), taken.seen.as_str()), ("take t0:r1c2, rank 2", "100 | Net sales"));
        assert_eq!((way[2].moves[0].action.as_str(), way[2].moves[0].seen.as_str()), ("subtract(120, 100)", "20"));
        assert_eq!(way[3].moves[0].to, ["t0:r1c1", "t0:r1c2"]);
        // What is not said leads nowhere.
        let checks = vec![Check { what: "the unit fits".to_owned(), passed: false }];
        let way = choice(&ranking, &ranked, &Answer::abstention(0.1, checks));
        assert_eq!(titles(&way), ["Ranked nodes", "Answer"]);
        assert_eq!((way[1].moves[0].seen.as_str(), way[1].moves[0].to.len()), ("the unit fits", 0));
    }

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
