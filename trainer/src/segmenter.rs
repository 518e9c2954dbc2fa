//! Training a question segmenter: a T5 that writes the segments of a question.
//!
//! Teacher forcing on question and segments; before them, where it is wanted, on questions generated from the
//! headers of tables, so that a model that starts from nothing learns to copy. What it writes is a model in Hugging Face layout.

mod base;
mod concatenated;
mod epoch;
mod generated;
mod order;
mod renamed;
mod step;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use burn::module::Module as _;
use burn::optim::{AdamWConfig, ModuleOptimizer};
use burn::tensor::Device;
use tabsegnet_datasets::config::Part;
use tabsegnet_segmenter::data::{self, LabelledQuestion};
use tabsegnet_segmenter::t5::{Pair, T5};
use tabsegnet_segmenter::{ModelFiles, serialize};
use tabsegnet_store::{Digest, eprintln, write_bytes_atomic};

use crate::config::{Choice, Config, SegmenterTrainingConfig};
use crate::layout::Layout;
use crate::progress::Progress;
use crate::state::{Start, State};
use crate::training::Outcome;
use crate::{inputs, segments};
use base::Base;
pub use epoch::{SegmenterEpoch, Stage};
use generated::GeneratedQuestions;

/// A training in progress.
pub struct SegmenterTraining<'a> {
    config: &'a Config,
    settings: &'a SegmenterTrainingConfig,
    layout: Layout,
    /// Without autodiff; [`SegmenterTraining::device`] with.
    plain: Device,
    device: Device,
    base: Base,
    model: T5,
    optimiser: ModuleOptimizer,
    state: State<SegmenterEpoch>,
    train: Vec<Pair>,
    dev: Vec<Pair>,
    dev_questions: Vec<LabelledQuestion>,
    train_questions: Vec<LabelledQuestion>,
    /// What the questions of the stage before the labelled ones are generated from; none without that stage.
    generated: Option<GeneratedQuestions>,
    data: [String; 2],
}

impl<'a> SegmenterTraining<'a> {
    /// Starts anew, or goes on where the state below `output.directory` stands.
    ///
    /// # Errors
    /// As [`Training::new`](crate::training::Training::new); files or a model that cannot be read.
    pub fn new(config: &'a Config, device: Device, resume: bool) -> Result<Self> {
        let settings = &config.segmenter_training;
        settings.precision.check(&device)?;
        let layout = Layout::new(config);
        let (train_questions, train_digest) = questions(config, &layout, Part::Train)?;
        let (dev_questions, dev_digest) = questions(config, &layout, Part::Dev)?;
        let generated =
            if settings.generated > 0 { Some(GeneratedQuestions::new(config, &train_questions)?) } else { None };
        let train_questions: Vec<LabelledQuestion> =
            train_questions.iter().map(|question| generated::settled(question, settings.rules_from)).collect();
        // The words of headers are words to copy.
        let to_copy = generated.as_ref().map(|generated| generated.labelled(0)).unwrap_or_default();
        let base = Base::open(config, train_questions.iter().chain(&to_copy))?;
        let train = base.pairs(&train_questions, "train", &config.segmenter)?;
        let dev = base.pairs(&dev_questions, "dev", &config.segmenter)?;
        let mut inputs =
            Digest::new().part(config.digest()?).part(&train_digest).part(&dev_digest).part(&base.identity);
        if let Some(generated) = &generated {
            inputs = generated.digest(inputs);
        }
        let autodiff = device.clone().autodiff();
        let place = layout.state();
        let (model, optimiser, state) = match State::start(&place, inputs.hex(), resume)? {
            Start::Resume(state) => {
                let (file, optimiser) = state.read(&place, optimiser(settings))?;
                let weights = ModelFiles::directory(file.parent().unwrap_or(&place)).weights()?;
                (T5::read(&base.config, &weights, &autodiff)?, optimiser, state)
            }
            Start::New(mut state, replaces) => {
                let (model, optimiser) = (base.model(config, &autodiff)?, optimiser(settings));
                if replaces {
                    state.write(&place, |path| write_weights(path, &model), &optimiser)?;
                }
                (model, optimiser, state)
            }
        };
        let model = model.with_precision(settings.precision);
        eprintln!(
            "segmenter: {} parameters, {} questions to train on, {} to measure on",
            base.config
                .parameters(model.own_head())
                .iter()
                .map(|(_, shape)| shape.iter().product::<usize>())
                .sum::<usize>(),
            train.len(),
            dev.len()
        );
        Ok(Self {
            config,
            settings,
            layout,
            plain: device,
            device: autodiff,
            base,
            model,
            optimiser,
            state,
            train,
            dev,
            dev_questions,
            train_questions,
            generated,
            data: [train_digest, dev_digest],
        })
    }

