//! The keyed store: bytes by digest in an LMDB environment, in the directory `store` of the cache.
//!
//! LMDB is a memory-mapped tree whose readers never wait, whose writers take turns across threads
//! and processes, and whose commits are whole or not at all, also where a process is killed. A store
//! of another version and one whose files are damaged are made anew, which [`Store::notice`] reports.

use std::collections::HashMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, MdbError, RoTxn, RwTxn, WithoutTls};

use crate::{FileError, create_dir};

/// What the file `version` holds. Changes with the spaces and with what their values mean.
const VERSION: &str = "tabsegnet store 1\n";
/// Largest size of a store: 64 GiB of address space, of which only what is filled takes memory or
/// disk. Enough for some 20 million vectors of 384 numbers.
const MAP_SIZE: usize = if usize::BITS >= 64 { 1 << 36 } else { 1 << 30 };
/// How exactly it is known when a value was last used: noting it costs a write to the disk.
const USED_AGAIN: Duration = Duration::from_secs(3600);
/// EIO, which LMDB makes of a write that took a part of a page: what a full disk does.
const PAGE_CUT_SHORT: i32 = 5;

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

struct Shared {
    env: Env<WithoutTls>,
    spaces: [Tree; Space::ALL.len()],
    /// When each value of a limited space was last used, in nanoseconds since 1970.
    uses: Tree,
    directory: PathBuf,
    notice: Mutex<Option<String>>,
}

type Tree = Database<'static, Bytes, Bytes>;

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

impl Shared {
    /// Opens the files in `directory`, or makes them anew where they cannot be used.
    fn open(directory: PathBuf, bytes: usize) -> Result<Self, StoreError> {
        let stamp = directory.join("version");
        let failed = || FileError::at(&stamp, "write");
        let mut file = open_private(&stamp).map_err(failed())?;
        // Who opens the store meanwhile waits, so that no one maps files that another removes. One that
        // has them open already goes on with them, removed or not.
        file.lock().map_err(FileError::at(&stamp, "lock"))?;
        let mut version = Vec::new();
        file.read_to_end(&mut version).map_err(FileError::at(&stamp, "read"))?;
        let mut notice = None;
        if version != VERSION.as_bytes() {
            let before = directory.parent().filter(|cache| cache.join("data.mdb").exists());
            if directory.join("data.mdb").exists() {
                notice = Some("it is of another version and is made anew".to_owned());
            } else if let Some(cache) = before {
                let cache = cache.display();
                notice = Some(format!(
                    "it takes the place of data.mdb, lock.mdb and documents in {cache}, which are of another version; delete them"
                ));
            }
            remove_data(&directory)?;
            let write = |file: &mut File| {
                file.set_len(0)?;
                file.rewind()?;
                file.write_all(VERSION.as_bytes())?;
                file.sync_all()
            };
            write(&mut file).map_err(failed())?;
        }
        let env = match open_env(&directory, bytes)? {
            Ok(env) => env,
            Err(damage) => {
                notice = Some(format!("{damage}; it is made anew"));
                remove_data(&directory)?;
                open_env(&directory, bytes)?.map_err(|reason| {
                    let directory = directory.display().to_string();
                    StoreError::Store { directory, action: "make it anew", reason }
                })?
            }
        };
        let create = || -> Result<_, heed::Error> {
            env.clear_stale_readers()?;
            let txn = env.write_txn()?;
            let trees = env.create_databases_and_commit(txn, |trees, txn| {
                let mut create = |name| trees.create_database::<Bytes, Bytes>(txn, Some(name));
                let [vectors, texts, documents] = Space::ALL;
                let spaces = [create(vectors)?, create(texts)?, create(documents)?];
                Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit((spaces, create("uses")?)))
            })?;
            Ok(trees.unwrap_commit())
        };
        let (spaces, uses) = create().map_err(|error| failure(&directory, "write to it", error))?;
        let notice = Mutex::new(notice.map(|notice| format!("store {}: {notice}", directory.display())));
        Ok(Self { env, spaces, uses, directory, notice })
    }
}

