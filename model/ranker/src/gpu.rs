//! What the kernels on GPUs share: arrays kept there, shapes, launches, sums over segments.
//!
//! The kernels are written once, in CubeCL, for wgpu and CUDA. They read matrices by the stride of a
//! row, since CUDA pads rows, and use no atomics, so that the same batch gives the same bits.

use std::sync::OnceLock;

use burn::backend::ops::IntTensorOps as _;
use burn::tensor::{DType, Shape, TensorData};
use burn_cubecl::ops::numeric::{empty_device_contiguous_dtype, empty_device_dtype};
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, CubeDevice, kernel};
use cubecl::prelude::*;
use cubecl::server::CubeCountSelection;

/// Units of a cube that works together: what every API allows.
pub(crate) const UNITS: usize = 256;

/// Neighbouring channels that a cube works on, so that it reads memory in whole lines.
pub(crate) const CHANNELS: usize = 32;

/// Units that share the summands of a number where nothing is known of how many there are.
pub(crate) const LANES: usize = UNITS / CHANNELS;

/// How the units of a cube divide the work on a matrix of sums: `channels` neighbouring columns of as many rows as
/// there are units left, `lanes` units a number. The same for the same batch, so that its sums have the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) channels: usize,
    pub(crate) lanes: usize,
}

impl Layout {
    /// For `columns` columns, of which each number is a sum of what `lanes` units share.
    pub(crate) fn new(columns: usize, lanes: usize) -> Self {
        let channels = if columns == 1 { 1 } else { CHANNELS };
        Self { channels, lanes: lanes.min(UNITS / channels) }
    }

    fn rows(self) -> usize {
        UNITS / (self.channels * self.lanes)
    }
}

/// Units that share the summands of a row, of which row `i` has `offsets[i]..offsets[i + 1]`: few where most rows have
/// few, since each unit costs time; more where one row would keep all others waiting (and lavapipe leaves a loop after
/// 65,535 rounds).
pub(crate) fn lanes(offsets: &[u32]) -> usize {
    let longest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let mean = offsets.last().map_or(0, |&all| all as usize / (offsets.len() - 1).max(1));
    match mean {
        0..=16 if longest <= 4096 => 2,
        0..=256 => LANES,
        _ => UNITS,
    }
}

