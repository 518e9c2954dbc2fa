//! A corpus that is open for searching.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_encoder::{Encoder, load};

use crate::error::CorpusError;
use crate::fields::{Field, terms};
use crate::manifest::Manifest;
use crate::postings::Postings;
use crate::segment::Segment;
use crate::writer::same_encoder;

/// How often opening is tried where a change takes the files away in between.
const TRIES: usize = 5;
/// Tables of a segment that one thread scores at a time.
const BLOCK: usize = 4096;

/// Where a table is in an open corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableRef {
    pub(crate) segment: u32,
    pub(crate) table: u32,
}

/// A table that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which.
    pub table: TableRef,
    /// How well it fits; comparable within one ranking alone.
    pub score: f32,
}

/// Settings of BM25 for a field: how fast repeated terms saturate, and how much long fields are held down.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// A question as a corpus is searched with it.
#[derive(Debug, Clone)]
pub struct Query {
    /// As it was put.
    pub text: String,
    /// Its terms by their letters, each with its occurrences.
    pub terms: Vec<(String, f32)>,
    /// `[dim]`
    pub vector: Vec<f32>,
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

/// An open corpus. It stays as it was when it was opened, whatever is changed meanwhile.
pub struct Corpus {
    directory: PathBuf,
    manifest: Manifest,
    segments: Vec<Segment>,
    encoder: Arc<dyn Encoder>,
    /// Mean words of each field.
    averages: [f32; Field::COUNT],
}

impl Corpus {
    /// Opens a corpus with the encoder that it was made with.
    ///
    /// # Errors
    /// There is none, it is damaged, or its encoder is not to be had.
    pub fn open(directory: &Path) -> Result<Self, CorpusError> {
        let encoder = load(&Manifest::read(directory)?.encoder)?;
        Self::open_with(directory, encoder.into())
    }

    /// Opens a corpus with an encoder that is open already.
    ///
    /// # Errors
    /// As [`Corpus::open`]; the encoder is not the one that the corpus was made with.
    pub fn open_with(directory: &Path, encoder: Arc<dyn Encoder>) -> Result<Self, CorpusError> {
        let mut tries = 0;
        let (manifest, segments) = loop {
            let manifest = Manifest::read(directory)?;
            same_encoder(directory, &manifest, encoder.as_ref())?;
            match manifest.open(directory) {
                Ok(segments) => break (manifest, segments),
                // A change between the two readings removed what was replaced.
                Err(_) if tries < TRIES && Manifest::read(directory)? != manifest => tries += 1,
                Err(error) => return Err(error),
            }
        };
        let tables = manifest.tables().max(1) as f64;
        let mut averages = [0.0; Field::COUNT];
        for (field, average) in averages.iter_mut().enumerate() {
            // Exact below 2^53, and no overflow of a damaged file's.
            let words: f64 = manifest.segments.iter().map(|entry| entry.words[field] as f64).sum();
            *average = (words / tables) as f32;
        }
        Ok(Self { directory: directory.to_owned(), manifest, segments, encoder, averages })
    }

    /// Its tables.
    pub fn len(&self) -> usize {
        self.manifest.tables()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it is made of.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The encoder of its vectors.
    pub fn encoder(&self) -> &dyn Encoder {
        self.encoder.as_ref()
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(crate) fn segment(&self, at: TableRef) -> Option<&Segment> {
        self.segments.get(at.segment as usize)
    }

    /// The id of a table.
    pub fn id(&self, at: TableRef) -> &str {
        self.segment(at).map_or("", |segment| segment.id(at.table))
    }

    /// The file that a table is from.
    pub fn source(&self, at: TableRef) -> &str {
        self.segment(at).map_or("", |segment| segment.source(at.table))
    }

    /// A table.
    ///
    /// # Errors
    /// A damaged file.
    pub fn table(&self, at: TableRef) -> Result<TableRecord, CorpusError> {
        match self.segment(at) {
            Some(segment) => segment.record(at.table),
            None => Ok(TableRecord::default()),
        }
    }

    /// The vector of a table `[dim]`.
    pub fn vector(&self, at: TableRef) -> Vec<f32> {
        self.segment(at).map_or_else(Vec::new, |segment| segment.vector(at.table))
    }

    /// The table with an id.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, id: &str) -> Result<TableRef, CorpusError> {
        let found = self.segments.iter().enumerate().find_map(|(number, segment)| {
            let table = segment.find(id).iter().copied().find(|&table| segment.is_live(table as usize))?;
            Some(TableRef { segment: number as u32, table })
        });
        found.ok_or_else(|| CorpusError::NoTable { directory: self.directory.display().to_string(), id: id.to_owned() })
    }

    /// All tables, by rising id: an order that does not depend on how the corpus was made.
    pub fn tables(&self) -> Vec<TableRef> {
        let mut all: Vec<TableRef> = Vec::with_capacity(self.len());
        for (number, segment) in self.segments.iter().enumerate() {
            let live = (0..segment.len()).filter(|&table| segment.is_live(table));
            all.extend(live.map(|table| TableRef { segment: number as u32, table: table as u32 }));
        }
        all.par_sort_unstable_by(|a, b| self.id(*a).cmp(self.id(*b)));
        all
    }

    /// A question as the corpus is searched with it.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn query(&self, text: &str) -> Result<Query, CorpusError> {
        let mut words = terms(text);
        words.sort_unstable();
        let mut counted: Vec<(String, f32)> = Vec::new();
        for word in words {
            match counted.last_mut() {
                Some((last, count)) if *last == word => *count += 1.0,
                _ => counted.push((word, 1.0)),
            }
        }
        let vector = self.encoder.encode(&[text], &mut |_| ())?;
        Ok(Query { text: text.to_owned(), terms: counted, vector })
    }

