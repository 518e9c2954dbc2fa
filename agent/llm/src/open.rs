//! The model that settings and files of replies name.

use std::path::Path;
use std::sync::Arc;

use crate::chat::ChatModel;
use crate::error::LlmError;
use crate::http::HttpModel;
use crate::recorded::Recorded;
use crate::settings::LlmSettings;

/// A model, and where it is, for people.
pub struct OpenModel {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// Its address, or the file of its replies.
    pub place: String,
}

impl OpenModel {
    /// The model of an endpoint, or of a file (`base_url = "gguf:PATH"`, with the feature `gguf`), whose replies may be kept in
    /// a file (`record`) or come from one alone (`replay`); `None` where nothing names one. `variable` gives environment
    /// variables: the key.
    ///
    /// # Errors
    /// Settings that cannot be used, a file that cannot be read.
    pub fn open(
        settings: &LlmSettings,
        record: Option<&Path>,
        replay: Option<&Path>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, LlmError> {
        let place = match replay {
            Some(file) => file.display().to_string(),
            None if settings.has_endpoint() => settings.base_url.clone(),
            None => return Ok(None),
        };
        let named = || -> Result<Box<dyn ChatModel>, LlmError> {
            match settings.file() {
                Some(file) => local(file, settings),
                None => Ok(Box::new(HttpModel::new(settings.clone(), settings.key(variable)?)?)),
            }
        };
        let model: Arc<dyn ChatModel> = match (replay, record) {
            (Some(file), _) => Arc::new(Recorded::replay(file, &settings.model_name())?),
            (None, Some(file)) => Arc::new(Recorded::new(file, named()?)?),
            (None, None) => Arc::from(named()?),
        };
        Ok(Some(Self { model, place }))
    }

    /// The model and where it is.
    pub fn name(&self) -> String {
        format!("{} at {}", self.model.name(), self.place)
    }
}

/// A warning where settings name a model and not where it is, so that none is set.
pub fn without_address(settings: &LlmSettings) -> Option<&'static str> {
    let is_named = !settings.has_endpoint() && !settings.model.trim().is_empty();
    is_named.then_some(
        "a language model is named (llm.model, TABSEGNET_LLM_MODEL) and not where it is, so that none is set; expected \
         llm.base_url or TABSEGNET_LLM_URL beside it",
    )
}

/// What is said where no model is set and one is wanted; `config` is where people would set it, such as `--config`.
pub fn no_model(config: &str) -> String {
    format!(
        "no language model is set; expected base_url and model in the table [llm] of {config}, or TABSEGNET_LLM_URL and \
         TABSEGNET_LLM_MODEL"
    )
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

#[cfg(test)]
mod tests {
    use super::{LlmSettings, without_address};

    #[test]
    fn a_model_without_its_address_is_told() {
        let warned = |base_url: &str, model: &str| {
            let (base_url, model) = (base_url.to_owned(), model.to_owned());
            without_address(&LlmSettings { base_url, model, ..LlmSettings::default() }).is_some()
        };
        assert_eq!([warned("", "m"), warned("", " "), warned("gguf:x", "m")], [true, false, false]);
    }
}
