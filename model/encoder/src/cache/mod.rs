//! Vectors kept by content: a text is encoded once for each encoder.
//!
//! An LMDB environment: a memory-mapped tree whose readers never wait, whose writers take turns
//! across threads and processes, and whose commits are whole or not at all. Key: SHA-256 of the
//! encoder's identity and the text. Value: the vector, little-endian f32.

mod store;

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use tabsegnet_store::{Digest, create_dir};

use crate::{Encoder, EncoderError};
use store::{Key, Store, failure};

/// Largest size of a cache: 64 GiB of address space, of which only what is filled takes memory or
/// disk. Enough for some 20 million vectors of 384 numbers.
const MAP_SIZE: usize = if usize::BITS >= 64 { 1 << 36 } else { 1 << 30 };
/// Texts between two commits: what an interrupted run loses at most.
const CHUNK: usize = 2048;

/// Vectors by content in a directory.
///
/// Several threads and processes may use one directory at a time, and one process may open it
/// several times. It must lie on a local file system: LMDB's locks do not work over a network.
/// Delete the directory to empty the cache, when no program uses it.
#[derive(Clone)]
pub struct EmbeddingCache {
    store: Arc<Store>,
}

/// What this process has open: LMDB must not map one directory twice in a process.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Store>>>> = LazyLock::new(Mutex::default);

impl EmbeddingCache {
    /// Opens the cache in `dir`, which is created where it is not there.
    ///
    /// # Errors
    ///
    /// A directory that cannot be created or written, files in it that are not LMDB's.
    pub fn open(dir: &Path) -> Result<Self, EncoderError> {
        Self::open_sized(dir, MAP_SIZE)
    }

    /// [`EmbeddingCache::open`] with a largest size of `bytes`, a multiple of the page size; the
    /// first one to open a directory in a process sets it.
    ///
    /// # Errors
    ///
    /// As [`EmbeddingCache::open`].
    pub fn open_sized(dir: &Path, bytes: usize) -> Result<Self, EncoderError> {
        create_dir(dir)?;
        let path = dir.canonicalize().map_err(|error| failure(dir, "open it", error.into()))?;
        let mut registry = OPEN.lock().unwrap_or_else(|lock| lock.into_inner());
        if let Some(store) = registry.get(&path).and_then(Weak::upgrade) {
            return Ok(Self { store });
        }
        let store = Arc::new(Store::new(path.clone(), bytes)?);
        registry.insert(path, Arc::downgrade(&store));
        Ok(Self { store })
    }

    /// The cache's directory.
    pub fn dir(&self) -> &Path {
        &self.store.dir
    }

