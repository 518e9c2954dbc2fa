//! Growing trees on the questions of a part.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;
use tabsegnet::Embedded;
use tabsegnet::baselines::{Baseline, FeatureTrees};
use tabsegnet::embedded::TableScores;
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::boosting::bins::Bins;
use tabsegnet_ranker::boosting::training::{BoostingConfig, Lists, grow_while};

use crate::config::Config;
use crate::progress::Progress;
use crate::table_scorer;

/// Rows that the bins of features are computed from; more change them little.
const ROWS_OF_BINS: usize = 200_000;
/// So many questions at once: their rows take memory, their bins a fourth of it.
const QUESTIONS_AT_ONCE: usize = 256;

/// A list for each of some questions, of the nodes that `list` gives it and their rows `[nodes, features]`. There are about
/// `rows` rows in all.
pub fn lists(
    embedded: &Embedded,
    questions: &[usize],
    features: usize,
    rows: usize,
    list: &(dyn Fn(usize) -> (Vec<u32>, Vec<f32>) + Sync),
) -> Lists {
    let sparse = rows.div_ceil(ROWS_OF_BINS).max(1);
    let sample: Vec<usize> = questions.iter().copied().step_by(sparse).collect();
    let rows: Vec<Vec<f32>> = sample.par_iter().map(|&question| list(question).1).collect();
    let bins = Bins::new(&rows.concat(), features);
    drop(rows);
    let mut lists = Lists::new(bins);
    for some in questions.chunks(QUESTIONS_AT_ONCE) {
        let found: Vec<(Vec<u32>, Vec<f32>)> = some.par_iter().map(|&question| list(question)).collect();
        for (&question, (nodes, rows)) in some.iter().zip(found) {
            let gold = &embedded.questions[question].gold;
            lists.push(&rows, &nodes.iter().map(|node| gold.contains(node)).collect::<Vec<_>>());
        }
    }
    lists
}

/// The trees, with their progress under a name; nothing on a request to stop, which is looked for between trees.
pub fn grown(lists: &Lists, config: &BoostingConfig, seed: u64, name: &str, stop: &AtomicBool) -> Option<BoostedTrees> {
    let of = config.count();
    let mut progress = Progress::new(name, of);
    let mut goes_on = |trees| {
        progress.set(trees, of, "trees");
        !stop.load(Ordering::Relaxed)
    };
    let trees = grow_while(lists, config, seed, &mut goes_on);
    progress.finish(&match &trees {
        Some(trees) => format!("{} trees from {} questions", trees.count(), lists.len()),
        None => "stopped".to_owned(),
    });
    trees
}

/// The trees of [`Baseline::Trees`], over all nodes of each question's document, by `[reranker.boosting]`. Scores of tables
/// are out of fold, as the ranker's training has them.
///
/// # Errors
/// A config without features.
pub fn feature_trees(config: &Config, training: &Embedded) -> Result<FeatureTrees> {
    let features = config.model.features;
    let name = Baseline::Trees.name();
    ensure!(
        features > 0,
        "evaluation.baselines: {name} is over features, and [features] has none switched on; leave it out"
    );
    let seed = config.task.seed;
    let examples = if config.model.table_scorer { training.table_examples() } else { Vec::new() };
    let tables = TableScores(table_scorer::out_of_fold(&examples, &training.document_ids(), seed));
    let nodes = |question: usize| training.document_of(question).nodes().len();
    let rows = (0..training.questions.len()).map(nodes).sum();
    let all: Vec<usize> = (0..training.questions.len()).collect();
    let lists = lists(training, &all, features, rows, &|question| {
        ((0..).take(nodes(question)).collect(), training.features(question, &tables))
    });
    ensure!(
        !lists.is_empty(),
        "evaluation.baselines: {name} learns from training questions with gold, and there is none"
    );
    // Nothing here is kept: a measurement is begun again.
    let never = AtomicBool::new(false);
    let trees = grown(&lists, &config.reranker.boosting, seed, name, &never).context("growing trees was stopped")?;
    let table_scorer = config.model.table_scorer.then(|| table_scorer::train(&examples, seed));
    Ok(FeatureTrees { trees, table_scorer })
}
