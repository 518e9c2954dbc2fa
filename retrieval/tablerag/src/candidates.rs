//! The chunks that may be for a question: by words, by vectors, and along the links of those.

use std::collections::{HashMap, HashSet};

use tabsegnet_corpus::Weights;
use tabsegnet_features::Schema as _;

use crate::error::LibraryError;
use crate::library::Library;
use crate::links::Row;
use crate::partial_links::PartialLinks;
use crate::reranker::{Features, Reranker};
use crate::search::Found;
use crate::seen::{Kind, Seen, Terms};

/// Chunks proposed by a sum of words and vector, by vectors alone, by words anywhere alone.
const PROPOSED: [usize; 3] = [200, 60, 60];
/// Tables proposed by the sum and by words anywhere, beside those.
const TABLES_PROPOSED: usize = 40;
/// Tables whose rows, and texts whose rows, are followed.
const TABLES_FOLLOWED: usize = 40;
const TEXTS_FOLLOWED: usize = 100;
/// Candidates at most.
pub(crate) const MOST: usize = 4000;

/// Candidates for a question with what recall sees of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// By their places in [`Library::chunks`].
    pub chunks: Vec<usize>,
    /// `[candidates, Reranker::width()]`
    pub rows: Vec<f32>,
    /// The question's terms by their letters, with the share of each.
    pub(crate) terms: Vec<(String, f32)>,
    /// Of each candidate the terms, as bits, that the row which leads to it and that row's table have; of a table its own
    /// and its best row's.
    pub(crate) covered: Vec<u64>,
    /// What links them beside the library's links.
    pub(crate) partial: PartialLinks,
}

impl Candidates {
    /// The best by recall, best first, each with its place among the candidates.
    pub(crate) fn best(&self, reranker: &Reranker, top: usize) -> Vec<(usize, Found)> {
        let scores = self.rows.chunks_exact(Reranker::width()).map(|row| reranker.score(row));
        let all = scores.zip(&self.chunks).map(|(score, chunk)| Found { chunk: *chunk, score });
        let mut all: Vec<(usize, Found)> = all.enumerate().collect();
        all.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        all.truncate(top);
        all
    }
}

impl Library {
    /// The candidates for a question.
    ///
    /// # Errors
    /// As [`Library::recall`].
    pub fn candidates(&self, question: &str, weights: &Weights) -> Result<Candidates, LibraryError> {
        self.candidates_among(question, weights, None)
    }

    /// The same; of some documents alone, where they are named by their places: then all their chunks.
    ///
    /// # Errors
    /// As [`Library::recall`].
    pub fn candidates_among(
        &self,
        question: &str,
        weights: &Weights,
        documents: Option<&HashSet<usize>>,
    ) -> Result<Candidates, LibraryError> {
        let query = self.index().query(question)?;
        let scores = self.index().scores(&query, true);
        let of = |chunk: usize| {
            self.place(chunk).map_or(([0.0; 7], 0.0), |place| (scores.lexical(place), scores.dense(place)))
        };
        let index = self.index();
        let mut known: HashSet<usize> = HashSet::new();
        let mut chunks: Vec<usize> = Vec::new();
        if let Some(documents) = documents {
            let is_of = |number: &usize| self.chunks().get(*number).is_some_and(|of| documents.contains(&of.document));
            chunks.extend((0..self.chunks().len()).filter(is_of));
        } else {
            let is_table =
                |at| self.chunk_at(at).and_then(|chunk| self.links.words.get(chunk)).is_some_and(|of| of.is_table);
            let of_table = |at, score: f32| if is_table(at) { score } else { -1.0 };
            let by_sum = |at| weights.sum(&scores.lexical(at), scores.dense(at));
            let proposals = [
                index.best(PROPOSED[0], by_sum),
                index.best(PROPOSED[1], |at| scores.dense(at)),
                index.best(PROPOSED[2], |at| scores.lexical(at)[6]),
                index.best(TABLES_PROPOSED, |at| of_table(at, by_sum(at))),
                index.best(TABLES_PROPOSED, |at| of_table(at, scores.lexical(at)[6])),
            ];
            for chunk in proposals.iter().flatten().filter_map(|hit| self.chunk_at(hit.table)) {
                if known.insert(chunk) {
                    chunks.push(chunk);
                }
            }
            self.follow(&mut chunks, &mut known);
        }
        let of_question = Terms::new(question, &query, scores.shares());
        let sums: HashMap<usize, f32> = chunks
            .iter()
            .map(|&chunk| {
                let (lexical, dense) = of(chunk);
                (chunk, weights.sum(&lexical, dense))
            })
            .collect();
        let partial = PartialLinks::new(&self.links, &chunks);
        let seen = Seen::new(&self.links, &partial, &chunks, &sums, &of_question);
        let kind = Kind::of(question);
        let mut covered = Vec::with_capacity(chunks.len());
        let mut rows = vec![0.0; chunks.len() * Features::COUNT];
        for (&chunk, row) in chunks.iter().zip(rows.chunks_exact_mut(Features::COUNT)) {
            let (lexical, dense) = of(chunk);
            let (features, mask) = seen.features(chunk, &lexical, dense, &kind);
            features.write(row);
            covered.push(mask);
        }
        let terms = query.terms.iter().zip(scores.shares()).map(|((term, _), share)| (term.clone(), *share)).collect();
        Ok(Candidates { chunks, rows, terms, covered, partial })
    }

    /// Adds what the first tables' rows name, the rows that name the first texts, and what those tables name.
    fn follow(&self, chunks: &mut Vec<usize>, known: &mut HashSet<usize>) {
        let is_table = |chunk: usize| self.links.words.get(chunk).is_some_and(|words| words.is_table);
        let mut tables: Vec<usize> =
            chunks.iter().copied().filter(|&chunk| is_table(chunk)).take(TABLES_FOLLOWED).collect();
        let texts: Vec<usize> = chunks.iter().copied().filter(|&chunk| !is_table(chunk)).take(TEXTS_FOLLOWED).collect();
        // Tables that several of the first texts stand in come first.
        let mut votes: HashMap<usize, f32> = HashMap::new();
        for (rank, &text) in texts.iter().enumerate() {
            let of_text: HashSet<usize> =
                self.links.rows_of.get(text).into_iter().flatten().map(|row| row.chunk as usize).collect();
            for table in of_text {
                *votes.entry(table).or_default() += 1.0 / (10.0 + rank as f32);
            }
        }
        let mut voted: Vec<(usize, f32)> = votes.into_iter().collect();
        voted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        tables.extend(voted.iter().map(|(table, _)| *table).take(TABLES_FOLLOWED));
        // And those in whose documents the first texts stand.
        let beside = texts.iter().flat_map(|&text| self.links.beside.get(text).into_iter().flatten());
        let mut beside: Vec<usize> = beside.map(|&table| table as usize).collect();
        beside.truncate(TABLES_FOLLOWED);
        tables.extend(&beside);
        let mut add = |chunk: usize, chunks: &mut Vec<usize>| {
            if chunks.len() < MOST && known.insert(chunk) {
                chunks.push(chunk);
            }
        };
        for &table in &tables {
            add(table, chunks);
            for &text in self.links.beside.get(table).into_iter().flatten() {
                add(text as usize, chunks);
            }
            let rows = self.links.words.get(table).map_or(0, |words| words.rows.len());
            for row in 0..rows {
                let row = Row { chunk: table as u32, row: row as u32 };
                for &text in self.links.texts_of.get(&row).into_iter().flatten() {
                    add(text as usize, chunks);
                }
            }
        }
        for (table, _) in voted {
            add(table, chunks);
        }
    }
}
