//! The activations of (7) and (8), each in one pass with the sum under it.
//!
//! The passes over `[nodes, d]` between two matrix products cost as much as the products when each
//! is an operation of its own: they are bound by memory, and the backend runs them on one thread.

#[cfg(feature = "training")]
mod backward;
pub(crate) mod cpu;

use std::sync::Arc;

use burn::backend::{Backend, Dispatch, Flex, backend_extension, tensor::FloatTensor};
use burn::tensor::Tensor;

/// Which rows of a table each node adds to its own; every node as many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedRows {
    per_node: usize,
    rows: Vec<u32>,
}

impl SharedRows {
    /// From `rows` `[nodes, per_node]`.
    pub fn new(per_node: usize, rows: Vec<u32>) -> Self {
        Self { per_node, rows }
    }

    /// The rows of a node.
    pub(crate) fn of(&self, node: usize) -> &[u32] {
        &self.rows[node * self.per_node..(node + 1) * self.per_node]
    }
}

/// The operations as burn's backends see them.
#[cfg_attr(feature = "training", backend_extension(Flex, Autodiff))]
#[cfg_attr(not(feature = "training"), backend_extension(Flex))]
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
