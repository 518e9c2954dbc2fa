//! The chunks for a question: recalled by words, vectors and links, then put in order by trees.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tabsegnet_corpus::{Query, Weights, terms};
use tabsegnet_features::{Schema, features, flag};
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::tensors::NamedTensors;

use crate::error::LibraryError;
use crate::library::Library;
use crate::links::{Links, Row, Words, hash, pair};

/// Chunks proposed by a sum of words and vector, by vectors alone, by words anywhere alone.
const PROPOSED: [usize; 3] = [200, 60, 60];
/// Tables proposed by the sum and by words anywhere, beside those.
const TABLES_PROPOSED: usize = 40;
/// Tables whose rows, and texts whose rows, are followed.
const TABLES_FOLLOWED: usize = 40;
const TEXTS_FOLLOWED: usize = 100;
/// Candidates at most.
const MOST: usize = 4000;
/// Terms of a question that are looked at: bits of a mask.
const TERMS: usize = 64;

/// A chunk that was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The chunk, by its place in [`Library::chunks`].
    pub chunk: usize,
    /// How well it fits; comparable within one ranking alone.
    pub score: f32,
}

/// How chunks are recalled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Recall<'a> {
    /// By a sum of BM25 by fields and of the vectors' product.
    Sum(Weights),
    /// By such a sum, and by what a row and the chunks that it names have of the question together.
    Linked(&'a Reranker),
}

features! {
    /// What a chunk has of a question.
    struct Features {
        title,
        section,
        caption,
        header,
        first_column,
        cells,
        any,
        dense,
        sum,
        sum_below_best,
        sum_rank,
        is_table,
        title_terms,
        title_whole,
        own_terms,
        best_row,
        row_and_schema,
        rows,
        links,
        linked_row,
        linked_schema,
        linked_union,
        linked_gain,
        linked_sum,
        linked_rank,
        linked_is_best_row,
        linked_table_best,
        who,
        when,
        what_place,
        how_many,
        question_terms,
        pairs,
        row_pairs,
        linked_pairs,
        beside_sum,
        beside_terms,
        beside_gain,
    }
}

features! {
    /// What the trees see beside: how near the question's words are to a chunk's, by their vectors.
    struct Near {
        recalled,
        recalled_below_best,
        rank,
        near,
        near_of_missing,
        missing,
        near_title,
        digits,
        length,
    }
}

/// What proposes, recalls and orders chunks, fitted on HybridQA's training part.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranker {
    /// What the sum counts.
    pub weights: Weights,
    /// What recall counts, one a feature.
    pub recall: Vec<f32>,
    /// The order of what was recalled.
    pub trees: BoostedTrees,
}

#[derive(Serialize, Deserialize)]
struct About {
    weights: Weights,
    features: Vec<String>,
    recall: Vec<f32>,
}

/// What proposes chunks unless something else was fitted: words and vectors alike.
pub const PROPOSING: Weights = Weights {
    title: 1.0,
    section: 0.5,
    caption: 1.0,
    header: 0.5,
    first_column: 0.5,
    cells: 0.5,
    any: 1.0,
    dense: 1.0,
};

impl Reranker {
    /// The one that comes with the project.
    ///
    /// # Errors
    /// It was fitted to other features than this version has.
    pub fn shipped() -> Result<&'static Self, LibraryError> {
        static SHIPPED: OnceLock<Result<Reranker, String>> = OnceLock::new();
        let read = || {
            Self::parse(include_str!("reranker.json"), include_bytes!("reranker.safetensors"))
                .map_err(|error| error.to_string())
        };
        SHIPPED.get_or_init(read).as_ref().map_err(|reason| LibraryError::Reranker(reason.clone()))
    }

    /// Reads weights and trees.
    ///
    /// # Errors
    /// They are damaged, or of other features than this version has.
    pub fn parse(json: &str, trees: &[u8]) -> Result<Self, LibraryError> {
        let wrong =
            |reason: String| LibraryError::Reranker(format!("{reason}; fit it again with --example fit_chunks"));
        let names: Vec<String> = Features::names().into_iter().chain(Near::names()).collect();
        let About { weights, features, recall } =
            serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
        if features != names || recall.len() != Features::COUNT {
            return Err(wrong("it looks at other features than this version has".to_owned()));
        }
        let tensors = NamedTensors::read(Path::new("reranker.safetensors"), trees)?;
        let trees = BoostedTrees::from_tensors(&tensors).map_err(wrong)?;
        if trees.features() != Reranker::width_of_trees() {
            return Err(wrong(format!("its trees look at {} numbers", trees.features())));
        }
        Ok(Self { weights, recall, trees })
    }

    /// Weights as JSON, as [`Reranker::parse`] reads them.
    ///
    /// # Errors
    /// A weight that is no number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let features = Features::names().into_iter().chain(Near::names()).collect();
        let about = About { weights: self.weights, features, recall: self.recall.clone() };
        serde_json::to_string_pretty(&about)
    }

    /// How many features recall looks at.
    pub fn width() -> usize {
        Features::COUNT
    }

    /// How many the trees look at.
    pub fn width_of_trees() -> usize {
        Features::COUNT + Near::COUNT
    }

    /// What it recalls.
    pub fn score(&self, row: &[f32]) -> f32 {
        self.recall.iter().zip(row).map(|(weight, value)| weight * value).sum()
    }
}

