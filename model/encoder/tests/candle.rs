//! The forward pass against candle's BertModel, which pads, on the same weights.

mod common;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use common::*;
use tokenizers::Tokenizer;

const TEXTS: [&str; 4] = ["net income", "total revenue | 2019 | $ 1,234.5", "", "the tax rate of the year was 21 %"];
const PAD: u32 = 1;

/// Mean over the tokens of every text, normalised, `[texts, 16]`.
fn by_candle() -> candle_core::Result<Vec<f32>> {
    let dir = reference("bert");
    let device = Device::Cpu;
    let config: Config = serde_json::from_slice(&std::fs::read(dir.join("config.json"))?).unwrap();
    let weights =
        VarBuilder::from_buffered_safetensors(std::fs::read(dir.join("model.safetensors"))?, DType::F32, &device)?;
    let model = BertModel::load(weights, &config)?;
    let tokenizer = Tokenizer::from_file(dir.join("tokenizer.json")).unwrap();
    let ids: Vec<Vec<u32>> =
        TEXTS.iter().map(|text| tokenizer.encode_fast(*text, true).unwrap().get_ids().to_vec()).collect();
    let longest = ids.iter().map(Vec::len).max().unwrap();
    let padded: Vec<u32> =
        ids.iter().flat_map(|ids| ids.iter().copied().chain(std::iter::repeat(PAD)).take(longest)).collect();
    let mask: Vec<f32> =
        ids.iter().flat_map(|ids| (0..longest).map(|at| if at < ids.len() { 1.0 } else { 0.0 })).collect();
    let shape = (TEXTS.len(), longest);
    let input = Tensor::from_vec(padded, shape, &device)?;
    let mask = Tensor::from_vec(mask, shape, &device)?;
    let states = model.forward(&input, &input.zeros_like()?, Some(&mask))?; // [texts, tokens, 16]
    let sum = states.broadcast_mul(&mask.unsqueeze(2)?)?.sum(1)?;
    let mean = sum.broadcast_div(&mask.sum_keepdim(1)?)?;
    mean.broadcast_div(&mean.sqr()?.sum_keepdim(1)?.sqrt()?)?.flatten_all()?.to_vec1()
}

#[test]
fn vectors_equal_those_of_candle() {
    let encoder = open(&bert(&reference("bert")));
    let difference = largest_difference(&encode(encoder.as_ref(), &TEXTS), &by_candle().unwrap());
    assert!(difference < 1e-5, "{difference}");
}
