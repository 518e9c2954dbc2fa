//! A document opened with a session: a question costs what depends on it, and no more.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use tabsegnet_document::{Locations, ReadDocument, ReadOptions, read_bytes};
use tabsegnet_features::rows::NO_FEATURES;
use tabsegnet_features::{DocumentFeatures, FeatureRows, Query, QueryVectors, Strings, TableScore, vectors};
use tabsegnet_graph::{Graph, Node};
use tabsegnet_lexical::glossary::Wording;
use tabsegnet_lexical::question::check;
use tabsegnet_ranker::device::guard;
use tabsegnet_ranker::reranker::{self, QueryContext, RerankEffects};
use tabsegnet_ranker::{EdgeEffect, Explanation, ModelInput, OpenGraph, best};
use tabsegnet_segmenter::SegmenterError;
use tabsegnet_store::StoreError;

use crate::RankingError;
use crate::context::{self, Context};
use crate::documents::{DocumentCache, DocumentKey};
use crate::duplicates::{Distinct, distinct};
use crate::embedded::wording_of;
use crate::encoded::{EncodedDocument, check_finite};
use crate::features::Featuriser;
use crate::ranking::{
    NodeEdge, NodeExplanation, NodeFeature, Ranking, RerankerExplanation, SegmentEffect, Subject, TypeStrength, ranked,
};
use crate::session::Session;

/// Nodes of a ranking unless said.
const TOP_K: usize = 10;
/// Nodes that a context may hold unless said: more than fit into most.
const CONTEXT_TOP_K: usize = 50;

/// A question about an open document; `"What was revenue?".into()` is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<'a> {
    text: &'a str,
    id: &'a str,
    top_k: Option<usize>,
    each_place: bool,
}

impl<'a> Question<'a> {
    /// A question in words.
    pub fn new(text: &'a str) -> Self {
        Self { text, id: "", top_k: None, each_place: false }
    }

    /// The same with an id, which its ranking and messages then have.
    #[must_use]
    pub fn id(self, id: &'a str) -> Self {
        Self { id, ..self }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn id_text(&self) -> &'a str {
        self.id
    }

    /// How many are wanted.
    pub(crate) fn wanted(&self) -> usize {
        self.top_k.unwrap_or(TOP_K)
    }

    /// The same with so many nodes wanted; ten unless said, and what fits for a context.
    #[must_use]
    pub fn top(self, nodes: usize) -> Self {
        Self { top_k: Some(nodes), ..self }
    }

    /// The same with every node at its own place in the ranking. Otherwise a fact that several tables show is there once, at
    /// the best of these places, and the others are its [`RankedNode::duplicates`](crate::RankedNode::duplicates).
    #[must_use]
    pub fn each_place(self) -> Self {
        Self { each_place: true, ..self }
    }
}

impl<'a> From<&'a str> for Question<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text)
    }
}

impl<'a> From<&'a String> for Question<'a> {
    fn from(text: &'a String) -> Self {
        Self::new(text)
    }
}

/// A ranking that says where its scores come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// The ranking; its nodes have explanations, and it the strengths of edge types.
    pub ranking: Ranking,
    /// `[nodes]`: the scores of all nodes, in document order.
    pub scores: Vec<f32>,
}

/// A document that questions can be put to, one after the other or from many threads. Cheap to clone: all clones
/// are one document. It keeps its session alive.
#[derive(Clone)]
pub struct OpenDocument(Arc<Opened>);

struct Opened {
    session: Session,
    document: EncodedDocument,
    source: Source,
    graph: OpenGraph,
    features: Option<DocumentFeatures>,
    /// What it says, once a question is read with a glossary.
    wording: OnceLock<Wording>,
    /// What the table scorer says of the document's tables.
    tables: Vec<TableScore>,
}

