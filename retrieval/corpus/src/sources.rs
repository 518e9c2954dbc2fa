//! Tables from files: lines of JSON, plain or packed, every document that the project reads, Parquet and databases.

use std::path::{Path, PathBuf};

use tabsegnet_datasets::tables::{TableRecord, has_lines, read_tables, tables_of};
pub use tabsegnet_document::folders::folders_below;
use tabsegnet_document::folders::{files_below, plain_path};
use tabsegnet_document::{ReadOptions, extension};
use tabsegnet_records::read_file;
use tabsegnet_records::sqlite::has_log;
use tabsegnet_store::{FileError, sha256_file};

use crate::error::CorpusError;
use crate::manifest::SourceFile;
use crate::writer::{Writer, is_of_corpus};

/// What was made of a file.
#[derive(Debug, Default)]
pub struct FileChange {
    /// Whether it is as it was when the corpus took it in; it was not read again then.
    pub unchanged: bool,
    /// Tables taken from it.
    pub tables: usize,
    /// What of it could not be taken, each with its place.
    pub problems: Vec<String>,
    /// What was cut off or guessed as it was read, each with its place.
    pub warnings: Vec<String>,
    /// Tables whose ids were taken; the first of them are among the problems.
    taken: usize,
    /// Tables that took the place of another file's; the first of them are among the warnings.
    replacing: usize,
}

/// The files of paths, those of folders with all below them, each once and by name, and what of them cannot be read, each
/// in words. Hidden ones are left out, and what corpora are made of: one may lie in the folder that it is of.
pub fn files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<String>) {
    files_below(paths, is_of_corpus)
}

/// Where a path leads from the root, through links; of one that leads nowhere its folder counts.
pub(crate) fn whole_path(path: &Path) -> PathBuf {
    let plain = plain_path(path);
    let of_folder = || {
        let folder =
            plain.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })?;
        Some(std::fs::canonicalize(folder).ok()?.join(plain.file_name()?))
    };
    let whole = std::fs::canonicalize(&plain).ok().or_else(of_folder).or_else(|| std::path::absolute(&plain).ok());
    whole.unwrap_or(plain)
}

/// Lines of a file that are told to be unreadable, each.
const MOST_TOLD: usize = 10;

/// Counts one more of a kind, and tells it where it is among the first.
fn tell(told: &mut Vec<String>, count: &mut usize, what: impl FnOnce() -> String) {
    *count += 1;
    if *count <= MOST_TOLD {
        told.push(what());
    }
}

/// The tables of a file, and what was cut off or guessed; why it cannot be read.
fn tables_in(path: &Path, name: &str) -> Result<(Vec<TableRecord>, Vec<String>), String> {
    let read = read_file(path, &ReadOptions::default()).map_err(|error| {
        let is_json = extension(path) == "json";
        let hint = if is_json { "; a file with a table a line is to be called .jsonl" } else { "" };
        format!("{error}{hint}")
    })?;
    let mut tables = tables_of(&read.document, name);
    // What a page calls itself says more than the name of its file.
    if let Some(title) = &read.title {
        tables.iter_mut().for_each(|table| table.title.clone_from(title));
    }
    Ok((tables, read.warnings))
}

/// A file that is read.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a Path,
    /// What the corpus calls it.
    name: &'a str,
    /// The folders that it lies in.
    folders: &'a str,
}

/// Says in what names a table in which folders its file lies: two of the same name are told apart by theirs.
fn in_folders(table: &mut TableRecord, folders: &str) {
    if folders.is_empty() {
        return;
    }
    table.title =
        [folders, table.title.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
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
        self.add_file_in("", path, progress)
    }

    /// The same of a file in some folders below the one that was given ([`folders_below`]), whose names tell its tables from
    /// those of other folders; of a file that was given itself those count that the corpus has of it.
    ///
    /// # Errors
    /// As [`Writer::add_file`].
    pub fn add_file_in(
        &mut self,
        folders: &str,
        path: &Path,
        progress: &mut dyn FnMut(usize),
    ) -> Result<FileChange, CorpusError> {
        // Of its place the corpus keeps a text.
        if whole_path(path).to_str().is_none() {
            let problem = format!("{}: its name or a folder's is no UTF-8; rename it", path.display());
            return Ok(FileChange { problems: vec![problem], ..FileChange::default() });
        }
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
            let had = self.file(&name).cloned();
            let known = had.as_ref().map_or("", |had| had.folders.as_str());
            let folders = if folders.is_empty() { known.to_owned() } else { folders.to_owned() };
            let has_log = has_log(path);
            let is_same = |had: &SourceFile| had.sha256 == sha256 && had.folders == folders;
            if !has_log && had.as_ref().is_some_and(is_same) {
                change.unchanged = true;
                return Ok(change);
            }
            let place = Place { path, name: &name, folders: &folders };
            let begun = self.read_file(place, &sha256, &mut change, progress)?;
            if begun {
                self.lies_at(&name, &whole_path(path), &folders);
            }
            if change.taken > MOST_TOLD {
                change
                    .problems
                    .push(format!("{name}: and {} more tables whose ids are taken", change.taken - MOST_TOLD));
            }
            if change.replacing > MOST_TOLD {
                let more = change.replacing - MOST_TOLD;
                change.warnings.push(format!("{name}: and {more} more tables that take the place of another file's"));
            }
            if stamp(path).ok() == Some(before) {
                // What stands in a log the digest of the file does not tell.
                if has_log || !change.problems.is_empty() {
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
        place: Place<'_>,
        sha256: &str,
        change: &mut FileChange,
        progress: &mut dyn FnMut(usize),
    ) -> Result<bool, CorpusError> {
        let Place { path, name, .. } = place;
        if !has_lines(path) {
            return match tables_in(path, name) {
                Ok((tables, warnings)) => {
                    self.begin(name, sha256);
                    change.warnings.extend(warnings.iter().map(|warning| format!("{name}: {warning}")));
                    for table in tables {
                        self.take(table, change, place, progress)?;
                    }
                    Ok(true)
                }
                Err(problem) => {
                    change.problems.push(problem);
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
                    self.take(table, change, place, progress)?;
                }
                Err(error) => {
                    tell(&mut change.problems, &mut unread, || error.to_string());
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
        mut table: TableRecord,
        change: &mut FileChange,
        Place { name, folders, .. }: Place<'_>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<(), CorpusError> {
        let id = table.id.clone();
        in_folders(&mut table, folders);
        match self.add(table, progress)? {
            Ok(replaced) => {
                change.tables += 1;
                for other in replaced {
                    let told = || format!("{name}: table {id:?} takes the place of the one of {other}");
                    tell(&mut change.warnings, &mut change.replacing, told);
                }
            }
            Err(first) => {
                let told = || format!("{name}: table {id:?}: its id is taken by a table of {first}");
                tell(&mut change.problems, &mut change.taken, told);
                // Read again as well, or the next time this file's table would take its place without a word.
                self.forget(&first);
            }
        }
        Ok(())
    }
}
