//! The log-linear model that chooses among candidate programs. Its weights are in `weights.json`, fitted by
//! `cargo run --release --example fit_answers` on the questions that FinQA and TAT-QA are trained on.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::candidates::names;

const SHIPPED: &str = include_str!("weights.json");

/// A weight a feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weights(Vec<f32>);

impl Weights {
    /// Those that come with the crate; features that the table does not name weigh nothing.
    pub fn shipped() -> &'static Self {
        static WEIGHTS: OnceLock<Weights> = OnceLock::new();
        WEIGHTS.get_or_init(|| {
            let table: BTreeMap<String, f32> = serde_json::from_str(SHIPPED).unwrap_or_default();
            Self(names().iter().map(|name| table.get(name).copied().unwrap_or(0.0)).collect())
        })
    }

    /// Sum of weight times value, in the features' order.
    pub fn score(&self, features: &[(u16, f32)]) -> f32 {
        tabsegnet_choice::score(&self.0, features)
    }
}

#[cfg(test)]
mod tests {
    use super::{SHIPPED, Weights};
    use crate::candidates::names;

    #[test]
    fn the_table_names_features_that_there_are() {
        let table: std::collections::BTreeMap<String, f32> = serde_json::from_str(SHIPPED).unwrap();
        let known: std::collections::HashSet<String> = names().into_iter().collect();
        assert_eq!(known.len(), names().len());
        assert!(table.keys().all(|name| known.contains(name)));
        assert!(table.len() > 300 && Weights::shipped().0.iter().all(|weight| weight.is_finite()));
    }
}
