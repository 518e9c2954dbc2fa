//! `[static_encoder]`.

use serde::{Deserialize, Serialize};

use super::{ConfigError, in_range};

/// `[static_encoder]`: for the task `static-encoder`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StaticEncoderConfig {
    /// Width of the vectors.
    pub dim: usize,
    /// The directory of a static encoder of the same teacher and width to start from; empty starts from the tokens'
    /// own vectors.
    pub start_from: String,
    /// Passes over the texts.
    pub epochs: usize,
    /// Texts a step.
    pub batch_size: usize,
    /// Adam's step size.
    pub learning_rate: f64,
    /// Whether to store the vectors as 8-bit integers with a scale a token.
    pub quantise: bool,
    /// A second stage, which learns paraphrases too.
    pub contrastive: ContrastiveConfig,
}

impl Default for StaticEncoderConfig {
    fn default() -> Self {
        Self {
            dim: 128,
            start_from: String::new(),
            epochs: 10,
            batch_size: 256,
            learning_rate: 1e-3,
            quantise: true,
            contrastive: ContrastiveConfig::default(),
        }
    }
}

/// `[static_encoder.contrastive]`: what filings call one concept shall be near each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContrastiveConfig {
    /// Further passes over the texts, each step with a batch of paraphrases; 0 for no second stage.
    pub epochs: usize,
    /// What cosines are divided by.
    pub temperature: f64,
    /// How much the paraphrases' loss counts beside the distance to the teacher.
    pub weight: f64,
    /// Filings with inline XBRL, or directories of them, relative to where the program is run.
    pub filings: Vec<String>,
    /// Filings to measure on. No filing of their companies is learnt from.
    pub held_out: Vec<String>,
}

impl Default for ContrastiveConfig {
    fn default() -> Self {
        Self { epochs: 0, temperature: 0.05, weight: 0.1, filings: Vec::new(), held_out: Vec::new() }
    }
}

impl StaticEncoderConfig {
    /// That every value is in its range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (key, value) in [("static_encoder.dim", self.dim), ("static_encoder.batch_size", self.batch_size)] {
            in_range(value > 0, key, value, "at least 1")?;
        }
        let ContrastiveConfig { epochs, temperature, weight, filings, held_out } = &self.contrastive;
        let positive = temperature.is_finite() && *temperature > 0.0;
        in_range(positive, "static_encoder.contrastive.temperature", temperature, "a number above 0")?;
        let from_0 = weight.is_finite() && *weight >= 0.0;
        in_range(from_0, "static_encoder.contrastive.weight", weight, "a number from 0")?;
        let filings = !filings.is_empty() || (*epochs == 0 && held_out.is_empty());
        let expected = "filings with inline XBRL, or a directory of them, to learn paraphrases from";
        in_range(filings, "static_encoder.contrastive.filings", "[]", expected)
    }
}
