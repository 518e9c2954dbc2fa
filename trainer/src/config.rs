//! The config of a training: TOML, every key with a default, unknown keys refused.

mod extends;
mod keys;
mod segmenter;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabsegnet_data::config::DataConfig;
use tabsegnet_data::graph::GraphConfig;
use tabsegnet_data::prepared::PrepareSettings;
use tabsegnet_encoder::{EncoderConfig, EncoderError, default_cache_dir};
use tabsegnet_features::FeaturesConfig;
use tabsegnet_files::{Digest, FileError};
use tabsegnet_model::{ModelConfig, Precision};
use tabsegnet_ranking::baselines::Baseline;
use tabsegnet_segmenter::SegmenterConfig;
use toml::{Table, Value};

pub use segmenter::{Choice, NewModelConfig, SegmenterTrainingConfig, Store};

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// The graph ranker.
    #[default]
    Ranker,
    /// A question segmenter.
    Segmenter,
    /// A static encoder, distilled from the one that `[encoder]` names.
    StaticEncoder,
}

/// `[task]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskConfig {
    /// What is trained.
    pub kind: Task,
    /// Seed of weights, order and resampling.
    pub seed: u64,
}

/// `[optimisation]`: Adam (Kingma and Ba 2015) on the pairwise hinge loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptimisationConfig {
    /// Passes over the questions.
    pub epochs: usize,
    /// Questions a step.
    pub batch_size: usize,
    /// Adam's step size.
    pub learning_rate: f64,
    /// Adam's β₁.
    pub beta_1: f32,
    /// Adam's β₂.
    pub beta_2: f32,
    /// Adam's ε.
    pub epsilon: f32,
    /// Share of all weights, times the step size, that a step takes off them (AdamW).
    pub weight_decay: f32,
    /// What is made small.
    pub loss: Loss,
    /// δ of the hinge (10).
    pub margin: f32,
    /// Share of each layer's values that a step leaves out, from 0, below 1.
    pub dropout: f32,
    /// How the step size changes over a training.
    pub schedule: Schedule,
    /// Number type of the ranker's large matrix products in training; half precision is for GPUs.
    pub precision: Precision,
    /// Which epoch is kept.
    pub keep: Keep,
    /// A checkpoint whose weights a training begins with, as after one on other data sets; of the same
    /// model and encoder. Empty for random ones.
    pub start_from: String,
}

/// Which epoch of a training `best/` holds in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// That of least dev loss; the paper's.
    #[default]
    LeastDevLoss,
    /// The last, so that the dev part has no part in the weights; for a schedule that ends at 0.
    Last,
}

/// What a training makes small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The pairwise hinge (10), the paper's.
    #[default]
    Hinge,
    /// −ln softmax of each gold node over all nodes of the document.
    Listwise,
}

/// How the step size changes over a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Not at all.
    #[default]
    Constant,
    /// It rises over the first twentieth of the steps, then falls to 0 along a cosine.
    Cosine,
}

impl Schedule {
    /// What the step size is multiplied with at a step, from 0, of so many.
    pub fn factor(self, step: usize, steps: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => {
                let done = step as f64 / steps.max(1) as f64;
                let warm_up = (steps as f64 / 20.0).max(1.0);
                ((step + 1) as f64 / warm_up).min(1.0) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
        }
    }
}

impl Default for OptimisationConfig {
    fn default() -> Self {
        Self {
            epochs: 20,
            batch_size: 32,
            learning_rate: 1e-3,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            loss: Loss::Hinge,
            margin: 1.0,
            dropout: 0.0,
            schedule: Schedule::Constant,
            precision: Precision::F32,
            keep: Keep::LeastDevLoss,
            start_from: String::new(),
        }
    }
}

/// `[static_encoder]`: for the task `static-encoder`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StaticEncoderConfig {
    /// Width of the vectors.
    pub dim: usize,
    /// Passes over the texts.
    pub epochs: usize,
    /// Texts a step.
    pub batch_size: usize,
    /// Adam's step size.
    pub learning_rate: f64,
    /// Whether to store the vectors as 8-bit integers with a scale a token.
    pub quantise: bool,
}

