//! Answers held against what they cite.

use super::*;
use crate::quantity::{Scale, Unit};

#[test]
fn without_an_answer_in_the_last_round_nothing_is_said() {
    let compute = json!([{"action": "Compute", "program": "subtract(120, 100)", "cells": ["t0:r1c1", "t0:r1c2"]}]);
    let visit = |id: &str| json!([{"action": "VisitNode", "node": id}]);
    let rounds = ["t0:r1c1", "t0:r1c2", "t0:r2c1", "t0:r2c2"].map(visit);
    let answer = run(&sales(), [vec![compute], rounds.to_vec()].concat());
    assert!(answer.abstained && answer.answer.is_empty());
    assert_eq!(answer.unverified.as_deref(), Some("20"));
    assert!(answer.checks.iter().any(|check| check.what == "no answer in 5 rounds" && !check.passed));
}

#[test]
fn an_answer_that_does_not_hold_gets_one_more_try() {
    let wrong = answers(json!(["t0:r1c1"]), "look up", json!(["121"]));
    let right = answers(json!(["t0:r1c1", "t0:r1c2"]), "subtract(120, 100)", json!(["$20 million"]));
    let answer = run(&sales(), vec![wrong.clone(), right.clone()]);
    assert_eq!((answer.answer.as_str(), answer.program.as_deref()), ("$20 million", Some("subtract(120, 100)")));
    assert_eq!((answer.value.as_deref(), answer.abstained), (Some("20"), false));
    let answer = run(&sales(), vec![wrong.clone(), wrong.clone(), right.clone()]);
    assert!(answer.abstained);
    assert_eq!((answer.unverified.as_deref(), answer.answer.as_str()), (Some("121"), ""));
    assert!(answer.checks.iter().any(|check| check.what == "two answers did not hold"));
    // Also where the last round is over.
    let one = WalkSettings { rounds: 1, ..WalkSettings::default() };
    assert!(!run_with(&sales(), &one, vec![wrong, right]).abstained);
}

#[test]
fn numbers_stand_in_what_is_cited_or_are_computed_from_it() {
    let check = |cells: Value, operation: &str, answer: Value| {
        let give_up = json!([{"action": "Abstain"}]);
        let answer = run(&sales(), vec![answers(cells, operation, answer), give_up]);
        if answer.abstained { None } else { Some(answer) }
    };
    let holds = |cells: Value, operation: &str, answer: Value| check(cells, operation, answer).is_some();
    assert!(holds(json!(["t0:r2c1"]), "look up", json!(["(12,760)"])));
    assert!(holds(json!(["t0:r2c1"]), "look up", json!(["-$12,760 million"])));
    assert!(holds(json!(["t0:r2c1"]), "look up", json!(["12.76 billion"])));
    assert!(!holds(json!(["t0:r2c1"]), "look up", json!(["12.76"])));
    assert!(!holds(json!(["t0:r1c1"]), "look up", json!(["(12,760)"])));
    assert!(holds(json!(["t0:r3c1"]), "look up", json!(["7"])), "a footnote mark behind the number");
    assert!(holds(json!(["t0:r2c2"]), "look up", json!(["0"])), "a dash is nothing");
    assert!(holds(json!(["t0:r1c1", "t0:r1c2"]), "look up", json!(["120", "100"])));
    assert!(!holds(json!(["t0:r1c1"]), "look up", json!(["120", "100"])));
    assert!(holds(json!(["t0:r1c2"]), "look up", json!(["Net sales"])), "a header of what is cited");
    assert!(holds(json!(["t0:r1c1"]), "look up", json!(["2016"])));
    assert!(!holds(json!(["t0:r1c1"]), "look up", json!(["2015"])));
    assert!(holds(json!(["p0"]), "look up", json!(["7 firms"])));
    assert!(!holds(json!(["t0:r1c1"]), "look up", json!(["horses of the king"])));
    assert!(!holds(json!(["t0:r1c1"]), "look up", json!(["yes"])), "not without a program");
    assert!(holds(json!(["t0:r1c1", "t0:r1c2"]), "greater(120, 100)", json!(["yes"])));
    assert!(!holds(json!(["t0:r1c1", "t0:r1c2"]), "greater(120, 100)", json!(["no"])));
    assert!(!holds(json!(["t0:r1c1"]), "subtract(120, 100)", json!(["20"])), "100 is not cited");
    assert!(!holds(json!([]), "look up", json!(["120"])), "nothing is cited");
    assert!(!holds(json!(["t0:r1c1"]), "look up", json!(["", " "])));
    assert!(!holds(json!(["t0:r1c1"]), "look up", json!(["…"])));
    let change = check(json!(["t0:r1c1", "t0:r1c2"]), "subtract(120, 100), divide(#0, 100)", json!(["20 %"])).unwrap();
    assert_eq!((change.value.as_deref(), change.unit), (Some("0.2"), Some(Unit::Percent)));
    let found = check(json!(["t0:r1c1"]), "look up", json!(["120"])).unwrap();
    assert_eq!(
        (found.unit, found.scale, found.value.as_deref()),
        (Some(Unit::Dollar), Some(Scale::Million), Some("120"))
    );
    let loss = check(json!(["t0:r2c1"]), "look up", json!(["12,760"])).unwrap();
    assert_eq!(loss.value.as_deref(), Some("-12760"));
    // What was computed before may be said without the program.
    let compute = json!([{"action": "Compute", "program": "subtract(120, 100)", "cells": ["t0:r1c1", "t0:r1c2"]}]);
    let answer = run(&sales(), vec![compute, answers(json!(["t0:r1h0"]), "difference", json!(["20"]))]);
    assert_eq!((answer.program.as_deref(), answer.citations.len()), (Some("subtract(120, 100)"), 3));
}

