//! Tables from files: lines of JSON, plain or packed, and every document that the project reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tabsegnet_datasets::document::{Block, Document, Heading, Outline, Table};
use tabsegnet_datasets::tables::{TableRecord, read_tables};
use tabsegnet_document::{ReadOptions, read};
use tabsegnet_store::{FileError, sha256_file};

use crate::error::CorpusError;
use crate::writer::Writer;

/// What was made of a file.
#[derive(Debug, Default)]
pub struct FileChange {
    /// Whether it is as it was when the corpus took it in; it was not read again then.
    pub unchanged: bool,
    /// Tables taken from it.
    pub tables: usize,
    /// What of it could not be taken, each with its place.
    pub problems: Vec<String>,
}

/// The files of paths, those of folders with all below them, each once and by name. Hidden ones are left out.
///
/// # Errors
/// A path that is not there; a folder that cannot be read.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CorpusError> {
    let mut found = BTreeSet::new();
    for path in paths {
        let about = std::fs::metadata(path).map_err(FileError::at(path, "read"))?;
        if !about.is_dir() {
            found.insert(path.clone());
            continue;
        }
        let mut folders = vec![path.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).map_err(FileError::at(&folder, "read"))? {
                let entry = entry.map_err(FileError::at(&folder, "read"))?;
                if entry.file_name().to_string_lossy().starts_with('.') {
                    continue;
                }
                let kind = entry.file_type().map_err(FileError::at(&entry.path(), "read"))?;
                // Links to folders are not followed: they may lead in a circle. What is neither file nor folder, such as
                // a pipe, is left out; a link that leads nowhere is said when it is read.
                match std::fs::metadata(entry.path()) {
                    Ok(about) if about.is_dir() && !kind.is_symlink() => folders.push(entry.path()),
                    Ok(about) if !about.is_file() => {}
                    _ => {
                        found.insert(entry.path());
                    }
                }
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// Whether a file holds a table a line.
fn has_lines(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    [".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz"].iter().any(|end| name.ends_with(end))
}

/// Size and time of change, by which one notices that a file was written while it was read.
fn stamp(path: &Path) -> Result<(u64, Option<std::time::SystemTime>), FileError> {
    let about = std::fs::metadata(path).map_err(FileError::at(path, "read"))?;
    Ok((about.len(), about.modified().ok()))
}

impl Writer<'_> {
    /// Takes in the tables of a file in place of those that the corpus has from it. What cannot be read is told, not
    /// fatal: the rest of the file counts.
    ///
    /// # Errors
    /// The corpus cannot be written.
    pub fn add_file(&mut self, path: &Path, progress: &mut dyn FnMut(usize)) -> Result<FileChange, CorpusError> {
        let name = path.display().to_string();
        let mut change = FileChange::default();
        let (before, sha256) = match stamp(path).and_then(|stamp| Ok((stamp, sha256_file(path)?))) {
            Ok(read) => read,
            Err(error) => {
                change.problems.push(error.to_string());
                return Ok(change);
            }
        };
        if self.sha256(&name) == Some(sha256.as_str()) {
            change.unchanged = true;
            return Ok(change);
        }
        if has_lines(path) {
            match read_tables(path) {
                Ok(lines) => {
                    self.begin(&name, &sha256);
                    for line in lines {
                        match line {
                            Ok(table) => self.take(table, &mut change, &name, progress)?,
                            Err(error) => change.problems.push(error.to_string()),
                        }
                    }
                }
                Err(error) => change.problems.push(error.to_string()),
            }
        } else {
            match read(path, &ReadOptions::default()) {
                Ok(read) => {
                    self.begin(&name, &sha256);
                    for table in tables_of(&read.document, &name) {
                        self.take(table, &mut change, &name, progress)?;
                    }
                }
                Err(error) => change.problems.push(error.to_string()),
            }
        }
        if stamp(path).ok() != Some(before) {
            change.problems.push(format!("{name}: changed while it was read; index it again"));
            self.forget(&name);
        } else if !change.problems.is_empty() {
            self.forget(&name);
        }
        Ok(change)
    }

    fn take(
        &mut self,
        table: TableRecord,
        change: &mut FileChange,
        name: &str,
        progress: &mut dyn FnMut(usize),
    ) -> Result<(), CorpusError> {
        let id = table.id.clone();
        match self.add(table, progress)? {
            Ok(()) => change.tables += 1,
            Err(first) => {
                change.problems.push(format!("{name}: table {id:?}: its id is taken by a table of {first}"));
                // Read again as well, or the next time this file's table would take its place without a word.
                self.forget(&first);
            }
        }
        Ok(())
    }
}

/// The tables of a document, with the headings above each. An id is the file's name and the table's number in it.
pub fn tables_of(document: &Document, file: &str) -> Vec<TableRecord> {
    let mut outline: Outline<&str> = Outline::default();
    let mut found = Vec::new();
    for block in &document.blocks {
        match block {
            Block::Heading(Heading { level, text }) => {
                outline.enter(*level, text.as_str());
            }
            Block::Passage(_) => {}
            Block::Table(table) => {
                let section = outline.path().collect::<Vec<_>>().join(" -- ");
                found.push(record(table, file, &document.id, section));
            }
        }
    }
    found
}

/// A table as a record: its header rows are one, merged cells stand in each of their places.
fn record(table: &Table, file: &str, title: &str, section: String) -> TableRecord {
    let text = |row: usize, column: usize| table.cell_at(row, column).map_or("", |cell| cell.text.as_str());
    let header = (0..table.cols()).map(|column| {
        let mut parts: Vec<&str> = Vec::new();
        for row in 0..table.num_header_rows() {
            let part = text(row, column).trim();
            if !part.is_empty() && parts.last() != Some(&part) {
                parts.push(part);
            }
        }
        parts.join(" ")
    });
    let rows = (table.num_header_rows()..table.rows())
        .map(|row| (0..table.cols()).map(|column| text(row, column).to_owned()).collect());
    TableRecord {
        id: format!("{file}#t{}", table.number()),
        source: file.to_owned(),
        title: title.to_owned(),
        section,
        caption: table.caption().to_owned(),
        column_headers: header.collect(),
        rows: rows.collect(),
    }
}
