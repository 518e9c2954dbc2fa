//! `evaluate` on answers of a language model, behind a server that is none.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tabsegnet_test_support::{ChatServer, completion, status};

/// Two pages with a table each and one question.
fn finqa(folder: &Path) {
    let record = |number: usize, question: &str| {
        json!({
            "id": format!("page-{number}"), "filename": format!("page-{number}"),
            "pre_text": [format!("Page {number} of the report .")], "post_text": ["Sales rose ."],
            "table": [["in millions", "2016", "2015"], ["net sales", "120", "100"], ["taxes", "7", "6"]],
            "qa": {"question": question, "program": "subtract(120, 100), divide(#0, 100)", "exe_ans": 0.2,
                   "gold_inds": {"table_1": "net sales"}},
        })
    };
    let records = json!([
        record(1, "what was the percentage change in net sales from 2015 to 2016 ?"),
        record(2, "by what percentage did net sales grow , if anybody knows ?"),
    ]);
    std::fs::write(folder.join("dev.json"), records.to_string()).unwrap();
    let config = "[task]\nkind = \"answers\"\n[data]\nkind = \"finqa\"\ndev = [\"dev.json\"]\ndistractors = 0\n\
                  [llm]\nmodel = \"fake\"\nattempts = 1\nprice_prompt = 1.0\nprice_completion = 2.0\n[answers]\npolicy = \"llm\"\n";
    std::fs::write(folder.join("answers.toml"), config).unwrap();
}

fn evaluate(folder: &Path, url: Option<&str>, more: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluate"));
    command
        .current_dir(root)
        .arg("--config")
        .arg(folder.join("answers.toml"))
        .arg("--output")
        .arg(folder.join("report"));
    command
        .args(["--checkpoint", "checkpoints/answers", "--set", &format!("data.root={}", folder.display())])
        .args(more);
    for name in ["TABSEGNET_LLM_URL", "TABSEGNET_LLM_MODEL", "TABSEGNET_LLM_KEY"] {
        command.env_remove(name);
    }
    command.envs(url.map(|url| ("TABSEGNET_LLM_URL", url))).output().unwrap()
}

/// The row of a policy in the n-th table that has it.
fn row<'t>(text: &'t str, policy: &str, number: usize) -> Vec<&'t str> {
    let start = format!("| {policy} |");
    let line = text.lines().filter(|line| line.starts_with(&start)).nth(number);
    let line = line.unwrap_or_else(|| panic!("no row {number} of {policy} in\n{text}"));
    line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn a_language_model_is_measured_beside_what_was_learnt() {
    let folder = tempfile::tempdir().unwrap();
    finqa(folder.path());
    let server = ChatServer::start(|_, request| {
        let messages = request.body["messages"].to_string();
        if messages.contains("You compare an answer") {
            return completion(request, &json!({"reason": "", "same": true}).to_string());
        }
        if messages.contains("if anybody knows") {
            return status(500, "", "out of order");
        }
        let program = "subtract(120, 100), divide(#0, 100)";
        let actions = json!([{"action": "AnswerQuestion", "cells": ["t0:r1c1", "t0:r1c2"], "operation": program,
                              "explanation": "", "answer": ["20 %"]}]);
        completion(request, &json!({"thought": "It is plain.", "actions": actions}).to_string())
    });
    let record = folder.path().join("replies.jsonl").display().to_string();
    let more = ["--set", "answers.judge=true", "--set", &format!("answers.record={record}")];
    let run = || {
        let output = evaluate(folder.path(), Some(&server.base_url()), &more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run();
    assert!(text.contains(&format!("llm: fake at {}, judged by fake", server.base_url())), "{text}");
    // Execution accuracy, program accuracy, answered: the question whose server fails is wrong.
    assert_eq!(row(&text, "llm", 0)[1..4], ["0.500", "0.500", "1"], "{text}");
    // The judge says so of one, and of the other nobody has to say it; tokens by the server's count, cost by the prices.
    let took = row(&text, "llm", 1);
    assert_eq!((took[1], took[4], took[5]), ("0.500 of 2", "6", "2"), "{text}");
    assert_eq!(took[6], "0.0000", "{text}");
    assert_eq!(row(&text, "learnt", 1)[4..6], ["0", "0"]);
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("report/answers.json")).unwrap()).unwrap();
    assert_eq!(report["finqa"]["llm"][0]["answer"], "20 %");
    // Again: what is recorded is not sent.
    let before = server.received().len();
    run();
    let sent = server.received().into_iter().skip(before);
    let again: Vec<String> = sent.map(|request| request.body["messages"].to_string()).collect();
    assert!(!again.is_empty() && again.iter().all(|messages| messages.contains("if anybody knows")), "{again:?}");
}

#[test]
fn what_would_fail_at_every_question_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    finqa(folder.path());
    let failed = |url: Option<&str>, more: &[&str], words: &str| {
        let output = evaluate(folder.path(), url, more);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
        assert!(said.contains(words) && !said.contains("panicked"), "expected {words:?} in:\n{said}");
    };
    failed(None, &[], "TABSEGNET_LLM_URL");
    let refusing = ChatServer::start(|_, _| status(401, "", "no"));
    failed(Some(&refusing.base_url()), &[], "set TABSEGNET_LLM_KEY");
    failed(Some("http://127.0.0.1:9/v1"), &[], "is a server running there");
    failed(None, &["--set", "answers.policy=learnt", "--set", "answers.judge=true"], "answers.judge goes with");
    failed(None, &["--set", "llm.api_key=sk-1"], "unknown key llm.api_key");
    failed(None, &["--set", "agent.rounds=0"], "agent.rounds is 0");
}

#[test]
fn some_questions_stand_for_all() {
    let folder = tempfile::tempdir().unwrap();
    finqa(folder.path());
    let output = evaluate(folder.path(), None, &["--set", "answers.policy=learnt", "--set", "answers.questions=1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 questions on 1 documents"), "{text}");
    assert!(text.contains("| coverage | risk | confidence from |"), "{text}");
    let curves = std::fs::read(folder.path().join("report/risk_coverage.json")).unwrap();
    let curves: Value = serde_json::from_slice(&curves).unwrap();
    for policy in ["learnt", "rules"] {
        let curve = &curves["finqa"][policy];
        let points = curve["points"].as_array().unwrap();
        // One question is covered whole or not at all.
        assert!(points.len() == if curve["area"].is_null() { 0 } else { 10 }, "{curve}");
        assert!(points.iter().all(|point| point["risk"] == curve["area"]), "{curve}");
    }
    assert_eq!(row(&text, "learnt from gold nodes", 0).len(), 7);
    let page = std::fs::read_to_string(folder.path().join("report/answers.html")).unwrap();
    for policy in ["learnt", "learnt from gold nodes", "rules"] {
        let area = &curves["finqa"][policy]["area"];
        let shown = area.as_f64().map_or_else(|| "–".to_owned(), |area| format!("{area:.3}"));
        assert!(page.contains(&format!("{policy}, AURC {shown}</li>")), "{policy}: {page}");
    }
}
