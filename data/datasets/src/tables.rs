//! Tables of a corpus and questions put to it, one a line of JSON: `{"id", "source", "title", "section", "caption",
//! "header": […], "rows": [[…]…]}` and `{"id", "question", "tables": [ids of the gold tables]}`. Files whose names end in
//! `.gz` are unpacked as they are read; a file is never in memory whole. Keys beside these are left alone.

mod of_document;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tabsegnet_document::{ReadError, from_json};
use tabsegnet_store::{FileError, read_bytes};

use crate::error::DataError;
use crate::record::Place;

pub use of_document::tables_of;

/// Bytes of the longest line: a table beyond is no table of a corpus, and a file without line breaks is none of these.
const LONGEST_LINE: u64 = 256 << 20;

/// A table of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TableRecord {
    /// What rankings and gold name it by; unique in a corpus. A number is read as it is written.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// Where it is from: a collection, a file.
    pub source: String,
    /// Title of the page or document it stands in.
    #[serde(deserialize_with = "text")]
    pub title: String,
    /// Headings above it, joined with " -- ".
    #[serde(deserialize_with = "text")]
    pub section: String,
    /// Its caption.
    #[serde(deserialize_with = "text")]
    pub caption: String,
    /// Its column headers; rows may be longer or shorter.
    #[serde(rename = "header", deserialize_with = "texts")]
    pub column_headers: Vec<String>,
    /// Its rows, without the header.
    #[serde(deserialize_with = "rows")]
    pub rows: Vec<Vec<String>>,
    /// Where it stands, of a table of a document; a line of JSON has none.
    #[serde(rename = "in_document", skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Excerpt>,
}

/// A table in its document: as it is there, with all header rows and merged cells, and the sentences beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excerpt {
    /// Sentences and the table, as the project's JSON of a document; the table has the number that it has in its document.
    pub document: String,
    /// The number, in the document, of the first of the sentences.
    pub passage: usize,
}

/// A question to a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TableQuestion {
    /// Its id.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// Its text.
    pub question: String,
    /// Ids of the tables that hold the answer, all of which are wanted; empty where it is not known.
    #[serde(deserialize_with = "texts")]
    pub tables: Vec<String>,
    /// The table that these are parts of, where they are parts of one: questions of one source are no independent
    /// observations.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source_table: String,
    /// A part of the questions, where a file has several: `tune`, `test`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub split: String,
}

/// A cell as text, whatever JSON has for it: null is empty, a number is written out.
fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(cell(Value::deserialize(from)?))
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::<Value>::deserialize(from)?.into_iter().map(cell).collect())
}

fn rows<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<String>>, D::Error> {
    let rows = Vec::<Vec<Value>>::deserialize(from)?;
    Ok(rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect())
}

/// The records of a file, one a line, as they are read; blank lines are left out.
pub struct Lines<T> {
    file: PathBuf,
    reader: Box<dyn BufRead + Send>,
    line: Vec<u8>,
    number: usize,
    /// Whether reading failed: a packed file that is cut off fails again and again.
    failed: bool,
    of: std::marker::PhantomData<fn() -> T>,
}

/// Whether a file holds a table a line.
pub fn has_lines(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    [".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz"].iter().any(|end| name.ends_with(end))
}

/// The tables of a file.
///
/// # Errors
/// The file cannot be opened. What is wrong with a line, its iteration says, with file and line.
pub fn read_tables(file: &Path) -> Result<Lines<TableRecord>, DataError> {
    Lines::open(file)
}

/// The questions of a file, as [`read_tables`].
///
/// # Errors
/// The file cannot be opened.
pub fn read_questions(file: &Path) -> Result<Lines<TableQuestion>, DataError> {
    Lines::open(file)
}

/// The bytes of a file, unpacked where its name ends in `.gz`.
///
/// # Errors
/// The file cannot be read.
pub fn unpacked(file: &Path) -> Result<Vec<u8>, FileError> {
    if !is_packed(file) {
        return read_bytes(file);
    }
    let packed = File::open(file).map_err(FileError::at(file, "read"))?;
    let mut bytes = Vec::new();
    let mut unpacked = MultiGzDecoder::new(BufReader::new(packed));
    unpacked.read_to_end(&mut bytes).map_err(FileError::at(file, "read"))?;
    Ok(bytes)
}

fn is_packed(file: &Path) -> bool {
    file.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"))
}

impl<T> Lines<T> {
    /// Opens a file, unpacking it where its name ends in `.gz`.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(file: &Path) -> Result<Self, DataError> {
        let opened = File::open(file).map_err(FileError::at(file, "read"))?;
        let reader: Box<dyn BufRead + Send> = match is_packed(file) {
            true => Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(opened)))),
            false => Box::new(BufReader::new(opened)),
        };
        Ok(Self {
            file: file.to_owned(),
            reader,
            line: Vec::new(),
            number: 0,
            failed: false,
            of: std::marker::PhantomData,
        })
    }

    /// What is wrong with the line.
    fn wrong(&self) -> DataError
    where
        T: DeserializeOwned,
    {
        let line = String::from_utf8_lossy(&self.line);
        match from_json::<T>(&self.file, &line) {
            // Else the place is in words: that of the line as a whole.
            Err(ReadError::Json { place, message, .. }) => {
                let field = if place.contains(' ') { "" } else { &place };
                self.place().error(field, of_line(&message))
            }
            Err(error) => error.into(),
            Ok(_) => self.place().error("", "is no UTF-8; save the file as UTF-8"),
        }
    }

    fn place(&self) -> Place<'_> {
        Place { file: &self.file, record: format!("line {}", self.number) }
    }
}

