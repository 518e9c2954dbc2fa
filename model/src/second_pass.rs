//! A second look at the nodes that the ranker puts first: boosted trees see, beside a candidate's features, where the ranker's
//! scores put it among the others, and order the candidates anew. The nodes after them keep their order.

use std::path::Path;

use burn::tensor::TensorData;
use tabsegnet_data::graph::{Node, NodeKind};
use tabsegnet_files::{read_bytes, write_bytes_atomic};

use crate::best;
use crate::checkpoint::{CheckpointError, deserialize, serialize};
use crate::trees::Trees;

/// What a candidate's row has after the node's features, in order: what the ranker's scores say of it.
pub const NAMES: [&str; 14] = [
    "ranked.kind",
    "ranked.score",
    "ranked.log_share",
    "ranked.rank",
    "ranked.below_best",
    "ranked.row_below_best",
    "ranked.column_below_best",
    "ranked.table_below_best",
    "ranked.below_row",
    "ranked.rank_in_row",
    "ranked.text_above_tables",
    "ranked.above_tenth",
    "ranked.first_above_second",
    "ranked.first_above_tenth",
];

/// Trees and how many nodes they look at.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondPass {
    candidates: usize,
    trees: Trees,
}

/// The nodes that a ranker puts first, best first, with what is known of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// Their numbers.
    pub nodes: Vec<u32>,
    /// `[candidates, features + 14]`: the features of each node, then [`NAMES`].
    pub rows: Vec<f32>,
}

/// What the second pass says of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondLook {
    /// Score of a row of which nothing is known.
    pub alone: f32,
    /// `[features + 14]`: the numbers looked at.
    pub values: Vec<f32>,
    /// `[features + 14]`: what each adds to the score; with `alone` they are the score.
    pub effects: Vec<f32>,
}

/// What a node shares with others: its row, its column, its table; the sentences are one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shared {
    row: Option<(usize, usize)>,
    column: Option<(usize, usize)>,
    table: Option<usize>,
}

impl Shared {
    fn of(node: &Node) -> Self {
        let Some(place) = &node.place else { return Self { row: None, column: None, table: None } };
        let (in_row, in_column) = match node.kind {
            NodeKind::Cell => (true, true),
            NodeKind::RowHeader => (true, false),
            NodeKind::ColumnHeader => (false, true),
            NodeKind::Passage | NodeKind::Caption => (false, false),
        };
        Self {
            row: in_row.then_some((place.table, place.row)),
            column: in_column.then_some((place.table, place.col)),
            table: Some(place.table),
        }
    }
}

impl Candidates {
    /// The `count` nodes with the highest `scores` `[nodes]`, equal ones in document order, with their
    /// `features` `[nodes, features]`.
    pub fn new(nodes: &[Node], features: &[f32], scores: &[f32], count: usize) -> Self {
        let order: Vec<u32> = best(scores, count).into_iter().map(|node| node as u32).collect();
        let width = features.len() / scores.len().max(1);
        let (Some(&first), Some(tenth)) = (order.first(), order.get(9).or(order.last())) else {
            return Self { nodes: order, rows: Vec::new() };
        };
        let score = |node: u32| scores[node as usize];
        let (best, tenth) = (score(first), score(*tenth));
        let second = score(*order.get(1).unwrap_or(&first));
        let sum: f64 = scores.iter().map(|&score| f64::from(score - best).exp()).sum();
        let (mut text, mut tables) = (None, None);
        for (node, &score) in nodes.iter().zip(scores) {
            let greatest = if node.kind == NodeKind::Passage { &mut text } else { &mut tables };
            *greatest = Some(greatest.map_or(score, |greatest: f32| greatest.max(score)));
        }
        // Far, where a document has no sentence or no table.
        let text_above_tables = match (text, tables) {
            (Some(text), Some(tables)) => text - tables,
            (Some(_), None) => 20.0,
            (None, _) => -20.0,
        };
        let places: Vec<Shared> = order.iter().map(|&number| Shared::of(&nodes[number as usize])).collect();
        let mut rows = Vec::with_capacity(order.len() * (width + NAMES.len()));
        for (rank, &number) in order.iter().enumerate() {
            let (node, own, place) = (&nodes[number as usize], score(number), places[rank]);
            // Whatever shares a row with a candidate and is above it is a candidate before it.
            let before = order[..rank].iter().zip(&places);
            let (mut row, mut column, mut table, mut above_in_row) = (None, None, None, 0_u16);
            for (&other, shared) in before {
                let same = |a: Option<(usize, usize)>, b| a.is_some() && a == b;
                if same(place.row, shared.row) {
                    row = row.or(Some(other));
                    above_in_row += u16::from(score(other) > own);
                }
                if same(place.column, shared.column) {
                    column = column.or(Some(other));
                }
                if place.table == shared.table {
                    table = table.or(Some(other));
                }
            }
            let [row, column, table] = [row, column, table].map(|first| first.map_or(own, score));
            rows.extend_from_slice(&features[number as usize * width..(number as usize + 1) * width]);
            let kind = NodeKind::ALL.iter().position(|kind| *kind == node.kind).unwrap_or_default();
            rows.extend::<[f32; NAMES.len()]>([
                kind as f32,
                own,
                (f64::from(own - best) - sum.ln()) as f32,
                rank as f32,
                own - best,
                row - best,
                column - best,
                table - best,
                row - own,
                f32::from(above_in_row),
                text_above_tables,
                own - tenth,
                best - second,
                best - tenth,
            ]);
        }
        Self { nodes: order, rows }
    }

