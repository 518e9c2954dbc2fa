//! The crate's figures against those of `trec_eval`, on the files that the crate writes and on a
//! stored sample with equal scores.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_evaluation::trec::{
    JudgedQuestion, RankedQuestion, encode_id, read_qrels, read_run, write_qrels, write_run,
};
use tabsegnet_evaluation::{GoldRanks, QuestionMeasures, rank_order};
use tabsegnet_test_support::python_with_trec_eval;

/// Question id as in the files, then `trec_eval`'s name of a measure.
type Figures = BTreeMap<String, BTreeMap<String, f64>>;

fn figures(ranks: &GoldRanks) -> BTreeMap<String, f64> {
    let QuestionMeasures { recall_at, average_precision, reciprocal_rank, ndcg_10 } = QuestionMeasures::of(ranks);
    let recall = ["recall_1", "recall_3", "recall_5", "recall_10", "recall_20"].into_iter().zip(recall_at);
    recall
        .chain([("map", average_precision), ("recip_rank", reciprocal_rank), ("ndcg_cut_10", ndcg_10)])
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn assert_same(ours: &Figures, theirs: &Figures) {
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (question, ours) in ours {
        for (measure, value) in ours {
            let expected = theirs[question][measure];
            assert!((value - expected).abs() < 1e-9, "{question} {measure}: {value}, trec_eval {expected}");
        }
    }
}

/// Our figures of files, as the crate reads them.
fn figures_of_files(run: &Path, qrels: &Path) -> Figures {
    let gold: BTreeMap<String, Vec<String>> =
        read_qrels(qrels).unwrap().into_iter().map(|q| (q.question, q.gold)).collect();
    let ranked = read_run(run).unwrap().questions;
    ranked
        .iter()
        .map(|ranked| {
            let nodes = ranked.nodes.iter().map(|(node, _)| node.as_str());
            let ranks = GoldRanks::in_ranking(nodes, gold[&ranked.question].iter().map(String::as_str)).unwrap();
            (encode_id(&ranked.question).into_owned(), figures(&ranks))
        })
        .collect()
}

#[test]
fn stored_reference() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let theirs = std::fs::read_to_string(dir.join("figures.json")).unwrap();
    let ours = figures_of_files(&dir.join("run.trec"), &dir.join("qrels.trec"));
    assert_same(&ours, &serde_json::from_str(&theirs).unwrap());
}

#[test]
fn random_rankings_with_ties() {
    let Some(python) = python_with_trec_eval("random_rankings_with_ties") else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut ranked, mut judged, mut ours) = (Vec::new(), Vec::new(), Figures::new());
    for number in 0..200 {
        let question = format!("page {number}%-é");
        let nodes = rng.random_range(1..120u32);
        // From "all equal" to "all distinct"; zero is what most nodes get from a lexical ranker.
        let levels = rng.random_range(1..=nodes);
        let scale = [1.0, 1e-30, 1e30][number % 3];
        let scores: Vec<f32> = (0..nodes).map(|_| rng.random_range(0..levels) as f32 * scale).collect();
        let wanted = rng.random_range(1..=nodes.min(15));
        let mut gold: Vec<u32> = (0..wanted).map(|_| rng.random_range(0..nodes)).collect();
        gold.sort_unstable();
        gold.dedup();
        let ranks = GoldRanks::of_scores(&scores, &gold).unwrap();
        ours.insert(encode_id(&question).into_owned(), figures(&ranks));
        let id = |node: u32| format!("t0:r{node}c {}", node % 7);
        let order = rank_order(&scores).into_iter();
        let nodes = order.map(|node| (id(node), scores[node as usize])).collect();
        ranked.push(RankedQuestion { question: question.clone(), nodes });
        judged.push(JudgedQuestion { question, gold: gold.into_iter().map(id).collect() });
    }
    let dir = tempfile::tempdir().unwrap();
    let (run, qrels) = (dir.path().join("run.trec"), dir.path().join("qrels.trec"));
    write_run(&run, "random", &ranked).unwrap();
    write_qrels(&qrels, &judged).unwrap();
    assert_same(&ours, &figures_of_files(&run, &qrels));

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check_trec.py");
    let output = Command::new(python).args([script, "figures"]).args([&run, &qrels]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_same(&ours, &serde_json::from_slice(&output.stdout).unwrap());
}
