//! Vectors of single tokens and sparse vectors against transformers, on small models with random
//! weights (`reference/make_token_reference.py`).

mod common;

use common::*;
use tabsegnet_encoder::{EncoderConfig, Splade, load};

#[test]
fn token_vectors_equal_the_states_of_transformers() {
    let texts = texts();
    for model in MODELS {
        let expected = tensor(&reference(model).join("tokens.safetensors"), "states");
        for batch_tokens in [1000, 1] {
            let encoder = open(&EncoderConfig { batch_tokens, ..bert(&reference(model)) });
            let vectors = encoder.encode_tokens(&strs(&texts)).unwrap();
            assert_eq!(vectors.len(), texts.len());
            assert!(vectors[4].is_empty(), "a blank text has no token but special ones");
            let difference = largest_difference(&vectors.concat(), &expected);
            assert!(difference < 1e-5, "{model}: {difference}");
        }
    }
}

#[test]
fn a_device_without_token_vectors_says_where_they_are() {
    let encoder = open_in_tensors(&bert(&reference("bert")));
    let error = encoder.encode_tokens(&["net income"]).unwrap_err().to_string();
    assert!(error.contains("--device cpu"), "{error}");
}

#[test]
fn the_static_encoder_has_a_unit_vector_a_token() {
    let encoder = load(&EncoderConfig::default()).unwrap();
    let texts = ["revenue", "", "revenue of 2019"];
    let tokens = encoder.encode_tokens(&texts).unwrap();
    assert_eq!(tokens[0], encoder.encode(&texts[..1], &mut |_| {}).unwrap(), "a token alone is its text's vector");
    assert!(tokens[1].is_empty());
    for vector in tokens[2].chunks(encoder.dim()) {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5);
    }
    assert_eq!(tokens[2][..encoder.dim()], tokens[0], "static vectors do not depend on what stands beside them");
}

#[test]
fn sparse_vectors_equal_those_of_transformers() {
    let texts = texts();
    // candle's DistilBERT takes the tanh form of GELU where transformers takes the exact one.
    for (model, tolerance) in [("masked-bert", 1e-5), ("masked-distilbert", 1e-3)] {
        let directory = reference(model);
        let splade = Splade::open(&directory.display().to_string(), "main", "evaluation.splade").unwrap();
        let expected = tensor(&directory.join("expected.safetensors"), "vectors");
        let words = expected.len() / texts.len();
        for (vector, expected) in splade.encode(&strs(&texts)).unwrap().iter().zip(expected.chunks(words)) {
            let mut dense = vec![0.0; words];
            vector.iter().for_each(|&(word, weight)| dense[word as usize] = weight);
            assert!(dense.iter().any(|weight| *weight > 0.1), "{model}: some word is expected");
            let difference = largest_difference(&dense, expected);
            assert!(difference < tolerance, "{model}: {difference}");
        }
    }
}

#[test]
fn another_kind_of_model_is_refused() {
    let refused =
        |model: &str| Splade::open(&reference(model).display().to_string(), "", "k").err().unwrap().to_string();
    let error = refused("roberta");
    assert!(error.contains("\"roberta\"") && error.contains("\"bert\" and \"distilbert\""), "{error}");
    let error = refused("bert");
    assert!(error.contains("model.safetensors") && error.contains("masked language model"), "{error}");
}
