//! The operation under burn's autodiff.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{Autodiff, Flex, tensor::FloatTensor};
use burn_flex::FlexTensor;

use super::{AggregateBackend, cpu};
use crate::config::Aggregation;
use crate::edges::EdgeIndex;

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
struct State {
    x: FlexTensor,
    strength: FlexTensor,
    winners: Arc<Vec<u32>>,
    edges: Arc<EdgeIndex>,
    aggregation: Aggregation,
}

#[derive(Debug)]
struct Aggregate;

impl Backward<Flex, 2> for Aggregate {
    type State = State;

    fn backward(self, ops: Ops<State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let State { x, strength, winners, edges, aggregation } = ops.state;
        let gradient = gradients.consume::<Flex>(&ops.node);
        let (x, strength) = cpu::backward(&gradient, &x, &strength, &winners, &edges, aggregation);
        for (parent, gradient) in ops.parents.into_iter().zip([x, strength]) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, gradient);
            }
        }
    }
}

impl<C: CheckpointStrategy> AggregateBackend for Autodiff<Flex, C> {
    fn aggregate(
        x: FloatTensor<Self>,
        strength: FloatTensor<Self>,
        edges: Arc<EdgeIndex>,
        aggregation: Aggregation,
    ) -> FloatTensor<Self> {
        let (out, winners) = cpu::forward(x.primitive(), strength.primitive(), &edges, aggregation, true);
        match Aggregate.prepare::<C>([x.node(), strength.node()]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let state = State {
                    x: x.into_primitive(),
                    strength: strength.into_primitive(),
                    winners: Arc::new(winners),
                    edges,
                    aggregation,
                };
                prep.finish(state, out)
            }
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }
}
