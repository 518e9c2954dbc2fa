//! Linear maps `y = f(x W + b)`, in f32 or with weights and activations of 8 bits.

use serde::{Deserialize, Serialize};

use super::functions::Activation;
use super::int8::{Quantised, Rows};
use super::rows::{Gelu, GeluTanh, Identity, Map, Relu};
use super::team::{SharedRows, Team};
use super::tile::{Left, Panels, product};

/// The numbers that a `bert` encoder's linear maps are computed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floating point.
    #[default]
    F32,
    /// Weights of 8 bits with a scale for each output, inputs of 8 bits with a range for each
    /// token; sums are exact. Everything between the maps stays f32.
    Int8,
}

/// A linear map with its bias.
pub(crate) struct Linear {
    weight: Weight,
    bias: Vec<f32>,
    inputs: usize,
}

enum Weight {
    F32(Panels),
    Int8(Quantised),
}

/// Buffers that are kept from call to call.
#[derive(Default)]
pub(crate) struct Scratch {
    rows: Rows,
}

/// Rows that are worth a part of their own when a batch is divided.
const FEWEST_ROWS: usize = 24;

impl Linear {
    /// The map of `weight`, row-major `[outputs, inputs]` as files have it.
    pub(crate) fn new(weight: &[f32], bias: Vec<f32>, precision: Precision) -> Self {
        let inputs = weight.len() / bias.len().max(1);
        let weight = match precision {
            Precision::F32 => Weight::F32(Panels::wide(weight, inputs)),
            Precision::Int8 => Weight::Int8(Quantised::new(weight, inputs)),
        };
        Self { weight, bias, inputs }
    }

    /// `y = activation(x weight + bias)`, `[rows, outputs]` for `x` of `[rows, inputs]`; `y` is
    /// given its size.
    pub(crate) fn apply(
        &self,
        x: &[f32],
        y: &mut Vec<f32>,
        activation: Option<Activation>,
        team: Team,
        scratch: &mut Scratch,
    ) {
        match activation {
            None => self.map::<Identity>(x, y, team, scratch),
            Some(Activation::Gelu) => self.map::<Gelu>(x, y, team, scratch),
            Some(Activation::GeluTanh) => self.map::<GeluTanh>(x, y, team, scratch),
            Some(Activation::Relu) => self.map::<Relu>(x, y, team, scratch),
        }
    }

    fn map<F: Map>(&self, x: &[f32], y: &mut Vec<f32>, team: Team, scratch: &mut Scratch) {
        let (inputs, outputs) = (self.inputs, self.bias.len());
        let rows = x.len() / inputs.max(1);
        y.resize(rows * outputs, 0.0);
        let y = SharedRows::new(y, outputs);
        // SAFETY: a part has rows and columns of its own, and `finish` is called once for each.
        #[allow(unsafe_code)]
        let part = |row, col, len| unsafe { y.part(row, col, len) };
        match &self.weight {
            Weight::F32(panels) => {
                split(rows, panels.count(), team, |first, rows, panel| {
                    let left = Left { data: &x[first * inputs..], rows, stride: inputs };
                    product(
                        left,
                        panels,
                        panel,
                        #[inline(always)]
                        |row, col, sums| {
                            let y = part(first + row, col, sums.len());
                            for ((y, sum), bias) in y.iter_mut().zip(sums).zip(&self.bias[col..]) {
                                *y = F::apply(sum + bias);
                            }
                        },
                    );
                });
            }
            Weight::Int8(weight) => {
                scratch.rows.quantise(x, inputs);
                let left = &scratch.rows;
                split(rows, weight.count(), team, |first, rows, panel| {
                    weight.product(
                        left,
                        first..first + rows,
                        panel,
                        #[inline(always)]
                        |row, col, sums| {
                            let y = part(row, col, sums.len());
                            for ((y, sum), bias) in y.iter_mut().zip(sums).zip(&self.bias[col..]) {
                                *y = F::apply(sum + bias);
                            }
                        },
                    );
                });
            }
        }
    }
}

/// Calls `work(first row, rows, panel)` for parts that make up all rows and panels.
fn split(rows: usize, panels: usize, team: Team, work: impl Fn(usize, usize, usize) + Sync) {
    let blocks = match team {
        Team::One => 1,
        // A few parts a thread, so that a slow one does not keep the others waiting.
        Team::All => (4 * rayon::current_num_threads()).div_ceil(panels.max(1)).min(rows.div_ceil(FEWEST_ROWS)).max(1),
    };
    team.each(blocks * panels, |part| {
        let (panel, block) = (part / blocks, part % blocks);
        let (first, end) = (rows * block / blocks, rows * (block + 1) / blocks);
        work(first, end - first, panel);
    });
}
