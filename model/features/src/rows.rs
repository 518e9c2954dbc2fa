//! Features a few rows at a time.

use std::fmt::Debug;

use rayon::prelude::*;

/// The features of a document's nodes for a question, `[nodes, width]`, which may be computed only when they are looked
/// at: those of 10,000 nodes take more time on their way to memory and back than to compute.
pub trait FeatureRows: Debug + Sync {
    /// `nodes · width`
    fn numbers(&self) -> usize;

    /// Writes the rows from node `first` on into `out` `[rows, width]`.
    fn write(&self, first: usize, width: usize, out: &mut [f32]);
}

/// Numbers as they stand.
impl FeatureRows for Vec<f32> {
    fn numbers(&self) -> usize {
        self.len()
    }

    fn write(&self, first: usize, width: usize, out: &mut [f32]) {
        out.copy_from_slice(&self[first * width..first * width + out.len()]);
    }
}

/// Those of a ranker without features.
pub const NO_FEATURES: &Vec<f32> = &Vec::new();

/// The rows of some nodes, `[nodes, width]`.
pub fn some_rows(features: &dyn FeatureRows, width: usize, nodes: &[u32]) -> Vec<f32> {
    let mut values = vec![0.0; nodes.len() * width];
    let rows = values.par_chunks_mut(width.max(1)).with_min_len(64).zip(nodes);
    rows.for_each(|(out, &node)| features.write(node as usize, width, out));
    values
}

/// The rows of some nodes, to be looked at several times.
#[derive(Debug)]
pub struct Rows<'a> {
    of: &'a dyn FeatureRows,
    nodes: &'a [u32],
    width: usize,
    /// `[nodes, width]`; empty where they would take more memory than computing them again takes time.
    known: Vec<f32>,
}

/// So many rows at most are kept: of 300 numbers each, 20 MB.
const KEPT: usize = 16_384;

impl<'a> Rows<'a> {
    /// Of `nodes` by number.
    pub fn new(of: &'a dyn FeatureRows, width: usize, nodes: &'a [u32]) -> Self {
        let known = if nodes.len() <= KEPT { some_rows(of, width, nodes) } else { Vec::new() };
        Self { of, nodes, width, known }
    }
}

impl FeatureRows for Rows<'_> {
    fn numbers(&self) -> usize {
        self.nodes.len() * self.width
    }

    fn write(&self, first: usize, width: usize, out: &mut [f32]) {
        if !self.known.is_empty() {
            return self.known.write(first, width, out);
        }
        let rows = out.chunks_exact_mut(width.max(1)).zip(&self.nodes[first..]);
        rows.for_each(|(out, &node)| self.of.write(node as usize, width, out));
    }
}

/// All rows, `[nodes, width]`.
pub fn all_rows(features: &dyn FeatureRows, width: usize) -> Vec<f32> {
    /// Rows that a thread takes at once.
    const ROWS: usize = 256;
    let mut values = vec![0.0; features.numbers()];
    let parts = values.par_chunks_mut(ROWS * width.max(1)).enumerate();
    parts.for_each(|(part, out)| features.write(part * ROWS, width, out));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_their_nodes_however_many_there_are() {
        let features: Vec<f32> = (0..3 * 100).map(|number| number as f32).collect();
        for count in [5, KEPT, KEPT + 1] {
            let nodes: Vec<u32> = (0..count as u32).map(|at| at * 7 % 100).collect();
            let rows = Rows::new(&features, 3, &nodes);
            assert_eq!(rows.numbers(), 3 * count);
            assert_eq!(rows.known.is_empty(), count > KEPT);
            let mut found = vec![0.0; 3 * (count - 2)];
            rows.write(2, 3, &mut found);
            assert_eq!(found, some_rows(&features, 3, &nodes[2..]));
        }
    }
}
