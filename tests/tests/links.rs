//! What `infer` links, and which crates know of which.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;
use tabsegnet_tests::Outcome;

/// All packages in the order of the data flow (ARCHITECTURE.md): one may depend on those before it.
const ORDER: [&str; 26] = [
    "tabsegnet-test-support", "tabsegnet-store", "tabsegnet-choice", "tabsegnet-llm", "tabsegnet-document",
    "tabsegnet-records", "tabsegnet-graph", "tabsegnet-lexical", "tabsegnet-sql", "tabsegnet-datasets",
    "tabsegnet-generate", "tabsegnet-prepared", "tabsegnet-encoder", "tabsegnet-features", "tabsegnet-ranker",
    "tabsegnet-corpus", "tabsegnet-segmenter", "tabsegnet", "tabsegnet-tablerag", "tabsegnet-page", "tabsegnet-agent",
    "tabsegnet-evaluation", "tabsegnet-trainer", "tabsegnet-infer", "tabsegnet-tests", "tabsegnet-benches",
];

/// What `infer` must not link: training, generation, language models, and what only they use.
const NOT_IN_INFER: [&str; 11] = [
    "tabsegnet-agent", "tabsegnet-llm", "tabsegnet-trainer", "tabsegnet-generate", "tabsegnet-prepared",
    "tabsegnet-test-support", "burn-autodiff", "burn-optim", "burn-train", "burn-dataset", "nalgebra",
];

fn cargo(arguments: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).args(["--offline", "--locked"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    Outcome::of(&mut cargo).ok().stdout
}

#[test]
fn infer_links_no_training_code_no_generators_and_no_polars() {
    let tree = cargo(&["tree", "--package", "tabsegnet-infer", "--edges", "normal", "--prefix", "none"]);
    let linked: BTreeSet<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(linked.contains("tabsegnet-ranker") && linked.contains("burn"), "this is no tree of infer: {tree}");
    let wrong = |name: &&&str| name.starts_with("polars") || NOT_IN_INFER.contains(*name);
    let found: Vec<&&str> = linked.iter().filter(wrong).collect();
    assert!(
        found.is_empty(),
        "infer links {found:?}; `cargo tree --package tabsegnet-infer --edges normal --invert NAME` shows through what"
    );
}

#[test]
fn no_crate_depends_on_a_later_one() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |package: &Value| package["name"].as_str().expect("a name").to_owned();
    let all: BTreeSet<String> = packages.iter().map(name).collect();
    assert_eq!(all, ORDER.map(str::to_owned).into(), "ORDER has all packages of the workspace");
    let position: BTreeMap<&str, usize> = ORDER.into_iter().zip(0..).collect();
    for package in packages {
        let own = name(package);
        // Tests may use what comes later.
        let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
        for dependency in dependencies.filter(|dependency| dependency["kind"] != "dev").map(name) {
            let later = position.get(dependency.as_str()).is_some_and(|place| *place >= position[own.as_str()]);
            assert!(!later, "{own} depends on {dependency}, which comes later in the data flow");
        }
    }
}