/// Candidates for a question with what recall sees of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// By their places in [`Library::chunks`].
    pub chunks: Vec<usize>,
    /// `[candidates, Reranker::width()]`
    pub rows: Vec<f32>,
    /// The question's terms by their letters, with the share of each.
    terms: Vec<(String, f32)>,
    /// Of each candidate the terms, as bits, that the row which leads to it and that row's table have; of a table its own
    /// and its best row's.
    covered: Vec<u64>,
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

impl Candidates {
    /// The best by recall, best first, each with its place among the candidates.
    fn best(&self, reranker: &Reranker, top: usize) -> Vec<(usize, Found)> {
        let scores = self.rows.chunks_exact(Reranker::width()).map(|row| reranker.score(row));
        let all = scores.zip(&self.chunks).map(|(score, chunk)| Found { chunk: *chunk, score });
        let mut all: Vec<(usize, Found)> = all.enumerate().collect();
        all.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        all.truncate(top);
        all
    }
}

impl Library {
    /// The best `top` chunks for a question, best first; of equal ones the first in the documents.
    ///
    /// # Errors
    /// The question cannot be encoded, the index is damaged.
    pub fn recall(&self, question: &str, how: Recall<'_>, top: usize) -> Result<Vec<Found>, LibraryError> {
        match how {
            Recall::Sum(weights) => {
                let query = self.index().query(question)?;
                Ok(self.by_sum(&query, &weights, top))
            }
            Recall::Linked(reranker) => {
                let best = self.candidates(question, &reranker.weights)?.best(reranker, top);
                Ok(best.into_iter().map(|(_, found)| found).collect())
            }
        }
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
        let mut words: Vec<&str> = texts.iter().chain(&titles).flatten().map(String::as_str).collect();
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
        let of_best = best.iter().zip(texts.iter().zip(&titles)).zip(rows.chunks_exact_mut(width));
        for (rank, (((at, found), (words, title)), row)) in of_best.enumerate() {
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
        let hits = self.index().best(top, |at| sum(weights, &scores.lexical(at), scores.dense(at)));
        hits.iter().filter_map(|hit| Some(Found { chunk: self.chunk_at(hit.table)?, score: hit.score })).collect()
    }

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
            let by_sum = |at| sum(weights, &scores.lexical(at), scores.dense(at));
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
                (chunk, sum(weights, &lexical, dense))
            })
            .collect();
        let seen = Seen::new(&self.links, &chunks, &sums, &of_question);
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
        Ok(Candidates { chunks, rows, terms, covered })
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

fn sum(weights: &Weights, lexical: &[f32; 7], dense: f32) -> f32 {
    let of = [
        weights.title,
        weights.section,
        weights.caption,
        weights.header,
        weights.first_column,
        weights.cells,
        weights.any,
    ];
    of.iter().zip(lexical).map(|(weight, value)| weight * value).sum::<f32>() + weights.dense * dense
}

/// A question's terms as bits, with the share of each.
struct Terms {
    hashes: Vec<u32>,
    shares: Vec<f32>,
    /// Words beside each other, and the share of both.
    pairs: Vec<(u32, f32)>,
}

impl Terms {
    fn new(question: &str, query: &Query, shares: &[f32]) -> Self {
        let hashes = query.terms.iter().take(TERMS).map(|(term, _)| hash(term)).collect();
        let of: HashMap<&str, f32> =
            query.terms.iter().zip(shares).map(|((term, _), share)| (term.as_str(), *share)).collect();
        let words = terms(question);
        let share = |word: &String| of.get(word.as_str()).copied().unwrap_or(0.0);
        let pairs = words.iter().zip(words.iter().skip(1)).take(TERMS);
        let pairs = pairs.map(|(first, second)| (pair(first, second), share(first).min(share(second)))).collect();
        Self { hashes, shares: shares.iter().take(TERMS).copied().collect(), pairs }
    }

