//! `ask` with other segmenters, a language model among them, with the nodes that one names, and the page of a large table.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tabsegnet_test_support::{ChatServer, Received, completion, status};

use common::{TOTAL, orders};

const REPORT: &str = "tabsegnet/examples/report.json";
const QUESTION: &str = "What was long-term deferred revenue on June 30, 2009?";

fn ask(url: Option<&str>, arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ask"));
    for (name, value) in
        [("TABSEGNET_LLM_URL", url), ("TABSEGNET_LLM_MODEL", url.map(|_| "fake")), ("TABSEGNET_LLM_KEY", None)]
    {
        command.env_remove(name);
        command.envs(value.map(|value| (name, value)));
    }
    command.current_dir(root).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn prompt(request: &Received) -> String {
    request.body["messages"][0]["content"].as_str().unwrap_or_default().to_owned()
}

/// Splits questions so, and has nothing to say to them.
fn splitter(reply: Value) -> ChatServer {
    ChatServer::start(move |_, request| {
        let splits = prompt(request).contains("split a question");
        let abstain = json!({"thought": "", "actions": [{"action": "Abstain", "explanation": "no"}]});
        completion(request, &if splits { reply.clone() } else { abstain }.to_string())
    })
}

const DOCUMENT: [&str; 6] = ["--document", REPORT, "--question", QUESTION, "--format", "jsonl"];

#[test]
fn another_segmenter_is_taken_and_said() {
    let rank = |name: &str| ask(None, &[&DOCUMENT[..], &["--segmenter", name, "--policy", "learnt"]].concat());
    for (name, notice, segments) in [
        (
            "none",
            "segments: by none; the ranker learnt from those by rules",
            "q1: segments: none; the question is its own",
        ),
        ("t5", "; the ranker learnt from those by rules", "q1: segments: \""),
    ] {
        let output = rank(name);
        let said = said(&output);
        assert!(output.status.success() && said.contains(notice) && said.contains(segments), "{said}");
    }
    // The same as ever is nothing to say, but which they are.
    let rules = said(&rank("rules"));
    assert!(!rules.contains("segments: by") && rules.contains("q1: segments: "), "{rules}");
    let wrong = rank("rule");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("expected rules, t5, none, llm or the folder of a T5"), "{}", said(&wrong));
}

#[test]
fn a_language_model_splits_the_question() {
    let server = splitter(json!({"segments": ["long-term deferred revenue", "June 30, 2009"]}));
    let arguments = [&DOCUMENT[..], &["--segmenter", "llm", "--policy", "learnt"]].concat();
    let output = ask(Some(&server.base_url()), &arguments);
    let told = said(&output);
    assert!(output.status.success() && told.contains("segments: by llm fake "), "{told}");
    assert!(told.contains("q1: segments: \"long-term deferred revenue\", \"June 30, 2009\""), "{told}");
    assert_eq!(server.received().len(), 1);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["policy"], answer["tokens"]["prompt"].as_u64()), (&"learnt".into(), Some(11)), "{answer}");
    // Beside a walk its tokens are part of the answer's.
    let both = ask(Some(&server.base_url()), &[&DOCUMENT[..], &["--segmenter", "llm", "--policy", "llm"]].concat());
    let both: Value = serde_json::from_slice(&both.stdout).unwrap();
    assert_eq!(both["tokens"]["prompt"].as_u64(), Some(22), "{both}");
}

#[test]
fn a_segmenter_that_fails_is_an_error_or_another_stands_in_and_that_is_said() {
    let by_model = |url: Option<&str>, policy: &str| {
        ask(url, &[&DOCUMENT[..], &["--segmenter", "llm", "--policy", policy]].concat())
    };
    let useless = splitter(json!({"segments": ["nothing of the question"]}));
    let output = by_model(Some(&useless.base_url()), "learnt");
    let told = said(&output);
    assert!(
        output.status.success() && told.contains("split by rules") && told.contains("no word of the question"),
        "{told}"
    );
    let refusing = ChatServer::start(|_, _| status(401, "", "{}"));
    let output = by_model(Some(&refusing.base_url()), "rules");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    assert!(
        said(&output).contains("no segments of") && said(&output).contains("set TABSEGNET_LLM_KEY"),
        "{}",
        said(&output)
    );
    let output = by_model(Some(&refusing.base_url()), "auto");
    let told = said(&output);
    assert!(
        output.status.success() && told.contains("split by rules") && told.contains("answered by learnt"),
        "{told}"
    );
    for policy in ["rules", "auto"] {
        let output = by_model(None, policy);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("--segmenter llm: no language model is set"), "{}", said(&output));
    }
}

#[test]
fn a_walk_begins_with_nodes_that_the_model_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("ask.toml"), "[agent]\nstart = \"llm\"\n").unwrap();
    let server = ChatServer::start(|_, request| {
        let retrieves = prompt(request).contains("find the places");
        let abstain = json!({"thought": "", "actions": [{"action": "Abstain", "explanation": "no"}]});
        let named = json!({"nodes": ["p1", "t0:r1c1", "t77:r0c0"]});
        completion(request, &if retrieves { named } else { abstain }.to_string())
    });
    let more = ["--config", &at("ask.toml"), "--policy", "llm"];
    let output = ask(Some(&server.base_url()), &[&DOCUMENT[..], &more].concat());
    assert!(output.status.success(), "{}", said(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let start = &answer["trace"][0];
    assert_eq!((&start["nodes"], &start["retrieved"]["unknown"]), (&json!(["p1", "t0:r1c1"]), &json!(1)), "{start}");
    assert_eq!(server.received().len(), 2);
    let whole = server.received()[0].body["messages"][1]["content"].to_string();
    assert!(whole.contains("p0 ") && whole.contains("t1:r1c1 "), "{whole}");
}

#[test]
fn a_page_shows_of_a_large_table_what_is_cited() {
    let folder = tempfile::tempdir().unwrap();
    let file = orders(folder.path());
    let arguments = ["--document", file.to_str().unwrap(), "--question", TOTAL, "--sql-cells", "20000"];
    let output = ask(None, &[&arguments[..], &["--format", "html", "--policy", "rules"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let html = String::from_utf8(output.stdout).unwrap();
    let expected: usize = (5400..6000).map(|row| row % 7).sum();
    for part in [
        &format!("<p class=\"said\" dir=\"auto\">{expected}</p>"),
        "sum(&quot;amount&quot;)",
        "… 5,398 rows are not shown",
        ">Amount<",
        " t0:r5401c",
        "<h4>Round 1</h4>",
    ] {
        assert!(html.contains(part), "{part} is not in the page");
    }
    assert!(html.len() < 300_000, "{} bytes", html.len());
    assert!(!html.contains("class=\"score\""), "nobody scored the cells");
}

#[test]
fn a_file_of_a_model_is_run_or_it_is_said_that_this_program_cannot() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("llm/tests/reference/gguf/random.gguf");
    let url = format!("gguf:{}", file.display());
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("ask.toml");
    std::fs::write(&config, "[llm]\nmax_tokens = 20\n").unwrap();
    let more = ["--policy", "auto", "--config", config.to_str().unwrap()];
    let output = ask(Some(&url), &[&DOCUMENT[..], &more].concat());
    let told = said(&output);
    if cfg!(feature = "gguf") || told.contains("policy: llm") {
        // The prompt is longer than what the small model reads: what was learnt answers.
        assert!(output.status.success() && told.contains("more than the 512 that the model takes"), "{told}");
    } else {
        assert_eq!(output.status.code(), Some(1));
        assert!(told.contains("build it with `cargo build --release --features gguf`"), "{told}");
    }
}
