//! Which segmenter: the `[segmenter]` table of a configuration.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabsegnet_encoder::{Shipped, shipped_for};

use crate::{GivenSegments, Limits, ModelFiles, NoSegments, Rules, Segmenter, SegmenterError, T5Segmenter, WeightKind};

/// Which segmenter to use and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SegmenterConfig {
    /// `rules`, which needs no model; `t5`: a T5 in Hugging Face layout; `given`: those of the data set, an upper
    /// bound for measurement only; or `none`.
    pub kind: String,
    /// Of `t5`: a directory, or a hub name: a string with exactly one `/` that is no directory here. Empty for the
    /// one that comes with the project.
    pub model: String,
    /// Branch, tag or commit of a hub name; `main` by default.
    pub revision: String,
    /// Of `t5`: the number type of the weights in memory.
    pub weights: WeightKind,
    /// Of `t5`: hypotheses of beam search; 1 takes the likeliest token each time.
    pub beams: usize,
    /// Of `t5`: tokens of prompt and question that count.
    pub max_input_tokens: usize,
    /// Of `t5`: tokens of the segments of one question at most.
    pub max_output_tokens: usize,
}

impl Default for SegmenterConfig {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            kind: "rules".to_owned(),
            model: String::new(),
            revision: "main".to_owned(),
            weights: WeightKind::F32,
            beams: limits.beams,
            max_input_tokens: limits.input,
            max_output_tokens: limits.output,
        }
    }
}

impl SegmenterConfig {
    /// The one that a name on a command line stands for: a kind, or the directory of a T5.
    ///
    /// # Errors
    /// A name that is neither, and `given`, which no question outside a data set has.
    pub fn named(name: &str) -> Result<Self, SegmenterError> {
        match name {
            "rules" | "t5" | "none" => Ok(Self { kind: name.to_owned(), ..Self::default() }),
            "given" => Err(SegmenterError::Given),
            directory if Path::new(directory).is_dir() => {
                Ok(Self { kind: "t5".to_owned(), model: directory.to_owned(), ..Self::default() })
            }
            name => Err(SegmenterError::UnknownName { name: name.to_owned() }),
        }
    }

    /// Whether the segments are those of the data set.
    pub fn is_given(&self) -> bool {
        self.kind == "given"
    }
}

/// Opens the segmenter that `config` names.
///
/// # Errors
/// A kind that does not exist; a value out of range; a model that is not there or is not what it
/// should be.
pub fn load_segmenter(config: &SegmenterConfig) -> Result<Box<dyn Segmenter>, SegmenterError> {
    load_segmenter_for(config, None)
}

/// As [`load_segmenter`] for a checkpoint, where there is one: beside it the T5 that comes with the project is looked for
/// first.
///
/// # Errors
/// As [`load_segmenter`].
pub fn load_segmenter_for(
    config: &SegmenterConfig,
    checkpoint: Option<&Path>,
) -> Result<Box<dyn Segmenter>, SegmenterError> {
    match config.kind.as_str() {
        "none" => Ok(Box::new(NoSegments)),
        "rules" => Ok(Box::new(Rules)),
        "given" => Ok(Box::new(GivenSegments)),
        "t5" => {
            let limits =
                Limits { beams: config.beams, input: config.max_input_tokens, output: config.max_output_tokens };
            let files = match config.model.as_str() {
                "" => ModelFiles::directory(&shipped_for(Shipped::Segmenter, checkpoint)?),
                model => ModelFiles::named(model, &config.revision, "segmenter.model")?,
            };
            Ok(Box::new(T5Segmenter::open(&files, limits, config.weights)?))
        }
        kind => Err(SegmenterError::UnknownKind { kind: kind.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use tabsegnet_encoder::shipped;

    use super::*;

    fn message(json: &str) -> String {
        let config: SegmenterConfig = serde_json::from_str(json).unwrap();
        load_segmenter(&config).err().unwrap().to_string()
    }

    #[test]
    fn rules_are_the_default_none_finds_nothing_and_given_takes_those_of_the_data() {
        let open = |kind: &str| load_segmenter(&SegmenterConfig { kind: kind.into(), ..Default::default() }).unwrap();
        let question = "revenue of 2019 and of 2020";
        let rules = load_segmenter(&SegmenterConfig::default()).unwrap();
        assert_eq!(rules.segments(question).unwrap(), ["revenue 2019", "revenue 2020"]);
        assert_eq!(rules.identity(), open("rules").identity());
        assert_eq!((open("none").identity(), open("none").is_given()), ("none", false));
        assert!(open("none").segments(question).unwrap().is_empty());
        assert!(open("given").is_given());
        assert!(open("given").segments(question).unwrap_err().to_string().contains("for measurement only"));
    }

    #[test]
    fn a_name_is_a_kind_or_a_folder() {
        let named = |name: &str| SegmenterConfig::named(name).map_err(|error| error.to_string());
        let shipped = shipped(Shipped::Segmenter).unwrap().display().to_string();
        let folder = named(&shipped).unwrap();
        assert_eq!((folder.kind.as_str(), &folder.model), ("t5", &shipped));
        assert_eq!(named("rules"), Ok(SegmenterConfig::default()));
        assert!(named("given").unwrap_err().contains("for measurement only"));
        assert!(named("rule").unwrap_err().contains("expected rules, t5, none or the folder of a T5"));
    }

    #[test]
    fn other_kinds_and_keys_are_refused() {
        assert_eq!(message(r#"{"kind": "t6"}"#), "segmenter.kind = \"t6\": expected rules, t5, given or none");
        assert!(serde_json::from_str::<SegmenterConfig>(r#"{"sort": "none"}"#).is_err());
    }

    /// The shipped one: what it must do at least, since it is there for nothing else.
    #[test]
    fn without_a_model_a_t5_is_the_one_that_comes_with_the_project() {
        let open = |model: String| {
            load_segmenter(&SegmenterConfig { kind: "t5".into(), model, ..SegmenterConfig::default() }).unwrap()
        };
        let segmenter = open(String::new());
        let directory = shipped(Shipped::Segmenter).unwrap();
        assert_eq!(segmenter.identity(), open(directory.display().to_string()).identity());
        let files = std::fs::read_dir(&directory).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        assert!(files.sum::<u64>() <= 12 << 20, "what is shipped is to stay small");

        let segments = |question: &str| segmenter.segments(question).unwrap();
        assert_eq!(
            segments("what was the change in net revenue from 2015 to 2016?"),
            ["net revenue 2015", "net revenue 2016"]
        );
        assert_eq!(segments("What was the ratio of rental income to interest income in 2012?").len(), 2);
        assert!(segments("  ").is_empty());
    }

    #[test]
    fn a_t5_needs_a_model_that_is_there() {
        let missing = message(r#"{"kind": "t5", "model": "/no/such/model"}"#);
        assert!(missing.starts_with("/no/such/model: there is no such directory; give `segmenter.model`"), "{missing}");
    }
}