/// Arrays of a batch on the device that its tensors are on: brought there once, then used by every
/// layer, forward and backward.
#[derive(Debug)]
pub(crate) struct Kept<T>(OnceLock<(CubeDevice, T)>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

/// Says nothing about the batch that it belongs to.
impl<T> PartialEq for Kept<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Kept<T> {}

impl<T: Clone> Kept<T> {
    /// The arrays, brought to the device by `upload` on the first call. A call with another device
    /// than the first brings them there, too, but keeps them not.
    pub(crate) fn on(&self, device: &CubeDevice, upload: impl Fn(&CubeDevice) -> T) -> T {
        match self.0.get_or_init(|| (device.clone(), upload(device))) {
            (kept_on, kept) if kept_on == device => kept.clone(),
            _ => upload(device),
        }
    }
}

/// An array of numbers on a device. Graphics APIs know no empty arrays, so an empty one gets an
/// element that no kernel reads.
pub(crate) fn array(values: &[u32], device: &CubeDevice) -> CubeTensor {
    let values = if values.is_empty() { &[0] } else { values };
    CubeBackend::int_from_data(TensorData::new(values.to_vec(), [values.len()]), device)
}

/// A matrix as kernels read it: rows one after the other, perhaps with space between them.
pub(crate) fn rows(matrix: CubeTensor) -> CubeTensor {
    debug_assert_eq!(matrix.dtype, DType::F32);
    kernel::into_contiguous_aligned(matrix)
}

/// The same without space between the rows.
pub(crate) fn flat(tensor: CubeTensor) -> CubeTensor {
    kernel::into_contiguous(tensor)
}

/// `[rows, columns]` of a matrix.
pub(crate) fn shape_of(matrix: &CubeTensor) -> [usize; 2] {
    let shape = matrix.meta.shape();
    [shape[0], shape[1]]
}

/// An f32 matrix of unset values beside `like`, laid out as the device likes best.
pub(crate) fn matrix_like(like: &CubeTensor, shape: [usize; 2]) -> CubeTensor {
    empty_device_dtype(like.client.clone(), like.device.clone(), Shape::from(shape), DType::F32)
}

/// A tensor of unset values beside `like`, without space between its rows.
pub(crate) fn flat_like<const D: usize>(like: &CubeTensor, shape: [usize; D], dtype: DType) -> CubeTensor {
    empty_device_contiguous_dtype(like.client.clone(), like.device.clone(), Shape::from(shape), dtype)
}

/// A launch of one unit an element of `matrix`; `None` where there is no element.
pub(crate) fn by_element(matrix: &CubeTensor) -> Option<(CubeCount, CubeDim, AddressType)> {
    let elements = matrix.meta.num_elements();
    let dim = CubeDim::new(&matrix.client, elements);
    let count = cubecl::calculate_cube_count_elemwise(&matrix.client, elements, dim);
    (elements > 0).then(|| (count, dim, matrix.required_address_type()))
}

/// A launch of as many cubes as are wanted or a few more, spread over the three dimensions of the
/// grid: one alone takes 65,535 at most on some devices.
pub(crate) fn cubes(like: &CubeTensor, count: usize) -> CubeCount {
    CubeCountSelection::new(&like.client, count as u32).cube_count()
}

/// A launch of the cubes that `matrix` needs in a layout; `None` where there is no element. [`place`] tells a unit where
/// it is.
pub(crate) fn by_row(matrix: &CubeTensor, layout: Layout) -> Option<(CubeCount, CubeDim, AddressType)> {
    let [rows, columns] = shape_of(matrix);
    let count = cubes(matrix, rows.div_ceil(layout.rows()) * columns.div_ceil(layout.channels));
    (rows * columns > 0).then(|| (count, CubeDim::new_1d(UNITS as u32), matrix.required_address_type()))
}

/// Where a unit of such a launch works.
#[derive(CubeType)]
pub(crate) struct Place {
    pub(crate) row: usize,
    pub(crate) channel: usize,
    /// Which of the units that share the row and channel.
    pub(crate) lane: usize,
    /// Whether the matrix has that row and channel.
    pub(crate) inside: bool,
}

#[cube]
pub(crate) fn place(rows: usize, columns: usize, #[comptime] channels: usize, #[comptime] lanes: usize) -> Place {
    let of_cube = comptime!(UNITS / (channels * lanes));
    let unit = UNIT_POS as usize;
    let blocks = columns.div_ceil(channels);
    let row = CUBE_POS / blocks * of_cube + unit / channels % of_cube;
    let channel = CUBE_POS % blocks * channels + unit % channels;
    let inside = row < rows && channel < columns;
    Place { row, channel, lane: unit / comptime!(UNITS / lanes), inside }
}

/// Adds up `partial` over the units of each group, lane 0 to lane `lanes − 1`, `stride` apart; the
/// sum is then at lane 0. All units of the cube must come here.
#[cube]
pub(crate) fn reduce(partial: &mut Shared<[f32]>, lane: usize, #[comptime] lanes: usize, #[comptime] stride: usize) {
    let position = UNIT_POS as usize;
    let mut step = comptime!(lanes / 2).runtime();
    while step > 0 {
        sync_cube();
        if lane < step {
            let other = partial[position + step * stride];
            partial[position] += other;
        }
        step /= 2;
    }
}

#[cube(launch, address_type = "dynamic")]
fn segment_sum_kernel(
    values: &Tensor<f32>,
    order: &[u32],
    offsets: &Tensor<u32>,
    out: &mut Tensor<f32>,
    #[comptime] channels: usize,
    #[comptime] lanes: usize,
) {
    let place = place(out.shape(0), out.shape(1), channels, lanes);
    let mut sum = 0.0f32;
    // Segments after the last of `offsets` are empty. Its shape, since the length of an array is with CUDA that of the
    // memory it lies in.
    if place.inside && place.row + 1 < offsets.shape(0) {
        let mut position = offsets[place.row] as usize + place.lane;
        while position < offsets[place.row + 1] as usize {
            sum += values[order[position] as usize * values.stride(0) + place.channel];
            position += lanes;
        }
    }
    let mut partial = Shared::<[f32]>::new_slice(UNITS);
    partial[UNIT_POS as usize] = sum;
    reduce(&mut partial, place.lane, lanes, comptime!(UNITS / lanes));
    if place.inside && place.lane == 0 {
        let at = place.row * out.stride(0) + place.channel;
        out[at] = partial[UNIT_POS as usize];
    }
}

/// Sums of the rows of `values` `[rows, d]` over segments: row `s` of the result `[segments, d]` is
/// that of the rows `order[offsets[s]..offsets[s + 1]]`, 0 where there is none.
pub(crate) fn segment_sum(
    values: &CubeTensor,
    order: &CubeTensor,
    offsets: &CubeTensor,
    segments: usize,
) -> CubeTensor {
    let [_, d] = shape_of(values);
    let out = flat_like(values, [segments, d], DType::F32);
    let layout = Layout::new(d, UNITS);
    if let Some((count, dim, address)) = by_row(&out, layout) {
        segment_sum_kernel::launch(
            &out.client,
            count,
            dim,
            address.max(values.required_address_type()),
            values.clone().into_tensor_arg(),
            order.clone().into_buffer_arg(),
            offsets.clone().into_tensor_arg(),
            out.clone().into_tensor_arg(),
            layout.channels,
            layout.lanes,
        );
    }
    out
}

/// What a unit adds up in one launch of [`sum_of_rows`].
const SUMMED: usize = 64;

#[cube(launch, address_type = "dynamic")]
fn sum_of_rows_kernel(
    values: &Tensor<f32>,
    out: &mut Tensor<f32>,
    #[comptime] channels: usize,
    #[comptime] lanes: usize,
) {
    let place = place(out.shape(0), out.shape(1), channels, lanes);
    let mut sum = 0.0f32;
    if place.inside {
        let first = place.row * comptime!(SUMMED * lanes);
        let mut row = first + place.lane;
        while row < first + comptime!(SUMMED * lanes) && row < values.shape(0) {
            sum += values[row * values.stride(0) + place.channel];
            row += lanes;
        }
    }
    let mut partial = Shared::<[f32]>::new_slice(UNITS);
    partial[UNIT_POS as usize] = sum;
    reduce(&mut partial, place.lane, lanes, comptime!(UNITS / lanes));
    if place.inside && place.lane == 0 {
        let at = place.row * out.stride(0) + place.channel;
        out[at] = partial[UNIT_POS as usize];
    }
}

/// The sum of the rows of `values` `[rows, d]`, as `[1, d]`: of some thousand rows at a time, then of the sums, since a
/// unit that adds up hundreds of thousands of numbers keeps all others waiting.
pub(crate) fn sum_of_rows(values: CubeTensor) -> CubeTensor {
    let mut values = rows(values);
    let layout = Layout::new(shape_of(&values)[1], UNITS);
    loop {
        let [count, d] = shape_of(&values);
        let out = matrix_like(&values, [count.div_ceil(SUMMED * layout.lanes).max(1), d]);
        if let Some((cubes, dim, address)) = by_row(&out, layout) {
            let address = address.max(values.required_address_type());
            let client = out.client.clone();
            sum_of_rows_kernel::launch(
                &client,
                cubes,
                dim,
                address,
                values.into_tensor_arg(),
                out.clone().into_tensor_arg(),
                layout.channels,
                layout.lanes,
            );
        }
        if shape_of(&out)[0] == 1 {
            return out;
        }
        values = out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_as_many_units_as_its_summands_are_worth() {
        let offsets = |degrees: &[u32]| {
            let mut sum = 0;
            std::iter::once(0)
                .chain(degrees.iter().map(|degree| {
                    sum += degree;
                    sum
                }))
                .collect::<Vec<_>>()
        };
        assert_eq!(lanes(&offsets(&[])), 2);
        assert_eq!(lanes(&offsets(&[7; 100])), 2);
        // One row of many keeps nobody waiting.
        assert_eq!(lanes(&offsets(&[vec![2; 9_999], vec![100_000]].concat())), LANES);
        assert_eq!(lanes(&offsets(&[100; 10])), LANES);
        assert_eq!(lanes(&offsets(&[1_000; 10])), UNITS);
        for (columns, lanes) in [(1, 2), (1, UNITS), (64, 2), (64, UNITS)] {
            let layout = Layout::new(columns, lanes);
            assert_eq!(layout.channels * layout.lanes * layout.rows(), UNITS);
        }
    }
}
