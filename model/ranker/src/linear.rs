//! Products of the rows of a batch with weights.
//!
//! The gradient of the weights is a sum over all rows. Backends compute a product cube by cube of the result, which is
//! small here and has hundreds of thousands of summands a number: a few cubes of a GPU work, one after the other, and
//! the rest wait. There the rows are cut into blocks, each of which is a product of its own, and the products are added
//! up in a fixed order. The processor, which has few cores, computes the whole product at once.

#[cfg(feature = "training")]
mod backward;
#[cfg(all(feature = "gpu", feature = "training"))]
mod gpu;

use burn::backend::ops::FloatTensorOps as _;
use burn::backend::{Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::Tensor;
#[cfg(feature = "gpu")]
use burn_cubecl::CubeBackend;

use crate::device::is_cpu;

/// The operation as burn's backends see it.
#[cfg_attr(feature = "training", backend_extension(Flex, Cube: cfg(feature = "gpu"), Autodiff))]
#[cfg_attr(not(feature = "training"), backend_extension(Flex, Cube: cfg(feature = "gpu")))]
trait LinearBackend: Backend {
    fn product(x: FloatTensor<Self>, weights: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl LinearBackend for Flex {
    fn product(x: FloatTensor<Self>, weights: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(x, weights)
    }
}

#[cfg(feature = "gpu")]
impl LinearBackend for CubeBackend {
    fn product(x: FloatTensor<Self>, weights: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(x, weights)
    }
}

/// `x` `[rows, d]` times `weights` `[d, d_out]`, in their number type.
pub(crate) fn linear(x: Tensor<2>, weights: Tensor<2>) -> Tensor<2> {
    if is_cpu(&x.device()) {
        return x.matmul(weights);
    }
    Tensor::from_dispatch(<Dispatch as LinearBackend>::product(x.into_dispatch(), weights.into_dispatch()))
}

#[cfg(all(test, feature = "training"))]
mod tests;
