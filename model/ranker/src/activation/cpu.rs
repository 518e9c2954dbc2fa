//! The kernels on the CPU.

use burn_flex::FlexTensor;
use rayon::prelude::*;

use super::{P, Q, SharedRows, TANH_END};
#[cfg(feature = "training")]
use crate::flex::{ROWS_PER_TASK, shape_of, tensor};
use crate::flex::{Values, change, for_rows};
#[cfg(feature = "training")]
use crate::product::vectorised;

pub(super) fn tanh_of_sum(own: FlexTensor, table: &FlexTensor, shared: &SharedRows) -> FlexTensor {
    let d = table.layout().shape()[1];
    let table = Values::of(table);
    let table = table.as_slice();
    change(own, |own| {
        for_rows(
            own,
            d,
            #[inline(always)]
            |node, own| {
                for &row in shared.of(node) {
                    let row = &table[row as usize * d..(row as usize + 1) * d];
                    own.iter_mut().zip(row).for_each(|(own, row)| *own += row);
                }
                own.iter_mut().for_each(|own| *own = tanh(*own));
            },
        );
    })
}

/// x P(x²) / Q(x²), within 4e-7 of tanh. Unlike the library's tanh it is free of branches, so that the
/// compiler can do several at once.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let polynomial = |c: [f32; 5], y: f32| c[0] + y * (c[1] + y * (c[2] + y * (c[3] + y * c[4])));
    let x = x.clamp(-TANH_END, TANH_END);
    x * polynomial(P, x * x) / polynomial(Q, x * x)
}

pub(super) fn relu_of_sum(own: FlexTensor, messages: &FlexTensor, bias: &FlexTensor) -> FlexTensor {
    let (messages, bias) = (Values::of(messages), Values::of(bias));
    let (messages, bias) = (messages.as_slice(), bias.as_slice());
    let d = bias.len();
    change(own, |own| {
        for_rows(
            own,
            d,
            #[inline(always)]
            |node, own| {
                let messages = &messages[node * d..(node + 1) * d];
                for ((own, message), bias) in own.iter_mut().zip(messages).zip(bias) {
                    let sum = *own + message + bias;
                    // Not max(0): a NaN must reach the loss.
                    *own = if sum < 0.0 { 0.0 } else { sum };
                }
            },
        );
    })
}

/// The gradients of `own` and the table from that of the result and the result.
#[cfg(feature = "training")]
pub(super) fn tanh_of_sum_backward(
    gradient: FlexTensor,
    out: &FlexTensor,
    table_shape: [usize; 2],
    shared: &SharedRows,
) -> (FlexTensor, FlexTensor) {
    let [nodes, d] = shape_of(out);
    let out = Values::of(out);
    let out = out.as_slice();
    let mut table = vec![0.0; table_shape[0] * d];
    let own = change(gradient, |gradient| {
        for_rows(
            gradient,
            d,
            #[inline(always)]
            |node, gradient| {
                let out = &out[node * d..(node + 1) * d];
                gradient.iter_mut().zip(out).for_each(|(gradient, out)| *gradient *= 1.0 - out * out);
            },
        );
        // On one thread: a sum over the nodes in their order, a fraction of the pass above.
        for node in 0..nodes {
            let gradient = &gradient[node * d..(node + 1) * d];
            for &row in shared.of(node) {
                let table = &mut table[row as usize * d..(row as usize + 1) * d];
                table.iter_mut().zip(gradient).for_each(|(table, gradient)| *table += gradient);
            }
        }
    });
    (own, tensor(table, table_shape))
}

/// The gradients of `own` (and of the messages, which is the same) and the bias from that of the
/// result and the result.
#[cfg(feature = "training")]
pub(super) fn relu_of_sum_backward(gradient: FlexTensor, out: &FlexTensor) -> (FlexTensor, FlexTensor) {
    let [nodes, d] = shape_of(out);
    let out = Values::of(out);
    let task = ROWS_PER_TASK * d.max(1);
    let mut sums = vec![0.0; nodes.div_ceil(ROWS_PER_TASK) * d];
    let own = change(gradient, |gradient| {
        let tasks = gradient.par_chunks_mut(task).zip(out.as_slice().par_chunks(task));
        tasks.zip(sums.par_chunks_mut(d.max(1))).for_each(|((gradient, out), sums)| {
            vectorised(
                (gradient, out, sums),
                #[inline(always)]
                |(gradient, out, sums): (&mut [f32], &[f32], &mut [f32])| {
                    for (gradient, out) in gradient.chunks_exact_mut(d).zip(out.chunks_exact(d)) {
                        for ((gradient, out), sum) in gradient.iter_mut().zip(out).zip(&mut *sums) {
                            *gradient = if *out > 0.0 { *gradient } else { 0.0 };
                            *sum += *gradient;
                        }
                    }
                },
            );
        });
    });
    let mut bias = vec![0.0; d];
    for sums in sums.chunks_exact(d.max(1)) {
        bias.iter_mut().zip(sums).for_each(|(bias, sum)| *bias += sum);
    }
    (own, tensor(bias, [d]))
}

#[cfg(test)]
mod tests {
    #[test]
    fn tanh_is_within_4e_7_odd_and_never_beyond_1() {
        for i in 0..=400_000 {
            for x in [i as f32 * 3e-5, (i as f32 / 400_000.0).powi(6)] {
                let exact = f64::from(x).tanh();
                let found = super::tanh(x);
                assert!((f64::from(found) - exact).abs() <= 4e-7 * exact, "tanh {x} = {exact}, not {found}");
                assert!(found <= 1.0 && super::tanh(-x).to_bits() == (-found).to_bits());
            }
        }
        assert!(super::tanh(f32::NAN).is_nan());
        assert!(super::tanh(f32::INFINITY) > 0.999_999);
    }
}
