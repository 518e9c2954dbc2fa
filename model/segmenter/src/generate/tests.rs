//! candle against Python's transformers (`tools/scripts/t5_reference.py`).

use std::path::{Path, PathBuf};

use candle_core::quantized::GgmlDType;

use super::*;
use crate::pointing::Tokens;
use crate::t5::{Batch, Dropout, Pair, T5};
use crate::weights::Reference;
use crate::{ModelFiles, Prompt, Segmenter as _, T5Segmenter, T5Tokenizer};

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(name)
}

fn generator(name: &str, limits: Limits) -> Generator {
    let files = ModelFiles::directory(&directory(name));
    let (path, bytes) = files.read("config.json").unwrap();
    let config = T5Config::parse(&path, &bytes).unwrap();
    let weights = files.weights().unwrap();
    let own_head = weights.has("lm_head.weight");
    Generator::new(&config, own_head, limits, WeightKind::F32, &mut |name, shape| weights.floats(name, shape)).unwrap()
}

const LIMITS: Limits = Limits { input: 128, output: 24, beams: 1 };

#[test]
fn logits_equal_those_of_transformers() {
    for name in ["gated", "untied"] {
        let expected = Reference::read(&directory(name).join("expected.safetensors"));
        let generator = generator(name, LIMITS);
        let mut rows = expected.floats("logits");
        for text in 0..2 {
            let (input, target) = (expected.ints(&format!("input.{text}")), expected.ints(&format!("target.{text}")));
            let output: Vec<u32> = std::iter::once(0).chain(target[..target.len() - 1].iter().copied()).collect();
            for logits in generator.logits(&input, &output).unwrap() {
                let others = rows.split_off(logits.len());
                for (found, expected) in logits.iter().zip(rows) {
                    assert!((found - expected).abs() <= 1e-4, "{name}: {found}, expected {expected}");
                }
                rows = others;
            }
        }
        assert!(rows.is_empty());
    }
}

/// candle's quantised T5 gets the same tables of distances, and a head of its own.
#[test]
fn quantised_weights_give_nearly_the_same_logits() {
    let (path, bytes) = ModelFiles::directory(&directory("gated")).read("config.json").unwrap();
    // Rows of whole blocks.
    let shape = T5Config { d_model: 64, d_kv: 16, num_heads: 4, d_ff: 96, ..T5Config::parse(&path, &bytes).unwrap() };
    let (input, output): (Vec<u32>, Vec<u32>) = ((5..65).collect(), (0..30).collect());
    for own_head in [false, true] {
        let model = T5::new(&shape, own_head, &[], 7, &burn::tensor::Device::flex());
        let parameters: std::collections::HashMap<_, _> =
            model.parameters().into_iter().map(|(name, _, values)| (name, values)).collect();
        let mut floats = |name: &str, _: &[usize]| Ok(parameters[name].clone());
        let whole = Generator::new(&shape, own_head, LIMITS, WeightKind::F32, &mut floats).unwrap();
        let wanted = whole.logits(&input, &output).unwrap().concat();
        let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|value| value * value).sum::<f32>().sqrt();
        let errors = [GgmlDType::F32, GgmlDType::Q8_0, GgmlDType::Q4_0].map(|blocks| {
            let model = Engine::quantised(&shape, own_head, LIMITS.input + 1, blocks, &mut floats).unwrap();
            let quantised = Generator { model, scale: whole.scale, threads: Threads::new().unwrap(), ..whole };
            let found = quantised.logits(&input, &output).unwrap().concat();
            norm(&mut found.iter().zip(&wanted).map(|(a, b)| a - b)) / norm(&mut wanted.iter().copied())
        });
        assert!(errors[0] <= 1e-5, "{errors:?}");
        assert!((1e-5..0.05).contains(&errors[1]) && (errors[1]..0.5).contains(&errors[2]), "{errors:?}");
    }
}

#[test]
fn greedy_and_beam_search_write_what_transformers_write() {
    for name in ["gated", "untied"] {
        let expected = Reference::read(&directory(name).join("expected.safetensors"));
        for (search, beams) in [("greedy", 1), ("beam", 4)] {
            let found = generator(name, Limits { beams, ..LIMITS }).generate(&expected.ints("input.0")).unwrap();
            assert_eq!((found.tokens, found.finished), (expected.ints(search), false), "{name} {search}");
        }
    }
}

