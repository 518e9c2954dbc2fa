//! Training a segmenter, and ranking with it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use tabsegnet_tests::{Files, Outcome, TINY, Work, files, interrupt, wait_for};

const SEGMENTER: &str = r#"[task]
kind = "segmenter"
[segmenter]
max_input_tokens = 64
max_output_tokens = 24
[segmenter_training]
train = ["train.jsonl"]
dev = ["dev.jsonl"]
epochs = 3
batch_size = 4
micro_batch = 2
learning_rate = 0.01
generate = 4
[segmenter_training.new]
vocabulary = 150
sentinels = 4
d_model = 16
d_kv = 4
heads = 2
d_ff = 24
layers = 1
decoder_layers = 1
[output]
directory = "out"
cache = "cache"
"#;

fn questions(from: usize, to: usize) -> String {
    (from..to)
        .map(|i| {
            let (what, year) = (["revenue", "net income", "cost of sales"][i % 3], 2000 + i % 20);
            let line = json!({
                "id": format!("q{i}"),
                "question": format!("What was {what} in {year} and in {}?", year + 1),
                "segments": [format!("{what} in {year}"), format!("{what} in {}", year + 1)],
                "nodes": [["t0:r1c1"], ["t0:r1c2"]],
            });
            format!("{line}\n")
        })
        .collect()
}

fn work() -> Work {
    let work = Work::with(SEGMENTER);
    work.write("train.jsonl", questions(0, 40));
    work.write("dev.jsonl", questions(40, 48));
    work
}

/// So that a step has random numbers of its own.
const DROPOUT: [&str; 2] = ["--set", "segmenter_training.dropout=0.2"];

fn complete_epochs(work: &Work) -> usize {
    std::fs::read_to_string(work.path("out/metrics.jsonl")).map_or(0, |text| text.lines().count())
}

/// All that must not depend on interruptions or threads.
fn results(work: &Work) -> Files {
    let mut results = BTreeMap::new();
    for directory in ["out/best", "out/last"] {
        for (name, content) in files(&work.path(directory)) {
            results.insert(PathBuf::from(directory).join(name), content);
        }
    }
    let mut metrics = String::new();
    for line in work.text("out/metrics.jsonl").lines() {
        let mut epoch: Value = serde_json::from_str(line).expect("a JSON line");
        epoch["seconds"] = Value::Null;
        metrics += &format!("{epoch}\n");
    }
    results.insert("out/metrics.jsonl".into(), metrics.into_bytes());
    results
}

#[track_caller]
fn assert_same(work: &Work, expected: &Files) {
    let found = results(work);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (file, content) in found {
        assert!(content == expected[&file], "{} is another than that of an uninterrupted training", file.display());
    }
}

/// Of a training with [`DROPOUT`] from start to end, one for all tests.
static UNINTERRUPTED: LazyLock<Files> = LazyLock::new(|| {
    let work = work();
    work.train(&DROPOUT).ok();
    results(&work)
});

/// Of a training without, one for all tests.
static TRAINED: LazyLock<Files> = LazyLock::new(|| work().after_training());

