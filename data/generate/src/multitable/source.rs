//! Tables and questions as they come.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use tabsegnet_datasets::DataError;
use tabsegnet_datasets::tables::{Lines, Record, TableQuestion, TableRecord, has_lines, read_tables, tables_of};
use tabsegnet_document::folders::files_below;
use tabsegnet_document::{ReadOptions, read as read_document};
use tabsegnet_store::Digest;

use super::captions::Topic;
use super::{MultiTableError, SMALLEST};

/// A question of a file, with the keys that some data sets have beside its text and tables.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct SourceQuestion {
    /// Id, text and tables.
    #[serde(flatten)]
    pub record: TableQuestion,
    /// Its answers; empty where they are not known.
    pub answers: Vec<Value>,
    /// Of a statement: 1 or true where the table supports it, 0 or false where it refutes it.
    pub label: Option<Value>,
    /// `lemmatised` where the words are not as they were written (TabFact).
    pub form: Option<String>,
    /// The sequence that it belongs to (SQA).
    pub sequence: Option<String>,
    /// Its place there.
    pub position: Option<u64>,
}

impl Record for SourceQuestion {
    fn missing(&self) -> Option<(&'static str, &'static str)> {
        self.record.missing()
    }
}

impl SourceQuestion {
    /// The label, where there is one.
    pub(super) fn supported(&self) -> Option<bool> {
        match self.label.as_ref()? {
            Value::Bool(label) => Some(*label),
            Value::Number(number) if number.as_i64() == Some(1) => Some(true),
            Value::Number(number) if number.as_i64() == Some(0) => Some(false),
            _ => None,
        }
    }

    /// The answers as text.
    pub(super) fn answers(&self) -> Vec<String> {
        self.answers.iter().map(text).collect()
    }
}

/// A value as text: a string without its quotes, null as nothing.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Tables and questions of files, in order, and why files below folders were left out.
#[derive(Debug, Default)]
pub struct ReadSources {
    /// The tables.
    pub tables: Vec<TableRecord>,
    /// The questions.
    pub questions: Vec<SourceQuestion>,
    /// In words, with the file.
    pub left_out: Vec<String>,
}

/// All tables and questions of files, in order. Files of tables are lines of JSON, documents of every form that is read (a
/// table of one has the id `FILE#t0`, with its number), and folders with such below them; what below a folder is no such
/// document is left out.
///
/// # Errors
/// A file that cannot be opened, or a line that is none; the message has file and line.
pub fn read_sources(tables: &[PathBuf], questions: &[PathBuf]) -> Result<ReadSources, MultiTableError> {
    let mut read = ReadSources::default();
    let (files, problems) = files_below(tables, |_| false);
    if let Some(problem) = problems.into_iter().next() {
        return Err(MultiTableError::Files(problem));
    }
    for file in files {
        if has_lines(&file) {
            for table in read_tables(&file)? {
                read.tables.push(table?);
            }
        } else {
            match read_document(&file, &ReadOptions::default()) {
                Ok(of) => read.tables.extend(tables_of(&of.document, &file.display().to_string())),
                Err(error) if !tables.contains(&file) => read.left_out.push(error.to_string()),
                Err(error) => return Err(DataError::from(error).into()),
            }
        }
    }
    for file in questions {
        read.questions.extend(lines::<SourceQuestion>(file)?);
    }
    Ok(read)
}

/// The records of a file.
pub(super) fn lines<T: Record>(file: &Path) -> Result<Vec<T>, MultiTableError> {
    Ok(Lines::<T>::open(file)?.collect::<Result<_, _>>()?)
}

/// The tables that are cut.
pub(super) struct Sources {
    tables: Vec<TableRecord>,
    /// By id, of all that were given: the place of the table that stands for it; none where that is too small.
    places: HashMap<String, Option<usize>>,
}

impl Sources {
    /// Tables that are large enough and no copies, in their order, with trimmed cells and rows as long as the header.
    /// Of copies the first with a caption stays, else the first.
    pub fn new(tables: &[TableRecord], tally: &mut BTreeMap<&'static str, usize>) -> Result<Self, MultiTableError> {
        let mut ids = HashSet::new();
        if let Some(twice) = tables.iter().find(|table| !ids.insert(table.id.as_str())) {
            return Err(MultiTableError::Duplicate { what: "table", id: twice.id.clone() });
        }
        let mut kept: Vec<TableRecord> = Vec::new();
        let mut of_content: HashMap<[u8; 32], usize> = HashMap::new();
        let mut places: HashMap<String, Option<usize>> = HashMap::new();
        let mut count = |what: &'static str| *tally.entry(what).or_default() += 1;
        for table in tables {
            if table.rows.len() < SMALLEST || table.column_headers.len() < SMALLEST {
                count("tables left out: fewer than 4 rows or columns");
                places.insert(table.id.clone(), None);
                continue;
            }
            let table = rectangular(table);
            let place = *of_content.entry(content(&table)).or_insert(kept.len());
            places.insert(table.id.clone(), Some(place));
            match kept.get_mut(place) {
                None => kept.push(table),
                Some(earlier) => {
                    count("tables left out: copies of another");
                    if Topic::of(earlier).is_none() && Topic::of(&table).is_some() {
                        *earlier = table;
                    }
                }
            }
        }
        match kept.is_empty() {
            true => Err(MultiTableError::NoTable { tables: tables.len() }),
            false => Ok(Self { tables: kept, places }),
        }
    }

    /// All of them, in order.
    pub fn tables(&self) -> impl Iterator<Item = &TableRecord> {
        self.tables.iter()
    }

    /// The table at a place.
    pub fn table(&self, place: usize) -> Option<&TableRecord> {
        self.tables.get(place)
    }

    /// Where the table of an id stands, or that which it is a copy of; `Some(None)` where it was too small, `None` where
    /// no table has this id.
    pub fn place(&self, id: &str) -> Option<Option<usize>> {
        self.places.get(id).copied()
    }
}

fn rectangular(table: &TableRecord) -> TableRecord {
    let width = table.rows.iter().map(Vec::len).fold(table.column_headers.len(), usize::max);
    let row = |cells: &Vec<String>| -> Vec<String> {
        let cells = cells.iter().map(|cell| cell.trim().to_owned());
        cells.chain(std::iter::repeat(String::new())).take(width).collect()
    };
    TableRecord {
        column_headers: row(&table.column_headers),
        rows: table.rows.iter().map(row).collect(),
        ..table.clone()
    }
}

/// What copies have in common: all cells, case aside.
fn content(table: &TableRecord) -> [u8; 32] {
    let rows = std::iter::once(&table.column_headers).chain(&table.rows);
    let row = |digest: Digest, row: &Vec<String>| digest.part(row.join("\n").to_lowercase());
    rows.fold(Digest::new(), row).bytes()
}
