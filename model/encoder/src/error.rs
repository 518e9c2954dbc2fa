//! What can go wrong between a model's files and its vectors.

use std::path::PathBuf;

use tabsegnet_store::{FileError, StoreError};

/// An encoder could not be loaded, or a text could not be encoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),

    /// The device failed.
    #[error("the device failed while encoding: {reason}; smaller encoder.batch_tokens take less of its memory")]
    Device {
        /// The device's own words.
        reason: String,
    },

    /// The model's directory is not there.
    #[error(
        "{}: there is no such directory; give `encoder.model` the directory of a {kind} encoder, or a hub name such as \"sentence-transformers/all-MiniLM-L6-v2\"",
        .path.display()
    )]
    NoDirectory {
        /// The directory that was requested.
        path: PathBuf,
        /// The kind of encoder.
        kind: &'static str,
    },

    /// The directory of a model that is no encoder is not there.
    #[error(
        "{}: there is no such directory; give `{key}` the directory of a {kind} model, or a hub name (owner/name)",
        .path.display()
    )]
    NoModel {
        /// The directory that was requested.
        path: PathBuf,
        /// The kind of model.
        kind: &'static str,
        /// The key of the configuration that names the model.
        key: &'static str,
    },

    /// A masked language model failed on texts that should have been within its limits.
    #[error("the masked language model failed: {reason}")]
    MaskedModel {
        /// The model's own words.
        reason: String,
    },

    /// The encoder gives no vectors of single tokens.
    #[error("the encoder gives no vectors of single tokens {reason}")]
    NoTokenVectors {
        /// Where it does.
        reason: &'static str,
    },

    /// An encoder that does not come with the project has not been brought yet.
    #[error(
        "{}: there is no such directory; `bash tools/scripts/fetch_encoder.sh encoders/all-MiniLM-L6-v2` brings all-MiniLM-L6-v2 into the project's directory",
        .path.display()
    )]
    NotBrought {
        /// The directory, as the configuration names it.
        path: PathBuf,
    },

    /// A file that every encoder of the kind has is not there.
    #[error("{place}: there is no {file}; a {kind} encoder has {expected}")]
    MissingFile {
        /// The directory or the hub repository.
        place: String,
        /// The file's name.
        file: String,
        /// The kind of encoder.
        kind: &'static str,
        /// The files that are required.
        expected: &'static str,
    },

    /// A file of the model is not what it should be.
    #[error("{}: {reason}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was read and what was expected.
        reason: String,
    },

    /// A value of the configuration cannot be used.
    #[error("encoder.{key} = {value}: {expected}")]
    Config {
        /// The key.
        key: &'static str,
        /// What it was set to.
        value: String,
        /// What it may be.
        expected: String,
    },

    /// The instruction set that the environment names is unknown, or not one of this processor's.
    #[error(
        "TABSEGNET_SIMD = {value:?}: expected avx512, avx2 or portable, and one that this processor has; unset it for the best"
    )]
    Simd {
        /// The variable's value.
        value: String,
    },

    /// The hub did not give a file.
    #[error(
        "{repo} (revision {revision}): could not get {file} from {endpoint}: {reason}; check the name, the revision and the connection, or download the model and give `{key}` its directory"
    )]
    Hub {
        /// The repository, `owner/name`.
        repo: Box<str>,
        /// The revision.
        revision: Box<str>,
        /// The file's name.
        file: Box<str>,
        /// The hub's address.
        endpoint: Box<str>,
        /// Why not.
        reason: Box<str>,
        /// The key of the configuration that names the model.
        key: &'static str,
    },

    /// A model that comes with the project is not where it is looked for.
    #[error(
        "the shipped {what} was not found; looked at {}; set TABSEGNET_CHECKPOINTS to the project's checkpoints directory, or `{key}` to a model's directory",
        list(.looked)
    )]
    NoShipped {
        /// What it is.
        what: &'static str,
        /// The key of the configuration that names another one.
        key: &'static str,
        /// The directories that were looked at, in order.
        looked: Vec<PathBuf>,
    },

    /// The tokenizer refused a text.
    #[error("could not split the text {text} into tokens: {reason}")]
    Tokenise {
        /// The text's beginning, quoted.
        text: String,
        /// The tokenizer's reason.
        reason: String,
    },

    /// A vector holds NaN or an infinity.
    #[error(
        "the vector of the text {text} is not finite (component {component} is {value}); the model's weights are damaged or not meant for f32"
    )]
    NonFinite {
        /// The text's beginning, quoted.
        text: String,
        /// The first such component.
        component: usize,
        /// Its value.
        value: f32,
    },

    /// The store of vectors could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl EncoderError {
    /// Whether the configuration is at fault.
    pub fn is_setting(&self) -> bool {
        matches!(self, Self::Config { .. } | Self::NoDirectory { .. } | Self::NotBrought { .. })
    }
}

fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

/// The beginning of a text as it stands in messages: quoted, at most 80 characters.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// An error for every row that holds a number that is not finite.
///
/// `vectors` is row-major `[texts, dim]`.
pub(crate) fn check_finite(texts: &[&str], vectors: &[f32], dim: usize) -> Result<(), EncoderError> {
    for (text, vector) in texts.iter().zip(vectors.chunks_exact(dim.max(1))) {
        if let Some(component) = vector.iter().position(|value| !value.is_finite()) {
            let value = vector.get(component).copied().unwrap_or(f32::NAN);
            return Err(EncoderError::NonFinite { text: excerpt(text), component, value });
        }
    }
    Ok(())
}
