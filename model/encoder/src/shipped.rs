//! Where the models that come with the project lie.

use std::env;
use std::path::{Path, PathBuf};

use crate::EncoderError;

/// A model that comes with the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shipped {
    /// The static encoder.
    StaticEncoder,
    /// The reranker of tables, of a corpus over the static encoder.
    Corpus,
    /// That of a corpus over all-MiniLM-L6-v2.
    CorpusMinilm,
    /// The choice of answers.
    Answers,
    /// The T5 that finds the segments of questions.
    Segmenter,
}

impl Shipped {
    /// The name of its directory.
    fn directory(self) -> &'static str {
        match self {
            Self::StaticEncoder => "static-encoder",
            Self::Corpus => "corpus",
            Self::CorpusMinilm => "corpus-minilm",
            Self::Answers => "answers",
            Self::Segmenter => "segmenter",
        }
    }

    /// A file that it has.
    fn file(self) -> &'static str {
        match self {
            Self::Corpus | Self::CorpusMinilm => "retriever.json",
            Self::Answers => "answers.json",
            Self::StaticEncoder | Self::Segmenter => "config.json",
        }
    }

    /// Its name in messages, and the key of the configuration that names another one.
    fn name_and_key(self) -> (&'static str, &'static str) {
        match self {
            Self::StaticEncoder => ("static encoder", "encoder.model"),
            Self::Corpus | Self::CorpusMinilm => ("reranker of tables", "--retriever"),
            Self::Answers => ("choice of answers", "--answers"),
            Self::Segmenter => ("segmenter", "segmenter.model"),
        }
    }
}

/// The directory of the static encoder that comes with the project.
///
/// # Errors
///
/// As [`shipped`].
pub fn shipped_static() -> Result<PathBuf, EncoderError> {
    shipped(Shipped::StaticEncoder)
}

/// The directory of a model that comes with the project.
///
/// Looked for in this order: `$TABSEGNET_CHECKPOINTS/NAME` and nowhere else where that
/// variable is set; `checkpoints/NAME` under the current directory and its parents, then
/// under the executable's directory and its parents; then in the source tree this was built from.
///
/// # Errors
///
/// [`EncoderError::NoShipped`] with the directories that were looked at.
pub fn shipped(model: Shipped) -> Result<PathBuf, EncoderError> {
    let set = env::var_os("TABSEGNET_CHECKPOINTS").filter(|value| !value.is_empty());
    let beside = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
    let starts = [env::current_dir().ok(), beside];
    find(model, set.map(PathBuf::from), starts.into_iter().flatten().collect())
}

fn find(model: Shipped, set: Option<PathBuf>, starts: Vec<PathBuf>) -> Result<PathBuf, EncoderError> {
    let candidates = match set {
        Some(checkpoints) => vec![checkpoints.join(model.directory())],
        None => {
            let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            let mut candidates: Vec<PathBuf> = Vec::new();
            for root in starts.iter().flat_map(|start| start.ancestors()).chain([built_from.as_path()]) {
                let candidate = root.join("checkpoints").join(model.directory());
                if !candidates.contains(&candidate) {
                    candidates.push(candidate);
                }
            }
            candidates
        }
    };
    match candidates.iter().find(|candidate| candidate.join(model.file()).is_file()) {
        Some(found) => Ok(found.clone()),
        None => {
            let (what, key) = model.name_and_key();
            Err(EncoderError::NoShipped { what, key, looked: candidates })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_parent_wins_and_a_set_variable_is_the_only_place() {
        let root = tempfile::tempdir().unwrap();
        let shipped = root.path().join("checkpoints/static-encoder");
        std::fs::create_dir_all(&shipped).unwrap();
        std::fs::write(shipped.join("config.json"), "{}").unwrap();
        let below = root.path().join("target/release");
        assert_eq!(find(Shipped::StaticEncoder, None, vec![below.clone()]).unwrap(), shipped);

        let elsewhere = root.path().join("elsewhere");
        let error = find(Shipped::Segmenter, Some(elsewhere.clone()), vec![below]).unwrap_err().to_string();
        let place = elsewhere.join("segmenter").display().to_string();
        assert!(
            error.contains(&place) && error.contains("`segmenter.model`") && error.contains("TABSEGNET_CHECKPOINTS"),
            "{error}"
        );
        assert!(!error.contains("release"), "{error}");
    }
}
