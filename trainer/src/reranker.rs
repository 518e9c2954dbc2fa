//! Training the reranker by cross-fitting: out-of-fold scores of rankers give each training question its candidates,
//! trees learn to put its gold nodes first among them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use burn::module::Module as _;
use burn::tensor::Device;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use tabsegnet::embedded::TableScores;
use tabsegnet::scores;
use tabsegnet_ranker::TabSegNet;
use tabsegnet_ranker::checkpoint::{read_model, write_model};
use tabsegnet_ranker::device::guard;
use tabsegnet_ranker::reranker::{Candidates, Reranker};
use tabsegnet_store::{eprintln, recover};

use crate::batches::{batch, floats, groups};
use crate::config::Config;
use crate::inputs::Input;
use crate::progress::Progress;
use crate::sampling::Sampling;
use crate::state::{Epoch, State};
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

/// An epoch of a ranker that is trained without a fold.
#[derive(Clone, Serialize, Deserialize)]
struct FoldEpoch {
    /// Mean loss over the epoch's steps, each before its update.
    train_loss: f64,
}

impl Epoch for FoldEpoch {
    fn chosen_by(&self) -> Option<f64> {
        None
    }
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
    /// Where the training states of the rankers of the folds are, a directory each.
    pub states: PathBuf,
    /// [`State::inputs`] of those that are gone on with.
    pub inputs: &'a str,
    /// Without autodiff.
    pub plain: &'a Device,
    /// With.
    pub autodiff: &'a Device,
}

