//! A document opened with a ranker: a question costs what depends on it, and no more.

use tabsegnet_features::rows::NO_FEATURES;
use tabsegnet_features::{DocumentFeatures, FeatureRows, Query, QueryVectors, TableScore, vectors};
use tabsegnet_ranker::reranker::{self, QueryContext, RerankEffects};
use tabsegnet_ranker::{EdgeEffect, Explanation, ModelInput, OpenGraph, best};
use tabsegnet_segmenter::SegmenterError;

use crate::encoded::{EncodedDocument, check_finite};
use crate::features::Featuriser;
use crate::ranker::{
    NodeEdge, NodeExplanation, NodeFeature, Ranker, Ranking, RerankerExplanation, SegmentEffect, Subject, TypeStrength,
    ranked,
};
use crate::{RankingError, scores};

/// A document that many questions can be put to, one after the other or from several threads.
pub struct OpenDocument<'r> {
    ranker: &'r Ranker,
    document: EncodedDocument,
    graph: OpenGraph,
    features: Option<DocumentFeatures>,
    /// What the ranker's table scorer says of the document's tables.
    tables: Vec<TableScore>,
}

impl<'r> OpenDocument<'r> {
    pub(crate) fn new(ranker: &'r Ranker, document: EncodedDocument) -> Result<Self, RankingError> {
        if ranker.segmenter().is_given() {
            return Err(SegmenterError::Given.into());
        }
        let graph = ranker.inference().open(document.graph.adjacency(), document.vectors())?;
        let featuriser = ranker.featuriser();
        let features = match featuriser.any() {
            true => {
                let strings = Featuriser::strings(document.nodes(), ranker.settings().graph.cell_text);
                Some(featuriser.document(document.nodes(), strings, document.vectors(), document.compared())?)
            }
            false => None,
        };
        let tables = match (&features, ranker.inference().model().table_scorer()) {
            (Some(features), Some(scorer)) => scorer.scores(features.table_inputs()),
            _ => Vec::new(),
        };
        Ok(Self { ranker, document, graph, features, tables })
    }

    /// The document in encoded form.
    pub fn document(&self) -> &EncodedDocument {
        &self.document
    }

    /// The `top_k` best nodes for a question, best first; equal scores in document order.
    ///
    /// # Errors
    /// A blank question; one that cannot be encoded; a score that is not finite.
    pub fn rank(&self, question_id: &str, question: &str, top_k: usize) -> Result<Ranking, RankingError> {
        Ok(self.answer(question_id, question, top_k, false)?.0)
    }

    /// [`OpenDocument::rank`] with edge strengths and an explanation of each node, and the scores of all
    /// nodes `[nodes]`. Costs a reranker over the document, and a little a node.
    ///
    /// # Errors
    /// As [`OpenDocument::rank`].
    pub fn rank_explained(
        &self,
        question_id: &str,
        question: &str,
        top_k: usize,
    ) -> Result<(Ranking, Vec<f32>), RankingError> {
        self.answer(question_id, question, top_k, true)
    }

    fn answer(
        &self,
        question_id: &str,
        question: &str,
        top_k: usize,
        explained: bool,
    ) -> Result<(Ranking, Vec<f32>), RankingError> {
        if question.trim().is_empty() {
            return Err(RankingError::BlankQuestion);
        }
        let segments = self.ranker.segmenter().segments(question)?;
        // Not through the cache: to keep one vector costs a write to the disk, more than to make it.
        let texts: Vec<&str> = std::iter::once(question).chain(segments.iter().map(String::as_str)).collect();
        // What texts say of each other is worked out beside it.
        let (vectors, featured) = rayon::join(
            || self.ranker.encoder().encode(&texts, &mut |_| {}),
            || -> Result<_, RankingError> {
                let Some(document) = &self.features else { return Ok(None) };
                let featured = self.ranker.featuriser().question(question, &segments)?;
                let reading = document.read(&featured);
                Ok(Some((document, featured, reading)))
            },
        );
        let (vectors, featured) = (vectors?, featured?);
        let d_enc = self.document.d_enc();
        let name = |row| texts.get(row).map_or_else(String::new, |text| format!("the question {text:?}"));
        check_finite(&vectors, d_enc, name)?;
        let (q, segment_vectors) = vectors.split_at(d_enc.min(vectors.len()));
        // A question without segments is its own segment.
        let query = if segment_vectors.is_empty() { q } else { segment_vectors };
        let mut products = Vec::new();
        let (mut features, mut query_of) = (None, None);
        if let Some((document, query_text, reading)) = featured {
            let vectors = QueryVectors { q, segments: query };
            products = vectors::products(self.document.vectors(), &vectors.all());
            features = Some(document.features(reading, &vectors, &products, &self.tables));
            query_of = Some((document, query_text));
        }
        let features: &dyn FeatureRows = features.as_ref().map_or(NO_FEATURES, |features| features);
        let query_of = query_of.as_ref().map(|(document, query)| (*document, query));
        let query = ModelInput { q, segments: query, features, products: &products };
        let mut scores = self.ranker.inference().scores(&self.graph, &query)?;
        let subject =
            Subject { id: &self.document.id, nodes: self.document.nodes(), vectors: self.document.vectors(), d_enc };
        scores::check(question_id, subject.nodes, &scores)?;
        let first = if explained { scores.clone() } else { Vec::new() };
        if let Some(reranker) = self.ranker.reranker() {
            reranker.rescore(&QueryContext { nodes: subject.nodes, features, query: query_of }, &mut scores);
        }
        let mut ranking = ranked(&subject, question_id, question, &segments, segment_vectors, &scores, top_k);
        if explained {
            self.explain(&mut ranking, &query, query_of, &first, &best(&scores, top_k))?;
        }
        Ok((ranking, scores))
    }

