//! The tables with the highest sums of words, without most of the postings: MaxScore (Turtle and Flood 1995) with bounds of
//! blocks (Ding and Suel 2011).
//!
//! Terms are added to a sum of every table, the rarest first. As soon as the frequent ones that are left cannot bring most
//! tables among the best, these alone are looked up in them.

use crate::corpus::{Corpus, Hit, Query, TableRef};
use crate::fields::Field;
use crate::postings::{LOOKUP, Seeker, TermList};
use crate::retrieve::Weights;
use crate::scores::{Bm25, QueryTerms, Top};

/// Postings that are read sooner than it is found out whether that is needed.
const FEW: u64 = 4000;

/// The first `count` tables by a sum without vectors, as [`Corpus::best`] has them; nothing where it takes all tables to
/// know them: fewer have a word of the question, or a weight is below 0.
pub(crate) fn best_by_words(corpus: &Corpus, query: &Query, weights: &Weights, count: usize) -> Option<Vec<Hit>> {
    let all = weights.of_words();
    let all_count = all.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
    if !all_count || weights.dense != 0.0 || count == 0 || count > corpus.len() {
        return None;
    }
    let mut search = Search::new(corpus, query, weights);
    let mut order: Vec<usize> = (0..search.terms.shares.len()).collect();
    order.sort_by_key(|&term| (search.terms.tables[term], term));
    for at in 0..=order.len() {
        let rest = &order[at..];
        let next = rest.first().map_or(0, |&term| search.terms.tables[term]);
        if (next > FEW || rest.is_empty())
            && let Some(hits) = search.finish(rest, count)
        {
            return Some(hits);
        }
        if let Some(&term) = rest.first() {
            search.add(term);
        }
    }
    None
}

/// Sums that are passed over at once.
const CHUNK: usize = 64;

/// The greatest of some numbers, none below 0.
fn greatest(sums: &[f32]) -> f32 {
    let (lanes, rest) = sums.as_chunks::<8>();
    let mut most = [0.0_f32; 8];
    for lane in lanes {
        most.iter_mut().zip(lane).for_each(|(most, &sum)| *most = if sum > *most { sum } else { *most });
    }
    most.iter().chain(rest).copied().fold(0.0, f32::max)
}

/// A question on its way through a corpus.
struct Search<'c> {
    corpus: &'c Corpus,
    weights: &'c Weights,
    /// `[fields + 1]`
    of_words: [f32; Field::COUNT + 1],
    bm25: Bm25,
    terms: QueryTerms,
    /// Of each segment and term.
    lists: Vec<Vec<Option<TermList<'c>>>>,
    /// Of each segment what its blocks' bounds are to be multiplied by: they hold for the means of its own tables.
    loosened: Vec<f32>,
    /// Of each segment and table the sum over the terms that have been added, in another order than the score's.
    sums: Vec<Vec<f32>>,
}

impl<'c> Search<'c> {
    fn new(corpus: &'c Corpus, query: &Query, weights: &'c Weights) -> Self {
        let terms = corpus.query_terms(query);
        let lists =
            corpus.segments().iter().enumerate().map(|(at, segment)| {
                terms.numbers.iter().map(|numbers| Some(segment.postings(numbers[at]?))).collect()
            });
        // With a mean m instead of m₀ a term brings at most m / m₀ as much, and no more where m < m₀.
        let loosened = corpus.segments().iter().map(|segment| {
            let means = segment.means().into_iter().zip(corpus.means());
            means.filter(|(own, _)| *own > 0.0).map(|(own, all)| all / own).fold(1.0, f32::max)
        });
        Self {
            lists: lists.collect(),
            loosened: loosened.collect(),
            sums: corpus.segments().iter().map(|segment| vec![0.0; segment.len()]).collect(),
            corpus,
            weights,
            of_words: weights.of_words(),
            bm25: corpus.bm25(),
            terms,
        }
    }

    /// Adds a term to the sums.
    fn add(&mut self, term: usize) {
        let (bm25, share) = (self.bm25, self.terms.shares[term]);
        let [fields @ .., any] = self.of_words.map(|weight| weight * share);
        for ((segment, lists), sums) in self.corpus.segments().iter().zip(&self.lists).zip(&mut self.sums) {
            let Some(list) = lists[term] else { continue };
            let lengths = segment.all_lengths();
            let mut postings = list.postings();
            loop {
                let mut brought = any;
                let table = postings.next_with(|table, field, count| {
                    if let Some(lengths) = lengths.get(table as usize)
                        && fields[field] > 0.0
                    {
                        brought += bm25.of(fields[field], field, count, lengths[field]);
                    }
                });
                let Some(table) = table else { break };
                if let Some(sum) = sums.get_mut(table as usize) {
                    *sum += brought;
                }
            }
        }
    }

    /// What a term brings a table of a segment at most, where its postings there bring no more than `most`.
    fn bound(&self, term: usize, segment: usize, most: f32) -> f32 {
        let [fields @ .., any] = &self.of_words;
        let all: f32 = fields.iter().sum();
        let greatest = fields.iter().copied().fold(0.0, f32::max);
        self.terms.shares[term] * (any + all.min(greatest * most * self.loosened[segment]))
    }

