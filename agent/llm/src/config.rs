//! Configs with a table `[llm]`.

use serde::de::DeserializeOwned;
use tabsegnet_store::in_words;

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
    table.try_into().map_err(|error: toml::de::Error| {
        let (said, message) = (error.to_string(), with_nearest(&in_words(error.message())));
        let key = said.trim_end().rsplit_once("\nin `").and_then(|(_, key)| key.strip_suffix('`'));
        wrong(key.map_or_else(|| message.clone(), |key| format!("{key}: {message}")))
    })
}

/// What is said of an unknown name (``unknown field `models`, expected one of `base_url`, `model` ``), with the nearest of those
/// that are expected.
fn with_nearest(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let (true, Some(unknown)) = (message.starts_with("unknown "), names.next()) else { return message.to_owned() };
    let Some(nearest) = names.min_by_key(|name| strsim::damerau_levenshtein(unknown, name)) else {
        return message.to_owned();
    };
    let kind = message.split(',').next().unwrap_or(message);
    format!("{kind}; the nearest that there is is `{nearest}`{}", message.strip_prefix(kind).unwrap_or(""))
}
