//! Rows as a Parquet file.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::rows::{Rows, Value, plain};

/// The file of some rows: of a column of integers 64-bit ones, of numbers doubles, of blobs bytes, of anything else texts
/// as in CSV; each may be null. Names that come again get a number.
///
/// # Errors
/// What the writer gives.
pub(crate) fn parquet(rows: &Rows) -> io::Result<Vec<u8>> {
    write(rows).map_err(io::Error::other)
}

fn physical(rows: &Rows, column: usize) -> Physical {
    let mut values =
        rows.rows.iter().filter_map(|row| row.get(column)).filter(|value| **value != Value::Null).peekable();
    let any = values.peek().is_some();
    let all = |fits: fn(&Value) -> bool| {
        rows.rows.iter().filter_map(|row| row.get(column)).all(|value| *value == Value::Null || fits(value))
    };
    if any && all(|value| matches!(value, Value::Integer(_))) {
        Physical::INT64
    } else if any && all(|value| matches!(value, Value::Integer(_) | Value::Real(_))) {
        Physical::DOUBLE
    } else {
        Physical::BYTE_ARRAY
    }
}

fn write(rows: &Rows) -> Result<Vec<u8>, ParquetError> {
    let mut taken = HashSet::new();
    let mut fields = Vec::new();
    let mut kinds = Vec::new();
    for (at, column) in rows.columns.iter().enumerate() {
        let mut name = column.name.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{}_{number}", column.name);
            number += 1;
        }
        let kind = physical(rows, at);
        let blobs = kind == Physical::BYTE_ARRAY
            && rows.rows.iter().any(|row| matches!(row.get(at), Some(Value::Blob(_))))
            && rows.rows.iter().all(|row| matches!(row.get(at), Some(Value::Blob(_) | Value::Null) | None));
        let text = (kind == Physical::BYTE_ARRAY && !blobs).then_some(LogicalType::String);
        let field = Type::primitive_type_builder(&name, kind).with_repetition(Repetition::OPTIONAL);
        fields.push(Arc::new(field.with_logical_type(text).build()?));
        kinds.push(blobs);
    }
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?);
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties)?;
    let mut group = writer.next_row_group()?;
    let mut at = 0;
    while let Some(mut column) = group.next_column()? {
        let values = || rows.rows.iter().map(move |row| row.get(at).unwrap_or(&Value::Null));
        let levels: Vec<i16> = values().map(|value| i16::from(*value != Value::Null)).collect();
        let there = || values().filter(|value| **value != Value::Null);
        match column.untyped() {
            ColumnWriter::Int64ColumnWriter(writer) => {
                let of =
                    there().filter_map(|value| if let Value::Integer(value) = value { Some(*value) } else { None });
                writer.write_batch(&of.collect::<Vec<i64>>(), Some(&levels), None)?;
            }
            ColumnWriter::DoubleColumnWriter(writer) => {
                #[allow(clippy::cast_precision_loss, reason = "a column that has fractions too")]
                let of = there().filter_map(|value| match value {
                    Value::Integer(value) => Some(*value as f64),
                    Value::Real(value) => Some(*value),
                    _ => None,
                });
                writer.write_batch(&of.collect::<Vec<f64>>(), Some(&levels), None)?;
            }
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let of = there().map(|value| match value {
                    Value::Blob(bytes) if kinds.get(at) == Some(&true) => ByteArray::from(bytes.clone()),
                    other => ByteArray::from(plain(other).into_bytes()),
                });
                writer.write_batch(&of.collect::<Vec<ByteArray>>(), Some(&levels), None)?;
            }
            _ => return Err(ParquetError::General("a column of another type".to_owned())),
        }
        column.close()?;
        at += 1;
    }
    group.close()?;
    writer.into_inner()
}
