//! The program `ask` with a language model that fails in the midst.

mod common;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabsegnet_test_support::{ChatServer, Step, completion, status, streamed};

use common::{TOTAL, orders};

const REPORT: &str = "tabsegnet/examples/report.json";
const QUESTION: &str = "What was long-term deferred revenue on June 30, 2009?";

/// `ask` with the model of a server, one attempt a call, and nothing of the caller's settings.
fn command(server: &ChatServer, folder: &Path, arguments: &[&str]) -> Command {
    let config = folder.join("ask.toml");
    std::fs::write(&config, "[llm]\nattempts = 1\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ask"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).args(arguments).arg("--config").arg(config);
    command.env("TABSEGNET_LLM_URL", server.base_url()).env("TABSEGNET_LLM_MODEL", "fake");
    command.env_remove("TABSEGNET_LLM_KEY");
    command
}

fn ask(server: &ChatServer, folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command(server, folder, arguments).output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    (status.code(), String::from_utf8(stdout).unwrap(), said)
}

/// A reply that looks for a text.
fn look() -> String {
    json!({"thought": "Where is it?", "actions": [{"action": "VisitNode", "reason": "", "node": "", "text": "revenue"}]})
        .to_string()
}

#[test]
fn a_stream_cut_after_a_paid_round_leaves_trace_and_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let server = ChatServer::start(|number, request| match number {
        0 => completion(request, &look()),
        _ => streamed(&["{\"thought\": \"Now".to_owned()], None),
    });
    let arguments = ["--document", REPORT, "--question", QUESTION, "--policy", "auto", "--format", "jsonl"];
    let (code, printed, said) = ask(&server, folder.path(), &arguments);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("q1: answered by learnt: ") && said.contains("ended before"), "{said}");
    let answer: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(answer["policy"], "learnt");
    // Eleven and five are the first reply's; the rest is what had come of the second.
    assert!(answer["tokens"]["prompt"].as_u64() > Some(11), "{printed}");
    let kinds: Vec<&str> =
        answer["trace"].as_array().unwrap().iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(kinds, ["start", "round", "end"]);
}

#[test]
fn answers_that_are_finished_are_printed_where_a_later_question_fails() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("questions.txt"), format!("{QUESTION}\nHow many quokkas were there?\n")).unwrap();
    let server = ChatServer::start(|_, request| match request.body["messages"].to_string().contains("quokkas") {
        true => status(400, "", "{\"error\": {\"message\": \"the request exceeds the available context size\"}}"),
        false => completion(request, &json!({"thought": "", "actions": [{"action": "Abstain"}]}).to_string()),
    });
    let (questions, output) = (at("questions.txt"), at("answers.json"));
    let arguments = ["--document", REPORT, "--questions", &questions, "--policy", "llm"];
    for format in ["json", "html", "jsonl", "table"] {
        let (code, printed, said) = ask(&server, folder.path(), &[&arguments[..], &["--format", format]].concat());
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("error: ") && said.contains("lower agent.prompt_tokens"), "{said}");
        assert!(printed.contains("long-term deferred revenue"), "{format}: {printed}");
    }
    let to_file = [&arguments[..], &["--format", "json", "--output", &output]].concat();
    let (code, printed, said) = ask(&server, folder.path(), &to_file);
    assert_eq!((code, printed.as_str()), (Some(1), ""), "{said}");
    // The file is whole or not there.
    assert!(!Path::new(&output).exists() && said.contains("answers.json.partial"), "{said}");
    let part: Vec<Value> = serde_json::from_slice(&std::fs::read(output + ".partial").unwrap()).unwrap();
    assert_eq!((part.len(), &part[0]["id"]), (1, &json!("q1")));
    // Where the first fails there is nothing to print.
    let first = ["--document", REPORT, "--question", "quokkas?", "--policy", "llm", "--format", "json"];
    let (code, printed, _) = ask(&server, folder.path(), &first);
    assert_eq!((code, printed.as_str()), (Some(1), ""));
}

#[test]
fn replies_that_cannot_be_used_leave_a_large_table_to_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let file = orders(folder.path());
    let arguments = ["--document", file.to_str().unwrap(), "--question", TOTAL, "--sql-cells", "20000"];
    let chatty = ChatServer::start(|_, request| completion(request, "I would rather talk about the weather."));
    for policy in ["llm", "auto"] {
        let wanted = ["--policy", policy, "--format", "jsonl"];
        let (code, printed, said) = ask(&chatty, folder.path(), &[&arguments[..], &wanted].concat());
        assert!(code == Some(0) && said.contains("q1: answered by SQL by rules, and by learnt"), "{said}");
        let answer: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!((&answer["policy"], &answer["abstained"]), (&json!("sql"), &json!(false)), "{answer}");
        assert!(answer["tokens"]["prompt"].as_u64() > Some(0), "{answer}");
    }
    // A server that refuses is an error of --policy llm alone.
    let refusing = ChatServer::start(|_, _| status(404, "", "no such model"));
    let (code, printed, said) = ask(&refusing, folder.path(), &[&arguments[..], &["--policy", "llm"]].concat());
    assert_eq!((code, printed.as_str()), (Some(1), ""), "{said}");
    let (code, _, said) = ask(&refusing, folder.path(), &[&arguments[..], &["--policy", "auto"]].concat());
    assert_eq!(code, Some(0), "{said}");
}

/// Ctrl-C while the model is silent: what happened up to then stands in the trace, line by line.
#[cfg(unix)]
#[test]
fn an_interrupted_walk_keeps_its_trace() {
    use std::os::unix::process::ExitStatusExt as _;

    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.jsonl");
    let server = ChatServer::start(|number, request| match number {
        0 => completion(request, &look()),
        _ => vec![Step::Wait(Duration::from_secs(5))],
    });
    let arguments =
        ["--document", REPORT, "--question", QUESTION, "--policy", "llm", "--trace", trace.to_str().unwrap()];
    let mut command = command(&server, folder.path(), &arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (begun, mut written) = (Instant::now(), String::new());
    while !written.contains("\"event\":\"round\"") {
        assert!(child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60), "{written}");
        std::thread::sleep(Duration::from_millis(2));
        written = std::fs::read_to_string(&trace).unwrap_or_default();
    }
    let sent = Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status().unwrap();
    assert!(sent.success());
    let interrupted = Instant::now();
    let ended = loop {
        match child.try_wait().unwrap() {
            Some(ended) => break ended,
            // Whoever runs the tests in the background may have it ignored.
            None if interrupted.elapsed() > Duration::from_secs(2) => {
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    assert!(matches!(ended.signal(), Some(2 | 9)), "{ended:?}");
    let written = std::fs::read_to_string(&trace).unwrap();
    let events: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(kinds, ["start", "round"]);
    assert_eq!(events[1]["thought"], "Where is it?");
}
