//! The program `ask` on the example report.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const REPORT: &str = "tabsegnet/examples/report.json";
const QUESTION: &str = "What was long-term deferred revenue on June 30, 2009?";

fn ask(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Command::new(env!("CARGO_BIN_EXE_ask")).current_dir(root).args(arguments).output().unwrap()
}

#[track_caller]
fn failed(arguments: &[&str], code: i32, message: &str) {
    let output = ask(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(code), &b""[..]), "{said}");
    assert!(said.contains(message) && !said.contains("panicked"), "expected {message:?} in:\n{said}");
}

#[test]
fn a_line_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("questions.jsonl");
    let lines = format!(
        "{{\"id\": \"a\", \"question\": \"{QUESTION}\", \"kind\": \"lookup\"}}\nHow many horses did the king own?\n"
    );
    std::fs::write(&file, lines).unwrap();
    let output = ask(&["--document", REPORT, "--questions", file.to_str().unwrap(), "--format", "jsonl"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("policy: rules; no language model is set"), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    for answer in &answers {
        for key in ["id", "answer", "abstained", "confidence", "program", "citations", "checks", "policy"] {
            assert!(answer.get(key).is_some(), "{key} of {answer}");
        }
    }
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&Value::from("a"), &Value::from("q2")));
    assert!(answers[1]["abstained"] == true || answers[1]["citations"][0]["node"].is_string());
}

#[test]
fn every_format_prints() {
    for format in ["table", "json", "jsonl"] {
        let arguments = ["--document", REPORT, "--question", QUESTION, "--policy", "rules", "--format", format];
        let (first, second) = (ask(&arguments), ask(&arguments));
        assert!(first.status.success() && !first.stdout.is_empty());
        assert_eq!(first.stdout, second.stdout);
    }
}

#[test]
fn bad_input_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    failed(&["--document", REPORT], 2, "--question");
    failed(&["--document", REPORT, "--question", QUESTION, "--policy", "oracle"], 2, "oracle");
    failed(&["--document", "none.json", "--question", QUESTION], 1, "none.json");
    failed(&["--checkpoint", "none", "--document", REPORT, "--question", QUESTION], 1, "none");
    failed(&["--document", REPORT, "--question", " "], 1, "the question is blank");
    failed(&["--document", REPORT, "--questions", &at("empty", "")], 1, "the file is empty");
    failed(
        &["--document", REPORT, "--questions", &at("broken", "{\"id\": 1")],
        1,
        "broken: line 1: expected a question",
    );
    let twice = "{\"id\": \"a\", \"question\": \"x?\"}\n{\"id\": \"a\", \"question\": \"y?\"}";
    failed(&["--document", REPORT, "--questions", &at("twice", twice)], 1, "that of an earlier one");
    failed(&["--document", &at("broken.json", "{"), "--question", QUESTION], 1, "broken.json");
}
