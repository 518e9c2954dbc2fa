//! `[second_pass]`.

use serde::{Deserialize, Serialize};
use tabsegnet_ranker::trees::growing::Growth;

use super::{ConfigError, Keep, OptimisationConfig, Task};

/// `[second_pass]`: boosted trees that order the ranker's best nodes anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SecondPassConfig {
    /// The most nodes that are ordered anew; 0 for no second pass.
    pub candidates: usize,
    /// Rankers that are trained to find the candidates of training questions, each without a part of the
    /// documents.
    pub folds: usize,
    /// How the trees are grown.
    pub trees: Growth,
}

impl Default for SecondPassConfig {
    fn default() -> Self {
        Self { candidates: 0, folds: 5, trees: Growth::default() }
    }
}

impl SecondPassConfig {
    /// That every value is in its range, and that the rankers of the folds end as the ranker does.
    pub(super) fn check(&self, task: Task, optimisation: &OptimisationConfig) -> Result<(), ConfigError> {
        if self.candidates == 0 {
            return Ok(());
        }
        let range = |key, value: String, expected| Err(ConfigError::Range { key, value, expected });
        if task != Task::Ranker {
            return range("second_pass.candidates", self.candidates.to_string(), "0: task.kind is not \"ranker\"");
        }
        if optimisation.keep != Keep::Last {
            return range("optimisation.keep", "least_dev_loss".into(), "\"last\" with a second pass");
        }
        if self.candidates > 100_000 {
            return range("second_pass.candidates", self.candidates.to_string(), "at most 100000");
        }
        let Growth {
            rounds,
            forests,
            leaves,
            learning_rate,
            least_rows,
            least_hessian,
            l2,
            feature_share,
            row_share,
            ..
        } = self.trees;
        for (key, value, least, expected) in [
            ("second_pass.folds", self.folds, 2, "at least 2"),
            ("second_pass.trees.rounds", rounds, 1, "at least 1"),
            ("second_pass.trees.forests", forests, 1, "at least 1"),
            ("second_pass.trees.leaves", leaves, 2, "at least 2"),
            ("second_pass.trees.least_rows", least_rows, 1, "at least 1"),
        ] {
            if value < least {
                return range(key, value.to_string(), expected);
            }
        }
        // A file holds the numbers of nodes exactly up to there.
        if self.trees.count().saturating_mul(2 * leaves) >= 1 << 24 {
            return range("second_pass.trees.rounds", rounds.to_string(), "rounds * forests * leaves below 8 million");
        }
        if !(learning_rate.is_finite() && learning_rate > 0.0) {
            return range("second_pass.trees.learning_rate", learning_rate.to_string(), "a number above 0");
        }
        for (key, value) in [("second_pass.trees.least_hessian", least_hessian), ("second_pass.trees.l2", l2)] {
            if !(value.is_finite() && value >= 0.0) {
                return range(key, value.to_string(), "a number from 0");
            }
        }
        for (key, share) in
            [("second_pass.trees.feature_share", feature_share), ("second_pass.trees.row_share", row_share)]
        {
            if !(share > 0.0 && share <= 1.0) {
                return range(key, share.to_string(), "a number above 0, at most 1");
            }
        }
        Ok(())
    }
}
