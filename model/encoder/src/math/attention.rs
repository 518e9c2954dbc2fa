//! Attention within each text of a batch.

use std::cell::RefCell;

use super::rows::{padded, softmax};
use super::team::{SharedRows, Team};
use super::tile::{Left, Panels, product};

/// A thread's buffers for one head of one text.
#[derive(Default)]
struct Scratch {
    keys: Panels,
    values: Panels,
    /// `[length, padded length]`
    scores: Vec<f32>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// `context = softmax(q kᵀ) v` for each text, given by its number of tokens, and each of `heads`
/// heads. `qkv` holds q, k and v side by side, `[tokens, 3 hidden]`; q comes scaled by 1/√d.
/// `context` is `[tokens, hidden]`.
pub(crate) fn attend(lengths: &[usize], heads: usize, hidden: usize, qkv: &[f32], context: &mut [f32], team: Team) {
    let width = hidden / heads;
    let firsts: Vec<usize> = lengths
        .iter()
        .scan(0, |next, len| {
            *next += len;
            Some(*next - len)
        })
        .collect();
    let context = SharedRows::new(context, hidden);
    team.each(lengths.len() * heads, |part| {
        let (text, head) = (part / heads, part % heads);
        let (first, len) = (firsts[text], lengths[text]);
        let states = &qkv[first * 3 * hidden..(first + len) * 3 * hidden];
        let start = head * width;
        SCRATCH.with_borrow_mut(|scratch| {
            attend_head(states, start, width, hidden, scratch, |row, col, sums| {
                // SAFETY: rows of this text and columns of this head, which no other part has.
                #[allow(unsafe_code)]
                let context = unsafe { context.part(first + row, start + col, sums.len()) };
                context.copy_from_slice(sums);
            });
        });
    });
}

/// One head of one text, whose `states` are `[length, 3 hidden]`: `finish` as for [`product`].
#[inline(always)]
fn attend_head(
    states: &[f32],
    start: usize,
    width: usize,
    hidden: usize,
    scratch: &mut Scratch,
    mut finish: impl FnMut(usize, usize, &[f32]),
) {
    let Scratch { keys, values, scores } = scratch;
    let stride = 3 * hidden;
    let len = states.len() / stride;
    let row = padded(len);
    keys.reset_narrow(width, len);
    values.reset_narrow(len, width);
    for (token, state) in states.chunks_exact(stride).enumerate() {
        keys.set_column(token, &state[hidden + start..][..width]);
        values.set_row(token, &state[2 * hidden + start..][..width]);
    }
    scores.resize(len * row, 0.0);
    for panel in 0..keys.count() {
        let queries = Left { data: &states[start..], rows: len, stride };
        product(
            queries,
            keys,
            panel,
            #[inline(always)]
            |token, col, sums| scores[token * row + col..][..sums.len()].copy_from_slice(sums),
        );
    }
    softmax(scores, len);
    for panel in 0..values.count() {
        product(Left { data: scores, rows: len, stride: row }, values, panel, &mut finish);
    }
}
