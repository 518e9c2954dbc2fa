//! Training the second pass: rankers that have not seen a question say which nodes would be its candidates, trees learn to
//! put its gold nodes first among them.

use std::sync::atomic::AtomicBool;

use anyhow::{Result, bail};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use tabsegnet_features::head;
use tabsegnet_model::device::guard;
use tabsegnet_model::second_pass::{Candidates, SecondPass};
use tabsegnet_model::trees::bins::Bins;
use tabsegnet_model::trees::growing::{Lists, grow};
use tabsegnet_ranking::scores;

use crate::progress::Progress;
use crate::soup::Recipe;

/// Rows that the bins of features are told from; more change them little.
const ROWS_OF_BINS: usize = 200_000;

/// Trains as many rankers as there are folds, each on the questions of all documents but a fold's, and then the trees;
/// nothing when asked to stop.
///
/// # Errors
/// A loss or a score that is not finite; no question with gold among its candidates; a device without the memory.
pub fn learn(recipe: &Recipe<'_>, stop: &AtomicBool) -> Result<Option<SecondPass>> {
    let Some(scores) = out_of_fold(recipe, stop)? else { return Ok(None) };
    let Recipe { config, train, tables, .. } = recipe;
    let (embedded, settings) = (&train.embedded, &config.second_pass);
    let candidates = |question: usize| {
        let nodes = &embedded.document_of(question).nodes;
        Candidates::new(nodes, &embedded.features(question, tables), &scores[question], settings.candidates)
    };
    let all: Vec<usize> = (0..embedded.questions.len()).collect();
    let sparse = (all.len() * settings.candidates).div_ceil(ROWS_OF_BINS).max(1);
    let sample: Vec<usize> = all.iter().copied().step_by(sparse).collect();
    let rows: Vec<Vec<f32>> = sample.par_iter().map(|&question| candidates(question).rows).collect();
    let bins = Bins::new(&rows.concat(), Candidates::width(config.model.features));
    drop(rows);
    let mut lists = Lists::new(bins);
    // So many at once: their rows take memory, their bins a fourth of it.
    for questions in all.chunks(256) {
        let found: Vec<Candidates> = questions.par_iter().map(|&question| candidates(question)).collect();
        for (&question, Candidates { nodes, rows }) in questions.iter().zip(found) {
            let gold = &embedded.questions[question].gold;
            lists.push(&rows, &nodes.iter().map(|node| gold.contains(node)).collect::<Vec<_>>());
        }
    }
    if lists.is_empty() {
        bail!("no training question has a gold node among its candidates; raise second_pass.candidates");
    }
    let of = settings.trees.count();
    let mut progress = Progress::new("second pass", of);
    let trees = grow(&lists, &settings.trees, config.task.seed, &mut |trees| progress.set(trees, of, "trees"));
    progress.finish(&format!("{} trees from {} questions", trees.count(), lists.len()));
    Ok(Some(SecondPass::new(trees, settings.candidates)))
}

/// For each training question the scores of a ranker that has not seen its document.
fn out_of_fold(recipe: &Recipe<'_>, stop: &AtomicBool) -> Result<Option<Vec<Vec<f32>>>> {
    let Recipe { config, train, tables, plain, .. } = recipe;
    let (embedded, optimisation) = (&train.embedded, &config.optimisation);
    let (folds, seed) = (config.second_pass.folds, config.task.seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::MAX); // others make weights and orders
    let fold = head::folds(embedded.documents.len(), folds, &mut rng);
    let mut found: Vec<Vec<f32>> = vec![Vec::new(); embedded.questions.len()];
    let mut stage = recipe.stage("second pass", folds * optimisation.soup);
    for left_out in 0..folds {
        let held = |question: &usize| fold[embedded.questions[*question].document] == left_out;
        let (seen, kept): (Vec<usize>, Vec<usize>) = (0..embedded.questions.len()).partition(held);
        let name = format!("the ranker without fold {} of {folds}, for the second pass", left_out + 1);
        let Some(model) = recipe.soup(None, &kept, seed, &name, stop, &mut stage)? else {
            stage.finish("stopped; --resume begins the second pass anew");
            return Ok(None);
        };
        for group in seen.chunks(optimisation.batch_size) {
            let batch = embedded.batch(group, tables, &config.model, plain)?;
            let scores = guard(plain, || scores::floats(model.forward(&batch).into_data()))?;
            for (&question, scores) in group.iter().zip(batch.split(&scores)) {
                scores::check(&embedded.questions[question].id, &embedded.document_of(question).nodes, scores)?;
                found[question] = scores.to_vec();
            }
        }
    }
    stage.finish(&format!("{folds} rankers, each on the documents of the other folds"));
    Ok(Some(found))
}