/// A message about a file's line by itself: which line of it says nothing.
pub fn of_line(message: &str) -> String {
    message.replace(" at line 1 column ", " at column ")
}

/// What a line must have.
pub trait Record: DeserializeOwned {
    /// What is missing: the key, and what was expected.
    fn missing(&self) -> Option<(&'static str, &'static str)>;
}

impl Record for TableRecord {
    fn missing(&self) -> Option<(&'static str, &'static str)> {
        let id = self.id.trim().is_empty().then_some(("id", "the table's id"));
        let empty = self.column_headers.is_empty() && self.rows.is_empty();
        id.or(empty.then_some(("rows", "a table, with a header or rows")))
    }
}

impl Record for TableQuestion {
    fn missing(&self) -> Option<(&'static str, &'static str)> {
        let id = self.id.trim().is_empty().then_some(("id", "the question's id"));
        id.or(self.question.trim().is_empty().then_some(("question", "the question's text")))
    }
}

/// What some programs write before the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl<T: Record> Iterator for Lines<T> {
    type Item = Result<T, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.failed {
                return None;
            }
            self.line.clear();
            self.number += 1;
            match (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.line) {
                Ok(0) => return None,
                Ok(read) if read as u64 == LONGEST_LINE => {
                    return Some(Err(self.place().error("", format!("is longer than {LONGEST_LINE} bytes"))));
                }
                Ok(_) => {}
                Err(error) => {
                    self.failed = true;
                    return Some(Err(FileError::at(&self.file, "read")(error).into()));
                }
            }
            if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            if self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            // Not by its path at once: that takes time, and a line that is wrong is rare.
            return Some(match serde_json::from_slice::<T>(&self.line) {
                Ok(record) => match record.missing() {
                    None => Ok(record),
                    Some((field, expected)) => {
                        Err(self.place().error(field, format!("is missing; expected {expected}")))
                    }
                },
                Err(_) => Err(self.wrong()),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (dir, path)
    }

    const LINES: &str = "{\"id\":\"a\",\"title\":null,\"header\":[\"x\",2],\"rows\":[[null,1.5],[true]],\"url\":\"u\"}\n\n{\"id\":\"b\",\"header\":[\"x\"]}";

    #[test]
    fn tables_are_read_plain_and_packed_whatever_a_cell_is() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(LINES.as_bytes()).unwrap();
        let marked = format!("\u{feff}{LINES}").into_bytes();
        let packed = packed.finish().unwrap();
        for (name, bytes) in [("t.jsonl", LINES.as_bytes().to_vec()), ("m.jsonl", marked), ("t.jsonl.gz", packed)] {
            let (_dir, path) = file(name, &bytes);
            let tables: Vec<TableRecord> = read_tables(&path).unwrap().map(Result::unwrap).collect();
            assert_eq!(tables[0].column_headers, ["x", "2"]);
            assert_eq!(tables[0].rows, [vec!["".to_owned(), "1.5".into()], vec!["true".into()]]);
            assert_eq!((tables[1].id.as_str(), tables.len()), ("b", 2));
        }
    }

    #[test]
    fn a_packed_file_that_is_cut_off_is_said_once() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(LINES.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        for bytes in [&packed[..5], &packed[..packed.len() / 2], &packed[..packed.len() - 1], b"no gzip"] {
            let (_dir, path) = file("t.jsonl.gz", bytes);
            let found: Vec<_> = read_tables(&path).unwrap().take(9).collect();
            assert_eq!(found.iter().filter(|line| line.is_err()).count(), 1, "{} bytes", bytes.len());
            assert!(found.last().unwrap().as_ref().unwrap_err().to_string().contains("t.jsonl.gz"));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let of = |text: &str| {
            let (_dir, path) = file("t.jsonl", text.as_bytes());
            let found: Vec<_> = read_tables(&path).unwrap().collect();
            found.into_iter().find_map(Result::err).unwrap().to_string()
        };
        assert!(
            of("{\"id\":\"a\",\"rows\":[[1]]}\n{\"title\":\"x\"}").contains("line 2"),
            "{}",
            of("{\"id\":\"a\",\"rows\":[[1]]}\n{\"title\":\"x\"}")
        );
        let question = of("{\"id\":\"q\",\"question\":\"Who won?\"}");
        assert!(question.contains("rows: is missing; expected a table"), "{question}");
        assert!(of("{\"id\":\"a\",").contains("line 1"));
        assert!(of("[1]").contains("line 1"));
        let typed = of("{\"id\":\"a\",\"header\":\"City\",\"rows\":[]}");
        assert!(
            typed.contains("line 1, field header: invalid type: string \"City\", expected a list at column"),
            "{typed}"
        );
        let (_dir, path) = file("t.jsonl.gz", b"no gzip");
        assert!(read_tables(&path).unwrap().next().unwrap().is_err());
        assert!(read_tables(Path::new("no/such.jsonl")).is_err());
        let (_dir, path) = file("q.jsonl", b"{\"id\":\"q\",\"question\":\" \"}");
        assert!(read_questions(&path).unwrap().next().unwrap().unwrap_err().to_string().contains("question"));
    }
}
