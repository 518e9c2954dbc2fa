//! Durable files and content digests.
//!
//! Every file the project writes goes through [`write_atomic`] or [`Staging`], so that a reader
//! sees the old file or the new one and never a part, also after a crash or on a full disk.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// A file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: could not {action}: {reason}")]
pub struct FileError {
    /// The file or directory.
    pub path: String,
    /// What was tried, as a verb phrase ("read", "write", "create the directory").
    pub action: &'static str,
    /// The operating system's reason; part of the message, so that no chain of errors says it twice.
    pub reason: io::Error,
}

impl FileError {
    /// Attaches `path` and `action` to an I/O error; for `map_err`.
    pub fn at(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |reason| Self { path, action, reason }
    }
}

/// Reads a whole file as UTF-8 text.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(FileError::at(path, "read"))
}

/// Reads a whole file.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(FileError::at(path, "read"))
}

/// Creates `path` and its parents where they do not exist.
pub fn create_dir(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::at(path, "create the directory"))
}

/// Writes `path` whole or not at all: into a temporary file beside it, synced, renamed over it,
/// and the directory synced. Missing parent directories are created. On an error the file that
/// was there before is untouched and the temporary file is removed.
pub fn write_atomic<E>(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), E>) -> Result<(), E>
where
    E: From<FileError>,
{
    let parent = parent_of(path);
    create_dir(parent)?;
    let temporary =
        tempfile::Builder::new().prefix(".writing-").tempfile_in(parent).map_err(FileError::at(path, "write"))?;
    let mut buffer = BufWriter::new(temporary.as_file());
    write(&mut buffer)?;
    buffer.flush().map_err(FileError::at(path, "write"))?;
    drop(buffer);
    world_readable(temporary.as_file()).map_err(FileError::at(path, "write"))?;
    temporary.as_file().sync_all().map_err(FileError::at(path, "sync"))?;
    temporary.persist(path).map_err(|e| FileError::at(path, "rename onto")(e.error))?;
    sync_dir(parent)?;
    Ok(())
}

/// [`write_atomic`] for bytes that are already in memory.
pub fn write_bytes_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_atomic(path, |w| w.write_all(bytes).map_err(FileError::at(path, "write")))
}

/// A directory that appears whole or not at all: files are written into [`Staging::path`], then
/// [`Staging::commit`] puts it in place of the target. Dropped without commit, it is removed.
pub struct Staging {
    temporary: tempfile::TempDir,
    target: PathBuf,
}

impl Staging {
    /// A temporary directory beside `target`.
    pub fn new(target: &Path) -> Result<Self, FileError> {
        let parent = parent_of(target);
        create_dir(parent)?;
        let temporary =
            tempfile::Builder::new().prefix(".writing-").tempdir_in(parent).map_err(FileError::at(target, "write"))?;
        Ok(Self { temporary, target: target.to_owned() })
    }

    /// Where to write the files.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Syncs the files and renames the directory onto the target. A directory that stands there
    /// already is moved aside first and removed after, so that a crash in between loses neither.
    pub fn commit(self) -> Result<(), FileError> {
        for entry in fs::read_dir(self.path()).map_err(FileError::at(self.path(), "read"))? {
            let path = entry.map_err(FileError::at(self.path(), "read"))?.path();
            let file = File::open(&path).map_err(FileError::at(&path, "sync"))?;
            if file.metadata().map_err(FileError::at(&path, "sync"))?.is_file() {
                world_readable(&file).map_err(FileError::at(&path, "sync"))?;
            }
            file.sync_all().map_err(FileError::at(&path, "sync"))?;
        }
        set_dir_mode(self.path()).map_err(FileError::at(self.path(), "sync"))?;
        sync_dir(self.path())?;
        let parent = parent_of(&self.target).to_owned();
        let aside = if self.target.exists() {
            let name = self.target.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let aside = parent.join(format!(".replaced-{name}-{}", std::process::id()));
            fs::rename(&self.target, &aside).map_err(FileError::at(&self.target, "replace"))?;
            Some(aside)
        } else {
            None
        };
        let staged = self.temporary.keep();
        if let Err(error) = fs::rename(&staged, &self.target) {
            if let Some(aside) = &aside {
                // Best effort: the error that is reported is the first one.
                let _ = fs::rename(aside, &self.target);
            }
            let _ = fs::remove_dir_all(&staged);
            return Err(FileError::at(&self.target, "write")(error));
        }
        sync_dir(&parent)?;
        if let Some(aside) = aside {
            fs::remove_dir_all(&aside).map_err(FileError::at(&aside, "remove"))?;
        }
        Ok(())
    }
}

