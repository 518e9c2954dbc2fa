//! Training the reranker by cross-fitting: out-of-fold scores of rankers give each training question its candidates,
//! trees learn to put its gold nodes first among them.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, bail};
use burn::module::Module as _;
use burn::tensor::Device;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use tabsegnet::embedded::TableScores;
use tabsegnet::scores;
use tabsegnet_ranker::TabSegNet;
use tabsegnet_ranker::device::guard;
use tabsegnet_ranker::reranker::{Candidates, Reranker};

use crate::batches::{batch, floats, groups};
use crate::config::Config;
use crate::inputs::Input;
use crate::progress::Progress;
use crate::sampling::Sampling;
use crate::table_scorer;
use crate::train_state::{Schedule, TrainState, optimiser};
use crate::trees::{grown, lists};

/// What [`RerankTraining::learn`] gives.
pub struct Learnt {
    /// The reranker.
    pub reranker: Reranker,
    /// `[folds]`: the rankers whose scores it has learnt from, each trained without a fold.
    pub rankers: Vec<TabSegNet>,
    /// Rankers that have not learnt from a part of the documents, where they are wanted.
    pub folds: Option<Folds>,
}

/// Rankers with their rerankers, each trained without a fold.
pub struct Folds {
    /// `[documents]`: the fold of each training document.
    pub of_documents: Vec<usize>,
    /// `[folds]`
    pub rankers: Vec<(TabSegNet, Reranker)>,
}

/// Scores out of fold.
struct OutOfFold {
    /// `[questions]`, `[nodes]`: those of a ranker that was trained without the question's document.
    scores: Vec<Vec<f32>>,
    /// `[documents]`
    fold: Vec<usize>,
    /// `[folds]`
    rankers: Vec<TabSegNet>,
}

/// What the reranker of a ranker is trained with.
pub struct RerankTraining<'a> {
    /// The whole config.
    pub config: &'a Config,
    /// The training part.
    pub train: &'a Input,
    /// The table scores of its documents, out of fold.
    pub tables: &'a TableScores,
    /// Which nodes of them a step looks at.
    pub sampling: &'a Sampling,
    /// The ranker as its training begins.
    pub start: TabSegNet,
    /// Without autodiff.
    pub plain: &'a Device,
    /// With.
    pub autodiff: &'a Device,
}

