//! Features of questions and nodes for a model that was trained with them.

use tabsegnet_encoder::{Encoder, StaticEncoder, shipped_static};
use tabsegnet_features::{
    DocumentFeatures, DocumentQuery, EncodedQuery, FeaturesConfig, QueryVectors, Question, Reading, Strings,
};
use tabsegnet_graph::{CellText, Node};

use crate::RankingError;

/// A question as features see it, but for the vectors of the ranker's encoder.
#[derive(Debug, Clone)]
pub struct Query {
    question: Question,
    /// `[words, d_word]`
    words: Vec<f32>,
    segments: Vec<Question>,
}

impl Query {
    /// With its vectors.
    pub fn with<'a>(&'a self, vectors: QueryVectors<'a>) -> EncodedQuery<'a> {
        let Self { question, words, segments } = self;
        EncodedQuery { question, words, segments, vectors }
    }

    /// What the texts of a document say of it.
    pub fn read(&self, document: &DocumentFeatures) -> Reading {
        document.read(&self.question, &self.words, &self.segments)
    }

    /// Query of a document.
    pub fn of<'a>(&'a self, document: &'a DocumentFeatures) -> DocumentQuery<'a> {
        DocumentQuery { document, question: &self.question, segments: &self.segments }
    }
}

/// Makes the features that a config asks for.
pub struct Featuriser {
    config: FeaturesConfig,
    /// The static encoder's vectors of single words, for similar words.
    words: Option<StaticEncoder>,
}

impl Featuriser {
    /// Opens the word vectors that come with the project where they are needed.
    ///
    /// # Errors
    /// The static encoder is not there or damaged.
    pub fn open(config: FeaturesConfig) -> Result<Self, RankingError> {
        let words = match config.similar_words {
            true => Some(StaticEncoder::load(&shipped_static()?)?),
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
        let question = Question::new(text);
        let words = self.word_vectors(question.words())?;
        let segments = match segments {
            // A question without segments is its own segment.
            [] => vec![question.clone()],
            segments => segments.iter().map(|segment| Question::new(segment)).collect(),
        };
        Ok(Query { question, words, segments })
    }

    fn word_vectors(&self, words: &[String]) -> Result<Vec<f32>, RankingError> {
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        match &self.words {
            Some(encoder) => Ok(encoder.encode(&texts, &mut |_| {})?),
            None => Ok(Vec::new()),
        }
    }
}
