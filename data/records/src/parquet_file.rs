//! Parquet files: a table each, rows one by one.
//!
//! Numbers, texts, truth values (as 0 and 1), dates and times (as ISO texts) are taken as they are; a decimal number with
//! more digits than a float holds has its digits in a text beside it; what is nested is its JSON.

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
use serde_json::{Map, Value as Json};

use crate::error::RecordsError;
use crate::iso::{date, time, timestamp};
use crate::records::Records;
use crate::values::{hex, text};

/// What values of a column are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number.
    Real,
    /// A decimal number.
    Decimal {
        /// Whether a float holds its digits.
        exact: bool,
    },
    /// A day.
    Date,
    /// A time since 1970.
    Timestamp {
        /// Parts of a second that it counts.
        parts: i64,
    },
    /// A time of day.
    Time {
        /// Parts of a second that it counts.
        parts: i64,
    },
    /// A text.
    Text,
    /// Bytes.
    Bytes,
    /// A list, a map, a record: as JSON.
    Nested,
}

/// Digits that a float holds exactly, and an integer of SQLite.
const EXACT: i32 = 15;
const WHOLE: i32 = 18;

/// How deep what is nested may be.
const DEPTH: usize = 50;

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name in the file.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
}

impl Column {
    /// Whether each value is followed by its digits as a text, more of them than a float holds.
    pub fn has_digits(&self) -> bool {
        self.kind == Kind::Decimal { exact: false }
    }
}

/// An open file.
pub struct ParquetFile<'f> {
    file: &'f Path,
    reader: SerializedFileReader<File>,
    columns: Vec<Column>,
}

/// Does what reads a file. The reader has assertions of its own against damaged ones.
///
/// # Errors
/// A file that is no Parquet, is damaged, encrypted, or has a type that is not read; those of the work.
pub fn with<T, E: From<RecordsError>>(
    file: &Path,
    work: impl FnOnce(&ParquetFile<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let done = catch_unwind(AssertUnwindSafe(|| work(&ParquetFile::open(file)?)));
    done.unwrap_or_else(|_| Err(RecordsError::file(file, "the Parquet file is damaged").into()))
}

fn unreadable(file: &Path, error: &ParquetError) -> RecordsError {
    RecordsError::file(file, format!("cannot be read as Parquet: {error}"))
}

impl<'f> ParquetFile<'f> {
    fn open(file: &'f Path) -> Result<Self, RecordsError> {
        let opened = File::open(file).map_err(|error| RecordsError::file(file, error.to_string()))?;
        let reader = SerializedFileReader::new(opened).map_err(|error| unreadable(file, &error))?;
        let columns = columns(reader.metadata().file_metadata().schema_descr());
        let columns = columns.map_err(|message| RecordsError::file(file, message))?;
        Ok(Self { file, reader, columns })
    }

    /// Its columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The values of each row, one a column, and after those of columns with digits these.
    ///
    /// # Errors
    /// A damaged file; a value that SQLite cannot hold.
    pub fn rows(&self) -> Result<impl Iterator<Item = Result<Vec<Value>, RecordsError>> + '_, RecordsError> {
        let rows = self.reader.get_row_iter(None).map_err(|error| unreadable(self.file, &error))?;
        Ok(rows.enumerate().map(move |(number, row)| {
            values(&self.columns, row.map_err(|error| unreadable(self.file, &error))?).map_err(|(column, message)| {
                RecordsError::file(self.file, format!("row {}, column {column}: {message}", number + 1))
            })
        }))
    }

    /// Reads rows as texts until there are as many as a table may have, and says how many rows the file has.
    pub(crate) fn texts(&self, records: &mut Records) -> Result<usize, RecordsError> {
        let all = usize::try_from(self.reader.metadata().file_metadata().num_rows()).unwrap_or_default();
        let mut rows = self.rows()?;
        while !records.is_full()
            && let Some(values) = rows.next()
        {
            let mut values = values?.into_iter();
            let cell = |column: &Column| {
                let value = values.next();
                // All digits rather than the number that a float holds.
                let value = if column.has_digits() { values.next() } else { value };
                value.map_or_else(String::new, text)
            };
            records.push(self.columns.iter().map(cell).collect());
        }
        Ok(all)
    }
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
    let fields = schema.root_schema().get_fields().iter();
    Ok(fields.map(|field| Column { name: field.name().to_owned(), kind: kind(field) }).collect())
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
            Field::Decimal(decimal) if column.has_digits() => Value::Text(decimal_text(decimal)),
            _ => Value::Null,
        };
        values.push(value(column.kind, field).map_err(|message| (name, message))?);
        if column.has_digits() {
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
