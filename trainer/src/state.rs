//! The training state: all that a resumed training needs to go on as if nothing had happened.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use burn::optim::{ModuleOptimizer, OptimizerRecord};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use tabsegnet_files::{Staging, read_text, sha256_file, write_bytes_atomic};
use tabsegnet_model::checkpoint::{read_model, write_model};
use tabsegnet_model::{ModelConfig, TabSegNet};

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

/// Where a training stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
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
    pub epochs: Vec<EpochMetrics>,
    /// Whether all epochs are done.
    pub finished: bool,
}

impl State {
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
    pub fn best(&self) -> Option<&EpochMetrics> {
        self.epochs.iter().reduce(|best, next| if next.dev_loss < best.dev_loss { next } else { best })
    }

    /// Writes the state whole.
    pub fn write(&mut self, directory: &Path, model: &TabSegNet, optimiser: &ModuleOptimizer) -> Result<()> {
        let staging = Staging::new(directory)?;
        let at = |name: &str| staging.path().join(name);
        write_model(&at(MODEL), model)?;
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

    /// Reads the model and the optimiser of this state.
    pub fn read(
        &self,
        directory: &Path,
        config: &ModelConfig,
        d_enc: usize,
        optimiser: ModuleOptimizer,
        device: &Device,
    ) -> Result<(TabSegNet, ModuleOptimizer)> {
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
        let model = read_model(&directory.join(MODEL), config, d_enc, device)?;
        let path = directory.join(OPTIMISER);
        let record = OptimizerRecord::load(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
        // A state before the first step has no moments, and an empty record none to load.
        let optimiser = if record.is_empty() { optimiser } else { optimiser.load_record(record) };
        Ok((model, optimiser))
    }
}
