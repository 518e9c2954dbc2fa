//! The operations under burn's autodiff.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{Autodiff, Flex, tensor::FloatTensor};
use burn_flex::FlexTensor;

use super::{ActivationBackend, SharedRows, cpu};
use crate::flex::shape_of;

#[derive(Debug)]
struct TanhOfSum;

impl Backward<Flex, 2> for TanhOfSum {
    /// The result, the table's shape, each node's rows of it.
    type State = (FlexTensor, [usize; 2], Arc<SharedRows>);

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let (out, table_shape, shared) = ops.state;
        let gradient = gradients.consume::<Flex>(&ops.node);
        let (own, table) = cpu::tanh_of_sum_backward(gradient, &out, table_shape, &shared);
        for (parent, gradient) in ops.parents.into_iter().zip([own, table]) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, gradient);
            }
        }
    }
}

#[derive(Debug)]
struct ReluOfSum;

impl Backward<Flex, 3> for ReluOfSum {
    /// The result.
    type State = FlexTensor;

    fn backward(self, ops: Ops<Self::State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node);
        let (own, bias) = cpu::relu_of_sum_backward(gradient, &ops.state);
        for (parent, gradient) in ops.parents.into_iter().zip([own.clone(), own, bias]) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, gradient);
            }
        }
    }
}

impl<C: CheckpointStrategy> ActivationBackend for Autodiff<Flex, C> {
    fn tanh_of_sum(own: FloatTensor<Self>, table: FloatTensor<Self>, shared: Arc<SharedRows>) -> FloatTensor<Self> {
        let table_shape = shape_of(table.primitive());
        let nodes = [own.node(), table.node()];
        let out = cpu::tanh_of_sum(own.into_primitive(), table.primitive(), &shared);
        match TanhOfSum.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((out.clone(), table_shape, shared), out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }

    fn relu_of_sum(own: FloatTensor<Self>, messages: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [own.node(), messages.node(), bias.node()];
        let out = cpu::relu_of_sum(own.into_primitive(), messages.primitive(), bias.primitive());
        match ReluOfSum.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(out.clone(), out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }
}
