//! Parquet files: a table each, rows one by one.
//!
//! Numbers, texts, truth values (as 0 and 1), dates and times (as ISO texts) are taken as they are; a decimal number with
//! more digits than a float holds has its digits in a column of texts beside it; what is nested is its JSON.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::Decimal;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescriptor, Type};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use serde_json::{Map, Value as Json};

use super::{ColumnType, ImportError, ImportedColumn, MAX_COLUMNS, Names};
use crate::catalogue::quote;
use crate::iso::{date, time, timestamp};
use crate::rows::hex;

/// What values of a field are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Real,
    /// A decimal number; whether a float holds its digits.
    Decimal {
        exact: bool,
    },
    Date,
    /// A time since 1970 in so many parts of a second.
    Timestamp {
        parts: i64,
    },
    /// A time of day in so many parts of a second.
    Time {
        parts: i64,
    },
    Text,
    Bytes,
    Nested,
}

/// Digits that a float holds exactly, and an integer of SQLite.
const EXACT: i32 = 15;
const WHOLE: i32 = 18;

/// How deep what is nested may be.
const DEPTH: usize = 50;

struct Column {
    kind: Kind,
    imported: ImportedColumn,
    /// The column of digits beside it.
    digits: Option<ImportedColumn>,
}

impl Column {
    /// The columns of the database that it becomes.
    fn imported(&self) -> impl Iterator<Item = &ImportedColumn> {
        std::iter::once(&self.imported).chain(&self.digits)
    }
}

/// Makes a table of a file; its columns.
///
/// # Errors
/// A file that is no Parquet, is damaged, encrypted, or has a type or value that SQLite cannot hold.
pub(super) fn import(file: &Path, connection: &Connection, table: &str) -> Result<Vec<ImportedColumn>, ImportError> {
    guarded(file, || {
        let (reader, columns) = open(file)?;
        let imported: Vec<ImportedColumn> = columns.iter().flat_map(Column::imported).cloned().collect();
        let declared = |column: &Column| match column.kind {
            Kind::Date => "DATE",
            Kind::Timestamp { .. } => "TIMESTAMP",
            Kind::Bytes => "BLOB",
            _ => column.imported.kind.sql(),
        };
        let definitions = columns.iter().flat_map(|column| {
            let beside = column.digits.iter().map(|digits| format!("{} TEXT", quote(&digits.name)));
            std::iter::once(format!("{} {}", quote(&column.imported.name), declared(column))).chain(beside)
        });
        let definitions: Vec<String> = definitions.collect();
        connection.execute(&format!("CREATE TABLE {} ({})", quote(table), definitions.join(", ")), [])?;
        let marks = vec!["?"; imported.len()].join(", ");
        let mut insert = connection.prepare(&format!("INSERT INTO {} VALUES ({marks})", quote(table)))?;
        for values in rows(file, &reader, &columns)? {
            insert.execute(params_from_iter(values?))?;
        }
        Ok(imported)
    })
}

/// What a file holds, as texts.
pub(super) struct Texts {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// How many rows the file has.
    pub(super) all: usize,
}

/// Header and rows as texts, of rows as many as have `most` cells.
///
/// # Errors
/// As [`import`].
pub(super) fn texts(file: &Path, most: usize) -> Result<Texts, ImportError> {
    guarded(file, || {
        let (reader, columns) = open(file)?;
        let header: Vec<String> = columns.iter().map(|column| column.imported.header.clone()).collect();
        let all = usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or_default();
        let mut found = Vec::new();
        for values in rows(file, &reader, &columns)?.take(most / header.len().max(1)) {
            let mut values = values?.into_iter();
            let cell = |column: &Column| {
                let value = values.next();
                // All digits rather than the number that a float holds.
                let value = if column.digits.is_some() { values.next() } else { value };
                value.map_or_else(String::new, text)
            };
            found.push(columns.iter().map(cell).collect());
        }
        Ok(Texts { header, rows: found, all })
    })
}

