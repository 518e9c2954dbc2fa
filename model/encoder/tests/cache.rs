//! The embedding cache: what it asks the encoder for, what it keeps, and two processes on one
//! directory.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::largest_difference;
use tabsegnet_encoder::{EmbeddingCache, Encoder, EncoderError};

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

#[test]
fn the_encoder_is_asked_for_each_missing_text_once() {
    let dir = tempfile::tempdir().unwrap();
    let cache = EmbeddingCache::open(dir.path()).unwrap();
    let encoder = Counting::new("a");
    assert!(cache.is_empty().unwrap());

    let texts = ["net", "tax", "net", "", "tax", "net"];
    assert_eq!(embed(&cache, &encoder, &texts), vectors(&texts));
    assert_eq!(encoder.query(), ["net", "tax", ""]);
    assert_eq!(cache.len().unwrap(), 3);

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
fn one_process_may_open_it_twice_and_from_many_threads() {
    let dir = tempfile::tempdir().unwrap();
    let first = EmbeddingCache::open(dir.path()).unwrap();
    let second = EmbeddingCache::open(&dir.path().join(".")).unwrap();
    let encoder = Counting::new("a");
    embed(&first, &encoder, &["net"]);
    embed(&second, &encoder, &["net"]);
    assert_eq!(encoder.query().len(), 1);
    drop((first, second));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (encoder, dir) = (&encoder, dir.path());
            scope.spawn(move || {
                for round in 0..20 {
                    let cache = EmbeddingCache::open(dir).unwrap();
                    let text = format!("{thread} {round}");
                    assert_eq!(embed(&cache, encoder, &[&text]), vector(&text));
                }
            });
        }
    });
}

#[test]
fn an_interrupted_run_keeps_what_it_had() {
    let dir = tempfile::tempdir().unwrap();
    let cache = EmbeddingCache::open(dir.path()).unwrap();
    let texts: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
    let texts = common::strs(&texts);
    let failing = Counting { fail_at_call: 2, ..Counting::new("a") };
    cache.embed(&failing, &texts, &mut |_| ()).unwrap_err();
    let kept = failing.query().len();
    assert!(kept > 0 && kept < texts.len());
    assert_eq!(cache.len().unwrap(), kept as u64);

    let encoder = Counting::new("a");
    assert_eq!(embed(&cache, &encoder, &texts), vectors(&texts));
    assert_eq!(encoder.query().len(), texts.len() - kept);
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
    let place = dir.path().canonicalize().unwrap().display().to_string();
    let cache = EmbeddingCache::open(dir.path()).unwrap();
    embed(&cache, &Counting::new("a"), &["net"]);
    let error = cache.embed(&Wider, &["net"], &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains(&place) && error.contains("16 bytes; expected 20"), "{error}");
    assert!(error.contains("delete the directory"), "{error}");
    drop(cache);

    // A page that is not there would end the process when it is read.
    let data = dir.path().join("data.mdb");
    let whole = std::fs::read(&data).unwrap();
    std::fs::write(&data, &whole[..whole.len() - 4096]).unwrap();
    let error = EmbeddingCache::open(dir.path()).err().unwrap().to_string();
    assert!(error.contains(&place) && error.contains("has been cut off"), "{error}");

    std::fs::write(&data, vec![b'x'; 100_000]).unwrap();
    let error = EmbeddingCache::open(dir.path()).err().unwrap().to_string();
    assert!(error.contains(&place) && error.contains("delete the directory"), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_and_a_full_cache_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let error = EmbeddingCache::open(&dir.path().join("file/cache")).err().unwrap().to_string();
    assert!(error.contains("file/cache: could not create the directory"), "{error}");

    let small = EmbeddingCache::open_sized(&dir.path().join("small"), 1 << 16).unwrap();
    let texts: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
    let error = small.embed(&Counting::new("a"), &common::strs(&texts), &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains("small") && error.contains("largest size"), "{error}");
    // What does not fit does no harm to what is kept.
    assert_eq!(embed(&small, &Counting::new("a"), &["net"]), vector("net"));
}

/// The second process: encodes and keeps on its own.
#[test]
fn child() {
    let Some(dir) = std::env::var_os("TABSEGNET_TEST_CACHE") else {
        return;
    };
    let cache = EmbeddingCache::open(Path::new(&dir)).unwrap();
    let encoder = Counting::new("a");
    for round in 0..30 {
        let texts: Vec<String> = (0..200).map(|n| (round * 100 + n).to_string()).collect();
        let texts = common::strs(&texts);
        assert!(largest_difference(&embed(&cache, &encoder, &texts), &vectors(&texts)) == 0.0);
    }
}

#[test]
fn two_processes_may_write_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let spawn = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--test-threads=1"])
            .env("TABSEGNET_TEST_CACHE", dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children = [spawn(), spawn(), spawn()];
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let cache = EmbeddingCache::open(dir.path()).unwrap();
    assert_eq!(cache.len().unwrap(), 3_100);
    let encoder = Counting::new("a");
    embed(&cache, &encoder, &["0", "1234", "3099"]);
    assert!(encoder.query().is_empty());
}
