//! What a ranker has to beat: lexical, dense, late-interaction and learned sparse retrieval,
//! fusions of the first two, trees over the ranker's features, and whoever names nodes ([`Retriever`]).

mod fusion;
mod late;

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tabsegnet_datasets::prepared::PreparedDocument;
use tabsegnet_encoder::{Encoder, Splade, sparse_product};
use tabsegnet_features::TableScorer;
use tabsegnet_lexical::{Bm25Config, LexicalIndex};
use tabsegnet_ranker::boosting::BoostedTrees;

use crate::{Embedded, RankingError};
pub use fusion::Fusion;

/// A way to score nodes without the ranker's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Baseline {
    /// BM25 over the document's node texts.
    Bm25,
    /// Cosine of TF-IDF vectors over the document's node texts.
    TfIdf,
    /// Cosine of the encoder's vectors of node and question.
    Dense,
    /// Late interaction (ColBERT, Khattab and Zaharia 2020): for each token of the question its largest
    /// cosine with a token of the node, summed up; with the encoder's token vectors as they are.
    MaxSim,
    /// Product of learned sparse vectors (SPLADE, Formal et al. 2021).
    Splade,
    /// Reciprocal rank fusion (Cormack et al. 2009) of BM25 and dense.
    Rrf,
    /// Weighted sum of BM25 and dense, its weight tuned on the training part.
    Sum,
    /// Gradient-boosted trees over the ranker's features, grown on the training part.
    Trees,
    /// A language model that reads the document and names nodes (LLM-R).
    Llm,
}

/// Names the nodes of a document that a question needs, in a way that this crate does not know: a language model.
///
/// What always holds: a node stands at most once among those that it names; none is an answer.
pub trait Retriever: Sync {
    /// Numbers of nodes, best first; it need not name all, or any.
    ///
    /// # Errors
    /// What ends the measurement.
    fn retrieve(
        &self,
        document: &PreparedDocument,
        question: &str,
    ) -> Result<Vec<u32>, Box<dyn std::error::Error + Send + Sync>>;
}

/// What [`Baseline::Trees`] scores nodes with.
pub struct FeatureTrees {
    /// Trees over the features of a node and a question.
    pub trees: BoostedTrees,
    /// What the features of a node's table come from, where they are among them.
    pub table_scorer: Option<TableScorer>,
}

/// What some baselines take beside the questions.
pub struct Resources<'a> {
    /// Constants of BM25.
    pub bm25: Bm25Config,
    /// The encoder, for [`Baseline::MaxSim`].
    pub encoder: &'a dyn Encoder,
    /// The masked language model, for [`Baseline::Splade`].
    pub splade: Option<&'a Splade>,
    /// How much dense counts in [`Baseline::Sum`], from 0 to 1.
    pub dense_weight: Option<f32>,
    /// The trees, for [`Baseline::Trees`].
    pub trees: Option<&'a FeatureTrees>,
    /// Who names nodes, for [`Baseline::Llm`].
    pub retriever: Option<&'a dyn Retriever>,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Bm25,
        Self::TfIdf,
        Self::Dense,
        Self::MaxSim,
        Self::Splade,
        Self::Rrf,
        Self::Sum,
        Self::Trees,
        Self::Llm,
    ];

    /// The name in configs, reports and TREC files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::TfIdf => "tf-idf",
            Self::Dense => "dense",
            Self::MaxSim => "maxsim",
            Self::Splade => "splade",
            Self::Rrf => "rrf",
            Self::Sum => "bm25+dense",
            Self::Trees => "trees",
            Self::Llm => "llm",
        }
    }

    /// What it is, in a sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::Bm25 => "BM25 over the document's node texts",
            Self::TfIdf => "cosine of TF-IDF vectors over the document's node texts",
            Self::Dense => "cosine of the encoder's vectors of node and question",
            Self::MaxSim => {
                "late interaction: sum over the question's tokens of the largest cosine with a node's token"
            }
            Self::Splade => "learned sparse retrieval: product of a masked language model's word weights",
            Self::Rrf => "reciprocal rank fusion of BM25 and dense",
            Self::Sum => "sum of BM25 and dense, each from 0 to 1, weighted by what is best on the training part",
            Self::Trees => {
                "gradient-boosted trees over the ranker's features, grown on the training part; no network, no graph"
            }
            Self::Llm => {
                "a language model that reads the document and names nodes; those that it does not name follow as they stand"
            }
        }
    }

    /// For each question one score a node of its document.
    ///
    /// # Errors
    /// A text that encoder or masked language model refuses; [`Baseline::Splade`] without the model,
    /// [`Baseline::Sum`] without a weight, [`Baseline::Trees`] without trees, [`Baseline::Llm`] without a retriever, or one that
    /// fails.
    pub fn scores(self, embedded: &Embedded, resources: &Resources<'_>) -> Result<Vec<Vec<f32>>, RankingError> {
        let missing = |what| RankingError::Baseline { name: self.name(), what };
        match self {
            Self::Bm25 | Self::TfIdf => Ok(lexical(self, embedded, resources.bm25)),
            Self::Dense => Ok(dense(embedded)),
            Self::MaxSim => late::scores(embedded, resources.encoder),
            Self::Splade => {
                splade(embedded, resources.splade.ok_or_else(|| missing("a model: set evaluation.splade"))?)
            }
            Self::Rrf => Ok(Fusion::new(embedded, resources.bm25).reciprocal()),
            Self::Sum => {
                let weight = resources.dense_weight.ok_or_else(|| missing("a weight"))?;
                Ok(Fusion::new(embedded, resources.bm25).sum(weight))
            }
            Self::Trees => {
                let FeatureTrees { trees, table_scorer } = resources.trees.ok_or_else(|| missing("trees"))?;
                let tables = embedded.table_scores(table_scorer.as_ref());
                let scores = |question| trees.scores(&embedded.features(question, &tables));
                Ok((0..embedded.questions.len()).into_par_iter().map(scores).collect())
            }
            Self::Llm => named(
                embedded,
                resources.retriever.ok_or_else(|| missing("a language model: set llm.base_url and llm.model"))?,
            ),
        }
    }
}

