//! The operation under burn's autodiff.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{Autodiff, Flex, tensor::FloatTensor};
#[cfg(feature = "gpu")]
use burn_cubecl::CubeBackend;

use super::LinearBackend;

/// What the backward pass needs of a backend.
pub(super) trait Passes: LinearBackend {
    /// xᵀ g, `x` being `[rows, d]` and `g` `[rows, d_out]`: the gradient of the weights `[d, d_out]`.
    fn weight_gradient(x: FloatTensor<Self>, gradient: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl Passes for Flex {
    fn weight_gradient(x: FloatTensor<Self>, gradient: FloatTensor<Self>) -> FloatTensor<Self> {
        use burn::backend::ops::FloatTensorOps as _;
        Self::float_matmul(Self::float_transpose(x), gradient)
    }
}

#[cfg(feature = "gpu")]
impl Passes for CubeBackend {
    fn weight_gradient(x: FloatTensor<Self>, gradient: FloatTensor<Self>) -> FloatTensor<Self> {
        super::gpu::weight_gradient(x, gradient)
    }
}

#[derive(Debug)]
struct Linear;

impl<B: Passes> Backward<B, 2> for Linear {
    /// The rows and the weights.
    type State = (FloatTensor<B>, FloatTensor<B>);

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let (x, weights) = ops.state;
        let [of_x, of_weights] = ops.parents;
        if let Some(parent) = of_x {
            let own = B::float_matmul(gradient.clone(), B::float_transpose(weights));
            gradients.register::<B>(parent.id, own);
        }
        if let Some(parent) = of_weights {
            gradients.register::<B>(parent.id, B::weight_gradient(x, gradient));
        }
    }
}

impl<B: Passes, C: CheckpointStrategy> LinearBackend for Autodiff<B, C> {
    fn product(x: FloatTensor<Self>, weights: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [x.node(), weights.node()];
        let (x, weights) = (x.into_primitive(), weights.into_primitive());
        let out = B::product(x.clone(), weights.clone());
        match Backward::<B, 2>::prepare::<C>(Linear, nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((x, weights), out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }
}
