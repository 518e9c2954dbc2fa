//! Rankers whose weights are the mean of several.

use tabsegnet_tests::{Outcome, TINY, Work, interrupt, wait_for};

fn work() -> Work {
    Work::with(&TINY.replace("[evaluation]", "keep = \"last\"\nsoup = 3\n[evaluation]"))
}

fn weights(work: &Work) -> Vec<u8> {
    work.read("out/best/model.safetensors")
}

#[test]
fn it_is_measured_and_kept() {
    let work = work();
    let trained = work.train(&[]).ok();
    let manifest = work.json("out/best/manifest.json");
    let dev = |name: &str| manifest["dev"][name].as_f64().unwrap();
    let said = format!("soup: dev R@10 {:.4} instead of ", dev("recall@10"));
    assert!(trained.stderr.contains(&said), "{said}\n{}", trained.stderr);
    assert!(work.text("out/best/README.md").contains("Weights: the mean of those of 3 rankers"));
    let alone = self::work();
    alone.train(&["--set", "optimisation.soup=1"]).ok();
    assert_ne!(weights(&work), weights(&alone));
    assert!(!alone.text("out/best/README.md").contains("Weights:"));
    // What follows the weights follows the mean's.
    let second = ["--set", "second_pass.candidates=20", "--set", "second_pass.folds=3"];
    let second = [&second[..], &["--set", "second_pass.trees.rounds=3", "--set", "features.context=true"]].concat();
    let both = self::work();
    both.train(&second).ok();
    assert!(both.text("out/best/README.md").contains("taught by 3 rankers"));
}

#[test]
fn threads_change_no_byte_and_an_interrupted_one_ends_alike() {
    let whole = work();
    // So long that it is still at the soup when it is asked to stop.
    let long = ["--set", "optimisation.soup=12", "--set", "optimisation.epochs=20"];
    whole.train(&long).ok();

    let one = work();
    Outcome::of(one.command("train", &long).env("RAYON_NUM_THREADS", "1")).ok();
    assert!(weights(&one) == weights(&whole), "the number of threads changed something");

    let stopped = work();
    let mut child = stopped.start(&long);
    wait_for(&mut child, || {
        stopped.path("out/metrics.jsonl").exists() && stopped.text("out/metrics.jsonl").lines().count() == 20
    });
    interrupt(&child);
    let outcome = Outcome::after(child);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--resume"), "{}", outcome.stderr);
    assert!(stopped.text("out/best/README.md").contains("the mean of 12 is to come"));
    stopped.train(&[&long[..], &["--resume"]].concat()).ok();
    assert!(weights(&stopped) == weights(&whole), "the interruption changed something");
}

#[test]
fn what_does_not_fit_is_refused() {
    let work = work();
    for (setting, parts) in [
        ("optimisation.keep=least_dev_loss", ["optimisation.keep", "soup"]),
        ("optimisation.soup=0", ["optimisation.soup", "at least 1"]),
    ] {
        work.train(&["--set", "second_pass.candidates=20", "--set", setting]).fails(2, &parts);
    }
}
