//! The keyed store: bytes by digest in an LMDB environment, in the directory `store` of the cache.
//!
//! LMDB is a memory-mapped tree whose readers never wait, whose writers take turns across threads
//! and processes, and whose commits are whole or not at all, also where a process is killed. A store
//! of another version and one whose files are damaged are made anew, which [`Store::notice`] reports.

mod opened;

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use heed::{RoTxn, RwTxn, WithoutTls};

use crate::{FileError, create_dir};
use opened::{Shared, Tree, create_private_dir, failure};

/// Largest size of a store: 64 GiB of address space, of which only what is filled takes memory or
/// disk. Enough for some 20 million vectors of 384 numbers.
const MAP_SIZE: usize = if usize::BITS >= 64 { 1 << 36 } else { 1 << 30 };
/// How exactly it is known when a value was last used: noting it costs a write to the disk.
const USED_AGAIN: Duration = Duration::from_secs(3600);
/// SHA-256 of what a value was made from.
pub type Key = [u8; 32];

/// What is kept under a [`Key`]; each kind in a tree of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Vectors of texts.
    Vectors,
    /// Texts made of texts, such as the segments of a question.
    Texts,
    /// Encoded documents.
    Documents,
}

impl Space {
    const ALL: [&str; 3] = ["vectors", "texts", "documents"];
}

/// The store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// One of its files or directories.
    #[error(transparent)]
    File(#[from] FileError),
    /// The store as a whole.
    #[error("store {directory}: could not {action}: {reason}")]
    Store {
        /// The store's directory.
        directory: String,
        /// What was tried, as a verb phrase.
        action: &'static str,
        /// Why not and what to do.
        reason: String,
    },
    /// Nothing says where the cache lies.
    #[error(
        "none of TABSEGNET_CACHE, XDG_CACHE_HOME and HOME is set; set TABSEGNET_CACHE to a directory to keep vectors in"
    )]
    NoDirectory,
}

/// Bytes by key, kept between runs.
///
/// Several threads and processes may use one store at a time, and one process may open it several
/// times. It must lie on a local file system: LMDB's locks do not work over a network. Its files are
/// readable by their owner alone.
#[derive(Clone)]
pub struct Store(Arc<Shared>);

/// What this process has open: LMDB must not map one directory twice in a process.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Shared>>>> = LazyLock::new(Mutex::default);

impl Store {
    /// Opens the store of the directory `cache`; both are created where they are not there.
    ///
    /// # Errors
    /// A directory that cannot be created or written, a full disk.
    pub fn open(cache: &Path) -> Result<Self, StoreError> {
        Self::open_sized(cache, MAP_SIZE)
    }

