//! Linear layers and sums over all rows of a batch.
//!
//! The gradients of weights and biases and the loss are sums over all rows. burn's kernels for GPUs give each number of
//! a result to a unit or a cube of units; here the results are small and have hundreds of thousands of summands a number,
//! so that a few cubes work and the rest of the GPU waits. There the rows are cut into blocks, whose products and sums
//! are added up in a fixed order. The processor, which has few cores, uses burn's own operations.

#[cfg(feature = "training")]
mod backward;
#[cfg(all(feature = "gpu", feature = "training"))]
mod gpu;

use burn::backend::ops::FloatTensorOps as _;
use burn::backend::{Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
#[cfg(feature = "gpu")]
use burn::tensor::Shape;
use burn::tensor::Tensor;
#[cfg(feature = "gpu")]
use burn_cubecl::CubeBackend;

use crate::device::is_cpu;

/// The operations as burn's backends see them.
#[cfg_attr(feature = "training", backend_extension(Flex, Cube: cfg(feature = "gpu"), Autodiff))]
#[cfg_attr(not(feature = "training"), backend_extension(Flex, Cube: cfg(feature = "gpu")))]
trait LinearBackend: Backend {
    fn product(x: FloatTensor<Self>, weights: FloatTensor<Self>) -> FloatTensor<Self>;
    fn biased(x: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self>;
    fn row_sum(x: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl LinearBackend for Flex {
    fn product(x: FloatTensor<Self>, weights: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(x, weights)
    }

    fn biased(x: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_add(x, bias)
    }

    fn row_sum(x: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_sum_dim(x, 0)
    }
}

#[cfg(feature = "gpu")]
impl LinearBackend for CubeBackend {
    fn product(x: FloatTensor<Self>, weights: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(x, weights)
    }

    fn biased(x: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_add(x, bias)
    }

    fn row_sum(x: FloatTensor<Self>) -> FloatTensor<Self> {
        let d = crate::gpu::shape_of(&x)[1];
        Self::float_reshape(crate::gpu::sum_of_rows(x), Shape::from([1, d]))
    }
}

/// `x` `[rows, d]` times `weights` `[d, d_out]`, in their number type.
pub(crate) fn linear(x: Tensor<2>, weights: Tensor<2>) -> Tensor<2> {
    if is_cpu(&x.device()) {
        return x.matmul(weights);
    }
    Tensor::from_dispatch(<Dispatch as LinearBackend>::product(x.into_dispatch(), weights.into_dispatch()))
}

/// `bias` `[d]` added to each row of `x` `[rows, d]`.
pub(crate) fn biased(x: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    if is_cpu(&x.device()) {
        // The processor sums a vector with vector registers, a column of a matrix number by number.
        return if x.dims()[1] == 1 { (x.squeeze_dim::<1>(1) + bias).unsqueeze_dim(1) } else { x + bias.unsqueeze() };
    }
    let bias = bias.unsqueeze::<2>();
    Tensor::from_dispatch(<Dispatch as LinearBackend>::biased(x.into_dispatch(), bias.into_dispatch()))
}

/// The sum of the rows of `x` `[rows, d]`, `[1, d]`. The same bits each time, which burn's sum on GPUs, made with
/// atomics, does not promise.
pub(crate) fn row_sum(x: Tensor<2>) -> Tensor<2> {
    if is_cpu(&x.device()) {
        return x.sum_dim(0);
    }
    Tensor::from_dispatch(<Dispatch as LinearBackend>::row_sum(x.into_dispatch()))
}

/// The sum of all numbers of a vector, `[1]`, as [`row_sum`] makes it.
pub(crate) fn total(x: Tensor<1>) -> Tensor<1> {
    if is_cpu(&x.device()) {
        return x.sum_dim(0);
    }
    row_sum(x.unsqueeze_dim(1)).squeeze_dim(1)
}

#[cfg(all(test, feature = "training"))]
mod tests;
