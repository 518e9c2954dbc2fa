//! Checkpoints that are damaged or do not fit, and trainings that diverge.

use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tabsegnet_store::sha256_file;
use tabsegnet_tests::{Outcome, Work, files, interrupt, report};

const ASK: [&str; 4] = ["--document", "d.json", "--question", "revenue?"];

fn trained() -> Work {
    let work = Work::trained();
    work.write("d.json", report().to_string());
    work.copy("out/best", "changed");
    work
}

/// `infer` and `evaluate` on the checkpoint `changed` must fail with exit code 1 and `parts`.
#[track_caller]
fn refused(work: &Work, parts: &[&str]) {
    let before = files(&work.path(""));
    Outcome::of(work.command("infer", &["--checkpoint", "changed"]).args(ASK)).fails(1, parts);
    work.evaluate(&["--checkpoint", "changed", "--output", "report"]).fails(1, parts);
    let mut after = files(&work.path(""));
    after.retain(|name, _| !name.starts_with("cache"));
    assert!(after.iter().all(|(name, content)| before.get(name) == Some(content)), "files were written");
}

#[test]
fn another_format_version_is_refused_whatever_else_it_holds() {
    let work = trained();
    work.write("changed/manifest.json", json!({"format_version": 99, "new": true}).to_string());
    refused(&work, &["changed/manifest.json: has format version 99, this program reads 2"]);
    let old = json!({"format_version": 1, "new": true});
    work.write("changed/manifest.json", old.to_string());
    refused(
        &work,
        &[
            "changed/manifest.json: ",
            "it is an old checkpoint; make a new one with: train --config configs/quickstart.toml",
        ],
    );
}

#[test]
fn a_manifest_that_is_none_is_refused() {
    let work = trained();
    work.write("changed/manifest.json", "{");
    refused(&work, &["changed/manifest.json: is no manifest"]);
    work.write("changed/manifest.json", "");
    refused(&work, &["changed/manifest.json: is no manifest"]);
    std::fs::remove_file(work.path("changed/manifest.json")).expect("it was there");
    refused(&work, &["changed/manifest.json: could not read"]);
    std::fs::remove_dir_all(work.path("changed")).expect("it was there");
    refused(&work, &["changed: is no directory; expected a checkpoint"]);
}

#[test]
fn a_file_with_another_digest_is_refused() {
    let work = trained();
    for name in ["model.safetensors", "config.toml"] {
        let whole = work.read(&format!("changed/{name}"));
        for bad in [[whole.as_slice(), b"\n"].concat(), whole[..whole.len() / 2].to_vec(), Vec::new()] {
            work.write(&format!("changed/{name}"), bad);
            refused(
                &work,
                &[&format!("changed/{name}: has SHA-256 "), "manifest.json says", "copy the checkpoint again"],
            );
        }
        work.write(&format!("changed/{name}"), whole);
    }
    Outcome::of(work.command("infer", &["--checkpoint", "changed"]).args(ASK)).ok();
}

#[test]
fn weights_that_are_cut_short_are_refused_also_with_a_digest_that_fits() {
    let work = trained();
    let whole = work.read("changed/model.safetensors");
    for length in [0, 4, 8, 100, whole.len() / 2, whole.len() - 1] {
        work.change_checkpoint("changed", "model.safetensors", &whole[..length]);
        refused(&work, &["changed/model.safetensors: is no whole safetensors file"]);
    }
}

#[test]
fn nan_among_the_weights_is_refused() {
    let work = trained();
    for bad in [f32::NAN, f32::INFINITY] {
        let mut bytes = work.read("out/best/model.safetensors");
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&bad.to_le_bytes());
        work.change_checkpoint("changed", "model.safetensors", bytes);
        refused(
            &work,
            &["changed/model.safetensors: tensor ", &format!("holds {bad} at position"), "expected finite numbers"],
        );
    }
}

#[test]
fn weights_of_other_widths_are_refused() {
    let work = trained();
    work.train(&["--set", "output.directory=wide", "--set", "model.d_out=17"]).ok();
    work.change_checkpoint("changed", "model.safetensors", work.read("wide/best/model.safetensors"));
    refused(&work, &["changed/model.safetensors: tensor ", "has shape ", "expected "]);
}

