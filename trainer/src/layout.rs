//! Which files a training keeps, and where.

use std::path::PathBuf;

use crate::config::Config;

/// Where a training keeps its files.
pub struct Layout {
    directory: PathBuf,
}

impl Layout {
    /// Below `output.directory`.
    pub fn new(config: &Config) -> Self {
        Self { directory: config.output.directory.clone().into() }
    }

    /// The checkpoint of the epoch that is kept ([`crate::config::Keep`]).
    pub fn best(&self) -> PathBuf {
        self.directory.join("best")
    }

    /// The checkpoint of the last epoch.
    pub fn last(&self) -> PathBuf {
        self.directory.join("last")
    }

    /// The rankers of the folds of the reranker's training, and which documents each has not learnt from.
    pub fn folds(&self) -> PathBuf {
        self.directory.join("folds")
    }

    /// The training state.
    pub fn state(&self) -> PathBuf {
        self.directory.join("state")
    }

    /// The training states of those rankers, a directory each, until the reranker is trained.
    pub fn fold_states(&self) -> PathBuf {
        self.directory.join("fold-states")
    }

    /// The report after a training.
    pub fn report(&self) -> PathBuf {
        self.directory.join("report")
    }

    /// Questions with segments, taken from the data to train a segmenter on, JSON lines a part.
    pub fn segments(&self, part: &str) -> PathBuf {
        self.directory.join("segments").join(format!("{part}.jsonl"))
    }

    /// One JSON line an epoch.
    pub fn metrics(&self) -> PathBuf {
        self.directory.join("metrics.jsonl")
    }
}
