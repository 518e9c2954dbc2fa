//! The whole job: train, measure, rank.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tabsegnet_tests::{Outcome, Work, files, native_lines, report};

const WEIGHTS: &str = "out/best/model.safetensors";

fn names(work: &Work, directory: &str) -> BTreeSet<String> {
    files(&work.path(directory)).keys().map(|name| name.display().to_string()).collect()
}

#[test]
fn a_training_leaves_checkpoints_metrics_and_a_report() {
    let work = Work::new();
    let run = work.train(&["--set", "evaluation.after_training=true", "--set", "evaluation.examples=2"]).ok();
    for checkpoint in ["out/best", "out/last"] {
        let expected = ["README.md", "config.toml", "manifest.json", "model.safetensors"].map(str::to_owned);
        assert_eq!(names(&work, checkpoint), expected.into());
    }
    let metrics = work.text("out/metrics.jsonl");
    let epochs: Vec<Value> = metrics.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(epochs.iter().map(|line| line["epoch"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    let report = ["qrels.trec", "report.html", "report.json", "report.md"];
    let runs = ["bm25", "dense", "tabsegnet-best", "tf-idf"].map(|method| format!("runs/{method}.trec"));
    assert_eq!(names(&work, "out/report"), report.map(str::to_owned).into_iter().chain(runs).collect());
    assert_eq!(
        names(&work, "out").iter().filter(|name| name.contains(".writing") || name.contains(".replaced")).count(),
        0
    );

    // Results and nothing else on stdout; plain lines on stderr.
    for part in
        ["checkpoint: out/best\n", "recall@10", "tabsegnet-best ", "bm25 ", "report: out/report/report.html\n", "rank "]
    {
        assert!(run.stdout.contains(part), "expected {part:?} in\n{}", run.stdout);
    }
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("rank ")).count(), 2);
    assert!(!run.stdout.contains("epoch 1/3"), "{}", run.stdout);
    for part in
        ["device: cpu", "prepare train: wrote", "encode dev: ", "epoch 1/3: train loss", "epoch 3/3: train loss"]
    {
        assert!(run.stderr.contains(part), "expected {part:?} in\n{}", run.stderr);
    }
    assert!(!run.stderr.contains(['\r', '\u{1b}']), "a bar where there is no terminal:\n{}", run.stderr);
}

#[test]
fn evaluate_measures_the_best_checkpoint_or_those_that_are_named() {
    let work = Work::trained();
    let run = work.evaluate(&[]).ok();
    assert!(run.stdout.contains("tabsegnet-best") && run.stdout.contains("out/report/report.html"), "{}", run.stdout);
    let methods = |report: &str| -> Vec<String> {
        let report = work.json(report);
        let methods = report["methods"].as_array().expect("methods").iter();
        methods.map(|method| method["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(methods("out/report/report.json"), ["tabsegnet-best", "bm25", "tf-idf", "dense"]);
    work.evaluate(&["--checkpoint", "out/last", "--checkpoint", "out/best", "--output", "both"]).ok();
    assert_eq!(methods("both/report.json"), ["tabsegnet-last", "tabsegnet-best", "bm25", "tf-idf", "dense"]);
    work.evaluate(&["--baselines", "--output", "lexical"]).ok();
    assert_eq!(methods("lexical/report.json"), ["bm25", "tf-idf", "dense"]);
}

#[test]
fn evaluate_measures_the_baselines_that_the_config_names() {
    let work = Work::new();
    let chosen = r#"evaluation.baselines=["rrf", "bm25+dense", "maxsim", "splade"]"#;
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/encoder/tests/reference/masked-bert");
    let model = format!("evaluation.splade={}", model.display());
    work.evaluate(&["--baselines", "--output", "report", "--set", chosen, "--set", &model]).ok();
    let report = work.json("report/report.json");
    let methods = report["methods"].as_array().expect("methods");
    let name = |method: &serde_json::Value| method["name"].as_str().expect("a name").to_owned();
    assert_eq!(methods.iter().map(name).collect::<Vec<_>>(), ["rrf", "bm25+dense", "maxsim", "splade"]);
    let sum = methods[1]["description"].as_str().expect("a description");
    assert!(sum.contains("for dense"), "the weight that was tuned is said: {sum}");

    let run = ["--baselines", "--set", chosen];
    work.evaluate(&run).fails(1, &["`evaluation.splade`"]);
    work.evaluate(&["--set", "evaluation.baselines=[\"bm52\"]"])
        .fails(2, &["unknown baseline \"bm52\"", "bm25, tf-idf, dense, maxsim, splade, rrf, bm25+dense, trees"]);
}

#[test]
fn trees_over_the_features_are_a_baseline_that_learns() {
    let work = Work::new();
    let run = ["--baselines", "--output", "report", "--set", r#"evaluation.baselines=["tf-idf", "trees"]"#];
    let with = |features: &[&str]| {
        let set = features.iter().flat_map(|feature| ["--set", feature]);
        work.evaluate(&[&run[..], &set.collect::<Vec<_>>()].concat())
    };
    with(&[]).fails(1, &["trees is over features, and [features] has none switched on"]);
    let features =
        ["features.words=true", "features.cosine=true", "features.table_relevance=true", "features.places=true"];
    with(&features).ok();
    let map = |method: usize| work.json("report/report.json")["methods"][method]["measures"][5]["mean"].as_f64();
    assert!(map(1).expect("a mean") > map(0).expect("a mean"), "what has learnt is no better: {:?}", (map(0), map(1)));
    let first = work.read("report/runs/trees.trec");
    with(&features).ok();
    assert!(first == work.read("report/runs/trees.trec"), "an equal run gives other scores");
}

#[test]
fn equal_runs_give_equal_bytes_whatever_the_threads() {
    let weights = |threads: &str, arguments: &[&str]| {
        let work = Work::new();
        Outcome::of(work.command("train", arguments).env("RAYON_NUM_THREADS", threads)).ok();
        (work.read(WEIGHTS), work.read("out/last/model.safetensors"))
    };
    let one = weights("1", &[]);
    assert!(one == weights("2", &[]), "two threads give other weights than one");
    assert!(one == weights("2", &[]), "an equal run gives other weights");
    assert!(one.0 != weights("2", &["--set", "task.seed=1"]).0, "another seed gives the same weights");
}

#[test]
fn a_finished_training_is_done_anew_alike() {
    let work = Work::trained();
    let before = work.read(WEIGHTS);
    work.train(&[]).ok();
    assert!(work.read(WEIGHTS) == before);
    let again = work.train(&["--resume"]).ok();
    assert!(work.read(WEIGHTS) == before && !again.stderr.contains("epoch 1/3"), "{}", again.stderr);
    work.train(&["--set", "task.seed=1"]).fails(1, &["out: holds a training with another config"]);
    assert!(work.read(WEIGHTS) == before);
}

#[test]
fn a_file_of_questions_is_ranked_in_every_form() {
    let work = Work::trained();
    work.write("dev.jsonl", native_lines());
    let infer = |format: &str, more: &[&str]| {
        let arguments = ["--dataset", "native", "--input", "dev.jsonl", "--format", format];
        work.infer(&[&arguments, more].concat()).ok().stdout
    };
    let questions: Vec<String> = (0..6).flat_map(|d| (0..3).map(move |q| format!("dev-{d:04}-{q}"))).collect();

    let json: Value = serde_json::from_str(&infer("json", &[])).expect("JSON");
    let lines: Vec<Value> =
        infer("jsonl", &[]).lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(json.as_array(), Some(&lines));
    let ids: Vec<&str> = lines.iter().filter_map(|ranking| ranking["question_id"].as_str()).collect();
    assert_eq!(ids, questions);
    for ranking in &lines {
        assert_eq!(ranking["nodes"].as_array().map(Vec::len), Some(10));
        assert!(ranking["question"].is_string() && ranking["document"].is_string(), "{ranking}");
    }

    let table = infer("table", &["--top-k", "3"]);
    assert_eq!(table.lines().filter(|line| line.starts_with("rank ")).count(), 18);
    assert_eq!(table.lines().filter(|line| line.starts_with("   3")).count(), 18);
    assert_eq!(table.lines().filter(|line| line.starts_with("   4")).count(), 0);
    assert!(infer("table", &["--top-k", "999"]).contains("* "), "no gold node has a star");

    let trec = infer("trec", &["--top-k", "7"]);
    assert_eq!(trec.lines().count(), 18 * 7);
    let whole: usize = lines.iter().filter_map(|ranking| ranking["nodes_in_document"].as_u64()).sum::<u64>() as usize;
    let all = infer("trec", &[]);
    assert_eq!(all.lines().count(), whole, "without --top-k a run holds every node");

    assert_eq!(infer("trec", &["--output", "out.trec"]), "");
    assert_eq!(work.text("out.trec"), all);
    assert_eq!(infer("json", &["--output", "out.json"]), "");
    assert_eq!(work.json("out.json"), json);
}

#[test]
fn infer_ranks_as_evaluate_measures() {
    let work = Work::trained();
    work.evaluate(&[]).ok();
    work.write("dev.jsonl", native_lines());
    work.infer(&["--dataset", "native", "--input", "dev.jsonl", "--format", "trec", "--output", "infer.trec"]).ok();
    let run = |file: &str| -> Vec<(String, String, f32)> {
        let text = work.text(file);
        let lines = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines.map(|f| (f[0].into(), f[2].into(), f[4].parse().expect("a score"))).collect()
    };
    let (infer, evaluate) = (run("infer.trec"), run("out/report/runs/tabsegnet-best.trec"));
    assert_eq!(infer.len(), evaluate.len());
    for (ours, theirs) in infer.iter().zip(&evaluate) {
        assert_eq!((&ours.0, &ours.1), (&theirs.0, &theirs.1), "another order");
        assert!((ours.2 - theirs.2).abs() <= 1e-6 * theirs.2.abs().max(1.0), "{ours:?} {theirs:?}");
    }
}

#[test]
fn one_question_gives_nodes_with_their_place_and_headers() {
    let work = Work::trained();
    work.write("report.json", report().to_string());
    let ask = ["--document", "report.json", "--question", "product revenue in 2017?", "--format", "json"];
    let ranking = |more: &[&str]| -> Value {
        serde_json::from_str(&work.infer(&[&ask, more].concat()).ok().stdout).expect("JSON")
    };
    let all = ranking(&["--top-k", "99"]);
    let nodes = all["nodes"].as_array().expect("nodes");
    // Two sentences, a caption, 3 column headers, the empty corner, 2 row headers, 4 cells.
    assert_eq!(Some(nodes.len() as u64), all["nodes_in_document"].as_u64());
    let node = |id: &str| nodes.iter().find(|node| node["id"] == id).unwrap_or_else(|| panic!("no {id} in {all:#}"));
    let cell = node("t0:r2c2");
    assert_eq!((&cell["kind"], &cell["text"]), (&"cell".into(), &"11".into()));
    assert_eq!((&cell["row_headers"], &cell["column_headers"]), (&"Products".into(), &"Year > 2017".into()));
    assert_eq!(cell["position"], serde_json::json!({"table": 0, "row": 2, "col": 2, "rowspan": 1, "colspan": 1}));
    assert_eq!(node("t0:h0c1")["position"]["colspan"], 2);
    let passage = node("p1");
    assert_eq!((&passage["kind"], &passage["text"]), (&"passage".into(), &"Costs fell.".into()));
    assert_eq!(passage["position"], serde_json::json!({"passage": 1}));
    assert!(passage.get("row_headers").is_none());
    let scores: Vec<f64> = nodes.iter().map(|node| node["score"].as_f64().expect("a score")).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_eq!(
        nodes.iter().map(|node| node["rank"].as_u64()).collect::<Option<Vec<_>>>(),
        Some((1..=nodes.len() as u64).collect())
    );
    let two = ranking(&["--top-k", "2"]);
    assert_eq!(two["nodes"].as_array().map(Vec::as_slice), Some(&nodes[..2]));
}

#[test]
fn graphs_can_be_exported() {
    let work = Work::trained();
    work.write("report.json", report().to_string());
    for (file, expected) in [("graph.graphml", "<graphml"), ("graph.dot", "digraph")] {
        work.infer(&["--document", "report.json", "--question", "revenue?", "--graph", file]).ok();
        assert!(work.text(file).contains(expected));
    }
}

#[test]
fn regression_nothing_that_is_read_is_overwritten_and_no_folder_made_without_a_word() {
    let work = Work::trained();
    work.write("report.json", report().to_string());
    let with = |more: &[&str]| work.infer(&[&["--document", "report.json", "--question", "revenue?"], more].concat());
    let one = "are one file, which would be overwritten";
    with(&["--output", "report.json"]).fails(2, &["--output report.json and --document report.json", one]);
    with(&["--output", "a", "--graph", "out/../a"]).fails(2, &["--graph out/../a and --output a", one]);
    with(&["--output", "out/best/config.toml"]).fails(2, &["is a file of --checkpoint out/best"]);
    with(&["--output", "none/a"]).fails(2, &["--output none/a: there is no folder none"]);
    with(&["--graph", "none/a.dot"]).fails(2, &["--graph none/a.dot: there is no folder none"]);
    let kept = report().to_string();
    assert_eq!(work.text("report.json"), kept);
    assert!(!work.path("none").exists() && !work.path("a").exists());
}

#[test]
fn two_trainings_at_once_may_share_a_cache() {
    let work = Work::new();
    let start = |output: &str| {
        let set = format!("output.directory={output}");
        work.command("train", &["--set", &set])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("train runs")
    };
    let children: Vec<_> = ["a", "b", "c", "d"].map(start).into();
    for child in children {
        Outcome::after(child).ok();
    }
    let weights: BTreeSet<Vec<u8>> =
        ["a", "b", "c", "d"].map(|output| work.read(&format!("{output}/best/model.safetensors"))).into();
    assert_eq!(weights.len(), 1);
}

/// Rust programs panic in `println!` then; `train` and `evaluate` did.
#[test]
fn regression_nobody_reading_stdout_is_success() {
    let work = Work::trained();
    work.write("dev.jsonl", native_lines());
    let infer = ["--checkpoint", "out/best", "--dataset", "native", "--input", "dev.jsonl", "--format", "trec"];
    for (program, arguments) in [
        ("infer", infer.as_slice()),
        ("train", &["--print-config"]),
        ("train", &["--prepare"]),
        ("train", &["--set", "evaluation.after_training=true", "--set", "evaluation.examples=1"]),
        ("evaluate", &["--output", "closed"]),
    ] {
        let mut child = work
            .command(program, arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        drop(child.stdout.take());
        Outcome::after(child).ok();
    }
    // What goes into files is written all the same.
    assert!(work.path("closed/report.html").is_file() && work.path("out/report/report.html").is_file());
}

/// Rust programs panic in `eprintln!` then; all of them did.
#[test]
fn regression_nobody_reading_stderr_ends_no_program() {
    let work = Work::trained();
    work.write("dev.jsonl", native_lines());
    work.write("report.json", report().to_string());
    work.write("sales.csv", "name,sold\npears,3\nplums,5\n");
    for (program, arguments, code) in [
        ("infer", ["--checkpoint", "out/best", "--document", "report.json", "--question", "revenue?"].as_slice(), 0),
        ("infer", &["--checkpoint", "out/best", "--document", "missing.json", "--question", "revenue?"], 1),
        ("train", &["--set", "evaluation.after_training=true"], 0),
        ("evaluate", &[], 0),
        ("query", &["--database", "sales.csv", "--sql", "SELECT name FROM sales WHERE sold = 5"], 0),
        ("query", &["--database", "sales.csv", "--sql", "SELECT colour FROM sales"], 3),
        ("index", &["--output", "corpus", "sales.csv"], 0),
        ("ask", &["--document", "missing.csv", "--question", "how many plums were sold?"], 1),
    ] {
        let mut child = work
            .command(program, arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        drop(child.stderr.take());
        let status = child.wait().expect("the program ends");
        assert_eq!(status.code(), Some(code), "{program} {arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn regression_a_full_disk_behind_stdout_is_an_error_and_no_panic() {
    let work = Work::trained();
    work.write("report.json", report().to_string());
    let infer = ["--checkpoint", "out/best", "--document", "report.json", "--question", "revenue?"];
    for (program, arguments) in [("infer", infer.as_slice()), ("train", &["--print-config"]), ("evaluate", &[])] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let child = work.command(program, arguments).stdout(full).stderr(Stdio::piped()).spawn().expect("it runs");
        Outcome::after(child).fails(1, &["stdout: could not write", "No space left"]);
    }
}
