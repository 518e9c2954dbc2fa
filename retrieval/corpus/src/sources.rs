//! Tables from files: lines of JSON, plain or packed, and every document that the project reads.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

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

/// The files of paths, those of folders with all below them, each once and by name, and what of them cannot be read, each
/// in words. Hidden ones are left out.
pub fn files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<String>) {
    let (mut found, mut problems) = (BTreeSet::new(), Vec::new());
    let unread = |path: &Path, error| FileError::at(path, "read")(error).to_string();
    for path in paths {
        let path = plain_path(path);
        match std::fs::metadata(&path) {
            Ok(about) if about.is_dir() => {}
            Ok(_) => {
                found.insert(path);
                continue;
            }
            Err(error) => {
                problems.push(unread(&path, error));
                continue;
            }
        }
        let mut folders = vec![path];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    problems.push(unread(&folder, error));
                    continue;
                }
            };
            for entry in entries {
                let of_entry = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
                let (kind, entry) = match of_entry {
                    Ok(of_entry) => of_entry,
                    Err(error) => {
                        problems.push(unread(&folder, error));
                        continue;
                    }
                };
                if entry.file_name().to_string_lossy().starts_with('.') {
                    continue;
                }
                // Links to folders are not followed: they may lead in a circle. A link that leads nowhere is said when it is
                // read.
                match std::fs::metadata(entry.path()) {
                    Ok(about) if about.is_dir() && !kind.is_symlink() => folders.push(entry.path()),
                    Ok(about) if about.is_dir() => {}
                    Ok(about) if !about.is_file() => {
                        problems.push(format!("{}: is no file, such as a pipe or device", entry.path().display()));
                    }
                    _ => {
                        found.insert(entry.path());
                    }
                }
            }
        }
    }
    (found.into_iter().collect(), problems)
}

/// A path without what leads nowhere: `a` for `./a`, `a/b/..` and `a/`.
pub fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Of a link `..` is the folder that it leads to, not the one that it stands in.
            Component::ParentDir if ends_in_folder(&plain) => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain }
}

fn ends_in_folder(path: &Path) -> bool {
    let named = matches!(path.components().next_back(), Some(Component::Normal(_)));
    named && std::fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// Lines of a file that are told to be unreadable, each.
const MOST_TOLD: usize = 10;

/// Whether a file holds a table a line.
fn has_lines(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    [".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz"].iter().any(|end| name.ends_with(end))
}

/// Times that a file which changes while it is read is read.
const TRIES: usize = 3;

/// Size and time of change, by which one notices that a file was written while it was read.
fn stamp(path: &Path) -> Result<(u64, Option<std::time::SystemTime>), FileError> {
    let about = std::fs::metadata(path).map_err(FileError::at(path, "read"))?;
    Ok((about.len(), about.modified().ok()))
}

impl Writer<'_> {
    /// Takes in the tables of a file in place of those that the corpus has from it. What cannot be read is told, not
    /// fatal: the rest of the file counts. One that changes while it is read is read again; where it does not come to
    /// rest, the corpus keeps what it has of it.
    ///
    /// # Errors
    /// The corpus cannot be written.
    pub fn add_file(&mut self, path: &Path, progress: &mut dyn FnMut(usize)) -> Result<FileChange, CorpusError> {
        let name = self.name_of(path);
        for _ in 0..TRIES {
            let mut change = FileChange::default();
            let (before, sha256) = match stamp(path).and_then(|stamp| Ok((stamp, sha256_file(path)?))) {
                Ok(read) => read,
                Err(error) => {
                    change.problems.push(error.to_string());
                    return Ok(change);
                }
            };
            let had = self.sha256(&name).map(str::to_owned);
            if had.as_deref() == Some(sha256.as_str()) {
                change.unchanged = true;
                return Ok(change);
            }
            let begun = self.read_file(path, &name, &sha256, &mut change, progress)?;
            if stamp(path).ok() == Some(before) {
                if !change.problems.is_empty() {
                    self.forget(&name);
                }
                return Ok(change);
            }
            // What was read is perhaps of two states of it.
            if begun {
                self.take_back(&name, had);
            }
        }
        let problem =
            format!("{name}: changed each of the {TRIES} times that it was read; index it again when it is whole");
        Ok(FileChange { problems: vec![problem], ..FileChange::default() })
    }

    /// Reads a file with a digest; whether it was begun: what the corpus has of it goes when there is something in its
    /// place, or nothing is to be.
    fn read_file(
        &mut self,
        path: &Path,
        name: &str,
        sha256: &str,
        change: &mut FileChange,
        progress: &mut dyn FnMut(usize),
    ) -> Result<bool, CorpusError> {
        if !has_lines(path) {
            return match read(path, &ReadOptions::default()) {
                Ok(read) => {
                    self.begin(name, sha256);
                    for mut table in tables_of(&read.document, name) {
                        // What a page calls itself says more than the name of its file.
                        if let Some(title) = &read.title {
                            table.title.clone_from(title);
                        }
                        self.take(table, change, name, progress)?;
                    }
                    Ok(true)
                }
                Err(error) => {
                    change.problems.push(error.to_string());
                    Ok(false)
                }
            };
        }
        let lines = match read_tables(path) {
            Ok(lines) => lines,
            Err(error) => {
                change.problems.push(error.to_string());
                return Ok(false);
            }
        };
        let (mut begun, mut unread) = (false, 0);
        for line in lines {
            match line {
                Ok(table) => {
                    if !begun {
                        self.begin(name, sha256);
                        begun = true;
                    }
                    self.take(table, change, name, progress)?;
                }
                Err(error) => {
                    unread += 1;
                    if unread <= MOST_TOLD {
                        change.problems.push(error.to_string());
                    }
                }
            }
        }
        if unread > MOST_TOLD {
            change.problems.push(format!("{name}: and {} more lines", unread - MOST_TOLD));
        }
        if !begun && unread == 0 {
            self.begin(name, sha256);
            begun = true;
        }
        Ok(begun)
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