    /// Trains to the end, or until `stop` is set: then the current step is finished and the state
    /// written.
    ///
    /// # Errors
    /// A loss or gradient that is not finite; files that cannot be written; a device that fails.
    pub fn run(&mut self, stop: &AtomicBool) -> Result<Outcome> {
        while self.state.epochs.len() < self.epochs() {
            if self.epoch(stop)? == Outcome::Stopped {
                return Ok(Outcome::Stopped);
            }
        }
        if let Some(best) = self.state.best() {
            let by = match self.settings.choose {
                Choice::Loss => "loss",
                Choice::TokenF1 => "token F1",
            };
            eprintln!("best epoch by dev {by}: {} ({best}) in {}", best.epoch, self.layout.best().display());
        }
        Ok(Outcome::Finished)
    }

    fn generated_epochs(&self) -> usize {
        if self.generated.is_some() { self.settings.generated_epochs } else { 0 }
    }

    fn epochs(&self) -> usize {
        self.generated_epochs() + self.settings.epochs
    }

    /// The stage of an epoch, from 1.
    fn stage(&self, epoch: usize) -> Stage {
        if epoch <= self.generated_epochs() { Stage::Generated } else { Stage::Segments }
    }

    /// The epochs before a stage and those of it.
    fn place_of(&self, stage: Stage) -> (usize, usize) {
        let generated = self.generated_epochs();
        match stage {
            Stage::Generated => (0, generated),
            Stage::Segments => (generated, self.settings.epochs),
        }
    }

    fn epoch(&mut self, stop: &AtomicBool) -> Result<Outcome> {
        let started = Instant::now();
        let (epoch, epochs) = (self.state.epochs.len() + 1, self.epochs());
        let stage = self.stage(epoch);
        // Moments of the other task's gradients say nothing of this one's.
        if epoch == self.place_of(stage).0 + 1 && self.state.step == 0 {
            self.optimiser = optimiser(self.settings);
        }
        let pairs = self.pairs(stage, epoch)?;
        let batches = order::batches(&pairs, self.settings.batch_size, self.config.task.seed, epoch);
        let mut progress = Progress::new(&format!("epoch {epoch}/{epochs}"), batches.len());
        let (mut tokens, at_start) = (0, Instant::now());
        for (step, batch) in batches.iter().enumerate().skip(self.state.step) {
            let batch: Vec<&Pair> = batch.iter().filter_map(|pair| pairs.get(*pair)).collect();
            let loss = self.step(&batch, stage, epoch, step, batches.len())?;
            self.state.loss_sum += loss;
            self.state.step = step + 1;
            tokens += batch.iter().map(|pair| pair.input.len() + pair.target.len()).sum::<usize>();
            let mean = self.state.loss_sum / self.state.step as f64;
            let speed = tokens as f64 / at_start.elapsed().as_secs_f64();
            progress.set(self.state.step, batches.len(), &format!("loss {mean:.4}, {speed:.0} tokens/s"));
            if stop.load(Ordering::Relaxed) && self.state.step < batches.len() {
                self.write_state()?;
                progress.finish(&format!("stopped after step {}; --resume goes on", self.state.step));
                return Ok(Outcome::Stopped);
            }
        }
        let seconds = at_start.elapsed().as_secs_f64();
        let (dev_loss, segments) = (self.dev_loss()?, self.dev_segments()?);
        let measured = SegmenterEpoch {
            epoch,
            stage,
            steps: self.state.epochs.last().map_or(0, |epoch| epoch.steps) + batches.len(),
            train_loss: self.state.loss_sum / batches.len() as f64,
            dev_loss,
            chosen_by: SegmenterEpoch::criterion(self.settings.choose, stage, dev_loss, segments.as_ref()),
            segments,
            seconds: started.elapsed().as_secs_f64(),
        };
        progress.finish(&format!("{measured}, {:.0} tokens/s", tokens as f64 / seconds.max(1e-9)));
        self.state.end_epoch(measured.clone(), epoch == epochs);
        self.write_epoch(&measured)?;
        Ok(if self.state.is_stopped(stop, epochs) { Outcome::Stopped } else { Outcome::Finished })
    }

