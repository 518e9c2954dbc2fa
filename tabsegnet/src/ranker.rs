//! From a checkpoint, a document and a question to a ranking.

use std::path::Path;

use burn::tensor::Device;
use serde::Serialize;
use tabsegnet_datasets::document::Document;
use tabsegnet_datasets::prepared::{PreparedDocument, PreparedQuestion};
use tabsegnet_encoder::{EmbeddingCache, Encoder, EncoderKind, load_on};
use tabsegnet_graph::{Node, NodeKind};
use tabsegnet_ranker::Inference;
use tabsegnet_ranker::batch::best_segments;
use tabsegnet_ranker::best;
use tabsegnet_ranker::checkpoint::{self, Checkpoint, Manifest};
use tabsegnet_ranker::reranker::Reranker;
use tabsegnet_segmenter::{Segmenter, SegmenterError, load_segmenter};

use crate::embedded::View;
use crate::encoded::EncodedDocument;
use crate::features::Featuriser;
use crate::open::OpenDocument;
use crate::settings::RankerSettings;
use crate::{Embedded, RankingError, check_identities, scores};

/// A node at its place in a ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedNode {
    /// From 1.
    pub rank: usize,
    /// The node's id.
    pub id: String,
    /// What the node is.
    pub kind: NodeKind,
    /// The text as the document has it.
    pub text: String,
    /// Row-header path of a cell, `outer > inner`; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_headers: Option<String>,
    /// Column-header path of a cell, `outer > inner`; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column_headers: Option<String>,
    /// Where it stands.
    pub position: Position,
    /// The segment of the question that is nearest to the node; absent without segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<String>,
    /// Higher is more relevant; comparable within one question.
    pub score: f32,
    /// Where the score comes from; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<NodeExplanation>,
}

/// Where a node's score comes from. Exact: an effect is the score less that without the edge, the
/// feature or the segment. Effects need not add up to the score. With a reranker they are those on the
/// score before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeExplanation {
    /// Where the score after the reranker comes from; absent where the ranker has none or passes the
    /// node over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker: Option<RerankerExplanation>,
    /// The score if no edge led to the node.
    pub alone: f32,
    /// Edges into the node that it hears, the greatest effect by amount first.
    pub edges: Vec<NodeEdge>,
    /// Features of the node, the greatest effect by amount first; those without any are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<NodeFeature>,
    /// Segments of the question, in its order; empty for a model without segments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<SegmentEffect>,
}

/// Where the score of a node after the reranker comes from. Exact: the effects and `alone` add up to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RerankerExplanation {
    /// The score before.
    pub first_score: f32,
    /// What the trees say of a node of which they know nothing.
    pub alone: f32,
    /// What the trees looked at, the greatest effect by amount first; what they did not is left out. Names
    /// with `ranked.` are places among the scores before.
    pub features: Vec<NodeFeature>,
}

/// A feature of a node for a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeFeature {
    /// Its name, as `row.words`: what is compared with the question, and how.
    pub feature: String,
    /// Its value.
    pub value: f32,
    /// The score less that with the feature at its mean over the training part; in a reranker, what the
    /// feature adds.
    pub effect: f32,
}

/// What a segment of the question does to a node's score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SegmentEffect {
    /// The segment.
    pub segment: String,
    /// The score less that without the segment; without the only one the question is its own.
    pub effect: f32,
}

/// An edge into a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeEdge {
    /// The node that it comes from.
    pub node: String,
    /// Its type.
    pub edge_type: String,
    /// s(e | q).
    pub strength: f32,
    /// The score less that without this edge.
    pub effect: f32,
}

/// How strongly a question makes a type of edge speak.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TypeStrength {
    /// The type.
    pub edge_type: String,
    /// s(e | q) (5).
    pub strength: f32,
}

/// Where a node stands in its document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Position {
    /// The n-th passage, from 0.
    Passage {
        /// From 0.
        passage: usize,
    },
    /// A table's caption.
    Table {
        /// The table's number.
        table: usize,
    },
    /// A cell or header, at its top-left place of the grid.
    Cell {
        /// The table's number.
        table: usize,
        /// From 0, header rows counted.
        row: usize,
        /// From 0, header columns counted.
        col: usize,
        /// Rows covered.
        rowspan: usize,
        /// Columns covered.
        colspan: usize,
    },
}

/// The ranked nodes of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// The question's id; empty where it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub question_id: String,
    /// The question.
    pub question: String,
    /// The document's id.
    pub document: String,
    /// Nodes of the document.
    pub nodes_in_document: usize,
    /// The segments of the question that the ranking used.
    pub segments: Vec<String>,
    /// How strongly the question made each type of edge speak; empty unless explanations are wanted
    /// for. One for all types in a model that does not tell them apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edge_strengths: Vec<TypeStrength>,
    /// The best nodes, best first; equal scores in document order.
    pub nodes: Vec<RankedNode>,
}

