//! A corpus that is open for searching.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_encoder::{Encoder, EncoderKind, load};

use crate::error::CorpusError;
use crate::fields::{Field, terms};
use crate::manifest::Manifest;
use crate::scores::{Bm25, means};
use crate::segment::Segment;
use crate::writer::same_encoder;

/// How often opening is tried where a change takes the files away in between.
const TRIES: usize = 5;

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

/// An open corpus. It stays as it was when it was opened, whatever is changed meanwhile.
pub struct Corpus {
    directory: PathBuf,
    manifest: Manifest,
    segments: Vec<Segment>,
    encoder: Arc<dyn Encoder>,
    /// Mean words of each field.
    means: [f32; Field::COUNT],
}

impl Corpus {
    /// Opens a corpus with the encoder that it was made with.
    ///
    /// # Errors
    /// There is none, it is damaged, or its encoder is not to be had.
    pub fn open(directory: &Path) -> Result<Self, CorpusError> {
        let config = Manifest::read(directory)?.encoder;
        let encoder = load(&config).map_err(|source| match config.kind {
            EncoderKind::Static => source.into(),
            EncoderKind::Bert => {
                let (directory, model) = (directory.display().to_string(), config.model.clone());
                CorpusError::NoEncoder { directory, model, source: Box::new(source) }
            }
        })?;
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
        let means = means(manifest.segments.iter().map(|entry| entry.words), manifest.tables());
        Ok(Self { directory: directory.to_owned(), manifest, segments, encoder, means })
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

    /// Mean words of each field.
    pub(crate) fn means(&self) -> [f32; Field::COUNT] {
        self.means
    }

    /// BM25 of its fields.
    pub(crate) fn bm25(&self) -> Bm25 {
        Bm25::new(&self.means)
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
        let vector = self.encoder.encode(&[text], &mut |_| ())?;
        Ok(encoded(text, vector))
    }

    /// Many questions, which are encoded together.
    ///
    /// # Errors
    /// As [`Corpus::query`].
    pub fn queries(&self, texts: &[&str]) -> Result<Vec<Query>, CorpusError> {
        let vectors = self.encoder.encode(texts, &mut |_| ())?;
        let vectors = vectors.chunks_exact(self.encoder.dim().max(1));
        Ok(texts.iter().zip(vectors).map(|(text, vector)| encoded(text, vector.to_vec())).collect())
    }
}

/// A question with its vector.
fn encoded(text: &str, vector: Vec<f32>) -> Query {
    let mut words = terms(text);
    words.sort_unstable();
    let mut counted: Vec<(String, f32)> = Vec::new();
    for word in words {
        match counted.last_mut() {
            Some((last, count)) if *last == word => *count += 1.0,
            _ => counted.push((word, 1.0)),
        }
    }
    Query { text: text.to_owned(), terms: counted, vector }
}

impl std::fmt::Debug for Corpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Corpus")
            .field("directory", &self.directory)
            .field("tables", &self.len())
            .finish_non_exhaustive()
    }
}