#[test]
fn what_cannot_be_computed_is_said() {
    let compute =
        |program: &str, cells: Value| look(json!({"action": "Compute", "program": program, "cells": cells})).0;
    assert!(compute("divide(120, const_0)", json!(["t0:r1c1"])).contains("no result: step 0 divides by zero"));
    assert!(compute("divide(120, 0)", json!(["t0:r1c1", "t0:r2c2"])).contains("divides by zero"));
    assert!(compute("add(12, 0.12)", json!(["t0:r1c3", "t0:r3c3"])).contains("one of them is a percentage"));
    assert!(compute("add(120, 12)", json!(["t0:r1c1", "t0:r1c3"])).contains("do not go together"));
    assert!(compute("add(5000, 7)", json!(["t1:r1c1", "t1:r2c1"])).contains("$ and € do not go together"));
    assert!(compute("subtract(120, 5000)", json!(["t0:r1c1", "t1:r1c1"])).contains("5000 is in thousands"));
    assert!(
        compute(
            "multiply(5000, const_1000000), multiply(#0, #0), multiply(#1, #1), multiply(#2, #2)",
            json!(["t1:r1c1"])
        )
        .contains("no number of at most")
    );
    // Brought to one scale it is right.
    let scaled = "divide(5000, const_1000), subtract(120, #0)";
    assert!(compute(scaled, json!(["t0:r1c1", "t1:r1c1"])).ends_with("= 115"));
    assert!(compute("table_sum(Net sales, none)", json!(["t0:r1c1", "t0:r1c2"])).ends_with("= 220"));
    // Such programs make no answer either.
    let mixed = answers(json!(["t0:r1c1", "t1:r1c1"]), "subtract(120, 5000)", json!(["-4880"]));
    assert!(run(&sales(), vec![mixed, json!([{"action": "Abstain"}])]).abstained);
}

/// Dollars and euros in millions, a fraction beside a percentage, amounts per share; wages in thousands.
fn mixed() -> Graph {
    document(vec![
        source(
            "",
            &[
                &["(in millions)", "2016", "2015"],
                &["Net sales", "$ 120", "$ 100"],
                &["Sales abroad", "€ 40", "€ 30"],
                &["Gross margin rate", "0.45", "40 %"],
                &["Employees", "500", "0"],
                &["Net income per share", "$ 1.20", "$ 1.10"],
            ],
        ),
        source("", &[&["(in thousands)", "2016", "2015"], &["Wages", "$ 5,000", "$ 4,000"]]),
    ])
}

/// The answer to a question, where it holds.
fn holds(question: &str, cells: Value, operation: &str, answer: &str) -> Option<Answer> {
    let rounds = vec![answers(cells, operation, json!([answer])), json!([{"action": "Abstain"}])];
    let answer = run_about(&mixed(), &WalkSettings::default(), question, rounds);
    (!answer.abstained).then_some(answer)
}

#[test]
fn a_number_that_no_cell_bears_on_is_none() {
    let cell = || json!(["t0:r1c1"]);
    for (operation, answer) in [
        ("add(const_42, const_0)", "42"),
        ("divide(const_1000000, const_7)", "$142,857.14"),
        ("greater(const_2, const_1)", "yes"),
        ("multiply(120, const_0), greater(const_2, const_1)", "yes"),
        ("multiply(120, const_0)", "0"),
        ("divide(120, 120)", "1"),
        ("add(120, const_9)", "129"),
        ("multiply(const_6, const_7)", "42"),
    ] {
        assert!(holds("What?", cell(), operation, answer).is_none(), "{operation}");
    }
    // A program beside another answer.
    assert!(holds("What?", json!(["t0:r1c1", "t0:r1c2"]), "subtract(120, 100)", "120").is_none());
}

