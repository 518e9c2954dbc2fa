//! What decides how a file becomes a document, its graph and its questions, as one number. The build script takes it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Of the crates that read, by their folders from here.
pub const FOLDERS: [&str; 4] = ["../document/src", "../graph/src", "../../retrieval/lexical/src", "src"];

/// A digest of the Rust files below folders: of their names and what they hold, in the order of the names.
///
/// # Errors
/// A folder that is not there, a file that cannot be read.
pub fn digest(folders: &[impl AsRef<Path>]) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    for folder in folders {
        let folder = folder.as_ref();
        let mut files = Vec::new();
        below(folder, &mut files)?;
        files.sort();
        for file in files {
            file.strip_prefix(folder).unwrap_or(&file).hash(&mut hasher);
            fs::read(&file)?.hash(&mut hasher);
        }
    }
    Ok(hasher.finish())
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            below(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