/// Where a document came from.
pub(crate) struct Source {
    /// Its file, or what it would be called.
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) options: ReadOptions,
    /// What was read, once somebody wants it: an encoded form from the cache does without.
    pub(crate) read: OnceLock<ReadDocument>,
    /// Where its encoded form is to be kept; nowhere where it is there already or there is no cache.
    pub(crate) place: Option<(DocumentCache, DocumentKey)>,
    pub(crate) notices: Vec<String>,
}

impl OpenDocument {
    /// `strings` are the document's, where they are known.
    pub(crate) fn new(
        session: Session,
        document: EncodedDocument,
        strings: Option<Strings>,
        source: Source,
    ) -> Result<Self, RankingError> {
        if session.segmenter().is_given() {
            return Err(SegmenterError::Given.into());
        }
        let inference = session.scorer().inference;
        let graph = inference.open(document.graph.adjacency(), document.vectors())?;
        let featuriser = session.featuriser();
        let features = match featuriser.any() {
            true => {
                let known = || Featuriser::strings(document.nodes(), session.settings().graph.cell_text);
                let strings = strings.unwrap_or_else(known);
                Some(featuriser.document(document.nodes(), strings, document.vectors(), document.compared())?)
            }
            false => None,
        };
        let tables = match (&features, inference.model().table_scorer()) {
            (Some(features), Some(scorer)) => scorer.scores(features.table_inputs()),
            _ => Vec::new(),
        };
        let wording = OnceLock::new();
        Ok(Self(Arc::new(Opened { session, document, source, graph, features, wording, tables })))
    }

    /// The best nodes for a question, best first; equal scores in document order. Ten unless the question says.
    ///
    /// # Errors
    /// A question that is blank or too long; one that cannot be encoded; a score that is not finite; a device that fails.
    pub fn rank<'q>(&self, question: impl Into<Question<'q>>) -> Result<Ranking, RankingError> {
        let question = question.into();
        Ok(self.answer(question, question.wanted(), false)?.ranking)
    }

    /// [`OpenDocument::rank`] with the strengths of edge types, an explanation of each node, and the scores of all
    /// nodes. Costs another pass over the document, and a little a node.
    ///
    /// # Errors
    /// As [`OpenDocument::rank`].
    pub fn explain<'q>(&self, question: impl Into<Question<'q>>) -> Result<Explained, RankingError> {
        let question = question.into();
        self.answer(question, question.wanted(), true)
    }

    /// The best nodes as a text for a language model, with ids to cite, of at most about so many tokens.
    ///
    /// # Errors
    /// As [`OpenDocument::rank`]; a budget too small for the best node.
    pub fn context<'q>(&self, question: impl Into<Question<'q>>, tokens: usize) -> Result<Context, RankingError> {
        let question = question.into();
        let ranking = self.answer(question, question.top_k.unwrap_or(CONTEXT_TOP_K), false)?.ranking;
        Ok(context::context(&self.read()?.document, &ranking, tokens)?)
    }

    /// What was read from the file: passages and tables, layout, what was inferred for each table.
    ///
    /// # Errors
    /// A file that cannot be read after all: its encoded form was in the cache.
    pub fn read(&self) -> Result<&ReadDocument, RankingError> {
        let Source { path, bytes, options, read, .. } = &self.0.source;
        if let Some(read) = read.get() {
            return Ok(read);
        }
        let found = read_bytes(path, bytes.clone(), options)?;
        Ok(read.get_or_init(|| found))
    }

    /// The document's id: the name of its file without the extension, or what the file says.
    pub fn id(&self) -> &str {
        &self.0.document.id
    }

    /// The file, or what it would be called.
    pub fn path(&self) -> &Path {
        &self.0.source.path
    }

    /// Its graph.
    pub fn graph(&self) -> &Graph {
        &self.0.document.graph
    }

    /// Its nodes, in document order.
    pub fn nodes(&self) -> &[Node] {
        self.0.document.nodes()
    }

    /// Where its nodes stand in its file, as far as that tells.
    pub fn locations(&self) -> &Locations {
        &self.0.document.locations
    }

    /// What was cut off, left out or guessed when the document was read.
    pub fn warnings(&self) -> &[String] {
        &self.0.document.warnings
    }

    /// What happened on the way that the user may want to know, such as a damaged file in the cache.
    pub fn notices(&self) -> &[String] {
        &self.0.source.notices
    }

    /// Keeps the encoded form in the session's cache, so that the next run opens the document at once. Nothing
    /// happens where it is there, or where the session has no cache.
    ///
    /// # Errors
    /// A store that cannot be written, a full disk.
    pub fn keep(&self) -> Result<(), StoreError> {
        match &self.0.source.place {
            Some((documents, key)) => documents.write(*key, &self.0.document),
            None => Ok(()),
        }
    }

    fn answer(&self, question: Question<'_>, top_k: usize, explained: bool) -> Result<Explained, RankingError> {
        guard(self.0.session.raw_device(), || self.0.answer(question, top_k, explained))?
    }
}

