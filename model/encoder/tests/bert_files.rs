//! The errors for model files that are not there, damaged, or of different models.

mod common;

use std::path::Path;

use common::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tabsegnet_encoder::{BertEncoder, Encoder};

fn contains(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

#[test]
fn a_directory_or_a_file_that_is_not_there_is_named() {
    let empty = tempfile::tempdir().unwrap();
    let gone = empty.path().join("gone");
    contains(&refused(&bert(&gone)), &[&gone.display().to_string(), "there is no such directory", "hub name"]);
    for file in ["config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"] {
        let dir = copy(&reference("bert"));
        std::fs::remove_file(dir.path().join(file)).unwrap();
        contains(&refused(&bert(dir.path())), &[&dir.path().display().to_string(), &format!("there is no {file}")]);
    }
}

#[test]
fn a_config_that_does_not_fit_the_weights_is_told_by_shape() {
    let dir = copy(&reference("bert"));
    replace(&dir.path().join("config.json"), r#""hidden_size": 16"#, r#""hidden_size": 32"#);
    replace(&dir.path().join("1_Pooling/config.json"), "16", "32");
    contains(&refused(&bert(dir.path())), &["model.safetensors", "position_embeddings", "32] by config.json"]);

    let dir = copy(&reference("bert"));
    replace(&dir.path().join("config.json"), r#""num_hidden_layers": 2"#, r#""num_hidden_layers": 3"#);
    contains(&refused(&bert(dir.path())), &["model.safetensors", "no tensor `encoder.layer.2.attention.self.query"]);

    let dir = copy(&reference("bert"));
    replace(&dir.path().join("1_Pooling/config.json"), "16", "24");
    contains(&refused(&bert(dir.path())), &["1_Pooling/config.json", "24 numbers", "has 16"]);
}

#[test]
fn a_truncated_weight_file_is_said_to_be_one() {
    let dir = copy(&reference("bert"));
    let path = dir.path().join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    for length in [0, 100, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        contains(&refused(&bert(dir.path())), &["model.safetensors", "not a whole safetensors file"]);
    }
}

#[test]
fn a_weight_file_that_changes_while_it_is_open_is_said_to_and_one_put_in_its_place_is_not_read() {
    let dir = copy(&reference("bert"));
    let path = dir.path().join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let encode = |encoder: &BertEncoder, text: &str| encoder.encode(&[text], &mut |_| {});
    let known = "cash flow";
    let expected = encode(&BertEncoder::load(dir.path()).unwrap(), known).unwrap();

    let encoder = BertEncoder::load(dir.path()).unwrap();
    std::fs::rename(&path, dir.path().join("old")).unwrap();
    std::fs::write(&path, vec![0; bytes.len()]).unwrap();
    assert_eq!(encode(&encoder, known).unwrap(), expected);

    std::fs::write(&path, &bytes).unwrap();
    let encoder = BertEncoder::load(dir.path()).unwrap();
    encode(&encoder, known).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    // Words that have been read stay.
    assert_eq!(encode(&encoder, known).unwrap(), expected);
    let message = encode(&encoder, "net income of the segment").unwrap_err().to_string();
    contains(&message, &["model.safetensors", "open it again"]);
}

#[test]
fn a_tokenizer_of_a_larger_vocabulary_is_told_by_its_last_token() {
    let dir = copy(&reference("bert"));
    replace(&dir.path().join("tokenizer.json"), r###""##ed": 68"###, r###""##ed": 169"###);
    contains(&refused(&bert(dir.path())), &["tokenizer.json", "\"##ed\" has number 169", "has 69 rows"]);
    std::fs::write(dir.path().join("tokenizer.json"), "{}").unwrap();
    contains(&refused(&bert(dir.path())), &["tokenizer.json", "not a tokenizer"]);
}

#[test]
fn what_is_not_supported_is_named_with_what_is() {
    for (file, from, to, message) in [
        ("config.json", r#""bert""#, r#""t5""#, "model_type \"t5\" is not supported; supported are bert"),
        ("config.json", r#""gelu""#, r#""swish""#, "activation \"swish\" is not supported"),
        ("config.json", r#""num_attention_heads": 2"#, r#""num_attention_heads": 3"#, "no multiple"),
        ("config.json", r#""num_attention_heads": 2"#, r#""num_attention_heads": 0"#, "num_attention_heads is 0"),
        ("config.json", r#""hidden_size""#, r#""hidden_width""#, "missing field `hidden_size`"),
        ("modules.json", "models.Normalize", "models.Dense", "module \"Dense\" is not supported"),
        ("modules.json", "[", "{", "modules.json"),
        ("1_Pooling/config.json", "mode_mean_tokens", "mode_lasttoken", "supported is one of mean, cls and max"),
    ] {
        let dir = copy(&reference("bert"));
        replace(&dir.path().join(file), from, to);
        contains(&refused(&bert(dir.path())), &[file, message]);
    }
}

fn rewrite(path: &Path, name: &str, change: impl FnOnce(&mut [f32])) {
    let bytes = std::fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut values = tensor(path, name);
    change(&mut values);
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let changed = tensors.iter().map(|(other, view)| {
        let data = if other == name { values.as_slice() } else { view.data() };
        (other.to_owned(), TensorView::new(Dtype::F32, view.shape().to_vec(), data).unwrap())
    });
    let content = safetensors::serialize(changed.collect::<Vec<_>>(), None).unwrap();
    std::fs::write(path, content).unwrap();
}

#[test]
fn numbers_that_are_not_finite_are_refused_in_weights_and_in_vectors() {
    let dir = copy(&reference("bert"));
    let path = dir.path().join("model.safetensors");
    rewrite(&path, "embeddings.LayerNorm.bias", |values| values[3] = f32::NAN);
    contains(&refused(&bert(dir.path())), &["embeddings.LayerNorm.bias", "not finite, at position 3"]);

    let dir = copy(&reference("bert"));
    let path = dir.path().join("model.safetensors");
    rewrite(&path, "encoder.layer.1.output.LayerNorm.weight", |values| values.fill(f32::MAX));
    let encoder = open(&bert(dir.path()));
    let error = try_encode(encoder.as_ref(), &["net income"]).unwrap_err().to_string();
    contains(&error, &["the vector of the text \"net income\" is not finite"]);
}
