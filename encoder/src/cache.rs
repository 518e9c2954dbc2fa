//! Vectors kept by content: a text is encoded once for each encoder.
//!
//! An LMDB environment: a memory-mapped tree whose readers never wait, whose writers take turns
//! across threads and processes, and whose commits are whole or not at all. Key: SHA-256 of the
//! encoder's identity and the text. Value: the vector, little-endian f32.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::Duration;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, MdbError, RoTxn, WithoutTls};
use tabsegnet_files::{Digest, create_dir};

use crate::{Encoder, EncoderError};

/// Largest size of a cache: 64 GiB of address space, of which only what is filled takes memory or
/// disk. Enough for 40 million vectors of 384 numbers.
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
    open: Arc<Open>,
}

struct Open {
    env: Env<WithoutTls>,
    vectors: Database<'static, Bytes, Bytes>,
    dir: PathBuf,
}

/// What this process has open: LMDB must not map one directory twice in a process.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Open>>>> = LazyLock::new(Mutex::default);

type Key = [u8; 32];

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
        if let Some(open) = registry.get(&path).and_then(Weak::upgrade) {
            return Ok(Self { open });
        }
        let open = Arc::new(Open::new(path.clone(), bytes)?);
        registry.insert(path, Arc::downgrade(&open));
        Ok(Self { open })
    }

    /// The cache's directory.
    pub fn dir(&self) -> &Path {
        &self.open.dir
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
            let txn = self.open.read()?;
            let rows = vectors.chunks_exact_mut(dim.max(1));
            for (row, (text, vector)) in texts.iter().zip(rows).enumerate() {
                let key = identity.clone().part(text).bytes();
                if self.open.get(&txn, &key, vector)? {
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
            self.open.put(chunk, &mut encoded, dim)?;
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
        let txn = self.open.read()?;
        self.open.vectors.len(&txn).map_err(|error| failure(&self.open.dir, "read it", error))
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

impl Open {
    fn new(dir: PathBuf, bytes: usize) -> Result<Self, EncoderError> {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(bytes);
        let env = loop {
            // SAFETY: the map must not be changed by anything but LMDB. The directory is the
            // cache's own, opened with LMDB's locks on and none of its unsafe flags, and once a
            // process: heed itself refuses a second time.
            #[allow(unsafe_code)]
            let opened = unsafe { options.open(&dir) };
            match opened {
                // The last handle of this process is being dropped by another thread.
                Err(heed::Error::EnvAlreadyOpened) => {
                    let closing = heed::env_closing_event(&dir);
                    if closing.is_some_and(|event| !event.wait_timeout(Duration::from_secs(10))) {
                        return Err(failure(&dir, "open it", heed::Error::EnvAlreadyOpened));
                    }
                }
                other => break other.map_err(|error| failure(&dir, "open it", error))?,
            }
        };
        let create = || -> Result<_, heed::Error> {
            let txn = env.write_txn()?;
            let database = env.create_databases_and_commit(txn, |databases, txn| {
                databases.create_database::<Bytes, Bytes>(txn, None).map(CommitOrAbort::<_, ()>::Commit)
            })?;
            Ok(database.unwrap_commit())
        };
        let vectors = create().map_err(|error| failure(&dir, "write it", error))?;
        Ok(Self { env, vectors, dir })
    }

    fn read(&self) -> Result<RoTxn<'_, WithoutTls>, EncoderError> {
        self.env.read_txn().map_err(|error| failure(&self.dir, "read it", error))
    }

    /// Reads a kept vector into `vector`; false where there is none.
    fn get(&self, txn: &RoTxn<'_>, key: &Key, vector: &mut [f32]) -> Result<bool, EncoderError> {
        match self.vectors.get(txn, key) {
            Ok(Some(bytes)) => self.decode(bytes, vector).map(|()| true),
            Ok(None) => Ok(false),
            Err(error) => Err(failure(&self.dir, "read it", error)),
        }
    }

    /// Keeps the rows of `encoded`, in one transaction. Where another process was faster its
    /// vectors stand and replace those of `encoded`, so that all runs go on with the same ones.
    fn put(&self, texts: &[MissingText<'_>], encoded: &mut [f32], dim: usize) -> Result<(), EncoderError> {
        let failed = |error| failure(&self.dir, "write to it", error);
        let mut txn = self.env.write_txn().map_err(failed)?;
        for (text, vector) in texts.iter().zip(encoded.chunks_exact_mut(dim.max(1))) {
            let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
            if let Some(kept) = self.vectors.get_or_put(&mut txn, &text.key, &bytes).map_err(failed)? {
                self.decode(kept, vector)?;
            }
        }
        txn.commit().map_err(failed)
    }

    fn decode(&self, bytes: &[u8], vector: &mut [f32]) -> Result<(), EncoderError> {
        let (values, rest) = bytes.as_chunks();
        if values.len() != vector.len() || !rest.is_empty() {
            return Err(EncoderError::Cache {
                dir: self.dir.clone(),
                action: "read a vector",
                reason: format!(
                    "it has {} bytes; expected {} (4 for each of {} numbers); the cache is damaged: delete the directory",
                    bytes.len(),
                    vector.len() * 4,
                    vector.len()
                ),
            });
        }
        for (value, bytes) in vector.iter_mut().zip(values) {
            *value = f32::from_le_bytes(*bytes);
        }
        Ok(())
    }
}

fn failure(dir: &Path, action: &'static str, error: heed::Error) -> EncoderError {
    let advice = match &error {
        heed::Error::Mdb(MdbError::MapFull) => "the cache has reached its largest size: delete the directory",
        heed::Error::Mdb(
            MdbError::Invalid | MdbError::Corrupted | MdbError::PageNotFound | MdbError::VersionMismatch | MdbError::Panic,
        ) => "its files are damaged or not a cache's: delete the directory, or name another by TABSEGNET_CACHE",
        heed::Error::Io(error) if error.kind() == std::io::ErrorKind::StorageFull => {
            "the disk is full: make room, or name a directory on another disk by TABSEGNET_CACHE"
        }
        heed::Error::Io(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
            "the cache maps 64 GiB of address space: lift the limit on it (ulimit -v)"
        }
        _ => "name a directory that can be written by TABSEGNET_CACHE",
    };
    EncoderError::Cache { dir: dir.to_owned(), action, reason: format!("{error}; {advice}") }
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
