//! What a checkpoint's config says about ranking.

use std::path::Path;

use serde::Deserialize;
use tabsegnet_datasets::config::DataConfig;
use tabsegnet_datasets::prepared::PrepareSettings;
use tabsegnet_encoder::EncoderConfig;
use tabsegnet_features::FeaturesConfig;
use tabsegnet_graph::GraphConfig;
use tabsegnet_lexical::glossary::GlossaryConfig;
use tabsegnet_segmenter::SegmenterConfig;

use crate::RankingError;

/// The sections of a training config that a ranking depends on; the others are passed over.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RankerSettings {
    /// Distractors and how they are found.
    pub data: DataConfig,
    /// How a document becomes a graph.
    pub graph: GraphConfig,
    /// Which encoder.
    pub encoder: EncoderConfig,
    /// How questions are read.
    pub glossary: GlossaryConfig,
    /// Which segmenter.
    pub segmenter: SegmenterConfig,
    /// Which features.
    pub features: FeaturesConfig,
}

impl RankerSettings {
    /// Reads them from a config's text; `file` is for messages.
    pub fn parse(file: &Path, text: &str) -> Result<Self, RankingError> {
        toml::from_str(text)
            .map_err(|error| RankingError::Settings { file: file.display().to_string(), message: error.to_string() })
    }

    /// How documents are prepared.
    pub fn prepare(&self) -> PrepareSettings {
        PrepareSettings { graph: self.graph.clone() }
    }
}
