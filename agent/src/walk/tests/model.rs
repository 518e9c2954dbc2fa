//! A model that walks: what it answers, what it spends, and who answers where it cannot.

use std::sync::Mutex;

use tabsegnet_llm::{Budget, Limits, LlmError, LlmSettings, Scripted};

use super::*;
use crate::Policy;
use crate::quantity::Scale;

const WORKED: &str = "In the hills, what share of the people who work in kitchens is part-time?";

/// What a model would say to it, step by step.
fn worked_replies() -> Vec<String> {
    [
        json!({"thought": "Hills and kitchens are known, the share is missing: look at the column of part-time in the hills.",
               "actions": [{"action": "GetAllNeighbours", "reason": "the column", "node": "t0:h1c3", "text": "part-time", "page": 1}]}),
        json!({"thought": "The numbers are percentages.",
               "actions": [{"action": "VisitNode", "reason": "the unit", "node": "", "text": "Percent"}]}),
        json!({"thought": "Where they cross stands the share.",
               "actions": [{"action": "GetSharedNeighbours", "reason": "the crossing", "node": "t0:r5h0", "text": "kitchens",
                            "other": "t0:h1c3", "page": 1}]}),
        json!({"thought": "55.0 is the share.",
               "actions": [{"action": "AnswerQuestion", "reason": "found", "cells": ["t0:r5c3"], "operation": "look up",
                            "explanation": "kitchens, hills, part-time", "answer": ["55.0"]}]}),
    ]
    .map(|reply| reply.to_string())
    .to_vec()
}

fn limits() -> Limits {
    Limits::default()
}

fn by_model(graph: &Graph, replies: Vec<String>, budget: Limits) -> Result<Answer, LlmError> {
    let (walk, llm) = (WalkSettings::default(), LlmSettings { budget, ..LlmSettings::default() });
    let model = Scripted::new(replies);
    let policy = LlmPolicy::new(graph, &walk, &model, &llm, &());
    policy.try_answer(&ranking(graph, WORKED, &["t0:h1c3", "t0:r5h0", "t0:h0c3"]))
}

#[test]
fn a_worked_case_is_answered_and_replayed() {
    let graph = shares();
    let answer = by_model(&graph, worked_replies(), limits()).unwrap();
    assert_eq!((answer.answer.as_str(), answer.abstained, answer.policy.as_str()), ("55.0", false, "llm"));
    assert_eq!(answer.citations.iter().map(|cited| cited.node.as_str()).collect::<Vec<_>>(), ["t0:r5c3"]);
    assert_eq!(answer.value.as_deref(), Some("55"));
    assert!(answer.checks.iter().all(|check| check.passed) && !answer.checks.is_empty());
    assert!(answer.tokens.is_some_and(|tokens| tokens.prompt > 1000 && tokens.estimated));
    let TraceEvent::Start { links, nodes, .. } = &answer.trace[0] else { panic!("{:?}", answer.trace[0]) };
    assert_eq!(nodes, &["t0:h1c3", "t0:r5h0", "t0:h0c3"]);
    assert_eq!(
        links,
        &[
            "t0:h1c3 and t0:r5h0 share t0:h0c0 \"branch\" (rows 0 to 1, column 0), t0:r5c3 \"55.0\"",
            "t0:h1c3 and t0:h0c3: same column",
            "t0:r5h0 and t0:h0c3 share t0:h0c0 \"branch\" (rows 0 to 1, column 0), t0:r5c3 \"55.0\", t0:r5c4 \"58.1\"",
        ]
    );
    let column = seen(&answer, 1, 0);
    assert!(column.text.contains("same column: t0:h0c3 \"hills\" (row 0, columns 3 to 4)"), "{}", column.text);
    assert!(column.nodes.contains(&"t0:r5c3".to_owned()));
    assert!(seen(&answer, 2, 0).text.starts_with("now visited: t0:r2c1 \"percent\""));
    assert!(seen(&answer, 3, 0).nodes.contains(&"t0:r5c3".to_owned()));
    // As a file, and again from it.
    let lines: String = answer.trace.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    let events = read_trace(&lines).unwrap();
    assert_eq!(events, answer.trace);
    let cells = CellGraph::new(&graph, &WalkSettings::default());
    let start = ranking(&graph, WORKED, &["t0:h1c3", "t0:r5h0", "t0:h0c3"]);
    let mut again = Vec::new();
    let replayed =
        walk(&cells, &start, &mut Script::of_trace(&events), &mut |event| again.push(event.clone())).unwrap();
    let mut expected = answer.clone();
    expected.cost = None;
    assert_eq!((again, replayed), (events, expected));
    assert_eq!(read_trace(&lines[..lines.len() - 5]).unwrap().len(), answer.trace.len() - 1);
    assert!(read_trace("{}\n").unwrap_err().contains("line 1"));
}

