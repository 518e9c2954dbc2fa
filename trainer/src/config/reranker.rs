//! `[reranker]`.

use serde::{Deserialize, Serialize};
use tabsegnet_ranker::boosting::training::BoostingConfig;

use super::{ConfigError, Keep, OptimisationConfig, Task, in_range};

/// `[reranker]`: gradient-boosted trees that order the ranker's best nodes anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RerankerConfig {
    /// The most nodes that are ordered anew; 0 for no reranker.
    pub candidates: usize,
    /// Cross-fitting: rankers that score the training questions out of fold, each trained without a part of
    /// the documents.
    pub folds: usize,
    /// Whether the rankers of the folds come with the ranker: a node's score before the trees is then the mean of them all.
    pub ensemble: bool,
    /// How the trees are grown.
    pub boosting: BoostingConfig,
}

impl Default for RerankerConfig {
    fn default() -> Self {
        Self { candidates: 0, folds: 5, ensemble: false, boosting: BoostingConfig::default() }
    }
}

impl RerankerConfig {
    /// That every value is in its range, and that the rankers of the folds end as the ranker does.
    pub(super) fn check(&self, task: Task, optimisation: &OptimisationConfig) -> Result<(), ConfigError> {
        if self.candidates == 0 {
            return Ok(());
        }
        in_range(task == Task::Ranker, "reranker.candidates", self.candidates, "0: task.kind is not \"ranker\"")?;
        in_range(optimisation.keep == Keep::Last, "optimisation.keep", "least_dev_loss", "\"last\" with a reranker")?;
        in_range(self.candidates <= 100_000, "reranker.candidates", self.candidates, "at most 100000")?;
        let BoostingConfig {
            num_iterations,
            bagged_models,
            num_leaves,
            learning_rate,
            min_data_in_leaf,
            min_sum_hessian_in_leaf,
            lambda_l2,
            feature_fraction,
            bagging_fraction,
            ..
        } = self.boosting;
        for (key, value, least, expected) in [
            ("reranker.folds", self.folds, 2, "at least 2"),
            ("reranker.boosting.num_iterations", num_iterations, 1, "at least 1"),
            ("reranker.boosting.bagged_models", bagged_models, 1, "at least 1"),
            ("reranker.boosting.num_leaves", num_leaves, 2, "at least 2"),
            ("reranker.boosting.min_data_in_leaf", min_data_in_leaf, 1, "at least 1"),
        ] {
            in_range(value >= least, key, value, expected)?;
        }
        // A file holds the numbers of nodes exactly up to there.
        let nodes = self.boosting.count().saturating_mul(2 * num_leaves);
        let expected = "num_iterations * bagged_models * num_leaves below 8 million";
        in_range(nodes < (1 << 24), "reranker.boosting.num_iterations", num_iterations, expected)?;
        let positive = learning_rate.is_finite() && learning_rate > 0.0;
        in_range(positive, "reranker.boosting.learning_rate", learning_rate, "a number above 0")?;
        for (key, value) in [
            ("reranker.boosting.min_sum_hessian_in_leaf", min_sum_hessian_in_leaf),
            ("reranker.boosting.lambda_l2", lambda_l2),
        ] {
            in_range(value.is_finite() && value >= 0.0, key, value, "a number from 0")?;
        }
        for (key, share) in [
            ("reranker.boosting.feature_fraction", feature_fraction),
            ("reranker.boosting.bagging_fraction", bagging_fraction),
        ] {
            in_range(share > 0.0 && share <= 1.0, key, share, "a number above 0, at most 1")?;
        }
        Ok(())
    }
}
