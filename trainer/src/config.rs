//! The config of a training: TOML, every key with a default, unknown keys refused.

mod answers;
mod corpus;
mod extends;
mod keys;
mod optimisation;
mod reranker;
mod segmenter;
mod static_encoder;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabsegnet::baselines::Baseline;
use tabsegnet_agent::walk::WalkSettings;
use tabsegnet_datasets::DataError;
use tabsegnet_datasets::config::{DataConfig, Part};
use tabsegnet_datasets::prepared::PrepareSettings;
use tabsegnet_datasets::source::Source;
use tabsegnet_encoder::EncoderConfig;
use tabsegnet_features::FeaturesConfig;
use tabsegnet_graph::GraphConfig;
use tabsegnet_lexical::glossary::GlossaryConfig;
use tabsegnet_llm::{Limits, LlmSettings};
use tabsegnet_ranker::ModelConfig;
use tabsegnet_segmenter::SegmenterConfig;
use tabsegnet_store::{Digest, FileError, StoreError, default_cache_dir, in_words};
use toml::{Table, Value};

pub use answers::{AnswersConfig, MeasuredPolicy};
pub use corpus::{CorpusConfig, CorpusPart};
pub use optimisation::{Decay, Keep, Loss, OptimisationConfig};
pub use reranker::RerankerConfig;
pub use segmenter::{Choice, NewModelConfig, SegmenterTrainingConfig, Store};
pub use static_encoder::{ContrastiveConfig, StaticEncoderConfig};

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
    /// A reranker of the tables of corpora.
    Corpus,
    /// The choice of answers among candidates made of ranked nodes.
    Answers,
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

