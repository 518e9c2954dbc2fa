//! Rows as a Parquet file.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::rows::{Kind, Rows, Value, plain};

/// The file of some rows: of a column of integers 64-bit ones, of numbers doubles, of blobs bytes, of anything else texts
/// as in CSV; each may be null. Names that come again get a number.
///
/// # Errors
/// What the writer gives.
pub(crate) fn parquet(rows: &Rows) -> io::Result<Vec<u8>> {
    write(rows).map_err(io::Error::other)
}

fn write(rows: &Rows) -> Result<Vec<u8>, ParquetError> {
    let kinds: Vec<Kind> = (0..rows.columns.len()).map(|column| rows.kind(column)).collect();
    let mut fields = Vec::new();
    for (name, kind) in rows.unique_names().iter().zip(&kinds) {
        let (physical, logical) = match kind {
            Kind::Integers => (Physical::INT64, None),
            Kind::Numbers => (Physical::DOUBLE, None),
            Kind::Blobs => (Physical::BYTE_ARRAY, None),
            Kind::Nothing | Kind::Texts => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        fields.push(Arc::new(field.with_logical_type(logical).build()?));
    }
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?);
    let properties = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties)?;
    let mut group = writer.next_row_group()?;
    let mut at = 0;
    while let Some(mut column) = group.next_column()? {
        let levels: Vec<i16> = rows.values(at).map(|value| i16::from(*value != Value::Null)).collect();
        let there = || rows.values(at).filter(|value| **value != Value::Null);
        match column.untyped() {
            ColumnWriter::Int64ColumnWriter(writer) => {
                let of =
                    there().filter_map(|value| if let Value::Integer(value) = value { Some(*value) } else { None });
                writer.write_batch(&of.collect::<Vec<i64>>(), Some(&levels), None)?;
            }
            ColumnWriter::DoubleColumnWriter(writer) => {
                let of = there().filter_map(Value::number);
                writer.write_batch(&of.collect::<Vec<f64>>(), Some(&levels), None)?;
            }
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let of = there().map(|value| match value {
                    Value::Blob(bytes) if kinds.get(at) == Some(&Kind::Blobs) => ByteArray::from(bytes.clone()),
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
