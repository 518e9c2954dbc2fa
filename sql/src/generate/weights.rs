//! The log-linear model that chooses among candidate statements. Its weights are in `weights.json`, fitted by
//! `tools/scripts/sql_tables.py --fit` on the training part of the questions.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use super::features::Names;

const SHIPPED: &str = include_str!("weights.json");

/// A weight a feature.
#[derive(Debug, Default)]
pub(super) struct Weights {
    ids: HashMap<String, u32>,
    values: Vec<f32>,
}

impl Weights {
    /// Those that come with the crate.
    pub fn shipped() -> &'static Self {
        static WEIGHTS: OnceLock<Weights> = OnceLock::new();
        WEIGHTS.get_or_init(|| {
            let table: BTreeMap<String, f32> = serde_json::from_str(SHIPPED).unwrap_or_default();
            let mut weights = Self::default();
            for ((name, value), id) in table.into_iter().zip(0..) {
                weights.ids.insert(name, id);
                weights.values.push(value);
            }
            weights
        })
    }

    /// Sum of weight times value.
    pub fn score(&self, features: &[(u32, f32)]) -> f32 {
        tabsegnet_choice::score(&self.values, features)
    }
}

impl Names for &Weights {
    fn id(&mut self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    /// Weights were fitted with those that they may have.
    fn has_phrase(&self, _phrase: &str) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Weights;

    #[test]
    fn the_table_can_be_read() {
        let weights = Weights::shipped();
        assert!(weights.values.len() > 300 && weights.values.iter().all(|weight| weight.is_finite()));
    }
}
