//! The kernels on the CPU.

use burn_flex::FlexTensor;
use rayon::prelude::*;

#[cfg(feature = "training")]
use super::share;
use super::take_up;
use crate::config::Aggregation;
use crate::edges::{EdgeIndex, NO_EDGE};
use crate::flex::{ROWS_PER_TASK, Values, for_rows, shape_of, tensor};
use crate::product::vectorised;

/// The aggregated messages, and for max, where a backward pass will ask for it, which edge won each
/// channel (`[nodes, d]`, [`NO_EDGE`] without in-edges; empty otherwise).
pub(super) fn forward(
    x: &FlexTensor,
    strength: &FlexTensor,
    edges: &EdgeIndex,
    aggregation: Aggregation,
    keep_winners: bool,
) -> (FlexTensor, Vec<u32>) {
    let [_, d] = shape_of(x);
    let nodes = edges.nodes();
    let (x, strength) = (Values::of(x), Values::of(strength));
    let (x, strength) = (x.as_slice(), strength.as_slice());
    let message = |edge: usize| {
        let source = edges.sources[edge] as usize;
        (strength[edges.strengths[edge] as usize], &x[source * d..(source + 1) * d])
    };
    let mut out = vec![0.0; nodes * d];
    let mut winners = Vec::new();
    if aggregation == Aggregation::Max && keep_winners {
        winners = vec![NO_EDGE; nodes * d];
        let tasks = out.par_chunks_mut(ROWS_PER_TASK * d).zip(winners.par_chunks_mut(ROWS_PER_TASK * d));
        tasks.enumerate().for_each(|(task, (out, winners))| {
            vectorised(
                (out, winners),
                #[inline(always)]
                |(out, winners): (&mut [f32], &mut [u32])| {
                    let rows = out.chunks_exact_mut(d).zip(winners.chunks_exact_mut(d));
                    for (node, (out, winners)) in (task * ROWS_PER_TASK..).zip(rows) {
                        for (nth, edge) in edges.into(node).enumerate() {
                            let (s, x) = message(edge);
                            for ((out, winner), x) in out.iter_mut().zip(&mut *winners).zip(x) {
                                let candidate = s * x;
                                let wins = nth == 0 || candidate > *out;
                                *out = if wins { candidate } else { *out };
                                *winner = if wins { edge as u32 } else { *winner };
                            }
                        }
                    }
                },
            );
        });
    } else {
        for_rows(
            &mut out,
            d,
            #[inline(always)]
            |node, out| take_up(out, aggregation, edges.into(node).map(message)),
        );
    }
    (tensor(out, [nodes, d]), winners)
}

/// The gradients of `x` and `strength` from that of the result.
#[cfg(feature = "training")]
pub(super) fn backward(
    gradient: &FlexTensor,
    x: &FlexTensor,
    strength: &FlexTensor,
    winners: &[u32],
    edges: &EdgeIndex,
    aggregation: Aggregation,
) -> (FlexTensor, FlexTensor) {
    let [nodes, d] = shape_of(x);
    let strength_shape = shape_of(strength);
    let (gradient, x, strength) = (Values::of(gradient), Values::of(x), Values::of(strength));
    let (gradient, x, strength) = (gradient.as_slice(), x.as_slice(), strength.as_slice());

    let mut x_gradient = vec![0.0; nodes * d];
    // One number an edge, in the order of `by_source` so that each task writes its own stretch.
    let mut edge_gradient = vec![0.0; edges.len()];
    let mut tasks = Vec::new();
    let mut rest = edge_gradient.as_mut_slice();
    for (task, rows) in x_gradient.chunks_mut(ROWS_PER_TASK * d).enumerate() {
        let first = task * ROWS_PER_TASK;
        let last = first + rows.len() / d;
        let count = (edges.source_offsets[last] - edges.source_offsets[first]) as usize;
        let (own, others) = rest.split_at_mut(count);
        rest = others;
        tasks.push((first, rows, own));
    }
    tasks.into_par_iter().for_each(|(first, rows, edge_gradient)| {
        vectorised(
            (rows, edge_gradient),
            #[inline(always)]
            |(rows, edge_gradient): (&mut [f32], &mut [f32])| {
                let mut edge_gradients = edge_gradient.iter_mut();
                for (node, x_gradient) in (first..).zip(rows.chunks_exact_mut(d)) {
                    let x = &x[node * d..(node + 1) * d];
                    for (&edge, edge_gradient) in edges.out_of(node).iter().zip(&mut edge_gradients) {
                        let s = strength[edges.strengths[edge as usize] as usize];
                        let destination = edges.destinations[edge as usize] as usize;
                        let gradient = &gradient[destination * d..(destination + 1) * d];
                        *edge_gradient = if aggregation == Aggregation::Max {
                            let winners = &winners[destination * d..(destination + 1) * d];
                            max_message(x_gradient, x, gradient, s, winners, edge)
                        } else {
                            sum_message(x_gradient, x, gradient, s, share(edges.into(destination).len(), aggregation))
                        };
                    }
                }
            },
        );
    });

    let mut strength_gradient = vec![0.0; strength.len()];
    for (&edge, gradient) in edges.by_source.iter().zip(edge_gradient) {
        strength_gradient[edges.strengths[edge as usize] as usize] += gradient;
    }
    (tensor(x_gradient, [nodes, d]), tensor(strength_gradient, strength_shape))
}

/// Lanes of the dot products below: a fixed number of partial sums lets the compiler use vector
/// registers without changing the result between machines.
#[cfg(feature = "training")]
const LANES: usize = 16;

/// Adds a won message's gradient to its source and returns that of its strength.
#[cfg(feature = "training")]
#[inline(always)]
fn max_message(x_gradient: &mut [f32], x: &[f32], gradient: &[f32], s: f32, winners: &[u32], edge: u32) -> f32 {
    message(x_gradient, x, gradient, s, winners, |gradient, winner| if winner == edge { gradient } else { 0.0 })
}

#[cfg(feature = "training")]
#[inline(always)]
fn sum_message(x_gradient: &mut [f32], x: &[f32], gradient: &[f32], s: f32, share: f32) -> f32 {
    // There is no winner to look at; any slice of the length will do.
    message(x_gradient, x, gradient, s, gradient, |gradient, _| gradient * share)
}

/// What the two have in common: `own` makes a channel's gradient out of the node's and its winner.
#[cfg(feature = "training")]
#[inline(always)]
fn message<W: Copy>(
    x_gradient: &mut [f32],
    x: &[f32],
    gradient: &[f32],
    s: f32,
    winners: &[W],
    own: impl Fn(f32, W) -> f32,
) -> f32 {
    let mut sums = [0.0; LANES];
    let (x_gradients, x_gradient_rest) = x_gradient.as_chunks_mut::<LANES>();
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (gradients, gradient_rest) = gradient.as_chunks::<LANES>();
    let (winner_chunks, winner_rest) = winners.as_chunks::<LANES>();
    for (((x_gradient, x), gradient), winners) in x_gradients.iter_mut().zip(xs).zip(gradients).zip(winner_chunks) {
        for lane in 0..LANES {
            let gradient = own(gradient[lane], winners[lane]);
            x_gradient[lane] += s * gradient;
            sums[lane] += gradient * x[lane];
        }
    }
    let rest = x_gradient_rest.iter_mut().zip(x_rest).zip(gradient_rest).zip(winner_rest);
    for ((((x_gradient, x), gradient), winner), sum) in rest.zip(&mut sums) {
        let gradient = own(*gradient, *winner);
        *x_gradient += s * gradient;
        *sum += gradient * x;
    }
    sums.iter().sum()
}
