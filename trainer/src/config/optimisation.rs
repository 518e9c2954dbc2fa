//! `[optimisation]`.

use serde::{Deserialize, Serialize};
use tabsegnet_ranker::Precision;

use super::{ConfigError, Task, in_range};

/// `[optimisation]`: Adam (Kingma and Ba 2015) on the loss chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptimisationConfig {
    /// Passes over the questions.
    pub epochs: usize,
    /// Questions a step.
    pub batch_size: usize,
    /// Of a document with more nodes than this a step looks at about so many, those with gold, those nearest to the
    /// question and others at random; 0 takes all.
    pub sampled_nodes: usize,
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
    /// What is minimised.
    pub loss: Loss,
    /// δ of the hinge (10).
    pub margin: f32,
    /// Share of each layer's values that a step leaves out, from 0, below 1.
    pub dropout: f32,
    /// How the step size changes over a training.
    pub schedule: Decay,
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

/// What a training minimises.
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
pub enum Decay {
    /// Not at all.
    #[default]
    Constant,
    /// It rises over the first twentieth of the steps, then falls to 0 along a cosine.
    Cosine,
}

impl Decay {
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
            sampled_nodes: 2000,
            learning_rate: 1e-3,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            loss: Loss::Hinge,
            margin: 1.0,
            dropout: 0.0,
            schedule: Decay::Constant,
            precision: Precision::F32,
            keep: Keep::LeastDevLoss,
            start_from: String::new(),
        }
    }
}

impl OptimisationConfig {
    /// What keeps numbers finite, in words.
    pub fn steadier(&self) -> String {
        let rate = "try a lower optimisation.learning_rate";
        match self.precision {
            Precision::F32 => rate.to_owned(),
            half => format!("{rate}, or optimisation.precision = \"f32\" instead of \"{}\"", half.name()),
        }
    }

    /// That every value is in its range; `task` is what is trained.
    pub(super) fn check(&self, task: Task) -> Result<(), ConfigError> {
        for (key, value) in [("optimisation.epochs", self.epochs), ("optimisation.batch_size", self.batch_size)] {
            in_range(value > 0, key, value, "at least 1")?;
        }
        let (ranker, expected) = (task == Task::Ranker, "no value: task.kind is not \"ranker\"");
        in_range(ranker || self.start_from.is_empty(), "optimisation.start_from", &self.start_from, expected)?;
        in_range(ranker || self.keep != Keep::Last, "optimisation.keep", "last", expected)?;
        let finite =
            |key, value: f64, low: f64, expected| in_range(value.is_finite() && value > low, key, value, expected);
        finite("optimisation.learning_rate", self.learning_rate, 0.0, "a number above 0")?;
        finite("optimisation.epsilon", self.epsilon.into(), 0.0, "a number above 0")?;
        finite("optimisation.margin", self.margin.into(), 0.0, "a number above 0")?;
        finite("optimisation.weight_decay", self.weight_decay.into(), -f64::MIN_POSITIVE, "a number from 0")?;
        for (key, share) in [
            ("optimisation.beta_1", self.beta_1),
            ("optimisation.beta_2", self.beta_2),
            ("optimisation.dropout", self.dropout),
        ] {
            in_range((0.0..1.0).contains(&share), key, share, "a number from 0, below 1")?;
        }
        Ok(())
    }
}
