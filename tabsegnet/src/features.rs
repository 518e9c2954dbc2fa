//! Features of questions and nodes for a model that was trained with them.

use std::path::Path;

use tabsegnet_encoder::{Encoder, Shipped, StaticEncoder, shipped_for};
use tabsegnet_features::{DocumentFeatures, FeaturesConfig, Query, Strings};
use tabsegnet_graph::{CellText, Node};

use crate::RankingError;

/// Makes the features that a config asks for.
pub struct Featuriser {
    config: FeaturesConfig,
    /// The static encoder's vectors of single words, for similar words.
    words: Option<StaticEncoder>,
}

impl Featuriser {
    /// Opens the word vectors that come with the project where they are needed; of a checkpoint, those beside it where
    /// they lie there.
    ///
    /// # Errors
    /// The static encoder is not there or damaged.
    pub fn open(config: FeaturesConfig, checkpoint: Option<&Path>) -> Result<Self, RankingError> {
        let words = match config.similar_words {
            true => Some(StaticEncoder::load(&shipped_for(Shipped::StaticEncoder, checkpoint)?)?),
            false => None,
        };
        Ok(Self { config, words })
    }

    /// Which features.
    pub fn config(&self) -> FeaturesConfig {
        self.config
    }

    /// Identity of the word vectors; empty where none are used.
    pub fn words(&self) -> &str {
        self.words.as_ref().map_or("", |words| words.identity())
    }

    /// Whether there are features at all.
    pub fn any(&self) -> bool {
        self.config != FeaturesConfig::default()
    }

    /// Whether the ranker's encoder has to encode [`Strings::compared`].
    pub fn compares(&self) -> bool {
        self.config.compares()
    }

    /// The strings of a document, by what the rankers read of its nodes.
    pub fn strings(nodes: &[Node], cell_text: CellText) -> Strings {
        let own: Vec<String> = nodes.iter().map(|node| node.ranking_text(cell_text)).collect();
        Strings::new(nodes, &own)
    }

    /// The features of a document, as [`DocumentFeatures::new`] has them.
    ///
    /// # Errors
    /// What the word vectors' encoder says.
    pub fn document(
        &self,
        nodes: &[Node],
        strings: Strings,
        node_vectors: &[f32],
        compared: &[f32],
    ) -> Result<DocumentFeatures, RankingError> {
        let words = self.word_vectors(strings.words())?;
        Ok(DocumentFeatures::new(self.config, nodes, strings, node_vectors, compared, &words))
    }

    /// A question with its segments.
    ///
    /// # Errors
    /// As [`Featuriser::document`].
    pub fn question(&self, text: &str, segments: &[String]) -> Result<Query, RankingError> {
        let query = Query::new(text, segments);
        let words = self.word_vectors(query.words())?;
        Ok(query.with_word_vectors(words))
    }

    fn word_vectors(&self, words: &[String]) -> Result<Vec<f32>, RankingError> {
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        match &self.words {
            Some(encoder) => Ok(encoder.encode(&texts, &mut |_| {})?),
            None => Ok(Vec::new()),
        }
    }
}