/// A trained ranker with the encoder and segmenter it was trained with.
pub struct Ranker {
    manifest: Manifest,
    inference: Inference,
    reranker: Option<Reranker>,
    settings: RankerSettings,
    encoder: Box<dyn Encoder>,
    segmenter: Box<dyn Segmenter>,
    featuriser: Featuriser,
}

/// A checkpoint that was read, before the encoder and segmenter that its config names are opened:
/// what it says of documents is known, so that one can be read meanwhile.
pub struct Opening {
    checkpoint: Checkpoint,
    settings: RankerSettings,
    device: Device,
}

impl Opening {
    /// Reads a checkpoint onto a device.
    ///
    /// # Errors
    /// A checkpoint that is damaged.
    pub fn read(directory: &Path, device: Device) -> Result<Self, RankingError> {
        let checkpoint = checkpoint::read(directory, &device)?;
        let settings = RankerSettings::parse(&directory.join("config.toml"), &checkpoint.config)?;
        Ok(Self { checkpoint, settings, device })
    }

    /// What the checkpoint's config says about ranking.
    pub fn settings(&self) -> &RankerSettings {
        &self.settings
    }

    /// Identity of the encoder that [`Opening::finish`] opens.
    pub fn encoder(&self) -> &str {
        &self.checkpoint.manifest.encoder
    }

    /// What a user should know who ranks with it before its training has ended.
    pub fn warning(&self) -> Option<String> {
        self.checkpoint.warning()
    }

    /// Whether the ranker wants vectors of header paths and tables too.
    pub fn compares(&self) -> bool {
        self.settings.features.compares()
    }

    /// Whether it takes questions that are of no data set.
    ///
    /// # Errors
    /// Segments that a data set gives (`segmenter.kind = "given"`): there are none.
    pub fn answers_own_questions(&self) -> Result<(), RankingError> {
        match self.settings.segmenter.is_given() {
            true => Err(SegmenterError::Given.into()),
            false => Ok(()),
        }
    }

    /// Opens encoder and segmenter.
    ///
    /// # Errors
    /// An encoder or segmenter that is not there or is not the one that the checkpoint was trained
    /// with.
    pub fn finish(self) -> Result<Ranker, RankingError> {
        let Self { checkpoint: Checkpoint { directory, model, reranker, manifest, .. }, settings, device } = self;
        let encoder = load_on(&settings.encoder, &device)?;
        let segmenter = load_segmenter(&settings.segmenter)?;
        let featuriser = Featuriser::open(settings.features)?;
        let parts = [
            ("encoder", manifest.encoder.as_str(), encoder.identity()),
            ("segmenter", &manifest.segmenter, segmenter.identity()),
            ("word vectors", &manifest.words, featuriser.words()),
        ];
        check_identities(&directory, &parts)?;
        let inference = Inference::new(model, &manifest.model, manifest.d_enc, &device);
        Ok(Ranker { manifest, inference, reranker, settings, encoder, segmenter, featuriser })
    }
}

impl Ranker {
    /// Opens a checkpoint on a device, and what its config names.
    ///
    /// # Errors
    /// A checkpoint that is damaged; an encoder or segmenter that is not there or is not the one
    /// that the checkpoint was trained with.
    pub fn open(directory: &Path, device: Device) -> Result<Self, RankingError> {
        Opening::read(directory, device)?.finish()
    }

    /// What the checkpoint says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What its config says about ranking.
    pub fn settings(&self) -> &RankerSettings {
        &self.settings
    }

    pub(crate) fn inference(&self) -> &Inference {
        &self.inference
    }

    /// What looks at the best nodes again, where the ranker has it.
    pub(crate) fn reranker(&self) -> Option<&Reranker> {
        self.reranker.as_ref()
    }

    pub(crate) fn encoder(&self) -> &dyn Encoder {
        self.encoder.as_ref()
    }

    /// Whether its segments are those that a data set gives, so that what it finds is an upper bound.
    pub fn takes_given_segments(&self) -> bool {
        self.segmenter.is_given()
    }

    pub(crate) fn segmenter(&self) -> &dyn Segmenter {
        self.segmenter.as_ref()
    }

    pub(crate) fn featuriser(&self) -> &Featuriser {
        &self.featuriser
    }

    /// Whether vectors should be kept: those of a static encoder cost less than a look into the
    /// cache.
    pub fn keeps_vectors(&self) -> bool {
        self.settings.encoder.kind != EncoderKind::Static
    }

