//! What the tables of a corpus have of a question, and the tables that have most.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::corpus::{Corpus, Hit, Query, TableRef};
use crate::fields::Field;

/// Tables of a segment that one thread scores at a time.
const BLOCK: usize = 4096;
/// Blocks up to which one thread is as quick as many.
const FEW_BLOCKS: usize = 16;

/// Settings of BM25 for a field: how fast repeated terms saturate, and how much long fields are held down.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// BM25 of a term in a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bm25 {
    slopes: [f32; Field::COUNT],
}

impl Bm25 {
    /// For fields of so many words in the mean.
    pub fn new(means: &[f32; Field::COUNT]) -> Self {
        Self { slopes: means.map(|mean| K1 * B / mean.max(1e-9)) }
    }

    /// `share` · tf / (tf + k₁ (1 − b + b · length / mean)), of `count` occurrences in a field of `length` words.
    #[inline]
    pub fn of(&self, share: f32, field: usize, count: u32, length: u32) -> f32 {
        let count = count as f32;
        let held_down = K1 * (1.0 - B) + self.slopes[field] * length as f32;
        share * count / (count + held_down)
    }
}

/// Mean words of each field of so many tables.
pub(crate) fn means(words: impl Iterator<Item = [u64; Field::COUNT]> + Clone, tables: usize) -> [f32; Field::COUNT] {
    // Exact below 2^53, and no overflow of a damaged file's.
    std::array::from_fn(|field| (words.clone().map(|of| of[field] as f64).sum::<f64>() / tables.max(1) as f64) as f32)
}

/// A question's terms as a corpus has them, in the order in which it has them.
#[derive(Debug)]
pub(crate) struct QueryTerms {
    /// Of each term its number in each segment.
    pub numbers: Vec<Vec<Option<usize>>>,
    /// Of each term its idf, as a share of the sum of all.
    pub shares: Vec<f32>,
    /// Of each term the tables that have it, and in which.
    pub tables: Vec<u64>,
}

/// What the tables of a corpus have of a question.
#[derive(Debug)]
pub struct Scores {
    /// Of each segment and table BM25 of each field and then of the question's terms that stand anywhere in it, all as
    /// shares of what a table with every term would have.
    pub(crate) lexical: Vec<Vec<[f32; Field::COUNT + 1]>>,
    /// Of each segment and table the vector's product with the question's.
    pub(crate) dense: Vec<Vec<f32>>,
    /// Of each of the question's terms its idf, as a share of the sum of all.
    pub(crate) shares: Vec<f32>,
}

impl Scores {
    /// Of each of the query's terms, in its order, its idf as a share of the sum of all.
    pub fn shares(&self) -> &[f32] {
        &self.shares
    }

    /// BM25 of each field and of any field, as shares.
    pub fn lexical(&self, at: TableRef) -> [f32; Field::COUNT + 1] {
        self.lexical.get(at.segment as usize).and_then(|of| of.get(at.table as usize)).copied().unwrap_or_default()
    }

    /// The vector's product with the question's.
    pub fn dense(&self, at: TableRef) -> f32 {
        self.dense.get(at.segment as usize).and_then(|of| of.get(at.table as usize)).copied().unwrap_or_default()
    }
}

/// Of a term that so many of all tables have.
fn idf(all: usize, with: u64) -> f32 {
    let (all, with) = (all as f64, with as f64);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
}

impl Corpus {
    /// Looks a question's terms up.
    pub(crate) fn query_terms(&self, query: &Query) -> QueryTerms {
        let numbers: Vec<Vec<Option<usize>>> = query
            .terms
            .iter()
            .map(|(term, _)| self.segments().iter().map(|segment| segment.find_term(term)).collect())
            .collect();
        let with = |numbers: &Vec<Option<usize>>| {
            let of = self.segments().iter().zip(numbers);
            of.map(|(segment, number)| number.map_or(0, |number| segment.live_frequency(number))).sum()
        };
        let tables: Vec<u64> = numbers.iter().map(with).collect();
        let of_terms = tables.iter().zip(&query.terms);
        let idf: Vec<f32> = of_terms.map(|(&with, (_, count))| idf(self.len(), with) * count).collect();
        let all: f32 = idf.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        QueryTerms { numbers, shares: idf.iter().map(|idf| idf / all).collect(), tables }
    }

    /// How rare a term is among the tables.
    pub(crate) fn idf(&self, term: &str) -> f32 {
        let with = self.segments().iter().map(|segment| match segment.find_term(term) {
            Some(number) => segment.live_frequency(number),
            None => 0,
        });
        idf(self.len(), with.sum())
    }