    fn pairs(&self, stage: Stage, epoch: usize) -> Result<Vec<Pair>> {
        Ok(match stage {
            Stage::Segments => match &self.generated {
                Some(generated) => {
                    let questions = generated.with_renamed(&self.train_questions, epoch);
                    self.base.pairs(&questions, "train", &self.config.segmenter)?
                }
                None => self.train.clone(),
            },
            Stage::Generated => {
                let generated = self.generated.as_ref().map(|generated| generated.labelled(epoch)).unwrap_or_default();
                self.base.pairs(&generated, "generated", &self.config.segmenter)?
            }
        })
    }

    /// Mean loss a token of the dev targets.
    fn dev_loss(&self) -> Result<f64> {
        let loss = step::mean_loss(&self.model.valid(), &self.dev, self.settings.micro_batch, &self.plain)?;
        ensure!(
            loss.is_finite(),
            "the dev loss is {loss} after epoch {}; {}",
            self.state.epochs.len() + 1,
            self.last_whole()
        );
        Ok(loss)
    }

    /// Checkpoints first, the state last: whatever is cut off in between is done again, with the same result, by a
    /// resumed training.
    fn write_epoch(&mut self, measured: &SegmenterEpoch) -> Result<()> {
        if self.state.best().is_some_and(|best| best.epoch == measured.epoch) {
            self.write_checkpoint(&self.layout.best(), measured)?;
        }
        self.write_checkpoint(&self.layout.last(), measured)?;
        self.state.write_metrics(&self.layout.metrics())?;
        self.write_state()
    }

    fn write_state(&mut self) -> Result<()> {
        let model = &self.model;
        self.state.write(&self.layout.state(), |path| write_weights(path, model), &self.optimiser)
    }

    /// What is left of a training that cannot go on.
    fn last_whole(&self) -> String {
        format!("{}; try a lower segmenter_training.learning_rate", self.state.last_whole(&self.layout))
    }
}

fn optimiser(settings: &SegmenterTrainingConfig) -> ModuleOptimizer {
    AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(settings.weight_decay).init()
}

fn write_weights(path: &Path, model: &T5) -> Result<()> {
    Ok(write_bytes_atomic(path, &serialize(&model.parameters(), false, path)?)?)
}

/// The questions of the files that are named for a part, or those of the data set, and a digest of them.
fn questions(config: &Config, layout: &Layout, part: Part) -> Result<(Vec<LabelledQuestion>, String)> {
    let settings = &config.segmenter_training;
    let named = if part == Part::Train { &settings.train } else { &settings.dev };
    let files = match named.as_slice() {
        [] => vec![of_dataset(config, layout, part)?],
        files => files.iter().map(PathBuf::from).collect(),
    };
    let (mut all, mut digest) = (Vec::new(), Digest::new());
    for file in files {
        for question in data::read(&file)? {
            digest = digest.part(&question.question).part(question.segments.join("\n"));
            all.push(question);
        }
    }
    ensure!(!all.is_empty(), "segmenter_training.{}: the files hold no question", part.name());
    Ok((all, digest.hex()))
}

/// Writes the questions of a data set's part that have segments into the results' directory, so that what
/// was trained on can be looked at, and says how many have none.
fn of_dataset(config: &Config, layout: &Layout, part: Part) -> Result<PathBuf> {
    let name = part.name();
    let prepared = inputs::prepared(config, part)
        .with_context(|| format!("segmenter_training.{name} names no file, and [data] gives no {name} part"))?;
    let path = layout.segments(name);
    let (with, without) = segments::write(&path, &prepared)?;
    eprintln!("segments of {name}: {with} questions, {without} without segments left out; lines in {}", path.display());
    ensure!(with > 0, "no question of the {name} part has segments; name files in segmenter_training.{name}");
    Ok(path)
}
