//! The `static` encoder: its formula, its file format and its laws.

mod common;

use std::path::Path;

use common::*;
use proptest::prelude::*;
use tabsegnet_encoder::{Encoder, EncoderConfig, EncoderKind, StaticEncoder, read_static, save_static};

const DIM: usize = 6;
const ROWS: usize = 69;

fn tokenizer() -> Vec<u8> {
    std::fs::read(reference("bert/tokenizer.json")).unwrap()
}

/// Numbers in [−1, 1) that look random: a table needs no distribution, only variety.
fn table() -> (Vec<f32>, Vec<f32>) {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let embedding = (0..ROWS * DIM).map(|_| next()).collect();
    let weight = (0..ROWS).map(|_| next() + 1.1).collect();
    (embedding, weight)
}

fn saved(quantise: bool) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (embedding, weight) = table();
    save_static(&dir.path().join("encoder"), &tokenizer(), &embedding, &weight, DIM, "# A test\n", quantise).unwrap();
    dir
}

fn load(dir: &tempfile::TempDir) -> StaticEncoder {
    StaticEncoder::load(&dir.path().join("encoder")).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(dir: &Path) -> String {
    StaticEncoder::load(dir).err().expect("an error").to_string()
}

#[test]
fn a_vector_is_the_normalised_weighted_mean_of_its_tokens() {
    let encoder = load(&saved(false));
    let (embedding, weight) = table();
    let text = "Net net total rate";
    let tokenizer = tokenizers::Tokenizer::from_bytes(tokenizer()).unwrap();
    let ids = tokenizer.encode(text, false).unwrap();
    let ids: Vec<usize> = ids.get_ids().iter().map(|id| *id as usize).collect();
    let mut expected = [0.0f64; DIM];
    for id in &ids {
        for (sum, x) in expected.iter_mut().zip(&embedding[id * DIM..]) {
            *sum += f64::from(weight[*id]) * f64::from(*x) / ids.len() as f64;
        }
    }
    let length = expected.iter().map(|x| x * x).sum::<f64>().sqrt();
    let expected: Vec<f32> = expected.iter().map(|x| (x / length) as f32).collect();
    assert!(largest_difference(&encode(&encoder, &[text]), &expected) < 1e-6);
}

#[test]
fn the_numbers_read_back_are_those_written_or_near_them() {
    let (embedding, weight) = table();
    for (quantise, most) in [(false, 0.0), (true, 1.0 / 254.0 + 1e-6)] {
        let dir = saved(quantise);
        let read = read_static(&dir.path().join("encoder")).unwrap();
        assert_eq!((read.tokenizer_json, read.dim, &read.weight), (tokenizer(), DIM, &weight));
        assert!(largest_difference(&read.embedding, &embedding) <= most);
    }
    let error = read_static(Path::new("nowhere")).unwrap_err().to_string();
    assert!(error.starts_with("nowhere: there is no such directory"), "{error}");
}

#[test]
fn bytes_are_close_to_floats_and_have_another_identity() {
    let (floats, bytes) = (load(&saved(false)), load(&saved(true)));
    let texts = texts();
    for text in strs(&texts) {
        let (a, b) = (encode(&floats, &[text]), encode(&bytes, &[text]));
        let cosine: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.9995, "{text:?}: {cosine}");
    }
    assert_ne!(floats.identity(), bytes.identity());
    assert_eq!(load(&saved(true)).identity(), bytes.identity());
}

