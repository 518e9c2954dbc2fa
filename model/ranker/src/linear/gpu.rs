//! The gradient of the weights on GPUs.

use burn::backend::ops::FloatTensorOps as _;
use burn::tensor::{DType, FloatDType, Shape, Slice};
use burn_cubecl::CubeBackend;
use burn_cubecl::tensor::CubeTensor;

use crate::gpu::{shape_of, sum_of_rows};

/// A block has as many rows at least: fewer would be no work for a cube.
const LEAST_ROWS: usize = 256;

/// There are about as many blocks at most: their products lie in memory side by side.
const MOST_BLOCKS: usize = 256;

/// xᵀ g over blocks of rows, the products added up from the first to the last.
pub(super) fn weight_gradient(x: CubeTensor, gradient: CubeTensor) -> CubeTensor {
    let ([rows, d], [_, d_out]) = (shape_of(&x), shape_of(&gradient));
    let block = rows.div_ceil(MOST_BLOCKS).next_multiple_of(LEAST_ROWS);
    let blocks = rows / block;
    if blocks < 2 {
        return CubeBackend::float_matmul(CubeBackend::float_transpose(x), gradient);
    }
    let dtype = x.dtype;
    let (whole, tail) = (0..blocks * block, blocks * block..rows);
    let part = |matrix: &CubeTensor, rows: &std::ops::Range<usize>| {
        CubeBackend::float_slice(matrix.clone(), &[Slice::from(rows.clone()), Slice::from(..)])
    };
    let cut = |matrix: &CubeTensor, columns| {
        CubeBackend::float_reshape(part(matrix, &whole), Shape::from([blocks, block, columns]))
    };
    let products = CubeBackend::float_matmul(CubeBackend::float_transpose(cut(&x, d)), cut(&gradient, d_out));
    // What is added up is f32 in every precision.
    let products = as_f32(CubeBackend::float_reshape(products, Shape::from([blocks, d * d_out])));
    let sum = CubeBackend::float_reshape(sum_of_rows(products), Shape::from([d, d_out]));
    let sum = if tail.is_empty() {
        sum
    } else {
        let last = CubeBackend::float_transpose(part(&x, &tail));
        CubeBackend::float_add(sum, as_f32(CubeBackend::float_matmul(last, part(&gradient, &tail))))
    };
    match dtype {
        DType::BF16 => CubeBackend::float_cast(sum, FloatDType::BF16),
        DType::F16 => CubeBackend::float_cast(sum, FloatDType::F16),
        _ => sum,
    }
}

fn as_f32(tensor: CubeTensor) -> CubeTensor {
    if tensor.dtype == DType::F32 { tensor } else { CubeBackend::float_cast(tensor, FloatDType::F32) }
}
