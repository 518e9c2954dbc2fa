//! Files written whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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
/// was there before is untouched and the temporary file is removed. A link is followed; what is no regular file, such as a
/// pipe, is written to as it is.
pub fn write_atomic<E>(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), E>) -> Result<(), E>
where
    E: From<FileError>,
{
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let stream = File::options().write(true).open(&target).map_err(FileError::at(path, "write"))?;
        let mut buffer = BufWriter::new(&stream);
        write(&mut buffer)?;
        return Ok(buffer.flush().map_err(FileError::at(path, "write"))?);
    }
    let parent = parent_of(&target);
    create_dir(parent)?;
    let temporary = temporary(0o666).tempfile_in(parent).map_err(FileError::at(path, "write"))?;
    let mut buffer = BufWriter::new(temporary.as_file());
    write(&mut buffer)?;
    buffer.flush().map_err(FileError::at(path, "write"))?;
    drop(buffer);
    temporary.as_file().sync_all().map_err(FileError::at(path, "sync"))?;
    temporary.persist(&target).map_err(|e| FileError::at(path, "rename onto")(e.error))?;
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
        let temporary = temporary(0o777).tempdir_in(parent).map_err(FileError::at(target, "write"))?;
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
            file.sync_all().map_err(FileError::at(&path, "sync"))?;
        }
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

/// A temporary file or directory with the mode that any new one gets: `mode` less the process's umask.
#[cfg_attr(not(unix), allow(unused_variables))]
fn temporary(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".writing-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    builder
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

    /// `--output >(gzip)` was replaced by a file, and its reader read nothing.
    #[cfg(unix)]
    #[test]
    fn regression_links_are_followed_and_pipes_are_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, pipe] = ["file", "link", "pipe"].map(|name| dir.path().join(name));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_bytes_atomic(&link, b"new").unwrap();
        assert!(fs::read_link(&link).is_ok());
        assert_eq!(fs::read(&file).unwrap(), b"new");

        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_bytes_atomic(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(!fs::metadata(&pipe).unwrap().is_file());
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

    /// A child, since the umask is the whole process's.
    #[cfg(unix)]
    #[test]
    fn files_and_directories_keep_the_umask() {
        use std::os::unix::fs::PermissionsExt as _;
        if let Some(dir) = std::env::var_os("TABSEGNET_TEST_UMASK") {
            let dir = Path::new(&dir);
            write_bytes_atomic(&dir.join("file"), b"x").unwrap();
            let staging = Staging::new(&dir.join("staged")).unwrap();
            fs::write(staging.path().join("file"), "x").unwrap();
            return staging.commit().unwrap();
        }
        for (umask, file, directory) in [("022", 0o644, 0o755), ("027", 0o640, 0o750), ("000", 0o666, 0o777)] {
            let dir = tempfile::tempdir().unwrap();
            let mut child = std::process::Command::new("sh");
            child.args(["-c", "umask $1 && exec \"$0\" --exact files::tests::files_and_directories_keep_the_umask"]);
            child.arg(std::env::current_exe().unwrap()).arg(umask).env("TABSEGNET_TEST_UMASK", dir.path());
            assert!(child.output().unwrap().status.success());
            let mode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!([mode("file"), mode("staged"), mode("staged/file")], [file, directory, file], "umask {umask}");
        }
    }
}
