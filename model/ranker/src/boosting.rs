//! Boosted regression trees (Friedman 2001) that rank a few rows of features: [`training`] makes them.

#[cfg(feature = "training")]
pub mod bins;
mod cuts;
#[cfg(feature = "training")]
pub mod training;

use std::path::Path;
use std::sync::OnceLock;

use burn::tensor::TensorData;

use crate::tensors::NamedTensors;

/// The number of no node: what stands below a leaf.
const NONE: u32 = u32::MAX;
/// Scores of trees from a file do not get beyond this.
const GREATEST: f32 = 1e30;

/// A node of a tree: a leaf, or a question about one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node {
    /// The feature that is looked at.
    pub(crate) feature: u32,
    /// Rows whose feature is at most this go left.
    pub(crate) threshold: f32,
    /// Number of the node on the left below, which that on the right follows; [`NONE`] in a leaf.
    pub(crate) left: u32,
    /// What the tree would say if it ended here.
    pub(crate) value: f32,
}

impl Node {
    pub(crate) fn leaf(value: f32) -> Self {
        Self { feature: 0, threshold: 0.0, left: NONE, value }
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.left == NONE
    }

    /// Number of the node on the right below.
    pub(crate) fn right(&self) -> u32 {
        self.left + 1
    }
}

/// Trees whose values add up.
#[derive(Debug, Clone, Default)]
pub struct BoostedTrees {
    pub(crate) features: usize,
    /// Of all trees, a tree's root before its other nodes.
    pub(crate) nodes: Vec<Node>,
    /// Numbers of the roots.
    pub(crate) roots: Vec<u32>,
    /// The same trees for many rows at once, made when first needed.
    cuts: OnceLock<Option<cuts::Cuts>>,
}

impl PartialEq for BoostedTrees {
    fn eq(&self, other: &Self) -> bool {
        (self.features, &self.nodes, &self.roots) == (other.features, &other.nodes, &other.roots)
    }
}

impl BoostedTrees {
    /// Numbers that a row has.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The same trees for rows of more features, of which they look at the first alone.
    #[must_use]
    pub(crate) fn widened(self, features: usize) -> Self {
        Self { features: features.max(self.features), ..self }
    }

    /// How many trees.
    pub fn count(&self) -> usize {
        self.roots.len()
    }

    /// The score of a row `[features]`.
    pub fn score(&self, row: &[f32]) -> f32 {
        self.roots.iter().map(|&root| self.path(root, row).last().map_or(0.0, |node| node.value)).sum()
    }

    /// The scores of rows `[rows, features]`, each that of [`BoostedTrees::score`].
    pub fn scores(&self, rows: &[f32]) -> Vec<f32> {
        let features = self.features.max(1);
        let count = rows.len() / features;
        let mut scores = vec![0.0; count];
        let Some(cuts) = self.cuts.get_or_init(|| cuts::Cuts::new(self)) else {
            for (row, score) in rows.chunks_exact(features).zip(&mut scores) {
                *score = self.score(row);
            }
            return scores;
        };
        let mut columns = vec![0.0; features * count];
        for (at, row) in rows.chunks_exact(features).enumerate() {
            for (feature, &value) in row.iter().enumerate() {
                columns[feature * count + at] = value;
            }
        }
        cuts.add(&columns, &mut scores);
        scores
    }

    /// What each feature adds to the score of a row, `[features]`, and what the trees say of a row that they
    /// know nothing of: together they are the score. On a tree's way to a leaf each step's change of value
    /// goes to the feature that it looks at (Saabas 2014).
    pub fn effects(&self, row: &[f32]) -> (f32, Vec<f32>) {
        let (mut alone, mut effects) = (0.0, vec![0.0; self.features]);
        for &root in &self.roots {
            let mut before: Option<Node> = None;
            for node in self.path(root, row) {
                match before {
                    None => alone += node.value,
                    Some(above) => effects[above.feature as usize] += node.value - above.value,
                }
                before = Some(node);
            }
        }
        (alone, effects)
    }

    /// From a root to a leaf. Children come after their parent, so that it ends.
    fn path<'a>(&'a self, root: u32, row: &'a [f32]) -> impl Iterator<Item = Node> + 'a {
        let below = |node: &Node| match node.is_leaf() {
            true => None,
            false if row[node.feature as usize] <= node.threshold => Some(self.nodes[node.left as usize]),
            false => Some(self.nodes[node.right() as usize]),
        };
        std::iter::successors(Some(self.nodes[root as usize]), below)
    }

