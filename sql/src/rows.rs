//! What a statement answers, and how it is written.

use std::collections::HashSet;
use std::io::{self, Write};

use rusqlite::types::ValueRef;
use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tabsegnet_records::hex;
use unicode_width::UnicodeWidthStr as _;

use crate::rows_as_parquet::parquet;

/// A value of SQLite.
///
/// In JSON: null, a number, a text, `{"blob": "68656c6c6f"}`, and `{"real": "inf"}` or `{"real": "-inf"}` for what JSON
/// has no number for.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A number that is not an integer.
    Real(f64),
    /// A text.
    Text(String),
    /// A blob, or a text that is not UTF-8.
    Blob(Vec<u8>),
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(value) => Self::Integer(value),
            ValueRef::Real(value) => Self::Real(value),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::Text(text.to_owned()),
                Err(_) => Self::Blob(bytes.to_vec()),
            },
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

impl Value {
    /// The number, where it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            #[allow(clippy::cast_precision_loss, reason = "of a column that has fractions too")]
            Self::Integer(value) => Some(*value as f64),
            Self::Real(value) => Some(*value),
            Self::Null | Self::Text(_) | Self::Blob(_) => None,
        }
    }
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|d| d.try_into().ok())).collect();
    let pairs = digits?;
    pairs.chunks(2).map(|pair| if let [high, low] = pair { Some(high * 16 + low) } else { None }).collect()
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tag, text) = match self {
            Self::Real(value) if !value.is_finite() => ("real", value.to_string()),
            Self::Blob(bytes) => ("blob", hex(bytes)),
            Self::Null => return serializer.serialize_unit(),
            Self::Integer(value) => return serializer.serialize_i64(*value),
            Self::Real(value) => return serializer.serialize_f64(*value),
            Self::Text(text) => return serializer.serialize_str(text),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(tag, &text)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Json {
            Null(()),
            Integer(i64),
            Real(f64),
            Text(String),
            Blob { blob: String },
            Infinite { real: String },
        }
        Ok(match Json::deserialize(deserializer)? {
            Json::Null(()) => Self::Null,
            Json::Integer(value) => Self::Integer(value),
            Json::Real(value) => Self::Real(value),
            Json::Text(text) => Self::Text(text),
            Json::Blob { blob } => Self::Blob(unhex(&blob).ok_or_else(|| D::Error::custom("a blob that is not hex"))?),
            Json::Infinite { real } => Self::Real(real.parse().map_err(D::Error::custom)?),
        })
    }
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The name in the answer.
    pub name: String,
    /// The table whose column it is, also through views and subqueries; none where it is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The name in that table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
}

/// What a statement answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a value a column.
    pub rows: Vec<Vec<Value>>,
    /// Whether there are, or may be, more rows than these.
    pub truncated: bool,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns, for people. NULL is `NULL`; control characters are escaped, long values cut.
    Table,
    /// One JSON object in one line.
    Json,
    /// CSV with a header. NULL is an empty field, an empty text is `""`, a blob is hex.
    Csv,
    /// A Parquet file: integers, doubles, texts or bytes, each column of one type.
    Parquet,
}

/// What the values of a column are, NULLs aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// There are none.
    Nothing,
    /// Integers.
    Integers,
    /// Numbers, not all of them integers.
    Numbers,
    /// Blobs.
    Blobs,
    /// Texts, or values of several kinds.
    Texts,
}

impl Rows {
    /// The values of a column, row by row.
    pub(crate) fn values(&self, column: usize) -> impl Iterator<Item = &Value> {
        self.rows.iter().map(move |row| row.get(column).unwrap_or(&Value::Null))
    }

    /// What the values of a column are.
    pub(crate) fn kind(&self, column: usize) -> Kind {
        let mut kind = Kind::Nothing;
        for value in self.values(column) {
            kind = match (kind, value) {
                (_, Value::Null) => kind,
                (Kind::Nothing | Kind::Integers, Value::Integer(_)) => Kind::Integers,
                (Kind::Nothing | Kind::Integers | Kind::Numbers, Value::Integer(_) | Value::Real(_)) => Kind::Numbers,
                (Kind::Nothing | Kind::Blobs, Value::Blob(_)) => Kind::Blobs,
                _ => return Kind::Texts,
            };
        }
        kind
    }

    /// The names of the columns; those that come again get a number.
    pub(crate) fn unique_names(&self) -> Vec<String> {
        let mut taken = HashSet::new();
        let unique = |column: &Column| {
            let mut name = column.name.clone();
            let mut number = 2;
            while !taken.insert(name.clone()) {
                name = format!("{}_{number}", column.name);
                number += 1;
            }
            name
        };
        self.columns.iter().map(unique).collect()
    }

    /// Writes the rows.
    ///
    /// # Errors
    /// What the output gives.
    pub fn write(&self, format: Format, output: &mut impl Write) -> io::Result<()> {
        match format {
            Format::Table => self.write_table(output),
            Format::Json => {
                serde_json::to_writer(&mut *output, self)?;
                writeln!(output)
            }
            Format::Csv => self.write_csv(output),
            Format::Parquet => output.write_all(&parquet(self)?),
        }
    }

