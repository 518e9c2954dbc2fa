//! The model that settings name.

use std::path::Path;
use std::sync::Arc;

use crate::chat::ChatModel;
use crate::error::LlmError;
use crate::http::HttpModel;
use crate::recorded::Recorded;
use crate::settings::LlmSettings;

/// What is done with a file of replies ([`Recorded`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Record<'a> {
    /// There is none.
    #[default]
    None,
    /// Known replies are taken from it, new ones written to it.
    Keep(&'a Path),
    /// It answers alone.
    Replay(&'a Path),
}

/// Opens the model of the settings: an endpoint, or a file (`base_url = "gguf:PATH"`, with the feature `gguf`). `variable`
/// reads the environment, for the key.
///
/// # Errors
/// [`LlmError::Settings`]; a file or a record that cannot be read.
pub fn open_model(
    settings: &LlmSettings,
    variable: &dyn Fn(&str) -> Option<String>,
    record: Record<'_>,
) -> Result<Arc<dyn ChatModel>, LlmError> {
    let model = || -> Result<Box<dyn ChatModel>, LlmError> {
        match settings.file() {
            Some(file) => local(file, settings),
            None => Ok(Box::new(HttpModel::new(settings.clone(), settings.key(variable)?)?)),
        }
    };
    Ok(match record {
        Record::None => Arc::from(model()?),
        Record::Keep(file) => Arc::new(Recorded::new(file, model()?)?),
        Record::Replay(file) => Arc::new(Recorded::replay(file, &settings.model_name())?),
    })
}

#[cfg(feature = "gguf")]
fn local(file: &Path, settings: &LlmSettings) -> Result<Box<dyn ChatModel>, LlmError> {
    Ok(Box::new(crate::gguf::GgufModel::open(file, settings)?))
}

#[cfg(not(feature = "gguf"))]
fn local(file: &Path, _: &LlmSettings) -> Result<Box<dyn ChatModel>, LlmError> {
    let message = format!(
        "{}: this program was built without local models; build it with `cargo build --release --features gguf`, or let a server \
         such as llama.cpp's serve the file and name that",
        file.display()
    );
    Err(LlmError::Settings { setting: "llm.base_url".to_owned(), message })
}
