//! `evaluate` with a language model as retriever and as segmenter, behind a server that is none.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tabsegnet_test_support::{ChatServer, Received, completion, status};

/// Two documents with a table and a question each; the gold is the first row's first cell.
fn data(folder: &Path) {
    let line = |id: &str, question: &str| {
        let rows = json!([["", "2016", "2015"], ["net sales", "120", "100"], ["taxes", "7", "6"]]);
        json!({
            "id": id,
            "blocks": [{"passage": "Sales rose."}, {"table": {"caption": "Results", "header_rows": 1, "header_cols": 1, "rows": rows}}],
            "questions": [{"id": format!("{id}-1"), "question": question, "gold": ["t0:r1c1"]}],
        })
        .to_string()
    };
    let lines = [line("a", "what were net sales in 2016?"), line("b", "net sales of 2016 and of 2015?")].join("\n");
    std::fs::write(folder.join("dev.jsonl"), lines).unwrap();
    let config = format!(
        "[task]\nkind = \"ranker\"\n[data]\nkind = \"native\"\nroot = {:?}\ntrain = [\"dev.jsonl\"]\ndev = [\"dev.jsonl\"]\n[llm]\n\
         model = \"fake\"\nattempts = 1\n[evaluation]\nresamples = 10\nrounds = 10\nbaselines = [\"bm25\", \"llm\"]\n[output]\n\
         directory = {:?}\ncache = {:?}\n",
        folder,
        folder.join("run"),
        folder.join("cache"),
    );
    std::fs::write(folder.join("ranker.toml"), config).unwrap();
}

fn evaluate(folder: &Path, url: Option<&str>, more: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluate"));
    command.current_dir(root).arg("--config").arg(folder.join("ranker.toml")).args(["--baselines", "--device", "cpu"]);
    command.arg("--output").arg(folder.join("report")).args(more);
    for name in ["TABSEGNET_LLM_URL", "TABSEGNET_LLM_MODEL", "TABSEGNET_LLM_KEY"] {
        command.env_remove(name);
    }
    command.envs(url.map(|url| ("TABSEGNET_LLM_URL", url))).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn user(request: &Received) -> &str {
    request.body["messages"][1]["content"].as_str().unwrap_or_default()
}

#[test]
fn a_model_that_names_nodes_is_measured_beside_bm25() {
    let folder = tempfile::tempdir().unwrap();
    data(folder.path());
    // The second question's replies cannot be used.
    let server = ChatServer::start(|_, request| match user(request).contains("2016 and of") {
        true => completion(request, "{\"nodes\": \"all\"}"),
        false => completion(request, "{\"nodes\": [\"t0:r1c1\", \"t5:r0c0\"]}"),
    });
    let record = folder.path().join("replies.jsonl");
    let record = format!("evaluation.record={}", record.display());
    let output = evaluate(folder.path(), Some(&server.base_url()), &["--set", &record]);
    assert!(output.status.success(), "{}", told(&output));
    let expected = "2 questions, 1 nodes named, 1 ids that no document has left out, 1 questions failed";
    assert!(told(&output).contains(expected), "{}", told(&output));
    let report = std::fs::read_to_string(folder.path().join("report/report.json")).unwrap();
    assert!(report.contains(expected) && report.contains("reads the document and names nodes"), "{report}");
    let run = std::fs::read_to_string(folder.path().join("report/runs/llm.trec")).unwrap();
    assert!(run.contains("a-1 Q0 t0:r1c1 1 "), "{run}");
    assert!(run.contains("b-1 Q0 p0 1 "), "what is not named follows as the document has it: {run}");
    // Again without the server: known replies come from the record. The failed one's too.
    drop(server);
    let gone = evaluate(folder.path(), Some("http://127.0.0.1:9/v1"), &["--set", &record]);
    assert!(gone.status.success() && told(&gone).contains(expected), "{}", told(&gone));
}

#[test]
fn a_refused_prompt_is_one_failed_question_and_all_refused_are_no_measurement() {
    let folder = tempfile::tempdir().unwrap();
    data(folder.path());
    let too_long = || status(400, "", "{\"error\": {\"message\": \"the prompt is longer than the context length\"}}");
    for refused in ["in 2016?", "2016 and of"] {
        let server = ChatServer::start(move |_, request| match user(request).contains(refused) {
            true => too_long(),
            false => completion(request, "{\"nodes\": [\"t0:r1c1\"]}"),
        });
        let output = evaluate(folder.path(), Some(&server.base_url()), &[]);
        assert!(output.status.success(), "{refused}: {}", told(&output));
        let report = std::fs::read_to_string(folder.path().join("report/report.json")).unwrap();
        assert!(report.contains("2 questions, 1 nodes named, ") && report.contains("1 questions failed"), "{report}");
        assert!(report.contains("the prompt is longer than the context length"), "{report}");
    }
    let refusing = ChatServer::start(move |_, _| too_long());
    let output = evaluate(folder.path(), Some(&refusing.base_url()), &[]);
    assert_eq!((output.status.code(), refusing.received().len()), (Some(1), 2), "{}", told(&output));
    assert!(told(&output).contains("all 2 questions failed, the first: "), "{}", told(&output));
    // A model that the server does not have is requested once.
    let without = ChatServer::start(|_, _| status(404, "", "no such model"));
    let output = evaluate(folder.path(), Some(&without.base_url()), &[]);
    assert_eq!((output.status.code(), without.received().len()), (Some(1), 1), "{}", told(&output));
}

#[test]
fn a_model_splits_questions_and_what_fails_everywhere_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    data(folder.path());
    let bm25 = ["--set", "evaluation.baselines=[\"bm25\"]"];
    let server = ChatServer::start(|_, request| completion(request, "{\"segments\": [\"net sales 2016\"]}"));
    let output = evaluate(folder.path(), Some(&server.base_url()), &[&bm25[..], &["--segmenter", "llm"]].concat());
    assert!(output.status.success() && told(&output).contains("segments: by llm fake "), "{}", told(&output));
    assert_eq!(server.received().len(), 2);
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("report/report.json")).unwrap()).unwrap();
    assert!(report.to_string().contains("not that of the training"), "{report}");
    for (url, more, code, words) in [
        (None, &["--segmenter", "llm"][..], 2, "--segmenter llm: no language model is set"),
        (None, &[], 2, "evaluation.baselines: no language model is set"),
        (None, &["--segmenter", "rule"], 2, "expected rules, t5, none or the folder of a T5"),
        (None, &["--set", "evaluation.baselines=[\"gpt\"]"], 2, "unknown baseline \"gpt\""),
    ] {
        let output = evaluate(folder.path(), url, more);
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
        assert!(told(&output).contains(words), "{words:?} is not in {}", told(&output));
    }
    let refusing = ChatServer::start(|_, _| status(401, "", "{}"));
    let output = evaluate(folder.path(), Some(&refusing.base_url()), &[]);
    assert_eq!((output.status.code(), refusing.received().len()), (Some(1), 1));
    assert!(told(&output).contains("set TABSEGNET_LLM_KEY"), "{}", told(&output));
}
