//! Traces carried out again.

use super::*;

const START: [&str; 2] = ["t0:r1h0", "t0:h0c1"];

fn again(graph: &Graph, events: &[TraceEvent]) -> Result<(), Difference> {
    let cells = CellGraph::new(graph, &WalkSettings::default());
    replay(&cells, &ranking(graph, "What?", &START), events)
}

#[test]
fn a_walk_comes_out_the_same_also_where_it_was_cut_off() {
    let graph = sales();
    let look = json!([{"action": "VisitNode", "node": "t0:r1c2"}]);
    let trace = run(&graph, vec![look, answers(json!(["t0:r1c1"]), "look up", json!(["$ 120"]))]).trace;
    assert!(matches!(trace.last(), Some(TraceEvent::End { abstained: false, .. })), "{trace:?}");
    for length in 1..=trace.len() {
        assert_eq!(again(&graph, &trace[..length]), Ok(()), "{length}");
    }
    // So does one that a spent budget ended.
    let reason = "the budget of 1 calls is spent".to_owned();
    let spent = TraceEvent::End { answer: String::new(), abstained: true, reason };
    assert_eq!(again(&graph, &[&trace[..2], &[spent]].concat()), Ok(()));
    let two = [&trace[..], &trace[..3]].concat();
    assert_eq!(walks(&two).iter().map(|walk| walk.len()).collect::<Vec<_>>(), [trace.len(), 3]);
    assert!(walks(&[]).is_empty());
}

#[test]
fn what_comes_out_otherwise_is_shown() {
    let graph = sales();
    let neighbours = json!([{"action": "GetAllNeighbours", "node": "t0:r2h0"}]);
    let give_up = json!([{"action": "Abstain", "explanation": "enough"}]);
    let trace = run(&graph, vec![neighbours, give_up]).trace;
    assert_eq!(again(&graph, &trace), Ok(()));
    // Another number in a row that only the neighbours show.
    let rows: &[&[&str]] = &[
        &["", "2016", "2015", "margin"],
        &["Net sales", "$ 120", "$ 100", "12 %"],
        &["Net loss", "(12,761)", "—", "n/a"],
        &["Taxes 1)", "7 (a)", "6", "0.12"],
    ];
    let difference = again(&document(vec![source("Sales (in millions)", rows)]), &trace).unwrap_err();
    assert_eq!(difference.place, "round 1");
    assert!(difference.recorded.contains("(12,760)") && difference.replayed.contains("(12,761)"), "{difference}");
    // One that goes on where it had ended.
    let mut longer = trace.clone();
    let end = longer.pop();
    longer.extend(trace.get(1).cloned());
    longer.extend(end);
    assert!(again(&graph, &longer).is_err());
}