impl Opened {
    fn answer(&self, question: Question<'_>, top_k: usize, explained: bool) -> Result<Explained, RankingError> {
        let Question { text: put, id, .. } = question;
        check(put)?;
        let wording = || self.wording.get_or_init(|| wording_of(self.document.nodes()));
        let read_as = self.session.glossary().reading(put, wording).map(|reading| reading.text);
        let text = read_as.as_deref().unwrap_or(put);
        let segments = self.session.segmenter().segments(text)?;
        // Not through the cache: to keep one vector costs a write to the disk, more than to make it.
        let texts: Vec<&str> = std::iter::once(text).chain(segments.iter().map(String::as_str)).collect();
        // What texts say of each other is worked out beside it.
        let (vectors, featured) = rayon::join(
            || self.session.encoder().encode(&texts, &mut |_| {}),
            || -> Result<_, RankingError> {
                let Some(document) = &self.features else { return Ok(None) };
                let featured = self.session.featuriser().question(text, &segments)?;
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
        let u = self.document.vectors();
        let input = ModelInput { u, q, segments: query, features, products: &products };
        let subject = Subject {
            id: &self.document.id,
            nodes: self.document.nodes(),
            locations: &self.document.locations,
            vectors: u,
            d_enc,
        };
        let context = QueryContext { nodes: subject.nodes, features, query: query_of };
        let mut first = Vec::new();
        let before = |scores: &[f32]| {
            if explained {
                first = scores.to_vec();
            }
        };
        let scores = self.session.scorer().score(id, &self.graph, &input, &context, before)?;
        let order: Vec<Distinct> = match question.each_place {
            true => best(&scores, top_k).into_iter().map(Distinct::alone).collect(),
            false => distinct(subject.nodes, &scores, top_k),
        };
        let ranking = ranked(&subject, id, put, &segments, segment_vectors, &scores, &order);
        let mut ranking = Ranking { read_as, warnings: self.document.warnings.clone(), ..ranking };
        if explained {
            let order: Vec<usize> = order.iter().map(|distinct| distinct.node).collect();
            self.explain(&mut ranking, &input, query_of, &first, &order)?;
        }
        Ok(Explained { ranking, scores })
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
        let inference = self.session.scorer().inference;
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
        let names = self.session.settings().features.names();
        let segments = match ranking.segments.as_slice() {
            [] => std::slice::from_ref(ranking.read_as.as_ref().unwrap_or(&ranking.question)),
            segments => segments,
        };
        let looks = match self.session.scorer().reranker {
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
            let reranker = look.map(|RerankEffects { alone, mut values, mut effects, wanted }| {
                let names = names.iter().chain(&of_second).map(String::as_str).chain(["question.wanted"]);
                values.push(1.0);
                effects.push(wanted);
                let features = with_effects(names, &values, &effects);
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
