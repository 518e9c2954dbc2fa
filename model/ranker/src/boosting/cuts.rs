//! BoostedTrees as cuts through their num_leaves: each question that a row answers with "right" strikes out the num_leaves to its left, and the
//! first leaf that is left is the row's (Lucchese et al. 2015, QuickScorer). A question is put to all rows at once, without a
//! branch.

use super::{BoostedTrees, Node};
use crate::product::vectorised;

/// Leaves of a tree, at most: one bit each.
const MOST_LEAVES: usize = 32;

/// A question of a tree.
#[derive(Debug, Clone)]
struct Cut {
    feature: usize,
    threshold: f32,
    /// Without the num_leaves to its left.
    kept: u32,
}

/// All trees.
#[derive(Debug, Clone)]
pub(super) struct Cuts {
    /// For each tree its questions and the values of its num_leaves from left to right.
    trees: Vec<(Vec<Cut>, Vec<f32>)>,
}

impl Cuts {
    /// Nothing where a tree has more num_leaves than bits.
    pub(super) fn new(trees: &BoostedTrees) -> Option<Self> {
        let of_root = |&root: &u32| {
            let (mut cuts, mut num_leaves) = (Vec::new(), Vec::new());
            gather(&trees.nodes, root, 0, &mut cuts, &mut num_leaves)?;
            Some((cuts, num_leaves))
        };
        Some(Self { trees: trees.roots.iter().map(of_root).collect::<Option<_>>()? })
    }

    /// Adds to each of the `scores` `[rows]` what the trees say of `columns` `[features, rows]`.
    pub(super) fn add(&self, columns: &[f32], scores: &mut [f32]) {
        let rows = scores.len();
        let mut left = vec![0_u32; rows];
        for (cuts, num_leaves) in &self.trees {
            left.fill(u32::MAX);
            vectorised(
                (&mut left, cuts),
                #[inline(always)]
                |(left, cuts): (&mut Vec<u32>, &Vec<Cut>)| {
                    for &Cut { feature, threshold, kept } in cuts {
                        let column = &columns[feature * rows..(feature + 1) * rows];
                        for (left, &value) in left.iter_mut().zip(column) {
                            *left &= if value > threshold { kept } else { u32::MAX };
                        }
                    }
                },
            );
            for (score, left) in scores.iter_mut().zip(&left) {
                *score += num_leaves[left.trailing_zeros() as usize];
            }
        }
    }
}

/// The questions and num_leaves below a node at a depth; nothing where they are too many. A tree of few num_leaves is not deep,
/// one that a damaged file holds may be.
fn gather(nodes: &[Node], at: u32, depth: usize, cuts: &mut Vec<Cut>, num_leaves: &mut Vec<f32>) -> Option<()> {
    if depth >= MOST_LEAVES {
        return None;
    }
    let node = &nodes[at as usize];
    if node.is_leaf() {
        num_leaves.push(node.value);
        return (num_leaves.len() <= MOST_LEAVES).then_some(());
    }
    let first = num_leaves.len();
    gather(nodes, node.left, depth + 1, cuts, num_leaves)?;
    let struck = (first..num_leaves.len()).fold(0, |struck, leaf| struck | 1 << leaf);
    cuts.push(Cut { feature: node.feature as usize, threshold: node.threshold, kept: !struck });
    gather(nodes, node.right, depth + 1, cuts, num_leaves)
}
