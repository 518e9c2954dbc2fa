//! Training the ranker.

use std::cell::LazyCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use burn::module::Module as _;
use burn::tensor::Device;
use tabsegnet::Embedded;
use tabsegnet::embedded::TableScores;
use tabsegnet::scores::Scorer;
use tabsegnet_evaluation::{GoldRanks, QuestionMeasures};
use tabsegnet_features::table_scorer::{Example, share_right};
use tabsegnet_ranker::checkpoint::{self, Checkpoint, Manifest, read_model, write_model};
use tabsegnet_ranker::device::guard;
use tabsegnet_ranker::reranker::Reranker;
use tabsegnet_ranker::{Batch, Inference, TabSegNet};
use tabsegnet_store::{Digest, eprintln};

use crate::batches::{batch, floats, groups};
use crate::card;
use crate::config::{Config, Keep};
use crate::folds;
use crate::inputs::{Encoding, Input};
use crate::layout::Layout;
use crate::progress::Progress;
use crate::reranker::{Learnt, RerankTraining};
use crate::sampling::Sampling;
use crate::state::{EpochMetrics, Start, State};
use crate::table_scorer;
use crate::train_state::{Schedule, TrainState, loss, optimiser};

/// How a training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All epochs are done.
    Finished,
    /// It was requested to stop; `--resume` goes on.
    Stopped,
}

/// A training in progress.
pub struct Training<'a> {
    config: &'a Config,
    train: &'a Input,
    dev: &'a Input,
    encoding: &'a Encoding,
    layout: Layout,
    /// Without autodiff; [`Training::device`] with.
    plain: Device,
    device: Device,
    train_state: TrainState,
    state: State,
    /// SHA-256 of the weights that the training began with; empty where they were random.
    started_from: String,
    /// The ranker before its first step, where a reranker is to come.
    start: Option<TabSegNet>,
    /// The table scores of the training documents, out of fold, and of the dev documents.
    tables: [TableScores; 2],
    /// Of the training documents.
    sampling: Sampling,
}

impl<'a> Training<'a> {
    /// Starts anew, or goes on where the state below `output.directory` stands.
    ///
    /// # Errors
    /// To resume one of other inputs; to start over one that is not
    /// finished or whose inputs were others, since that would lose it; a precision that the device
    /// does not have; a reranker with more folds than documents.
    pub fn new(
        config: &'a Config,
        train: &'a Input,
        dev: &'a Input,
        encoding: &'a Encoding,
        device: Device,
        beginning: Option<Checkpoint>,
        resume: bool,
    ) -> Result<Self> {
        let precision = config.optimisation.precision;
        precision.check(&device)?;
        let (documents, settings) = (train.embedded.documents.len(), &config.reranker);
        ensure!(
            settings.candidates == 0 || settings.folds <= documents,
            "reranker.folds is {}, but the training part has {documents} documents; give at most as many",
            settings.folds
        );
        let layout = Layout::new(config);
        let encoder = encoding.encoder.as_ref();
        let autodiff = device.clone().autodiff();
        let started_from = beginning.as_ref().map_or("", |beginning| beginning.manifest.weights()).to_owned();
        let inputs = Digest::new()
            .part(config.digest()?)
            .part(&train.digest)
            .part(&dev.digest)
            .part(encoder.identity())
            .part(encoding.segmenter.identity())
            .part(format!("{:?}", encoding.glossary.entries()))
            .part(encoding.featuriser.words())
            .part(&started_from)
            .hex();
        let optimiser = optimiser(&config.optimisation);
        let place = layout.state();
        let examples = if config.model.table_scorer { train.embedded.table_examples() } else { Vec::new() };
        let tables =
            TableScores(table_scorer::out_of_fold(&examples, &train.embedded.document_ids(), config.task.seed));
        let sampling = Sampling::new(&train.embedded, config.optimisation.sampled_nodes, config.task.seed);
        let before = LazyCell::new(|| match beginning {
            // With the scale of features that its weights were learnt over.
            Some(beginning) => beginning.model,
            None => {
                let (mean, scale) =
                    train.embedded.feature_scale(&tables, |question| sampling.nodes(&train.embedded, question, 0));
                TabSegNet::new(&config.model, encoder.dim(), config.task.seed, &autodiff)
                    .with_feature_scale(&mean, &scale)
            }
        });
        let begun = State::start(&place, inputs, resume)?;
        let goes_on = matches!(&begun, Start::Resume(state) if !state.finished);
        if !goes_on {
            // Those of an earlier training.
            remove_all(&layout.fold_states())?;
        }
        let (model, optimiser, state) = match begun {
            Start::Resume(state) => {
                let (file, optimiser) = state.read(&place, optimiser)?;
                let model = read_model(&file, &config.model, encoder.dim(), &autodiff)?;
                (model, optimiser, state)
            }
            Start::New(mut state, replaces) => {
                let model = before.clone().with_table_scorer(&table_scorer::train(&examples, config.task.seed));
                // From here on the checkpoints of the earlier training are replaced: a state that
                // calls them finished must not outlast them.
                if replaces {
                    state.write(&place, |path| Ok(write_model(path, &model)?), &optimiser)?;
                }
                (model, optimiser, state)
            }
        };
        let model = model.with_precision(precision);
        // A training that is finished has its reranker.
        let wanted = config.reranker.candidates > 0 && !state.finished;
        let start = wanted.then(|| before.clone().with_precision(precision));
        drop(before);
        let tables = [tables, dev.embedded.table_scores(model.table_scorer().as_ref())];
        if config.model.table_scorer {
            let right = |part: &str, examples: &[Example], tables: &TableScores| match share_right(examples, &tables.0)
            {
                Some(share) => format!("in {:.1} % of the {part} documents", 100.0 * share),
                None => format!("(no {part} document has tables to tell apart)"),
            };
            eprintln!(
                "table scorer: the likeliest table holds gold {}, scored out of fold, {}",
                right("training", &examples, &tables[0]),
                right("dev", &dev.embedded.table_examples(), &tables[1])
            );
        }
        Ok(Self {
            tables,
            sampling,
            config,
            train,
            dev,
            encoding,
            layout,
            plain: device,
            device: autodiff,
            train_state: TrainState { model, optimiser },
            state,
            started_from,
            start,
        })
    }