    /// As tensors of a file: thresholds and values are f32, numbers of features and nodes i32, −1 for none.
    pub fn tensors(&self) -> Vec<(String, TensorData)> {
        let floats =
            |of: fn(&Node) -> f32| TensorData::new(self.nodes.iter().map(of).collect::<Vec<f32>>(), [self.nodes.len()]);
        // Files hold fewer than 2³¹ nodes; [`NONE`] becomes -1.
        let integers = |numbers: Vec<u32>| {
            let count = numbers.len();
            TensorData::new(numbers.into_iter().map(|number| number as i32).collect::<Vec<i32>>(), [count])
        };
        let of_nodes = |of: fn(&Node) -> u32| integers(self.nodes.iter().map(of).collect());
        let named: [(&str, TensorData); 6] = [
            ("trees.features", integers(vec![self.features as u32])),
            ("trees.roots", integers(self.roots.clone())),
            ("trees.feature", of_nodes(|node| node.feature)),
            ("trees.threshold", floats(|node| node.threshold)),
            ("trees.left", of_nodes(|node| node.left)),
            ("trees.value", floats(|node| node.value)),
        ];
        named.into_iter().map(|(name, data)| (name.to_owned(), data)).collect()
    }

    /// Trees from the bytes of a safetensors `file` of their own, for rows of so many `features`.
    ///
    /// # Errors
    /// In words, what is missing or wrong.
    pub fn parse(file: &Path, bytes: &[u8], features: usize) -> Result<Self, String> {
        let tensors = NamedTensors::read(file, bytes).map_err(|error| error.to_string())?;
        let trees = Self::from_tensors(&tensors)?;
        match trees.features() == features {
            true => Ok(trees),
            false => Err(format!("its trees look at {} numbers, expected {features}", trees.features())),
        }
    }

    /// Trees from the tensors of a file.
    ///
    /// # Errors
    /// In words, what is missing or wrong.
    pub fn from_tensors(tensors: &NamedTensors) -> Result<Self, String> {
        let values = |name: &str| {
            let (_, values) = tensors.floats(name)?;
            match values.iter().find(|value| !value.is_finite()) {
                Some(value) => Err(format!("tensor {name} holds {value}; expected finite numbers")),
                None => Ok(values),
            }
        };
        let whole = |name: &str, least: i32| {
            let values = tensors.integers(name)?;
            match values.iter().find(|&&value| value < least) {
                Some(value) => Err(format!("tensor {name} holds {value}; expected whole numbers from {least}")),
                None => Ok(values),
            }
        };
        let &[features] = whole("trees.features", 1)? else {
            return Err("tensor trees.features does not hold one number".into());
        };
        let number = |value: i32| u32::try_from(value).unwrap_or(NONE);
        let (feature, threshold) = (whole("trees.feature", 0)?, values("trees.threshold")?);
        let (left, value) = (whole("trees.left", -1)?, values("trees.value")?);
        let count = feature.len();
        if [threshold.len(), left.len(), value.len()] != [count; 3] {
            return Err("the tensors of its trees have different lengths".into());
        }
        let nodes: Vec<Node> = (0..count)
            .map(|at| Node {
                feature: number(feature[at]),
                threshold: threshold[at],
                left: number(left[at]),
                value: value[at],
            })
            .collect();
        for (at, node) in nodes.iter().enumerate() {
            let left = node.left as usize;
            let below = at < left && left + 1 < count && node.feature < number(features);
            if !(node.is_leaf() || below) {
                return Err(format!("node {at} of its trees leads to no node after it or looks at no feature"));
            }
        }
        let roots: Vec<u32> = whole("trees.roots", 0)?.iter().map(|&root| number(root)).collect();
        if let Some(root) = roots.iter().find(|&&root| root as usize >= count) {
            return Err(format!("root {root} is none of its {count} nodes"));
        }
        let most = GREATEST / roots.len().max(1) as f32;
        if let Some(value) = value.iter().find(|value| value.abs() > most) {
            return Err(format!(
                "tensor trees.value holds {value}; expected at most {most:e}, so that scores are finite"
            ));
        }
        Ok(Self { features: features as usize, nodes, roots, cuts: OnceLock::new() })
    }
}

#[cfg(test)]
mod tests;
