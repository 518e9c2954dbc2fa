//! Interrupted trainings.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tabsegnet_tests::{Outcome, TINY, Work, interrupt, wait_for};

/// Long enough to be interrupted in an epoch: 36 steps of one question in each of 4 epochs.
fn work() -> Work {
    Work::with(&TINY.replace("batch_size = 8", "batch_size = 1").replace("epochs = 3", "epochs = 4"))
}

fn complete_epochs(work: &Work) -> usize {
    std::fs::read_to_string(work.path("out/metrics.jsonl")).map_or(0, |text| text.lines().count())
}

/// All that must not depend on interruptions.
fn results(work: &Work) -> BTreeMap<&'static str, Vec<u8>> {
    let mut results: BTreeMap<_, _> = [
        "out/best/model.safetensors", "out/last/model.safetensors", "out/best/manifest.json", "out/last/manifest.json",
    ]
    .map(|file| (file, work.read(file)))
    .into();
    let mut metrics = String::new();
    for line in work.text("out/metrics.jsonl").lines() {
        let mut epoch: Value = serde_json::from_str(line).expect("a JSON line");
        epoch["seconds"] = Value::Null;
        metrics += &format!("{epoch}\n");
    }
    results.insert("out/metrics.jsonl", metrics.into_bytes());
    results
}

/// Of a training from start to end, one for all tests.
static UNINTERRUPTED: LazyLock<BTreeMap<&'static str, Vec<u8>>> =
    LazyLock::new(|| results(&Work::of(&work().after_training())));

#[track_caller]
fn assert_same(work: &Work) {
    for (file, content) in results(work) {
        assert!(content == UNINTERRUPTED[file], "{file} is another than that of an uninterrupted training");
    }
}

#[test]
fn ctrl_c_after_the_first_step_keeps_a_state_and_resume_ends_alike() {
    let work = work();
    let mut child = work.start(&[]);
    // The step in progress is finished.
    wait_for(&mut child, || work.path("out/.lock").exists());
    interrupt(&child);
    let stopped = Outcome::after(child);
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("stopped after step 1; --resume goes on"), "{}", stopped.stderr);
    assert_eq!(work.json("out/state/state.json")["step"], 1);

    work.train(&[]).fails(1, &["out/state: a training was interrupted here; go on with --resume"]);
    work.train(&["--resume", "--set", "task.seed=1"])
        .fails(1, &["out/state: was made with another config, data or encoder"]);
    work.train(&["--resume", "--set", "data.synthetic.seed=1"]).fails(1, &["out/state: was made with another config"]);
    assert_eq!(work.json("out/state/state.json")["step"], 1);

    let resumed = work.train(&["--resume"]).ok();
    assert!(resumed.stdout.contains("checkpoint: out/best"));
    assert_same(&work);
}

#[test]
fn ctrl_c_at_any_step_and_resume_end_alike() {
    let work = work();
    let mut stops = 0;
    loop {
        let before = complete_epochs(&work);
        let resume = work.path("out/state").exists();
        let mut child = work.start(if resume { &["--resume"] } else { &[] });
        // Every time a little later in an epoch.
        wait_for(&mut child, || work.path("out/.lock").exists());
        if stops % 2 == 0 {
            wait_for(&mut child, || complete_epochs(&work) > before);
        }
        sleep(Duration::from_millis(7 * stops));
        if child.try_wait().expect("a child").is_none() {
            interrupt(&child);
        }
        let ended = Outcome::after(child);
        if ended.code == Some(0) {
            break;
        }
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        // It did not say so where the signal came in the last step of an epoch.
        assert!(ended.stderr.contains("--resume goes on"), "{}", ended.stderr);
        stops += 1;
        assert!(stops < 50, "no end");
    }
    assert!(stops > 0, "never interrupted");
    assert_same(&work);
}

