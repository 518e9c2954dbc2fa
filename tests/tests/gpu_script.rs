//! The script that measures on a GPU, tried with the CPU in a GPU's place.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tabsegnet_tests::{Outcome, program};
use tempfile::TempDir;

/// In place of `bench`: `step` says what it would have measured, every other measurement fails.
const BENCH: &str = r#"#!/bin/sh
[ "$1" = step ] || { echo "no $1 here" >&2; exit 1; }
for docs in 2 4; do
  for mode in train infer; do
    echo "{\"device\": \"cpu (a stand-in)\", \"tf32\": false, \"docs\": $docs, \"mode\": \"$mode\", \"precision\": \"f32\", \"median_ms\": $docs.5}"
  done
done
"#;

/// What `gpu.sh build` packs, with a `bench` that measures nothing.
struct Pack(TempDir);

impl Pack {
    fn new() -> Self {
        let pack = Self(TempDir::new().unwrap());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for folder in ["programs", "docs", "tools/scripts"] {
            fs::create_dir_all(pack.at(folder)).unwrap();
        }
        for name in ["gpu.sh", "gpu.py", "gpu_cases.py", "bench.py", "benching.py"] {
            let file = format!("tools/scripts/{name}");
            fs::copy(root.join(&file), pack.at(&file)).unwrap();
        }
        fs::copy(root.join("docs/gpu.md"), pack.at("docs/gpu.md")).unwrap();
        for folder in ["configs", "checkpoints"] {
            symlink(root.join(folder), pack.at(folder)).unwrap();
        }
        for name in ["train", "infer"] {
            symlink(program(name).get_program(), pack.at("programs").join(name)).unwrap();
        }
        let bench = pack.at("programs/bench");
        fs::write(&bench, BENCH).unwrap();
        fs::set_permissions(&bench, fs::Permissions::from_mode(0o755)).unwrap();
        pack
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let mut script = Command::new("bash");
        script.arg(self.at("tools/scripts/gpu.sh")).args(arguments).current_dir(self.0.path());
        // A Python without PyTorch.
        script.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("CUDA_PATH").env_remove("CUDA_HOME");
        Outcome::of(&mut script)
    }

    fn measure(&self, arguments: &[&str]) -> Outcome {
        let trial = ["run", "--small", "--cpu-only", "--rounds", "1", "--python", "false"];
        self.run(&[trial.as_slice(), arguments].concat())
    }

    fn row(&self, name: &str) -> Value {
        let found: Value = serde_json::from_slice(&fs::read(self.at("gpu.json")).unwrap()).unwrap();
        found["rows"][name].clone()
    }
}

/// What the rows of a table are about.
fn subjects(page: &str) -> Vec<&str> {
    page.lines().filter(|line| line.starts_with("| ")).map(|line| line.split('|').nth(1).unwrap().trim()).collect()
}

#[test]
fn each_case_is_measured_or_said_to_be_missing() {
    let pack = Pack::new();
    let measured = pack.measure(&["--only", "step,repeat,training,encode"]).ok();
    assert_eq!(pack.row("two trainings with one seed, cpu")["ours"], "the same bytes");
    let training = pack.row("a whole training, cpu");
    assert!(training["ours"].as_str().unwrap().contains("recall@10"), "{training}");
    assert_eq!(training["data"], "generated reports");
    let step = pack.row("inference, 4 × 128 nodes, f32, ms, cpu");
    assert_eq!((&step["ours"], &step["its"]), (&"4.5 (4.5–4.5)".into(), &"no PyTorch here".into()));
    assert!(pack.row("MiniLM, texts a second, cpu")["missing"].as_str().unwrap().contains("--encoder"));
    let table = fs::read_to_string(pack.at("gpu.md")).unwrap();
    assert_eq!(measured.stdout, table);
    assert!(table.contains("| a question on 10,000 nodes, p50, ms, cpu |  |  | not measured |  |"), "{table}");

    // A measurement that fails fails its cases; the others' results stay.
    let failed = pack.measure(&["--resume", "--only", "scores,step"]);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(failed.stderr.contains("FAILED: the network's scores, largest difference, cpu"), "{}", failed.stderr);
    assert_eq!(pack.row("a whole training, cpu"), training);
    assert_eq!(pack.row("inference, 4 × 128 nodes, f32, ms, cpu"), step);
}

#[test]
fn the_page_has_a_row_for_each_case() {
    let pack = Pack::new();
    let page = fs::read_to_string(pack.at("docs/gpu.md")).unwrap();
    pack.run(&["page"]).ok();
    let fresh = fs::read_to_string(pack.at("docs/gpu.md")).unwrap();
    assert!(fresh.contains("| not measured |"), "{fresh}");
    assert_eq!(subjects(&page), subjects(&fresh), "`tools/scripts/gpu.sh page` writes the table anew");
}

#[test]
fn a_step_that_does_not_exist_is_wrong_usage() {
    let pack = Pack::new();
    let outcome = pack.measure(&["--only", "steps"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("unknown step 'steps'") && outcome.stderr.contains("encode"), "{}", outcome.stderr);
}