    /// `first` are the scores before the reranker, `order` the ranked nodes by number.
    fn explain(
        &self,
        ranking: &mut Ranking,
        query: &ModelInput<'_>,
        of: Option<(&DocumentFeatures, &Query)>,
        first: &[f32],
        order: &[usize],
    ) -> Result<(), RankingError> {
        let (nodes, edges) = (self.document.nodes(), self.document.graph.adjacency());
        let inference = self.ranker.inference();
        let strengths = inference.strengths(query.q)?;
        ranking.edge_strengths = match strengths.as_slice() {
            &[strength] => vec![TypeStrength { edge_type: "every type".into(), strength }],
            many => {
                let types = inference.config().edge_type_names.iter().map(str::to_owned);
                types.zip(many).map(|(edge_type, &strength)| TypeStrength { edge_type, strength }).collect()
            }
        };
        let numbers: Vec<u32> = order.iter().map(|&node| node as u32).collect();
        let found = inference.explain(&self.graph, query, &numbers)?;
        let names = self.ranker.settings().features.names();
        let segments = match ranking.segments.as_slice() {
            [] => std::slice::from_ref(&ranking.question),
            segments => segments,
        };
        let looks = match self.ranker.reranker() {
            Some(reranker) => {
                reranker.explain(&QueryContext { nodes, features: query.features, query: of }, first, &numbers)
            }
            None => vec![None; numbers.len()],
        };
        let of_second = reranker::names();
        for (((node, number), explanation), look) in ranking.nodes.iter_mut().zip(order).zip(found).zip(looks) {
            let Explanation { alone, edges: heard, features: effects, segments: of_segments } = explanation;
            let mut values = vec![0.0; effects.len()];
            query.features.write(*number, effects.len(), &mut values);
            let features = with_effects(names.iter().map(String::as_str), &values, &effects);
            let reranker = look.map(|RerankEffects { alone, values, effects }| {
                let features = with_effects(names.iter().chain(&of_second).map(String::as_str), &values, &effects);
                RerankerExplanation { first_score: first[*number], alone, features }
            });
            let segments = segments.iter().zip(of_segments);
            let segments =
                segments.map(|(segment, effect)| SegmentEffect { segment: segment.clone(), effect }).collect();
            let heard = heard.into_iter().map(|EdgeEffect { edge, strength, effect }| NodeEdge {
                node: nodes[edges.sources()[edge] as usize].id.clone(),
                edge_type: edges.type_name(edge).to_owned(),
                strength,
                effect,
            });
            node.explanation = Some(NodeExplanation { reranker, alone, edges: heard.collect(), features, segments });
        }
        Ok(())
    }
}

/// Features that have an effect, the greatest by amount first.
fn with_effects<'n>(names: impl Iterator<Item = &'n str>, values: &[f32], effects: &[f32]) -> Vec<NodeFeature> {
    let features = names.zip(values).zip(effects).filter(|(_, effect)| **effect != 0.0);
    let mut features: Vec<NodeFeature> =
        features.map(|((name, &value), &effect)| NodeFeature { feature: name.to_owned(), value, effect }).collect();
    features.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()));
    features
}