#[test]
fn kill_9_at_any_moment_and_resume_end_alike() {
    for round in 0..3 {
        let work = work();
        for kill in 0..6 {
            let before = complete_epochs(&work);
            let mut child = work.start(if work.path("out/state").exists() { &["--resume"] } else { &[] });
            // While an epoch's files are written, or some way into an epoch.
            match kill % 3 {
                0 => wait_for(&mut child, || work.path("out/best").exists() && complete_epochs(&work) >= before),
                1 => wait_for(&mut child, || complete_epochs(&work) > before),
                _ => wait_for(&mut child, || work.path("out/.lock").exists()),
            }
            sleep(Duration::from_micros(1700 * (kill * 7 + round * 5) % 30_000));
            child.kill().expect("it can be killed");
            Outcome::after(child);
        }
        let resume: &[&str] = if work.path("out/state").exists() { &["--resume"] } else { &[] };
        work.train(resume).ok();
        assert_same(&work);
        let left = std::fs::read_dir(work.path("out")).expect("out").filter_map(|entry| entry.ok());
        let left: Vec<_> = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(".replaced")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// A directory is replaced by two renames: killed in between, the state lay under another name and
/// could not be resumed.
#[test]
fn regression_kill_9_while_a_directory_is_replaced_loses_nothing() {
    let work = work();
    let mut child = work.start(&[]);
    wait_for(&mut child, || complete_epochs(&work) >= 1);
    interrupt(&child);
    let stopped = Outcome::after(child);
    assert_eq!(stopped.code, Some(1), "{}", stopped.stderr);
    for name in ["state", "last"] {
        std::fs::rename(work.path(&format!("out/{name}")), work.path(&format!("out/.replaced-{name}-7")))
            .expect("renamed");
    }
    work.write("out/.writing-abc/model.safetensors", "half");
    work.train(&["--resume"]).ok();
    assert_same(&work);
    assert!(!work.path("out/.writing-abc").exists() && !work.path("out/.replaced-state-7").exists());
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    // An epoch of it takes far longer than the test.
    let work = Work::with(
        &TINY.replace("train_documents = 12", "train_documents = 400").replace("batch_size = 8", "batch_size = 1200"),
    );
    let mut child = work.start(&["--set", "optimisation.epochs=100000"]);
    wait_for(&mut child, || work.path("out/.lock").exists());
    interrupt(&child);
    // The first is noted, the step goes on.
    sleep(Duration::from_millis(50));
    if child.try_wait().expect("a child").is_none() {
        interrupt(&child);
    }
    let sent = Instant::now();
    let ended = Outcome::after(child);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(sent.elapsed() < Duration::from_secs(2), "it took {:?}", sent.elapsed());
    assert!(!work.path("out/state").exists(), "the step was finished, so the second signal was not seen");
}

#[test]
fn where_there_is_nothing_to_resume_a_training_starts_and_says_so() {
    let work = work();
    let started = work.train(&["--resume"]).ok();
    assert!(started.stderr.contains("out/state: there is no training to resume; one is started"), "{}", started.stderr);
    let weights = work.read("out/best/model.safetensors");
    work.train(&["--set", "output.directory=plain"]).ok();
    assert_eq!(weights, work.read("plain/best/model.safetensors"));
}

#[test]
fn a_damaged_state_is_named_and_not_used() {
    let work = work();
    let mut child = work.start(&[]);
    wait_for(&mut child, || work.path("out/.lock").exists());
    interrupt(&child);
    Outcome::after(child);
    let whole = work.read("out/state/optimiser.bpk");
    work.write("out/state/optimiser.bpk", &whole[..whole.len() / 2]);
    work.train(&["--resume"]).fails(1, &["out/state/optimiser.bpk: is damaged", "delete out/state to start anew"]);
    work.write("out/state/optimiser.bpk", whole);
    work.write("out/state/state.json", "{");
    work.train(&["--resume"]).fails(1, &["out/state/state.json: is no training state"]);
}

#[test]
fn a_second_training_into_the_same_directory_is_refused() {
    let work = work();
    let mut first = work.start(&["--set", "optimisation.epochs=100000"]);
    wait_for(&mut first, || complete_epochs(&work) >= 1);
    work.train(&[]).fails(1, &["out: another training is writing here"]);
    interrupt(&first);
    let mut stderr = String::new();
    first.stderr.take().expect("it is piped").read_to_string(&mut stderr).expect("UTF-8");
    assert_eq!(first.wait().expect("a child").code(), Some(1), "{stderr}");
}
