//! From a checkpoint, a document and a question to a ranking.

use std::path::Path;

use burn::tensor::Device;
use serde::Serialize;
use tabsegnet_data::document::Document;
use tabsegnet_data::graph::NodeKind;
use tabsegnet_data::prepared::{PreparedDocument, PreparedQuestion};
use tabsegnet_encoder::{EmbeddingCache, Encoder, Segmenter, load, load_segmenter};
use tabsegnet_model::checkpoint::{self, Checkpoint};

use crate::settings::RankerSettings;
use crate::{Embedded, RankingError, scores};

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
    /// The best nodes, best first; equal scores in document order.
    pub nodes: Vec<RankedNode>,
}

/// A trained ranker with the encoder and segmenter it was trained with.
pub struct Ranker {
    checkpoint: Checkpoint,
    settings: RankerSettings,
    encoder: Box<dyn Encoder>,
    segmenter: Box<dyn Segmenter>,
    device: Device,
}

impl Ranker {
    /// Opens a checkpoint on a device, and what its config names.
    ///
    /// # Errors
    /// A checkpoint that is damaged; an encoder or segmenter that is not there or is not the one
    /// that the checkpoint was trained with.
    pub fn open(directory: &Path, device: Device) -> Result<Self, RankingError> {
        let checkpoint = checkpoint::read(directory, &device)?;
        let settings = RankerSettings::parse(&directory.join("config.toml"), &checkpoint.config)?;
        let encoder = load(&settings.encoder)?;
        let segmenter = load_segmenter(&settings.segmenter)?;
        for (what, expected, found) in [
            ("encoder", &checkpoint.manifest.encoder, encoder.identity()),
            ("segmenter", &checkpoint.manifest.segmenter, segmenter.identity()),
        ] {
            if expected != found {
                return Err(RankingError::Identity {
                    checkpoint: directory.display().to_string(),
                    what,
                    expected: expected.clone(),
                    found: found.to_owned(),
                });
            }
        }
        Ok(Self { checkpoint, settings, encoder, segmenter, device })
    }

    /// The checkpoint.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// What its config says about ranking.
    pub fn settings(&self) -> &RankerSettings {
        &self.settings
    }

    /// Puts vectors to documents and questions.
    pub fn embed(
        &self,
        documents: Vec<PreparedDocument>,
        questions: Vec<PreparedQuestion>,
        cache: &EmbeddingCache,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Embedded, RankingError> {
        Embedded::new(documents, questions, self.encoder.as_ref(), self.segmenter.as_ref(), cache, progress)
    }

    /// For each question one score a node of its document.
    pub fn scores(&self, embedded: &Embedded) -> Result<Vec<Vec<f32>>, RankingError> {
        let Checkpoint { model, manifest, .. } = &self.checkpoint;
        scores::model(model, &manifest.model, embedded, &self.device)
    }

    /// Ranks the nodes of one document for one question.
    pub fn rank(
        &self,
        document: &Document,
        question: &str,
        top_k: usize,
        cache: &EmbeddingCache,
    ) -> Result<Ranking, RankingError> {
        if question.trim().is_empty() {
            return Err(RankingError::BlankQuestion);
        }
        let documents = vec![PreparedDocument::new(document, &self.settings.graph)];
        let questions =
            vec![PreparedQuestion { id: String::new(), document: 0, text: question.to_owned(), gold: Vec::new() }];
        let embedded = self.embed(documents, questions, cache, &mut |_, _| {})?;
        let scores = self.scores(&embedded)?;
        Ok(ranking(&embedded, 0, scores.first().map_or(&[], Vec::as_slice), top_k))
    }
}

/// The `top_k` best nodes of a question by their scores.
pub fn ranking(embedded: &Embedded, question: usize, scores: &[f32], top_k: usize) -> Ranking {
    let document = embedded.document_of(question);
    let segments = &embedded.segments[question];
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a])); // stable: equal scores in document order
    let nodes = order
        .into_iter()
        .take(top_k)
        .enumerate()
        .map(|(rank, index)| {
            let node = &document.nodes[index];
            let path = |path: &str| (node.kind == NodeKind::Cell && !path.is_empty()).then(|| path.to_owned());
            RankedNode {
                rank: rank + 1,
                id: node.id.clone(),
                kind: node.kind,
                text: node.text.clone(),
                row_headers: node.place.as_ref().and_then(|place| path(&place.row_path)),
                column_headers: node.place.as_ref().and_then(|place| path(&place.column_path)),
                position: position(document, index),
                segment: embedded.best_segment(question, index).map(|best| segments[best].clone()),
                score: scores[index],
            }
        })
        .collect();
    Ranking {
        question_id: embedded.questions[question].id.clone(),
        question: embedded.questions[question].text.clone(),
        document: document.id.clone(),
        nodes_in_document: document.nodes.len(),
        segments: segments.clone(),
        nodes,
    }
}

fn position(document: &PreparedDocument, index: usize) -> Position {
    let node = &document.nodes[index];
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
