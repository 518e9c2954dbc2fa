//! Where the models that come with the project lie.

use std::env;
use std::path::{self, Path, PathBuf};

use crate::EncoderError;

/// A model that comes with the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shipped {
    /// The static encoder.
    StaticEncoder,
    /// The ranker of nodes over it.
    General,
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
            Self::General => "general",
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
            Self::General => "manifest.json",
            Self::Answers => "answers.json",
            Self::StaticEncoder | Self::Segmenter => "config.json",
        }
    }

    /// Its name in messages, and the key of the configuration that names another one.
    fn name_and_key(self) -> (&'static str, &'static str) {
        match self {
            Self::StaticEncoder => ("static encoder", "encoder.model"),
            Self::Corpus | Self::CorpusMinilm => ("reranker of tables", "--retriever"),
            Self::General => ("ranker", "--checkpoint"),
            Self::Answers => ("choice of answers", "--answers"),
            Self::Segmenter => ("segmenter", "segmenter.model"),
        }
    }
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
    shipped_for(model, None)
}

/// As [`shipped`] for a checkpoint, where there is one: before all places but `$TABSEGNET_CHECKPOINTS` beside it, where
/// the model lies if both were copied together.
///
/// # Errors
///
/// As [`shipped`].
pub fn shipped_for(model: Shipped, checkpoint: Option<&Path>) -> Result<PathBuf, EncoderError> {
    let set = env::var_os("TABSEGNET_CHECKPOINTS").filter(|value| !value.is_empty());
    let exe = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
    let starts = [env::current_dir().ok(), exe];
    find(model, set.map(PathBuf::from), checkpoint, starts.into_iter().flatten().collect())
}

fn find(
    model: Shipped,
    set: Option<PathBuf>,
    checkpoint: Option<&Path>,
    starts: Vec<PathBuf>,
) -> Result<PathBuf, EncoderError> {
    let candidates = match set {
        Some(checkpoints) => vec![checkpoints.join(model.directory())],
        None => {
            let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            // `.` has no parent before it is made absolute.
            let beside = checkpoint.and_then(|checkpoint| Some(path::absolute(checkpoint).ok()?.parent()?.to_owned()));
            let mut candidates: Vec<PathBuf> =
                beside.into_iter().map(|folder| folder.join(model.directory())).collect();
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
    fn the_nearest_place_wins_and_a_set_variable_is_the_only_one() {
        let root = tempfile::tempdir().unwrap();
        let [shipped, copied] = ["checkpoints/static-encoder", "copied/static-encoder"].map(|name| {
            let directory = root.path().join(name);
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("config.json"), "{}").unwrap();
            directory
        });
        let below = root.path().join("target/release");
        let found = |checkpoint: &str| {
            let checkpoint = root.path().join(checkpoint);
            find(Shipped::StaticEncoder, None, Some(&checkpoint), vec![below.clone()]).unwrap()
        };
        assert_eq!(find(Shipped::StaticEncoder, None, None, vec![below.clone()]).unwrap(), shipped);
        assert_eq!(
            (found("runs/best"), found("copied/general"), found("copied/general/")),
            (shipped, copied.clone(), copied)
        );

        let (elsewhere, checkpoint) = (root.path().join("elsewhere"), root.path().join("copied/general"));
        let error = find(Shipped::Segmenter, Some(elsewhere.clone()), Some(&checkpoint), vec![below]).unwrap_err();
        let error = error.to_string();
        let place = elsewhere.join("segmenter").display().to_string();
        assert!(
            error.contains(&place) && error.contains("`segmenter.model`") && error.contains("TABSEGNET_CHECKPOINTS"),
            "{error}"
        );
        assert!(!error.contains("release") && !error.contains("copied"), "{error}");
    }
}