    /// [`Store::open`] with a largest size of `bytes`, a multiple of the page size; the first one to
    /// open a store in a process sets it.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_sized(cache: &Path, bytes: usize) -> Result<Self, StoreError> {
        create_dir(cache)?;
        let directory = cache.join("store");
        create_private_dir(&directory).map_err(FileError::at(&directory, "create the directory"))?;
        let path = directory.canonicalize().map_err(FileError::at(&directory, "open"))?;
        let mut registry = OPEN.lock().unwrap_or_else(|lock| lock.into_inner());
        if let Some(shared) = registry.get(&path).and_then(Weak::upgrade) {
            return Ok(Self(shared));
        }
        let shared = Arc::new(Shared::open(path.clone(), bytes)?);
        registry.insert(path, Arc::downgrade(&shared));
        Ok(Self(shared))
    }

    /// Why the store was made anew, for the user; once in a process.
    pub fn notice(&self) -> Option<String> {
        self.0.notice.lock().unwrap_or_else(|lock| lock.into_inner()).take()
    }

    /// A space as it is now.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn read(&self, space: Space) -> Result<Reader<'_>, StoreError> {
        let txn = self.0.env.read_txn().map_err(|error| failure(&self.0.directory, "read it", error))?;
        Ok(Reader { store: self, tree: self.tree(space), txn })
    }

    /// Keeps values in one transaction. Where there is one already, of another process for instance,
    /// it stands, and `standing` is called with the number of the entry and the value.
    ///
    /// # Errors
    /// What `standing` returns; a full disk or store, where nothing is kept.
    pub fn keep<E: From<StoreError>>(
        &self,
        space: Space,
        entries: impl Iterator<Item = (Key, impl AsRef<[u8]>)>,
        mut standing: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error| failure(&self.0.directory, "write to it", error);
        let mut txn = self.0.env.write_txn().map_err(failed)?;
        for (number, (key, value)) in entries.enumerate() {
            if let Some(value) = self.tree(space).get_or_put(&mut txn, &key, value.as_ref()).map_err(failed)? {
                standing(number, value)?;
            }
        }
        Ok(txn.commit().map_err(failed)?)
    }

    /// Keeps a value in place of what the key had, then removes those of the space that were not used
    /// for longest until all together take at most `limit` bytes. A value that alone takes more is
    /// not kept.
    ///
    /// # Errors
    /// A full disk or store, where nothing changes.
    pub fn keep_within(&self, space: Space, key: &Key, value: &[u8], limit: u64) -> Result<(), StoreError> {
        if value.len() as u64 > limit {
            return Ok(());
        }
        let (tree, uses) = (self.tree(space), self.0.uses);
        self.write(|txn| {
            tree.put(txn, key, value)?;
            uses.put(txn, key, &now().to_le_bytes())?;
            let mut kept = Vec::new();
            for entry in tree.iter(txn)? {
                let (key, value) = entry?;
                kept.push((used(uses.get(txn, key)?), value.len() as u64, key.to_vec()));
            }
            let mut size: u64 = kept.iter().map(|(_, size, _)| size).sum();
            kept.sort();
            for (_, own, old) in kept.iter().filter(|(_, _, old)| old != key) {
                if size <= limit {
                    break;
                }
                tree.delete(txn, old)?;
                uses.delete(txn, old)?;
                size -= own;
            }
            Ok(())
        })
    }

    /// Notes that a value kept by [`Store::keep_within`] is in use, to the hour.
    ///
    /// # Errors
    /// A store that cannot be read or written.
    pub fn note_use(&self, key: &Key) -> Result<(), StoreError> {
        let txn = self.0.env.read_txn().map_err(|error| failure(&self.0.directory, "read it", error))?;
        let last = self.0.uses.get(&txn, key).map_err(|error| failure(&self.0.directory, "read it", error))?;
        if u128::from(now().saturating_sub(used(last))) < USED_AGAIN.as_nanos() {
            return Ok(());
        }
        drop(txn);
        self.write(|txn| self.0.uses.put(txn, key, &now().to_le_bytes()))
    }

    /// An error about a value of this store.
    pub fn error(&self, action: &'static str, reason: String) -> StoreError {
        StoreError::Store { directory: self.0.directory.display().to_string(), action, reason }
    }

    fn tree(&self, space: Space) -> Tree {
        self.0.spaces[space as usize]
    }

    fn write(&self, change: impl FnOnce(&mut RwTxn<'_>) -> heed::Result<()>) -> Result<(), StoreError> {
        let write = || {
            let mut txn = self.0.env.write_txn()?;
            change(&mut txn)?;
            txn.commit()
        };
        write().map_err(|error| failure(&self.0.directory, "write to it", error))
    }
}

/// A space as it was when it was opened for reading, whatever is written meanwhile.
pub struct Reader<'a> {
    store: &'a Store,
    tree: Tree,
    txn: RoTxn<'a, WithoutTls>,
}

impl Reader<'_> {
    /// The value of a key, or nothing where there is none.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn get(&self, key: &Key) -> Result<Option<&[u8]>, StoreError> {
        self.tree.get(&self.txn, key).map_err(|error| failure(&self.store.0.directory, "read it", error))
    }

    /// Number of values.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn count(&self) -> Result<u64, StoreError> {
        self.tree.len(&self.txn).map_err(|error| failure(&self.store.0.directory, "read it", error))
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

/// When a value was used last; one without a time that can be read was never.
fn used(time: Option<&[u8]>) -> u64 {
    time.and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Where the cache lies unless a setting names it: `$TABSEGNET_CACHE`, else
/// `$XDG_CACHE_HOME/tabsegnet`, else `$HOME/.cache/tabsegnet`. An empty variable counts as not set.
///
/// # Errors
/// [`StoreError::NoDirectory`] where none of the three is set.
pub fn default_cache_dir() -> Result<PathBuf, StoreError> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("TABSEGNET_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|dir| dir.join("tabsegnet")))
        .or_else(|| set("HOME").map(|dir| dir.join(".cache").join("tabsegnet")))
        .ok_or(StoreError::NoDirectory)
}

#[cfg(test)]
mod tests;
