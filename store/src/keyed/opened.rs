//! The files behind a store: opened, or made anew where they cannot be used.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, MdbError, WithoutTls};

use super::{Space, StoreError};
use crate::FileError;

/// What the file `version` holds. Changes with the spaces and with what their values mean.
const VERSION: &str = "tabsegnet store 1\n";
/// EIO, which LMDB makes of a write that took a part of a page: what a full disk does.
const PAGE_CUT_SHORT: i32 = 5;

/// An open store.
pub(super) struct Shared {
    pub(super) env: Env<WithoutTls>,
    pub(super) spaces: [Tree; Space::ALL.len()],
    /// When each value of a limited space was last used, in nanoseconds since 1970.
    pub(super) uses: Tree,
    pub(super) directory: PathBuf,
    pub(super) notice: Mutex<Option<String>>,
}

pub(super) type Tree = Database<'static, Bytes, Bytes>;

impl Shared {
    /// Opens the files in `directory`, or makes them anew where they cannot be used.
    pub(super) fn open(directory: PathBuf, bytes: usize) -> Result<Self, StoreError> {
        let stamp = directory.join("version");
        let failed = || FileError::at(&stamp, "write");
        let mut file = open_private(&stamp).map_err(failed())?;
        // Who opens the store meanwhile waits, so that no one maps files that another removes. One that
        // has them open already goes on with them, removed or not.
        file.lock().map_err(FileError::at(&stamp, "lock"))?;
        for name in ["version", "data.mdb", "lock.mdb"] {
            let path = directory.join(name);
            make_private(&path).map_err(FileError::at(&path, "make it private"))?;
        }
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
pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
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

/// Lets the owner of a file alone read it, whatever was made of its permissions since; nothing where there is none.
fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        match fs::metadata(path) {
            Ok(about) if about.permissions().mode() & 0o077 != 0 => {
                fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
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
pub(super) fn failure(directory: &Path, action: &'static str, error: heed::Error) -> StoreError {
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
