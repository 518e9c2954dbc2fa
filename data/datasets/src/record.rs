//! Records of files: where one stands, for messages, and files of one record a line.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tabsegnet_document::{ReadError, from_json};
use tabsegnet_store::read_text;

use crate::error::DataError;

/// A record of a file, for messages.
pub(crate) struct Place<'a> {
    pub file: &'a Path,
    /// The record's id, or its position where it has none.
    pub record: String,
}

impl<'a> Place<'a> {
    /// The record at a position of a file's list.
    pub fn at(file: &'a Path, index: usize) -> Self {
        Self { file, record: format!("#{index}") }
    }

    pub fn error(&self, field: &str, message: impl Into<String>) -> DataError {
        let error = ReadError::Record {
            file: self.file.display().to_string(),
            record: self.record.clone(),
            field: field.to_owned(),
            message: message.into(),
        };
        error.into()
    }

    pub fn require<T>(&self, value: Option<T>, field: &str, expected: &str) -> Result<T, DataError> {
        value.ok_or_else(|| self.error(field, format!("is missing; expected {expected}")))
    }

    /// A question's text, which must be there and not blank.
    pub fn question(&self, text: Option<String>, field: &str) -> Result<String, DataError> {
        let text = self.require(text, field, "the question's text")?;
        if text.trim().is_empty() {
            return Err(self.error(field, "is blank; expected the question's text"));
        }
        Ok(text)
    }
}

/// Ids that must be unique over all files of a data set.
#[derive(Default)]
pub(crate) struct Ids(HashMap<String, PathBuf>);

impl Ids {
    /// Takes the record's id, names the record after it, and refuses it where another has it.
    pub fn take(&mut self, place: &mut Place<'_>, id: Option<String>, field: &str) -> Result<String, DataError> {
        let id = place.require(id, field, "an id of its own")?;
        place.record.clone_from(&id);
        match self.0.insert(id.clone(), place.file.to_owned()) {
            None => Ok(id),
            Some(earlier) => {
                Err(place.error(field, format!("{} has a record of this id already; remove one", earlier.display())))
            }
        }
    }
}

/// The records of files, in order, each with where it stands.
pub(crate) fn read_all<'f, T>(
    files: &'f [PathBuf],
    read: impl Fn(&Path) -> Result<Vec<T>, DataError>,
) -> Result<Vec<(Place<'f>, T)>, DataError> {
    let mut records = Vec::new();
    for file in files {
        records.extend(read(file)?.into_iter().enumerate().map(|(index, record)| (Place::at(file, index), record)));
    }
    Ok(records)
}

/// What to say of a question whose table is in no file.
pub(crate) fn no_such_table(place: &Place<'_>, table: &str) -> DataError {
    place.error("table_id", format!("no file of tables has {table}; name the files in data.tables"))
}

/// A file that is one JSON list of records, at least one.
pub(crate) fn read_list<T: DeserializeOwned>(file: &Path, what: &str) -> Result<Vec<T>, DataError> {
    let records: Vec<T> = from_json(file, &read_text(file)?)?;
    if records.is_empty() {
        Err(no_record(file, &format!("the list of records is empty; expected at least one {what}")))
    } else {
        Ok(records)
    }
}

/// A file of one JSON record a line, at least one; blank lines are passed over.
pub(crate) fn read_lines<T: DeserializeOwned>(file: &Path, what: &str) -> Result<Vec<T>, DataError> {
    let text = read_text(file)?;
    let records: Vec<T> = lines(file, &text).collect::<Result<_, _>>()?;
    if records.is_empty() {
        Err(no_record(file, &format!("no record; expected one {what} a line")))
    } else {
        Ok(records)
    }
}

fn no_record(file: &Path, message: &str) -> DataError {
    let (file, place) = (file.display().to_string(), "the whole file".into());
    ReadError::Json { file, place, message: message.into() }.into()
}

fn lines<T: DeserializeOwned>(file: &Path, text: &str) -> impl Iterator<Item = Result<T, DataError>> {
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(move |(number, line)| {
        Ok(from_json(file, line).map_err(|error| match error {
            ReadError::Json { file, place, message } => {
                ReadError::Json { file, place: format!("line {}, {place}", number + 1), message }
            }
            other => other,
        })?)
    })
}

/// What questions refer to by name, with the file it is from: from files of one record a line
/// (`.jsonl`), each with its name in it, or of one record a file, named by the file (`NAME.json`).
/// Only what is wanted is kept.
pub(crate) fn read_named<T: DeserializeOwned>(
    files: &[PathBuf],
    wanted: &HashSet<String>,
    name: impl Fn(&T) -> Option<&str>,
    field: &str,
) -> Result<HashMap<String, (PathBuf, T)>, DataError> {
    let mut named = HashMap::new();
    for file in files {
        if is_lines(file) {
            let text = read_text(file)?;
            for (index, record) in lines::<T>(file, &text).enumerate() {
                let record = record?;
                let place = Place::at(file, index);
                let name = place.require(name(&record), field, "the name that questions have for it")?.to_owned();
                if wanted.contains(&name) {
                    keep(&mut named, name, file, record, field)?;
                }
            }
        } else if let Some(name) = file.file_stem().and_then(|stem| stem.to_str())
            && wanted.contains(name)
        {
            keep(&mut named, name.to_owned(), file, from_json(file, &read_text(file)?)?, field)?;
        }
    }
    Ok(named)
}

fn keep<T>(
    named: &mut HashMap<String, (PathBuf, T)>,
    name: String,
    file: &Path,
    record: T,
    field: &str,
) -> Result<(), DataError> {
    match named.insert(name.clone(), (file.to_owned(), record)) {
        None => Ok(()),
        Some((earlier, _)) => {
            let place = Place { file, record: name };
            Err(place.error(field, format!("{} has one of this name already; remove one", earlier.display())))
        }
    }
}

/// Whether a file has one record a line.
pub(crate) fn is_lines(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}
