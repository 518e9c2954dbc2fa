//! Logits, loss and gradients against Python's transformers (`tools/scripts/t5_reference.py`).

use std::path::{Path, PathBuf};

use burn::module::{ModuleVisitor, Param};
use burn::optim::GradientsParams;

use super::*;
use crate::ModelFiles;
use crate::buckets::bucket;
use crate::weights::Reference;

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

fn read(name: &str, device: &Device) -> (T5, Reference, Vec<Pair>) {
    let files = ModelFiles::directory(&directory(name));
    let (path, bytes) = files.read("config.json").unwrap();
    let config = T5Config::parse(&path, &bytes).unwrap();
    let model = T5::read(&config, &files.weights().unwrap(), device).unwrap();
    let expected = Reference::read(&directory(name).join("expected.safetensors"));
    let ints = |what: &str, text: usize| expected.ints(&format!("{what}.{text}"));
    let pairs = (0..2).map(|text| Pair { input: ints("input", text), target: ints("target", text) }).collect();
    (model, expected, pairs)
}

struct Norms<'a> {
    gradients: &'a GradientsParams,
    found: Vec<f64>,
}

impl ModuleVisitor for Norms<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.gradients.get::<D>(param.id).unwrap();
        self.found.push(values(gradient).into_iter().map(|v| f64::from(v).powi(2)).sum::<f64>().sqrt());
    }
}

#[test]
fn logits_loss_and_gradients_equal_those_of_transformers() {
    let device = Device::flex().autodiff();
    for name in ["gated", "untied"] {
        let (model, expected, pairs) = read(name, &device);
        let batch = Batch::new(&pairs.iter().collect::<Vec<_>>(), model.config(), &device);
        let targets = pairs.iter().map(|pair| pair.target.len()).sum::<usize>();

        let logits = values(model.logits(&batch, &mut Dropout::none()));
        let wanted = expected.floats("logits");
        assert_eq!(logits.len(), wanted.len());
        let largest = logits.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(largest <= 1e-4, "{name}: logits are off by {largest}");

        let loss = model.loss(&batch, &mut Dropout::none());
        let value = values(loss.value)[0] / targets as f32;
        assert!((value - expected.floats("loss")[0]).abs() <= 1e-4 * value, "{name}: loss {value}");
        let slope = loss.slope / targets as f64;
        let gradients = GradientsParams::from_grads(slope.backward(), &model);
        let mut norms = Norms { gradients: &gradients, found: Vec::new() };
        model.visit(&mut norms);
        let norm = norms.found.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
        let wanted = f64::from(expected.floats("norm")[0]);
        assert!((norm - wanted).abs() <= 1e-4 * wanted, "{name}: gradient norm {norm}, expected {wanted}");
        // One by one, in any order: the two models name their parameters in different ones.
        let mut wanted: Vec<f64> = model
            .parameters()
            .iter()
            .map(|(parameter, _, _)| f64::from(expected.floats(&format!("norm.{parameter}"))[0]))
            .collect();
        wanted.sort_by(f64::total_cmp);
        norms.found.sort_by(f64::total_cmp);
        assert_eq!(norms.found.len(), wanted.len());
        for (found, wanted) in norms.found.iter().zip(wanted) {
            assert!((found - wanted).abs() <= 1e-4 * wanted.max(1e-2), "{name}: {found}, expected {wanted}");
        }
    }
}

#[test]
fn buckets_equal_those_of_transformers() {
    let text = std::fs::read_to_string(directory("buckets.json")).unwrap();
    let expected: std::collections::BTreeMap<String, Vec<usize>> = serde_json::from_str(&text).unwrap();
    for (side, both) in [("both", true), ("back", false)] {
        let found: Vec<usize> = (-600..=600).map(|offset| bucket(offset, both, 32, 128)).collect();
        assert_eq!(found, expected[side], "{side}");
    }
}

#[test]
fn a_batch_gives_each_pair_what_it_has_alone() {
    let device = Device::flex();
    let (model, _, pairs) = read("gated", &device);
    let logits =
        |pairs: &[&Pair]| values(model.logits(&Batch::new(pairs, model.config(), &device), &mut Dropout::none()));
    let together = logits(&[&pairs[0], &pairs[1]]);
    let alone = [logits(&[&pairs[0]]), logits(&[&pairs[1]])].concat();
    assert_eq!(together.len(), alone.len());
    for (together, alone) in together.iter().zip(alone) {
        assert!((together - alone).abs() <= 1e-4, "{together}, alone {alone}");
    }
}

#[test]
fn what_is_written_is_what_was_read_and_a_seed_gives_the_same_bits() {
    for name in ["gated", "untied"] {
        let (model, _, _) = read(name, &Device::flex());
        let weights = ModelFiles::directory(&directory(name)).weights().unwrap();
        let listed = model.parameters();
        let names: Vec<_> = listed.iter().map(|(name, shape, _)| (name.clone(), shape.clone())).collect();
        assert_eq!(names, model.config().parameters(model.own_head()));
        for (name, shape, values) in listed {
            assert_eq!(values, weights.floats(&name, &shape).unwrap(), "{name}");
        }
        let new = |seed| T5::new(model.config(), false, &[], seed, &Device::flex()).parameters();
        assert!(new(3) == new(3) && new(3) != new(4));
    }
}

#[test]
fn dropout_is_a_function_of_its_seed() {
    let device = Device::flex();
    let x = Tensor::<2>::ones([40, 50], &device);
    let apply = |seed| values(Dropout::new(0.25, seed).apply(x.clone()));
    assert_eq!(apply(1), apply(1));
    assert_ne!(apply(1), apply(2));
    let dropped = apply(1).iter().filter(|v| **v == 0.0).count();
    assert!((400..600).contains(&dropped), "{dropped} of 2000");
    let mean = apply(1).iter().sum::<f32>() / 2000.0;
    assert!((mean - 1.0).abs() < 0.1, "{mean}");
}