    /// About how much memory the rows take.
    pub(crate) fn bytes(&self) -> usize {
        let of_value = |value: &Value| match value {
            Value::Text(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
            Value::Null | Value::Integer(_) | Value::Real(_) => 0,
        };
        self.rows.iter().flatten().map(|value| size_of::<Value>() + of_value(value)).sum()
    }

    fn write_csv(&self, output: &mut impl Write) -> io::Result<()> {
        let names: Vec<String> = self.columns.iter().map(|column| csv_text(&column.name)).collect();
        write!(output, "{}\r\n", names.join(","))?;
        for row in &self.rows {
            let fields: Vec<String> = row
                .iter()
                .map(|value| match value {
                    Value::Null => String::new(),
                    Value::Text(text) => csv_text(text),
                    other => plain(other),
                })
                .collect();
            write!(output, "{}\r\n", fields.join(","))?;
        }
        Ok(())
    }

    fn write_table(&self, output: &mut impl Write) -> io::Result<()> {
        let header: Vec<String> = self.columns.iter().map(|column| cut(&column.name)).collect();
        let cell = |value: &Value| match value {
            Value::Text(text) => cut(text),
            other => cut(&plain(other)),
        };
        let body: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        let mut widths: Vec<usize> = header.iter().map(|name| name.width()).collect();
        for row in &body {
            for (width, text) in widths.iter_mut().zip(row) {
                *width = text.width().max(*width);
            }
        }
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        for line in [&header, &rule].into_iter().chain(&body) {
            let mut text = String::new();
            for (cell, width) in line.iter().zip(&widths) {
                text.push_str(cell);
                text.push_str(&" ".repeat(width.saturating_sub(cell.width()) + 2));
            }
            writeln!(output, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// A value as a text; NULL is `NULL`.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(value) => value.to_string(),
        // With a point, so that 1.0 is not 1.
        Value::Real(value) => format!("{value:?}"),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => hex(bytes),
    }
}

/// Characters of a value in a table for people: one long value would widen every row.
const SHOWN: usize = 120;

/// A text that moves no cursor, cut where it is long.
fn cut(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let end = if shown.len() < text.len() { "…" } else { "" };
    escape_control(&shown) + end
}

fn csv_text(text: &str) -> String {
    if text.is_empty() || text.contains(['"', ',', '\r', '\n']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A text that moves no cursor.
pub(crate) fn escape_control(text: &str) -> String {
    text.chars()
        .flat_map(|letter| {
            let escaped = letter.is_control().then(|| letter.escape_default());
            let kept = escaped.is_none().then_some(letter);
            escaped.into_iter().flatten().chain(kept)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Rows {
        let column = |name: &str| Column { name: name.to_owned(), table: None, column: None };
        Rows {
            columns: vec![column("a"), column("b,c")],
            rows: vec![
                vec![Value::Null, Value::Text(String::new())],
                vec![Value::Real(1.0), Value::Text("ü \"x\"\u{1b}[2J".to_owned())],
                vec![Value::Real(f64::NEG_INFINITY), Value::Blob(vec![0, 255])],
                vec![Value::Integer(i64::MIN), Value::Real(1e300)],
            ],
            truncated: true,
        }
    }

    #[test]
    fn json_gives_back_what_it_was_given() {
        let text = serde_json::to_string(&rows()).unwrap();
        assert!(text.contains(r#"{"blob":"00ff"}"#) && text.contains(r#"[1.0,"#), "{text}");
        assert_eq!(serde_json::from_str::<Rows>(&text).unwrap(), rows());
    }

    #[test]
    fn csv_tells_null_from_an_empty_text() {
        let mut text = Vec::new();
        rows().write(Format::Csv, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("a,\"b,c\"\r\n,\"\"\r\n1.0,\"ü \"\"x\"\"\u{1b}[2J\"\r\n-inf,00ff\r\n"), "{text}");
    }

    #[test]
    fn a_long_value_widens_no_table() {
        let column = |name: String| Column { name, table: None, column: None };
        let rows = Rows {
            columns: vec![column("é".repeat(70_000)), column("b".to_owned())],
            rows: vec![vec![Value::Text("x".repeat(900_000)), Value::Blob(vec![7; 4000])]; 20],
            truncated: false,
        };
        let mut text = Vec::new();
        rows.write(Format::Table, &mut text).unwrap();
        assert!(text.len() < 20_000, "{}", text.len());
        assert!(String::from_utf8(text).unwrap().contains("xx…"));
    }

    #[test]
    fn a_table_moves_no_cursor() {
        let mut text = Vec::new();
        rows().write(Format::Table, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("\\u{1b}[2J") && !text.contains('\u{1b}') && text.contains("NULL"), "{text}");
    }
}
