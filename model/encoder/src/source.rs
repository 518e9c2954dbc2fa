//! Where a model's files come from: a directory, or a repository of the hub.

use std::path::{Path, PathBuf};

use hf_hub::repository::RepoTypeModel;
use hf_hub::{HFClient, HFClientSync, HFError, HFRepositorySync};
use tabsegnet_store::read_bytes;

use crate::EncoderError;

/// The place of one model's files.
pub enum Source {
    /// A directory.
    Directory(PathBuf),
    /// A repository of the hub.
    Hub(Hub),
}

/// A repository of the hub at one revision.
pub struct Hub {
    repository: HFRepositorySync<RepoTypeModel>,
    name: String,
    revision: String,
    endpoint: String,
    /// The key of a configuration that names it.
    key: &'static str,
}

/// Owner and name of a repository of the hub, where `model` is such a name: a string with exactly one
/// `/`, both sides made of what the hub allows.
pub fn hub_name(model: &str) -> Option<(&str, &str)> {
    // "..", "." and what holds a further "/" are paths.
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    model.split_once('/').filter(|(owner, name)| part(owner) && part(name))
}

impl Source {
    /// The files of a directory.
    pub fn directory(path: &Path) -> Self {
        Self::Directory(path.to_owned())
    }

    /// The repository `owner/name` of the hub that `HF_ENDPOINT` names; messages say that the
    /// configuration's `key` may name a directory instead.
    ///
    /// # Errors
    /// An address that no connection can be made of.
    pub fn hub(owner: &str, name: &str, revision: &str, key: &'static str) -> Result<Self, EncoderError> {
        let revision = if revision.is_empty() { "main" } else { revision };
        let failed = |reason: HFError| EncoderError::Hub {
            repo: format!("{owner}/{name}").into(),
            revision: revision.into(),
            file: "any file".into(),
            endpoint: std::env::var("HF_ENDPOINT").unwrap_or_else(|_| "the hub".to_owned()).into(),
            reason: chain(&reason).into(),
            key,
        };
        // One retry: a hub that cannot be reached should be said at once, not after a minute.
        let client = HFClient::builder().retry_max_attempts(1).build().map_err(failed)?;
        let endpoint = client.endpoint().to_owned();
        let repository = HFClientSync::from_inner(client).map_err(failed)?.model(owner, name);
        let (name, revision) = (format!("{owner}/{name}"), revision.to_owned());
        Ok(Self::Hub(Hub { repository, name, revision, endpoint, key }))
    }

    /// The source as messages name it.
    pub fn place(&self) -> String {
        match self {
            Self::Directory(path) => path.display().to_string(),
            Self::Hub(hub) => format!("{} (revision {})", hub.name, hub.revision),
        }
    }

    /// The path and the content of a file that every encoder of `kind` has.
    pub(crate) fn read(&self, kind: &'static str, file: &str) -> Result<(PathBuf, Vec<u8>), EncoderError> {
        match self.get(file)? {
            Some(path) => {
                let bytes = read_bytes(&path)?;
                Ok((path, bytes))
            }
            None => Err(EncoderError::MissingFile {
                place: self.place(),
                file: file.into(),
                kind,
                expected: "config.json, tokenizer.json and model.safetensors",
            }),
        }
    }

    /// A local path of `file`, or nothing where the source does not have it.
    ///
    /// # Errors
    /// A hub that does not answer.
    pub fn get(&self, file: &str) -> Result<Option<PathBuf>, EncoderError> {
        match self {
            Self::Directory(path) => {
                let path = path.join(file);
                Ok(path.is_file().then_some(path))
            }
            Self::Hub(hub) => hub.get(file),
        }
    }
}

impl Hub {
    /// The hub's cache first, so that what was downloaded once works without a connection; then
    /// the hub, unless `HF_HUB_OFFLINE` forbids it.
    fn get(&self, file: &str) -> Result<Option<PathBuf>, EncoderError> {
        let get = |local: bool| {
            self.repository
                .download_file()
                .filename(file)
                .revision(self.revision.clone())
                .local_files_only(local)
                .send()
        };
        let result = match get(true) {
            Err(HFError::LocalEntryNotFound { .. }) if !offline() => get(false),
            cached => cached,
        };
        match result {
            Ok(path) => Ok(Some(path)),
            Err(HFError::EntryNotFound { .. }) => Ok(None),
            Err(error) => Err(EncoderError::Hub {
                repo: self.name.as_str().into(),
                revision: self.revision.as_str().into(),
                file: file.into(),
                endpoint: self.endpoint.as_str().into(),
                reason: chain(&error).into(),
                key: self.key,
            }),
        }
    }
}

fn offline() -> bool {
    std::env::var("HF_HUB_OFFLINE")
        .is_ok_and(|value| matches!(value.to_lowercase().as_str(), "1" | "true" | "yes" | "on"))
}

/// An error with its causes: a connection's own reason stands at the end of the chain.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