    /// The best tables, where few enough are left that may be among them; `rest` has not been added.
    fn finish(&self, rest: &[usize], count: usize) -> Option<Vec<Hit>> {
        let postings: u64 = rest.iter().map(|&term| self.terms.tables[term]).sum();
        let lookups = |tables: usize, terms: usize| tables as u64 * terms as u64 * LOOKUP;
        if !rest.is_empty() && lookups(count, self.terms.shares.len()) > postings {
            return None;
        }
        let first = self.first_by_sums(count)?;
        let least = self.exact(&first).into_iter().map(|hit| hit.score).fold(f32::INFINITY, f32::min);
        let most_of_rest: f32 = rest
            .iter()
            .map(|&term| {
                let of_segment = |(segment, lists): (usize, &Vec<Option<TermList<'_>>>)| {
                    lists[term].map_or(0.0, |list| self.bound(term, segment, list.most()))
                };
                self.lists.iter().enumerate().map(of_segment).fold(0.0, f32::max)
            })
            .sum();
        // Sums are rounded in another order than scores.
        let rounding = f32::EPSILON * 16.0 * (1 + self.terms.shares.len()) as f32;
        let least = least - (least + most_of_rest) * rounding;
        let from = least - most_of_rest;
        let mut left: Vec<Hit> = Vec::new();
        let most_left = if rest.is_empty() { u64::MAX } else { postings / (LOOKUP * rest.len() as u64) };
        for (number, (segment, sums)) in self.corpus.segments().iter().zip(&self.sums).enumerate() {
            for (chunk, sums) in sums.chunks(CHUNK).enumerate() {
                if greatest(sums) < from {
                    continue;
                }
                for (table, &sum) in (chunk * CHUNK..).zip(sums) {
                    if sum >= from && segment.is_live(table) {
                        left.push(Hit { table: TableRef { segment: number as u32, table: table as u32 }, score: sum });
                    }
                }
                if left.len() as u64 > most_left {
                    return None;
                }
            }
        }
        self.leave_out(rest, least, &mut left);
        let mut hits = self.exact(&left);
        hits.sort_by(|a, b| self.corpus.order(a, b));
        hits.truncate(count);
        Some(hits)
    }

    /// The first tables by the sums so far; nothing where fewer have one.
    fn first_by_sums(&self, count: usize) -> Option<Vec<Hit>> {
        let better = |a: &Hit, b: &Hit| b.score.total_cmp(&a.score).then(a.table.cmp(&b.table));
        let mut top = Top::new(count, better);
        for (number, (segment, sums)) in self.corpus.segments().iter().zip(&self.sums).enumerate() {
            for (chunk, sums) in sums.chunks(CHUNK).enumerate() {
                if greatest(sums) < top.least() {
                    continue;
                }
                for (table, &sum) in (chunk * CHUNK..).zip(sums) {
                    if sum > 0.0 && segment.is_live(table) {
                        top.push(Hit { table: TableRef { segment: number as u32, table: table as u32 }, score: sum });
                    }
                }
            }
        }
        let mut first = top.into_hits();
        first.sort_unstable_by_key(|hit| hit.table);
        (first.len() == count).then_some(first)
    }

    /// Leaves out those that do not reach `least` with what the rest brings in their blocks; they rise.
    fn leave_out(&self, rest: &[usize], least: f32, left: &mut Vec<Hit>) {
        let seekers = |segment: usize| -> Vec<(usize, Seeker<'c>)> {
            let lists = self.lists.get(segment);
            rest.iter().filter_map(|&term| Some((term, lists?[term]?.seeker()))).collect()
        };
        let (mut segment, mut in_segment) = (u32::MAX, Vec::new());
        left.retain(|hit| {
            if hit.table.segment != segment {
                segment = hit.table.segment;
                in_segment = seekers(segment as usize);
            }
            let of_rest = in_segment
                .iter()
                .map(|(term, seeker)| self.bound(*term, segment as usize, seeker.most_at(hit.table.table)));
            hit.score + of_rest.sum::<f32>() >= least
        });
    }

    /// The scores of tables, which rise: the sums that [`Corpus::scores`] has, to the bit.
    fn exact(&self, tables: &[Hit]) -> Vec<Hit> {
        let mut hits = Vec::with_capacity(tables.len());
        for of_segment in tables.chunk_by(|a, b| a.table.segment == b.table.segment) {
            let number = of_segment[0].table.segment as usize;
            let (Some(segment), Some(lists)) = (self.corpus.segments().get(number), self.lists.get(number)) else {
                continue;
            };
            let lengths = segment.all_lengths();
            let mut rows = vec![[0.0_f32; Field::COUNT + 1]; of_segment.len()];
            for (list, &share) in lists.iter().zip(&self.terms.shares) {
                let Some(list) = list else { continue };
                let mut seeker = list.seeker();
                for (row, hit) in rows.iter_mut().zip(of_segment) {
                    let table = hit.table.table;
                    let Some(lengths) = lengths.get(table as usize) else { continue };
                    let mut brought = [0.0; Field::COUNT];
                    let is_there = seeker.at(table, |field, count| {
                        brought[field] = self.bm25.of(share, field, count, lengths[field]);
                    });
                    if is_there {
                        row.iter_mut().zip(brought).for_each(|(sum, brought)| *sum += brought);
                        row[Field::COUNT] += share;
                    }
                }
            }
            let scored = of_segment.iter().zip(&rows);
            hits.extend(scored.map(|(hit, row)| Hit { score: self.weights.sum(row, 0.0), ..*hit }));
        }
        hits
    }
}