#[test]
fn a_budget_spent_in_the_midst_keeps_what_there_is() {
    let graph = sales();
    let compute = json!({"thought": "subtract", "actions": [
        {"action": "Compute", "reason": "", "program": "subtract(120, 100)", "cells": ["t0:r1c1", "t0:r1c2"]}]});
    let answer = by_model(&graph, vec![compute.to_string(); 5], Limits { calls: 1, ..limits() }).unwrap();
    assert!(answer.abstained && answer.answer.is_empty());
    assert_eq!(answer.unverified.as_deref(), Some("20"));
    assert!(answer.checks.iter().any(|check| check.what.contains("the budget of 1 calls is spent") && !check.passed));
    assert!(matches!(
        answer.trace.as_slice(),
        [TraceEvent::Start { .. }, TraceEvent::Round { .. }, TraceEvent::End { .. }]
    ));
    assert_eq!(answer.citations.len(), 2);
    // Also before anything was sent.
    let answer = by_model(&graph, Vec::new(), Limits { tokens: 10, ..limits() }).unwrap();
    assert!(answer.abstained && answer.checks.iter().any(|check| check.what.contains("raise llm.budget.tokens")));
}

/// Says a number in millions, or nothing.
struct Other {
    says: &'static str,
}

impl Policy for Other {
    fn name(&self) -> &'static str {
        "other"
    }

    fn answer(&self, _: &Ranking) -> Answer {
        Answer {
            answer: self.says.to_owned(),
            abstained: self.says.is_empty(),
            scale: Some(Scale::Million),
            policy: "other".to_owned(),
            ..Answer::default()
        }
    }
}

const LOOK: &str =
    r#"{"thought": "", "actions": [{"action": "VisitNode", "reason": "", "node": "t0:r1c2", "text": ""}]}"#;

#[test]
fn a_budget_spent_after_looks_alone_leaves_the_best_that_there_is() {
    let graph = sales();
    let walk = WalkSettings { rounds: 2, ..WalkSettings::default() };
    let ranking = ranking(&graph, "What were net sales in 2016?", &["t0:r1h0", "t0:r1c1"]);
    let run = |says, calls| {
        let llm = LlmSettings { budget: Limits { calls, ..limits() }, ..LlmSettings::default() };
        let (model, other) = (Scripted::new([LOOK, LOOK]), Other { says });
        LlmPolicy::new(&graph, &walk, &model, &llm, &()).or_else(&other).try_answer(&ranking).unwrap()
    };
    let what = |answer: &Answer| answer.checks.iter().map(|check| check.what.as_str()).collect::<Vec<_>>().join("; ");
    let answer = run("$ 100", 1);
    assert_eq!((answer.abstained, answer.unverified.as_deref()), (true, Some("$ 100 million")));
    assert!(
        what(&answer).contains("raise llm.budget.calls") && what(&answer).contains("what other says"),
        "{answer:?}"
    );
    // Without one that says something it is the likeliest cell.
    let answer = run("", 1);
    assert_eq!((answer.answer.as_str(), answer.unverified.as_deref()), ("", Some("$ 120")));
    assert_eq!(answer.citations.iter().map(|cited| cited.node.as_str()).collect::<Vec<_>>(), ["t0:r1c1"]);
    assert!(answer.checks.iter().any(|check| !check.passed));
    // So it is where the rounds are over.
    let answer = run("$ 100", 9);
    assert_eq!(answer.unverified.as_deref(), Some("$ 100 million"));
    assert!(what(&answer).contains("no answer in 2 rounds"), "{answer:?}");
}

