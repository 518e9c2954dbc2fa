//! Rankers with a reranker, from training to answers.

use std::sync::LazyLock;
use std::time::SystemTime;

use serde_json::Value;
use tabsegnet_tests::{Files, Outcome, TINY, Work, interrupt, report, wait_for};

/// A reranker of a few trees on top of [`TINY`], whose rankers of folds rank with the ranker.
fn work() -> Work {
    Work::with(&format!(
        "{}keep = \"last\"\n[features]\ncontext = true\n[reranker]\ncandidates = 60\nfolds = 3\nensemble = true\n[reranker.boosting]\n\
         num_iterations = 8\nbagged_models = 2\nmin_data_in_leaf = 3\n[evaluation]{}",
        TINY.split("[evaluation]").next().unwrap(),
        TINY.split("[evaluation]").nth(1).unwrap()
    ))
}

/// [`work`] after its training, one for all tests.
static TRAINED: LazyLock<Files> = LazyLock::new(|| work().after_training());

const FILES: [&str; 6] = [
    "model.safetensors", "model-1.safetensors", "model-3.safetensors", "reranker.safetensors", "manifest.json",
    "README.md",
];

fn results(work: &Work) -> Vec<Vec<u8>> {
    FILES.iter().map(|file| work.read(&format!("out/best/{file}"))).collect()
}

#[test]
fn what_it_says_is_what_is_measured_and_answered() {
    let work = work();
    let trained = work.train(&["--set", "evaluation.after_training=true"]).ok();
    let manifest = work.json("out/best/manifest.json");
    let dev = |name: &str| manifest["dev"][name].as_f64().unwrap();
    let reranked = format!(
        "reranker: dev recall@10 {:.4} instead of {:.4}, dev MAP {:.4} instead of {:.4}",
        dev("recall@10"),
        dev("recall@10 before the reranker"),
        dev("MAP"),
        dev("MAP before the reranker")
    );
    assert!(trained.stderr.contains(&reranked), "{reranked}\n{}", trained.stderr);
    assert_ne!(dev("MAP"), dev("MAP before the reranker"), "the test needs an order that changes");
    assert!(work.text("out/best/README.md").contains("Dev, reranker: recall@10 "));

    // The report measures the same order.
    let measured = work.json("out/report/report.json");
    let methods = measured["methods"].as_array().unwrap();
    let ours = methods.iter().find(|method| method["name"] == "tabsegnet-best").expect("the checkpoint");
    let measures = ours["measures"].as_array().expect("measures");
    let map =
        measures.iter().find(|measure| measure["measure"] == "MAP").expect("MAP")["mean"].as_f64().expect("a mean");
    assert!((map - dev("MAP")).abs() < 1e-9, "{map} {}", dev("MAP"));

    // What explains an answer adds up to its score.
    work.write("report.json", report().to_string());
    let ask = ["--document", "report.json", "--question", "What was revenue in 2019?"];
    let answer = work.infer(&[&ask[..], &["--format", "json", "--explain", "--top-k", "40"]].concat()).ok().stdout;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let nodes = answer["nodes"].as_array().unwrap();
    let number = |value: &Value| value.as_f64().expect("a number");
    let mut candidates = 0;
    for node in nodes {
        let Some(look) = node["explanation"].get("reranker") else { continue };
        candidates += 1;
        let effects = look["features"].as_array().unwrap().iter().map(|feature| number(&feature["effect"]));
        let sum = number(&look["alone"]) + effects.sum::<f64>();
        assert!((sum - number(&node["score"])).abs() < 1e-4, "{node:#}");
    }
    assert_eq!(candidates, nodes.len().min(60));
    let scores: Vec<f64> = nodes.iter().map(|node| number(&node["score"])).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    work.infer(&[&ask[..], &["--format", "html", "--output", "page.html"]].concat()).ok();
}

