//! The kernels on GPUs.

use burn::tensor::{DType, Shape};
#[cfg(feature = "training")]
use burn_cubecl::CubeBackend;
use burn_cubecl::CubeDevice;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

#[cfg(feature = "training")]
use super::backward::State;
use crate::config::Aggregation;
#[cfg(feature = "training")]
use crate::edges::sort_by_key;
use crate::edges::{EdgeIndex, NO_EDGE};
#[cfg(feature = "training")]
use crate::gpu::{CHANNELS, LANES, cubes, segment_sum};
use crate::gpu::{
    Kept, Layout, UNITS, array, by_row, flat, flat_like, lanes, matrix_like, place, reduce, rows, shape_of,
};

/// A batch's edges on a GPU.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    into: Kept<InEdges>,
    #[cfg(feature = "training")]
    out_of: Kept<OutEdges>,
}

/// For the forward pass.
#[derive(Debug, Clone)]
struct InEdges {
    /// `[nodes + 1]`, as in [`EdgeIndex`].
    offsets: CubeTensor,
    /// `[edges, 3]`: source, strength, destination. One array, since some devices give a kernel
    /// eight at most, one of which cubecl takes.
    edges: CubeTensor,
    /// Units a node and channel.
    lanes: usize,
}

/// For the backward pass.
#[cfg(feature = "training")]
#[derive(Debug, Clone)]
struct OutEdges {
    /// `[source nodes + 1]` and `[edges]`, as in [`EdgeIndex`].
    source_offsets: CubeTensor,
    by_source: CubeTensor,
    /// Units a source and channel.
    lanes: usize,
    /// The same by strength: `[strengths + 1]` and `[edges]`.
    strength_offsets: CubeTensor,
    by_strength: CubeTensor,
}

impl EdgeIndex {
    fn in_edges_on(&self, device: &CubeDevice) -> InEdges {
        self.on_gpu.into.on(device, |device| {
            let ends = self.sources.iter().zip(&self.strengths).zip(&self.destinations);
            let edges: Vec<u32> = ends.flat_map(|((&source, &strength), &to)| [source, strength, to]).collect();
            InEdges { offsets: array(&self.offsets, device), edges: array(&edges, device), lanes: lanes(&self.offsets) }
        })
    }

    #[cfg(feature = "training")]
    fn out_edges_on(&self, device: &CubeDevice) -> OutEdges {
        self.on_gpu.out_of.on(device, |device| {
            let strengths = self.strengths.iter().max().map_or(0, |&last| last as usize + 1);
            let (offsets, order) = sort_by_key(strengths, &self.strengths);
            OutEdges {
                source_offsets: array(&self.source_offsets, device),
                by_source: array(&self.by_source, device),
                lanes: lanes(&self.source_offsets),
                strength_offsets: array(&offsets, device),
                by_strength: array(&order, device),
            }
        })
    }
}

/// Some lanes a node and channel, each with every so many-th of the edges.
#[cube(launch, address_type = "dynamic")]
fn forward_kernel(
    x: &Tensor<f32>,
    strength: &[f32],
    offsets: &[u32],
    edges: &[u32],
    out: &mut Tensor<f32>,
    winners: &mut [u32],
    #[comptime] aggregation: Aggregation,
    #[comptime] keep_winners: bool,
    #[comptime] channels: usize,
    #[comptime] lanes: usize,
) {
    let place = place(out.shape(0), out.shape(1), channels, lanes);
    let mut value = 0.0f32;
    let mut winner = NO_EDGE.runtime();
    if place.inside {
        let mut edge = offsets[place.row] as usize + place.lane;
        while edge < offsets[place.row + 1] as usize {
            let source = edges[3 * edge] as usize;
            let message = strength[edges[3 * edge + 1] as usize] * x[source * x.stride(0) + place.channel];
            if comptime!(aggregation == Aggregation::Max) {
                if winner == NO_EDGE || message > value {
                    value = message;
                    winner = edge as u32;
                }
            } else {
                value += message;
            }
            edge += lanes;
        }
    }
    let unit = UNIT_POS as usize;
    let mut values = Shared::<[f32]>::new_slice(UNITS);
    values[unit] = value;
    if comptime!(aggregation == Aggregation::Max) {
        let mut edges_of = Shared::<[u32]>::new_slice(UNITS);
        edges_of[unit] = winner;
        best(&mut values, &mut edges_of, place.lane, lanes);
        winner = edges_of[unit];
    } else {
        reduce(&mut values, place.lane, lanes, comptime!(UNITS / lanes));
    }
    if place.inside && place.lane == 0 {
        let mut result = values[unit];
        let in_edges = offsets[place.row + 1] - offsets[place.row];
        if comptime!(aggregation == Aggregation::Mean) && in_edges > 0 {
            result /= in_edges as f32;
        }
        let at = place.row * out.stride(0) + place.channel;
        out[at] = result;
        if comptime!(keep_winners) {
            winners[place.row * out.shape(1) + place.channel] = winner;
        }
    }
}