impl RerankTraining<'_> {
    /// Trains as many rankers as there are folds, each on the questions of all documents but a fold's, and then
    /// the trees; nothing on a request to stop. What an interrupted training has of the rankers is taken over: those that
    /// were finished as they are, one in progress from the step or the epoch that was written last.
    ///
    /// # Errors
    /// A loss or a score that is not finite; no question with gold among its candidates; a device without the
    /// memory; a training state that is damaged or cannot be written.
    pub fn learn(&self, stop: &AtomicBool) -> Result<Option<Learnt>> {
        let Some(OutOfFold { scores, fold, rankers }) = self.out_of_fold(stop)? else { return Ok(None) };
        let questions: Vec<usize> = (0..self.train.embedded.questions.len()).collect();
        let Some(reranker) = self.reranker(&scores, &questions, "reranker", stop)? else { return Ok(None) };
        let kept = if self.config.output.fold_rankers { rankers.as_slice() } else { &[] };
        let mut without = Vec::with_capacity(kept.len());
        for (left_out, ranker) in kept.iter().enumerate() {
            let others = questions.iter().copied().filter(|&question| fold[self.document(question)] != left_out);
            let name = format!("reranker without fold {}", left_out + 1);
            let reranker = self.reranker(&scores, &others.collect::<Vec<_>>(), &name, stop)?;
            let Some(reranker) = reranker else { return Ok(None) };
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

    /// Trees that order the candidates of some questions anew; nothing on a request to stop.
    fn reranker(
        &self,
        scores: &[Vec<f32>],
        questions: &[usize],
        name: &str,
        stop: &AtomicBool,
    ) -> Result<Option<Reranker>> {
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
        ensure!(
            !lists.is_empty(),
            "{name}: no question that it learns from has a gold node among its candidates; raise reranker.candidates"
        );
        let trees = grown(&lists, &settings.boosting, self.config.task.seed, name, stop);
        Ok(trees.map(|trees| Reranker::new(trees, settings.candidates)))
    }

    fn out_of_fold(&self, stop: &AtomicBool) -> Result<Option<OutOfFold>> {
        let Self { config, plain, .. } = self;
        let embedded = &self.train.embedded;
        let folds = config.reranker.folds;
        let mut rng = ChaCha8Rng::seed_from_u64(config.task.seed);
        rng.set_stream(u64::MAX); // others are of weights and orders
        let fold = table_scorer::folds(&embedded.document_ids(), folds, &mut rng);
        if self.states.exists() {
            recover(&self.states)?;
        }
        let mut found: Vec<Vec<f32>> = vec![Vec::new(); embedded.questions.len()];
        let mut rankers = Vec::new();
        let mut progress = Progress::new("reranker", folds * config.optimisation.epochs);
        for left_out in 0..folds {
            let of_fold = |question: &usize| fold[self.document(*question)] == left_out;
            let (held_out, kept): (Vec<usize>, Vec<usize>) = (0..embedded.questions.len()).partition(of_fold);
            let Some(model) = self.ranker_without(left_out, &kept, &mut progress, stop)? else {
                progress.finish("stopped");
                return Ok(None);
            };
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

    /// The ranker that learns from the questions `kept`, those of all documents but a fold's; nothing on a request to stop.
    fn ranker_without(
        &self,
        left_out: usize,
        kept: &[usize],
        progress: &mut Progress,
        stop: &AtomicBool,
    ) -> Result<Option<TabSegNet>> {
        let Self { config, plain, .. } = self;
        let (embedded, optimisation) = (&self.train.embedded, &config.optimisation);
        let (folds, epochs) = (config.reranker.folds, optimisation.epochs);
        let name = format!("the ranker without fold {} of {folds}, for the reranker", left_out + 1);
        let place = self.states.join((left_out + 1).to_string());
        let (mut train_state, mut state) = self.begin(&place)?;
        if state.finished {
            eprintln!("{name}: is trained already");
        } else if state.step > 0 || !state.epochs.is_empty() {
            eprintln!("{name}: goes on after epoch {}, step {} of the next", state.epochs.len(), state.step);
        }
        let schedule = Schedule::new(optimisation, config.task.seed, kept.len());
        for epoch in state.epochs.len() + 1..=epochs {
            let order = schedule.order(kept.to_vec(), epoch);
            for (number, questions) in order.chunks(optimisation.batch_size).enumerate().skip(state.step) {
                let sampled = Some((self.sampling, epoch));
                let batch = batch(embedded, questions, sampled, self.tables, &config.model, self.autodiff)?;
                let step = (epoch - 1) * schedule.steps_of_epoch() + number;
                let at = || format!("step {} of {name}", step + 1);
                let loss = guard(plain, || train_state.step(&batch, &schedule, step)).with_context(at)?;
                if !loss.is_finite() {
                    bail!("the loss is {loss} at {}; {}", at(), optimisation.steadier());
                }
                state.loss_sum += loss;
                state.step = number + 1;
                if stop.load(Ordering::Relaxed) {
                    write(&mut state, &place, &train_state)?;
                    return Ok(None);
                }
            }
            let train_loss = state.loss_sum / state.step.max(1) as f64;
            state.epochs.push(FoldEpoch { train_loss });
            (state.step, state.loss_sum) = (0, 0.0);
            state.finished = epoch == epochs;
            write(&mut state, &place, &train_state)?;
            progress.set(left_out * epochs + epoch, folds * epochs, "epochs");
        }
        Ok(Some(train_state.model.valid()))
    }

    /// A ranker of a fold where its training stands: as it was written last, or at its beginning.
    fn begin(&self, place: &Path) -> Result<(TrainState, State<FoldEpoch>)> {
        let optimiser = optimiser(&self.config.optimisation);
        let earlier = State::<FoldEpoch>::peek(place)?.filter(|state| state.inputs == self.inputs);
        let Some(state) = earlier else {
            return Ok((TrainState { model: self.start.clone(), optimiser }, State::new(self.inputs.to_owned())));
        };
        let (file, optimiser) = state.read(place, optimiser)?;
        let model = read_model(&file, &self.config.model, self.train.embedded.d_enc(), self.autodiff)?;
        let model = model.with_precision(self.config.optimisation.precision);
        Ok((TrainState { model, optimiser }, state))
    }
}

fn write(state: &mut State<FoldEpoch>, place: &Path, train_state: &TrainState) -> Result<()> {
    state.write(place, |path| Ok(write_model(path, &train_state.model)?), &train_state.optimiser)
}