/// The model that `train` fits and the one that answers are the same.
#[test]
fn the_trainable_model_has_the_same_logits() {
    let device = burn::tensor::Device::flex();
    let files = ModelFiles::directory(&directory("gated"));
    let (path, bytes) = files.read("config.json").unwrap();
    let config = T5Config::parse(&path, &bytes).unwrap();
    let model = T5::read(&config, &files.weights().unwrap(), &device).unwrap();
    let pair = Pair { input: vec![5, 9, 33, 1], target: vec![7, 8, 1] };
    let found = model.logits(&Batch::new(&[&pair], &config, &device), &mut Dropout::none()).into_data();
    let expected = generator("gated", LIMITS).logits(&pair.input, &[0, 7, 8]).unwrap().concat();
    for (found, expected) in found.iter::<f32>().zip(expected) {
        assert!((found - expected).abs() <= 1e-4, "{found}, expected {expected}");
    }
}

#[test]
fn limits_out_of_range_are_refused() {
    let message = |limits: Limits| limits.check().unwrap_err().to_string();
    assert_eq!(message(Limits { beams: 0, ..LIMITS }), "segmenter.beams = 0: expected a number from 1 to 32");
    assert!(message(Limits { input: 1, ..LIMITS }).starts_with("segmenter.max_input_tokens = 1"));
    assert!(message(Limits { output: 0, ..LIMITS }).starts_with("segmenter.max_output_tokens = 0"));
}

/// A copy of a reference model with one file changed.
fn changed(file: &str, change: impl Fn(Vec<u8>) -> Vec<u8>) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let bytes = std::fs::read(directory("gated").join(name)).unwrap();
        let bytes = if name == file { change(bytes) } else { bytes };
        std::fs::write(copy.path().join(name), bytes).unwrap();
    }
    copy
}

fn refused(file: &str, change: impl Fn(Vec<u8>) -> Vec<u8>) -> String {
    let copy = changed(file, change);
    let error =
        T5Segmenter::open(&ModelFiles::directory(copy.path()), LIMITS, WeightKind::F32).err().unwrap().to_string();
    error.replace(&format!("{}/", copy.path().display()), "")
}

fn replaced(from: &'static str, to: &'static str) -> impl Fn(Vec<u8>) -> Vec<u8> {
    move |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1).into_bytes()
    }
}

#[test]
fn files_that_do_not_fit_are_named() {
    let vocabulary = refused("config.json", replaced("\"vocab_size\": 72", "\"vocab_size\": 80"));
    assert_eq!(
        vocabulary,
        "model.safetensors: `shared.weight` has shape [72, 16]; expected [80, 16] by config.json; the files are of different models"
    );
    let few = refused("config.json", replaced("\"vocab_size\": 72", "\"vocab_size\": 40"));
    assert!(
        few.starts_with("tokenizer.json: has token numbers up to ") && few.contains("vocab_size in config.json is 40")
    );
    let layers = refused("config.json", replaced("\"num_decoder_layers\": 2", "\"num_decoder_layers\": 3"));
    assert!(
        layers.starts_with("model.safetensors: there is no tensor `decoder.block.2.layer.0.SelfAttention.q.weight`"),
        "{layers}"
    );
    let activation = refused("config.json", replaced("\"gated-gelu\"", "\"gated-swish\""));
    assert!(activation.contains("feed_forward_proj is \"gated-swish\"; expected \"relu\" or \"gated-gelu\""));
    let end = refused("config.json", replaced("\"eos_token_id\": 1", "\"eos_token_id\": 9"));
    assert!(end.contains("the number of its end token </s> is 1, but eos_token_id in config.json is 9"), "{end}");
    let cut = refused("model.safetensors", |bytes| bytes[..bytes.len() / 2].to_vec());
    assert!(cut.contains("it ends within its numbers; get the file again"), "{cut}");
    assert!(refused("model.safetensors", |_| vec![1, 2]).contains("it ends within its header"));
    let not_finite = refused("model.safetensors", |mut bytes| {
        let at = bytes.len() - 4;
        bytes[at..].copy_from_slice(&f32::NAN.to_le_bytes());
        bytes
    });
    assert!(not_finite.contains("holds a number that is not finite, at position"), "{not_finite}");
    assert!(refused("tokenizer.json", |_| b"{}".to_vec()).starts_with("tokenizer.json: is no tokenizer"));
}

#[test]
fn a_missing_file_is_named_with_what_there_should_be() {
    let copy = changed("", |bytes| bytes);
    std::fs::rename(copy.path().join("model.safetensors"), copy.path().join("pytorch_model.bin")).unwrap();
    let error =
        T5Segmenter::open(&ModelFiles::directory(copy.path()), LIMITS, WeightKind::F32).err().unwrap().to_string();
    assert!(
        error.contains("there is no model.safetensors; a T5 has config.json") && error.contains("pytorch_model.bin")
    );
}