/// The greatest of the lanes' values, of equal ones that of the first edge; it is then at lane 0. All
/// units of the cube must come here.
#[cube]
fn best(values: &mut Shared<[f32]>, edges: &mut Shared<[u32]>, lane: usize, #[comptime] lanes: usize) {
    let unit = UNIT_POS as usize;
    let mut step = comptime!(lanes / 2).runtime();
    while step > 0 {
        sync_cube();
        if lane < step {
            let value = values[unit + step * comptime!(UNITS / lanes)];
            let edge = edges[unit + step * comptime!(UNITS / lanes)];
            let wins = value > values[unit] || (value == values[unit] && edge < edges[unit]);
            if edge != NO_EDGE && (edges[unit] == NO_EDGE || wins) {
                values[unit] = value;
                edges[unit] = edge;
            }
        }
        step /= 2;
    }
}

/// The aggregated messages, and for max, where a backward pass will ask for it, which edge won each
/// channel (`[nodes, d]`, [`NO_EDGE`] without in-edges; a single element otherwise).
pub(super) fn forward(
    x: CubeTensor,
    strength: CubeTensor,
    edges: &EdgeIndex,
    aggregation: Aggregation,
    keep_winners: bool,
) -> (CubeTensor, CubeTensor) {
    let (x, strength) = (rows(x), flat(strength));
    let shape = [edges.nodes(), shape_of(&x)[1]];
    let out = matrix_like(&x, shape);
    let keep_winners = keep_winners && aggregation == Aggregation::Max;
    let winners = flat_like(&x, if keep_winners { shape } else { [1, 1] }, DType::U32);
    let InEdges { offsets, edges, lanes } = edges.in_edges_on(&x.device);
    let layout = Layout::new(shape[1], lanes);
    if let Some((count, dim, address)) = by_row(&out, layout) {
        forward_kernel::launch(
            &out.client,
            count,
            dim,
            address.max(x.required_address_type()),
            x.clone().into_tensor_arg(),
            strength.into_buffer_arg(),
            offsets.into_buffer_arg(),
            edges.into_buffer_arg(),
            out.clone().into_tensor_arg(),
            winners.clone().into_buffer_arg(),
            aggregation,
            keep_winners,
            layout.channels,
            layout.lanes,
        );
    }
    (out, winners)
}

/// What the gradient of a node's channel hands on to one of its in-edges: all to the winner of a
/// max, all to each of a sum, a share of it to each of a mean. `split` is the winners `[nodes, d]` of
/// a max, else the offsets `[nodes + 1]` of the in-edges.
#[cfg(feature = "training")]
#[cube]
fn handed_on(
    gradient: &Tensor<f32>,
    split: &[u32],
    edge: usize,
    node: usize,
    channel: usize,
    #[comptime] aggregation: Aggregation,
) -> f32 {
    let mut value = gradient[node * gradient.stride(0) + channel];
    if comptime!(aggregation == Aggregation::Max) {
        if split[node * gradient.shape(1) + channel] != edge as u32 {
            value = 0.0f32;
        }
    } else if comptime!(aggregation == Aggregation::Mean) {
        value /= (split[node + 1] - split[node]) as f32;
    }
    value
}