/// `[evaluation]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvaluationConfig {
    /// Bootstrap resamples of an interval.
    pub resamples: u32,
    /// Rounds of a paired randomisation test.
    pub rounds: u32,
    /// Whether the training of a ranker ends with a report, baselines beside it.
    pub after_training: bool,
    /// Example rankings printed after that report.
    pub examples: usize,
    /// What the report sets beside checkpoints.
    pub baselines: Vec<Baseline>,
    /// Of the baseline `splade`: a masked language model, a directory or hub name.
    pub splade: String,
    /// Branch, tag or commit of a hub name.
    pub splade_revision: String,
    /// Of the baseline and the segmenter `llm`: a JSONL file of replies. Known ones are taken from it, new ones are written to
    /// it. Empty: none is kept.
    pub record: String,
}

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self {
            resamples: 2000,
            rounds: 10_000,
            after_training: true,
            examples: 3,
            baselines: vec![Baseline::Bm25, Baseline::TfIdf, Baseline::Dense],
            splade: String::new(),
            splade_revision: "main".into(),
            record: String::new(),
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
    /// A line for the checkpoint's card, such as what other seeds reached.
    pub note: String,
    /// Whether the rankers of the reranker's folds are kept, below `folds`: for a training that needs rankings of the
    /// training documents by whoever has not learnt from them (`answers.fold_rankers`).
    pub fold_rankers: bool,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self { directory: "runs/default".into(), cache: String::new(), note: String::new(), fold_rankers: false }
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
    /// How questions are read.
    pub glossary: GlossaryConfig,
    /// How questions become segments.
    pub segmenter: SegmenterConfig,
    /// Which features of questions and nodes the ranker sees.
    pub features: FeaturesConfig,
    /// The ranker.
    pub model: ModelConfig,
    /// How the ranker is trained.
    pub optimisation: OptimisationConfig,
    /// What orders the ranker's best nodes anew.
    pub reranker: RerankerConfig,
    /// How a segmenter is trained.
    pub segmenter_training: SegmenterTrainingConfig,
    /// How a static encoder is distilled.
    pub static_encoder: StaticEncoderConfig,
    /// Corpora of tables, for the task `corpus`.
    pub corpus: CorpusConfig,
    /// Answers from ranked nodes, for the task `answers`.
    pub answers: AnswersConfig,
    /// Where a language model is whose answers are measured, and how it is spoken to.
    pub llm: LlmSettings,
    /// How a language model walks.
    pub agent: WalkSettings,
    /// A language model that judges answers.
    pub judge: LlmSettings,
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
    /// A setting of `[agent]` out of range.
    #[error("{0}")]
    Agent(String),
    /// A data set that there is not.
    #[error(transparent)]
    Data(#[from] DataError),
    /// No cache directory.
    #[error(transparent)]
    Cache(#[from] StoreError),
}

impl Config {
    /// Reads a config file, with those that it extends, and overrides keys with `section.key=value` arguments, whose values are
    /// TOML, or else plain text.
    pub fn load(file: &Path, overrides: &[String]) -> Result<Self, ConfigError> {
        let mut table = extends::table(file, &mut Vec::new())?;
        let toml_error = |error: toml::de::Error| ConfigError::Toml {
            file: file.display().to_string(),
            message: in_words(&error.to_string()),
        };
        let mut config = None;
        for argument in overrides {
            keys::set(&mut table, argument)?;
            config = Some(table.clone().try_into::<Self>().map_err(|error: toml::de::Error| ConfigError::Set {
                argument: argument.clone(),
                message: in_words(error.message()),
            })?);
        }
        let config = match config {
            Some(config) => config,
            None => table.try_into().map_err(toml_error)?,
        };
        let features = config.features.count();
        let table_scorer = config.features.table_relevance;
        let config = Self { model: ModelConfig { features, table_scorer, ..config.model.resolved() }, ..config };
        config.check_ranges()?;
        Ok(config)
    }

    fn check_ranges(&self) -> Result<(), ConfigError> {
        self.data.check_kinds(&tabsegnet_generate::registry())?;
        for data in std::iter::once(&self.data).chain(&self.data.parts) {
            let (bm25, synthetic) = (&data.bm25, &data.synthetic);
            in_range(bm25.k1 >= 0.0 && bm25.k1.is_finite(), "data.bm25.k1", bm25.k1, "0 or more")?;
            in_range((0.0..=1.0).contains(&bm25.b), "data.bm25.b", bm25.b, "from 0 to 1")?;
            let documents = synthetic.train_documents.max(synthetic.dev_documents);
            in_range(
                documents <= MOST_DOCUMENTS,
                "data.synthetic",
                documents,
                "a million documents of a part at most",
            )?;
        }
        self.optimisation.check(self.task.kind)?;
        self.reranker.check(self.task.kind, &self.optimisation)?;
        self.corpus.check(self.task.kind)?;
        self.answers.check(self.task.kind)?;
        if let Some(message) = self.agent.problem() {
            return Err(ConfigError::Agent(message));
        }
        self.segmenter_training.check()?;
        self.static_encoder.check()?;
        in_range(!self.output.directory.trim().is_empty(), "output.directory", "empty", "a directory for the results")?;
        in_range(self.evaluation.resamples > 0, "evaluation.resamples", 0, "at least 1")?;
        in_range(self.evaluation.rounds > 0, "evaluation.rounds", 0, "at least 1")
    }

    /// Every key with its value, as TOML.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        toml::to_string(self)
            .map_err(|error| ConfigError::Toml { file: "the config".into(), message: error.to_string() })
    }

    /// Digest of everything that the weights depend on; where results go and how they are measured is not part of it.
    pub fn digest(&self) -> Result<String, ConfigError> {
        let results = Self {
            output: OutputConfig::default(),
            evaluation: EvaluationConfig::default(),
            llm: LlmSettings::default(),
            agent: WalkSettings::default(),
            judge: LlmSettings::default(),
            ..self.clone()
        };
        Ok(Digest::new().part(results.to_toml()?).hex())
    }

    /// The cache directory.
    pub fn cache(&self) -> Result<PathBuf, ConfigError> {
        match self.output.cache.as_str() {
            "" => Ok(default_cache_dir()?),
            path => Ok(path.into()),
        }
    }

    /// Where a part of the data comes from.
    pub fn source(&self, part: Part) -> Result<Source, DataError> {
        self.data.source(part, &tabsegnet_generate::registry())
    }

    /// How documents are prepared.
    pub fn prepare(&self) -> PrepareSettings {
        PrepareSettings { graph: self.graph.clone() }
    }
}

/// Documents that are made up for a part, at most: all of them are kept.
const MOST_DOCUMENTS: usize = 1_000_000;

/// That a key's value is what is expected, which `is` says.
fn in_range(is: bool, key: &'static str, value: impl Display, expected: &'static str) -> Result<(), ConfigError> {
    match is {
        true => Ok(()),
        false => Err(ConfigError::Range { key, value: value.to_string(), expected }),
    }
}

/// All known keys. A list of tables holds one of them, for its keys.
fn known() -> Result<Table, ConfigError> {
    let data = DataConfig { parts: vec![DataConfig::default()], ..DataConfig::default() };
    let corpus = CorpusConfig { parts: vec![CorpusPart::default()], ..CorpusConfig::default() };
    // With what is left out where it has no value.
    let some = Some(0.0);
    let budget = Limits { cost: some, ..Limits::default() };
    let llm =
        LlmSettings { seed: Some(0), price_prompt: some, price_completion: some, budget, ..LlmSettings::default() };
    match Value::try_from(Config { data, corpus, judge: llm.clone(), llm, ..Config::default() }) {
        Ok(Value::Table(table)) => Ok(table),
        Ok(_) => Ok(Table::new()),
        Err(error) => Err(ConfigError::Toml { file: "the defaults".into(), message: error.to_string() }),
    }
}

#[cfg(test)]
mod tests;
