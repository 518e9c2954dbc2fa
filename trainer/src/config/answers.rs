//! `[answers]`: for the task `answers`.

use serde::{Deserialize, Serialize};
use tabsegnet_ranker::boosting::training::BoostingConfig;

use super::{ConfigError, Task, in_range};

/// Whose answers `evaluate` measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredPolicy {
    /// Rules, and what was learnt.
    #[default]
    Learnt,
    /// These, and the language model of `[llm]`, which walks as `[agent]` says.
    Llm,
}

/// Learning to answer from ranked nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswersConfig {
    /// The ranker whose nodes answers are made of.
    pub checkpoint: String,
    /// Rankers that have each not learnt from a part of the documents (`output.fold_rankers` of the ranker's training): they
    /// rank the training documents, as the ranker does where it has not learnt from a document. Empty: the ranker ranks all.
    pub fold_rankers: String,
    /// Share of the training questions that are also put to another document, which has no answer to them.
    pub foreign: f64,
    /// Share of the right answers that the threshold may lose.
    pub lost: f64,
    /// How the trees are grown that choose.
    pub boosting: BoostingConfig,
    /// Whose answers `evaluate` measures.
    pub policy: MeasuredPolicy,
    /// Questions of each data set that are measured, evenly spaced; 0: all.
    pub questions: usize,
    /// Whether a language model judges answers too: that of `[judge]`, or of `[llm]` where that names none.
    pub judge: bool,
    /// A JSONL file of replies: known ones are taken from it, new ones are written to it. Empty: none is kept.
    pub record: String,
}

impl Default for AnswersConfig {
    fn default() -> Self {
        Self {
            checkpoint: "checkpoints/general".into(),
            fold_rankers: String::new(),
            foreign: 0.2,
            lost: 0.01,
            boosting: BoostingConfig { num_iterations: 300, bagged_models: 1, ..BoostingConfig::default() },
            policy: MeasuredPolicy::default(),
            questions: 0,
            judge: false,
            record: String::new(),
        }
    }
}

impl AnswersConfig {
    pub(super) fn check(&self, task: Task) -> Result<(), ConfigError> {
        let share = |key, value: f64| {
            in_range(task != Task::Answers || (0.0..=1.0).contains(&value), key, value, "from 0 to 1")
        };
        share("answers.foreign", self.foreign)?;
        share("answers.lost", self.lost)
    }
}