/// Opens the environment, or says in which way its files are damaged.
fn open_env(directory: &Path, bytes: usize) -> Result<Result<Env<WithoutTls>, String>, StoreError> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(bytes).max_dbs(Space::ALL.len() as u32 + 1);
    reserve_lock(&directory.join("lock.mdb"))?;
    let env = loop {
        // SAFETY: the map must not be changed by anything but LMDB. The directory is the store's
        // own, opened with LMDB's locks on and none of its unsafe flags, and once a process: heed
        // itself refuses a second time.
        #[allow(unsafe_code)]
        let opened = unsafe { options.open(directory) };
        match opened {
            // The last handle of this process is being dropped by another thread.
            Err(heed::Error::EnvAlreadyOpened) => {
                let closing = heed::env_closing_event(directory);
                if closing.is_some_and(|event| !event.wait_timeout(Duration::from_secs(10))) {
                    return Err(failure(directory, "open it", heed::Error::EnvAlreadyOpened));
                }
            }
            Err(heed::Error::Mdb(error @ (MdbError::Invalid | MdbError::Corrupted | MdbError::VersionMismatch))) => {
                return Ok(Err(format!("data.mdb is damaged ({error})")));
            }
            other => break other.map_err(|error| failure(directory, "open it", error))?,
        }
    };
    // LMDB would not notice that pages are missing, and reading one ends the process. The size is
    // taken last: another process may be adding pages.
    let page = u64::from(env.unnamed_database_stat().page_size);
    let pages = env.info().last_page_number as u64 + 1;
    let size = env.real_disk_size().map_err(|error| failure(directory, "open it", error))?;
    if size < pages * page {
        env.prepare_for_closing().wait();
        return Ok(Err(format!("data.mdb has been cut off: it has {size} bytes of {}", pages * page)));
    }
    Ok(Ok(env))
}

fn remove_data(directory: &Path) -> Result<(), FileError> {
    for name in ["data.mdb", "lock.mdb"] {
        let path = directory.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(FileError::at(&path, "remove")(error)),
            _ => {}
        }
    }
    Ok(())
}

/// A directory that its owner alone may enter; one that is there stays as it is.
fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result,
    }
}

/// Opens a file that its owner alone may read, or creates it. LMDB creates its own in the same way.
fn open_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Gives LMDB's lock file its room on the disk. LMDB makes it longer without writing to it and maps
/// it: on a full disk the first write into the map would end the process by a signal.
fn reserve_lock(path: &Path) -> Result<(), FileError> {
    let file = open_private(path).map_err(FileError::at(path, "write"))?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;

        /// Bytes of a lock file with LMDB's default number of readers.
        const LOCK: u64 = 8192;
        // The size stays: it tells LMDB whether the file was set up already.
        match fallocate(&file, FallocateFlags::KEEP_SIZE, 0, LOCK) {
            // A file system that cannot reserve is one that LMDB has to do without it on.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(FileError::at(path, "write")(error.into())),
        }
    }
    drop(file);
    Ok(())
}

/// An error of LMDB, with what to do about it.
fn failure(directory: &Path, action: &'static str, error: heed::Error) -> StoreError {
    let advice = match &error {
        heed::Error::Mdb(MdbError::MapFull) => "it has reached its largest size: delete the directory",
        heed::Error::Mdb(
            MdbError::Invalid
            | MdbError::Corrupted
            | MdbError::PageNotFound
            | MdbError::VersionMismatch
            | MdbError::Panic,
        ) => "its files are damaged: delete the directory",
        heed::Error::Io(error)
            if error.kind() == io::ErrorKind::StorageFull || error.raw_os_error() == Some(PAGE_CUT_SHORT) =>
        {
            "the disk is full: make room, or name a directory on another disk by TABSEGNET_CACHE"
        }
        heed::Error::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => {
            "it maps 64 GiB of address space: lift the limit on it (ulimit -v)"
        }
        _ => "name a directory that can be written by TABSEGNET_CACHE",
    };
    let directory = directory.display().to_string();
    StoreError::Store { directory, action, reason: format!("{error}; {advice}") }
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