#[test]
fn a_segmenter_is_trained_and_a_ranker_uses_it() {
    let work = work();
    let trained = work.train(&[]).ok();
    assert_eq!(trained.stdout, "segmenter: out/best\n");
    let epochs: Vec<Value> =
        work.text("out/metrics.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(epochs.len(), 3);
    assert!(epochs[2]["dev_loss"].as_f64() < epochs[0]["dev_loss"].as_f64(), "{epochs:?}");
    assert!(epochs[2]["segments"]["wanted"] == 2.0, "{epochs:?}");
    let manifest = work.json("out/best/manifest.json");
    assert_eq!((&manifest["kind"], &manifest["format_version"]), (&json!("segmenter"), &json!(1)));

    work.write("config.toml", TINY.replace("directory = \"out\"", "directory = \"ranker\""));
    let with =
        ["--set", "segmenter.kind=t5", "--set", "segmenter.model=out/best", "--set", "segmenter.max_output_tokens=16"];
    work.train(&with).ok();
    work.write("report.json", tabsegnet_tests::report().to_string());
    let ask = |work: &Work| {
        let mut infer =
            work.command("infer", &["--checkpoint", "ranker/best", "--document", "report.json", "--format", "json"]);
        Outcome::of(infer.args(["--question", "What was Revenue in 2018 and in 2017?"]))
    };
    let ranked: Value = serde_json::from_str(&ask(&work).ok().stdout).expect("JSON");
    assert!(ranked["segments"].as_array().is_some_and(|segments| !segments.is_empty()), "{ranked}");
    // Another model in its place is noticed.
    let prompt = work.text("out/best/segmenter.json").replace("Segments: ", "Parts: ");
    work.write("out/best/segmenter.json", prompt);
    ask(&work).fails(1, &["ranker/best: was trained with the segmenter"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_number_of_threads() {
    let work = work();
    let mut one = work.command("train", &DROPOUT);
    Outcome::of(one.env("RAYON_NUM_THREADS", "1")).ok();
    assert_same(&work, &UNINTERRUPTED);
    let other = self::work();
    other.train(&["--set", "task.seed=1", DROPOUT[0], DROPOUT[1]]).ok();
    assert!(results(&other) != *UNINTERRUPTED);
}

#[test]
fn ctrl_c_and_resume_end_alike() {
    let work = work();
    let mut child = work.start(&DROPOUT);
    wait_for(&mut child, || work.path("out/.lock").exists());
    interrupt(&child);
    let stopped = Outcome::after(child);
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("--resume goes on"), "{}", stopped.stderr);
    work.train(&DROPOUT).fails(1, &["out/state: a training was interrupted here; go on with --resume"]);
    work.train(&["--resume"]).fails(1, &["out/state: was made with another config"]);
    work.train(&[DROPOUT[0], DROPOUT[1], "--resume"]).ok();
    assert_same(&work, &UNINTERRUPTED);
}

#[test]
fn kill_9_at_any_moment_and_resume_end_alike() {
    let work = work();
    for kill in 0..6 {
        let resume = work.path("out/state").exists();
        let before = complete_epochs(&work);
        let arguments = [DROPOUT[0], DROPOUT[1], "--resume"];
        let mut child = work.start(if resume { &arguments } else { &DROPOUT });
        match kill % 2 {
            0 => wait_for(&mut child, || complete_epochs(&work) > before),
            _ => wait_for(&mut child, || work.path("out/.lock").exists()),
        }
        sleep(Duration::from_micros(1300 * (kill * 7) % 30_000));
        child.kill().expect("it can be killed");
        Outcome::after(child);
    }
    let resume = work.path("out/state").exists();
    let arguments = [DROPOUT[0], DROPOUT[1], "--resume"];
    work.train(if resume { &arguments } else { &DROPOUT }).ok();
    assert_same(&work, &UNINTERRUPTED);
}

#[test]
fn what_cannot_be_trained_on_is_named() {
    let work = work();
    work.write("train.jsonl", "{\"question\": \"q\", \"segments\": [\"a\"]}\n{\"question\": \"q\"}\n");
    work.train(&[]).fails(1, &["train.jsonl, line 2: missing field `segments`"]);
    work.train(&["--set", "segmenter_training.train=[]"])
        .fails(2, &["segmenter_training.train names no file, and [data] gives no train part", "data.train"]);
    work.write("train.jsonl", questions(0, 40));
    work.train(&["--set", "segmenter_training.model=no/such/model"]).fails(
        2,
        &["no/such/model: there is no such directory; give `segmenter_training.model` the directory of a T5"],
    );
    work.train(&["--set", "segmenter_training.new.vocabulary=10"]).fails(1, &["expected a vocabulary of at least"]);
    work.train(&["--set", "segmenter_training.warm_up=1.0"]).fails(2, &["segmenter_training.warm_up is 1"]);
    work.train(&["--prepare"]).fails(1, &["need no preparing"]);
}

/// Nobody listens at that address.
#[test]
fn a_hub_that_does_not_answer_is_named_with_the_way_out() {
    let work = work();
    let mut train = work.command("train", &["--set", "segmenter_training.model=example/small-t5"]);
    train.env("HF_ENDPOINT", "http://127.0.0.1:9").env("HF_HOME", work.path("hub")).env_remove("HF_HUB_CACHE");
    train.env_remove("HF_HUB_OFFLINE").env("NO_PROXY", "127.0.0.1");
    Outcome::of(&mut train).fails(
        1,
        &[
            "example/small-t5 (revision main)",
            "config.json",
            "http://127.0.0.1:9",
            "give `segmenter_training.model` its directory",
        ],
    );
}

#[test]
fn a_trained_model_can_be_trained_on_and_stored_in_half_precision() {
    let work = Work::of(&TRAINED);
    let whole = work.read("out/best/model.safetensors").len();
    work.copy("out/best", "start");
    let on = [
        "--set", "segmenter_training.model=start", "--set", "output.directory=again", "--set",
        "segmenter_training.store=f16",
    ];
    work.train(&on).ok();
    let half = work.read("again/best/model.safetensors").len();
    assert!(half < whole * 3 / 5, "{half} of {whole} bytes");
    assert_eq!(work.text("again/best/tokenizer.json"), work.text("start/tokenizer.json"));
    assert_eq!(work.text("again/best/segmenter.json"), work.text("start/segmenter.json"));
}

/// Without files the questions of the data set are trained on; what they were can be trained on again.
#[test]
fn a_segmenter_is_trained_on_a_data_set() {
    let work = Work::with(&format!(
        "{}\n[data]\nkind = \"synthetic\"\n[data.synthetic]\ntrain_documents = 12\ndev_documents = 3\n",
        SEGMENTER.replace("train = [\"train.jsonl\"]\ndev = [\"dev.jsonl\"]\n", "")
    ));
    let trained = work.train(&[]).ok();
    assert!(
        trained.stderr.contains("0 without segments left out; lines in out/segments/train.jsonl"),
        "{}",
        trained.stderr
    );
    let lines: Vec<Value> =
        work.text("out/segments/train.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.len() >= 12, "{lines:?}");
    for line in &lines {
        let count = |key: &str| line[key].as_array().map_or(0, Vec::len);
        assert!(count("segments") > 0 && count("segments") == count("nodes"), "{line}");
    }
    work.copy("out/segments", "lines");
    let files = [
        "--set",
        "segmenter_training.train=[\"lines/train.jsonl\"]",
        "--set",
        "segmenter_training.dev=[\"lines/dev.jsonl\"]",
        "--set",
        "output.directory=again",
    ];
    work.train(&files).ok();
    assert!(work.read("again/best/model.safetensors") == work.read("out/best/model.safetensors"));
}

/// A segmenter of generated reports with a stage of generated questions before the labelled ones.
fn with_generated_questions() -> Work {
    let settings = "[segmenter_training]\ngenerated = 40\ngenerated_epochs = 2\ngenerated_by_rules = true\nrenamed = true\nconcatenated = true\nchoose = \"token_f1\"\n";
    Work::with(&format!(
        "{}\n[data]\nkind = \"synthetic\"\n[data.synthetic]\ntrain_documents = 12\ndev_documents = 3\n",
        SEGMENTER
            .replace("train = [\"train.jsonl\"]\ndev = [\"dev.jsonl\"]\n", "")
            .replace("[segmenter_training]\n", settings)
            .replace(
                "vocabulary = 150\n",
                "vocabulary = 200\nlower_case = true\npointers = true\nseparator = \"|\"\nprompt = \"\"\n"
            )
    ))
}

#[test]
fn generated_questions_come_first_and_a_resumed_training_repeats_them() {
    let work = with_generated_questions();
    work.train(&[]).ok();
    let expected = results(&work);
    let stages: Vec<Value> = work
        .text("out/metrics.jsonl")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["stage"].take())
        .collect();
    assert_eq!(stages, ["generated", "generated", "segments", "segments", "segments"]);
    assert_eq!(work.json("out/best/segmenter.json"), json!({"prefix": "", "separator": "|", "pointers": true}));

    let work = with_generated_questions();
    for epochs in [0, 1, 2] {
        let resume: &[&str] = if work.path("out/state").exists() { &["--resume"] } else { &[] };
        let mut child = work.start(resume);
        wait_for(&mut child, || work.path("out/.lock").exists() && complete_epochs(&work) >= epochs);
        child.kill().expect("it can be killed");
        Outcome::after(child);
    }
    let resume: &[&str] = if work.path("out/state").exists() { &["--resume"] } else { &[] };
    work.train(resume).ok();
    assert_same(&work, &expected);
}

#[test]
fn generated_questions_need_tables() {
    let work = work();
    work.train(&["--set", "segmenter_training.generated=10"]).fails(
        2,
        &[
            "segmenter_training.generated: questions are generated from the tables of [data]'s training part",
            "data.train",
        ],
    );
    work.write("d.jsonl", json!({"id": "d", "blocks": [{"passage": "No table."}], "questions": []}).to_string());
    let native = ["--set", "data.kind=native", "--set", "data.train=[\"d.jsonl\"]"];
    work.train(&[&native[..], &["--set", "segmenter_training.generated=10"]].concat())
        .fails(1, &["no table of [data]'s training part has a row with a name"]);
    work.train(&["--set", "segmenter_training.new.lower_case=true"])
        .fails(2, &["segmenter_training.new.separator is \"SEP\"", "a word in lower case, such as \"|\""]);
    work.train(&["--set", "segmenter_training.new.separator=a b"]).fails(2, &["new.separator is \"a b\""]);
    work.train(&["--set", "segmenter_training.choose=token_f1", "--set", "segmenter_training.generate=0"])
        .fails(2, &["segmenter_training.generate is 0", "token_f1"]);
    work.train(&["--set", "segmenter_training.generated_epochs=0"])
        .fails(2, &["segmenter_training.generated_epochs is 0"]);
    work.train(&["--set", "segmenter_training.renamed=true"])
        .fails(2, &["segmenter_training.generated is 0", "renamed"]);
    work.train(&["--set", "segmenter_training.generated=10", "--set", "segmenter_training.concatenated=true"])
        .fails(2, &["segmenter_training.generated_by_rules is false", "concatenated"]);
    work.train(&["--set", "segmenter_training.rules_from=1.5"]).fails(2, &["segmenter_training.rules_from is 1.5"]);
}

#[test]
fn a_data_set_without_segments_cannot_be_trained_on() {
    let work = Work::with(&format!(
        "{}\n[data]\nkind = \"native\"\ntrain = [\"d.jsonl\"]\ndev = [\"d.jsonl\"]\n",
        SEGMENTER.replace("train = [\"train.jsonl\"]\ndev = [\"dev.jsonl\"]\n", "")
    ));
    work.write("d.jsonl", labelled(json!([])).to_string());
    work.train(&[]).fails(1, &["no question of the train part has segments"]);
}

/// A document with two questions, the first with the given segments.
fn labelled(segments: Value) -> Value {
    json!({
        "id": "r",
        "blocks": [{"table": {"header_rows": 1, "header_cols": 1, "rows": [["", "2018", "2017"], ["Revenue", "5", "3"]]}}],
        "questions": [
            {"id": "a", "question": "Revenue in 2018 and 2017?", "gold": ["t0:r1c1", "t0:r1c2"], "segments": segments},
            {"id": "b", "question": "Revenue in 2017?", "gold": ["t0:r1c2"]},
        ],
    })
}

#[test]
fn given_segments_are_for_measuring_only() {
    let work = Work::new();
    let segments = json!([
        {"text": "Revenue 2018", "nodes": ["t0:r1c1"]},
        {"text": "Revenue 2017", "nodes": ["t0:r1c2"]},
    ]);
    work.write("d.jsonl", labelled(segments).to_string());
    work.write("report.json", tabsegnet_tests::report().to_string());
    let given = ["--set", "segmenter.kind=given", "--set", "data.kind=native", "--set", "data.train=[\"d.jsonl\"]"];
    let given = [&given[..], &["--set", "data.dev=[\"d.jsonl\"]"]].concat();
    let own = "an upper bound; 1 of 2 questions have none and are their own";
    let trained = work.train(&given).ok();
    assert!(trained.stderr.contains(own), "{}", trained.stderr);
    let measured = work.evaluate(&given).ok();
    assert!(measured.stderr.contains(own), "{}", measured.stderr);
    let ranked = work.infer(&["--dataset", "native", "--input", "d.jsonl", "--format", "jsonl"]).ok();
    assert!(ranked.stderr.contains(own), "{}", ranked.stderr);
    let first: Value = serde_json::from_str(ranked.stdout.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["segments"], json!(["Revenue 2018", "Revenue 2017"]));
    work.infer(&["--document", "report.json", "--question", "What was Revenue in 2018?"])
        .fails(1, &["out/best: takes no questions", "an upper bound for measurement only", "segmenter.kind"]);
}

#[test]
fn a_config_without_a_segmenter_gets_the_rules() {
    let work = Work::trained();
    work.write("report.json", tabsegnet_tests::report().to_string());
    let question = ["--document", "report.json", "--question", "How much did Revenue change from 2017 to 2018?"];
    let ranked = work.infer(&[&question[..], &["--format", "json"]].concat()).ok();
    let ranked: Value = serde_json::from_str(&ranked.stdout).expect("JSON");
    assert_eq!(ranked["segments"], json!(["Revenue 2017", "Revenue 2018"]));
}
