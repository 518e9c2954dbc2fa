//! Aggregation on the CPU.

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
    /// The aggregated messages of the nodes from `first` on into `out` `[rows, d]`.
    pub(super) fn aggregate(&self, x: &[f32], d: usize, first: usize, out: &mut [f32]) {
        vectorised(
            (self, x, out),
            #[inline(always)]
            |(graph, x, out): (&Self, &[f32], &mut [f32])| {
                out.fill(0.0);
                for (node, out) in (first..).zip(out.chunks_exact_mut(d)) {
                    let edges = &graph.edges[graph.offsets[node] as usize..graph.offsets[node + 1] as usize];
                    let message = |&(source, row): &(u32, u32)| {
                        (graph.strength[row as usize], &x[source as usize * d..(source as usize + 1) * d])
                    };
                    match graph.aggregation {
                        Aggregation::Max => {
                            for (nth, edge) in edges.iter().enumerate() {
                                let (s, x) = message(edge);
                                for (out, x) in out.iter_mut().zip(x) {
                                    let candidate = s * x;
                                    *out = if nth == 0 || candidate > *out { candidate } else { *out };
                                }
                            }
                        }
                        Aggregation::Sum | Aggregation::Mean => {
                            let mean = graph.aggregation == Aggregation::Mean;
                            let share = if mean { 1.0 / edges.len().max(1) as f32 } else { 1.0 };
                            for edge in edges {
                                let (s, x) = message(edge);
                                for (out, x) in out.iter_mut().zip(x) {
                                    *out += s * share * x;
                                }
                            }
                        }
                    }
                }
            },
        );
    }
}
