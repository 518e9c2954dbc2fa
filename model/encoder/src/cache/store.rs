//! The LMDB environment behind a cache.

use std::path::{Path, PathBuf};
use std::time::Duration;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, MdbError, RoTxn, WithoutTls};

use tabsegnet_store::FileError;

use crate::EncoderError;

/// SHA-256 of an encoder's identity and a text.
pub(super) type Key = [u8; 32];

/// EIO, which LMDB makes of a write that took a part of a page: what a full disk does.
const PAGE_CUT_SHORT: i32 = 5;

/// An LMDB environment with one database.
pub(super) struct Store {
    env: Env<WithoutTls>,
    pub(super) vectors: Database<'static, Bytes, Bytes>,
    pub(super) dir: PathBuf,
}

impl Store {
    /// Opens `dir`, which is there, with a map of `bytes`.
    pub(super) fn new(dir: PathBuf, bytes: usize) -> Result<Self, EncoderError> {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(bytes);
        reserve_lock(&dir.join("lock.mdb"))?;
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
        check_whole(&env, &dir)?;
        let create = || -> Result<_, heed::Error> {
            let txn = env.write_txn()?;
            let database = env.create_databases_and_commit(txn, |databases, txn| {
                databases.create_database::<Bytes, Bytes>(txn, None).map(CommitOrAbort::<_, ()>::Commit)
            })?;
            Ok(database.unwrap_commit())
        };
        let vectors = create().map_err(|error| failure(&dir, "write to it", error))?;
        Ok(Self { env, vectors, dir })
    }

    /// A view of the cache as it is now.
    pub(super) fn read(&self) -> Result<RoTxn<'_, WithoutTls>, EncoderError> {
        self.env.read_txn().map_err(|error| failure(&self.dir, "read it", error))
    }

    /// Reads a kept vector into `vector`; false where there is none.
    pub(super) fn get(&self, txn: &RoTxn<'_>, key: &Key, vector: &mut [f32]) -> Result<bool, EncoderError> {
        match self.vectors.get(txn, key) {
            Ok(Some(bytes)) => self.decode(bytes, vector).map(|()| true),
            Ok(None) => Ok(false),
            Err(error) => Err(failure(&self.dir, "read it", error)),
        }
    }

    /// Keeps the rows of `encoded`, in one transaction. Where another process was faster its
    /// vectors stand and replace those of `encoded`, so that all runs go on with the same ones.
    pub(super) fn put<'a>(
        &self,
        keys: impl Iterator<Item = &'a Key>,
        encoded: &mut [f32],
        dim: usize,
    ) -> Result<(), EncoderError> {
        let failed = |error| failure(&self.dir, "write to it", error);
        let mut txn = self.env.write_txn().map_err(failed)?;
        for (key, vector) in keys.zip(encoded.chunks_exact_mut(dim.max(1))) {
            let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
            if let Some(kept) = self.vectors.get_or_put(&mut txn, key, &bytes).map_err(failed)? {
                self.decode(kept, vector)?;
            }
        }
        txn.commit().map_err(failed)
    }

    /// Reads a kept text.
    pub(super) fn get_text(&self, txn: &RoTxn<'_>, key: &Key) -> Result<Option<String>, EncoderError> {
        let bytes = self.vectors.get(txn, key).map_err(|error| failure(&self.dir, "read it", error))?;
        let text = bytes.map(|bytes| String::from_utf8(bytes.to_vec())).transpose();
        text.map_err(|_| EncoderError::Cache {
            dir: self.dir.clone(),
            action: "read a text",
            reason: "it is no UTF-8; the cache is damaged: delete the directory".to_owned(),
        })
    }

    /// Keeps texts, in one transaction.
    pub(super) fn put_texts<'a>(&self, texts: impl Iterator<Item = (Key, &'a str)>) -> Result<(), EncoderError> {
        let failed = |error| failure(&self.dir, "write to it", error);
        let mut txn = self.env.write_txn().map_err(failed)?;
        for (key, text) in texts {
            self.vectors.get_or_put(&mut txn, &key, text.as_bytes()).map_err(failed)?;
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

/// Gives LMDB's lock file its room on the disk. LMDB makes it longer without writing to it and maps
/// it: on a full disk the first write into the map would end the process by a signal.
#[cfg(target_os = "linux")]
fn reserve_lock(path: &Path) -> Result<(), EncoderError> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;

    /// Bytes of a lock file with LMDB's default number of readers.
    const LOCK: u64 = 8192;
    let open = std::fs::File::options().create(true).truncate(false).read(true).write(true).open(path);
    let file = open.map_err(FileError::at(path, "write"))?;
    // The size stays: it tells LMDB whether the file was set up already.
    match fallocate(&file, FallocateFlags::KEEP_SIZE, 0, LOCK) {
        // A file system that cannot reserve is one that LMDB has to do without it on.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(FileError::at(path, "write")(error.into()).into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve_lock(_: &Path) -> Result<(), EncoderError> {
    Ok(())
}

/// An error where the file is shorter than its pages: LMDB would not notice, and reading a page
/// that is not there ends the process.
fn check_whole(env: &Env<WithoutTls>, dir: &Path) -> Result<(), EncoderError> {
    let size = env.real_disk_size().map_err(|error| failure(dir, "open it", error))?;
    let page = u64::from(env.unnamed_database_stat().page_size);
    let pages = env.info().last_page_number as u64 + 1;
    if size < pages * page {
        return Err(EncoderError::Cache {
            dir: dir.to_owned(),
            action: "open it",
            reason: format!(
                "data.mdb has been cut off: it has {size} bytes of {} ({pages} pages of {page}); delete the directory",
                pages * page
            ),
        });
    }
    Ok(())
}

/// An error of LMDB, with what to do about it.
pub(super) fn failure(dir: &Path, action: &'static str, error: heed::Error) -> EncoderError {
    let advice = match &error {
        heed::Error::Mdb(MdbError::MapFull) => "the cache has reached its largest size: delete the directory",
        heed::Error::Mdb(
            MdbError::Invalid
            | MdbError::Corrupted
            | MdbError::PageNotFound
            | MdbError::VersionMismatch
            | MdbError::Panic,
        ) => "its files are damaged or not a cache's: delete the directory, or name another by TABSEGNET_CACHE",
        heed::Error::Io(error)
            if error.kind() == std::io::ErrorKind::StorageFull || error.raw_os_error() == Some(PAGE_CUT_SHORT) =>
        {
            "the disk is full: make room, or name a directory on another disk by TABSEGNET_CACHE"
        }
        heed::Error::Io(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
            "the cache maps 64 GiB of address space: lift the limit on it (ulimit -v)"
        }
        _ => "name a directory that can be written by TABSEGNET_CACHE",
    };
    EncoderError::Cache { dir: dir.to_owned(), action, reason: format!("{error}; {advice}") }
}