/// Does what reads a file. The reader has assertions of its own against damaged ones.
fn guarded<T>(file: &Path, work: impl FnOnce() -> Result<T, ImportError>) -> Result<T, ImportError> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(failed(file, "the Parquet file is damaged".to_owned())))
}

fn failed(file: &Path, message: String) -> ImportError {
    ImportError::File { path: file.to_owned(), message }
}

fn unreadable(file: &Path, error: &ParquetError) -> ImportError {
    failed(file, format!("cannot be read as Parquet: {error}"))
}

/// A file with its columns.
fn open(file: &Path) -> Result<(SerializedFileReader<File>, Vec<Column>), ImportError> {
    let opened = File::open(file).map_err(|error| failed(file, error.to_string()))?;
    let reader = SerializedFileReader::new(opened).map_err(|error| unreadable(file, &error))?;
    let columns = columns(reader.metadata().file_metadata().schema_descr()).map_err(|message| failed(file, message))?;
    let count = columns.iter().flat_map(Column::imported).count();
    if count > MAX_COLUMNS || count == 0 {
        return Err(failed(file, format!("has {count} columns; a table can have 1 to {MAX_COLUMNS}")));
    }
    Ok((reader, columns))
}

/// The values of each row.
fn rows<'r>(
    file: &'r Path,
    reader: &'r SerializedFileReader<File>,
    columns: &'r [Column],
) -> Result<impl Iterator<Item = Result<Vec<Value>, ImportError>> + 'r, ImportError> {
    let rows = reader.get_row_iter(None).map_err(|error| unreadable(file, &error))?;
    Ok(rows.enumerate().map(move |(number, row)| {
        values(columns, row.map_err(|error| unreadable(file, &error))?)
            .map_err(|(column, message)| failed(file, format!("row {}, column {column}: {message}", number + 1)))
    }))
}

/// The columns of a file, or what of them cannot be read.
fn columns(schema: &SchemaDescriptor) -> Result<Vec<Column>, String> {
    // What the reader would stop the program at.
    for leaf in schema.columns() {
        let path = leaf.path();
        if path.parts().len() > DEPTH {
            return Err(format!("column {path}: is nested {} deep; at most {DEPTH} is read", path.parts().len()));
        }
        if leaf.converted_type() == ConvertedType::INTERVAL {
            return Err(format!(
                "column {path}: has the type INTERVAL, which is not read; cast it to a text or number"
            ));
        }
    }
    let mut names = Names::default();
    let mut columns = Vec::new();
    for (source, field) in schema.root_schema().get_fields().iter().enumerate() {
        let kind = kind(field);
        let sql = match kind {
            Kind::Integer => ColumnType::Integer,
            Kind::Real | Kind::Decimal { .. } => ColumnType::Real,
            _ => ColumnType::Text,
        };
        let name = names.take(field.name(), &format!("column_{}", source + 1));
        let column = |name: String, kind: ColumnType, text_of_number: bool| ImportedColumn {
            name,
            header: field.name().to_owned(),
            kind,
            unit: None,
            source,
            text_of_number,
        };
        let digits = (kind == Kind::Decimal { exact: false })
            .then(|| column(names.take(&format!("{name}_text"), "text"), ColumnType::Text, true));
        columns.push(Column { kind, imported: column(name, sql, false), digits });
    }
    Ok(columns)
}

