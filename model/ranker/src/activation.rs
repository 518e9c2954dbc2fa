//! The activations of (7) and (8), each in one pass with the sum under it.
//!
//! The passes over `[nodes, d]` between two matrix products cost as much as the products when each
//! is an operation of its own: they are bound by memory, and the backend runs them on one thread.

#[cfg(feature = "training")]
mod backward;
pub(crate) mod cpu;
#[cfg(feature = "gpu")]
pub(crate) mod gpu;

use std::sync::Arc;

use burn::backend::{Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::Tensor;
#[cfg(feature = "gpu")]
use burn_cubecl::CubeBackend;

/// tanh as x P(x²) / Q(x²), fitted on [−8, 8] for the least relative error; beyond it is that of ±8,
/// which rounds to ±1. The same on every device, whose own tanh may be off by 5e-4.
const P: [f32; 5] = [1.0, 0.134_445_09, 3.571_609_5e-3, 2.189_484_3e-5, 1.523_064_5e-8];
const Q: [f32; 5] = [1.0, 0.467_778_35, 2.616_448_7e-2, 3.411_310_6e-4, 8.522_544_6e-7];
const TANH_END: f32 = 8.0;

/// Which rows of a table each node adds to its own; every node as many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedRows {
    per_node: usize,
    rows: Vec<u32>,
    /// The same on a GPU, after the first use there.
    #[cfg(feature = "gpu")]
    on_gpu: Arc<gpu::Rows>,
}

impl SharedRows {
    /// From `rows` `[nodes, per_node]`.
    pub fn new(per_node: usize, rows: Vec<u32>) -> Self {
        Self {
            per_node,
            rows,
            #[cfg(feature = "gpu")]
            on_gpu: Arc::default(),
        }
    }

    /// The rows of a node.
    pub(crate) fn of(&self, node: usize) -> &[u32] {
        &self.rows[node * self.per_node..(node + 1) * self.per_node]
    }
}

/// The operations as burn's backends see them.
#[cfg_attr(feature = "training", backend_extension(Flex, Cube: cfg(feature = "gpu"), Autodiff))]
#[cfg_attr(not(feature = "training"), backend_extension(Flex, Cube: cfg(feature = "gpu")))]
trait ActivationBackend: Backend {
    fn tanh_of_sum(own: FloatTensor<Self>, table: FloatTensor<Self>, shared: Arc<SharedRows>) -> FloatTensor<Self>;
    fn relu_of_sum(own: FloatTensor<Self>, messages: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl ActivationBackend for Flex {
    fn tanh_of_sum(own: FloatTensor<Self>, table: FloatTensor<Self>, shared: Arc<SharedRows>) -> FloatTensor<Self> {
        cpu::tanh_of_sum(own, &table, &shared)
    }

    fn relu_of_sum(own: FloatTensor<Self>, messages: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        cpu::relu_of_sum(own, &messages, &bias)
    }
}

#[cfg(feature = "gpu")]
impl ActivationBackend for CubeBackend {
    fn tanh_of_sum(own: FloatTensor<Self>, table: FloatTensor<Self>, shared: Arc<SharedRows>) -> FloatTensor<Self> {
        gpu::tanh_of_sum(own, table, &shared)
    }

    fn relu_of_sum(own: FloatTensor<Self>, messages: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        gpu::relu_of_sum(own, messages, bias)
    }
}

/// tanh(own + the node's rows of the table), to 4e-7 of the exact tanh. `own` is `[nodes, d]`,
/// `table` `[rows, d]`, the result `[nodes, d]`.
pub fn tanh_of_sum(own: Tensor<2>, table: Tensor<2>, shared: &Arc<SharedRows>) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as ActivationBackend>::tanh_of_sum(
        own.into_dispatch(),
        table.into_dispatch(),
        Arc::clone(shared),
    ))
}

/// ReLU(own + messages + bias). `own` and `messages` are `[nodes, d]`, `bias` `[d]`, the result
/// `[nodes, d]`. At 0 the gradient is 0.
pub fn relu_of_sum(own: Tensor<2>, messages: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as ActivationBackend>::relu_of_sum(
        own.into_dispatch(),
        messages.into_dispatch(),
        bias.into_dispatch(),
    ))
}

#[cfg(test)]
mod tests;