impl Default for StaticEncoderConfig {
    fn default() -> Self {
        Self { dim: 128, epochs: 10, batch_size: 256, learning_rate: 1e-3, quantise: true }
    }
}

/// `[evaluation]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvaluationConfig {
    /// Bootstrap resamples of an interval.
    pub resamples: u32,
    /// Rounds of a paired randomisation test.
    pub rounds: u32,
    /// Whether `train` writes a report when it is done.
    pub after_training: bool,
    /// Example rankings that `train` then prints.
    pub examples: usize,
    /// What the report sets beside checkpoints.
    pub baselines: Vec<Baseline>,
    /// Of the baseline `splade`: a masked language model, a directory or hub name.
    pub splade: String,
    /// Branch, tag or commit of a hub name.
    pub splade_revision: String,
}

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self {
            resamples: 2000,
            rounds: 10_000,
            after_training: false,
            examples: 0,
            baselines: vec![Baseline::Bm25, Baseline::TfIdf, Baseline::Dense],
            splade: String::new(),
            splade_revision: "main".into(),
        }
    }
}

/// `[output]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputConfig {
    /// Where checkpoints, training state, metrics and reports go.
    pub directory: String,
    /// Where prepared data and vectors are kept between runs; empty stands for `$TABSEGNET_CACHE`
    /// or the user's cache directory.
    pub cache: String,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self { directory: "runs/default".into(), cache: String::new() }
    }
}

/// A whole config.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Files whose keys hold where this one has none, paths from its directory; of two the later wins. Empty
    /// once a config is loaded.
    #[serde(skip_serializing)]
    pub extends: Vec<String>,
    /// What is trained.
    pub task: TaskConfig,
    /// On which data.
    pub data: DataConfig,
    /// How documents become graphs.
    pub graph: GraphConfig,
    /// How texts become vectors.
    pub encoder: EncoderConfig,
    /// How questions become segments.
    pub segmenter: SegmenterConfig,
    /// Which features of questions and nodes the ranker sees.
    pub features: FeaturesConfig,
    /// The ranker.
    pub model: ModelConfig,
    /// How the ranker is trained.
    pub optimisation: OptimisationConfig,
    /// How a segmenter is trained.
    pub segmenter_training: SegmenterTrainingConfig,
    /// How a static encoder is distilled.
    pub static_encoder: StaticEncoderConfig,
    /// How rankings are measured.
    pub evaluation: EvaluationConfig,
    /// Where results go.
    pub output: OutputConfig,
}