/// Lanes a source and channel: the gradient of `x`.
#[cfg(feature = "training")]
#[cube(launch, address_type = "dynamic")]
fn source_kernel(
    gradient: &Tensor<f32>,
    strength: &[f32],
    split: &[u32],
    edges: &[u32],
    source_offsets: &[u32],
    by_source: &[u32],
    x_gradient: &mut Tensor<f32>,
    #[comptime] aggregation: Aggregation,
    #[comptime] channels: usize,
    #[comptime] lanes: usize,
) {
    let place = place(x_gradient.shape(0), x_gradient.shape(1), channels, lanes);
    let mut sum = 0.0f32;
    if place.inside {
        let mut position = source_offsets[place.row] as usize + place.lane;
        while position < source_offsets[place.row + 1] as usize {
            let edge = by_source[position] as usize;
            let to = edges[3 * edge + 2] as usize;
            let own = handed_on(gradient, split, edge, to, place.channel, aggregation);
            sum += strength[edges[3 * edge + 1] as usize] * own;
            position += lanes;
        }
    }
    let mut partial = Shared::<[f32]>::new_slice(UNITS);
    partial[UNIT_POS as usize] = sum;
    reduce(&mut partial, place.lane, lanes, comptime!(UNITS / lanes));
    if place.inside && place.lane == 0 {
        let at = place.row * x_gradient.stride(0) + place.channel;
        x_gradient[at] = partial[UNIT_POS as usize];
    }
}

/// A row of a cube an edge: the gradient of the edge's strength, a dot product over its channels.
#[cfg(feature = "training")]
#[cube(launch, address_type = "dynamic")]
fn edge_kernel(
    gradient: &Tensor<f32>,
    x: &Tensor<f32>,
    split: &[u32],
    edges: &[u32],
    edge_gradient: &mut Tensor<f32>,
    #[comptime] aggregation: Aggregation,
) {
    let lane = UNIT_POS_X as usize;
    let edge = CUBE_POS * LANES + UNIT_POS_Y as usize;
    let inside = edge < edge_gradient.shape(0);
    let mut sum = 0.0f32;
    if inside {
        let source = edges[3 * edge] as usize;
        let to = edges[3 * edge + 2] as usize;
        let mut channel = lane;
        while channel < x.shape(1) {
            let own = handed_on(gradient, split, edge, to, channel, aggregation);
            sum += own * x[source * x.stride(0) + channel];
            channel += CHANNELS;
        }
    }
    let mut partial = Shared::<[f32]>::new_slice(UNITS);
    partial[UNIT_POS as usize] = sum;
    reduce(&mut partial, lane, CHANNELS, 1usize);
    if inside && lane == 0 {
        edge_gradient[edge] = partial[UNIT_POS as usize];
    }
}

/// The gradients of `x` and, where it is wanted, of `strength` from that of the result.
#[cfg(feature = "training")]
pub(super) fn backward(
    gradient: CubeTensor,
    state: State<CubeBackend>,
    of_strength: bool,
) -> (CubeTensor, Option<CubeTensor>) {
    let State { x, strength, winners, edges, aggregation } = state;
    let (gradient, x, strength) = (rows(gradient), rows(x), flat(strength));
    let into = edges.in_edges_on(&x.device);
    let out_of = edges.out_edges_on(&x.device);
    let split = if aggregation == Aggregation::Max { winners } else { into.offsets };
    let x_gradient = matrix_like(&x, shape_of(&x));
    let layout = Layout::new(shape_of(&x)[1], out_of.lanes);
    if let Some((count, dim, address)) = by_row(&x_gradient, layout) {
        source_kernel::launch(
            &x.client,
            count,
            dim,
            address.max(gradient.required_address_type()),
            gradient.clone().into_tensor_arg(),
            strength.clone().into_buffer_arg(),
            split.clone().into_buffer_arg(),
            into.edges.clone().into_buffer_arg(),
            out_of.source_offsets.into_buffer_arg(),
            out_of.by_source.into_buffer_arg(),
            x_gradient.clone().into_tensor_arg(),
            aggregation,
            layout.channels,
            layout.lanes,
        );
    }
    if !of_strength {
        return (x_gradient, None);
    }
    let edge_gradient = flat_like(&x, [edges.len(), 1], DType::F32);
    if !edges.is_empty() {
        edge_kernel::launch(
            &edge_gradient.client,
            cubes(&edge_gradient, edges.len().div_ceil(LANES)),
            CubeDim::new_2d(CHANNELS as u32, LANES as u32),
            gradient.required_address_type().max(x.required_address_type()),
            gradient.into_tensor_arg(),
            x.into_tensor_arg(),
            split.into_buffer_arg(),
            into.edges.into_buffer_arg(),
            edge_gradient.clone().into_tensor_arg(),
            aggregation,
        );
    }
    let shape = shape_of(&strength);
    let strengths = segment_sum(&edge_gradient, &out_of.by_strength, &out_of.strength_offsets, shape[0] * shape[1]);
    let CubeTensor { client, handle, device, .. } = strengths;
    (x_gradient, Some(CubeTensor::new_contiguous(client, device, Shape::from(shape), handle, DType::F32)))
}
