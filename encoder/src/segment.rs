//! Question segmenters: the parts of a question that each ask for one thing.

use serde::{Deserialize, Serialize};

/// Splits a question into segments.
///
/// What always holds: no segment is empty, and the same question gives the same segments. No
/// segments is a valid answer.
pub trait Segmenter: Send + Sync {
    /// Names everything that the segments depend on.
    fn identity(&self) -> &str;

    /// The segments of `question`, in the order in which they stand in it.
    fn segments(&self, question: &str) -> Result<Vec<String>, SegmenterError>;
}

/// A segmenter could not be opened or failed on a question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmenterError {
    /// The configuration names a kind that does not exist.
    #[error("segmenter.kind = {kind:?}: this version has the kind \"none\" only")]
    UnknownKind {
        /// What it was set to.
        kind: String,
    },
}

/// Which segmenter to use: the `[segmenter]` table of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SegmenterConfig {
    /// The kind; `none` is what there is.
    pub kind: String,
}

impl Default for SegmenterConfig {
    fn default() -> Self {
        Self { kind: "none".to_owned() }
    }
}

/// Opens the segmenter that `config` names.
///
/// # Errors
///
/// [`SegmenterError::UnknownKind`] for every kind but `none`.
pub fn load_segmenter(config: &SegmenterConfig) -> Result<Box<dyn Segmenter>, SegmenterError> {
    match config.kind.as_str() {
        "none" => Ok(Box::new(NoSegments)),
        kind => Err(SegmenterError::UnknownKind { kind: kind.to_owned() }),
    }
}

/// The segmenter that finds no segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSegments;

impl Segmenter for NoSegments {
    fn identity(&self) -> &str {
        "none"
    }

    fn segments(&self, _question: &str) -> Result<Vec<String>, SegmenterError> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_finds_nothing_and_is_the_default() {
        let segmenter = load_segmenter(&SegmenterConfig::default()).unwrap();
        assert_eq!(segmenter.identity(), "none");
        assert!(segmenter.segments("revenue of 2019 and of 2020").unwrap().is_empty());
    }

    #[test]
    fn other_kinds_and_keys_are_refused() {
        let config: SegmenterConfig = serde_json::from_str(r#"{"kind": "t5"}"#).unwrap();
        let error = load_segmenter(&config).err().unwrap().to_string();
        assert_eq!(error, "segmenter.kind = \"t5\": this version has the kind \"none\" only");
        assert!(serde_json::from_str::<SegmenterConfig>(r#"{"sort": "none"}"#).is_err());
    }
}
