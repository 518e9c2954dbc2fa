//! Aggregation on the CPU.

use crate::aggregate::take_up;
use crate::config::Aggregation;
use crate::product::vectorised;

/// A document's edges with their strengths for one question.
pub(super) struct Edges<'a> {
    pub(super) offsets: &'a [u32],
    pub(super) edges: &'a [(u32, u32)],
    pub(super) strength: &'a [f32],
    pub(super) aggregation: Aggregation,
}

impl Edges<'_> {
    /// Positions of the edges into a node.
    pub(super) fn of(&self, node: u32) -> std::ops::Range<usize> {
        self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize
    }

    /// s(e | q) and x(v) of an edge from v, `x` being `[nodes, d]`.
    fn message<'x>(&self, edge: usize, x: &'x [f32], d: usize) -> (f32, &'x [f32]) {
        let (source, row) = self.edges[edge];
        (self.strength[row as usize], &x[source as usize * d..(source as usize + 1) * d])
    }

    /// The aggregated messages of the nodes from `first` on into `out` `[rows, d]`.
    pub(super) fn aggregate(&self, x: &[f32], d: usize, first: usize, out: &mut [f32]) {
        vectorised(
            (self, x, out),
            #[inline(always)]
            |(graph, x, out): (&Self, &[f32], &mut [f32])| {
                out.fill(0.0);
                for (node, out) in (first..).zip(out.chunks_exact_mut(d)) {
                    let messages = graph.of(node as u32).map(|edge| graph.message(edge, x, d));
                    take_up(out, graph.aggregation, messages);
                }
            },
        );
    }
}
