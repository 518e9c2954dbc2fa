//! Trainings that begin with the weights of another, and which epoch they keep.

use std::fs;

use tabsegnet_tests::{Outcome, Work, interrupt, program, wait_for};

/// A finished training whose best weights lie in `first/best`.
fn trained() -> Work {
    let work = Work::trained();
    fs::rename(work.path("out"), work.path("first")).unwrap();
    work
}

const START: [&str; 4] = ["--set", "optimisation.start_from=first/best", "--set", "task.seed=7"];

#[test]
fn a_training_begins_with_the_weights_that_it_is_given_and_says_so() {
    let work = trained();
    // A step size too small to move a weight: what is kept is what it began with, whatever the seed.
    work.train(&[&START[..], &["--set", "optimisation.learning_rate=1e-30"]].concat()).ok();
    assert_eq!(work.read("out/best/model.safetensors"), work.read("first/best/model.safetensors"));
    let first = &work.json("first/best/manifest.json");
    assert_eq!(work.json("out/best/manifest.json")["started_from"], first["files"]["model.safetensors"]);
    assert_eq!(first.get("started_from"), None);
}

#[test]
fn an_interrupted_one_ends_alike_and_only_with_the_same_start() {
    let work = trained();
    let single_steps = ["--set", "optimisation.batch_size=1"];
    let arguments = [&START[..], &single_steps].concat();
    work.train(&[&arguments[..], &["--set", "output.directory=whole"]].concat()).ok();
    let mut child = work.start(&arguments);
    wait_for(&mut child, || work.path("out/.lock").exists());
    interrupt(&child);
    let stopped = Outcome::after(child);
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    let resume = [&arguments[..], &["--resume"]].concat();

    fs::rename(work.path("first"), work.path("kept")).unwrap();
    work.train(&["--set", "output.directory=first", "--set", "task.seed=3"]).ok();
    work.train(&resume).fails(1, &["was made with another config, data or encoder"]);
    fs::remove_dir_all(work.path("first")).unwrap();
    fs::rename(work.path("kept"), work.path("first")).unwrap();

    work.train(&resume).ok();
    assert_eq!(work.read("out/best/model.safetensors"), work.read("whole/best/model.safetensors"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let work = trained();
    work.train(&[&START[..], &["--set", "model.d_in=5"]].concat())
        .fails(1, &["optimisation.start_from", "other settings of [model]", "d_in: 16 there, 5 here"]);
    work.train(&[&START[..], &["--set", "encoder.max_tokens=64"]].concat())
        .fails(1, &["optimisation.start_from", "was trained with the encoder "]);
    work.train(&["--set", "optimisation.start_from=nowhere"])
        .fails(1, &["optimisation.start_from cannot be used", "nowhere", "expected a checkpoint"]);
    work.change_checkpoint("first/best", "model.safetensors", "cut");
    work.train(&START).fails(1, &["optimisation.start_from cannot be used", "model.safetensors"]);
    for setting in ["optimisation.start_from=first/best", "optimisation.keep=last"] {
        let key = setting.split_once('=').unwrap().0;
        work.train(&["--set", "task.kind=static-encoder", "--set", setting]).fails(2, &[key, "task.kind"]);
    }
}

#[test]
fn regression_as_many_features_but_others_are_refused() {
    let work = Work::new();
    work.train(&["--set", "features.context=true", "--set", "output.directory=first"]).ok();
    let others = ["--set", "features.cosine=true", "--set", "features.tables=true"];
    work.train(&[&others[..], &["--set", "output.directory=others"]].concat()).ok();
    let weights = |directory: &str| work.read(&format!("{directory}/best/model.safetensors")).len();
    assert_eq!(weights("others"), weights("first"), "the test needs as many");
    work.train(&[&START[..], &others].concat())
        .fails(1, &["optimisation.start_from", "other settings of [features]", "tables: false there, true here"]);
}

/// They know fewer edge types than graphs have today.
#[test]
fn regression_the_shipped_config_of_finqa_begins_with_the_shipped_weights() {
    let work = Work::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut train = program("train");
    train.current_dir(work.path("")).args(["--config", &format!("{root}/configs/finqa.toml")]);
    for setting in [
        "data.kind=synthetic",
        "data.synthetic.train_documents=6",
        "data.synthetic.dev_documents=3",
        "encoder.kind=static",
        "encoder.model=",
        &format!("optimisation.start_from={root}/checkpoints/pretrained"),
        "optimisation.epochs=1",
        "reranker.candidates=0",
        "evaluation.after_training=false",
        "output.directory=out",
        "output.cache=cache",
    ] {
        train.args(["--set", setting]);
    }
    Outcome::of(&mut train).ok();
    let edge_types = |manifest: serde_json::Value| manifest["edge_types"].as_array().unwrap().clone();
    let start = std::fs::read(format!("{root}/checkpoints/pretrained/manifest.json")).unwrap();
    let start = edge_types(serde_json::from_slice(&start).unwrap());
    assert_eq!(edge_types(work.json("out/best/manifest.json")), start);
    assert!(!start.contains(&"heading_to_passage".into()), "the test needs weights that know fewer");
}

#[test]
fn the_last_epoch_is_kept_where_it_is_to_be() {
    let work = Work::new();
    // So steep that the dev loss rises after the first epochs.
    let steep = ["--set", "optimisation.learning_rate=10.0", "--set", "optimisation.epochs=5"];
    work.train(&[&steep[..], &["--set", "output.directory=least"]].concat()).ok();
    let outcome = work.train(&[&steep[..], &["--set", "optimisation.keep=last"]].concat()).ok();
    assert!(outcome.stderr.contains("last epoch, kept: 5"), "{}", outcome.stderr);
    assert_eq!(work.json("out/best/manifest.json")["epoch"], 5);
    assert_ne!(work.json("least/best/manifest.json")["epoch"], 5, "the test needs a dev loss that rises");
    assert_eq!(work.read("out/best/model.safetensors"), work.read("least/last/model.safetensors"));
}
