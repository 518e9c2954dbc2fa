//! Prepared documents and questions with their vectors.

use burn::tensor::Device;
use tabsegnet_data::prepared::{PreparedDocument, PreparedQuestion};
use tabsegnet_encoder::{EmbeddingCache, Encoder};
use tabsegnet_model::batch::BatchError;
use tabsegnet_model::{Batch, Example, ModelConfig};
use tabsegnet_segmenter::Segmenter;

use crate::RankingError;

/// Documents and questions with the vectors of their texts.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The documents.
    pub documents: Vec<PreparedDocument>,
    /// The questions.
    pub questions: Vec<PreparedQuestion>,
    /// For each question its segments; empty with the segmenter `none`.
    pub segments: Vec<Vec<String>>,
    d_enc: usize,
    /// For each document `[nodes, d_enc]`.
    node_vectors: Vec<Vec<f32>>,
    /// `[questions, d_enc]`
    question_vectors: Vec<f32>,
    /// For each question `[segments, d_enc]`.
    segment_vectors: Vec<Vec<f32>>,
}

impl Embedded {
    /// Encodes what the cache does not have. `progress` is called with (texts done, texts in all).
    pub fn new(
        documents: Vec<PreparedDocument>,
        questions: Vec<PreparedQuestion>,
        encoder: &dyn Encoder,
        segmenter: &dyn Segmenter,
        cache: &EmbeddingCache,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, RankingError> {
        Self::embed(documents, questions, encoder, segmenter, Some(cache), progress)
    }

    pub(crate) fn embed(
        documents: Vec<PreparedDocument>,
        questions: Vec<PreparedQuestion>,
        encoder: &dyn Encoder,
        segmenter: &dyn Segmenter,
        cache: Option<&EmbeddingCache>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, RankingError> {
        let asked: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
        let segments = segmenter.segments_of_all(&asked, &mut |_| {})?;
        let mut texts: Vec<&str> = Vec::new();
        for document in &documents {
            texts.extend(document.ranking_texts.iter().map(String::as_str));
        }
        texts.extend(questions.iter().map(|question| question.text.as_str()));
        texts.extend(segments.iter().flatten().map(String::as_str));

        let total = texts.len();
        let mut progress = |done| progress(done, total);
        let vectors = match cache {
            Some(cache) => cache.embed(encoder, &texts, &mut progress)?,
            None => encoder.encode(&texts, &mut progress)?,
        };
        let d_enc = encoder.dim();
        let mut rest = vectors.as_slice();
        let mut take = |texts: usize| {
            let (own, others) = rest.split_at(texts * d_enc);
            rest = others;
            own.to_vec()
        };
        let node_vectors = documents.iter().map(|document| take(document.nodes.len())).collect();
        let question_vectors = take(questions.len());
        let segment_vectors = segments.iter().map(|segments| take(segments.len())).collect();
        Ok(Self { documents, questions, segments, d_enc, node_vectors, question_vectors, segment_vectors })
    }

    /// Width of a vector.
    pub fn d_enc(&self) -> usize {
        self.d_enc
    }

    /// The document of a question.
    pub fn document_of(&self, question: usize) -> &PreparedDocument {
        &self.documents[self.questions[question].document]
    }

    /// `[nodes, d_enc]`: the vectors of the document of a question.
    pub fn nodes_of(&self, question: usize) -> &[f32] {
        &self.node_vectors[self.questions[question].document]
    }

    /// `[d_enc]`: the vector of a question.
    pub fn question(&self, question: usize) -> &[f32] {
        &self.question_vectors[question * self.d_enc..(question + 1) * self.d_enc]
    }

    /// `[segments, d_enc]`: the vectors of a question's segments; empty where it has none.
    pub fn segment_vectors(&self, question: usize) -> &[f32] {
        &self.segment_vectors[question]
    }

    /// What a model with segments takes for a question's: a question without is its own segment.
    pub(crate) fn asked(&self, question: usize) -> &[f32] {
        let segments = &self.segment_vectors[question];
        if segments.is_empty() { self.question(question) } else { segments }
    }

    /// Questions by number as a batch of the model.
    pub fn batch(&self, questions: &[usize], config: &ModelConfig, device: &Device) -> Result<Batch, BatchError> {
        let examples: Vec<Example<'_>> = questions
            .iter()
            .map(|&question| Example {
                graph: &self.document_of(question).graph,
                u: self.nodes_of(question),
                q: self.question(question),
                segments: self.asked(question),
                gold: &self.questions[question].gold,
            })
            .collect();
        Batch::new(&examples, config, self.d_enc, device)
    }
}
