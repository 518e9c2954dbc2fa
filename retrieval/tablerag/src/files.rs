//! Files and folders of reports and spreadsheets, read as documents.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tabsegnet_corpus::files;
use tabsegnet_document::{Cut, KNOWN, ReadOptions, read};

use crate::error::LibraryError;
use crate::library::Source;

/// What was read of files and folders.
#[derive(Debug, Clone, Default)]
pub struct ReadFiles {
    /// A document a file, by their names.
    pub sources: Vec<Source>,
    /// What was cut off, left out or guessed; each names its file.
    pub warnings: Vec<String>,
    /// What was cut off.
    pub cuts: Vec<Cut>,
}

/// Reads files, and of folders all files below them but hidden ones, each once. A file of a folder that cannot be read is a
/// warning as long as something can.
///
/// # Errors
/// A file that is named itself cannot be read, or nothing can.
pub fn read_files(paths: &[PathBuf], options: &ReadOptions) -> Result<ReadFiles, LibraryError> {
    let (mut all, mut named) = (BTreeSet::new(), BTreeSet::new());
    let mut found = ReadFiles::default();
    for path in paths {
        let (below, problems) = files(std::slice::from_ref(path));
        if path.is_dir() {
            found.warnings.extend(problems);
        } else if let Some(problem) = problems.into_iter().next() {
            return Err(LibraryError::Files(problem));
        } else {
            named.extend(below.iter().cloned());
        }
        all.extend(below);
    }
    for file in all {
        match read(&file, options) {
            Ok(read) => {
                let warnings = read.warnings.iter().map(|warning| format!("{}: {warning}", file.display()));
                found.warnings.extend(warnings);
                found.cuts.extend(read.cuts);
                found.sources.push(Source::of_file(&file, read.document));
            }
            Err(error) if named.contains(&file) => return Err(LibraryError::Read(error)),
            Err(error) => found.warnings.push(error.to_string()),
        }
    }
    if found.sources.is_empty() {
        let places: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let why = found.warnings.first().map_or_else(String::new, |first| format!("; the first problem: {first}"));
        let message = format!("{}: no document was found; expected {KNOWN}{why}", places.join(", "));
        return Err(LibraryError::Files(message));
    }
    Ok(found)
}