impl RerankTraining<'_> {
    /// Trains as many rankers as there are folds, each on the questions of all documents but a fold's, and then
    /// the trees; nothing on a request to stop.
    ///
    /// # Errors
    /// A loss or a score that is not finite; no question with gold among its candidates; a device without the
    /// memory.
    pub fn learn(&self, stop: &AtomicBool) -> Result<Option<Learnt>> {
        let Some(OutOfFold { scores, fold, rankers }) = self.out_of_fold(stop)? else { return Ok(None) };
        let questions: Vec<usize> = (0..self.train.embedded.questions.len()).collect();
        let Some(reranker) = self.reranker(&scores, &questions, "reranker") else {
            bail!("no training question has a gold node among its candidates; raise reranker.candidates");
        };
        let kept = if self.config.output.fold_rankers { rankers.as_slice() } else { &[] };
        let mut without = Vec::with_capacity(kept.len());
        for (left_out, ranker) in kept.iter().enumerate() {
            let others = questions.iter().copied().filter(|&question| fold[self.document(question)] != left_out);
            let name = format!("reranker without fold {}", left_out + 1);
            let Some(reranker) = self.reranker(&scores, &others.collect::<Vec<_>>(), &name) else {
                bail!("{name}: no question of the other folds has a gold node among its candidates");
            };
            without.push((self.with_table_scorer(ranker.clone(), &fold, left_out), reranker));
        }
        let folds = (!without.is_empty()).then_some(Folds { of_documents: fold, rankers: without });
        Ok(Some(Learnt { reranker, rankers, folds }))
    }

    fn document(&self, question: usize) -> usize {
        self.train.embedded.questions[question].document
    }

    /// A ranker with the table scorer of the documents that are not of a fold.
    fn with_table_scorer(&self, ranker: TabSegNet, fold: &[usize], left_out: usize) -> TabSegNet {
        if !self.config.model.table_scorer {
            return ranker;
        }
        let examples = self.train.embedded.table_examples().into_iter().zip(fold);
        let others: Vec<_> = examples.filter(|(_, fold)| **fold != left_out).map(|(example, _)| example).collect();
        ranker.with_table_scorer(&table_scorer::train(&others, self.config.task.seed))
    }

    /// Trees that order the candidates of some questions anew; nothing where none has gold among them.
    fn reranker(&self, scores: &[Vec<f32>], questions: &[usize], name: &str) -> Option<Reranker> {
        let embedded = &self.train.embedded;
        let settings = &self.config.reranker;
        let candidates = |question: usize| {
            let features = embedded.features(question, self.tables);
            Candidates::new(&embedded.query_context(question, &features), &scores[question], settings.candidates)
        };
        let lists = lists(
            embedded,
            questions,
            Candidates::width(self.config.model.features),
            questions.len() * settings.candidates,
            &|question| {
                let Candidates { nodes, rows } = candidates(question);
                (nodes, rows)
            },
        );
        if lists.is_empty() {
            return None;
        }
        let trees = grown(&lists, &settings.boosting, self.config.task.seed, name);
        Some(Reranker::new(trees, settings.candidates))
    }

    fn out_of_fold(&self, stop: &AtomicBool) -> Result<Option<OutOfFold>> {
        let Self { config, plain, .. } = self;
        let embedded = &self.train.embedded;
        let folds = config.reranker.folds;
        let mut rng = ChaCha8Rng::seed_from_u64(config.task.seed);
        rng.set_stream(u64::MAX); // others are of weights and orders
        let fold = table_scorer::folds(&embedded.document_ids(), folds, &mut rng);
        let (optimisation, seed) = (&config.optimisation, config.task.seed);
        let mut found: Vec<Vec<f32>> = vec![Vec::new(); embedded.questions.len()];
        let mut rankers = Vec::new();
        let mut progress = Progress::new("reranker", folds * optimisation.epochs);
        for left_out in 0..folds {
            let of_fold = |question: &usize| fold[self.document(*question)] == left_out;
            let (held_out, kept): (Vec<usize>, Vec<usize>) = (0..embedded.questions.len()).partition(of_fold);
            let schedule = Schedule::new(optimisation, seed, kept.len());
            let mut train_state = TrainState { model: self.start.clone(), optimiser: optimiser(optimisation) };
            for epoch in 1..=optimisation.epochs {
                let order = schedule.order(kept.clone(), epoch);
                for (step, questions) in order.chunks(optimisation.batch_size).enumerate() {
                    let sampled = Some((self.sampling, epoch));
                    let batch = batch(embedded, questions, sampled, self.tables, &config.model, self.autodiff)?;
                    let step = (epoch - 1) * schedule.steps_of_epoch() + step;
                    let name = || {
                        format!(
                            "step {} of the ranker without fold {} of {folds}, for the reranker",
                            step + 1,
                            left_out + 1
                        )
                    };
                    let loss = guard(plain, || train_state.step(&batch, &schedule, step)).with_context(name)?;
                    if !loss.is_finite() {
                        bail!("the loss is {loss} at {}; {}", name(), optimisation.steadier());
                    }
                    if stop.load(Ordering::Relaxed) {
                        progress.finish("stopped; --resume begins the reranker anew");
                        return Ok(None);
                    }
                }
                progress.set(left_out * optimisation.epochs + epoch, folds * optimisation.epochs, "epochs");
            }
            let model = train_state.model.valid();
            for group in groups(embedded, held_out) {
                let batch = batch(embedded, &group, None, self.tables, &config.model, plain)?;
                let scores = guard(plain, || floats(model.forward(&batch).into_data()))?;
                for (&question, scores) in group.iter().zip(batch.split(&scores)) {
                    scores::check(&embedded.questions[question].id, embedded.document_of(question).nodes(), scores)?;
                    found[question] = scores.to_vec();
                }
            }
            rankers.push(model);
        }
        progress.finish(&format!("{folds} rankers, each on the documents of the other folds"));
        Ok(Some(OutOfFold { scores: found, fold, rankers }))
    }
}