    /// Numbers that a candidate's row has, beside so many features.
    pub fn width(features: usize) -> usize {
        features + NAMES.len()
    }
}

impl SecondPass {
    /// `trees` that look at so many candidates.
    pub fn new(trees: Trees, candidates: usize) -> Self {
        Self { candidates, trees }
    }

    /// Numbers of a row.
    fn width(&self) -> usize {
        self.trees.features()
    }

    /// Puts the trees' scores in the place of the ranker's `scores` `[nodes]`: the candidates' in order of the
    /// trees, the others' below them, as far from the last candidate as they were.
    pub fn rescore(&self, nodes: &[Node], features: &[f32], scores: &mut [f32]) {
        let Candidates { nodes: order, rows } = Candidates::new(nodes, features, scores, self.candidates);
        let Some(&last) = order.last() else { return };
        let said = self.trees.scores(&rows);
        let lower = said.iter().copied().fold(f32::INFINITY, f32::min) - scores[last as usize];
        scores.iter_mut().for_each(|score| *score += lower);
        order.iter().zip(said).for_each(|(&node, said)| scores[node as usize] = said);
    }

    /// What it says of each of `wanted`, by the ranker's `scores`; nothing of one that is no candidate.
    pub fn explain(&self, nodes: &[Node], features: &[f32], scores: &[f32], wanted: &[u32]) -> Vec<Option<SecondLook>> {
        let Candidates { nodes: order, rows } = Candidates::new(nodes, features, scores, self.candidates);
        let look = |node: &u32| {
            let at = order.iter().position(|candidate| candidate == node)?;
            let values = &rows[at * self.width()..(at + 1) * self.width()];
            let (alone, effects) = self.trees.effects(values);
            Some(SecondLook { alone, values: values.to_vec(), effects })
        };
        wanted.iter().map(look).collect()
    }

    /// Writes it as a safetensors file.
    ///
    /// # Errors
    /// What the disk says.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let mut tensors = self.trees.tensors();
        tensors.push(("candidates".into(), TensorData::new(vec![self.candidates as f32], [1])));
        Ok(write_bytes_atomic(path, &serialize(&tensors, path)?)?)
    }

    /// Reads what [`SecondPass::write`] wrote, for nodes with so many features.
    ///
    /// # Errors
    /// A file that is cut short or holds something else, or trees for another number of features.
    pub fn read(path: &Path, features: usize) -> Result<Self, CheckpointError> {
        let wrong = |message: String| CheckpointError::Content { file: path.display().to_string(), message };
        let tensors = deserialize(path, &read_bytes(path)?)?;
        let trees = Trees::from_tensors(&tensors).map_err(wrong)?;
        let candidates = match tensors.get("candidates").map(|(_, values)| values.as_slice()) {
            Some(&[count]) if count >= 1.0 && count.fract() == 0.0 && count < 1e6 => count as usize,
            _ => return Err(wrong("has no tensor candidates with one whole number from 1".into())),
        };
        if trees.features() != Candidates::width(features) {
            let expected = Candidates::width(features);
            return Err(wrong(format!("its trees look at {} numbers, expected {expected}", trees.features())));
        }
        Ok(Self { candidates, trees })
    }
}

#[cfg(test)]
mod tests;
