//! The kernels on GPUs.

#[cfg(feature = "training")]
use burn::backend::ops::FloatTensorOps as _;
#[cfg(feature = "training")]
use burn::tensor::Shape;
#[cfg(feature = "training")]
use burn_cubecl::CubeBackend;
use burn_cubecl::CubeDevice;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::{P, Q, SharedRows, TANH_END};
#[cfg(feature = "training")]
use crate::edges::sort_by_key;
use crate::gpu::{Kept, array, by_element, flat, matrix_like, rows, shape_of};
#[cfg(feature = "training")]
use crate::gpu::{segment_sum, sum_of_rows};

/// A batch's shared rows on a GPU.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rows {
    /// `[nodes, per_node]`
    of_nodes: Kept<CubeTensor>,
    /// For the backward pass, which nodes have a row: `[rows + 1]` and `[nodes × per_node]`.
    #[cfg(feature = "training")]
    nodes_of: Kept<[CubeTensor; 2]>,
}

impl SharedRows {
    fn of_nodes_on(&self, device: &CubeDevice) -> CubeTensor {
        self.on_gpu.of_nodes.on(device, |device| array(&self.rows, device))
    }

    #[cfg(feature = "training")]
    fn nodes_of_on(&self, device: &CubeDevice) -> [CubeTensor; 2] {
        self.on_gpu.nodes_of.on(device, |device| {
            let rows = self.rows.iter().max().map_or(0, |&last| last as usize + 1);
            let (offsets, mut order) = sort_by_key(rows, &self.rows);
            order.iter_mut().for_each(|position| *position /= self.per_node as u32);
            [offsets, order].map(|values| array(&values, device))
        })
    }
}

#[cube]
fn tanh(x: f32) -> f32 {
    let end = x.clamp(-TANH_END, TANH_END);
    let y = end * end;
    let p = P[0] + y * (P[1] + y * (P[2] + y * (P[3] + y * P[4])));
    let q = Q[0] + y * (Q[1] + y * (Q[2] + y * (Q[3] + y * Q[4])));
    // The clamp may lose a NaN, which must reach the loss.
    select(x.is_nan(), x, end * p / q)
}

#[cube(launch, address_type = "dynamic")]
fn tanh_kernel(
    own: &Tensor<f32>,
    table: &Tensor<f32>,
    rows: &[u32],
    out: &mut Tensor<f32>,
    #[comptime] per_node: usize,
) {
    let node = ABSOLUTE_POS / out.shape(1);
    let channel = ABSOLUTE_POS % out.shape(1);
    if node < out.shape(0) {
        let mut sum = own[node * own.stride(0) + channel];
        for i in 0..per_node {
            sum += table[rows[node * per_node + i] as usize * table.stride(0) + channel];
        }
        let at = node * out.stride(0) + channel;
        out[at] = tanh(sum);
    }
}

pub(super) fn tanh_of_sum(own: CubeTensor, table: CubeTensor, shared: &SharedRows) -> CubeTensor {
    let (own, table) = (rows(own), rows(table));
    let out = matrix_like(&own, shape_of(&own));
    if let Some((count, dim, address)) = by_element(&out) {
        tanh_kernel::launch(
            &out.client,
            count,
            dim,
            address.max(table.required_address_type()),
            own.clone().into_tensor_arg(),
            table.into_tensor_arg(),
            shared.of_nodes_on(&own.device).into_buffer_arg(),
            out.clone().into_tensor_arg(),
            shared.per_node,
        );
    }
    out
}

#[cube(launch, address_type = "dynamic")]
fn relu_kernel(own: &Tensor<f32>, messages: &Tensor<f32>, bias: &[f32], out: &mut Tensor<f32>) {
    let node = ABSOLUTE_POS / out.shape(1);
    let channel = ABSOLUTE_POS % out.shape(1);
    if node < out.shape(0) {
        let sum = own[node * own.stride(0) + channel] + messages[node * messages.stride(0) + channel] + bias[channel];
        // Not max(0): a NaN must reach the loss.
        let at = node * out.stride(0) + channel;
        out[at] = select(sum < 0.0f32, 0.0f32, sum);
    }
}

pub(super) fn relu_of_sum(own: CubeTensor, messages: CubeTensor, bias: CubeTensor) -> CubeTensor {
    let (own, messages, bias) = (rows(own), rows(messages), flat(bias));
    let out = matrix_like(&own, shape_of(&own));
    if let Some((count, dim, address)) = by_element(&out) {
        relu_kernel::launch(
            &out.client,
            count,
            dim,
            address,
            own.into_tensor_arg(),
            messages.into_tensor_arg(),
            bias.into_buffer_arg(),
            out.clone().into_tensor_arg(),
        );
    }
    out
}

/// The gradient under an activation from that of its result and the result: of tanh, or of ReLU.
#[cfg(feature = "training")]
#[cube(launch, address_type = "dynamic")]
fn gradient_kernel(
    gradient: &Tensor<f32>,
    out: &Tensor<f32>,
    own_gradient: &mut Tensor<f32>,
    #[comptime] of_tanh: bool,
) {
    let node = ABSOLUTE_POS / own_gradient.shape(1);
    let channel = ABSOLUTE_POS % own_gradient.shape(1);
    if node < own_gradient.shape(0) {
        let value = out[node * out.stride(0) + channel];
        let above = gradient[node * gradient.stride(0) + channel];
        let own =
            if comptime!(of_tanh) { above * (1.0f32 - value * value) } else { select(value > 0.0f32, above, 0.0f32) };
        let at = node * own_gradient.stride(0) + channel;
        own_gradient[at] = own;
    }
}

#[cfg(feature = "training")]
fn gradient_of(gradient: CubeTensor, out: CubeTensor, of_tanh: bool) -> CubeTensor {
    let (gradient, out) = (rows(gradient), rows(out));
    let own = matrix_like(&out, shape_of(&out));
    if let Some((count, dim, address)) = by_element(&own) {
        gradient_kernel::launch(
            &own.client,
            count,
            dim,
            address,
            gradient.into_tensor_arg(),
            out.into_tensor_arg(),
            own.clone().into_tensor_arg(),
            of_tanh,
        );
    }
    own
}

/// The gradients of `own` and the table from that of the result and the result.
#[cfg(feature = "training")]
pub(super) fn tanh_of_sum_backward(
    gradient: CubeTensor,
    out: CubeTensor,
    table_shape: [usize; 2],
    shared: &SharedRows,
) -> (CubeTensor, CubeTensor) {
    let own = gradient_of(gradient, out, true);
    let [offsets, order] = shared.nodes_of_on(&own.device);
    let table = segment_sum(&own, &order, &offsets, table_shape[0]);
    (own, table)
}

/// The gradients of `own` (and of the messages, which is the same) and the bias from that of the
/// result and the result.
#[cfg(feature = "training")]
pub(super) fn relu_of_sum_backward(gradient: CubeTensor, out: CubeTensor) -> (CubeTensor, CubeTensor) {
    let own = gradient_of(gradient, out, false);
    let d = shape_of(&own)[1];
    let bias = CubeBackend::float_reshape(sum_of_rows(own.clone()), Shape::from([d]));
    (own, bias)
}
