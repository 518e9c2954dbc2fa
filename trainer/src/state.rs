//! The training state: all that a resumed training needs to go on as if nothing had happened.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, bail};
use burn::optim::{ModuleOptimizer, OptimizerRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tabsegnet_store::{Staging, eprintln, read_text, sha256_file, write_bytes_atomic};

use crate::layout::Layout;

const FORMAT: u32 = 1;
const MODEL: &str = "model.safetensors";
const OPTIMISER: &str = "optimiser.bpk";
const STATE: &str = "state.json";

/// The figures of one epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochMetrics {
    /// From 1.
    pub epoch: usize,
    /// Optimiser steps taken so far.
    pub steps: usize,
    /// Mean loss over the epoch's steps, each before its update.
    pub train_loss: f64,
    /// Mean loss over the dev questions.
    pub dev_loss: f64,
    /// Mean recall@10 over the dev questions.
    pub dev_recall_10: f64,
    /// Mean average precision over the dev questions.
    pub dev_map: f64,
    /// Wall-clock time of the epoch.
    pub seconds: f64,
}

impl Epoch for EpochMetrics {
    fn chosen_by(&self) -> Option<f64> {
        Some(self.dev_loss)
    }
}

/// The figures of an epoch of any kind of training.
pub trait Epoch: Clone + Serialize + DeserializeOwned {
    /// The dev loss that the best epoch has least; none where it is not to be chosen.
    fn chosen_by(&self) -> Option<f64>;
}

/// How a training begins.
pub enum Start<M> {
    /// Where the state stands.
    Resume(State<M>),
    /// Anew; `true` where the state of a finished training of the same inputs stands in the place.
    New(State<M>, bool),
}

/// Where a training stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State<M = EpochMetrics> {
    format: u32,
    /// SHA-256 of the other two files.
    files: [String; 2],
    /// Digest of everything that the weights depend on: config, data, encoder.
    pub inputs: String,
    /// Steps taken in the epoch after the last complete one.
    pub step: usize,
    /// Sum of their losses.
    pub loss_sum: f64,
    /// The complete epochs.
    pub epochs: Vec<M>,
    /// Whether all epochs are done.
    pub finished: bool,
}

impl<M: Epoch> State<M> {
    /// Before the first step.
    pub fn new(inputs: String) -> Self {
        Self {
            format: FORMAT,
            files: Default::default(),
            inputs,
            step: 0,
            loss_sum: 0.0,
            epochs: Vec::new(),
            finished: false,
        }
    }

    /// The best epoch by dev loss, the first of equal ones.
    pub fn best(&self) -> Option<&M> {
        let chosen = self.epochs.iter().filter_map(|epoch| Some((epoch, epoch.chosen_by()?)));
        chosen.reduce(|best, next| if next.1 < best.1 { next } else { best }).map(|(epoch, _)| epoch)
    }

    /// Ends an epoch; the next one begins with its first step.
    pub fn end_epoch(&mut self, metrics: M, finished: bool) {
        self.epochs.push(metrics);
        (self.step, self.loss_sum) = (0, 0.0);
        self.finished = finished;
    }

    /// Whether a training is to stop after the last complete epoch of `epochs`, which is said.
    pub fn is_stopped(&self, stop: &AtomicBool, epochs: usize) -> bool {
        let epoch = self.epochs.len();
        let stopped = stop.load(Ordering::Relaxed) && epoch < epochs;
        if stopped {
            eprintln!("stopped after epoch {epoch}; --resume goes on");
        }
        stopped
    }

    /// What is left of a training that cannot go on.
    pub fn last_whole(&self, layout: &Layout) -> String {
        match self.epochs.len() {
            0 => "no epoch was complete".into(),
            epoch => format!("epoch {epoch} is whole in {}", layout.last().display()),
        }
    }

    /// Writes one JSON line an epoch.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_metrics(&self, path: &Path) -> Result<()> {
        let mut lines = String::new();
        for epoch in &self.epochs {
            lines += &serde_json::to_string(epoch)?;
            lines.push('\n');
        }
        Ok(write_bytes_atomic(path, lines.as_bytes())?)
    }

    /// Decides how a training begins whose state is or will be in `place`.
    ///
    /// # Errors
    /// To resume one of other inputs; to start over one that is not finished or whose inputs were others, since that
    /// would lose it.
    pub fn start(place: &Path, inputs: String, resume: bool) -> Result<Start<M>> {
        match (Self::peek(place)?, resume) {
            // What starts a program again and again always gives --resume.
            (None, true) => {
                eprintln!("{}: there is no training to resume; one is started", place.display());
                Ok(Start::New(Self::new(inputs), false))
            }
            (Some(state), true) if state.inputs != inputs => bail!(
                "{}: was made with another config, data or encoder; resume with the same, or set another output.directory",
                place.display()
            ),
            (Some(state), true) => Ok(Start::Resume(state)),
            (Some(state), false) if !state.finished => bail!(
                "{}: a training was interrupted here; go on with --resume, set another output.directory, or delete it",
                place.display()
            ),
            (Some(state), false) if state.inputs != inputs => bail!(
                "{}: holds a training with another config, data or encoder; set another output.directory, or delete it",
                place.parent().unwrap_or(place).display()
            ),
            (earlier, false) => Ok(Start::New(Self::new(inputs), earlier.is_some())),
        }
    }

    /// Writes the state whole; `model` writes the model into the file it is given.
    pub fn write(
        &mut self,
        directory: &Path,
        model: impl FnOnce(&Path) -> Result<()>,
        optimiser: &ModuleOptimizer,
    ) -> Result<()> {
        let staging = Staging::new(directory)?;
        let at = |name: &str| staging.path().join(name);
        model(&at(MODEL))?;
        let record = optimiser.to_record().into_bytes().context("the optimiser's state cannot be written")?;
        write_bytes_atomic(&at(OPTIMISER), &record)?;
        self.files = [sha256_file(&at(MODEL))?, sha256_file(&at(OPTIMISER))?];
        write_bytes_atomic(&at(STATE), &serde_json::to_vec_pretty(self)?)?;
        Ok(staging.commit()?)
    }

    /// Reads where a training in `directory` stands; `None` where there is none.
    pub fn peek(directory: &Path) -> Result<Option<Self>> {
        let path = directory.join(STATE);
        if !path.exists() {
            return Ok(None);
        }
        let text = read_text(&path)?;
        let state: Self = serde_json::from_str(&text).with_context(|| {
            format!("{}: is no training state; delete {} to start anew", path.display(), directory.display())
        })?;
        if state.format != FORMAT {
            bail!("{}: has format {}, this program reads {FORMAT}; train anew", path.display(), state.format);
        }
        Ok(Some(state))
    }

    /// Reads the optimiser of this state, and where its model's file is.
    ///
    /// # Errors
    /// A file that is damaged.
    pub fn read(&self, directory: &Path, optimiser: ModuleOptimizer) -> Result<(PathBuf, ModuleOptimizer)> {
        for (name, expected) in [MODEL, OPTIMISER].into_iter().zip(&self.files) {
            let path = directory.join(name);
            if sha256_file(&path)? != *expected {
                bail!(
                    "{}: is damaged (its SHA-256 is not that of {STATE}); delete {} to start anew",
                    path.display(),
                    directory.display()
                );
            }
        }
        let path = directory.join(OPTIMISER);
        let record = OptimizerRecord::load(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
        // A state before the first step has no moments, and an empty record none to load.
        let optimiser = if record.is_empty() { optimiser } else { optimiser.load_record(record) };
        Ok((directory.join(MODEL), optimiser))
    }
}
