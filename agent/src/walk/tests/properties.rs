//! What holds of any walk, and the path that a page draws of one.

use proptest::prelude::*;
use tabsegnet_llm::LlmError;

use super::*;

fn any_action() -> impl Strategy<Value = Value> {
    let names = [
        "VisitNode", "GetAllNeighbours", "GetSharedNeighbours", "GetNodesWithin", "Backtrack", "Compute",
        "AnswerQuestion", "Abstain", "Fly",
    ];
    let id = || {
        prop_oneof![
            (0..3usize, 0..6usize, 0..6usize).prop_map(|(table, row, column)| format!("t{table}:r{row}c{column}")),
            (0..6usize).prop_map(|column| format!("t0:h0c{column}")),
            Just("t0".to_owned()),
            Just("p0".to_owned()),
            ".{0,8}",
        ]
    };
    let text = || prop_oneof![Just(String::new()), Just("2016".to_owned()), Just("120".to_owned()), ".{0,8}"];
    let program = prop_oneof![
        Just("subtract(120, 100)".to_owned()),
        Just("divide(120, 0)".to_owned()),
        Just("table_max(net sales, none)".to_owned()),
        ".{0,12}"
    ];
    (
        prop::sample::select(names.to_vec()),
        id(),
        id(),
        text(),
        0..4usize,
        0..5usize,
        program,
        prop::collection::vec(id(), 0..3),
    )
        .prop_map(|(name, node, other, text, hops, page, program, cells)| {
            json!({"action": name, "node": node, "other": other, "text": text, "hops": hops, "page": page,
                   "program": program, "operation": program, "cells": cells, "answer": [text]})
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_actions_end_in_an_answer_that_holds_or_in_none(
        rounds in prop::collection::vec(prop::collection::vec(any_action(), 0..12), 0..8)
    ) {
        let graph = sales();
        let cells = CellGraph::new(&graph, &WalkSettings::default());
        let ranking = ranking(&graph, "What?", &["t0:r1c1"]);
        let choices = rounds.into_iter().map(|actions| Choice { actions, ..Choice::default() });
        let mut events = Vec::new();
        let result = walk(&cells, &ranking, &mut Script::new(choices), &mut |event| events.push(event.clone()));
        let rounds = events.iter().filter(|event| matches!(event, TraceEvent::Round { .. })).count();
        prop_assert!(rounds <= 6);
        match result {
            Ok(answer) => {
                prop_assert_eq!(&answer.trace, &events);
                prop_assert!(answer.abstained == answer.answer.is_empty());
                if !answer.abstained {
                    prop_assert!(!answer.citations.is_empty() && answer.checks.iter().all(|check| check.passed));
                }
            }
            Err(error) => {
                let ended = matches!(error, LlmError::ScriptEnded { .. });
                prop_assert!(ended);
            }
        }
        let text: String = events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
        prop_assert_eq!(read_trace(&text), Ok(events));
    }

    #[test]
    fn sharing_and_standing_together_go_both_ways(a in 0..20u32, b in 0..20u32) {
        let graph = sales();
        let cells = CellGraph::new(&graph, &WalkSettings::default());
        prop_assert_eq!(cells.shared(a, b), cells.shared(b, a));
        prop_assert_eq!(cells.relation(a, b).is_some(), cells.relation(b, a).is_some());
    }
}

#[test]
fn a_path_has_the_moves_of_a_walk_in_order() {
    let graph = sales();
    let cells = CellGraph::new(&graph, &WalkSettings::default());
    let program = "subtract(120, 100), divide(#0, 100)";
    let answer = run(
        &graph,
        vec![
            json!([{"action": "VisitNode", "node": "t0:r1c1"}, {"action": "Fly"}, {"action": "VisitNode", "node": "t0:r9c9"}]),
            json!([{"action": "GetSharedNeighbours", "node": "t0:r1h0", "other": "t0:h0c2", "page": 1},
                   {"action": "VisitNode", "node": "t0:r1c2"}]),
            answers(json!(["t0:r1c1", "t0:r1c2"]), program, json!(["20 %"])),
        ],
    );
    assert!(!answer.abstained, "{:?}", answer.checks);
    let steps = path(&cells, &answer.trace);
    let titles: Vec<&str> = steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles, ["Start", "Round 1", "Round 2", "Round 3"]);
    let way = |step: usize, number: usize| {
        let of = &steps[step].moves[number];
        (of.from.join(" "), of.to.join(" "))
    };
    let is = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(way(0, 0), is("", "t0:r1h0 t0:h0c1"));
    assert_eq!(way(1, 0), is("", "t0:r1c1"));
    // What could not be done leads nowhere, and is said.
    assert_eq!((way(1, 1), way(1, 2)), (is("", ""), is("", "")));
    assert!(steps[1].moves[1].seen.contains("Fly") && steps[1].moves[2].seen.contains("outside"), "{:?}", steps[1]);
    let (from, to) = way(2, 0);
    assert_eq!(from, "t0:r1h0 t0:h0c2");
    assert!(to.split(' ').any(|node| node == "t0:r1c2"), "{to}");
    assert_eq!(way(2, 1), is("t0:r1c1", "t0:r1c2"));
    assert_eq!(way(3, 0), is("", "t0:r1c1 t0:r1c2"));
    assert_eq!(steps[3].moves[0].seen, "all checks hold");
    let ids: Vec<&String> =
        steps.iter().flat_map(|step| &step.moves).flat_map(|of| of.from.iter().chain(&of.to)).collect();
    assert!(ids.into_iter().all(|id| graph.nodes().iter().any(|node| node.id == *id)));
    assert!(path(&cells, &[]).is_empty());
}
