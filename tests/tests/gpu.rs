//! The programs on a GPU, one of software too.
#![cfg(feature = "wgpu")]

use std::process::Command;

use serde_json::Value;
use tabsegnet_tests::{Outcome, Work, interrupt, report, wait_for};

const MODEL: &str = "out/best/model.safetensors";

fn scores(ranking: &str) -> Vec<(String, f64)> {
    let ranking: Value = serde_json::from_str(ranking).unwrap();
    let nodes = ranking["nodes"].as_array().unwrap().iter();
    let mut scores: Vec<_> =
        nodes.map(|node| (node["id"].as_str().unwrap().to_owned(), node["score"].as_f64().unwrap())).collect();
    scores.sort_by(|a, b| a.0.cmp(&b.0));
    scores
}

#[test]
fn train_infer_evaluate_and_resume_run_on_a_gpu() {
    let work = Work::new();
    work.write("report.json", report().to_string());
    let epochs = ["--device", "wgpu", "--set", "optimisation.epochs=2"];
    let trained = work.train(&epochs).ok();
    assert!(trained.stderr.contains("device: wgpu ("), "{}", trained.stderr);

    // What was trained on the GPU ranks alike on both devices.
    let ask = ["--document", "report.json", "--question", "revenue?", "--format", "json", "--top-k", "99", "--device"];
    let on = |device: &str| {
        let ranked = work.infer(&[ask.as_slice(), &[device]].concat()).ok();
        assert!(ranked.stderr.contains(&format!("device: {device} (")), "{}", ranked.stderr);
        scores(&ranked.stdout)
    };
    let (on_gpu, on_cpu) = (on("wgpu"), on("cpu"));
    assert_eq!(on_gpu.len(), on_cpu.len());
    for ((id, found), (other, expected)) in on_gpu.iter().zip(&on_cpu) {
        assert_eq!(id, other);
        assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{id}: {found}, expected {expected}");
    }
    work.evaluate(&["--device", "wgpu"]).ok();
    assert!(work.path("out/report/report.html").exists());

    // Stopped after the first step, and resumed: the same bytes.
    let whole = work.read(MODEL);
    let resumed = Work::new();
    let mut child = resumed.start(&epochs);
    wait_for(&mut child, || resumed.path("out/.lock").exists());
    interrupt(&child);
    let stopped = Outcome::after(child);
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    resumed.train(&[epochs.as_slice(), &["--resume"]].concat()).ok();
    assert!(resumed.read(MODEL) == whole, "the resumed weights differ");
}

#[test]
fn a_precision_that_the_device_does_not_have_is_an_error() {
    let work = Work::new();
    let half =
        |device, precision| work.train(&["--device", device, "--set", &format!("optimisation.precision={precision}")]);
    half("cpu", "f16").fails(1, &["f16", "the processor computes in f32 alone"]);
    half("wgpu", "bf16").fails(1, &["bf16", "set precision = \"f32\""]);
}

#[test]
fn a_batch_too_large_for_the_gpu_is_an_error_that_says_what_to_do() {
    let work = Work::new();
    // A GPU of software takes the computer's memory, and a system may promise more than it has. The
    // limit is 16 GB beside the 64 GiB that the cache of vectors maps.
    let train = work.command("train", &["--device", "wgpu", "--set", "model.d_out=1500000"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 83000000 && exec \"$0\" \"$@\""]).arg(train.get_program()).args(train.get_args());
    limited.current_dir(work.path(".")).envs(train.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Outcome::of(&mut limited)
        .fails(1, &["out of memory", "a step on 8 questions", "optimisation.batch_size is 8", "no epoch was complete"]);
    assert!(!work.path("out/best").exists() && !work.path("out/last").exists());
}
