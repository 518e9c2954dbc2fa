//! Ways to rank the tables of a corpus for a question.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::adapter::QueryAdapter;
use crate::corpus::{Corpus, Hit, Query, TableRef};
use crate::error::CorpusError;
use crate::fields::Field;
use crate::pruned::best_by_words;
use crate::scores::Scores;

/// Ranks tables. The same corpus and question give the same ranking, whatever segments the corpus is made of and however
/// many threads there are; of equal scores the lower id is first.
pub trait Retriever: Send + Sync {
    /// What reports call it.
    fn name(&self) -> String;

    /// What is to be said before a corpus is searched with it.
    fn notice(&self, _: &Corpus) -> Option<String> {
        None
    }

    /// The first `top_k` tables, best first.
    ///
    /// # Errors
    /// The index is damaged, or a setting does not fit the corpus.
    fn retrieve(&self, corpus: &Corpus, query: &Query, top_k: usize) -> Result<Vec<Hit>, CorpusError>;

    /// The same for many questions at a time.
    ///
    /// # Errors
    /// As [`Retriever::retrieve`].
    fn retrieve_all(&self, corpus: &Corpus, queries: &[Query], top_k: usize) -> Result<Vec<Vec<Hit>>, CorpusError> {
        queries.par_iter().map(|query| self.retrieve(corpus, query, top_k)).collect()
    }
}

/// What each signal counts in a sum. Signals are shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// BM25 over the title.
    pub title: f32,
    /// … the headings.
    pub section: f32,
    /// … the caption.
    pub caption: f32,
    /// … the column headers.
    pub header: f32,
    /// … the first column.
    pub first_column: f32,
    /// … the other cells.
    pub cells: f32,
    /// The share of the question's terms, by idf, that stand anywhere in the table.
    pub any: f32,
    /// The product of question's and table's vectors.
    pub dense: f32,
}

impl Weights {
    /// None.
    pub const ZERO: Self = Self {
        title: 0.0,
        section: 0.0,
        caption: 0.0,
        header: 0.0,
        first_column: 0.0,
        cells: 0.0,
        any: 0.0,
        dense: 0.0,
    };

    /// BM25 over what names a table and its columns.
    pub const SCHEMA: Self = Self { title: 1.0, section: 1.0, caption: 1.0, header: 1.0, ..Self::ZERO };

    /// BM25 over all fields alike.
    pub const FIELDS: Self = Self { first_column: 1.0, cells: 1.0, ..Self::SCHEMA };

    /// Vectors alone.
    pub const DENSE: Self = Self { dense: 1.0, ..Self::ZERO };

    /// Those of BM25 by fields, and of any.
    pub(crate) fn of_words(&self) -> [f32; Field::COUNT + 1] {
        [self.title, self.section, self.caption, self.header, self.first_column, self.cells, self.any]
    }

    /// The weighed sum of a table's BM25 by field and of any, in the order of the weights, and its cosine.
    pub fn sum(&self, lexical: &[f32; Field::COUNT + 1], dense: f32) -> f32 {
        self.of_words().iter().zip(lexical).map(|(weight, value)| weight * value).sum::<f32>() + self.dense * dense
    }

    pub(crate) fn of(&self, scores: &Scores, at: TableRef) -> f32 {
        self.sum(&scores.lexical(at), scores.dense(at))
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            title: 1.0,
            section: 0.5,
            caption: 0.7,
            header: 0.7,
            first_column: 0.7,
            cells: 0.7,
            any: 1.0,
            dense: 1.0,
        }
    }
}

/// A weighted sum of BM25 by fields and of vectors' products.
#[derive(Debug, Clone, PartialEq)]
pub struct Fusion {
    /// What reports call it.
    pub name: String,
    /// What each signal counts.
    pub weights: Weights,
    /// What the vectors of questions are adapted by.
    pub adapter: Option<QueryAdapter>,
}

impl Fusion {
    /// With a name.
    pub fn new(name: &str, weights: Weights) -> Self {
        Self { name: name.into(), weights, adapter: None }
    }
}

impl Retriever for Fusion {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn retrieve(&self, corpus: &Corpus, query: &Query, top_k: usize) -> Result<Vec<Hit>, CorpusError> {
        if let Some(hits) = best_by_words(corpus, query, &self.weights, top_k) {
            return Ok(hits);
        }
        let scores = corpus.scores(&QueryAdapter::adapted(self.adapter.as_ref(), query), self.weights.dense != 0.0);
        Ok(corpus.best(top_k, |at| self.weights.of(&scores, at)))
    }
}

/// Reciprocal rank fusion (Cormack et al. 2009): the sum of 1 / (60 + rank) over rankings.
pub struct Rrf {
    /// What reports call it.
    pub name: String,
    /// The rankings.
    pub of: Vec<Box<dyn Retriever>>,
    /// How many tables of each count.
    pub depth: usize,
}

impl Retriever for Rrf {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn retrieve(&self, corpus: &Corpus, query: &Query, top_k: usize) -> Result<Vec<Hit>, CorpusError> {
        let mut sums: HashMap<TableRef, f32> = HashMap::new();
        for retriever in &self.of {
            for (rank, hit) in retriever.retrieve(corpus, query, self.depth)?.iter().enumerate() {
                *sums.entry(hit.table).or_default() += 1.0 / (61.0 + rank as f32);
            }
        }
        let mut hits: Vec<Hit> = sums.into_iter().map(|(table, score)| Hit { table, score }).collect();
        hits.sort_by(|a, b| corpus.order(a, b));
        hits.truncate(top_k);
        Ok(hits)
    }
}
