//! A benchmark as files: in the project's own form, and in the published one.
//!
//! | form | tables | questions |
//! |---|---|---|
//! | own | `tables.jsonl`: [`TableRecord`] with `source_table`, `split`, `cut` | `questions.jsonl`: [`TableQuestion`] with `source_table`, `split`, and `label` or `answers` where known |
//! | published | `NAME_table.jsonl`: `table_idx`, `source_table_idx`, `split`, `caption`, `table: {header, rows}`, `example_query` | `NAME_query.jsonl`: `query`, `source_table_idx`, `label` |

use std::collections::{HashMap, HashSet};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tabsegnet_datasets::tables::{Record, TableQuestion, TableRecord};
use tabsegnet_store::{FileError, write_atomic};

use super::source::{lines, text};
use super::{Benchmark, Cut, MultiTableError, MultiTableQuestion, Part, SubTable};

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct OwnTable {
    #[serde(flatten)]
    record: TableRecord,
    source_table: String,
    split: Option<Part>,
    cut: Option<Cut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    example_query: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct OwnQuestion {
    #[serde(flatten)]
    record: TableQuestion,
    source_table: String,
    split: Option<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct PublishedTable {
    table_idx: Value,
    source_table_idx: Value,
    split: Value,
    caption: Value,
    // Only header and rows of it are there; read as one, its cells may be of any kind.
    table: Grid,
    example_query: Value,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Grid {
    #[serde(rename = "header")]
    column_headers: Vec<Value>,
    rows: Vec<Vec<Value>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct PublishedQuestion {
    query: String,
    source_table_idx: Value,
    label: Value,
}

const SOURCE: (&str, &str) = ("source_table", "the id of the table that it is of");

impl Record for OwnTable {
    fn missing(&self) -> Option<(&'static str, &'static str)> {
        self.record.missing().or(self.source_table.is_empty().then_some(SOURCE))
    }
}

impl Record for OwnQuestion {
    fn missing(&self) -> Option<(&'static str, &'static str)> {
        self.record.missing().or(self.source_table.is_empty().then_some(SOURCE))
    }
}

impl Record for PublishedTable {
    fn missing(&self) -> Option<(&'static str, &'static str)> {
        let id = self.table_idx.is_null().then_some(("table_idx", "the table's number or id"));
        id.or(self.source_table_idx.is_null().then_some(("source_table_idx", SOURCE.1)))
    }
}

impl Record for PublishedQuestion {
    fn missing(&self) -> Option<(&'static str, &'static str)> {
        let text = self.query.trim().is_empty().then_some(("query", "the question's text"));
        text.or(self.source_table_idx.is_null().then_some(("source_table_idx", SOURCE.1)))
    }
}

/// Writes `tables.jsonl` and `questions.jsonl` into a folder, each whole or not at all.
///
/// The questions that stood there go first and the new ones come last: a folder with both never has the tables of one
/// benchmark and the questions of another.
///
/// # Errors
/// A file that cannot be written.
pub fn write_own(benchmark: &Benchmark, folder: &Path) -> Result<(), MultiTableError> {
    let tables = benchmark.tables.iter().map(|table| OwnTable {
        record: table.record.clone(),
        source_table: table.source_table.clone(),
        split: Some(Part::of(&table.source_table)),
        cut: Some(table.cut),
        example_query: table.examples.clone(),
    });
    let questions = benchmark.questions.iter().map(|question| OwnQuestion {
        record: question.record.clone(),
        source_table: question.source_table.clone(),
        split: Some(Part::of(&question.source_table)),
        label: question.label.map(u8::from),
        answers: question.answers.clone(),
    });
    write([&folder.join("tables.jsonl"), &folder.join("questions.jsonl")], tables, questions)
}

/// Writes `NAME_table.jsonl` and `NAME_query.jsonl` into a folder, as [`write_own`]. Ids that are whole numbers are
/// written as such. Ids of questions and sources of tables have no place in this form.
///
/// # Errors
/// A file that cannot be written.
pub fn write_published(benchmark: &Benchmark, folder: &Path, name: &str) -> Result<(), MultiTableError> {
    let cells = |cells: &Vec<String>| cells.iter().map(|cell| Value::from(cell.as_str())).collect::<Vec<Value>>();
    let tables = benchmark.tables.iter().map(|table| PublishedTable {
        table_idx: index(&table.record.id),
        source_table_idx: index(&table.source_table),
        split: json!(Part::of(&table.source_table)),
        caption: json!(table.record.caption),
        table: Grid {
            column_headers: cells(&table.record.column_headers),
            rows: table.record.rows.iter().map(cells).collect(),
        },
        example_query: json!(table.examples),
    });
    let questions = benchmark.questions.iter().map(|question| PublishedQuestion {
        query: question.record.question.clone(),
        source_table_idx: index(&question.source_table),
        label: match question.label {
            Some(label) => json!(u8::from(label)),
            None if question.answers.is_empty() => Value::Null,
            None => json!(question.answers),
        },
    });
    let [tables_file, questions_file] = published_files(folder, name);
    write([&tables_file, &questions_file], tables, questions)
}

/// Reads what [`write_own`] wrote.
///
/// # Errors
/// A file or line that cannot be read, ids that are not unique, and a question of a table that is not there.
pub fn read_own(folder: &Path) -> Result<Benchmark, MultiTableError> {
    let tables: Vec<OwnTable> = lines(&folder.join("tables.jsonl"))?;
    let questions: Vec<OwnQuestion> = lines(&folder.join("questions.jsonl"))?;
    let tables = tables.into_iter().map(|table| SubTable {
        record: table.record,
        source_table: table.source_table,
        cut: table.cut.unwrap_or(Cut::Whole),
        examples: table.example_query,
    });
    let questions = questions.into_iter().map(|question| MultiTableQuestion {
        record: question.record,
        source_table: question.source_table,
        label: question.label.map(|label| label == 1),
        answers: question.answers,
    });
    checked(Benchmark { tables: tables.collect(), questions: questions.collect() })
}

/// Reads the published form. Gold is all tables of the question's source; a question's id is its place in the file; a
/// label that is the number 0 or 1 is a statement's, anything else is an answer or a list of them. How a table was cut
/// is told from the headers of the parts.
///
/// # Errors
/// As [`read_own`].
pub fn read_published(folder: &Path, name: &str) -> Result<Benchmark, MultiTableError> {
    let [tables_file, questions_file] = published_files(folder, name);
    let published: Vec<PublishedTable> = lines(&tables_file)?;
    let questions: Vec<PublishedQuestion> = lines(&questions_file)?;
    let cells = |cells: &Vec<Value>| cells.iter().map(text).collect::<Vec<String>>();
    let mut tables: Vec<SubTable> = published
        .iter()
        .map(|table| SubTable {
            record: TableRecord {
                id: text(&table.table_idx),
                caption: text(&table.caption),
                column_headers: cells(&table.table.column_headers),
                rows: table.table.rows.iter().map(cells).collect(),
                ..TableRecord::default()
            },
            source_table: text(&table.source_table_idx),
            cut: Cut::Whole,
            examples: match &table.example_query {
                Value::Array(examples) => examples.iter().map(text).collect(),
                Value::Null => Vec::new(),
                example => vec![text(example)],
            },
        })
        .collect();
    let mut parts: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, table) in tables.iter().enumerate() {
        parts.entry(table.source_table.clone()).or_default().push(place);
    }
    for places in parts.values() {
        let header = |place: usize| tables.get(place).map(|table| &table.record.column_headers);
        let same = places.windows(2).all(|pair| matches!(pair, [a, b] if header(*a) == header(*b)));
        let cut = match (places.len(), same) {
            (1, _) => Cut::Whole,
            (_, true) => Cut::Rows,
            (_, false) => Cut::Columns,
        };
        for &place in places {
            if let Some(table) = tables.get_mut(place) {
                table.cut = cut;
            }
        }
    }
    let questions = questions.into_iter().enumerate().map(|(place, question)| {
        let source_table = text(&question.source_table_idx);
        let (label, answers) = match &question.label {
            Value::Null => (None, Vec::new()),
            Value::Number(number) if number.as_u64().is_some_and(|label| label < 2) => {
                (Some(number.as_u64() == Some(1)), Vec::new())
            }
            Value::Array(answers) => (None, answers.iter().map(text).collect()),
            answer => (None, vec![text(answer)]),
        };
        let gold = parts.get(&source_table).into_iter().flatten();
        let gold = gold.filter_map(|place| Some(tables.get(*place)?.record.id.clone())).collect();
        let record =
            TableQuestion { id: place.to_string(), question: question.query, tables: gold, ..TableQuestion::default() };
        MultiTableQuestion { record, source_table, label, answers }
    });
    let questions = questions.collect();
    checked(Benchmark { tables, questions })
}

/// Reads the published form of one or several data sets as one benchmark; `FOLDER/NAME` stands for its two files. Of
/// several, ids get `NAME/` before them, since each may count its tables from 0.
///
/// # Errors
/// As [`read_own`].
pub fn read_published_all(stems: &[PathBuf]) -> Result<Benchmark, MultiTableError> {
    let mut all = Benchmark::default();
    for stem in stems {
        let name = stem.file_name().unwrap_or_default().to_string_lossy();
        let mut read = read_published(stem.parent().unwrap_or(Path::new("")), &name)?;
        if stems.len() > 1 {
            let put_name = |id: &mut String| id.insert_str(0, &format!("{name}/"));
            for table in &mut read.tables {
                put_name(&mut table.record.id);
                put_name(&mut table.source_table);
            }
            for question in &mut read.questions {
                put_name(&mut question.record.id);
                put_name(&mut question.source_table);
                question.record.tables.iter_mut().for_each(put_name);
            }
        }
        all.tables.extend(read.tables);
        all.questions.extend(read.questions);
    }
    checked(all)
}

/// Ids are unique, and each question's tables are there.
fn checked(benchmark: Benchmark) -> Result<Benchmark, MultiTableError> {
    let mut tables = HashSet::new();
    if let Some(twice) = benchmark.tables.iter().find(|table| !tables.insert(table.record.id.as_str())) {
        return Err(MultiTableError::Duplicate { what: "table", id: twice.record.id.clone() });
    }
    let mut ids = HashSet::new();
    for question in &benchmark.questions {
        let record = &question.record;
        if !ids.insert(record.id.as_str()) {
            return Err(MultiTableError::Duplicate { what: "question", id: record.id.clone() });
        }
        let unknown = match record.tables.is_empty() {
            true => Some(&question.source_table),
            false => record.tables.iter().find(|table| !tables.contains(table.as_str())),
        };
        if let Some(table) = unknown {
            return Err(MultiTableError::UnknownTable { question: record.id.clone(), table: table.clone() });
        }
    }
    Ok(benchmark)
}

fn published_files(folder: &Path, name: &str) -> [PathBuf; 2] {
    ["table", "query"].map(|what| folder.join(format!("{name}_{what}.jsonl")))
}

/// A whole number as one, where its text is that number's.
fn index(id: &str) -> Value {
    match id.parse::<u64>() {
        Ok(number) if number.to_string() == id => json!(number),
        _ => json!(id),
    }
}

fn write<T: Serialize, Q: Serialize>(
    [tables_file, questions_file]: [&Path; 2],
    tables: impl Iterator<Item = T>,
    questions: impl Iterator<Item = Q>,
) -> Result<(), MultiTableError> {
    match std::fs::remove_file(questions_file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(FileError::at(questions_file, "replace")(error).into());
        }
        _ => {}
    }
    write_atomic(tables_file, |out| write_lines(out, tables_file, tables))?;
    write_atomic(questions_file, |out| write_lines(out, questions_file, questions))
}

fn write_lines<T: Serialize>(
    out: &mut BufWriter<&std::fs::File>,
    file: &Path,
    records: impl Iterator<Item = T>,
) -> Result<(), MultiTableError> {
    for record in records {
        serde_json::to_writer(&mut *out, &record).map_err(|error| FileError::at(file, "write")(error.into()))?;
        out.write_all(b"\n").map_err(FileError::at(file, "write"))?;
    }
    Ok(())
}
