//! What a ranker has to beat: BM25, TF-IDF, and the cosine of the encoder's vectors.

use rayon::prelude::*;
use tabsegnet_data::lexical::{Bm25Config, LexicalIndex};

use crate::Embedded;

/// A way to score nodes without training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// BM25 over the document's node texts.
    Bm25,
    /// Cosine of TF-IDF vectors over the document's node texts.
    TfIdf,
    /// Cosine of the encoder's vectors of node and question.
    Dense,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bm25, Self::TfIdf, Self::Dense];

    /// The name in reports and TREC files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::TfIdf => "tf-idf",
            Self::Dense => "dense",
        }
    }

    /// What it is, in a sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::Bm25 => "BM25 over the document's node texts",
            Self::TfIdf => "cosine of TF-IDF vectors over the document's node texts",
            Self::Dense => "cosine of the encoder's vectors of node and question",
        }
    }

    /// For each question one score a node of its document.
    pub fn scores(self, embedded: &Embedded, bm25: Bm25Config) -> Vec<Vec<f32>> {
        if self == Self::Dense {
            return (0..embedded.questions.len()).map(|question| dense(embedded, question)).collect();
        }
        let indexes: Vec<LexicalIndex> =
            embedded.documents.par_iter().map(|document| LexicalIndex::new(&document.ranking_texts)).collect();
        embedded
            .questions
            .par_iter()
            .map(|question| match self {
                Self::TfIdf => indexes[question.document].tf_idf(&question.text),
                Self::Bm25 | Self::Dense => indexes[question.document].bm25(&question.text, bm25),
            })
            .collect()
    }
}

fn dense(embedded: &Embedded, question: usize) -> Vec<f32> {
    let q = embedded.question(question);
    let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    let q_length = length(q);
    embedded
        .nodes_of(question)
        .chunks_exact(embedded.d_enc())
        .map(|u| {
            let dot: f32 = u.iter().zip(q).map(|(u, q)| u * q).sum();
            let lengths = length(u) * q_length;
            if lengths > 0.0 { dot / lengths } else { 0.0 }
        })
        .collect()
}
