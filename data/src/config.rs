//! The `[data]` section of a config.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::lexical::Bm25Config;
use crate::synthetic::{self, SyntheticConfig};

/// Which form the files have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataKind {
    /// FinQA as published.
    #[default]
    Finqa,
    /// JSON lines of labelled documents in the native form.
    Native,
    /// Reports made by the project; no files.
    Synthetic,
}

/// Which data to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataConfig {
    /// Which form the files have.
    pub kind: DataKind,
    /// The directory that the paths below are relative to; relative itself to where the program
    /// is run.
    pub root: String,
    /// Files to train on.
    pub train: Vec<String>,
    /// Files to measure on.
    pub dev: Vec<String>,
    /// Files whose tables may become distractors; empty means those of `train` and `dev`.
    pub pool: Vec<String>,
    /// Distractor tables added to each FinQA document.
    pub distractors: usize,
    /// Seed of the distractors' places.
    pub seed: u64,
    /// How distractors are found, and the BM25 baseline's settings.
    pub bm25: Bm25Config,
    /// The made reports, for kind `synthetic`.
    pub synthetic: SyntheticConfig,
}

impl Default for DataConfig {
    fn default() -> Self {
        Self {
            kind: DataKind::default(),
            root: String::new(),
            train: Vec::new(),
            dev: Vec::new(),
            pool: Vec::new(),
            distractors: 3,
            seed: 0,
            bm25: Bm25Config::default(),
            synthetic: SyntheticConfig::default(),
        }
    }
}

/// A part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What the model learns from.
    Train,
    /// What choices are made on.
    Dev,
}

impl Part {
    /// `train` or `dev`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
        }
    }
}

/// Where the documents and questions of one part come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// FinQA files, and the files whose tables may become distractors.
    Finqa {
        /// Records with questions.
        files: Vec<PathBuf>,
        /// Records with tables.
        pool: Vec<PathBuf>,
        /// Whether gold is needed.
        labels: crate::finqa::Labels,
    },
    /// Labelled documents, one a line.
    Native(Vec<PathBuf>),
    /// Made reports.
    Synthetic(SyntheticConfig, synthetic::Part),
}

impl DataConfig {
    /// Where a part comes from.
    ///
    /// # Errors
    /// A part without files, and a file that is not there.
    pub fn source(&self, part: Part) -> Result<Source, DataError> {
        let (key, names, synthetic_part) = match part {
            Part::Train => ("data.train", &self.train, synthetic::Part::Train),
            Part::Dev => ("data.dev", &self.dev, synthetic::Part::Dev),
        };
        if self.kind == DataKind::Synthetic {
            return Ok(Source::Synthetic(self.synthetic.clone(), synthetic_part));
        }
        if names.is_empty() {
            let message = "names no file; expected a list of paths, such as [\"train.json\"]".into();
            return Err(DataError::Setting { key, message });
        }
        let files = existing(key, self.paths(names))?;
        Ok(match self.kind {
            DataKind::Native => Source::Native(files),
            DataKind::Finqa | DataKind::Synthetic => Source::Finqa {
                files,
                pool: if self.pool.is_empty() {
                    existing("data.train and data.dev", self.paths(self.train.iter().chain(&self.dev)))?
                } else {
                    existing("data.pool", self.paths(&self.pool))?
                },
                labels: crate::finqa::Labels::Required,
            },
        })
    }

    fn paths<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Vec<PathBuf> {
        names.into_iter().map(|name| Path::new(&self.root).join(name)).collect()
    }
}

fn existing(key: &'static str, files: Vec<PathBuf>) -> Result<Vec<PathBuf>, DataError> {
    match files.iter().find(|file| !file.is_file()) {
        None => Ok(files),
        Some(missing) => Err(DataError::Setting {
            key,
            message: format!(
                "{}: there is no such file; paths are relative to data.root, that to where the program runs",
                missing.display()
            ),
        }),
    }
}
