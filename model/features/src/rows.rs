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

/// All rows, `[nodes, width]`.
pub fn all_rows(features: &dyn FeatureRows, width: usize) -> Vec<f32> {
    /// Rows that a thread takes at once.
    const ROWS: usize = 256;
    let mut values = vec![0.0; features.numbers()];
    let parts = values.par_chunks_mut(ROWS * width.max(1)).enumerate();
    parts.for_each(|(part, out)| features.write(part * ROWS, width, out));
    values
}
