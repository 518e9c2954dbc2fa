//! Graph-table retrieval ([`crate::gtr`]) over an open corpus.

use rayon::prelude::*;

use crate::corpus::{Corpus, Hit, Query, TableRef};
use crate::error::CorpusError;
use crate::gtr::{Gtr, GtrConfig, GtrQuery, Ranked, linearised};
use crate::retrieve::Retriever;

/// GTR over the tables of a corpus, made when it is opened: k-means over all of them.
#[derive(Debug)]
pub struct GtrRetriever {
    name: String,
    gtr: Gtr,
    /// By rising id, so that it does not depend on segments.
    tables: Vec<TableRef>,
}

impl GtrRetriever {
    /// Over a corpus.
    ///
    /// # Errors
    /// A damaged file; a setting out of its range.
    pub fn new(corpus: &Corpus, name: &str, config: &GtrConfig) -> Result<Self, CorpusError> {
        let tables = corpus.tables();
        let texts: Vec<String> = tables
            .par_iter()
            .map(|&at| {
                let table = corpus.table(at)?;
                let names = [&table.title, &table.section, &table.caption].map(|text| text.trim());
                let caption: Vec<&str> = names.into_iter().filter(|text| !text.is_empty()).collect();
                Ok(linearised(&caption.join(" "), &table.column_headers))
            })
            .collect::<Result<_, CorpusError>>()?;
        let vectors: Vec<f32> =
            tables.iter().filter_map(|at| Some(corpus.segment(*at)?.vector(at.table))).flatten().collect();
        let gtr = Gtr::build(&texts, &vectors, corpus.manifest().dim, config.clone())?;
        Ok(Self { name: name.to_owned(), gtr, tables })
    }

    fn hits(&self, ranked: &Ranked) -> Vec<Hit> {
        let hit = |&(number, score): &(u32, f32)| Some(Hit { table: *self.tables.get(number as usize)?, score });
        ranked.fine.ranking.iter().filter_map(hit).collect()
    }

    /// The tables that the coarse stage leaves for a question.
    ///
    /// # Errors
    /// A question's vector of another width.
    pub fn coarse(&self, query: &Query) -> Result<Vec<TableRef>, CorpusError> {
        let coarse = self.gtr.coarse(&self.gtr.query(&query.text, &query.vector)?);
        Ok(coarse.tables.iter().filter_map(|&number| self.tables.get(number as usize).copied()).collect())
    }
}

impl Retriever for GtrRetriever {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn retrieve(&self, _: &Corpus, query: &Query, top_k: usize) -> Result<Vec<Hit>, CorpusError> {
        Ok(self.hits(&self.gtr.rank(&self.gtr.query(&query.text, &query.vector)?, top_k)?))
    }

    /// Questions for which the coarse stage leaves the same tables share the local graph.
    fn retrieve_all(&self, _: &Corpus, queries: &[Query], top_k: usize) -> Result<Vec<Vec<Hit>>, CorpusError> {
        let queries: Vec<GtrQuery> =
            queries.iter().map(|query| self.gtr.query(&query.text, &query.vector)).collect::<Result<_, _>>()?;
        Ok(self.gtr.rank_all(&queries, top_k)?.iter().map(|ranked| self.hits(ranked)).collect())
    }
}
