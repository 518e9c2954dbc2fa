//! Where a model's files come from: a directory, or a repository of the hub.

use std::fs;
use std::path::{Path, PathBuf};

use hf_hub::api::sync::{Api, ApiBuilder, ApiError};
use hf_hub::{Cache, Repo, RepoType};
use tabsegnet_store::read_bytes;

use crate::EncoderError;

/// The place of one model's files.
pub enum Source {
    /// A directory.
    Directory(PathBuf),
    /// A repository of the hub.
    Hub(Box<Hub>),
}

/// A repository of the hub at one revision.
pub struct Hub {
    api: Api,
    repository: Repo,
    /// The repository's directory in the hub's cache.
    cache: PathBuf,
    name: String,
    endpoint: String,
    /// The key of a configuration that names it.
    key: &'static str,
}

/// Owner and name of a repository of the hub, where `model` is such a name: a string with exactly one
/// `/`, both sides of characters that the hub allows.
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
    /// An address that cannot be connected to.
    pub fn hub(owner: &str, name: &str, revision: &str, key: &'static str) -> Result<Self, EncoderError> {
        let revision = if revision.is_empty() { "main" } else { revision };
        let name = format!("{owner}/{name}");
        let endpoint = variable("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
        let cache = Cache::new(cache_directory());
        let repository = Repo::with_revision(name.clone(), RepoType::Model, revision.to_owned());
        let directory = cache.path().join(repository.folder_name());
        let builder = ApiBuilder::from_cache(cache).with_token(token()).with_progress(false);
        let builder = builder.with_endpoint(endpoint.trim_end_matches('/').to_owned());
        match builder.build() {
            Ok(api) => Ok(Self::Hub(Box::new(Hub { api, repository, cache: directory, name, endpoint, key }))),
            Err(error) => Err(EncoderError::Hub {
                repo: name.into(),
                revision: revision.into(),
                file: "any file".into(),
                endpoint: endpoint.into(),
                reason: chain(&error).into(),
                key,
            }),
        }
    }

    /// The source as messages name it.
    pub fn place(&self) -> String {
        match self {
            Self::Directory(path) => path.display().to_string(),
            Self::Hub(hub) => format!("{} (revision {})", hub.name, hub.repository.revision()),
        }
    }

    /// The path and the content of a file that every encoder of `kind` has.
    pub(crate) fn read(&self, kind: &'static str, file: &str) -> Result<(PathBuf, Vec<u8>), EncoderError> {
        let path = self.path(kind, file)?;
        let bytes = read_bytes(&path)?;
        Ok((path, bytes))
    }

    /// The path of a file that every encoder of `kind` has.
    pub(crate) fn path(&self, kind: &'static str, file: &str) -> Result<PathBuf, EncoderError> {
        self.get(file)?.ok_or_else(|| EncoderError::MissingFile {
            place: self.place(),
            file: file.into(),
            kind,
            expected: "config.json, tokenizer.json and model.safetensors",
        })
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
        if let Some(known) = self.cached(file) {
            return Ok(known);
        }
        let reason = if offline() {
            "it is not in the hub's cache, and HF_HUB_OFFLINE forbids a connection".to_owned()
        } else {
            match self.api.repo(self.repository.clone()).download(file) {
                Ok(path) => return Ok(Some(path)),
                Err(error) => {
                    let reason = chain(&error);
                    if let Some(commit) = without_file(error) {
                        self.remember_missing(file, commit.as_deref());
                        return Ok(None);
                    }
                    reason
                }
            }
        };
        Err(EncoderError::Hub {
            repo: self.name.as_str().into(),
            revision: self.repository.revision().into(),
            file: file.into(),
            endpoint: self.endpoint.as_str().into(),
            reason: reason.into(),
            key: self.key,
        })
    }

    /// What the cache knows of `file`: where it is, that the repository has none, or nothing. The cache is laid out
    /// as Python's huggingface_hub lays it out.
    fn cached(&self, file: &str) -> Option<Option<PathBuf>> {
        let revision = self.repository.revision();
        let commit = if is_commit(revision) {
            revision.to_owned()
        } else {
            fs::read_to_string(self.cache.join("refs").join(revision)).ok()?.trim().to_owned()
        };
        let path = self.cache.join("snapshots").join(&commit).join(file);
        if path.exists() {
            return Some(Some(path));
        }
        self.cache.join(MISSING).join(commit).join(file).exists().then_some(None)
    }

    /// Keeps in the cache that the repository has no such file, so that a model which has none of an optional file
    /// works without a connection too. A cache that cannot be written is tried again another time.
    fn remember_missing(&self, file: &str, commit: Option<&str>) {
        let Some(commit) = commit.filter(|commit| is_commit(commit)) else { return };
        let write = |path: PathBuf, content: &str| {
            path.parent().map(fs::create_dir_all);
            let _ = fs::write(path, content);
        };
        write(self.cache.join(MISSING).join(commit).join(file), "");
        write(self.cache.join("refs").join(self.repository.revision()), commit);
    }
}

/// Where the cache keeps which files a commit does not have.
const MISSING: &str = ".no_exist";

/// Whether the hub answered that the repository is there but not the file: then the commit, where the hub says it.
fn without_file(error: ApiError) -> Option<Option<String>> {
    let ApiError::RequestError(error) = error else { return None };
    let answer = error.into_response()?;
    let of_file = matches!(answer.header("X-Error-Code"), None | Some("EntryNotFound"));
    (answer.status() == 404 && of_file).then(|| answer.header("X-Repo-Commit").map(str::to_owned))
}

fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && revision.chars().all(|c| c.is_ascii_hexdigit())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn hub_home() -> PathBuf {
    let cache = || variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = || cache().unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(".cache"));
    variable("HF_HOME").map_or_else(|| cache().join("huggingface"), PathBuf::from)
}

fn cache_directory() -> PathBuf {
    let named = variable("HF_HUB_CACHE").or_else(|| variable("HUGGINGFACE_HUB_CACHE"));
    named.map_or_else(|| hub_home().join("hub"), PathBuf::from)
}

/// The user's token for the hub, from the places where the hub's own tools look.
fn token() -> Option<String> {
    if variable("HF_HUB_DISABLE_IMPLICIT_TOKEN").is_some() {
        return None;
    }
    let read = |path: PathBuf| {
        let token = fs::read_to_string(path).ok()?.trim().to_owned();
        (!token.is_empty()).then_some(token)
    };
    let of_path = || variable("HF_TOKEN_PATH").and_then(|path| read(path.into()));
    variable("HF_TOKEN").or_else(of_path).or_else(|| read(hub_home().join("token")))
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