#[test]
fn weights_in_several_files_are_the_same_model() {
    let whole = T5Segmenter::open(&ModelFiles::directory(&directory("gated")), LIMITS, WeightKind::F32).unwrap();
    let copy = changed("", |bytes| bytes);
    let files = ModelFiles::directory(copy.path());
    let (path, bytes) = files.read("config.json").unwrap();
    let config = T5Config::parse(&path, &bytes).unwrap();
    let weights = files.weights().unwrap();
    let mut map = serde_json::Map::new();
    let mut parts: [Vec<_>; 2] = Default::default();
    for (number, (name, shape)) in config.parameters(false).into_iter().enumerate() {
        map.insert(name.clone(), format!("model-{}.safetensors", number % 2).into());
        let values = weights.floats(&name, &shape).unwrap();
        parts[number % 2].push((name, shape, values));
    }
    std::fs::remove_file(copy.path().join("model.safetensors")).unwrap();
    for (number, part) in parts.iter().enumerate() {
        let path = copy.path().join(format!("model-{number}.safetensors"));
        std::fs::write(&path, crate::serialize(part, false, &path).unwrap()).unwrap();
    }
    let index = copy.path().join("model.safetensors.index.json");
    std::fs::write(&index, serde_json::json!({ "weight_map": map }).to_string()).unwrap();
    let sharded = T5Segmenter::open(&files, LIMITS, WeightKind::F32).unwrap();
    let question = "what was the revenue of 2019 and cost in 2018?";
    assert_eq!(sharded.segments(question).unwrap(), whole.segments(question).unwrap());
    std::fs::remove_file(copy.path().join("model-1.safetensors")).unwrap();
    let error = T5Segmenter::open(&files, LIMITS, WeightKind::F32).err().unwrap().to_string();
    assert!(error.contains("names the file model-1.safetensors, which is not there"), "{error}");
}

#[test]
fn any_question_gets_segments_and_ends() {
    // This model never ends by itself: the limit does it.
    let limits = Limits { input: 200, output: 12, beams: 1 };
    let segmenter = T5Segmenter::open(&ModelFiles::directory(&directory("untied")), limits, WeightKind::F32).unwrap();
    let long = "what was the revenue of 2019 ".repeat(1000);
    for question in ["what was the revenue?", "2019年の収益はいくらですか", long.as_str(), "\u{0}\u{202e}🦀"]
    {
        let segments = segmenter.segments(question).unwrap();
        assert!(!segments.is_empty() && segments.iter().all(|segment| !segment.trim().is_empty()), "{question:?}");
        assert_eq!(segments, segmenter.segments(question).unwrap());
    }
    assert!(segmenter.segments("  ").unwrap().is_empty());
    let questions = ["what was the cost?", "and income of 2018?", "what was the cost?"];
    let mut done = 0;
    let all = segmenter.segments_of_all(&questions, &mut |now| done = now).unwrap();
    let alone: Vec<_> = questions.iter().map(|question| segmenter.segments(question).unwrap()).collect();
    assert_eq!((all, done), (alone, 3));
}

#[test]
fn the_identity_covers_weights_tokenizer_prompt_and_search() {
    let identity = |directory: &Path, limits| {
        T5Segmenter::open(&ModelFiles::directory(directory), limits, WeightKind::F32).unwrap().identity().to_owned()
    };
    let base = identity(&directory("gated"), LIMITS);
    assert_eq!(base, identity(changed("", |bytes| bytes).path(), LIMITS));
    assert_ne!(base, identity(&directory("gated"), Limits { beams: 2, ..LIMITS }));
    let tokenizer = changed("tokenizer.json", |mut bytes| {
        bytes.push(b'\n');
        bytes
    });
    assert_ne!(base, identity(tokenizer.path(), LIMITS));
    let prompt = changed("", |bytes| bytes);
    let short = Prompt { prefix: "split: ".into(), ..Prompt::default() };
    std::fs::write(prompt.path().join("segmenter.json"), serde_json::to_string(&short).unwrap()).unwrap();
    assert_ne!(base, identity(prompt.path(), LIMITS));
    std::fs::write(prompt.path().join("segmenter.json"), "{\"separator\": \"a b\"}").unwrap();
    let error =
        T5Segmenter::open(&ModelFiles::directory(prompt.path()), LIMITS, WeightKind::F32).err().unwrap().to_string();
    assert!(error.contains("separator is \"a b\"; expected a word"), "{error}");
}

#[test]
fn a_prompt_longer_than_the_limit_is_refused() {
    let files = ModelFiles::directory(&directory("gated"));
    let error = T5Segmenter::open(&files, Limits { input: 10, ..LIMITS }, WeightKind::F32).err().unwrap().to_string();
    assert!(error.starts_with("segmenter.max_input_tokens = 10: expected more than the "), "{error}");
}

#[test]
fn a_tokenizer_keeps_the_end_token_when_it_cuts() {
    let files = ModelFiles::directory(&directory("gated"));
    let (path, bytes) = files.read("config.json").unwrap();
    let config = T5Config::parse(&path, &bytes).unwrap();
    let (path, bytes) = files.read("tokenizer.json").unwrap();
    let tokenizer = T5Tokenizer::parse(&path, &bytes, &config).unwrap();
    let (tokens, length) = tokenizer.encode("what was the revenue of 2019 ?", 4).unwrap();
    assert_eq!((tokens.len(), tokens.last(), length > 4), (4, Some(&1), true));
}