#[test]
fn a_text_without_a_token_gives_the_first_axis() {
    let encoder = load(&saved(true));
    for text in ["", "  \t "] {
        assert_eq!(encode(&encoder, &[text]), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn a_text_counts_up_to_the_limit() {
    let dir = saved(true);
    let words = vec!["tax rate"; 5_000].join(" ");
    let encoder = load(&dir);
    let first: Vec<&str> = words.split(' ').take(128).collect();
    assert_eq!(encode(&encoder, &[&words]), encode(&encoder, &[&first.join(" ")]));

    let config = EncoderConfig {
        kind: EncoderKind::Static,
        model: dir.path().join("encoder").display().to_string(),
        max_tokens: 1,
        ..EncoderConfig::default()
    };
    let short = open(&config);
    assert_eq!(encode(short.as_ref(), &[&words]), encode(short.as_ref(), &["tax"]));
    assert_ne!(short.identity(), encoder.identity());
}

#[test]
fn what_is_written_replaces_what_was_there() {
    let dir = saved(true);
    let before = load(&dir).identity().to_owned();
    let (embedding, weight) = table();
    let path = dir.path().join("encoder");
    save_static(&path, &tokenizer(), &embedding, &weight, DIM, "# Another\n", false).unwrap();
    assert_ne!(load(&dir).identity(), before);
    assert_eq!(std::fs::read_to_string(path.join("README.md")).unwrap(), "# Another\n");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn nothing_is_written_of_a_table_that_does_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("encoder");
    let (mut embedding, weight) = table();
    let save = |embedding: &[f32], weight: &[f32], dim| {
        save_static(&path, &tokenizer(), embedding, weight, dim, "", true).unwrap_err().to_string()
    };
    assert!(save(&embedding, &weight, DIM + 1).contains("does not have 69 rows (one a weight) of 7"));
    let fewer = save(&embedding[..60 * DIM], &weight[..60], DIM);
    assert!(fewer.contains("tokenizer.json: token") && fewer.contains("has 60 rows"), "{fewer}");
    embedding[5] = f32::INFINITY;
    assert!(save(&embedding, &weight, DIM).contains("not finite"));
    assert!(!path.exists());
}

#[test]
fn files_that_are_gone_damaged_or_of_another_format_are_named() {
    let whole = saved(true);
    let damaged = |change: &dyn Fn(&Path)| {
        let dir = copy(whole.path());
        change(&dir.path().join("encoder"));
        refusal(&dir.path().join("encoder"))
    };
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let error = damaged(&|dir| std::fs::remove_file(dir.join(file)).unwrap());
        assert!(error.contains(&format!("there is no {file}; a static encoder has config.json")), "{error}");
    }
    let error = damaged(&|dir| std::fs::remove_dir_all(dir).unwrap());
    assert!(error.contains("there is no such directory"), "{error}");
    let error = damaged(&|dir| replace(&dir.join("config.json"), "\"version\": 1", "\"version\": 2"));
    assert!(error.contains("version 2") && error.contains("expected \"tabsegnet-static\", version 1"), "{error}");
    let error = damaged(&|dir| replace(&dir.join("config.json"), "\"dim\": 6", "\"dim\": 12"));
    assert!(error.contains("`embedding` has shape [69, 6]; expected [69, 12] by dim of config.json"), "{error}");
    let error = damaged(&|dir| {
        let path = dir.join("model.safetensors");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    });
    assert!(error.contains("not a whole safetensors file"), "{error}");
    let error = damaged(&|dir| {
        std::fs::copy(reference("bert/model.safetensors"), dir.join("model.safetensors")).unwrap();
    });
    assert!(error.contains("there is no tensor `embedding`"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_text_has_one_vector_of_length_one_in_any_company(texts in prop::collection::vec("(net|tax|12|é| |\\PC){0,12}", 1..20)) {
        let encoder = load(&saved(true));
        let texts = strs(&texts);
        let together = encode(&encoder, &texts);
        for (text, vector) in texts.iter().zip(together.chunks(DIM)) {
            prop_assert_eq!(&encode(&encoder, &[text])[..], vector);
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            prop_assert!((length - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn threads_do_not_change_a_bit_and_progress_ends_at_the_number_of_texts() {
    let encoder = load(&saved(true));
    let texts = texts();
    let many: Vec<&str> = strs(&texts).repeat(3_000);
    let one = with_threads(1, || encode(&encoder, &many));
    let several = with_threads(3, || encode(&encoder, &many));
    assert!(one.iter().zip(&several).all(|(a, b)| a.to_bits() == b.to_bits()));
    let mut seen = Vec::new();
    encoder.encode(&many, &mut |done| seen.push(done)).unwrap();
    assert!(seen.is_sorted() && seen.last() == Some(&many.len()));
}
