//! The `bert` encoder against sentence-transformers and against its own laws, on small models with
//! random weights (`reference/make_reference.py`).

mod common;

use common::*;
use proptest::prelude::*;
use tabsegnet_encoder::{EncoderConfig, Precision, load_in_tensors};

#[test]
fn vectors_equal_those_of_sentence_transformers() {
    let texts = texts();
    for model in MODELS {
        let encoder = open(&bert(&reference(model)));
        let expected = tensor(&reference(model).join("expected.safetensors"), "vectors");
        let vectors = encode(encoder.as_ref(), &strs(&texts));
        let difference = largest_difference(&vectors, &expected);
        assert!(difference < 1e-5, "{model}: {difference}");
    }
}

#[test]
fn tensors_give_the_same_vectors_under_the_same_identity() {
    let texts = texts();
    for model in MODELS {
        let native = bert(&reference(model));
        let expected = encode(open(&native).as_ref(), &strs(&texts));
        // Batches of all texts, of a few and of one.
        for batch_tokens in [1000, 2, 1] {
            let tensors = open_in_tensors(&EncoderConfig { batch_tokens, ..native.clone() });
            let mut seen = Vec::new();
            let vectors = tensors.encode(&strs(&texts), &mut |done| seen.push(done)).unwrap();
            let difference = largest_difference(&vectors, &expected);
            assert!(difference < 1e-5, "{model}: {difference}");
            assert_eq!(tensors.identity(), open(&native).identity());
            assert!(seen.is_sorted() && seen.last() == Some(&texts.len()), "{seen:?}");
            assert!(encode(tensors.as_ref(), &[]).is_empty());
        }
    }
}

#[test]
fn a_text_without_tokens_has_the_vector_0() {
    for model in MODELS {
        // Without the special tokens.
        let dir = copy(&reference(model));
        let path = dir.path().join("tokenizer.json");
        let mut tokenizer: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        tokenizer["post_processor"] = serde_json::Value::Null;
        std::fs::write(&path, tokenizer.to_string()).unwrap();
        let mut vectors = Vec::new();
        for open in [open, open_in_tensors] {
            let encoder = open(&bert(dir.path()));
            assert!(encode(encoder.as_ref(), &[""]).iter().all(|x| *x == 0.0), "{model}");
            vectors.push(encode(encoder.as_ref(), &["", "net income", "e"]));
        }
        assert!(largest_difference(&vectors[0], &vectors[1]) < 1e-5, "{model}");
    }
}

#[test]
fn int8_is_near_f32_and_has_its_own_identity() {
    let texts = texts();
    for model in MODELS {
        let f32 = open(&bert(&reference(model)));
        let int8 = open(&EncoderConfig { precision: Precision::Int8, ..bert(&reference(model)) });
        assert_ne!(f32.identity(), int8.identity());
        let (exact, near) = (encode(f32.as_ref(), &strs(&texts)), encode(int8.as_ref(), &strs(&texts)));
        for (a, b) in exact.chunks(f32.dim()).zip(near.chunks(f32.dim())) {
            let cosine = cosine(a, b);
            // 16 numbers wide, with random weights: errors do not average out as in a real model.
            assert!(cosine > 0.98, "{model}: {cosine}");
        }
    }
}

#[test]
fn int8_is_refused_where_it_is_not() {
    let int8 = |config| EncoderConfig { precision: Precision::Int8, ..config };
    let in_tensors = load_in_tensors(&int8(bert(&reference("bert"))));
    for error in [refused(&int8(EncoderConfig::default())), in_tensors.err().expect("an error").to_string()] {
        assert!(error.starts_with("encoder.precision = \"int8\": int8 is for encoder.kind"), "{error}");
    }
}

#[test]
fn a_model_under_a_heads_name_is_the_same_model() {
    let texts = texts();
    let dir = copy(&reference("roberta"));
    let path = dir.path().join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let renamed: Vec<_> = tensors.iter().map(|(name, view)| (format!("roberta.{name}"), view)).collect();
    std::fs::write(&path, safetensors::serialize(renamed, None).unwrap()).unwrap();
    let original = open(&bert(&reference("roberta")));
    let renamed = open(&bert(dir.path()));
    assert_eq!(encode(original.as_ref(), &strs(&texts)), encode(renamed.as_ref(), &strs(&texts)));
    assert_ne!(original.identity(), renamed.identity());
}