/// The reference model's tokenizer with three markers.
fn with_markers(bytes: Vec<u8>) -> Vec<u8> {
    let mut tokenizer: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    for number in 0..3 {
        let content = format!("<extra_id_{number}>");
        let vocabulary = tokenizer["model"]["vocab"].as_array_mut().unwrap();
        let id = vocabulary.len();
        vocabulary.push(serde_json::json!([content, 0.0]));
        let mut token = tokenizer["added_tokens"][0].clone();
        (token["id"], token["content"]) = (id.into(), content.into());
        tokenizer["added_tokens"].as_array_mut().unwrap().push(token);
    }
    serde_json::to_vec(&tokenizer).unwrap()
}

#[test]
fn with_pointers_segments_hold_words_of_the_question() {
    let of = |copy: &tempfile::TempDir, pointers: bool, proposals: bool| {
        let prompt = Prompt { prefix: String::new(), pointers, proposals, ..Prompt::default() };
        std::fs::write(copy.path().join("segmenter.json"), serde_json::to_string(&prompt).unwrap()).unwrap();
        T5Segmenter::open(&ModelFiles::directory(copy.path()), LIMITS, WeightKind::F32)
    };
    let pointers = |copy: &tempfile::TempDir| of(copy, true, false);
    let segmenter = pointers(&changed("tokenizer.json", with_markers)).unwrap();
    // The fourth word has no marker.
    let segments = segmenter.segments("Total (Widget) sales, everywhere ?").unwrap();
    assert!(!segments.is_empty());
    for word in segments.iter().flat_map(|segment| segment.split_whitespace()) {
        assert!(["Total", "Widget", "sales"].contains(&word), "{segments:?}");
    }
    let error = pointers(&changed("", |bytes| bytes)).err().unwrap().to_string();
    assert!(error.contains("tokenizer.json: has no token <extra_id_0>, which segmenter.json (pointers)"), "{error}");
    // The last eight are for what the rules propose, which is written beside words that are pointed at.
    let error = of(&changed("tokenizer.json", with_markers), true, true).err().unwrap().to_string();
    assert!(error.contains("no token <extra_id_8>, which segmenter.json (pointers and proposals)"), "{error}");
    let error = of(&changed("", |bytes| bytes), false, true).err().unwrap().to_string();
    assert!(error.contains("segmenter.json: has proposals without pointers"), "{error}");
}

#[test]
fn what_the_rules_propose_is_taken_where_it_is_likelier() {
    let (path, bytes) = ModelFiles::directory(&directory("gated")).read("config.json").unwrap();
    let shape = T5Config { vocab_size: 60, ..T5Config::parse(&path, &bytes).unwrap() };
    let (markers, proposals): (Vec<u32>, Vec<u32>) = ((30..50).collect(), (50..58).collect());
    let tokens = Tokens {
        prefix: vec![],
        markers: &markers,
        proposals: &proposals,
        separator: vec![9],
        end: shape.eos,
        limit: LIMITS.input,
    };
    let encoded = |word: &str| Ok::<_, std::convert::Infallible>(vec![10 + word.len() as u32]);
    let (pointing, _) = Pointing::new("change in revenue from 2015 to 2016", tokens, encoded).unwrap();
    let proposal = pointing.proposal().unwrap().to_vec();
    assert_eq!(proposal, [32, 34, 9, 32, 36]);
    let mut taken = 0;
    for seed in 0..20 {
        let model = T5::new(&shape, true, &[], seed, &burn::tensor::Device::flex());
        let mut parameters: std::collections::HashMap<_, _> =
            model.parameters().into_iter().map(|(name, _, values)| (name, values)).collect();
        let mut floats = |name: &str, _: &[usize]| Ok(parameters.remove(name).unwrap());
        let generator = Generator::new(&shape, true, LIMITS, WeightKind::F32, &mut floats).unwrap();
        let read = generator.read(pointing.input()).unwrap();
        let greedy = generator.greedy(read.clone(), Some(&pointing)).unwrap();
        let likely = |tokens: &[u32]| generator.mean_log_probability(read.clone(), &pointing, tokens).unwrap();
        let proposed = !greedy.finished || likely(&proposal) > likely(&greedy.tokens);
        let written = generator.generate_of(pointing.input(), Some(&pointing)).unwrap();
        assert_eq!(written.tokens, if proposed { proposal.clone() } else { greedy.tokens });
        taken += usize::from(proposed);
    }
    assert!((1..20).contains(&taken), "{taken}");
}
