//! Files and folders of reports and spreadsheets, read as documents.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tabsegnet::corpus::blocks_of;
use tabsegnet_corpus::{files, folders_below, is_corpus};
use tabsegnet_datasets::tables::read_tables;
use tabsegnet_document::model::{Block, Document};
use tabsegnet_document::{Cut, KNOWN, ReadOptions, extension};
use tabsegnet_records::{ReadFile, read_file};

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

/// Reads a file; JSON lines of tables as corpora do.
fn read_one(file: &Path, options: &ReadOptions) -> Result<ReadFile, LibraryError> {
    if extension(file) == "jsonl"
        && let Some(read) = read_lines_of_tables(file)?
    {
        return Ok(read);
    }
    Ok(read_file(file, options)?)
}

/// Reads a file of JSON lines with a table each; nothing where the first is none with rows.
fn read_lines_of_tables(file: &Path) -> Result<Option<ReadFile>, LibraryError> {
    let wrong = |error: &dyn std::fmt::Display| LibraryError::Files(error.to_string());
    let mut lines = read_tables(file).map_err(|error| wrong(&error))?.peekable();
    if !matches!(lines.peek(), Some(Ok(first)) if !first.rows.is_empty()) {
        return Ok(None);
    }
    let (mut blocks, mut cuts) = (Vec::new(), Vec::new());
    for (number, line) in lines.enumerate() {
        let table = line.map_err(|error| wrong(&error))?;
        let of_table = blocks_of(&table, number).map_err(|error| wrong(&format!("{}: {error}", file.display())))?;
        let rows = of_table.iter().find_map(|block| match block {
            Block::Table(read) => Some(read.rows() - read.num_header_rows()),
            _ => None,
        });
        let rows = rows.unwrap_or(0);
        let of = table.rows.len();
        if rows < of {
            let warning = format!("table {:?} is cut off after {rows} of {of} rows", table.id);
            cuts.push(Cut { rows, of: Some(of), warning });
        }
        blocks.extend(of_table);
    }
    let id = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let warnings = cuts.iter().map(|cut| cut.warning.clone()).collect();
    Ok(Some(ReadFile { document: Document { id, blocks }, title: None, warnings, cuts }))
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
        match read_one(&file, options) {
            Ok(read) => {
                let warnings = read.warnings.iter().map(|warning| format!("{}: {warning}", file.display()));
                found.warnings.extend(warnings);
                found.cuts.extend(read.cuts);
                let folders = folders_below(paths, &file);
                found.sources.push(Source::of_file(&file, read.document).in_folders(&folders));
            }
            Err(error) if named.contains(&file) => return Err(error),
            Err(error) => found.warnings.push(error.to_string()),
        }
    }
    if found.sources.is_empty() {
        if let Some(corpus) = paths.iter().find(|path| is_corpus(path)) {
            let corpus = corpus.display();
            let message = format!(
                "{corpus}: is a corpus that index made, not a folder of documents; give it as --corpus {corpus}"
            );
            return Err(LibraryError::Files(message));
        }
        let places: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let why = found.warnings.first().map_or_else(String::new, |first| format!("; the first problem: {first}"));
        let message = format!(
            "{}: no document was found; expected {KNOWN}, records (.jsonl, .parquet), SQLite databases{why}",
            places.join(", ")
        );
        return Err(LibraryError::Files(message));
    }
    Ok(found)
}
