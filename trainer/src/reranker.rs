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
    pub fn learn(&self, stop: &AtomicBool) -> Result<Option<Reranker>> {
        let Some(scores) = self.out_of_fold(stop)? else { return Ok(None) };
        let embedded = &self.train.embedded;
        let settings = &self.config.reranker;
        let candidates = |question: usize| {
            let features = embedded.features(question, self.tables);
            Candidates::new(&embedded.query_context(question, &features), &scores[question], settings.candidates)
        };
        let questions = embedded.questions.len();
        let lists = lists(
            embedded,
            Candidates::width(self.config.model.features),
            questions * settings.candidates,
            &|question| {
                let Candidates { nodes, rows } = candidates(question);
                (nodes, rows)
            },
        );
        if lists.is_empty() {
            bail!("no training question has a gold node among its candidates; raise reranker.candidates");
        }
        let trees = grown(&lists, &settings.boosting, self.config.task.seed, "reranker");
        Ok(Some(Reranker::new(trees, settings.candidates)))
    }

    /// For each training question the scores of a ranker that was trained without its document.
    fn out_of_fold(&self, stop: &AtomicBool) -> Result<Option<Vec<Vec<f32>>>> {
        let Self { config, plain, .. } = self;
        let embedded = &self.train.embedded;
        let folds = config.reranker.folds;
        let mut rng = ChaCha8Rng::seed_from_u64(config.task.seed);
        rng.set_stream(u64::MAX); // others are of weights and orders
        let fold = table_scorer::folds(&embedded.document_ids(), folds, &mut rng);
        let (optimisation, seed) = (&config.optimisation, config.task.seed);
        let mut found: Vec<Vec<f32>> = vec![Vec::new(); embedded.questions.len()];
        let mut progress = Progress::new("reranker", folds * optimisation.epochs);
        for left_out in 0..folds {
            let of_fold = |question: &usize| fold[embedded.questions[*question].document] == left_out;
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
        }
        progress.finish(&format!("{folds} rankers, each on the documents of the other folds"));
        Ok(Some(found))
    }
}