fn kind(field: &Type) -> Kind {
    let info = field.get_basic_info();
    if !field.is_primitive() || info.has_repetition() && info.repetition() == Repetition::REPEATED {
        return Kind::Nested;
    }
    let parts = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    };
    match info.logical_type_ref() {
        Some(LogicalType::Timestamp(of)) => return Kind::Timestamp { parts: parts(&of.unit) },
        Some(LogicalType::Time(of)) => return Kind::Time { parts: parts(&of.unit) },
        Some(LogicalType::Float16) => return Kind::Real,
        _ => {}
    }
    match (info.converted_type(), field.get_physical_type()) {
        (ConvertedType::DECIMAL, _) => match (field.get_precision(), field.get_scale()) {
            (precision, 0) if precision <= WHOLE => Kind::Integer,
            (precision, _) => Kind::Decimal { exact: precision <= EXACT },
        },
        (ConvertedType::DATE, _) => Kind::Date,
        (ConvertedType::TIMESTAMP_MILLIS, _) | (_, Physical::INT96) => Kind::Timestamp { parts: 1_000 },
        (ConvertedType::TIMESTAMP_MICROS, _) => Kind::Timestamp { parts: 1_000_000 },
        (ConvertedType::TIME_MILLIS, _) => Kind::Time { parts: 1_000 },
        (ConvertedType::TIME_MICROS, _) => Kind::Time { parts: 1_000_000 },
        (ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON, _) => Kind::Text,
        (_, Physical::BOOLEAN | Physical::INT32 | Physical::INT64) => Kind::Integer,
        (_, Physical::FLOAT | Physical::DOUBLE) => Kind::Real,
        (_, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => Kind::Bytes,
    }
}

/// The values of a row; of one that cannot be held its column, and why.
fn values(columns: &[Column], row: Row) -> Result<Vec<Value>, (String, String)> {
    let mut values = Vec::with_capacity(columns.len());
    for (column, (name, field)) in columns.iter().zip(row.into_columns()) {
        let digits = match &field {
            Field::Decimal(decimal) if column.digits.is_some() => Value::Text(decimal_text(decimal)),
            _ => Value::Null,
        };
        values.push(value(column.kind, field).map_err(|message| (name, message))?);
        if column.digits.is_some() {
            values.push(digits);
        }
    }
    Ok(values)
}

fn value(kind: Kind, field: Field) -> Result<Value, String> {
    let whole = |field: &Field| match field {
        Field::Int(value) | Field::TimeMillis(value) | Field::Date(value) => Some(i64::from(*value)),
        Field::Long(value)
        | Field::TimeMicros(value)
        | Field::TimestampMillis(value)
        | Field::TimestampMicros(value) => Some(*value),
        _ => None,
    };
    Ok(match (kind, field) {
        (_, Field::Null) => Value::Null,
        (Kind::Date, Field::Date(days)) => Value::Text(date(i64::from(days))),
        (Kind::Timestamp { parts }, field) if whole(&field).is_some() => {
            Value::Text(timestamp(whole(&field).unwrap_or_default(), parts))
        }
        (Kind::Time { parts }, field) if whole(&field).is_some() => {
            Value::Text(time(whole(&field).unwrap_or_default(), parts))
        }
        (Kind::Integer, Field::Decimal(decimal)) => {
            Value::Integer(decimal_text(&decimal).parse().map_err(|_| "has more digits than its type says".to_owned())?)
        }
        (Kind::Decimal { .. }, Field::Decimal(decimal)) => {
            Value::Real(decimal_text(&decimal).parse().map_err(|_| "is no number".to_owned())?)
        }
        (_, Field::Bool(value)) => Value::Integer(i64::from(value)),
        (_, Field::Byte(value)) => Value::Integer(i64::from(value)),
        (_, Field::Short(value)) => Value::Integer(i64::from(value)),
        (_, Field::Int(value)) => Value::Integer(i64::from(value)),
        (_, Field::Long(value)) => Value::Integer(value),
        (_, Field::UByte(value)) => Value::Integer(i64::from(value)),
        (_, Field::UShort(value)) => Value::Integer(i64::from(value)),
        (_, Field::UInt(value)) => Value::Integer(i64::from(value)),
        (_, Field::ULong(value)) => Value::Integer(
            i64::try_from(value)
                .map_err(|_| format!("{value} is more than an integer of SQLite holds, {}; cast it", i64::MAX))?,
        ),
        // What is no number is NULL in SQLite.
        (_, Field::Float16(value)) => Value::Real(f64::from(value)),
        (_, Field::Float(value)) => Value::Real(short(value)),
        (_, Field::Double(value)) => Value::Real(value),
        (_, Field::Str(text)) => Value::Text(text),
        (_, Field::Bytes(bytes)) => Value::Blob(bytes.data().to_vec()),
        (_, nested) => Value::Text(json(&nested).to_string()),
    })
}