    fn of_pairs(&self, pairs: &[u32]) -> f32 {
        self.pairs.iter().filter(|(pair, _)| pairs.binary_search(pair).is_ok()).map(|(_, share)| share).sum()
    }

    fn mask(&self, words: &[u32]) -> u64 {
        let has = |hash: &u32| words.binary_search(hash).is_ok();
        self.hashes.iter().enumerate().filter(|(_, hash)| has(hash)).fold(0, |mask, (bit, _)| mask | 1 << bit)
    }

    fn share(&self, mask: u64) -> f32 {
        self.shares.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, share)| share).sum()
    }
}

/// What a question begins with.
struct Kind {
    who: f32,
    when: f32,
    place: f32,
    how_many: f32,
}

impl Kind {
    fn of(question: &str) -> Self {
        let text = format!(" {} ", question.to_lowercase());
        let has = |words: &[&str]| flag(words.iter().any(|word| text.contains(&format!(" {word} "))));
        Self {
            who: has(&["who", "whose", "whom"]),
            when: has(&["when", "what year", "which year", "what date"]),
            place: has(&["where", "what city", "what country", "which country", "which city"]),
            how_many: has(&["how many", "how much", "number of", "how long"]),
        }
    }
}

/// What the candidates have of the question, masks of terms by chunk.
struct Seen<'a> {
    links: &'a Links,
    terms: &'a Terms,
    sums: &'a HashMap<usize, f32>,
    best: f32,
    /// Of each candidate its place by sum.
    ranks: HashMap<usize, usize>,
    /// Of each candidate its place by sum among tables.
    table_ranks: HashMap<usize, usize>,
    /// Of each candidate the terms in its title, and in its title and body.
    schema: HashMap<usize, (u64, u64)>,
    /// Of each table the terms of its rows, and the share of the best.
    rows: HashMap<usize, (Vec<u64>, f32)>,
}

impl<'a> Seen<'a> {
    fn new(links: &'a Links, chunks: &[usize], sums: &'a HashMap<usize, f32>, terms: &'a Terms) -> Self {
        let mut order: Vec<usize> = chunks.to_vec();
        let sum = |chunk: &usize| sums.get(chunk).copied().unwrap_or(0.0);
        order.sort_by(|a, b| sum(b).total_cmp(&sum(a)).then(a.cmp(b)));
        let is_table = |chunk: usize| links.words.get(chunk).is_some_and(|words| words.is_table);
        let ranks = order.iter().enumerate().map(|(rank, chunk)| (*chunk, rank)).collect();
        let tables = order.iter().filter(|chunk| is_table(**chunk));
        let table_ranks = tables.enumerate().map(|(rank, chunk)| (*chunk, rank)).collect();
        let (mut schema, mut rows) = (HashMap::new(), HashMap::new());
        for &chunk in chunks {
            let Some(Words { title, body, rows: of_rows, is_table, .. }) = links.words.get(chunk) else { continue };
            let title = terms.mask(title);
            schema.insert(chunk, (title, title | terms.mask(body)));
            if *is_table {
                let masks: Vec<u64> = of_rows.iter().map(|row| terms.mask(row)).collect();
                let best = masks.iter().map(|mask| terms.share(*mask)).fold(0.0, f32::max);
                rows.insert(chunk, (masks, best));
            }
        }
        let best = order.first().map_or(0.0, sum);
        Self { links, terms, sums, best, ranks, table_ranks, schema, rows }
    }

