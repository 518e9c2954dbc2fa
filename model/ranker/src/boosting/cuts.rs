//! Trees as cuts through their leaves: each question that a row answers with "right" strikes out the leaves to its left, and the
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
    /// Without the leaves to its left.
    kept: u32,
}

/// All trees.
#[derive(Debug, Clone)]
pub(super) struct Cuts {
    /// For each tree its questions and the values of its leaves from left to right.
    trees: Vec<(Vec<Cut>, Vec<f32>)>,
}

impl Cuts {
    /// Nothing where a tree has more leaves than bits.
    pub(super) fn new(trees: &BoostedTrees) -> Option<Self> {
        let of_root = |&root: &u32| {
            let (mut cuts, mut leaves) = (Vec::new(), Vec::new());
            gather(&trees.nodes, root, 0, &mut cuts, &mut leaves)?;
            Some((cuts, leaves))
        };
        Some(Self { trees: trees.roots.iter().map(of_root).collect::<Option<_>>()? })
    }

    /// Adds to each of the `scores` `[rows]` what the trees say of `columns` `[features, rows]`.
    pub(super) fn add(&self, columns: &[f32], scores: &mut [f32]) {
        let rows = scores.len();
        let mut left = vec![0_u32; rows];
        for (cuts, leaves) in &self.trees {
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
                *score += leaves[left.trailing_zeros() as usize];
            }
        }
    }
}

/// The questions and leaves below a node at a depth; nothing where they are too many. A tree of few leaves is not deep,
/// one that a damaged file holds may be.
fn gather(nodes: &[Node], at: u32, depth: usize, cuts: &mut Vec<Cut>, leaves: &mut Vec<f32>) -> Option<()> {
    if depth >= MOST_LEAVES {
        return None;
    }
    let node = &nodes[at as usize];
    if node.is_leaf() {
        leaves.push(node.value);
        return (leaves.len() <= MOST_LEAVES).then_some(());
    }
    let first = leaves.len();
    gather(nodes, node.left, depth + 1, cuts, leaves)?;
    let struck = (first..leaves.len()).fold(0, |struck, leaf| struck | 1 << leaf);
    cuts.push(Cut { feature: node.feature as usize, threshold: node.threshold, kept: !struck });
    gather(nodes, node.right(), depth + 1, cuts, leaves)
}
