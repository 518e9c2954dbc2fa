//! The operation under burn's autodiff.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::ops::FloatTensorOps as _;
use burn::backend::{Autodiff, Flex, TensorMetadata as _, tensor::FloatTensor};
use burn::tensor::Shape;
#[cfg(feature = "gpu")]
use burn_cubecl::CubeBackend;

use super::LinearBackend;

/// What the backward passes need of a backend.
pub(super) trait Passes: LinearBackend {
    /// xᵀ g, `x` being `[rows, d]` and `g` `[rows, d_out]`: the gradient of the weights `[d, d_out]`.
    fn weight_gradient(x: FloatTensor<Self>, gradient: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl Passes for Flex {
    fn weight_gradient(x: FloatTensor<Self>, gradient: FloatTensor<Self>) -> FloatTensor<Self> {
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
struct Product;

impl<B: Passes> Backward<B, 2> for Product {
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

#[derive(Debug)]
struct Biased;

impl<B: Passes> Backward<B, 2> for Biased {
    type State = ();

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let [of_x, of_bias] = ops.parents;
        if let Some(parent) = of_bias {
            gradients.register::<B>(parent.id, B::row_sum(gradient.clone()));
        }
        if let Some(parent) = of_x {
            gradients.register::<B>(parent.id, gradient);
        }
    }
}

#[derive(Debug)]
struct RowSum;

impl<B: Passes> Backward<B, 1> for RowSum {
    /// The shape of what was added up.
    type State = Shape;

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        if let [Some(parent)] = ops.parents {
            gradients.register::<B>(parent.id, B::float_expand(gradient, ops.state));
        }
    }
}

impl<B: Passes, C: CheckpointStrategy> LinearBackend for Autodiff<B, C> {
    fn product(x: FloatTensor<Self>, weights: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [x.node(), weights.node()];
        let (x, weights) = (x.into_primitive(), weights.into_primitive());
        let out = B::product(x.clone(), weights.clone());
        match Backward::<B, 2>::prepare::<C>(Product, nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((x, weights), out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }

    fn biased(x: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [x.node(), bias.node()];
        let out = B::biased(x.into_primitive(), bias.into_primitive());
        match Backward::<B, 2>::prepare::<C>(Biased, nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((), out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }

    fn row_sum(x: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [x.node()];
        let x = x.into_primitive();
        let shape = x.shape();
        let out = B::row_sum(x);
        match Backward::<B, 1>::prepare::<C>(RowSum, nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(shape, out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }
}
