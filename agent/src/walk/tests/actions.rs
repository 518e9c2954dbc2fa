//! Actions: what they bring, and those that cannot be.

use super::*;

#[test]
fn actions_that_cannot_be_are_observations() {
    for (action, words) in [
        (json!({"action": "Fly"}), "there is no action \"Fly\""),
        (json!({"action": "GetAllNeighbours"}), "missing field"),
        (json!(7), "an action without a name"),
        (
            json!({"action": "VisitNode", "node": "t0:r99c1"}),
            "outside table t0, which has rows 0 to 3 and columns 0 to 3",
        ),
        (json!({"action": "VisitNode", "node": "t0:r1c99999999999999999999999"}), "there is no node"),
        (json!({"action": "VisitNode", "node": "t9:r1c1"}), "there is no table t9"),
        (json!({"action": "VisitNode", "node": "Net sales"}), "there is no node"),
        (json!({"action": "VisitNode", "node": "t0:r1c1", "text": "$ 100"}), "it stands in t0:r1c2 \"$ 100\""),
        (json!({"action": "VisitNode", "node": "t0:r1c1", "text": "horses"}), "no node holds it"),
        (json!({"action": "VisitNode", "node": "", "text": ""}), "give an id as node"),
        (json!({"action": "VisitNode", "text": "horses"}), "no node holds \"horses\""),
        (
            json!({"action": "VisitNode", "text": "2016"}),
            "several hold it; visit one by its id: t0:h0c1 \"2016\", t1:h0c1",
        ),
        (json!({"action": "GetAllNeighbours", "node": "t0:r1c1", "page": 0}), "there is no page 0"),
        (json!({"action": "GetAllNeighbours", "node": "t0:r1c1", "page": 5}), "there are pages 1 to 1"),
        (json!({"action": "GetSharedNeighbours", "node": "t0:r1c1", "other": "t0:r1c1"}), "both are one node"),
        (json!({"action": "GetSharedNeighbours", "node": "t0:r1c1", "other": "t1:r1c1"}), "they share no neighbour"),
        (json!({"action": "GetNodesWithin", "node": "t0:r1c1", "hops": 9}), "expected 1 to 3"),
        (json!({"action": "Backtrack", "node": "t1:r1c1"}), "was not visited"),
        (json!({"action": "Compute", "program": "plus(1, 2)", "cells": ["t0:r1c1"]}), "not a program"),
        (json!({"action": "Compute", "program": "add(1, 2)", "cells": []}), "\"cells\" is empty"),
        (json!({"action": "Compute", "program": "add(120, 2)", "cells": ["t0:r1c1"]}), "2 does not stand in the cells"),
    ] {
        let (text, _) = look(action.clone());
        assert!(text.contains(words), "{action}: {text}");
    }
}

#[test]
fn nodes_may_be_named_as_they_are_shown() {
    for node in ["t0:r1c1", "`t0:r1c1`", "[t0:r1c1]", "t0:r1c1 \"$ 120\"", " t0:r1c1 "] {
        let (text, nodes) = look(json!({"action": "VisitNode", "node": node}));
        assert!(text.starts_with("now visited: t0:r1c1 \"$ 120\""), "{node}: {text}");
        assert_eq!(nodes, ["t0:r1c1"]);
    }
    // Headers and what a merged cell covers, by their place.
    let graph = shares();
    let cells = CellGraph::new(&graph, &WalkSettings::default());
    let id = |place: &str| cells.find(place).map(|node| cells.id(node).to_owned());
    assert_eq!(id("t0:r0c4"), Ok("t0:h0c3".into()));
    assert_eq!(id("t0:r1c0"), Ok("t0:h0c0".into()));
    assert_eq!(id("t0:r2c3"), Ok("t0:r2c1".into()));
    assert_eq!(id("t0:r5c0"), Ok("t0:r5h0".into()));
}

#[test]
fn what_is_repeated_brings_nothing_new() {
    let visit = json!({"action": "VisitNode", "node": "t0:r1c1"});
    let answer = run(&sales(), vec![json!([visit, visit]), json!([visit]), json!([{"action": "Abstain"}])]);
    assert!(seen(&answer, 1, 1).text.contains("done already in round 1"));
    assert!(seen(&answer, 2, 0).text.contains("done already in round 1"));
    assert!(answer.abstained);
}

#[test]
fn twenty_actions_are_cut_down() {
    let many: Vec<Value> = (0..20).map(|hop| json!({"action": "VisitNode", "node": format!("t0:r{hop}c1")})).collect();
    let answer = run(&sales(), vec![json!(many), json!([{"action": "Abstain"}])]);
    assert_eq!(seen(&answer, 1, 8).text, "12 more actions were not done: at most 8 a round");
    let TraceEvent::Round { observations, .. } = &answer.trace[1] else { panic!() };
    assert_eq!(observations.len(), 9);
}

#[test]
fn an_answer_beside_other_actions_waits() {
    let mut both = answers(json!(["t0:r1c1"]), "look up", json!(["120"]));
    both.as_array_mut().unwrap().push(json!({"action": "VisitNode", "node": "t0:r1c1"}));
    let answer = run(&sales(), vec![both.clone(), json!([{"action": "Abstain"}])]);
    assert!(seen(&answer, 1, 0).text.contains("it has to stand alone"));
    assert!(seen(&answer, 1, 1).text.contains("now visited"));
    // In the last round it is what counts.
    let one = WalkSettings { rounds: 1, ..WalkSettings::default() };
    let answer = run_with(&sales(), &one, vec![both]);
    assert_eq!((answer.answer.as_str(), answer.abstained), ("120", false));
    assert!(seen(&answer, 1, 0).text.contains("this was the last round"));
}

#[test]
fn backtracking_leaves_what_came_after() {
    let visit = |id: &str| json!({"action": "VisitNode", "node": id});
    let rounds = vec![
        json!([visit("t0:r1c1"), visit("t0:r2c1")]),
        json!([{"action": "Backtrack", "node": "t0:r1c1"}]),
        json!([{"action": "Abstain"}]),
    ];
    let answer = run(&sales(), rounds);
    let visited = |round: usize| match &answer.trace[round] {
        TraceEvent::Round { visited, .. } => visited.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(visited(1), ["t0:r1h0", "t0:h0c1", "t0:r1c1", "t0:r2c1"]);
    assert_eq!(visited(2), ["t0:r1h0", "t0:h0c1", "t0:r1c1"]);
}
