//! PageRank over the links between a question's first tables: what many good tables are linked to comes forward.

use std::collections::BTreeMap;

use crate::adapter::QueryAdapter;
use crate::candidates::Proposed;
use crate::corpus::{Corpus, Hit, Query};
use crate::error::CorpusError;
use crate::gtr::{Direction, GtrError, PageRankConfig, SparseGraph, personalised_pagerank};
use crate::links::{self, LinkKind};
use crate::retrieve::{Retriever, Weights};

/// A key that more of the tables have says nothing of two of them.
const MOST_ALIKE: usize = 60;
/// How much more the walk begins at better tables: their sum by the best one's, to this power.
const SHARPNESS: i32 = 4;

/// A walk over the link graph of the tables that a weighted sum and their links propose, begun at each by its sum.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkRank {
    /// What reports call it.
    pub name: String,
    /// What each signal counts in the sum.
    pub weights: Weights,
    /// What the vectors of questions are adapted by.
    pub adapter: Option<QueryAdapter>,
    /// The links that are followed.
    pub links: Vec<LinkKind>,
    /// α, ε and steps of the walk.
    pub walk: PageRankConfig,
}

impl LinkRank {
    /// Over all links, with short walks: of longer ones little is left of what the question says.
    pub fn new(name: &str, weights: Weights) -> Self {
        let walk = PageRankConfig { alpha: 0.2, ..PageRankConfig::default() };
        Self { name: name.into(), weights, adapter: None, links: LinkKind::ALL.to_vec(), walk }
    }
}

impl Retriever for LinkRank {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn retrieve(&self, corpus: &Corpus, query: &Query, top_k: usize) -> Result<Vec<Hit>, CorpusError> {
        let scores = corpus.scores(&QueryAdapter::adapted(self.adapter.as_ref(), query), true);
        let Proposed { mut hits, .. } = Proposed::new(corpus, &scores, &self.weights, &self.links)?;
        let Some(best) = hits.first().map(|hit| hit.score).filter(|best| *best > 0.0) else {
            hits.truncate(top_k);
            return Ok(hits);
        };
        let mut by_key: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (number, hit) in (0..).zip(&hits) {
            let keys = links::keys(&corpus.table(hit.table)?);
            for key in keys.into_iter().filter(|key| LinkKind::of(*key).is_some_and(|kind| self.links.contains(&kind)))
            {
                by_key.entry(key).or_default().push(number);
            }
        }
        let mut edges: BTreeMap<(u32, u32), f32> = BTreeMap::new();
        for alike in by_key.values().filter(|alike| (2..=MOST_ALIKE).contains(&alike.len())) {
            // The more tables have it, the less it says of two.
            let weight = 1.0 / (alike.len() - 1) as f32;
            for &from in alike {
                for &to in alike.iter().filter(|to| **to != from) {
                    *edges.entry((from, to)).or_default() += weight;
                }
            }
        }
        let edges: Vec<(u32, u32, f32)> = edges.into_iter().map(|((from, to), weight)| (from, to, weight)).collect();
        let restart: Vec<f32> = hits.iter().map(|hit| (hit.score / best).max(0.0).powi(SHARPNESS)).collect();
        let graph = SparseGraph::from_edges(hits.len(), &edges).map_err(GtrError::from)?;
        let found = personalised_pagerank(graph, Direction::Transposed, &restart, &self.walk);
        let found = found.map_err(GtrError::from)?;
        hits.iter_mut().zip(found.scores).for_each(|(hit, score)| hit.score = score);
        hits.sort_by(|a, b| corpus.order(a, b));
        hits.truncate(top_k);
        Ok(hits)
    }
}