    /// What every table has of a question. The same whatever the segments are: frequencies and means are the corpus'.
    /// Without `with_dense` vectors are not looked at.
    pub fn scores(&self, query: &Query, with_dense: bool) -> Scores {
        let QueryTerms { numbers, shares, .. } = self.query_terms(query);
        let bm25 = self.bm25();
        let lexical = self.segments().par_iter().enumerate().map(|(at, segment)| {
            let mut scores = vec![[0.0_f32; Field::COUNT + 1]; segment.len()];
            let lengths = segment.all_lengths();
            for (numbers, &share) in numbers.iter().zip(&shares) {
                let Some(term) = numbers[at] else { continue };
                let mut postings = segment.postings(term).postings();
                let mut last = u32::MAX;
                let mut add = |table: u32, field: usize, count: u32| {
                    let is_first = table != last;
                    last = table;
                    let table = table as usize;
                    if let (Some(out), Some(lengths)) = (scores.get_mut(table), lengths.get(table)) {
                        out[field] += bm25.of(share, field, count, lengths[field]);
                        out[Field::COUNT] += if is_first { share } else { 0.0 };
                    }
                };
                while postings.next_with(&mut add).is_some() {}
            }
            scores
        });
        let lexical: Vec<_> = lexical.collect();
        let segments = if with_dense { self.segments() } else { &[] };
        let dense = segments.iter().map(|segment| {
            let mut products = vec![0.0; segment.len()];
            products.par_chunks_mut(BLOCK).enumerate().for_each(|(block, out)| {
                for (at, product) in out.iter_mut().enumerate() {
                    *product = segment.product((block * BLOCK + at) as u32, &query.vector);
                }
            });
            products
        });
        Scores { lexical, dense: dense.collect(), shares }
    }

    /// The order of rankings: the higher score first, of equal ones the lower id.
    pub(crate) fn order(&self, a: &Hit, b: &Hit) -> Ordering {
        b.score.total_cmp(&a.score).then_with(|| self.id(a.table).cmp(self.id(b.table)))
    }

    /// The tables with the highest scores, best first; of equal ones those with the lower id.
    pub fn best(&self, count: usize, score: impl Fn(TableRef) -> f32 + Sync) -> Vec<Hit> {
        if count == 0 {
            return Vec::new();
        }
        let better = |a: &Hit, b: &Hit| self.order(a, b);
        let blocks: Vec<(usize, usize)> = self
            .segments()
            .iter()
            .enumerate()
            .flat_map(|(number, segment)| (0..segment.len()).step_by(BLOCK).map(move |first| (number, first)))
            .collect();
        let take = |top: &mut Top<_>, &(number, first): &(usize, usize)| {
            let segment = &self.segments()[number];
            for table in (first..(first + BLOCK).min(segment.len())).filter(|&table| segment.is_live(table)) {
                let table = TableRef { segment: number as u32, table: table as u32 };
                top.push(Hit { table, score: score(table) });
            }
        };
        let mut top = Top::new(count, better);
        if blocks.len() <= FEW_BLOCKS {
            blocks.iter().for_each(|block| take(&mut top, block));
        } else {
            let of_blocks: Vec<Vec<Hit>> = blocks
                .par_iter()
                .map(|block| {
                    let mut top = Top::new(count, better);
                    take(&mut top, block);
                    top.into_hits()
                })
                .collect();
            of_blocks.into_iter().flatten().for_each(|hit| top.push(hit));
        }
        let mut hits = top.into_hits();
        hits.sort_by(better);
        hits
    }
}

/// Keeps the first `count` by an order in which the higher score is first. What cannot be among them is turned away by its
/// score alone.
pub(crate) struct Top<F> {
    count: usize,
    better: F,
    hits: Vec<Hit>,
    /// `count` are there with at least this score.
    least: f32,
}

impl<F: Fn(&Hit, &Hit) -> Ordering> Top<F> {
    pub fn new(count: usize, better: F) -> Self {
        // Lower than all in the total order, NaN among them.
        Self { count, better, hits: Vec::new(), least: f32::from_bits(u32::MAX) }
    }

    #[inline]
    pub fn push(&mut self, hit: Hit) {
        if hit.score.total_cmp(&self.least) != Ordering::Less {
            self.hits.push(hit);
            if self.hits.len() >= self.count.saturating_mul(2).max(64) {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.hits.len() > self.count {
            self.hits.select_nth_unstable_by(self.count - 1, &self.better);
            self.hits.truncate(self.count);
            self.least = self.hits[self.count - 1].score;
        }
    }

    /// No lower score is among them; NaN as long as any may be.
    pub fn least(&self) -> f32 {
        self.least
    }

    /// In no order.
    pub fn into_hits(mut self) -> Vec<Hit> {
        self.cut();
        self.hits
    }
}
