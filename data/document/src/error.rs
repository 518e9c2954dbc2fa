//! What can be wrong with a document from outside.

use std::path::Path;

use tabsegnet_store::{FileError, in_words};

/// A document could not be read. Every variant says which file, where in it, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not the JSON that was expected.
    #[error("{file}: {place}: {message}")]
    Json {
        /// The file.
        file: String,
        /// The field as a path (`blocks[3].table`), or "the whole file".
        place: String,
        /// What was expected, with line and column.
        message: String,
    },
    /// A record is JSON of the right form but cannot be used.
    #[error("{file}: record {record}{}: {message}", in_field(field))]
    Record {
        /// The file.
        file: String,
        /// The record's id, or its position where it has none.
        record: String,
        /// The field as a path; empty for the record as a whole.
        field: String,
        /// What was expected, what was found, what to do.
        message: String,
    },
    /// The file is not of a form that can be read, or not of the form its name says.
    #[error("{file}: {message}")]
    Format {
        /// The file.
        file: String,
        /// What it looks like, what was expected, what to do.
        message: String,
    },
    /// The file is beyond a limit.
    #[error("{file}: {what} is {found} bytes, the limit is {limit}; split the file")]
    TooLarge {
        /// The file.
        file: String,
        /// The file itself, or what it unpacks to.
        what: &'static str,
        /// Its size; for what it unpacks to the size it declares or at least has.
        found: u64,
        /// The limit.
        limit: u64,
    },
}

fn in_field(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!(", field {field}") }
}

/// Characters that are told of what is no JSON.
const BEGINNING: usize = 20;

/// Reads JSON with errors that name the field.
///
/// # Errors
/// The text is no JSON, has other fields than expected, or goes on after the value.
pub fn from_json<T: serde::de::DeserializeOwned>(file: &Path, text: &str) -> Result<T, ReadError> {
    let json_error =
        |place: String, message: String| ReadError::Json { file: file.display().to_string(), place, message };
    if text.trim().is_empty() {
        return Err(json_error("the whole file".into(), "the file is empty; expected JSON".into()));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = match error.path().to_string() {
            path if path == "." => "the whole file".to_owned(),
            path => path,
        };
        let error = error.into_inner();
        // Nothing was read.
        match (error.line(), error.column()) {
            (0..=1, 0..=1) if error.is_syntax() => {
                let begins: String = text.trim_start().chars().take(BEGINNING).collect();
                json_error(place, format!("expected JSON, and it begins with {begins:?}"))
            }
            _ => json_error(place, in_words(&error.to_string())),
        }
    })?;
    deserializer.end().map_err(|error| json_error("after the end of the value".into(), error.to_string()))?;
    Ok(value)
}
