//! Values as cells say them.

use rusqlite::types::Value;

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value as a cell says it; NULL, and what is no number, says nothing.
pub(crate) fn text(value: Value) -> String {
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