    /// The vectors of `texts`, row-major `[texts, encoder.dim()]`: those that are kept from the
    /// cache, the others from `encoder`, each text once. New vectors are kept as they come, so that
    /// a run that is interrupted has them the next time.
    ///
    /// `progress` is called with the number of texts that are done so far: it never falls and ends
    /// at `texts.len()`.
    ///
    /// # Errors
    ///
    /// What `encoder` returns; a kept value of another length than the encoder's vectors, which
    /// damage alone can cause; a full disk or cache.
    pub fn embed(
        &self,
        encoder: &dyn Encoder,
        texts: &[&str],
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, EncoderError> {
        let dim = encoder.dim();
        let identity = Digest::new().part(encoder.identity());
        let mut vectors = vec![0.0; texts.len() * dim];
        let mut missing = Missing::default();
        let mut done = 0;
        {
            let txn = self.store.read()?;
            let rows = vectors.chunks_exact_mut(dim.max(1));
            for (row, (text, vector)) in texts.iter().zip(rows).enumerate() {
                let key = identity.clone().part(text).bytes();
                if self.store.get(&txn, &key, vector)? {
                    done += 1;
                } else {
                    missing.add(key, text, row);
                }
            }
        }
        progress(done);
        for chunk in missing.texts.chunks(CHUNK) {
            let new: Vec<&str> = chunk.iter().map(|missing| missing.text).collect();
            let mut encoded = encoder.encode(&new, &mut |n| progress(done + n))?;
            self.store.put(chunk.iter().map(|missing| &missing.key), &mut encoded, dim)?;
            for (missing, vector) in chunk.iter().zip(encoded.chunks_exact(dim.max(1))) {
                for row in &missing.rows {
                    let start = row * dim;
                    if let Some(place) = vectors.get_mut(start..start + dim) {
                        place.copy_from_slice(vector);
                    }
                }
                done += missing.rows.len();
            }
            progress(done);
        }
        Ok(vectors)
    }

    /// Number of vectors that are kept, of all encoders.
    ///
    /// # Errors
    ///
    /// A cache that cannot be read.
    pub fn len(&self) -> Result<u64, EncoderError> {
        let txn = self.store.read()?;
        self.store.vectors.len(&txn).map_err(|error| failure(&self.store.dir, "read it", error))
    }

    /// Whether no vector is kept.
    ///
    /// # Errors
    ///
    /// A cache that cannot be read.
    pub fn is_empty(&self) -> Result<bool, EncoderError> {
        Ok(self.len()? == 0)
    }
}

/// Text made of text, such as the segments of a question, is kept in the same place.
impl EmbeddingCache {
    /// What was kept for each of `texts` by a maker of that identity; none where nothing was.
    ///
    /// # Errors
    ///
    /// A cache that cannot be read; a kept value that is no text, which damage alone can cause.
    pub fn generated_texts(&self, identity: &str, texts: &[&str]) -> Result<Vec<Option<String>>, EncoderError> {
        let txn = self.store.read()?;
        texts.iter().map(|text| self.store.get_text(&txn, &generated_key(identity, text))).collect()
    }

    /// Keeps what was made of each text. Where another process was faster its stand.
    ///
    /// # Errors
    ///
    /// A full disk or cache.
    pub fn keep_generated_texts(&self, identity: &str, made: &[(&str, String)]) -> Result<(), EncoderError> {
        let keyed = made.iter().map(|(text, made)| (generated_key(identity, text), made.as_str()));
        self.store.put_texts(keyed)
    }
}

/// No vector has such a key: an encoder's identity is a digest.
fn generated_key(identity: &str, text: &str) -> Key {
    Digest::new().part("text made of text").part(identity).part(text).bytes()
}

/// Texts without a kept vector, each once, in order of their first row.
#[derive(Default)]
struct Missing<'a> {
    texts: Vec<MissingText<'a>>,
    by_key: HashMap<Key, usize>,
}

struct MissingText<'a> {
    key: Key,
    text: &'a str,
    rows: Vec<usize>,
}

impl<'a> Missing<'a> {
    fn add(&mut self, key: Key, text: &'a str, row: usize) {
        let at = *self.by_key.entry(key).or_insert(self.texts.len());
        match self.texts.get_mut(at) {
            Some(known) => known.rows.push(row),
            None => self.texts.push(MissingText { key, text, rows: vec![row] }),
        }
    }
}

/// Where the cache lies unless said: `$TABSEGNET_CACHE`, else `$XDG_CACHE_HOME/tabsegnet`, else
/// `$HOME/.cache/tabsegnet`. An empty variable counts as not set.
///
/// # Errors
///
/// [`EncoderError::Cache`] where none of the three is set.
pub fn default_cache_dir() -> Result<PathBuf, EncoderError> {
    cache_dir(|name| env::var_os(name))
}

fn cache_dir(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, EncoderError> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("TABSEGNET_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|dir| dir.join("tabsegnet")))
        .or_else(|| set("HOME").map(|dir| dir.join(".cache").join("tabsegnet")))
        .ok_or_else(|| EncoderError::Cache {
            dir: PathBuf::from("$HOME/.cache/tabsegnet"),
            action: "tell where it lies",
            reason: "none of TABSEGNET_CACHE, XDG_CACHE_HOME and HOME is set; set TABSEGNET_CACHE".to_owned(),
        })
}
