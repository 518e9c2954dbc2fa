//! The embedding cache: what it asks the encoder for, and what it keeps.

mod common;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tabsegnet_encoder::{EmbeddingCache, Encoder, EncoderError};
use tabsegnet_store::{Space, Store};

/// An encoder of four numbers that counts what it is given and may fail.
struct Counting {
    identity: String,
    query: Mutex<Vec<String>>,
    calls: AtomicUsize,
    fail_at_call: usize,
}

impl Counting {
    fn new(identity: &str) -> Self {
        Self {
            identity: identity.to_owned(),
            query: Mutex::default(),
            calls: AtomicUsize::new(0),
            fail_at_call: usize::MAX,
        }
    }

    fn query(&self) -> Vec<String> {
        std::mem::take(&mut *self.query.lock().unwrap())
    }
}

fn vector(text: &str) -> [f32; 4] {
    let sum = text.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    [text.len() as f32, (sum % 1000) as f32 / 7.0, -0.0, f32::MIN_POSITIVE]
}

fn vectors(texts: &[&str]) -> Vec<f32> {
    texts.iter().flat_map(|text| vector(text)).collect()
}

impl Encoder for Counting {
    fn dim(&self) -> usize {
        4
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn encode(&self, texts: &[&str], progress: &mut dyn FnMut(usize)) -> Result<Vec<f32>, EncoderError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.fail_at_call {
            return Err(EncoderError::NonFinite { text: "stop".to_owned(), component: 0, value: f32::NAN });
        }
        self.query.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        progress(texts.len());
        Ok(vectors(texts))
    }
}

fn embed(cache: &EmbeddingCache, encoder: &Counting, texts: &[&str]) -> Vec<f32> {
    let mut seen = Vec::new();
    let vectors = cache.embed(encoder, texts, &mut |done| seen.push(done)).unwrap_or_else(|error| panic!("{error}"));
    assert!(seen.is_sorted() && seen.last() == Some(&texts.len()), "{seen:?}");
    vectors
}

fn kept(dir: &Path) -> u64 {
    Store::open(dir).unwrap().read(Space::Vectors).unwrap().count().unwrap()
}

#[test]
fn the_encoder_is_asked_for_each_missing_text_once() {
    let dir = tempfile::tempdir().unwrap();
    let cache = EmbeddingCache::open(dir.path()).unwrap();
    let encoder = Counting::new("a");

    let texts = ["net", "tax", "net", "", "tax", "net"];
    assert_eq!(embed(&cache, &encoder, &texts), vectors(&texts));
    assert_eq!(encoder.query(), ["net", "tax", ""]);
    assert_eq!(kept(dir.path()), 3);

    let texts = ["", "rate", "net"];
    assert_eq!(embed(&cache, &encoder, &texts), vectors(&texts));
    assert_eq!(encoder.query(), ["rate"]);
    assert!(embed(&cache, &encoder, &[]).is_empty());

    let other = Counting::new("b");
    embed(&cache, &other, &["net"]);
    assert_eq!(other.query(), ["net"]);
}

#[test]
fn vectors_are_kept_bit_for_bit_when_it_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let encoder = Counting::new("a");
    for query in [1, 0] {
        let cache = EmbeddingCache::open(dir.path()).unwrap();
        let vectors = embed(&cache, &encoder, &["net"]);
        assert!(vectors.iter().zip(vector("net")).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(encoder.query().len(), query);
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_had() {
    let dir = tempfile::tempdir().unwrap();
    let cache = EmbeddingCache::open(dir.path()).unwrap();
    let texts: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
    let texts = common::strs(&texts);
    let failing = Counting { fail_at_call: 2, ..Counting::new("a") };
    cache.embed(&failing, &texts, &mut |_| ()).unwrap_err();
    let encoded = failing.query().len();
    assert!(encoded > 0 && encoded < texts.len());
    assert_eq!(kept(dir.path()), encoded as u64);

    let encoder = Counting::new("a");
    assert_eq!(embed(&cache, &encoder, &texts), vectors(&texts));
    assert_eq!(encoder.query().len(), texts.len() - encoded);
}

/// An encoder of the same identity and another width: what damage looks like.
struct Wider;

impl Encoder for Wider {
    fn dim(&self) -> usize {
        5
    }

    fn identity(&self) -> &str {
        "a"
    }

    fn encode(&self, texts: &[&str], _progress: &mut dyn FnMut(usize)) -> Result<Vec<f32>, EncoderError> {
        Ok(vec![0.0; texts.len() * 5])
    }
}

#[test]
fn damage_is_an_error_that_names_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let cache = EmbeddingCache::open(dir.path()).unwrap();
    let place = dir.path().join("store").canonicalize().unwrap().display().to_string();
    embed(&cache, &Counting::new("a"), &["net"]);
    let error = cache.embed(&Wider, &["net"], &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains(&place) && error.contains("16 bytes; expected 20"), "{error}");
    assert!(error.contains("delete the directory"), "{error}");
}

/// An encoder in whose time another process keeps a vector of the same text.
struct Slow<'a>(&'a EmbeddingCache);

impl Encoder for Slow<'_> {
    fn dim(&self) -> usize {
        4
    }

    fn identity(&self) -> &str {
        "a"
    }

    fn encode(&self, texts: &[&str], _progress: &mut dyn FnMut(usize)) -> Result<Vec<f32>, EncoderError> {
        embed(self.0, &Counting::new("a"), &["tax"]);
        Ok(vec![1.0; texts.len() * 4])
    }
}

#[test]
fn the_first_vector_that_was_kept_is_everyones() {
    let dir = tempfile::tempdir().unwrap();
    let cache = EmbeddingCache::open(dir.path()).unwrap();
    let found = cache.embed(&Slow(&cache), &["net", "tax"], &mut |_| ()).unwrap();
    assert_eq!(found, [[1.0; 4], vector("tax")].concat());
}