#[test]
fn threads_change_no_byte_and_an_interrupted_one_ends_alike() {
    let whole = Work::of(&TRAINED);

    let one = work();
    Outcome::of(one.command("train", &[]).env("RAYON_NUM_THREADS", "1")).ok();
    assert!(results(&one) == results(&whole), "the number of threads changed something");

    let stopped = work();
    // So many trees that it is still at the reranker when it is requested to stop.
    let many = ["--set", "reranker.folds=12", "--set", "optimisation.epochs=20"];
    let mut child = stopped.start(&many);
    wait_for(&mut child, || {
        stopped.path("out/metrics.jsonl").exists() && stopped.text("out/metrics.jsonl").lines().count() == 20
    });
    interrupt(&child);
    let outcome = Outcome::after(child);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--resume"), "{}", outcome.stderr);
    assert!(!stopped.path("out/best/reranker.safetensors").exists());
    assert!(stopped.text("out/best/README.md").contains("not trained yet"));
    // Who ranks with it before the end is warned.
    let warning = "ranks without the reranker";
    let measured = stopped.evaluate(&many).ok();
    assert!(measured.stderr.contains(warning), "{}", measured.stderr);
    assert!(stopped.text("out/report/report.md").contains("its reranker not trained yet"));
    stopped.write("report.json", report().to_string());
    let ask = ["--document", "report.json", "--question", "What was revenue in 2019?"];
    assert!(stopped.infer(&ask).ok().stderr.contains(warning));
    // It is not finished: to begin anew would lose what is there.
    stopped.train(&many).fails(1, &["--resume"]);
    stopped.train(&[&many[..], &["--resume"]].concat()).ok();
    // What is finished is not done again.
    let again = stopped.train(&[&many[..], &["--resume"]].concat()).ok();
    assert!(!again.stderr.contains("reranker:"), "{}", again.stderr);
    assert!(
        !stopped.evaluate(&many).ok().stderr.contains(warning) && !stopped.infer(&ask).ok().stderr.contains(warning)
    );
    let expected = work();
    expected.train(&many).ok();
    assert!(results(&stopped) == results(&expected), "the interruption changed something");
}

/// How many epochs the training without a fold, from 1, has behind it and whether it is finished; nothing where it has no
/// state.
fn state_of_fold(work: &Work, fold: usize) -> Option<(usize, bool)> {
    let text = std::fs::read_to_string(work.path(&format!("out/fold-states/{fold}/state.json"))).ok()?;
    let state: Value = serde_json::from_str(&text).ok()?;
    Some((state["epochs"].as_array()?.len(), state["finished"].as_bool()?))
}

/// Interrupted among the folds a training began with the first of them again.
#[test]
fn regression_folds_that_are_finished_are_not_trained_again() {
    let settings =
        ["--set", "reranker.folds=4", "--set", "optimisation.epochs=40", "--set", "output.fold_rankers=true"];
    let resume = [&settings[..], &["--resume"]].concat();
    let (expected, interrupted) = (work(), work());
    expected.train(&settings).ok();

    let state = |fold| state_of_fold(&interrupted, fold);
    let written = |fold: usize| -> SystemTime {
        let file = interrupted.path(&format!("out/fold-states/{fold}/model.safetensors"));
        std::fs::metadata(file).and_then(|about| about.modified()).expect("a file")
    };
    let name = |fold: usize| format!("the ranker without fold {fold} of 4, for the reranker");
    // What a resumed training says of what was there before it.
    let assert_continued = |stderr: &str, finished: usize| {
        assert!(!stderr.contains("epoch 1/40"), "the ranker itself was trained again: {stderr}");
        for fold in 1..=finished {
            assert!(stderr.contains(&format!("{}: is trained already", name(fold))), "{stderr}");
        }
        assert!(stderr.contains(&format!("{}: goes on after epoch ", name(finished + 1))), "{stderr}");
    };
    let mut times: Vec<SystemTime> = Vec::new();
    for finished in 0..3 {
        let mut child = interrupted.start(if finished == 0 { &settings[..] } else { &resume[..] });
        wait_for(&mut child, || {
            (1..=finished).all(|fold| state(fold).is_some_and(|(_, whole)| whole))
                && state(finished + 1).is_some_and(|(epochs, whole)| epochs > 1 && !whole)
        });
        // What a signal ends writes the step that it is at, what is killed has its last epoch.
        match finished {
            1 => child.kill().expect("it can be killed"),
            _ => interrupt(&child),
        }
        let ended = Outcome::after(child);
        assert_eq!(ended.code, if finished == 1 { None } else { Some(1) }, "{}", ended.stderr);
        assert!(finished == 1 || ended.stderr.contains("--resume goes on"), "{}", ended.stderr);
        if finished > 0 {
            assert_continued(&ended.stderr, finished - 1);
        }
        for (fold, time) in (1..).zip(&times) {
            assert_eq!(written(fold), *time, "fold {fold} was trained again");
        }
        times = (1..=finished).map(written).collect();
    }
    let ended = interrupted.train(&resume).ok();
    assert_continued(&ended.stderr, 2);
    let folds = ["out/folds/0/model.safetensors", "out/folds/3/model.safetensors", "out/folds/3/reranker.safetensors"];
    for file in folds {
        assert!(
            interrupted.read(file) == expected.read(file),
            "{file} is another than that of an uninterrupted training"
        );
    }
    assert!(results(&interrupted) == results(&expected), "the interruptions changed something");
    for work in [&interrupted, &expected] {
        assert!(!work.path("out/fold-states").exists(), "what is finished has no states of folds");
    }
}