/// A value as a cell says it.
fn text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        // What is no number is NULL in SQLite.
        Value::Real(value) if value.is_nan() => String::new(),
        Value::Real(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => hex(&bytes),
    }
}

/// 0.1 of 32 bits as 0.1, not as 0.10000000149011612.
fn short(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// What is nested as JSON.
fn json(field: &Field) -> Json {
    let number = |value: f64| serde_json::Number::from_f64(value).map_or(Json::Null, Json::Number);
    let text = |value: Value| match value {
        Value::Integer(value) => Json::from(value),
        Value::Real(value) => number(value),
        Value::Text(value) => Json::String(value),
        _ => Json::Null,
    };
    match field {
        Field::Bool(value) => Json::Bool(*value),
        Field::ULong(value) => Json::from(*value),
        Field::Group(row) => {
            Json::Object(row.get_column_iter().map(|(name, field)| (name.clone(), json(field))).collect())
        }
        Field::ListInternal(list) => Json::Array(list.elements().iter().map(json).collect()),
        Field::MapInternal(map) => {
            let key = |field: &Field| match json(field) {
                Json::String(text) => text,
                other => other.to_string(),
            };
            Json::Object(map.entries().iter().map(|(name, field)| (key(name), json(field))).collect::<Map<_, _>>())
        }
        Field::Bytes(bytes) => Json::String(hex(bytes.data())),
        Field::Decimal(decimal) => Json::String(decimal_text(decimal)),
        Field::Date(days) => Json::String(date(i64::from(*days))),
        Field::TimeMillis(value) => Json::String(time(i64::from(*value), 1_000)),
        Field::TimeMicros(value) => Json::String(time(*value, 1_000_000)),
        Field::TimestampMillis(value) => Json::String(timestamp(*value, 1_000)),
        Field::TimestampMicros(value) => Json::String(timestamp(*value, 1_000_000)),
        other => value(Kind::Text, other.clone()).map_or(Json::Null, text),
    }
}

/// A decimal number's digits: bytes of an integer, the highest first, in two's complement, with a point.
fn decimal_text(decimal: &Decimal) -> String {
    let negative = decimal.data().first().is_some_and(|byte| byte & 0x80 != 0);
    let mut bytes: Vec<u8> = decimal.data().to_vec();
    if negative {
        let mut carry = true;
        for byte in bytes.iter_mut().rev() {
            let (value, over) = (!*byte).overflowing_add(u8::from(carry));
            (*byte, carry) = (value, over);
        }
    }
    let mut digits: Vec<u8> = Vec::new();
    while bytes.iter().any(|byte| *byte != 0) {
        let mut rest = 0_u32;
        for byte in &mut bytes {
            let value = rest * 256 + u32::from(*byte);
            (*byte, rest) = ((value / 10) as u8, value % 10);
        }
        digits.push(b'0' + rest as u8);
    }
    let scale = usize::try_from(decimal.scale()).unwrap_or_default().min(1000);
    while digits.len() <= scale {
        digits.push(b'0');
    }
    let mut text = String::new();
    if negative {
        text.push('-');
    }
    for (at, digit) in digits.iter().enumerate().rev() {
        text.push(char::from(*digit));
        if at == scale && scale > 0 {
            text.push('.');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        let decimal = |data: &[u8], scale: i32| decimal_text(&Decimal::from_bytes(data.to_vec().into(), 38, scale));
        assert_eq!(decimal(&[0x30, 0x39], 2), "123.45");
        assert_eq!(decimal(&[0xff], 2), "-0.01");
        assert_eq!(decimal(&[0x80, 0x00], 0), "-32768");
        assert_eq!(decimal(&[0], 3), "0.000");
        assert_eq!(decimal(&[0x01, 0, 0, 0, 0, 0, 0, 0, 0], 0), "18446744073709551616");
    }
}
