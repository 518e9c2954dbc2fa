//! The weights of what a statement is composed of.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::candidates::WORD_LEFT;
use super::reading::{Reading, Role};
use super::shape::Shape;
use super::sketch::Joined;
use crate::linking::Weights;
use crate::linking::words::stem;

/// All weights, fitted by `examples/compose.rs`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// By what a column does, whether it does so.
    pub roles: BTreeMap<String, Weights>,
    /// By shape.
    pub shapes: BTreeMap<String, Weights>,
    /// By how several conditions go together.
    pub joined: BTreeMap<String, Weights>,
    /// Whether equal rows are shown once.
    pub distinct: Weights,
    /// Whether a condition that may be stated is.
    pub condition: Weights,
    /// Which statement is right.
    pub rank: Weights,
}

impl Model {
    /// The model that is shipped, fitted to Spider's training part.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Model> =
            LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).unwrap_or_default());
        &SHIPPED
    }
}

/// A model in the form in which it is used: by feature the weights of what it speaks for.
#[derive(Debug, Clone, Default)]
pub(super) struct Compiled {
    roles: Table<Role>,
    shapes: Table<Shape>,
    joined: Table<Joined>,
    distinct: HashMap<String, f32>,
    condition: HashMap<String, f32>,
    rank: HashMap<String, f32>,
}

#[derive(Debug, Clone)]
struct Table<K> {
    classes: Vec<K>,
    weights: HashMap<String, Vec<(usize, f32)>>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { classes: Vec::new(), weights: HashMap::new() }
    }
}

impl<K: Copy> Table<K> {
    fn new(weights: &BTreeMap<String, Weights>, named: impl Fn(&str) -> Option<K>) -> Self {
        let mut table = Self::default();
        for (name, of) in weights {
            let Some(class) = named(name) else { continue };
            let at = table.classes.len();
            table.classes.push(class);
            for (feature, weight) in &of.0 {
                table.weights.entry(feature.clone()).or_default().push((at, *weight));
            }
        }
        table
    }

    /// The score of each class.
    fn scores(&self, features: &[String]) -> Vec<(K, f32)> {
        let mut scores = vec![0.0; self.classes.len()];
        for (at, weight) in features.iter().filter_map(|feature| self.weights.get(feature)).flatten() {
            scores.get_mut(*at).into_iter().for_each(|score| *score += weight);
        }
        self.classes.iter().copied().zip(scores).collect()
    }

    /// The logarithm of each class's probability, the likeliest first.
    fn log_softmax(&self, features: &[String]) -> Vec<(K, f32)> {
        let mut scores = self.scores(features);
        let highest = scores.iter().map(|(_, score)| *score).fold(f32::NEG_INFINITY, f32::max);
        let all: f32 = scores.iter().map(|(_, score)| (score - highest).exp()).sum();
        scores.iter_mut().for_each(|(_, score)| *score -= highest + all.ln());
        scores.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        scores
    }
}

fn sum(weights: &HashMap<String, f32>, features: &[String]) -> f32 {
    features.iter().filter_map(|feature| weights.get(feature)).sum()
}

impl Compiled {
    pub fn new(model: &Model) -> Self {
        let role = |name: &str| Role::ALL.into_iter().find(|role| role.name() == name);
        let joined =
            |name: &str| [Joined::And, Joined::Or, Joined::Intersect].into_iter().find(|joined| joined.name() == name);
        let flat = |weights: &Weights| weights.0.iter().map(|(name, weight)| (name.clone(), *weight)).collect();
        Self {
            roles: Table::new(&model.roles, role),
            shapes: Table::new(&model.shapes, Shape::named),
            joined: Table::new(&model.joined, joined),
            distinct: flat(&model.distinct),
            condition: flat(&model.condition),
            rank: flat(&model.rank),
        }
    }

    /// By role the log-odds that a column does so.
    pub fn roles(&self, reading: &Reading<'_>, column: usize) -> Vec<(Role, f32)> {
        self.roles.scores(&reading.of_column(column))
    }

    /// The shapes with the logarithms of their probabilities, the likeliest first.
    pub fn shapes(&self, question: &[String]) -> Vec<(Shape, f32)> {
        self.shapes.log_softmax(question)
    }

    pub fn joined(&self, question: &[String]) -> Vec<(Joined, f32)> {
        self.joined.log_softmax(question)
    }

    pub fn distinct(&self, question: &[String]) -> f32 {
        sum(&self.distinct, question)
    }

    pub fn condition(&self, features: &[String]) -> f32 {
        sum(&self.condition, features)
    }

    /// Whether it has learnt what it says that a statement leaves a word out.
    pub fn knows_left(&self, word: &str) -> bool {
        self.rank.contains_key(&format!("{WORD_LEFT}{}", stem(word)))
    }

    pub fn rank(&self, features: &[(String, f32)]) -> f32 {
        features.iter().map(|(name, value)| self.rank.get(name).copied().unwrap_or_default() * value).sum()
    }
}