#[test]
fn states_of_folds_are_checked_and_those_of_an_earlier_training_not_used() {
    let settings = ["--set", "optimisation.epochs=40"];
    let resume = [&settings[..], &["--resume"]].concat();
    let work = work();
    let mut child = work.start(&settings);
    wait_for(&mut child, || state_of_fold(&work, 1).is_some_and(|(epochs, _)| epochs > 1));
    interrupt(&child);
    assert_eq!(Outcome::after(child).code, Some(1));
    let whole = work.read("out/fold-states/1/optimiser.bpk");
    work.write("out/fold-states/1/optimiser.bpk", &whole[..whole.len() / 2]);
    let parts = ["out/fold-states/1/optimiser.bpk: is damaged", "delete out/fold-states/1 to start anew"];
    work.train(&resume).fails(1, &parts);
    // Who begins anew, begins the folds anew too: they would fail here.
    std::fs::remove_dir_all(work.path("out/state")).unwrap();
    let anew = work.train(&settings).ok();
    assert!(!anew.stderr.contains("is trained already") && !anew.stderr.contains("goes on"), "{}", anew.stderr);
}

#[test]
fn a_ranker_without_features_is_measured_alike_by_a_config_with_some() {
    let work = work();
    let none = ["--set", "features.context=false", "--set", "features.places=false"];
    work.train(&none).ok();
    let weights = std::fs::read(work.path("out/best/model.safetensors")).unwrap();
    assert!(!weights.windows(3).any(|name| name == b"C_f"), "the test needs a ranker without features");
    let run = |settings: &[&str], report: &str| {
        let checkpoint = ["--checkpoint", "out/best", "--output", report];
        work.evaluate(&[&checkpoint, settings].concat()).ok();
        work.text(&format!("{report}/runs/tabsegnet-best.trec"))
    };
    assert_eq!(run(&none, "without"), run(&[], "with"));
}

