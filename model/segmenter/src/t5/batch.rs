//! Pairs of input and target as tensors.

use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::T5Config;
use crate::buckets::bucket;

/// Far below every score, and finite: a row that is masked whole stays a number.
const MASKED: f32 = -1e9;

/// Tokens of an input and of the target, each with the end token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// What is read.
    pub input: Vec<u32>,
    /// What should be written.
    pub target: Vec<u32>,
}

/// How texts lie in rows and which keys they see.
#[derive(Debug, Clone)]
pub(crate) struct Texts {
    pub(crate) count: usize,
    /// Rows of a text that asks.
    pub(crate) queries: usize,
    /// Rows of a text that is looked at.
    pub(crate) keys: usize,
    /// Bucket of each pair of positions, `[queries × keys]`; none to another text.
    pub(crate) buckets: Option<Tensor<1, Int>>,
    /// `[1 or texts, 1, 1 or queries, keys]`; none where all is seen.
    pub(crate) mask: Option<Tensor<4>>,
}

/// Pairs, padded to the longest.
#[derive(Debug, Clone)]
pub struct Batch {
    /// `[texts × inputs]`
    pub(crate) input: Tensor<1, Int>,
    /// The targets, one later: `[texts × outputs]`.
    pub(crate) output: Tensor<1, Int>,
    pub(crate) encoder: Texts,
    pub(crate) decoder: Texts,
    pub(crate) cross: Texts,
    /// Rows of the output that have a target: padding has none and costs no logits. `[targets]`
    pub(crate) rows: Tensor<1, Int>,
    /// `[targets]`
    pub(crate) targets: Tensor<1, Int>,
    /// Tokens that are read and written, padding not counted.
    pub tokens: usize,
}

impl Batch {
    /// # Panics
    /// Never; no pairs give a batch that must not be used.
    pub fn new(pairs: &[&Pair], config: &T5Config, device: &Device) -> Self {
        let device = &device.clone().without_autodiff();
        let longest = |length: fn(&Pair) -> usize| pairs.iter().map(|pair| length(pair)).max().unwrap_or(1).max(1);
        let (inputs, outputs) = (longest(|pair| pair.input.len()), longest(|pair| pair.target.len()));
        let ints = |values: Vec<i32>| {
            let count = values.len();
            Tensor::<1, Int>::from_data(TensorData::new(values, [count]), device)
        };
        let (mut input, mut output, mut rows, mut targets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (text, pair) in pairs.iter().enumerate() {
            padded(&mut input, pair.input.iter().copied(), inputs, config.pad);
            let shifted = std::iter::once(config.start).chain(pair.target.iter().copied());
            padded(&mut output, shifted.take(pair.target.len()), outputs, config.pad);
            rows.extend((0..pair.target.len()).map(|at| (text * outputs + at) as i32));
            targets.extend(pair.target.iter().map(|&token| token as i32));
        }
        let mask = |rows: Vec<f32>, shape: [usize; 4]| Tensor::<4>::from_data(TensorData::new(rows, shape), device);
        let seen = |is: bool| if is { 0.0 } else { MASKED };
        let padding = pairs.iter().any(|pair| pair.input.len() < inputs).then(|| {
            let rows = pairs.iter().flat_map(|pair| (0..inputs).map(move |key| seen(key < pair.input.len())));
            mask(rows.collect(), [pairs.len(), 1, 1, inputs])
        });
        let causal = (outputs > 1).then(|| {
            let rows = (0..outputs).flat_map(|query| (0..outputs).map(move |key| seen(key <= query)));
            mask(rows.collect(), [1, 1, outputs, outputs])
        });
        let buckets = |length: usize, both: bool| {
            let of = |query: usize, key: usize| {
                bucket(key as i64 - query as i64, both, config.buckets, config.max_distance) as i32
            };
            ints((0..length).flat_map(|query| (0..length).map(move |key| of(query, key))).collect())
        };
        let count = pairs.len();
        Self {
            tokens: pairs.iter().map(|pair| pair.input.len() + pair.target.len()).sum(),
            input: ints(input),
            output: ints(output),
            encoder: Texts {
                count,
                queries: inputs,
                keys: inputs,
                buckets: Some(buckets(inputs, true)),
                mask: padding.clone(),
            },
            decoder: Texts {
                count,
                queries: outputs,
                keys: outputs,
                buckets: Some(buckets(outputs, false)),
                mask: causal,
            },
            cross: Texts { count, queries: outputs, keys: inputs, buckets: None, mask: padding },
            rows: ints(rows),
            targets: ints(targets),
        }
    }
}

fn padded(into: &mut Vec<i32>, tokens: impl Iterator<Item = u32>, length: usize, pad: u32) {
    let end = into.len() + length;
    into.extend(tokens.map(|token| token as i32));
    into.resize(end, pad as i32);
}
