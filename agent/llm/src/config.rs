//! Configs with a table `[llm]`.

use serde::de::DeserializeOwned;

/// A config that cannot be used. Messages show no values.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// What it says.
    #[error("{file}: {message}")]
    Content {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// A key in the file.
    #[error(
        "{file}: llm.{field}: a key does not belong into a file; put it into the environment variable TABSEGNET_LLM_KEY, or the \
         one that llm.key_variable names"
    )]
    Key {
        /// The file.
        file: String,
        /// The setting's name; never its value.
        field: String,
    },
}

/// Words in the names of settings that people put keys into.
const KEYS: [&str; 6] = ["key", "token", "secret", "password", "bearer", "authorization"];
/// Settings that have such a word in their names and are none.
const NO_KEYS: [&str; 2] = ["key_variable", "max_tokens"];

/// Reads the text of a TOML file, whose table `[llm]` has no key.
///
/// # Errors
/// What is no TOML; settings that `T` does not know, of the wrong type or out of range; a key.
pub fn read_config<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, ConfigError> {
    let wrong = |message: String| ConfigError::Content { file: file.to_owned(), message };
    // toml's own display quotes the line, with whatever stands on it.
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(0, |span| text.get(..span.start).unwrap_or("").lines().count().max(1));
        wrong(format!("line {line}: not TOML: {}", error.message()))
    })?;
    for field in table.get("llm").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys) {
        let name = field.to_lowercase();
        if KEYS.iter().any(|word| name.contains(word)) && !NO_KEYS.contains(&field.as_str()) {
            return Err(ConfigError::Key { file: file.to_owned(), field: field.clone() });
        }
    }
    table.try_into().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))
}
