//! Boosted trees that order the candidates of a question, and the sum that proposes them: what a corpus is searched with
//! unless another way is wanted.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::tensors::serialize;
use tabsegnet_store::{read_bytes, read_text, write_bytes_atomic};

use crate::candidates::{CandidateConfig, Candidates};
use crate::corpus::{Corpus, Hit, Query};
use crate::error::{CorpusError, damaged};
use crate::retrieve::{Retriever, Weights};

const TREES: &str = "reranker.safetensors";
const ABOUT: &str = "retriever.json";

/// A reranker of tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Rerank {
    weights: Weights,
    candidates: CandidateConfig,
    trees: BoostedTrees,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    weights: Weights,
    #[serde(default, skip_serializing_if = "is_default")]
    candidates: CandidateConfig,
    features: Vec<String>,
}

fn is_default(candidates: &CandidateConfig) -> bool {
    *candidates == CandidateConfig::default()
}

impl Rerank {
    /// Trees over rows of [`Candidates`] that a sum of `weights` proposes.
    pub fn new(weights: Weights, candidates: CandidateConfig, trees: BoostedTrees) -> Self {
        Self { weights, candidates, trees }
    }

    /// What the proposing sum counts.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// What it orders for a question.
    ///
    /// # Errors
    /// A damaged file.
    pub fn candidates(&self, corpus: &Corpus, query: &Query) -> Result<Candidates, CorpusError> {
        Candidates::new(corpus, query, &self.weights, &self.candidates)
    }

    /// Writes it into a directory.
    ///
    /// # Errors
    /// The disk.
    pub fn write(&self, directory: &Path) -> Result<(), CorpusError> {
        let path = directory.join(TREES);
        let bytes = serialize(&self.trees.tensors(), &path).map_err(|error| damaged(&path, error))?;
        write_bytes_atomic(&path, &bytes)?;
        let path = directory.join(ABOUT);
        let about = About { weights: self.weights, candidates: self.candidates.clone(), features: Candidates::names() };
        let json = serde_json::to_vec_pretty(&about).map_err(|error| damaged(&path, error))?;
        Ok(write_bytes_atomic(&path, &json)?)
    }

    /// Reads what [`Rerank::write`] wrote.
    ///
    /// # Errors
    /// A file that is missing or damaged, or that looks at other features than this version has.
    pub fn read(directory: &Path) -> Result<Self, CorpusError> {
        let path = directory.join(ABOUT);
        let wrong = |path: &Path, message: String| CorpusError::Damaged {
            file: path.display().to_string(),
            message: format!("{message}; train it again with train --config configs/corpus.toml"),
        };
        let about: About = serde_json::from_str(&read_text(&path)?).map_err(|error| wrong(&path, error.to_string()))?;
        if about.features != Candidates::names() {
            return Err(wrong(&path, "its reranker looks at other features than this version has".into()));
        }
        let path = directory.join(TREES);
        let trees = BoostedTrees::parse(&path, &read_bytes(&path)?, Candidates::width());
        let trees = trees.map_err(|message| wrong(&path, message))?;
        Ok(Self { weights: about.weights, candidates: about.candidates, trees })
    }
}

impl Retriever for Rerank {
    fn name(&self) -> String {
        "rerank".into()
    }

    fn retrieve(&self, corpus: &Corpus, query: &Query, top_k: usize) -> Result<Vec<Hit>, CorpusError> {
        let Candidates { hits, rows } = self.candidates(corpus, query)?;
        let scores = self.trees.scores(&rows);
        let mut hits: Vec<Hit> = hits.iter().zip(scores).map(|(hit, score)| Hit { score, ..*hit }).collect();
        hits.sort_by(|a, b| corpus.order(a, b));
        hits.truncate(top_k);
        Ok(hits)
    }
}
