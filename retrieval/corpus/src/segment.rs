//! A segment as it is read: tables with their words, vectors and links. It never changes; what is removed is marked beside it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_features::vectors::dot;

use crate::error::{CorpusError, damaged};
use crate::fields::Field;
use crate::file::{MappedFile, Section};
use crate::postings::{LOOKUP, TermList};
use crate::vectors::{VectorKind, dot_int8};

/// An open segment.
#[derive(Debug)]
pub struct Segment {
    path: PathBuf,
    file: MappedFile,
    kind: VectorKind,
    dim: usize,
    source_names: Vec<String>,
    /// Tables by the file that they are from, once it is needed.
    by_source: OnceLock<HashMap<String, Vec<u32>>>,
    /// Tables that are removed, or replaced by later ones; empty where none is.
    removed: Vec<bool>,
    /// Their numbers, rising.
    removed_tables: Vec<u32>,
    live: usize,
}

impl Segment {
    /// Opens a segment of vectors of a kind and width, without the tables `removed`.
    pub(crate) fn open(path: &Path, kind: VectorKind, dim: usize, removed: &[u32]) -> Result<Self, CorpusError> {
        let file = MappedFile::open(path)?;
        let tables = file.tables();
        let long = |section, bytes: Option<usize>| -> Result<(), CorpusError> {
            match bytes {
                Some(expected) if file.bytes(section).len() == expected => Ok(()),
                _ => Err(damaged(path, format!("{section:?} has another length than {tables} tables need"))),
            }
        };
        let of = |each: usize| tables.checked_mul(each);
        let offsets = of(8).and_then(|bytes| bytes.checked_add(8));
        long(Section::RecordOffsets, offsets)?;
        long(Section::IdOffsets, offsets)?;
        long(Section::IdOrder, of(4))?;
        long(Section::Sources, of(4))?;
        long(Section::Lengths, of(4 * Field::COUNT))?;
        long(Section::Means, Some(4 * Field::COUNT))?;
        long(Section::Vectors, of(kind.bytes(dim)))?;
        long(Section::Scales, if kind == VectorKind::Int8 { of(4) } else { Some(0) })?;
        let terms = file.bytes(Section::Frequencies).len() / 4;
        long(Section::TermOffsets, Some(8 * terms + 8))?;
        long(Section::PostingOffsets, Some(8 * terms + 8))?;
        long(Section::LinkKeys, Some(2 * file.bytes(Section::LinkTables).len()))?;
        let source_names = serde_json::from_slice(file.bytes(Section::SourceNames))
            .map_err(|error| damaged(path, format!("its list of files cannot be read: {error}")))?;
        let mut marks = Vec::new();
        if !removed.is_empty() {
            marks = vec![false; tables];
            for &table in removed {
                *marks.get_mut(table as usize).ok_or_else(|| damaged(path, "fewer tables than are removed"))? = true;
            }
        }
        let removed_tables: Vec<u32> =
            (0..).zip(&marks).filter(|(_, removed)| **removed).map(|(table, _)| table).collect();
        let live = tables - removed_tables.len();
        Ok(Self {
            path: path.to_owned(),
            file,
            kind,
            dim,
            source_names,
            by_source: OnceLock::new(),
            removed: marks,
            removed_tables,
            live,
        })
    }

    /// Tables, removed ones among them.
    pub fn len(&self) -> usize {
        self.file.tables()
    }

    /// Whether it has no table.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tables that are not removed.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Whether a table is there and not removed.
    pub fn is_live(&self, table: usize) -> bool {
        table < self.len() && !self.removed.get(table).copied().unwrap_or(false)
    }

