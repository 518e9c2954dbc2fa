//! The operations under burn's autodiff.

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{Autodiff, Flex, TensorMetadata as _, tensor::FloatTensor};
#[cfg(feature = "gpu")]
use burn_cubecl::CubeBackend;

use super::{ActivationBackend, SharedRows, cpu};

/// The backward passes of a backend, each from the gradient of the result and the result.
pub(super) trait Passes: ActivationBackend {
    /// The gradients of `own` and the table.
    fn tanh_of_sum_backward(
        gradient: FloatTensor<Self>,
        out: FloatTensor<Self>,
        table_shape: [usize; 2],
        shared: &SharedRows,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);

    /// The gradients of `own` (and of the messages, which is the same) and the bias.
    fn relu_of_sum_backward(
        gradient: FloatTensor<Self>,
        out: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

impl Passes for Flex {
    fn tanh_of_sum_backward(
        gradient: FloatTensor<Self>,
        out: FloatTensor<Self>,
        table_shape: [usize; 2],
        shared: &SharedRows,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        cpu::tanh_of_sum_backward(gradient, &out, table_shape, shared)
    }

    fn relu_of_sum_backward(
        gradient: FloatTensor<Self>,
        out: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        cpu::relu_of_sum_backward(gradient, &out)
    }
}

#[cfg(feature = "gpu")]
impl Passes for CubeBackend {
    fn tanh_of_sum_backward(
        gradient: FloatTensor<Self>,
        out: FloatTensor<Self>,
        table_shape: [usize; 2],
        shared: &SharedRows,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        super::gpu::tanh_of_sum_backward(gradient, out, table_shape, shared)
    }

    fn relu_of_sum_backward(
        gradient: FloatTensor<Self>,
        out: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        super::gpu::relu_of_sum_backward(gradient, out)
    }
}

#[derive(Debug)]
struct TanhOfSum;

impl<B: Passes> Backward<B, 2> for TanhOfSum {
    /// The result, the table's shape, each node's rows of it.
    type State = (FloatTensor<B>, [usize; 2], Arc<SharedRows>);

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let (out, table_shape, shared) = ops.state;
        let gradient = gradients.consume::<B>(&ops.node);
        let (own, table) = B::tanh_of_sum_backward(gradient, out, table_shape, &shared);
        for (parent, gradient) in ops.parents.into_iter().zip([own, table]) {
            if let Some(parent) = parent {
                gradients.register::<B>(parent.id, gradient);
            }
        }
    }
}

#[derive(Debug)]
struct ReluOfSum;

impl<B: Passes> Backward<B, 3> for ReluOfSum {
    /// The result.
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let (own, bias) = B::relu_of_sum_backward(gradient, ops.state);
        for (parent, gradient) in ops.parents.into_iter().zip([own.clone(), own, bias]) {
            if let Some(parent) = parent {
                gradients.register::<B>(parent.id, gradient);
            }
        }
    }
}

impl<B: Passes, C: CheckpointStrategy> ActivationBackend for Autodiff<B, C> {
    fn tanh_of_sum(own: FloatTensor<Self>, table: FloatTensor<Self>, shared: Arc<SharedRows>) -> FloatTensor<Self> {
        let nodes = [own.node(), table.node()];
        let table = table.into_primitive();
        let table_shape = table.shape().dims();
        let out = B::tanh_of_sum(own.into_primitive(), table, Arc::clone(&shared));
        match Backward::<B, 2>::prepare::<C>(TanhOfSum, nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((out.clone(), table_shape, shared), out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }

    fn relu_of_sum(own: FloatTensor<Self>, messages: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [own.node(), messages.node(), bias.node()];
        let out = B::relu_of_sum(own.into_primitive(), messages.into_primitive(), bias.into_primitive());
        match Backward::<B, 3>::prepare::<C>(ReluOfSum, nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(out.clone(), out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }
}
