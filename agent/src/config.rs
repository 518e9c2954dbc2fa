//! The config of answers: where a language model is, and how it walks.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabsegnet_llm::{LlmSettings, read_config};
use tabsegnet_store::{FileError, read_text};
use tabsegnet_tablerag::RoundSettings;

use crate::walk::WalkSettings;

/// A TOML file with the tables `[llm]`, `[agent]` and `[tablerag]`; what is not in it keeps its default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where a language model is, and how it is spoken to.
    pub llm: LlmSettings,
    /// How it walks a document's graph.
    pub agent: WalkSettings,
    /// How tables too large for the graph are gone through.
    pub tablerag: RoundSettings,
}

/// A config that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// What it says.
    #[error(transparent)]
    Content(#[from] tabsegnet_llm::ConfigError),
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// One that cannot be read; unknown settings; values of the wrong type or out of range; a key. Messages show no values.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_text(path)?;
        let file = path.display().to_string();
        let config: Self = read_config(&file, &text)?;
        match config.agent.problem().or_else(|| config.tablerag.problem()) {
            Some(message) => Err(tabsegnet_llm::ConfigError::Content { file, message }.into()),
            None => Ok(config),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Config;

    #[test]
    fn what_is_wrong_is_said_without_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ask.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Config::read(&path).map_err(|error| error.to_string())
        };
        assert_eq!(read(""), Ok(Config::default()));
        let config = read(
            "[llm]\nbase_url = 'http://localhost/v1'\nmodel = 'm'\n[llm.budget]\ncalls = 3\n[agent]\nrounds = 2\n",
        );
        let config = config.unwrap();
        assert_eq!((config.llm.budget.calls, config.agent.rounds), (3, 2));
        for (text, words) in [
            ("[llm]\napi_key = 'sk-123'\n", "llm.api_key: a key does not belong"),
            ("[llm]\nAuthorization = 'sk-123'\n", "TABSEGNET_LLM_KEY"),
            ("[llm]\nmodels = 'sk-123'\n", "unknown field `models`; the nearest that there is is `model`, expected"),
            ("[llm.budget]\ncall = 3\n", "the nearest that there is is `calls`"),
            (
                "[agent]\nstart = 'rankers'\n",
                "unknown variant `rankers`; the nearest that there is is `ranker`, expected",
            ),
            ("[agent]\nwindows = 0\n", "agent.windows is 0; expected 1 to 1000"),
            ("[llm\nmodel = 'sk-123'\n", "line 1: not TOML"),
            ("[agent]\nrounds = 0\n", "agent.rounds is 0; expected 1 to 50"),
            ("[tablerag]\nkept = 31\n", "tablerag.kept is 31; expected 1 to 30"),
            ("[agents]\nrounds = 0\n", "unknown field `agents`; the nearest that there is is `agent`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words) && error.contains("ask.toml") && !error.contains("sk-123"), "{error}");
        }
        assert!(Config::read(&folder.path().join("none.toml")).unwrap_err().to_string().contains("none.toml"));
    }
}