    /// The tables that are removed.
    pub(crate) fn removed(&self) -> BTreeSet<u32> {
        self.removed_tables.iter().copied().collect()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The part of a section that offsets of another say.
    fn part(&self, offsets: Section, of: Section, number: usize) -> Option<&[u8]> {
        let offsets: &[u64] = self.file.numbers(offsets)?;
        let (from, to) = (*offsets.get(number)?, *offsets.get(number + 1)?);
        self.file.bytes(of).get(from as usize..to as usize)
    }

    /// The JSON of a table.
    pub(crate) fn record_bytes(&self, table: u32) -> Option<&[u8]> {
        self.part(Section::RecordOffsets, Section::Records, table as usize)
    }

    /// A table.
    ///
    /// # Errors
    /// A damaged file.
    pub fn record(&self, table: u32) -> Result<TableRecord, CorpusError> {
        let bytes = self.record_bytes(table).unwrap_or_default();
        serde_json::from_slice(bytes).map_err(|error| damaged(&self.path, format!("table {table}: {error}")))
    }

    /// A table's id.
    pub fn id(&self, table: u32) -> &str {
        let bytes = self.part(Section::IdOffsets, Section::Ids, table as usize);
        bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// The tables that are from a file. Looking for one file after the other among very many would take their square.
    pub(crate) fn of_source(&self, file: &str) -> &[u32] {
        let by_source = self.by_source.get_or_init(|| {
            let mut tables: Vec<Vec<u32>> = vec![Vec::new(); self.source_names.len()];
            for (table, &source) in (0..).zip(self.numbers::<u32>(Section::Sources)) {
                if let Some(of_source) = tables.get_mut(source as usize) {
                    of_source.push(table);
                }
            }
            self.source_names.iter().cloned().zip(tables).collect()
        });
        by_source.get(file).map(Vec::as_slice).unwrap_or_default()
    }

    /// The file that a table is from.
    pub fn source(&self, table: u32) -> &str {
        let number = self.numbers(Section::Sources).get(table as usize).copied().unwrap_or(u32::MAX);
        self.source_names.get(number as usize).map_or("", String::as_str)
    }

    /// The numbers of the tables with an id, whether they are removed or not: one, and those of a file that was taken in
    /// more than once in one change.
    pub(crate) fn find(&self, id: &str) -> &[u32] {
        let order: &[u32] = self.numbers(Section::IdOrder);
        let from = order.partition_point(|&table| self.id(table) < id);
        let to = from + order[from..].partition_point(|&table| self.id(table) == id);
        &order[from..to]
    }

    fn numbers<T: bytemuck::AnyBitPattern>(&self, section: Section) -> &[T] {
        self.file.numbers(section).unwrap_or_default()
    }

    /// A term by its number, which counts them by their letters.
    pub(crate) fn term(&self, number: usize) -> Option<&str> {
        std::str::from_utf8(self.part(Section::TermOffsets, Section::Terms, number)?).ok()
    }

    /// The number of a term.
    pub(crate) fn find_term(&self, term: &str) -> Option<usize> {
        let (mut from, mut to) = (0, self.numbers::<u32>(Section::Frequencies).len());
        while from < to {
            let middle = from + (to - from) / 2;
            let found = self.part(Section::TermOffsets, Section::Terms, middle)?;
            match found.cmp(term.as_bytes()) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    /// Where a term stands.
    pub(crate) fn postings(&self, term: usize) -> TermList<'_> {
        let bytes = self.part(Section::PostingOffsets, Section::Postings, term).unwrap_or_default();
        TermList::new(bytes, self.frequency(term)).unwrap_or_default()
    }

    /// Tables with a term that are not removed.
    pub(crate) fn live_frequency(&self, term: usize) -> u64 {
        let frequency = u64::from(self.frequency(term));
        if self.removed_tables.is_empty() {
            return frequency;
        }
        let list = self.postings(term);
        if self.removed_tables.len() as u64 > frequency / LOOKUP {
            return list.postings().filter(|posting| self.is_live(posting.table as usize)).count() as u64;
        }
        let mut seeker = list.seeker();
        let gone = self.removed_tables.iter().filter(|&&table| seeker.at(table, |_, _| ())).count();
        frequency.saturating_sub(gone as u64)
    }

    /// Tables with a term, removed ones among them.
    pub(crate) fn frequency(&self, term: usize) -> u32 {
        self.numbers::<u32>(Section::Frequencies).get(term).copied().unwrap_or(0)
    }

    /// Words of each field of a table.
    pub(crate) fn lengths(&self, table: u32) -> [u32; Field::COUNT] {
        let all: &[[u32; Field::COUNT]] = self.numbers(Section::Lengths);
        all.get(table as usize).copied().unwrap_or_default()
    }

    /// Mean words of each field, of all its tables.
    pub(crate) fn means(&self) -> [f32; Field::COUNT] {
        self.numbers(Section::Means).first().copied().unwrap_or_default()
    }

    /// Those of all tables.
    pub(crate) fn all_lengths(&self) -> &[[u32; Field::COUNT]] {
        self.numbers(Section::Lengths)
    }

    pub(crate) fn vector_bytes(&self, table: u32) -> Option<&[u8]> {
        let each = self.kind.bytes(self.dim);
        self.file.bytes(Section::Vectors).get(table as usize * each..(table as usize + 1) * each)
    }

    pub(crate) fn scale(&self, table: u32) -> Option<f32> {
        self.numbers::<f32>(Section::Scales).get(table as usize).copied()
    }

    /// A table's vector · another `[dim]`.
    pub(crate) fn product(&self, table: u32, query: &[f32]) -> f32 {
        let Some(bytes) = self.vector_bytes(table) else { return 0.0 };
        match self.kind {
            VectorKind::F32 => bytemuck::try_cast_slice(bytes).map_or(0.0, |vector| dot(query, vector)),
            VectorKind::Int8 => {
                let scale = self.scale(table).unwrap_or(0.0);
                bytemuck::try_cast_slice(bytes).map_or(0.0, |vector| dot_int8(query, vector) * scale)
            }
        }
    }

    /// A table's vector `[dim]`.
    pub(crate) fn vector(&self, table: u32) -> Vec<f32> {
        let bytes = self.vector_bytes(table).unwrap_or_default();
        match self.kind {
            VectorKind::F32 => bytemuck::try_cast_slice(bytes).map_or_else(|_| Vec::new(), <[f32]>::to_vec),
            VectorKind::Int8 => {
                let scale = self.scale(table).unwrap_or(0.0);
                bytes.iter().map(|&byte| f32::from(byte as i8) * scale).collect()
            }
        }
    }

    /// All links: key and table, by rising key.
    pub(crate) fn links(&self) -> impl Iterator<Item = (u64, u32)> {
        let keys: &[u64] = self.numbers(Section::LinkKeys);
        keys.iter().copied().zip(self.numbers::<u32>(Section::LinkTables).iter().copied())
    }

    /// The tables with a key, removed ones among them.
    pub(crate) fn linked(&self, key: u64) -> &[u32] {
        let keys: &[u64] = self.numbers(Section::LinkKeys);
        let from = keys.partition_point(|other| *other < key);
        let to = from + keys[from..].partition_point(|other| *other == key);
        self.numbers(Section::LinkTables).get(from..to).unwrap_or_default()
    }
}
