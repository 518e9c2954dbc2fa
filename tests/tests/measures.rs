//! Figures against other implementations and on real data.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tabsegnet_test_support::{path_in, python_with_trec_eval};
use tabsegnet_tests::{Outcome, TINY, Work};

/// Means over the questions of what trec_eval computes from the files that `evaluate` wrote.
fn trec_eval(python: &str, run: &Path, qrels: &Path) -> BTreeMap<String, f64> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../evaluation/report/tests/check_trec.py");
    let output = Outcome::of(Command::new(python).args([script, "figures"]).args([run, qrels])).ok();
    let figures: BTreeMap<String, BTreeMap<String, f64>> = serde_json::from_str(&output.stdout).expect("JSON");
    let mut means = BTreeMap::new();
    for measures in figures.values() {
        for (measure, value) in measures {
            *means.entry(measure.clone()).or_default() += value / figures.len() as f64;
        }
    }
    means
}

#[test]
fn reported_figures_are_those_of_trec_eval_on_the_written_files() {
    let test = "reported_figures_are_those_of_trec_eval_on_the_written_files";
    let Some(python) = python_with_trec_eval(test) else { return };
    let work = Work::new();
    work.train(&["--set", "evaluation.after_training=true"]).ok();
    let report = work.json("out/report/report.json");
    let methods = report["methods"].as_array().expect("methods");
    assert_eq!(methods.len(), 4);
    for method in methods {
        let name = method["name"].as_str().expect("a name");
        let run = work.path(&format!("out/report/runs/{name}.trec"));
        let theirs = trec_eval(&python, &run, &work.path("out/report/qrels.trec"));
        let measures = method["measures"].as_array().expect("measures");
        assert_eq!(measures.len(), theirs.len());
        for measure in measures {
            let ours = measure["mean"].as_f64().expect("a figure");
            let measure = measure["measure"].as_str().expect("a measure");
            let theirs = match measure {
                "MAP" => theirs["map"],
                "MRR" => theirs["recip_rank"],
                "nDCG@10" => theirs["ndcg_cut_10"],
                recall => theirs[&recall.replace('@', "_")],
            };
            assert!((ours - theirs).abs() < 1e-9, "{name} {measure}: {ours}, trec_eval {theirs}");
        }
    }
}

#[test]
fn finqa_is_read_whole_once_and_bm25_finds_what_it_should() {
    let test = "finqa_is_read_whole_once_and_bm25_finds_what_it_should";
    let Some(folder) = path_in("TABSEGNET_FINQA", test, "the folder with FinQA's train.json and dev.json") else {
        return;
    };
    assert!(folder.join("dev.json").is_file(), "TABSEGNET_FINQA={} has no dev.json", folder.display());
    let (_, settings) = TINY.split_once("[model]").expect("a section");
    let work = Work::with(&format!(
        "[data]\nkind = \"finqa\"\nroot = {:?}\ntrain = [\"train.json\"]\ndev = [\"dev.json\"]\n[model]{settings}",
        folder.display().to_string()
    ));
    let questions = |stdout: &str| -> Vec<usize> {
        let lines = stdout.lines().filter_map(|line| line.strip_prefix("questions "));
        lines.map(|line| line.split_whitespace().next().unwrap().parse().expect("a number")).collect()
    };
    let records = |name: &str| -> usize {
        let text = std::fs::read(folder.join(name)).expect("a file");
        serde_json::from_slice::<Vec<Value>>(&text).expect("a list").len()
    };
    let first = work.train(&["--prepare"]).ok();
    let [train, dev] = questions(&first.stdout)[..] else { panic!("{}", first.stdout) };
    for (questions, records) in [(train, records("train.json")), (dev, records("dev.json"))] {
        assert!(questions <= records && questions * 100 >= records * 95, "{questions} questions of {records} records");
    }
    assert!(
        first.stderr.contains("prepare train: wrote") && first.stderr.contains("prepare dev: wrote"),
        "{}",
        first.stderr
    );
    let second = work.train(&["--prepare"]).ok();
    assert!(
        second.stderr.contains("prepare train: read") && second.stderr.contains("prepare dev: read"),
        "{}",
        second.stderr
    );
    assert_eq!(first.stdout, second.stdout);

    work.evaluate(&["--baselines", "--output", "report"]).ok();
    let report = work.json("report/report.json");
    let methods = report["methods"].as_array().expect("methods");
    let mean = |method: &str, name: &str| -> f64 {
        let method = methods.iter().find(|other| other["name"] == method);
        let measures = method.and_then(|method| method["measures"].as_array()).expect("measures");
        let measure = measures.iter().find(|measure| measure["measure"] == name);
        measure.map(|measure| &measure["mean"]).and_then(Value::as_f64).expect("a figure")
    };
    // Half of the gold among ten of some hundred nodes, and more than TF-IDF finds.
    let (recall, map) = (mean("bm25", "recall@10"), mean("bm25", "MAP"));
    assert!(recall > 0.5 && map > 0.3 && map > mean("tf-idf", "MAP"), "R@10 {recall}, MAP {map}");
}