#[test]
fn the_words_of_an_answer_stand_in_what_is_cited_or_in_the_question() {
    let look = |question: &str, answer: &str| holds(question, json!(["t0:r1c1"]), "look up", answer);
    for answer in [
        "John Doe stole $ 120 and fled", "Net sales were great", "not 120 but 2016", "sales of 120 million horses",
        "one hundred twenty", "the 120", "120 of revenue",
    ] {
        assert_eq!(look("What?", answer).is_some(), answer == "the 120", "{answer}");
    }
    for answer in ["Net sales of $ 120 million in 2016", "120 of revenue", "net sale: 120"] {
        assert!(look("What revenue was there?", answer).is_some(), "{answer}");
    }
    // Words alone have to be cited; those of the question are no answer.
    assert!(look("Was it revenue or sales?", "revenue").is_none() && look("What?", "Net sales").is_some());
    let program = |question: &str, answer: &str| {
        holds(question, json!(["t0:r1c1", "t0:r1c2"]), "subtract(120, 100)", answer).is_some()
    };
    assert!(program("By how much did it grow?", "it did grow by 20") && !program("What?", "it exploded by 20"));
}

#[test]
fn unit_and_scale_of_an_answer_are_those_of_the_cell() {
    let look = |answer: &str| holds("What?", json!(["t0:r1c1"]), "look up", answer);
    for answer in ["120 %", "€ 120", "€ -120", "-120", "120 billion", "120 thousand", "$ 120,000", "12", "20", "€ 12 %"]
    {
        assert!(look(answer).is_none(), "{answer}");
    }
    for (answer, value, scale) in [
        ("120", "120", Some(Scale::Million)),
        ("$ 120", "120", Some(Scale::Million)),
        ("120 million dollars", "120", Some(Scale::Million)),
        ("0.12 billion", "0.12", Some(Scale::Billion)),
        ("$120,000,000", "120000000", None),
    ] {
        let found = look(answer).unwrap_or_else(|| panic!("{answer}"));
        let said = (found.value.as_deref(), found.unit, found.scale);
        assert_eq!(said, (Some(value), Some(Unit::Dollar), scale), "{answer}");
    }
    assert_eq!(look("120 million").unwrap().said(), "120 million");
    assert_eq!(look("120").unwrap().said(), "120 million");
    // The year of a header has neither.
    let year = look("2016").unwrap();
    assert_eq!((year.unit, year.scale, year.said().as_str()), (None, None, "2016"));
    // Amounts per share have no scale, whatever stands over the table.
    let share = |answer: &str| holds("What?", json!(["t0:r5c1"]), "look up", answer).is_some();
    assert!(share("$ 1.20") && !share("$ 1.20 million"));
    assert!(holds("What?", json!(["t0:r3c2"]), "look up", "40 %").is_some());
    assert!(holds("What?", json!(["t0:r4c1"]), "look up", "500 %").is_none());
}

#[test]
fn unit_and_scale_of_an_answer_are_those_of_the_result() {
    let two = || json!(["t0:r1c1", "t0:r1c2"]);
    for answer in ["20 %", "€ 20", "20 billion", "-20", "20 thousand"] {
        assert!(holds("What?", two(), "subtract(120, 100)", answer).is_none(), "{answer}");
    }
    let found = holds("What?", two(), "subtract(120, 100)", "20").unwrap();
    assert_eq!((found.unit, found.scale), (Some(Unit::Dollar), Some(Scale::Million)));
    assert_eq!(found.said(), "20 million");
    let found = holds("What?", two(), "subtract(120, 100)", "$20,000,000").unwrap();
    assert_eq!((found.value.as_deref(), found.said().as_str()), (Some("20000000"), "$20,000,000"));
    let wages = || json!(["t0:r1c1", "t1:r1c1"]);
    let found = holds("What?", wages(), "divide(5000, const_1000), add(120, #0)", "$ 125 million").unwrap();
    assert_eq!((found.value.as_deref(), found.scale), (Some("125"), Some(Scale::Million)));
    for (operation, answer) in [
        ("divide(5000, 120)", "4166.67%"),
        ("divide(5000, 120)", "41.67"),
        ("multiply(120, const_1), add(#0, 5000)", "5120"),
        ("divide(5000, const_1000), add(120, #0)", "125 billion"),
    ] {
        assert!(holds("What?", wages(), operation, answer).is_none(), "{operation}");
    }
    let share = holds("What?", wages(), "multiply(120, const_1000), divide(5000, #0)", "4.2 %").unwrap();
    assert_eq!((share.unit, share.scale), (Some(Unit::Percent), None));
    for (cells, operation, answer) in [
        (json!(["t0:r2c1", "t0:r1c1"]), "divide(40, 120)", "33.3%"),
        (json!(["t0:r2c1", "t0:r1c1"]), "multiply(120, const_1), add(#0, 40)", "160"),
        (json!(["t0:r3c1", "t0:r3c2"]), "subtract(0.45, 40%)", "0.05"),
        (json!(["t0:r3c1", "t0:r3c2"]), "multiply(0.45, const_1), subtract(#0, 40%)", "0.05"),
    ] {
        assert!(holds("What?", cells, operation, answer).is_none(), "{operation}");
    }
    let sum = holds("What?", two(), "table_sum(Net sales, none)", "220").unwrap();
    assert_eq!((sum.unit, sum.scale), (Some(Unit::Dollar), Some(Scale::Million)));
}
