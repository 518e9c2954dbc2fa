//! Figures against other implementations and on real data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tabsegnet_tests::{Outcome, TINY, Work, skipped};

/// A Python with pytrec_eval: the one in TABSEGNET_PYTHON (which then must have it), else python3.
fn python() -> Option<String> {
    let named = std::env::var("TABSEGNET_PYTHON").ok();
    let python = named.clone().unwrap_or_else(|| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import pytrec_eval"]).output();
    let usable = found.is_ok_and(|output| output.status.success());
    assert!(usable || named.is_none(), "TABSEGNET_PYTHON={python} has no pytrec_eval");
    usable.then_some(python)
}

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
    let Some(python) = python() else {
        let why = "no Python with pytrec_eval; name one in TABSEGNET_PYTHON";
        return skipped("reported_figures_are_those_of_trec_eval_on_the_written_files", why);
    };
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

/// The folder with FinQA's train.json and dev.json.
fn finqa() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("TABSEGNET_FINQA")?);
    assert!(folder.join("dev.json").is_file(), "TABSEGNET_FINQA={} has no dev.json", folder.display());
    Some(folder)
}

#[test]
fn finqa_is_read_whole_once_and_bm25_finds_what_it_should() {
    let Some(folder) = finqa() else {
        let why = "name the folder with FinQA's train.json and dev.json in TABSEGNET_FINQA";
        return skipped("finqa_is_read_whole_once_and_bm25_finds_what_it_should", why);
    };
    let (_, settings) = TINY.split_once("[model]").expect("a section");
    let work = Work::with(&format!(
        "[data]\nkind = \"finqa\"\nroot = {:?}\ntrain = [\"train.json\"]\ndev = [\"dev.json\"]\n[model]{settings}",
        folder.display().to_string()
    ));
    let questions = |stdout: &str| -> Vec<String> {
        let lines = stdout.lines().filter_map(|line| line.strip_prefix("questions "));
        lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    };
    let first = work.train(&["--prepare"]).ok();
    assert_eq!(questions(&first.stdout), ["1135", "333"], "{}", first.stdout);
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
    let bm25 = report["methods"].as_array().and_then(|methods| methods.iter().find(|method| method["name"] == "bm25"));
    let mean = |name: &str| -> f64 {
        let measures = bm25.and_then(|method| method["measures"].as_array()).expect("measures of bm25");
        let measure = measures.iter().find(|measure| measure["measure"] == name);
        measure.map(|measure| &measure["mean"]).and_then(Value::as_f64).expect("a figure")
    };
    let (recall, map) = (mean("recall@10"), mean("MAP"));
    assert!((0.59..=0.65).contains(&recall) && (0.37..=0.41).contains(&map), "R@10 {recall}, MAP {map}");
}
