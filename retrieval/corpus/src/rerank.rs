//! Boosted trees that order the candidates of a question, each alone and then the first of them beside each other, and the
//! sum that proposes them: what a corpus is searched with unless another way is wanted.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::tensors::serialize;
use tabsegnet_store::{read_bytes, read_text, write_bytes_atomic};

use crate::adapter::QueryAdapter;
use crate::candidates::{CandidateConfig, Candidates, Proposed};
use crate::corpus::{Corpus, Hit, Query};
use crate::error::{CorpusError, damaged};
use crate::link_rank::LinkRank;
use crate::listwise::{Listwise, ORDERED};
use crate::named::behind;
use crate::retrieve::{Fusion, Retriever, Weights};

const TREES: &str = "reranker.safetensors";
const LISTWISE: &str = "listwise.safetensors";
const ADAPTER: &str = "adapter.safetensors";
/// The first by the trees that see each alone, whose parts are looked for.
const GOOD: usize = 10;
const ABOUT: &str = "retriever.json";

/// A reranker of tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Rerank {
    adapter: Option<QueryAdapter>,
    weights: Weights,
    candidates: CandidateConfig,
    trees: BoostedTrees,
    listwise: Option<BoostedTrees>,
    /// Identity of the encoder of whose vectors it has learnt.
    encoder: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    weights: Weights,
    #[serde(default, skip_serializing_if = "is_default")]
    candidates: CandidateConfig,
    /// Those of [`Listwise`], of which those of [`Candidates`] are the first; without it those alone.
    features: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoder: Option<String>,
}

fn is_default(candidates: &CandidateConfig) -> bool {
    *candidates == CandidateConfig::default()
}

fn names(listwise: bool) -> Vec<String> {
    if listwise { Listwise::names() } else { Candidates::names() }
}

impl Rerank {
    /// Trees over rows of [`Candidates`] that a sum of `weights` proposes for a question with an adapted vector, and where `candidates.listwise` says so trees over
    /// rows of [`Listwise`]. `encoder` is the identity of the one of whose vectors they have learnt.
    pub fn new(
        adapter: Option<QueryAdapter>,
        weights: Weights,
        candidates: CandidateConfig,
        trees: BoostedTrees,
        listwise: Option<BoostedTrees>,
        encoder: &str,
    ) -> Self {
        let candidates = CandidateConfig { listwise: listwise.is_some(), adapter: adapter.is_some(), ..candidates };
        Self { adapter, weights, candidates, trees, listwise, encoder: Some(encoder.to_owned()) }
    }

    /// The sum that proposes, alone.
    pub fn fusion(&self, name: &str) -> Fusion {
        Fusion { adapter: self.adapter.clone(), ..Fusion::new(name, self.weights) }
    }

    /// A walk over the links of what it proposes.
    pub fn links(&self, name: &str) -> LinkRank {
        LinkRank { adapter: self.adapter.clone(), ..LinkRank::new(name, self.weights) }
    }

    /// What it orders for a question.
    ///
    /// # Errors
    /// A damaged file.
    pub fn candidates(&self, corpus: &Corpus, query: &Query) -> Result<Candidates, CorpusError> {
        Candidates::new(corpus, &QueryAdapter::adapted(self.adapter.as_ref(), query), &self.weights, &self.candidates)
    }

    /// Writes it into a directory.
    ///
    /// # Errors
    /// The disk.
    pub fn write(&self, directory: &Path) -> Result<(), CorpusError> {
        for (name, trees) in [(TREES, Some(&self.trees)), (LISTWISE, self.listwise.as_ref())] {
            let Some(trees) = trees else { continue };
            let path = directory.join(name);
            let bytes = serialize(&trees.tensors(), &path).map_err(|error| damaged(&path, error))?;
            write_bytes_atomic(&path, &bytes)?;
        }
        if let Some(adapter) = &self.adapter {
            adapter.write(&directory.join(ADAPTER))?;
        }
        let path = directory.join(ABOUT);
        let about = About {
            weights: self.weights,
            candidates: self.candidates.clone(),
            features: names(self.candidates.listwise),
            encoder: self.encoder.clone(),
        };
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
        if about.features != names(about.candidates.listwise) {
            return Err(wrong(&path, "its reranker looks at other features than this version has".into()));
        }
        let trees = |name: &str, width: usize| {
            let path = directory.join(name);
            BoostedTrees::parse(&path, &read_bytes(&path)?, width).map_err(|message| wrong(&path, message))
        };
        let alone = trees(TREES, Candidates::width())?;
        let listwise = about.candidates.listwise.then(|| trees(LISTWISE, Listwise::width())).transpose()?;
        let adapter = || {
            let path = directory.join(ADAPTER);
            QueryAdapter::read(&path)?.map_err(|message| wrong(&path, message))
        };
        let adapter = about.candidates.adapter.then(adapter).transpose()?;
        let About { weights, candidates, features: _, encoder } = about;
        Ok(Self { adapter, weights, candidates, trees: alone, listwise, encoder })
    }
}

impl Retriever for Rerank {
    fn name(&self) -> String {
        "rerank".into()
    }

    fn notice(&self, corpus: &Corpus) -> Option<String> {
        let of_corpus = &corpus.manifest().encoder_identity;
        self.encoder.as_ref().is_some_and(|encoder| encoder != of_corpus).then(|| {
            "the reranker has learnt from vectors of another encoder than this corpus has (or of other numbers, f32 or int8): its \
             order may be worse than --retriever rrf, which has learnt from none; train one over it with configs/corpus.toml"
                .to_owned()
        })
    }

    fn retrieve(&self, corpus: &Corpus, query: &Query, top_k: usize) -> Result<Vec<Hit>, CorpusError> {
        let query = QueryAdapter::adapted(self.adapter.as_ref(), query);
        let signals = corpus.scores(&query, true);
        let mut proposed = Proposed::new(corpus, &signals, &self.weights, &self.candidates.links)?;
        let seen = |proposed: &Proposed| Candidates::of(corpus, &query, &signals, proposed, &self.candidates);
        let mut candidates = seen(&proposed)?;
        let mut scores = self.trees.scores(&candidates.rows);
        let good = candidates.ordered(corpus, &scores).into_iter().take(GOOD).map(|(_, hit)| hit.table);
        if proposed.add_parts(corpus, &signals, &self.weights, &self.candidates.links, good.collect())? {
            candidates = seen(&proposed)?;
            scores = self.trees.scores(&candidates.rows);
        }
        let hits = match &self.listwise {
            // They have learnt from whole lists: of a few tables each says more alone.
            Some(trees) if candidates.hits.len() >= ORDERED => {
                let first = Listwise::new(corpus, &candidates, &scores);
                let scores = trees.scores(&first.rows);
                first.ordered(corpus, &candidates, &scores)
            }
            _ => candidates.ordered(corpus, &scores).into_iter().map(|(_, hit)| hit).collect(),
        };
        let mut hits = behind(corpus, &query.text, hits)?;
        hits.truncate(top_k);
        Ok(hits)
    }
}