#[test]
fn without_modules_states_are_averaged_and_not_normalised() {
    let dir = copy(&reference("bert"));
    std::fs::remove_file(dir.path().join("modules.json")).unwrap();
    let plain = open(&bert(dir.path()));
    let whole = open(&bert(&reference("bert")));
    for text in ["net income", "total revenue of 2019"] {
        let (plain, whole) = (encode(plain.as_ref(), &[text]), encode(whole.as_ref(), &[text]));
        let length = plain.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() > 0.1, "{length}");
        let scaled: Vec<f32> = plain.iter().map(|x| x / length).collect();
        assert!(largest_difference(&scaled, &whole) < 1e-5);
    }
}

#[test]
fn newer_pooling_files_say_the_same_as_older_ones() {
    let dir = copy(&reference("bert"));
    let pooling = dir.path().join("1_Pooling/config.json");
    let older = open(&bert(&reference("bert")));
    for modes in [r#""mean""#, r#"["mean"]"#] {
        std::fs::write(&pooling, format!(r#"{{"embedding_dimension": 16, "pooling_mode": {modes}}}"#)).unwrap();
        let newer = open(&bert(dir.path()));
        assert_eq!(newer.identity(), older.identity());
    }
}

#[test]
fn a_text_counts_up_to_the_limit() {
    let encoder = open(&bert(&reference("bert")));
    // 24 tokens with [CLS] and [SEP].
    let words = vec!["tax"; 10_000];
    let long = words.join(" ");
    let first = words[..22].join(" ");
    let shorter = words[..21].join(" ");
    let [long, first, shorter] = [&long, &first, &shorter].map(|text| encode(encoder.as_ref(), &[text]));
    assert_eq!(long, first);
    assert_ne!(long, shorter);

    let mut config = bert(&reference("bert"));
    config.max_tokens = 5;
    let short = open(&config);
    assert_eq!(encode(short.as_ref(), &["net income tax rate"]), encode(short.as_ref(), &["net income tax"]));
    assert_ne!(short.identity(), encoder.identity());
    config.max_tokens = 2;
    let error = refused(&config);
    assert!(error.starts_with("encoder.max_tokens = 2: ") && error.contains("adds 2 special tokens"), "{error}");
}

#[test]
fn neither_threads_nor_company_change_a_bit() {
    let texts = texts();
    let many: Vec<&str> = strs(&texts).repeat(5);
    for (model, precision) in MODELS.into_iter().flat_map(|model| [(model, Precision::F32), (model, Precision::Int8)]) {
        let mut config = EncoderConfig { precision, ..bert(&reference(model)) };
        let encoder = open(&config);
        let one = with_threads(1, || encode(encoder.as_ref(), &many));
        for threads in [2, 7] {
            let several = with_threads(threads, || encode(encoder.as_ref(), &many));
            assert!(one.iter().zip(&several).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
        for batch_tokens in [1, 30, 100_000] {
            config.batch_tokens = batch_tokens;
            let other = open(&config);
            assert_eq!(other.identity(), encoder.identity());
            assert_eq!(one, encode(other.as_ref(), &many));
        }
    }
}

#[test]
fn progress_rises_to_the_number_of_texts() {
    let texts = texts();
    let encoder = open(&bert(&reference("bert")));
    let many: Vec<&str> = strs(&texts).repeat(3);
    let mut seen = Vec::new();
    encoder.encode(&many, &mut |done| seen.push(done)).unwrap();
    assert!(seen.is_sorted());
    assert_eq!(seen.last(), Some(&many.len()));
    assert!(encode(encoder.as_ref(), &[]).is_empty());
}

/// Texts of known and unknown words, of none, and of whatever characters.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["((net|income|revenue|tax|12|,|zzz|é) ?){0,40}", "\\PC{0,30}", Just(String::new()),]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_text_has_one_vector_in_any_company(
        texts in prop::collection::vec(any_text(), 1..12),
        doubled in any::<prop::sample::Index>(),
    ) {
        for model in MODELS {
            let encoder = open(&bert(&reference(model)));
            let dim = encoder.dim();
            let mut texts = strs(&texts);
            texts.push(texts[doubled.index(texts.len())]);
            let together = encode(encoder.as_ref(), &texts);
            prop_assert_eq!(together.len(), texts.len() * dim);
            prop_assert!(together.iter().all(|x| x.is_finite()));
            for (text, vector) in texts.iter().zip(together.chunks(dim)) {
                let alone = encode(encoder.as_ref(), &[text]);
                prop_assert_eq!(&alone, vector, "{:?}", text);
            }
            let last = &together[(texts.len() - 1) * dim..];
            let twin = doubled.index(texts.len() - 1);
            prop_assert_eq!(&together[twin * dim..(twin + 1) * dim], last);
        }
    }
}