/// Clears what a program that was killed left of its [`Staging`] in `parent`: half-written
/// directories are removed, one that was moved aside goes back where its place is empty. Only for
/// who alone writes there, such as the holder of a lock.
pub fn recover(parent: &Path) -> Result<(), FileError> {
    for entry in fs::read_dir(parent).map_err(FileError::at(parent, "read"))? {
        let path = entry.map_err(FileError::at(parent, "read"))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let replaced = name.strip_prefix(".replaced-").and_then(|rest| rest.rsplit_once('-'));
        match replaced {
            _ if !path.is_dir() => {}
            Some((target, _)) if !parent.join(target).exists() => {
                fs::rename(&path, parent.join(target)).map_err(FileError::at(&path, "put back"))?;
            }
            None if !name.starts_with(".writing-") => {}
            _ => fs::remove_dir_all(&path).map_err(FileError::at(&path, "remove"))?,
        }
    }
    sync_dir(parent)
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn sync_dir(path: &Path) -> Result<(), FileError> {
    let dir = File::open(path).map_err(FileError::at(path, "sync"))?;
    dir.sync_all().map_err(FileError::at(path, "sync"))
}

/// Temporary files are private to their owner; what replaces a result must be as readable as any
/// other new file. The process's umask cannot be read without changing it, so 0644 is used.
#[cfg(unix)]
fn world_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn world_readable(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn set_dir_mode(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn set_dir_mode(_: &Path) -> io::Result<()> {
    Ok(())
}

/// SHA-256 over any number of parts, each framed by its length so that `["ab", "c"]` and
/// `["a", "bc"]` differ.
#[derive(Clone, Default)]
pub struct Digest(Sha256);

impl Digest {
    /// An empty digest.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one part.
    #[must_use]
    pub fn part(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// The 32 bytes.
    pub fn bytes(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    /// 64 hexadecimal digits.
    pub fn hex(self) -> String {
        hex(&self.bytes())
    }
}

/// Plain SHA-256 of a file's bytes as 64 hexadecimal digits, as `sha256sum` prints it.
pub fn sha256_file(path: &Path) -> Result<String, FileError> {
    let mut file = File::open(path).map_err(FileError::at(path, "read"))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = file.read(&mut buffer).map_err(FileError::at(path, "read"))?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
    }
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_earlier_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.json");
        write_bytes_atomic(&path, b"old").unwrap();
        let failed = write_atomic(&path, |w| {
            w.write_all(b"half").unwrap();
            Err(FileError::at(&path, "write")(io::Error::other("disk full")))
        });
        assert_eq!(failed.unwrap_err().to_string(), format!("{}: could not write: disk full", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_chain_of_errors_says_the_reason_once() {
        let error = read_text(Path::new("no such file")).unwrap_err();
        assert!(error.to_string().starts_with("no such file: could not read: "), "{error}");
        assert!(std::error::Error::source(&error).is_none());
    }

    #[test]
    fn staging_replaces_a_directory_whole() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("checkpoint");
        for content in ["one", "two"] {
            let staging = Staging::new(&target).unwrap();
            fs::write(staging.path().join("file"), content).unwrap();
            staging.commit().unwrap();
            assert_eq!(fs::read_to_string(target.join("file")).unwrap(), content);
        }
        drop(Staging::new(&target).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_program_left_is_cleared_and_nothing_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in [
            (".replaced-state-7", "old"),
            (".replaced-best-7", "old"),
            ("best", "new"),
            (".writing-x", "half"),
            ("other-1", "own"),
        ] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("file"), content).unwrap();
        }
        recover(dir.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["best", "other-1", "state"]);
        assert_eq!(fs::read_to_string(dir.path().join("best/file")).unwrap(), "new");
        assert_eq!(fs::read_to_string(dir.path().join("state/file")).unwrap(), "old");
    }

    #[test]
    fn digests_frame_their_parts_and_files_hash_as_sha256sum_does() {
        assert_ne!(Digest::new().part("ab").part("c").hex(), Digest::new().part("a").part("bc").hex());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abc");
        fs::write(&path, "abc").unwrap();
        assert_eq!(sha256_file(&path).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