#[derive(Default)]
struct Heard {
    notices: Mutex<Vec<String>>,
    pieces: Mutex<usize>,
}

impl Listener for Heard {
    fn piece(&self, _: tabsegnet_llm::Piece<'_>) {
        *self.pieces.lock().unwrap() += 1;
    }

    fn notice(&self, text: &str) {
        self.notices.lock().unwrap().push(text.to_owned());
    }
}

#[test]
fn replies_that_cannot_be_used_leave_the_rules_to_answer() {
    let graph = sales();
    let (walk, llm, heard) = (WalkSettings::default(), LlmSettings::default(), Heard::default());
    let ranking = ranking(&graph, "What were net sales in 2016?", &["t0:r1c1", "t0:r1c2"]);
    let policy = |replies: &[&str]| {
        let model = Scripted::new(replies.iter().copied());
        LlmPolicy::new(&graph, &walk, &model, &llm, &heard).answer(&ranking)
    };
    // One repair turn.
    let give_up = "{\"thought\": \"\", \"actions\": [{\"action\": \"Abstain\"}]}";
    let answer = policy(&["no idea", give_up]);
    assert_eq!((answer.policy.as_str(), answer.abstained), ("llm", true));
    let TraceEvent::Round { repaired: Some(why), .. } = &answer.trace[1] else { panic!("{:?}", answer.trace) };
    assert!(why.contains("no JSON object") && heard.notices.lock().unwrap().is_empty());
    let answer = policy(&["no idea", "{\"actions\": []}", give_up]);
    assert_eq!(answer.policy, "rules");
    assert!(answer.tokens.is_some() && answer.trace.len() == 2);
    // A model that fails: what it did before, and took, is kept.
    let answer = policy(&[LOOK]);
    assert_eq!(answer.policy, "rules");
    assert!(answer.tokens.is_some_and(|tokens| tokens.prompt > 100), "{:?}", answer.tokens);
    assert!(
        matches!(
            answer.trace.as_slice(),
            [TraceEvent::Start { .. }, TraceEvent::Round { .. }, TraceEvent::End { abstained: true, .. }]
        ),
        "{:?}",
        answer.trace
    );
    let notices = heard.notices.lock().unwrap().clone();
    assert!(
        notices.len() == 2 && notices.iter().all(|notice| notice.starts_with("q1: answered by rules: ")),
        "{notices:?}"
    );
    assert!(notices[0].contains("\"actions\" is empty"));
}

#[test]
fn the_cost_of_all_questions_is_limited() {
    let graph = sales();
    let mut llm = LlmSettings { price_prompt: Some(1.0), price_completion: Some(1.0), ..LlmSettings::default() };
    llm.budget.cost = Some(0.0);
    let mut budget = Budget::new(llm.budget.clone());
    let model = tabsegnet_llm::HttpModel::new(
        LlmSettings { base_url: "http://127.0.0.1:9/v1".into(), model: "m".into(), ..llm.clone() },
        None,
    )
    .unwrap();
    let mut on_piece = |_: tabsegnet_llm::Piece<'_>| {};
    let mut chooser = ModelChooser::new(&model, &llm, &mut budget, &mut on_piece);
    let cells = CellGraph::new(&graph, &WalkSettings::default());
    let answer = walk(&cells, &ranking(&graph, "What?", &["t0:r1c1"]), &mut chooser, &mut |_| {}).unwrap();
    assert!(answer.checks.iter().any(|check| check.what.contains("budget.cost")), "{:?}", answer.checks);
}