    /// What every table has of a question. The same whatever the segments are: frequencies and means are the corpus'. Without `with_dense`
    /// vectors are not looked at.
    pub fn scores(&self, query: &Query, with_dense: bool) -> Scores {
        // Of each term and segment its number there, and in how many tables it stands.
        let found: Vec<(Vec<Option<usize>>, u64)> = query
            .terms
            .iter()
            .map(|(term, _)| {
                let numbers: Vec<Option<usize>> = self.segments.iter().map(|segment| segment.find_term(term)).collect();
                let of_segment = |(segment, number): (&Segment, &Option<usize>)| match number {
                    None => 0,
                    Some(number) if segment.is_whole() => u64::from(segment.frequency(*number)),
                    Some(number) => {
                        let postings = Postings::new(segment.postings(*number));
                        postings.filter(|posting| segment.is_live(posting.table as usize)).count() as u64
                    }
                };
                let frequency = self.segments.iter().zip(&numbers).map(of_segment).sum();
                (numbers, frequency)
            })
            .collect();
        let tables = self.len() as f64;
        let idf: Vec<f32> = found
            .iter()
            .zip(&query.terms)
            .map(|((_, frequency), (_, count))| {
                let with = *frequency as f64;
                (1.0 + (tables - with + 0.5) / (with + 0.5)).ln() as f32 * count
            })
            .collect();
        let all: f32 = idf.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        let shares: Vec<f32> = idf.iter().map(|idf| idf / all).collect();
        let slopes = self.averages.map(|average| K1 * B / average.max(1e-9));
        let lexical = self.segments.par_iter().enumerate().map(|(number, segment)| {
            let mut scores = vec![[0.0_f32; Field::COUNT + 1]; segment.len()];
            let lengths = segment.all_lengths();
            for ((numbers, _), share) in found.iter().zip(&shares) {
                let Some(term) = numbers[number] else { continue };
                let mut postings = Postings::new(segment.postings(term));
                let mut last = u32::MAX;
                let mut add = |table: u32, field: usize, count: u32| {
                    let is_first = table != last;
                    last = table;
                    let table = table as usize;
                    if let (Some(out), Some(lengths)) = (scores.get_mut(table), lengths.get(table)) {
                        let count = count as f32;
                        let held_down = K1 * (1.0 - B) + slopes[field] * lengths[field] as f32;
                        out[field] += share * count / (count + held_down);
                        out[Field::COUNT] += if is_first { *share } else { 0.0 };
                    }
                };
                while postings.next_with(&mut add).is_some() {}
            }
            scores
        });
        let lexical: Vec<_> = lexical.collect();
        let segments = if with_dense { self.segments.as_slice() } else { &[] };
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
    pub(crate) fn best(&self, count: usize, score: impl Fn(TableRef) -> f32 + Sync) -> Vec<Hit> {
        if count == 0 {
            return Vec::new();
        }
        let better = |a: &Hit, b: &Hit| self.order(a, b);
        let mut kept: Vec<Hit> = Vec::new();
        let blocks: Vec<(usize, usize)> = self
            .segments
            .iter()
            .enumerate()
            .flat_map(|(number, segment)| (0..segment.len()).step_by(BLOCK).map(move |first| (number, first)))
            .collect();
        let of_blocks: Vec<Vec<Hit>> = blocks
            .par_iter()
            .map(|&(number, first)| {
                let segment = &self.segments[number];
                let last = (first + BLOCK).min(segment.len());
                let mut hits: Vec<Hit> = (first..last)
                    .filter(|&table| segment.is_live(table))
                    .map(|table| TableRef { segment: number as u32, table: table as u32 })
                    .map(|table| Hit { table, score: score(table) })
                    .collect();
                keep(&mut hits, count, better);
                hits
            })
            .collect();
        for hits in of_blocks {
            kept.extend(hits);
            if kept.len() > count.saturating_mul(4) {
                keep(&mut kept, count, better);
            }
        }
        keep(&mut kept, count, better);
        kept.sort_by(better);
        kept
    }
}

/// Keeps the first `count` by an order.
fn keep(hits: &mut Vec<Hit>, count: usize, better: impl Fn(&Hit, &Hit) -> Ordering) {
    if hits.len() > count {
        hits.select_nth_unstable_by(count - 1, better);
        hits.truncate(count);
    }
}

impl std::fmt::Debug for Corpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Corpus")
            .field("directory", &self.directory)
            .field("tables", &self.len())
            .finish_non_exhaustive()
    }
}

impl Scores {
    /// BM25 of each field and of any field, as shares.
    pub(crate) fn lexical(&self, at: TableRef) -> [f32; Field::COUNT + 1] {
        self.lexical.get(at.segment as usize).and_then(|of| of.get(at.table as usize)).copied().unwrap_or_default()
    }

    /// The vector's product with the question's.
    pub(crate) fn dense(&self, at: TableRef) -> f32 {
        self.dense.get(at.segment as usize).and_then(|of| of.get(at.table as usize)).copied().unwrap_or_default()
    }
}