/// A static encoder with the shipped one's tokenizer and other vectors, of width `dim`.
fn other_encoder(work: &Work, name: &str, dim: usize) {
    let shipped = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkpoints/static-encoder");
    let bytes = std::fs::read(shipped.join("model.safetensors")).expect("the shipped encoder");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).expect("a header");
    let vocabulary = header["weight"]["shape"][0].as_u64().expect("a shape") as usize;
    let weights = vocabulary * 4;
    let header = json!({
        "weight": {"dtype": "F32", "shape": [vocabulary], "data_offsets": [0, weights]},
        "embedding": {"dtype": "F32", "shape": [vocabulary, dim], "data_offsets": [weights, weights * (dim + 1)]},
    })
    .to_string();
    let mut model = (header.len() as u64).to_le_bytes().to_vec();
    model.extend(header.bytes());
    model.extend(std::iter::repeat_n(1f32.to_le_bytes(), vocabulary).flatten());
    model.extend((0..vocabulary * dim).flat_map(|i| ((i * 31 % 17) as f32 - 8.0).to_le_bytes()));
    work.write(&format!("{name}/model.safetensors"), model);
    work.write(
        &format!("{name}/config.json"),
        json!({"format": "tabsegnet-static", "version": 1, "dim": dim}).to_string(),
    );
    work.write(&format!("{name}/tokenizer.json"), std::fs::read(shipped.join("tokenizer.json")).expect("a tokenizer"));
}

#[test]
fn another_encoder_than_the_one_trained_with_is_refused() {
    let work = trained();
    let parts = ["was trained with the encoder ", "give the encoder it was trained with"];
    for (name, dim) in [("same-width", 128), ("narrow", 24)] {
        other_encoder(&work, name, dim);
        let set = format!("encoder.model={name}");
        work.evaluate(&["--set", &set]).fails(1, &parts);
        let config = work.text("out/best/config.toml").replace("model = \"\"", &format!("model = {name:?}"));
        work.change_checkpoint("changed", "config.toml", config);
        Outcome::of(work.command("infer", &["--checkpoint", "changed"]).args(ASK)).fails(1, &parts);
        // It works where it is what was trained with.
        let output = format!("output.directory=out-{name}");
        work.train(&["--set", &set, "--set", &output]).ok();
        let checkpoint = format!("out-{name}/best");
        Outcome::of(work.command("infer", &["--checkpoint", &checkpoint]).args(ASK)).ok();
    }
    work.evaluate(&["--set", "encoder.max_tokens=64"]).fails(1, &parts);
    let config = work.text("out/best/config.toml").replace("model = \"\"", "model = \"./nowhere\"");
    work.change_checkpoint("changed", "config.toml", config);
    Outcome::of(work.command("infer", &["--checkpoint", "changed"]).args(ASK))
        .fails(1, &["./nowhere: there is no such directory"]);
}

#[test]
fn a_loss_that_is_not_finite_stops_the_training_by_epoch_step_and_questions() {
    let work = Work::new();
    work.train(&["--set", "optimisation.learning_rate=1e30"]).fails(
        1,
        &[
            "the loss is ", " at epoch 1, step 2;", "train-00", "(train-00", "no epoch was complete",
            "try a lower optimisation.learning_rate",
        ],
    );
    assert!(!work.path("out/best").exists() && !work.path("out/last").exists());
}

/// A loss over one step an epoch stayed finite, and the epoch's weights, whose scores were not,
/// became the best checkpoint.
#[test]
fn regression_scores_that_are_not_finite_make_no_checkpoint() {
    let work = Work::new();
    work.train(&["--set", "optimisation.learning_rate=1e30", "--set", "optimisation.batch_size=100"])
        .fails(1, &[" after epoch 1", "dev", "no epoch was complete", "try a lower optimisation.learning_rate"]);
    assert!(!work.path("out/best").exists() && !work.path("out/metrics.jsonl").exists());
}

#[test]
fn a_training_that_diverges_late_leaves_its_last_checkpoint_whole() {
    let work = Work::new();
    let epochs = ["--set", "optimisation.epochs=100000"];
    let mut child =
        work.command("train", &epochs).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("train runs");
    while !work.path("out/state").exists() {
        assert!(child.try_wait().expect("a child").is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    interrupt(&child);
    assert_eq!(child.wait().expect("a child").code(), Some(1));
    let epoch = work.json("out/last/manifest.json")["epoch"].as_u64().expect("a number");

    // The weights of the state grow beyond what their products can hold.
    let mut weights = work.read("out/state/model.safetensors");
    let header = u64::from_le_bytes(weights[..8].try_into().expect("8 bytes")) as usize;
    for value in weights[8 + header..].chunks_exact_mut(4) {
        value.copy_from_slice(&1e38f32.to_le_bytes());
    }
    work.write("out/state/model.safetensors", weights);
    let mut state = work.json("out/state/state.json");
    state["files"][0] = sha256_file(&work.path("out/state/model.safetensors")).expect("it was written").into();
    work.write("out/state/state.json", state.to_string());
    let before = files(&work.path("out"));

    let step = state["step"].as_u64().expect("a number") + 1;
    let stopped = format!(" at epoch {}, step {step}; questions (documents) of the step: train-00", epoch + 1);
    let whole = format!("epoch {epoch} is whole in out/last");
    work.train(&[epochs.as_slice(), &["--resume"]].concat()).fails(1, &["the loss is ", &stopped, &whole]);
    assert!(files(&work.path("out")) == before, "files were changed");
    work.write("d.json", report().to_string());
    Outcome::of(work.command("infer", &["--checkpoint", "out/last"]).args(ASK)).ok();
}