impl FromStr for Baseline {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|baseline| baseline.name() == name)
            .ok_or_else(|| format!("unknown baseline {name:?}; expected one of {}", known()))
    }
}

impl TryFrom<String> for Baseline {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl From<Baseline> for &'static str {
    fn from(baseline: Baseline) -> Self {
        baseline.name()
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn lexical(baseline: Baseline, embedded: &Embedded, bm25: Bm25Config) -> Vec<Vec<f32>> {
    let indexes: Vec<LexicalIndex> =
        embedded.documents.par_iter().map(|document| LexicalIndex::new(&document.ranking_texts)).collect();
    let texts = embedded.texts();
    let questions = embedded.questions.par_iter().zip(&texts);
    let scores = questions.map(|(question, text)| match baseline {
        Baseline::TfIdf => indexes[question.document].tf_idf(text),
        _ => indexes[question.document].bm25(text, bm25),
    });
    scores.collect()
}

/// The nodes that are named, in their order, before all others. One question after the other: what stands behind may be one
/// server.
fn named(embedded: &Embedded, retriever: &dyn Retriever) -> Result<Vec<Vec<f32>>, RankingError> {
    let questions = embedded.questions.iter().zip(0..);
    let scores = questions.map(|(question, number)| {
        let document = embedded.document_of(number);
        // One without gold is measured by nothing, and costs as much.
        if question.gold.is_empty() {
            return Ok(vec![0.0; document.nodes().len()]);
        }
        let named = retriever.retrieve(document, &question.text);
        let named = named.map_err(|source| RankingError::Retriever { question: question.id.clone(), source })?;
        let mut scores = vec![0.0; document.nodes().len()];
        for (&node, before) in named.iter().zip(0_u16..) {
            if let Some(score) = scores.get_mut(node as usize) {
                *score = f32::from(u16::MAX - before);
            }
        }
        Ok(scores)
    });
    scores.collect()
}

fn dense(embedded: &Embedded) -> Vec<Vec<f32>> {
    (0..embedded.questions.len()).into_par_iter().map(|question| cosines(embedded, question)).collect()
}

fn cosines(embedded: &Embedded, question: usize) -> Vec<f32> {
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

fn splade(embedded: &Embedded, splade: &Splade) -> Result<Vec<Vec<f32>>, RankingError> {
    let query = embedded.texts();
    let query = splade.encode(&query)?;
    by_document(embedded, |document, questions| {
        let texts: Vec<&str> = embedded.documents[document].ranking_texts.iter().map(String::as_str).collect();
        let nodes = splade.encode(&texts)?;
        let scores = |&question: &usize| nodes.iter().map(|node| sparse_product(node, &query[question])).collect();
        Ok(questions.iter().map(scores).collect())
    })
}

/// The scores of all questions, from those of one document's at a time: what is made of a document's
/// texts is held once, and no longer than it is needed.
fn by_document(
    embedded: &Embedded,
    scores: impl Fn(usize, &[usize]) -> Result<Vec<Vec<f32>>, RankingError>,
) -> Result<Vec<Vec<f32>>, RankingError> {
    let mut all = vec![Vec::new(); embedded.questions.len()];
    for (document, questions) in
        embedded.questions_of_documents().iter().enumerate().filter(|(_, questions)| !questions.is_empty())
    {
        for (&question, scores) in questions.iter().zip(scores(document, questions)?) {
            all[question] = scores;
        }
    }
    Ok(all)
}
