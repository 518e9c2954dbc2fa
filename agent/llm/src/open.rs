//! The model that settings and files of replies name.

use std::path::Path;

use crate::chat::ChatModel;
use crate::error::LlmError;
use crate::http::HttpModel;
use crate::recorded::Recorded;
use crate::settings::LlmSettings;

/// A model, and where it is, for people.
pub struct OpenModel {
    /// The model.
    pub model: Box<dyn ChatModel>,
    /// Its address, or the file of its replies.
    pub place: String,
}

impl OpenModel {
    /// The model of an endpoint, whose replies may be kept in a file (`record`) or come from one alone (`replay`); `None`
    /// where nothing names one. `variable` gives environment variables: the key.
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
        let http = || Ok::<_, LlmError>(Box::new(HttpModel::new(settings.clone(), settings.key(variable)?)?));
        let model: Box<dyn ChatModel> = match (replay, record) {
            (Some(file), _) => Box::new(Recorded::replay(file, &settings.model)?),
            (None, Some(file)) => Box::new(Recorded::new(file, http()?)?),
            (None, None) => http()?,
        };
        Ok(Some(Self { model, place }))
    }

    /// The model and where it is.
    pub fn name(&self) -> String {
        format!("{} at {}", self.model.name(), self.place)
    }
}
