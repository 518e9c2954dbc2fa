//! Aggregation of messages (8): for each node and channel the max, sum or mean of `s(e | q) x(v)`
//! over its in-edges `e` from `v`; 0 for a node without in-edges.
//!
//! One pass over edges sorted by destination, and one over the same edges sorted by source for the
//! gradients: no `[edges, d]` tensor, no scatter, and the same bits for any number of threads.

#[cfg(feature = "training")]
mod backward;
mod cpu;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;

use std::sync::Arc;

use burn::backend::{Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::Tensor;
#[cfg(feature = "gpu")]
use burn_cubecl::CubeBackend;

use crate::config::Aggregation;
use crate::edges::EdgeIndex;

/// The operation as burn's backends see it.
#[cfg_attr(feature = "training", backend_extension(Flex, Cube: cfg(feature = "gpu"), Autodiff))]
#[cfg_attr(not(feature = "training"), backend_extension(Flex, Cube: cfg(feature = "gpu")))]
trait AggregateBackend: Backend {
    fn aggregate(
        x: FloatTensor<Self>,
        strength: FloatTensor<Self>,
        edges: Arc<EdgeIndex>,
        aggregation: Aggregation,
    ) -> FloatTensor<Self>;
}

impl AggregateBackend for Flex {
    fn aggregate(
        x: FloatTensor<Self>,
        strength: FloatTensor<Self>,
        edges: Arc<EdgeIndex>,
        aggregation: Aggregation,
    ) -> FloatTensor<Self> {
        cpu::forward(&x, &strength, &edges, aggregation, false).0
    }
}

#[cfg(feature = "gpu")]
impl AggregateBackend for CubeBackend {
    fn aggregate(
        x: FloatTensor<Self>,
        strength: FloatTensor<Self>,
        edges: Arc<EdgeIndex>,
        aggregation: Aggregation,
    ) -> FloatTensor<Self> {
        gpu::forward(x, strength, &edges, aggregation, false).0
    }
}

/// Aggregates the messages of a batch.
///
/// `x` is `[nodes, d]`, `strength` the `[questions, edge_types]` table that the edges point into;
/// the result is `[nodes, d]`. Gradients flow to both; where messages tie for the max, to the
/// first edge by source.
pub fn aggregate(x: Tensor<2>, strength: Tensor<2>, edges: &Arc<EdgeIndex>, aggregation: Aggregation) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as AggregateBackend>::aggregate(
        x.into_dispatch(),
        strength.into_dispatch(),
        Arc::clone(edges),
        aggregation,
    ))
}

/// Takes up the messages into one node (8), `out` `[d]` holding zeros before: each is s(e | q) and x(v) `[d]`.
#[inline(always)]
pub(crate) fn take_up<'x>(
    out: &mut [f32],
    aggregation: Aggregation,
    messages: impl ExactSizeIterator<Item = (f32, &'x [f32])>,
) {
    if aggregation == Aggregation::Max {
        for (nth, (s, x)) in messages.enumerate() {
            for (out, x) in out.iter_mut().zip(x) {
                let candidate = s * x;
                *out = if nth == 0 || candidate > *out { candidate } else { *out };
            }
        }
    } else {
        let share = share(messages.len(), aggregation);
        for (s, x) in messages {
            for (out, x) in out.iter_mut().zip(x) {
                *out += s * share * x;
            }
        }
    }
}

/// What a message counts for: 1 in a sum, 1 / in-edges in a mean.
fn share(in_edges: usize, aggregation: Aggregation) -> f32 {
    match aggregation {
        Aggregation::Mean => 1.0 / in_edges.max(1) as f32,
        Aggregation::Max | Aggregation::Sum => 1.0,
    }
}

#[cfg(test)]
mod tests;