    /// Puts vectors to documents and questions; without a cache all are made.
    pub fn embed(
        &self,
        documents: Vec<PreparedDocument>,
        questions: Vec<PreparedQuestion>,
        cache: Option<&EmbeddingCache>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Embedded, RankingError> {
        let view = View {
            encoder: self.encoder(),
            segmenter: self.segmenter(),
            featuriser: &self.featuriser,
            cell_text: self.settings.graph.cell_text,
        };
        Embedded::embed(documents, questions, &view, cache, progress)
    }

    /// For each question one score a node of its document. Each document is opened once for all of
    /// its questions.
    pub fn scores(&self, embedded: &Embedded) -> Result<Vec<Vec<f32>>, RankingError> {
        scores::inference(&self.inference, self.reranker(), embedded)
    }

    /// A document with its vectors; without a cache all are made.
    ///
    /// # Errors
    /// What the encoder or the cache says; a vector that is not finite.
    pub fn encode(
        &self,
        document: PreparedDocument,
        cache: Option<&EmbeddingCache>,
    ) -> Result<EncodedDocument, RankingError> {
        let mut texts: Vec<&str> = document.ranking_texts.iter().map(String::as_str).collect();
        let strings;
        if self.featuriser.compares() {
            strings = Featuriser::strings(document.nodes(), self.settings.graph.cell_text);
            texts.extend(strings.compared());
        }
        let vectors = match cache {
            Some(cache) => cache.embed(self.encoder(), &texts, &mut |_| {})?,
            None => self.encoder.encode(&texts, &mut |_| {})?,
        };
        EncodedDocument::new(document, self.encoder.dim(), vectors)
    }

    /// Opens a document for questions.
    ///
    /// # Errors
    /// A document whose vectors are of another width or whose edges the model does not know; a ranker whose
    /// segments are given by a data set (`segmenter.kind = "given"`).
    pub fn open_document(&self, document: EncodedDocument) -> Result<OpenDocument<'_>, RankingError> {
        OpenDocument::new(self, document)
    }

    /// Ranks the nodes of one document for one question. For several questions open the document:
    /// [`Ranker::open_document`].
    ///
    /// # Errors
    /// A blank question; whatever encoder and model say.
    pub fn rank(&self, document: &Document, question: &str, top_k: usize) -> Result<Ranking, RankingError> {
        let document = self.encode(PreparedDocument::new(document, &self.settings.graph), None)?;
        self.open_document(document)?.rank("", question, top_k)
    }
}

/// The `top_k` best nodes of a question by their scores.
pub fn ranking(embedded: &Embedded, question: usize, scores: &[f32], top_k: usize) -> Ranking {
    let document = embedded.document_of(question);
    let PreparedQuestion { id, text, .. } = &embedded.questions[question];
    let (vectors, d_enc) = (embedded.nodes_of(question), embedded.d_enc());
    let subject = Subject { id: &document.id, nodes: document.nodes(), vectors, d_enc };
    let segments = &embedded.segments[question];
    ranked(&subject, id, text, segments, embedded.segment_vectors(question), scores, top_k)
}

/// What is ranked: a document's name, nodes and vectors `[nodes, d_enc]`.
pub(crate) struct Subject<'a> {
    pub(crate) id: &'a str,
    pub(crate) nodes: &'a [Node],
    pub(crate) vectors: &'a [f32],
    pub(crate) d_enc: usize,
}

/// The `top_k` best nodes by `scores` `[nodes]`, each with the nearest of the segments.
pub(crate) fn ranked(
    subject: &Subject<'_>,
    question_id: &str,
    question: &str,
    segments: &[String],
    segment_vectors: &[f32],
    scores: &[f32],
    top_k: usize,
) -> Ranking {
    let nodes = best(scores, top_k).into_iter().enumerate().map(|(rank, index)| {
        let node = &subject.nodes[index];
        let path = |path: &str| (node.kind == NodeKind::Cell && !path.is_empty()).then(|| path.to_owned());
        let u = &subject.vectors[index * subject.d_enc..(index + 1) * subject.d_enc];
        RankedNode {
            rank: rank + 1,
            id: node.id.clone(),
            kind: node.kind,
            text: node.text.clone(),
            row_headers: node.place.as_ref().and_then(|place| path(&place.row_path)),
            column_headers: node.place.as_ref().and_then(|place| path(&place.column_path)),
            position: position(node),
            segment: best_segments(u, segment_vectors, subject.d_enc)
                .first()
                .map(|&best| segments[best as usize].clone()),
            score: scores[index],
            explanation: None,
        }
    });
    Ranking {
        question_id: question_id.to_owned(),
        question: question.to_owned(),
        document: subject.id.to_owned(),
        nodes_in_document: subject.nodes.len(),
        segments: segments.to_vec(),
        edge_strengths: Vec::new(),
        nodes: nodes.collect(),
    }
}

fn position(node: &Node) -> Position {
    match (&node.place, node.kind) {
        (Some(place), NodeKind::Caption) => Position::Table { table: place.table },
        (Some(place), _) => Position::Cell {
            table: place.table,
            row: place.row,
            col: place.col,
            rowspan: place.rowspan,
            colspan: place.colspan,
        },
        // The id is "p" and the number of the passage.
        (None, _) => Position::Passage { passage: node.id.get(1..).and_then(|n| n.parse().ok()).unwrap_or_default() },
    }
}