/// A config that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not TOML, or a value of another type.
    #[error("{file}: {message}")]
    Toml {
        /// The file.
        file: String,
        /// With line and column.
        message: String,
    },
    /// A key that does not exist.
    #[error("{place}: unknown key {key}{hint}")]
    UnknownKey {
        /// The file, or `--set`.
        place: String,
        /// The whole key.
        key: String,
        /// The nearest known key.
        hint: String,
    },
    /// A file that another extends cannot be used.
    #[error("{file}: extends {base:?}: {message}")]
    Extends {
        /// The file that extends.
        file: String,
        /// As given in it.
        base: String,
        /// What is wrong.
        message: String,
    },
    /// `--set` without `=`, or through a value.
    #[error("--set {argument}: {message}")]
    Set {
        /// As given.
        argument: String,
        /// What was expected.
        message: String,
    },
    /// A value out of range.
    #[error("{key} is {value}; expected {expected}")]
    Range {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// No cache directory.
    #[error(transparent)]
    Cache(#[from] EncoderError),
}

impl Config {
    /// Reads a config file, with those that it extends, and overrides keys with `section.key=value` arguments, whose values are
    /// TOML, or else plain text.
    pub fn load(file: &Path, overrides: &[String]) -> Result<Self, ConfigError> {
        let mut table = extends::table(file, &mut Vec::new())?;
        let toml_error =
            |error: toml::de::Error| ConfigError::Toml { file: file.display().to_string(), message: error.to_string() };
        let mut config = None;
        for argument in overrides {
            keys::set(&mut table, argument)?;
            config = Some(table.clone().try_into::<Self>().map_err(|error: toml::de::Error| ConfigError::Set {
                argument: argument.clone(),
                message: error.message().to_owned(),
            })?);
        }
        let config = match config {
            Some(config) => config,
            None => table.try_into().map_err(toml_error)?,
        };
        let features = config.features.count();
        if ![0, features].contains(&config.model.features) {
            return Err(ConfigError::Range {
                key: "model.features",
                value: config.model.features.to_string(),
                expected: "no value: it follows from [features]",
            });
        }
        let table_head = config.features.belonging;
        let config = Self { model: ModelConfig { features, table_head, ..config.model.resolved() }, ..config };
        config.check_ranges()?;
        Ok(config)
    }

    fn check_ranges(&self) -> Result<(), ConfigError> {
        let positive = |key, value: usize| match value {
            0 => Err(ConfigError::Range { key, value: "0".into(), expected: "at least 1" }),
            _ => Ok(()),
        };
        positive("optimisation.epochs", self.optimisation.epochs)?;
        positive("optimisation.batch_size", self.optimisation.batch_size)?;
        self.segmenter_training.check()?;
        positive("static_encoder.dim", self.static_encoder.dim)?;
        positive("static_encoder.batch_size", self.static_encoder.batch_size)?;
        positive("evaluation.resamples", self.evaluation.resamples as usize)?;
        positive("evaluation.rounds", self.evaluation.rounds as usize)?;
        let of_rankers = [
            ("optimisation.start_from", self.optimisation.start_from.as_str()),
            ("optimisation.keep", if self.optimisation.keep == Keep::Last { "last" } else { "" }),
        ];
        for (key, value) in of_rankers {
            if self.task.kind != Task::Ranker && !value.is_empty() {
                let expected = "no value: task.kind is not \"ranker\"";
                return Err(ConfigError::Range { key, value: value.to_owned(), expected });
            }
        }
        let finite = |key, value: f64, low: f64, expected| {
            if value.is_finite() && value > low {
                Ok(())
            } else {
                Err(ConfigError::Range { key, value: value.to_string(), expected })
            }
        };
        let optimisation = &self.optimisation;
        finite("optimisation.learning_rate", optimisation.learning_rate, 0.0, "a number above 0")?;
        finite("optimisation.epsilon", optimisation.epsilon.into(), 0.0, "a number above 0")?;
        finite("optimisation.margin", optimisation.margin.into(), 0.0, "a number above 0")?;
        finite("optimisation.weight_decay", optimisation.weight_decay.into(), -f64::MIN_POSITIVE, "a number from 0")?;
        let shares = [
            ("optimisation.beta_1", optimisation.beta_1),
            ("optimisation.beta_2", optimisation.beta_2),
            ("optimisation.dropout", optimisation.dropout),
        ];
        for (key, beta) in shares {
            if !(0.0..1.0).contains(&beta) {
                return Err(ConfigError::Range { key, value: beta.to_string(), expected: "a number from 0, below 1" });
            }
        }
        Ok(())
    }

    /// Every key with its value, as TOML.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        toml::to_string(self)
            .map_err(|error| ConfigError::Toml { file: "the config".into(), message: error.to_string() })
    }

    /// Digest of everything that the weights depend on; where results go is not part of it.
    pub fn digest(&self) -> Result<String, ConfigError> {
        let results = Self { output: OutputConfig::default(), evaluation: EvaluationConfig::default(), ..self.clone() };
        Ok(Digest::new().part(results.to_toml()?).hex())
    }

    /// The cache directory.
    pub fn cache(&self) -> Result<PathBuf, ConfigError> {
        match self.output.cache.as_str() {
            "" => Ok(default_cache_dir()?),
            path => Ok(path.into()),
        }
    }

    /// How documents are prepared.
    pub fn prepare(&self) -> PrepareSettings {
        PrepareSettings { graph: self.graph.clone() }
    }
}

/// All known keys. A list of tables holds one of them, for its keys.
fn known() -> Result<Table, ConfigError> {
    let data = DataConfig { parts: vec![DataConfig::default()], ..DataConfig::default() };
    match Value::try_from(Config { data, ..Config::default() }) {
        Ok(Value::Table(table)) => Ok(table),
        Ok(_) => Ok(Table::new()),
        Err(error) => Err(ConfigError::Toml { file: "the defaults".into(), message: error.to_string() }),
    }
}

#[cfg(test)]
mod tests;