    fn features(&self, chunk: usize, lexical: &[f32; 7], dense: f32, kind: &Kind) -> (Features, u64) {
        let [title, section, caption, header, first_column, cells, any] = *lexical;
        let sum = self.sums.get(&chunk).copied().unwrap_or(0.0);
        let (in_title, own) = self.schema.get(&chunk).copied().unwrap_or_default();
        let words = self.links.words.get(chunk);
        let title_length = words.map_or(0, |words| words.title.len());
        let is_table = words.is_some_and(|words| words.is_table);
        let mut found = Features {
            title,
            section,
            caption,
            header,
            first_column,
            cells,
            any,
            dense,
            sum,
            sum_below_best: sum - self.best,
            sum_rank: (self.ranks.get(&chunk).copied().unwrap_or(MOST) as f32).ln_1p(),
            is_table: flag(is_table),
            title_terms: self.terms.share(in_title),
            title_whole: flag(title_length > 0 && in_title.count_ones() as usize == title_length),
            own_terms: self.terms.share(own),
            linked_rank: (MOST as f32).ln_1p(),
            who: kind.who,
            when: kind.when,
            what_place: kind.place,
            how_many: kind.how_many,
            question_terms: (self.terms.hashes.len() as f32).ln_1p(),
            ..Features::default()
        };
        found.pairs = words.map_or(0.0, |words| self.terms.of_pairs(&words.pairs));
        for &other in self.links.beside.get(chunk).into_iter().flatten() {
            let other = other as usize;
            // What is not among the candidates has less than any of them.
            let (Some(sum), Some((_, mask))) = (self.sums.get(&other), self.schema.get(&other)) else { continue };
            found.beside_sum = found.beside_sum.max(*sum);
            found.beside_terms = found.beside_terms.max(self.terms.share(*mask));
            found.beside_gain = found.beside_gain.max(self.terms.share(mask | own) - self.terms.share(own));
        }
        let covered = match is_table {
            true => self.of_table(chunk, own, &mut found),
            false => self.of_text(chunk, own, &mut found),
        };
        (found, covered)
    }

    fn of_table(&self, chunk: usize, own: u64, found: &mut Features) -> u64 {
        let Some((masks, best)) = self.rows.get(&chunk) else { return own };
        let mut covered = own;
        found.best_row = *best;
        found.rows = (masks.len() as f32).ln_1p();
        found.linked_rank = (self.table_ranks.get(&chunk).copied().unwrap_or(MOST) as f32).ln_1p();
        for pairs in self.links.words.get(chunk).into_iter().flat_map(|words| &words.row_pairs) {
            found.row_pairs = found.row_pairs.max(self.terms.of_pairs(pairs));
        }
        for (row, mask) in masks.iter().enumerate() {
            let together = self.terms.share(own | mask);
            if together > found.row_and_schema {
                found.row_and_schema = together;
                covered = own | mask;
            }
            let row = Row { chunk: chunk as u32, row: row as u32 };
            for &text in self.links.texts_of.get(&row).into_iter().flatten() {
                let Some((_, of_text)) = self.schema.get(&(text as usize)) else { continue };
                found.links += 1.0;
                found.linked_union = found.linked_union.max(self.terms.share(own | mask | of_text));
                found.linked_sum = found.linked_sum.max(self.sums.get(&(text as usize)).copied().unwrap_or(0.0));
            }
        }
        found.linked_gain = (found.linked_union - found.row_and_schema).max(0.0);
        found.links = found.links.ln_1p();
        covered
    }

    fn of_text(&self, chunk: usize, own: u64, found: &mut Features) -> u64 {
        let (mut best, mut covered) = (f32::NEG_INFINITY, 0);
        let rows = self.links.rows_of.get(chunk).map_or(&[][..], Vec::as_slice);
        found.links = (rows.len() as f32).ln_1p();
        for row in rows {
            let table = row.chunk as usize;
            let (Some((masks, best_row)), Some((_, schema))) = (self.rows.get(&table), self.schema.get(&table)) else {
                continue;
            };
            let mask = masks.get(row.row as usize).copied().unwrap_or(0);
            let union = self.terms.share(own | mask | schema);
            let of_table = self.sums.get(&table).copied().unwrap_or(0.0);
            let goodness = union + of_table;
            found.linked_table_best = found.linked_table_best.max(*best_row);
            if goodness > best {
                best = goodness;
                covered = mask | schema;
                found.linked_row = self.terms.share(mask);
                found.linked_schema = self.terms.share(*schema);
                found.row_and_schema = self.terms.share(mask | schema);
                found.linked_union = union;
                let words = self.links.words.get(table);
                found.row_pairs =
                    words.and_then(|of| of.row_pairs.get(row.row as usize)).map_or(0.0, |of| self.terms.of_pairs(of));
                found.linked_pairs = words.map_or(0.0, |of| self.terms.of_pairs(&of.pairs));
                found.linked_gain = union - self.terms.share(mask | schema);
                found.linked_sum = of_table;
                found.linked_rank = (self.table_ranks.get(&table).copied().unwrap_or(MOST) as f32).ln_1p();
                found.linked_is_best_row = flag(found.linked_row >= *best_row && *best_row > 0.0);
            }
        }
        covered
    }
}
