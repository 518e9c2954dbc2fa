//! The CPU backend's tensors as slices, for the operations that this crate adds to it.

use burn::tensor::{DType, Shape, TensorData};
use burn_flex::FlexTensor;
use rayon::prelude::*;

use crate::product::vectorised;

/// Rows a task works on: enough work to be worth handing over, few enough to share out evenly.
/// Tasks are cut by this number alone, never by the number of threads, so that sums have the same
/// bits for any number of them.
pub(crate) const ROWS_PER_TASK: usize = 64;

/// A tensor's values in row-major order.
pub(crate) struct Values(FlexTensor);

impl Values {
    pub(crate) fn of(tensor: &FlexTensor) -> Self {
        Self(tensor.to_contiguous())
    }

    pub(crate) fn as_slice(&self) -> &[f32] {
        match self.0.as_slice() {
            Some(values) => values,
            None => unreachable!("to_contiguous gives a contiguous tensor"),
        }
    }
}

/// Calls `each`, marked `#[inline(always)]`, with every node and its row of `values` `[nodes, d]`.
pub(crate) fn for_rows(values: &mut [f32], d: usize, each: impl Fn(usize, &mut [f32]) + Sync) {
    let d = d.max(1);
    values.par_chunks_mut(ROWS_PER_TASK * d).enumerate().for_each(|(task, rows)| {
        vectorised(
            rows,
            #[inline(always)]
            |rows: &mut [f32]| {
                for (node, row) in (task * ROWS_PER_TASK..).zip(rows.chunks_exact_mut(d)) {
                    each(node, row);
                }
            },
        );
    });
}

pub(crate) fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, Shape::from(shape)))
}

pub(crate) fn shape_of(tensor: &FlexTensor) -> [usize; 2] {
    debug_assert_eq!(tensor.dtype(), DType::F32);
    let shape = tensor.layout().shape();
    [shape[0], shape[1]]
}

/// The same tensor after a change of its row-major values: in place where nobody else holds them,
/// which saves the pages of a new one.
pub(crate) fn change(tensor: FlexTensor, with: impl FnOnce(&mut [f32])) -> FlexTensor {
    let count = tensor.layout().num_elements();
    let mut tensor = match tensor.layout().contiguous_offsets() {
        Some((0, _)) if tensor.is_unique() => tensor,
        _ => {
            let shape = tensor.layout().shape().clone();
            let values = Values::of(&tensor).as_slice().to_vec();
            FlexTensor::from_data(TensorData::new(values, shape))
        }
    };
    with(&mut tensor.storage_mut()[..count]);
    tensor
}
