//! The weights of the log-linear models that link questions to a schema.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// The weights of one log-linear model by the names of its features; a feature without one counts for nothing.
///
/// A name of three parts with colons between is that of a pair: its kind, a word of the question, and what it meets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Weights(pub BTreeMap<String, f32>);

impl Weights {
    /// The mean of several; a feature that one has no weight for has none there. To three places.
    pub fn mean(several: &[Self]) -> Self {
        let mut sums: BTreeMap<&String, f32> = BTreeMap::new();
        for (name, weight) in several.iter().flat_map(|weights| &weights.0) {
            *sums.entry(name).or_default() += weight;
        }
        let mean = |sum: f32| (sum / several.len().max(1) as f32 * 1000.0).round() / 1000.0;
        Self(sums.into_iter().map(|(name, sum)| (name.clone(), mean(sum))).collect())
    }
}

/// All weights, fitted by `examples/fit_linking.rs`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Whether a question mentions a column.
    pub mention: Weights,
    /// Whether a statement for the question needs a table, alone.
    pub table: Weights,
    /// Which tables it needs together.
    pub set: Weights,
    /// Whether it needs a column, also to join.
    pub column: Weights,
}

/// A model in the form in which it is used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Compiled {
    pub(crate) mention: Part,
    pub(crate) table: Part,
    pub(crate) set: Part,
    pub(crate) column: Part,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    plain: HashMap<String, f32>,
    /// By kind and word of the question: what it meets.
    pairs: HashMap<(String, String), HashMap<String, f32>>,
}

impl Part {
    fn new(weights: &Weights) -> Self {
        let mut part = Self::default();
        for (name, &weight) in &weights.0 {
            match name.split(':').collect::<Vec<_>>()[..] {
                [kind, word, meets] => {
                    let of = part.pairs.entry((kind.to_owned(), word.to_owned())).or_default();
                    of.insert(meets.to_owned(), weight);
                }
                _ => {
                    part.plain.insert(name.clone(), weight);
                }
            }
        }
        part
    }

    /// Σ weight · value.
    pub(crate) fn score(&self, features: &[(&'static str, f32)]) -> f32 {
        features.iter().map(|(name, value)| self.plain.get(*name).copied().unwrap_or_default() * value).sum()
    }

    /// What a word of the question meets, by kind.
    pub(crate) fn met(&self, kind: &str, word: &str) -> Option<&HashMap<String, f32>> {
        self.pairs.get(&(kind.to_owned(), word.to_owned()))
    }
}

impl Compiled {
    pub(crate) fn new(model: &Model) -> Self {
        Self {
            mention: Part::new(&model.mention),
            table: Part::new(&model.table),
            set: Part::new(&model.set),
            column: Part::new(&model.column),
        }
    }
}

impl Model {
    /// The model that is shipped, fitted to Spider's training part.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Model> =
            LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).unwrap_or_default());
        &SHIPPED
    }
}

/// 1 / (1 + e^−x).
pub(crate) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_model_has_all_parts() {
        let model = Model::shipped();
        for part in [&model.mention, &model.table, &model.set, &model.column] {
            assert!(part.0.contains_key("bias") || part.0.contains_key("tables"), "{part:?}");
        }
    }
}