    /// Trains to the end, or until `stop` is set: then the current step is finished and the state
    /// written.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<Outcome> {
        while self.state.epochs.len() < self.config.optimisation.epochs {
            if self.epoch(stop)? == Outcome::Stopped {
                return Ok(Outcome::Stopped);
            }
        }
        if let Some(best) = self.kept() {
            let by = match self.config.optimisation.keep {
                Keep::LeastDevLoss => "best epoch by dev loss",
                Keep::Last => "last epoch, kept",
            };
            eprintln!(
                "{by}: {} (loss {:.4}, recall@10 {:.4}, MAP {:.4}) in {}",
                best.epoch,
                best.dev_loss,
                best.dev_recall_10,
                best.dev_map,
                self.layout.best().display()
            );
        }
        match self.start.take() {
            Some(start) => self.reranker(start, stop),
            None => Ok(Outcome::Finished),
        }
    }

    /// Trains the reranker and writes both checkpoints again, with it.
    fn reranker(&mut self, start: TabSegNet, stop: &AtomicBool) -> Result<Outcome> {
        let Self { config, train, plain, device: autodiff, sampling, .. } = self;
        let (tables, inputs) = (&self.tables[0], self.state.inputs.as_str());
        let states = self.layout.fold_states();
        let training = RerankTraining { config, train, tables, sampling, start, states, inputs, plain, autodiff };
        let Some(Learnt { reranker, rankers, folds }) = training.learn(stop)? else {
            eprintln!("stopped at the reranker; --resume goes on");
            return Ok(Outcome::Stopped);
        };
        let metrics = self.state.epochs.last().context("a reranker before the first epoch")?.clone();
        let model = self.train_state.model.valid();
        let embedded = &self.dev.embedded;
        // All see the features of one table scorer.
        let table_scorer = model.table_scorer();
        let others: Vec<TabSegNet> = match table_scorer {
            Some(scorer) => rankers.into_iter().map(|ranker| ranker.with_table_scorer(&scorer)).collect(),
            None => rankers,
        };
        let others = if self.config.reranker.ensemble { others } else { Vec::new() };
        let inference =
            Inference::new(model, &self.config.model, embedded.d_enc(), &self.plain).with(others.iter().cloned());
        let scorer = Scorer { inference: &inference, reranker: Some(&reranker) };
        let scores = guard(&self.plain, || scorer.scores(embedded))??;
        let measures = measures(embedded, &scores)?;
        eprintln!(
            "reranker: dev recall@10 {:.4} instead of {:.4}, dev MAP {:.4} instead of {:.4}",
            measures.recall_at[3], metrics.dev_recall_10, measures.average_precision, metrics.dev_map
        );
        if let Some(folds) = &folds {
            let ids = self.train.embedded.document_ids();
            folds::write(&self.layout.folds(), folds, &ids, self.manifest(&metrics), &self.config.to_toml()?)?;
        }
        self.write_checkpoints(&metrics, &others, Some((&reranker, &measures)))?;
        self.state.finished = true;
        self.write_state()?;
        remove_all(&self.layout.fold_states())?;
        Ok(Outcome::Finished)
    }

    /// The epoch that is kept, of those so far.
    fn kept(&self) -> Option<&EpochMetrics> {
        match self.config.optimisation.keep {
            Keep::LeastDevLoss => self.state.best(),
            Keep::Last => self.state.epochs.last(),
        }
    }

    fn epoch(&mut self, stop: &AtomicBool) -> Result<Outcome> {
        let started = Instant::now();
        let epoch = self.state.epochs.len() + 1;
        let epochs = self.config.optimisation.epochs;
        let order = self.schedule().order((0..self.train.embedded.questions.len()).collect(), epoch);
        let batches: Vec<&[usize]> = order.chunks(self.config.optimisation.batch_size).collect();
        let mut progress = Progress::new(&format!("epoch {epoch}/{epochs}"), batches.len());
        for (step, questions) in batches.iter().enumerate().skip(self.state.step) {
            let loss = self.step(questions)?;
            if !loss.is_finite() {
                bail!(self.not_finite(loss, epoch, step + 1, questions));
            }
            self.state.loss_sum += loss;
            self.state.step = step + 1;
            let mean = self.state.loss_sum / self.state.step as f64;
            progress.set(self.state.step, batches.len(), &format!("loss {mean:.4}"));
            // The end of an epoch is written below, with its figures.
            if stop.load(Ordering::Relaxed) && self.state.step < batches.len() {
                self.write_state()?;
                progress.finish(&format!("stopped after step {}; --resume goes on", self.state.step));
                return Ok(Outcome::Stopped);
            }
        }
        let (dev_loss, measures) = self.measure_dev()?;
        let before = self.state.epochs.last().map_or(0, |metrics| metrics.steps);
        let metrics = EpochMetrics {
            epoch,
            steps: before + batches.len(),
            train_loss: self.state.loss_sum / batches.len() as f64,
            dev_loss,
            dev_recall_10: measures.recall_at[3],
            dev_map: measures.average_precision,
            seconds: started.elapsed().as_secs_f64(),
        };
        progress.finish(&format!(
            "train loss {:.4}, dev loss {:.4}, dev recall@10 {:.4}, dev MAP {:.4}",
            metrics.train_loss, metrics.dev_loss, metrics.dev_recall_10, metrics.dev_map
        ));
        self.state.end_epoch(metrics.clone(), epoch == epochs && self.start.is_none());
        self.write_epoch(&metrics)?;
        Ok(if self.state.is_stopped(stop, epochs) { Outcome::Stopped } else { Outcome::Finished })
    }

    /// One optimiser step; returns the loss before it.
    fn step(&mut self, questions: &[usize]) -> Result<f64> {
        let sampled = Some((&self.sampling, self.state.epochs.len() + 1));
        let batch = batch(&self.train.embedded, questions, sampled, &self.tables[0], &self.config.model, &self.device)?;
        let device = self.plain.clone();
        guard(&device, || self.learn(&batch)).with_context(|| {
            format!(
                "a step on {} questions with {} nodes and {} edges, which takes about {} MB (optimisation.batch_size is \
                 {}); {}",
                questions.len(),
                batch.nodes(),
                batch.edges.len(),
                batch.step_bytes(&self.config.model).div_ceil(1_000_000),
                self.config.optimisation.batch_size,
                self.state.last_whole(&self.layout)
            )
        })
    }

    fn learn(&mut self, batch: &Batch) -> f64 {
        let schedule = self.schedule();
        let step = self.state.epochs.len() * schedule.steps_of_epoch() + self.state.step;
        self.train_state.step(batch, &schedule, step)
    }

    fn schedule(&self) -> Schedule<'a> {
        Schedule::new(&self.config.optimisation, self.config.task.seed, self.train.embedded.questions.len())
    }

    fn not_finite(&self, loss: f64, epoch: usize, step: usize, questions: &[usize]) -> String {
        let embedded = &self.train.embedded;
        let names: Vec<String> = questions
            .iter()
            .map(|&q| format!("{} ({})", embedded.questions[q].id, embedded.document_of(q).id))
            .collect();
        format!(
            "the loss is {loss} at epoch {epoch}, step {step}; questions (documents) of the step: {}; \
             {}; {}",
            names.join(", "),
            self.state.last_whole(&self.layout),
            self.config.optimisation.steadier()
        )
    }

    /// Mean loss and measures over the dev questions with gold.
    fn measure_dev(&self) -> Result<(f64, QuestionMeasures)> {
        let model = self.train_state.model.valid();
        let embedded = &self.dev.embedded;
        let (mut loss_sum, mut counted) = (0.0, 0);
        let mut all = Vec::with_capacity(embedded.questions.len());
        for group in groups(embedded, 0..embedded.questions.len()) {
            let batch = batch(embedded, &group, None, &self.tables[1], &self.config.model, &self.plain)?;
            let scores = model.forward(&batch);
            if let Some((mean, questions)) = loss(&self.config.optimisation, scores.clone(), &batch) {
                loss_sum += floats(mean.into_data()).into_iter().map(f64::from).sum::<f64>() * questions as f64;
                counted += questions;
            }
            let scores = floats(scores.into_data());
            for (&question, scores) in group.iter().zip(batch.split(&scores)) {
                if let Some(score) = scores.iter().find(|score| !score.is_finite()) {
                    bail!(
                        "a score is {score} after epoch {}, step {}, for the dev question {} ({}); {}; {}",
                        self.state.epochs.len() + 1,
                        self.state.step,
                        embedded.questions[question].id,
                        embedded.document_of(question).id,
                        self.state.last_whole(&self.layout),
                        self.config.optimisation.steadier()
                    );
                }
                all.push(scores.to_vec());
            }
        }
        let measures = measures(embedded, &all)?;
        // Finite scores too far apart for their differences.
        if !loss_sum.is_finite() {
            bail!(
                "the dev loss is {loss_sum} after epoch {}; {}; {}",
                self.state.epochs.len() + 1,
                self.state.last_whole(&self.layout),
                self.config.optimisation.steadier()
            );
        }
        Ok((loss_sum / counted.max(1) as f64, measures))
    }

    /// Checkpoints first, the state last: whatever is cut off in between is done again, with the same result, by
    /// a resumed training.
    fn write_epoch(&mut self, metrics: &EpochMetrics) -> Result<()> {
        self.write_checkpoints(metrics, &[], None)?;
        self.state.write_metrics(&self.layout.metrics())?;
        self.write_state()
    }

    fn write_checkpoints(
        &self,
        metrics: &EpochMetrics,
        others: &[TabSegNet],
        reranker: Option<(&Reranker, &QuestionMeasures)>,
    ) -> Result<()> {
        let mut manifest = self.manifest(metrics);
        manifest.reranker_pending = reranker.is_none() && self.config.reranker.candidates > 0;
        if let Some((_, measures)) = reranker {
            for (name, value) in [("recall@10", measures.recall_at[3]), ("MAP", measures.average_precision)] {
                if let Some(before) = manifest.dev.insert(name.to_owned(), value) {
                    manifest.dev.insert(format!("{name} before the reranker"), before);
                }
            }
        }
        let measures = reranker.map(|(_, measures)| measures);
        let reranker = reranker.map(|(reranker, _)| reranker);
        let config = self.config.to_toml()?;
        let card = card::ranker(self.config, metrics, measures, &self.train.statistics, &self.dev.statistics);
        let write = |directory: &Path| {
            checkpoint::write(directory, &self.train_state.model, others, reranker, manifest.clone(), &config, &card)
                .with_context(|| {
                    format!("the checkpoint of epoch {} was not written; earlier files are whole", metrics.epoch)
                })
        };
        if self.kept().is_some_and(|kept| kept.epoch == metrics.epoch) {
            write(&self.layout.best())?;
        }
        write(&self.layout.last())
    }

    fn write_state(&mut self) -> Result<()> {
        let TrainState { model, optimiser } = &self.train_state;
        self.state.write(&self.layout.state(), |path| Ok(write_model(path, model)?), optimiser)
    }

    fn manifest(&self, metrics: &EpochMetrics) -> Manifest {
        let (encoder, segmenter) = (self.encoding.encoder.as_ref(), self.encoding.segmenter.as_ref());
        let mut manifest = Manifest::new(
            &self.config.model,
            encoder.dim(),
            encoder.identity(),
            segmenter.identity(),
            self.config.task.seed,
        );
        manifest.words = self.encoding.featuriser.words().to_owned();
        manifest.epoch = metrics.epoch;
        manifest.started_from.clone_from(&self.started_from);
        for (part, input) in [("train", self.train), ("dev", self.dev)] {
            manifest.data.insert(part.to_owned(), input.digest.clone());
        }
        for (name, value) in
            [("loss", metrics.dev_loss), ("recall@10", metrics.dev_recall_10), ("MAP", metrics.dev_map)]
        {
            manifest.dev.insert(name.to_owned(), value);
        }
        manifest
    }
}

/// Removes a directory with all that is in it, where it is there.
fn remove_all(directory: &Path) -> Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}: could not be removed", directory.display()))
        }
        _ => Ok(()),
    }
}

/// Means over the questions with gold, of which `scores` has one a node.
fn measures(embedded: &Embedded, scores: &[Vec<f32>]) -> Result<QuestionMeasures> {
    let query = embedded.questions.iter().zip(scores).filter(|(question, _)| !question.gold.is_empty());
    let measures: Result<Vec<QuestionMeasures>> = query
        .map(|(question, scores)| Ok(QuestionMeasures::of(&GoldRanks::of_scores(scores, &question.gold)?)))
        .collect();
    QuestionMeasures::mean(&measures?).context("no dev question has a gold node")
}