#[test]
fn rankers_of_folds_rank_the_documents_that_they_have_not_learnt_from() {
    let (with, without) = (work(), Work::of(&TRAINED));
    with.train(&["--set", "output.fold_rankers=true"]).ok();
    for file in ["model.safetensors", "reranker.safetensors"].map(|file| format!("out/best/{file}")) {
        assert!(with.read(&file) == without.read(&file), "keeping them changed {file}");
    }
    // They are those that score beside the ranker.
    assert!(with.read("out/best/model-2.safetensors") == with.read("out/folds/1/model.safetensors"));
    let folds = with.json("out/folds/documents.json");
    let of_documents: Vec<u64> = folds.as_object().unwrap().values().map(|fold| fold.as_u64().unwrap()).collect();
    assert_eq!((of_documents.len(), of_documents.iter().max()), (12, Some(&2)));
    with.write("report.json", report().to_string());
    let scores = |checkpoint: &str| {
        let ask = ["--document", "report.json", "--question", "What was revenue in 2019?", "--format", "json"];
        let answer = Outcome::of(with.command("infer", &["--checkpoint", checkpoint]).args(ask)).ok();
        assert!(!answer.stderr.contains("without the reranker"), "{}", answer.stderr);
        answer.stdout
    };
    let [all, first, second] = ["out/best", "out/folds/0", "out/folds/1"].map(scores);
    assert!(all != first && first != second && second != all);

    // Answers are learnt from their rankings, as far as there are any: these questions have none.
    let answers = |folds: &str| {
        let settings = "[task]\nkind = \"answers\"\n[answers.boosting]\nnum_iterations = 5\n[answers]\ncheckpoint = \"out/best\"\n";
        let data = TINY.split("[model]").next().unwrap();
        let output = "[evaluation]\nafter_training = false\n[output]\ndirectory = \"answers\"\ncache = \"cache\"\n";
        with.write("config.toml", format!("{data}{settings}fold_rankers = {folds:?}\n{output}"));
        with.train(&[])
    };
    let trained = answers("out/folds");
    assert!(trained.stderr.contains("12 of 12 documents are ranked out of fold"), "{}", trained.stderr);
    answers("out/nothing").fails(1, &["answers.fold_rankers", "out/nothing", "output.fold_rankers"]);
}

#[test]
fn without_it_a_training_is_as_before() {
    let (with, without) = (Work::of(&TRAINED), work());
    without.train(&["--set", "reranker.candidates=0"]).ok();
    assert_eq!(with.read("out/best/model.safetensors"), without.read("out/best/model.safetensors"));
    assert!(!without.path("out/best/reranker.safetensors").exists());
}

#[test]
fn what_does_not_fit_is_refused() {
    let work = work();
    for (setting, parts) in [
        ("optimisation.keep=least_dev_loss", ["optimisation.keep", "reranker"]),
        ("task.kind=segmenter", ["reranker.candidates", "task.kind"]),
        ("reranker.folds=1", ["reranker.folds", "at least 2"]),
        ("reranker.boosting.min_data_in_leaf=0", ["reranker.boosting.min_data_in_leaf", "at least 1"]),
        ("reranker.boosting.num_iterations=0", ["reranker.boosting.num_iterations", "at least 1"]),
        ("reranker.boosting.bagging_fraction=1.5", ["reranker.boosting.bagging_fraction", "at most 1"]),
        ("reranker.boosting.learning_rate=-1", ["reranker.boosting.learning_rate", "above 0"]),
        ("reranker.tree.num_iterations=3", ["unknown key", "reranker.boosting"]),
    ] {
        let keep = if setting.starts_with("task") { "optimisation.keep=least_dev_loss" } else { "task.seed=0" };
        work.train(&["--set", keep, "--set", setting]).fails(2, &parts);
    }
    work.train(&["--set", "reranker.folds=13"])
        .fails(1, &["reranker.folds is 13", "the training part has 12 documents"]);

    let work = Work::of(&TRAINED);
    let ask = |work: &Work| work.infer(&["--document", "report.json", "--question", "revenue?"]);
    work.write("report.json", report().to_string());
    ask(&work).ok();
    std::fs::remove_file(work.path("out/best/reranker.safetensors")).unwrap();
    ask(&work).fails(1, &["reranker.safetensors: could not read"]);
    work.write("out/best/reranker.safetensors", "cut");
    ask(&work).fails(1, &["reranker.safetensors: has SHA-256"]);
    work.change_checkpoint("out/best", "reranker.safetensors", "cut");
    ask(&work).fails(1, &["reranker.safetensors: is no whole safetensors file"]);
}
