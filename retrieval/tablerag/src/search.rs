//! The chunks for a question: recalled by words, vectors and links, then put in order by trees.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tabsegnet_corpus::{Query, Weights, terms};
use tabsegnet_features::Schema as _;

use crate::candidates::Candidates;
use crate::error::LibraryError;
use crate::library::Library;
use crate::reranker::{Features, Near, Reranker};
use crate::seen::TERMS;

/// A chunk that was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The chunk, by its place in [`Library::chunks`].
    pub chunk: usize,
    /// How well it fits; comparable within one ranking alone.
    pub score: f32,
}

/// Chunks that were recalled, best first, with what the trees see of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The chunks.
    pub found: Vec<Found>,
    /// `[found, Reranker::width_of_trees()]`
    pub rows: Vec<f32>,
}

impl Recalled {
    /// The order of the trees, best first.
    pub fn ordered(&self, reranker: &Reranker) -> Vec<Found> {
        let scores = reranker.trees.scores(&self.rows).into_iter();
        let mut found: Vec<Found> =
            self.found.iter().zip(scores).map(|(found, score)| Found { score, ..*found }).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        found
    }
}

impl Library {
    /// The best `top` chunks for a question by a sum of BM25 by fields and of the vectors' product, best first; of equal ones the first in the documents.
    ///
    /// # Errors
    /// The question cannot be encoded, the index is damaged.
    pub fn recall(&self, question: &str, weights: &Weights, top: usize) -> Result<Vec<Found>, LibraryError> {
        let query = self.index().query(question)?;
        Ok(self.by_sum(&query, weights, top))
    }

    /// The best `top` candidates by recall, with what the trees see of each.
    ///
    /// # Errors
    /// The words cannot be encoded.
    pub fn recalled(&self, candidates: &Candidates, reranker: &Reranker, top: usize) -> Result<Recalled, LibraryError> {
        let best = candidates.best(reranker, top);
        let texts: Vec<Vec<String>> = best
            .iter()
            .map(|(_, found)| {
                let text = self.chunks().get(found.chunk).map_or("", |chunk| chunk.text.as_str());
                let mut words = terms(text);
                words.sort_unstable();
                words.dedup();
                words
            })
            .collect();
        let title = |chunk: usize| {
            let source = self.chunks().get(chunk).and_then(|chunk| self.sources().get(chunk.document));
            source.map_or_else(Vec::new, |source| terms(&source.title))
        };
        let titles: Vec<Vec<String>> = best.iter().map(|(_, found)| title(found.chunk)).collect();
        let headers: Vec<Vec<String>> = best
            .iter()
            .map(|(_, found)| {
                let mut headers = self.links.headers_of.get(found.chunk).cloned().unwrap_or_default();
                headers.extend_from_slice(candidates.partial.headers_of(found.chunk));
                headers
            })
            .collect();
        let all = texts.iter().chain(&titles).chain(&headers);
        let mut words: Vec<&str> = all.flatten().map(String::as_str).collect();
        words.sort_unstable();
        words.dedup();
        let encoder = self.index().encoder();
        let dim = encoder.dim().max(1);
        let of_words = encoder.encode(&words, &mut |_| ())?;
        let of_terms: Vec<&str> = candidates.terms.iter().map(|(term, _)| term.as_str()).collect();
        let of_terms = encoder.encode(&of_terms, &mut |_| ())?;
        let place: HashMap<&str, usize> = words.iter().enumerate().map(|(at, word)| (*word, at)).collect();
        // [words, terms]
        let count = candidates.terms.len();
        let mut near = Vec::with_capacity(words.len() * count);
        for word in of_words.chunks_exact(dim) {
            near.extend(of_terms.chunks_exact(dim).map(|term| term.iter().zip(word).map(|(a, b)| a * b).sum::<f32>()));
        }
        let nearest = |words: &[String]| -> Vec<f32> {
            let mut best = vec![0.0_f32; count];
            for word in words.iter().filter_map(|word| place.get(word.as_str())) {
                let row = near.get(word * count..(word + 1) * count).unwrap_or_default();
                best.iter_mut().zip(row).for_each(|(best, value)| *best = best.max(*value));
            }
            best
        };
        let share = |nearest: &[f32], mask: u64| -> f32 {
            let of = nearest.iter().zip(&candidates.terms).enumerate();
            of.filter(|(bit, _)| *bit >= TERMS || mask >> bit & 1 == 0)
                .map(|(_, (near, (_, share)))| near * share)
                .sum()
        };
        let best_score = best.first().map_or(0.0, |(_, found)| found.score);
        let width = Reranker::width_of_trees();
        let mut rows = vec![0.0; best.len() * width];
        let of_best = best.iter().zip(texts.iter().zip(&titles).zip(&headers)).zip(rows.chunks_exact_mut(width));
        for (rank, (((at, found), ((words, title), header)), row)) in of_best.enumerate() {
            let (own, beside) = row.split_at_mut(Features::COUNT);
            let of = candidates.rows.get(at * Features::COUNT..(at + 1) * Features::COUNT).unwrap_or_default();
            own.iter_mut().zip(of).for_each(|(to, from)| *to = *from);
            let covered = candidates.covered.get(*at).copied().unwrap_or(0);
            let of_text = nearest(words);
            Near {
                recalled: found.score,
                recalled_below_best: found.score - best_score,
                rank: (rank as f32).ln_1p(),
                near: share(&of_text, 0),
                near_of_missing: share(&of_text, covered),
                missing: share(&vec![1.0; count], covered),
                near_title: share(&nearest(title), 0),
                near_header: share(&nearest(header), 0),
                digits: (words.iter().filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).count() as f32)
                    .ln_1p(),
                length: (words.len() as f32).ln_1p(),
            }
            .write(beside);
        }
        Ok(Recalled { found: best.into_iter().map(|(_, found)| found).collect(), rows })
    }

    /// Recalls `recalled` chunks and gives the best `top` of them by the trees, best first.
    ///
    /// # Errors
    /// As [`Library::recall`].
    pub fn search(
        &self,
        question: &str,
        reranker: &Reranker,
        recalled: usize,
        top: usize,
    ) -> Result<Vec<Found>, LibraryError> {
        let candidates = self.candidates(question, &reranker.weights)?;
        let mut found = self.recalled(&candidates, reranker, recalled)?.ordered(reranker);
        found.truncate(top);
        Ok(found)
    }

    fn by_sum(&self, query: &Query, weights: &Weights, top: usize) -> Vec<Found> {
        let scores = self.index().scores(query, weights.dense != 0.0);
        let hits = self.index().best(top, |at| weights.sum(&scores.lexical(at), scores.dense(at)));
        hits.iter().filter_map(|hit| Some(Found { chunk: self.chunk_at(hit.table)?, score: hit.score })).collect()
    }
}
