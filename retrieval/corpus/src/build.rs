//! Segments: made of tables in memory, or of other segments.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;

use rayon::prelude::*;
use tabsegnet_datasets::tables::TableRecord;

use crate::error::{CorpusError, damaged};
use crate::fields::{Field, terms};
use crate::file::{Section, Sections, bytes_of, write_segment};
use crate::links;
use crate::postings::{Posting, PostingList};
use crate::scores::{Bm25, means};
use crate::segment::Segment;
use crate::vectors::VectorKind;

/// A table as it goes into a segment.
struct Prepared {
    json: Vec<u8>,
    id: String,
    words: BTreeMap<String, [u32; Field::COUNT]>,
    lengths: [u32; Field::COUNT],
    keys: Vec<u64>,
}

impl Prepared {
    fn of(table: &TableRecord) -> Self {
        let mut words: BTreeMap<String, [u32; Field::COUNT]> = BTreeMap::new();
        let mut lengths = [0_u32; Field::COUNT];
        for (number, field) in Field::ALL.into_iter().enumerate() {
            field.texts(table, |text| {
                for term in terms(text) {
                    lengths[number] = lengths[number].saturating_add(1);
                    let counts = words.entry(term).or_default();
                    counts[number] = counts[number].saturating_add(1);
                }
            });
        }
        // Strings and lists of them: nothing that JSON does not have.
        let json = serde_json::to_vec(table).unwrap_or_default();
        Self { json, id: table.id.clone(), words, lengths, keys: links::keys(table) }
    }
}

/// Tables that will be a segment.
#[derive(Default)]
pub(crate) struct Batch {
    records: Vec<u8>,
    record_offsets: Vec<u64>,
    ids: Vec<String>,
    sources: Vec<u32>,
    terms: HashMap<String, PostingList>,
    lengths: Vec<[u32; Field::COUNT]>,
    links: Vec<(u64, u32)>,
    bytes: usize,
}

impl Batch {
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The number of each table's source.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds tables, each with the number of its source.
    pub fn extend(&mut self, tables: &[(TableRecord, u32)]) {
        let prepared: Vec<Prepared> = tables.par_iter().map(|(table, _)| Prepared::of(table)).collect();
        for (table, (_, source)) in prepared.into_iter().zip(tables) {
            let number = self.ids.len() as u32;
            self.record_offsets.push(self.records.len() as u64);
            self.records.extend(&table.json);
            self.bytes += table.json.len() + table.id.len() + 16 * table.keys.len() + 4 * Field::COUNT + 64;
            for (word, counts) in table.words {
                let list = match self.terms.get_mut(&word) {
                    Some(list) => list,
                    None => {
                        self.bytes += word.len() + 120;
                        self.terms.entry(word).or_default()
                    }
                };
                let before = list.bytes.len();
                list.push(&Posting { table: number, counts });
                self.bytes += 2 * (list.bytes.len() - before);
            }
            self.ids.push(table.id);
            self.sources.push(*source);
            self.lengths.push(table.lengths);
            self.links.extend(table.keys.into_iter().map(|key| (key, number)));
        }
    }

    /// Writes the segment; `vectors` `[tables, dim]` are the tables'. Its SHA-256.
    pub fn write(
        mut self,
        path: &Path,
        vectors: &[f32],
        kind: VectorKind,
        source_names: &[String],
    ) -> Result<String, CorpusError> {
        self.record_offsets.push(self.records.len() as u64);
        let mut words: Vec<(String, PostingList)> = self.terms.into_iter().collect();
        words.par_sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let tables = self.ids.len();
        let (packed, scales) = kind.pack(vectors, tables);
        let name_of = |source: u32| source_names.get(source as usize).map_or("", String::as_str);
        write_segment(path, |mut out| {
            out.write(Section::Records, &self.records)?;
            out.write(Section::RecordOffsets, bytes_of(&self.record_offsets))?;
            out.begin(Section::Postings)?;
            let mut dictionary = Dictionary::of(&self.lengths);
            for (word, list) in &words {
                dictionary.write_list(&mut out, word, list)?;
            }
            dictionary.write(&mut out)?;
            write_ids(&mut out, &self.ids)?;
            write_sources(&mut out, self.sources.iter().map(|&source| name_of(source)))?;
            out.write(Section::Vectors, &packed)?;
            out.write(Section::Scales, bytes_of(&scales))?;
            write_links(&mut out, self.links)?;
            out.finish(tables)
        })
    }
}

/// The terms of a segment as they are written.
struct Dictionary<'l> {
    lengths: &'l [[u32; Field::COUNT]],
    means: [f32; Field::COUNT],
    terms: Vec<u8>,
    term_offsets: Vec<u64>,
    posting_offsets: Vec<u64>,
    postings: u64,
    frequencies: Vec<u32>,
}

impl<'l> Dictionary<'l> {
    /// For tables whose fields have so many words.
    fn of(lengths: &'l [[u32; Field::COUNT]]) -> Self {
        Self {
            means: means(lengths.iter().map(|of| of.map(u64::from)), lengths.len()),
            lengths,
            terms: Vec::new(),
            term_offsets: Vec::new(),
            posting_offsets: Vec::new(),
            postings: 0,
            frequencies: Vec::new(),
        }
    }

    /// Writes where a term stands.
    fn write_list<W: Write>(&mut self, out: &mut Sections<W>, word: &str, list: &PostingList) -> std::io::Result<()> {
        let bm25 = Bm25::new(&self.means);
        let length = |table: u32, field: usize| self.lengths.get(table as usize).map_or(0, |of| of[field]);
        let blocks = list.blocks(|table, field, count| bm25.of(1.0, field, count, length(table, field)));
        out.push(Section::Postings, &blocks)?;
        out.push(Section::Postings, &list.bytes)?;
        self.term_offsets.push(self.terms.len() as u64);
        self.terms.extend(word.as_bytes());
        self.posting_offsets.push(self.postings);
        self.postings += (blocks.len() + list.bytes.len()) as u64;
        self.frequencies.push(list.tables);
        Ok(())
    }

    fn write<W: Write>(mut self, out: &mut Sections<W>) -> std::io::Result<()> {
        self.term_offsets.push(self.terms.len() as u64);
        self.posting_offsets.push(self.postings);
        out.write(Section::Terms, &self.terms)?;
        out.write(Section::TermOffsets, bytes_of(&self.term_offsets))?;
        out.write(Section::PostingOffsets, bytes_of(&self.posting_offsets))?;
        out.write(Section::Frequencies, bytes_of(&self.frequencies))?;
        out.write(Section::Lengths, bytes_of(self.lengths))?;
        out.write(Section::Means, bytes_of(&self.means))
    }
}

fn write_ids<W: Write>(out: &mut Sections<W>, ids: &[String]) -> std::io::Result<()> {
    let mut offsets = vec![0_u64];
    let mut at = 0;
    out.begin(Section::Ids)?;
    for id in ids {
        out.push(Section::Ids, id.as_bytes())?;
        at += id.len() as u64;
        offsets.push(at);
    }
    out.write(Section::IdOffsets, bytes_of(&offsets))?;
    let mut order: Vec<u32> = (0..ids.len() as u32).collect();
    order.sort_unstable_by_key(|&table| &ids[table as usize]);
    out.write(Section::IdOrder, bytes_of(&order))
}

/// The file of each table: names by their first use, so that the same tables give the same bytes.
fn write_sources<'s, W: Write>(out: &mut Sections<W>, of_tables: impl Iterator<Item = &'s str>) -> std::io::Result<()> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    let of: Vec<u32> = of_tables
        .map(|name| {
            *numbers.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            })
        })
        .collect();
    out.write(Section::Sources, bytes_of(&of))?;
    out.write(Section::SourceNames, &serde_json::to_vec(&names)?)
}

fn write_links<W: Write>(out: &mut Sections<W>, mut links: Vec<(u64, u32)>) -> std::io::Result<()> {
    links.par_sort_unstable();
    let (keys, tables): (Vec<u64>, Vec<u32>) = links.into_iter().unzip();
    out.write(Section::LinkKeys, bytes_of(&keys))?;
    out.write(Section::LinkTables, bytes_of(&tables))
}

/// Writes one segment of several, in order, without the tables that are removed; its SHA-256.
pub(crate) fn merge(segments: &[&Segment], path: &Path) -> Result<String, CorpusError> {
    // What each table's number becomes.
    let mut tables = 0_u32;
    let mut renumbered: Vec<Vec<Option<u32>>> = Vec::with_capacity(segments.len());
    for segment in segments {
        let of_segment = (0..segment.len()).map(|table| {
            segment.is_live(table).then(|| {
                tables += 1;
                tables - 1
            })
        });
        renumbered.push(of_segment.collect());
    }
    let live = || {
        segments.iter().zip(&renumbered).flat_map(|(segment, now)| {
            now.iter().enumerate().filter(|(_, now)| now.is_some()).map(move |(table, _)| (*segment, table as u32))
        })
    };
    let lengths: Vec<[u32; Field::COUNT]> = live().map(|(segment, table)| segment.lengths(table)).collect();
    let broken = || std::io::Error::other("a segment that it is made of is damaged");
    write_segment(path, |mut out| {
        let mut offsets = vec![0_u64];
        out.begin(Section::Records)?;
        for (segment, table) in live() {
            let bytes = segment.record_bytes(table).ok_or_else(broken)?;
            out.push(Section::Records, bytes)?;
            offsets.push(offsets[offsets.len() - 1] + bytes.len() as u64);
        }
        out.write(Section::RecordOffsets, bytes_of(&offsets))?;

        out.begin(Section::Postings)?;
        let mut dictionary = Dictionary::of(&lengths);
        let mut at = vec![0_usize; segments.len()];
        let mut list = PostingList::default();
        while let Some(word) = segments.iter().zip(&at).filter_map(|(segment, &at)| segment.term(at)).min() {
            list.clear();
            for ((segment, at), now) in segments.iter().zip(&mut at).zip(&renumbered) {
                if segment.term(*at) != Some(word) {
                    continue;
                }
                for posting in segment.postings(*at).postings() {
                    if let Some(table) = now.get(posting.table as usize).copied().flatten() {
                        list.push(&Posting { table, ..posting });
                    }
                }
                *at += 1;
            }
            if list.tables > 0 {
                dictionary.write_list(&mut out, word, &list)?;
            }
        }
        dictionary.write(&mut out)?;

        let ids: Vec<String> = live().map(|(segment, table)| segment.id(table).to_owned()).collect();
        write_ids(&mut out, &ids)?;
        write_sources(&mut out, live().map(|(segment, table)| segment.source(table)))?;
        out.begin(Section::Vectors)?;
        for (segment, table) in live() {
            out.push(Section::Vectors, segment.vector_bytes(table).ok_or_else(broken)?)?;
        }
        let scales: Vec<f32> = live().filter_map(|(segment, table)| segment.scale(table)).collect();
        out.write(Section::Scales, bytes_of(&scales))?;
        let links = segments.iter().zip(&renumbered).flat_map(|(segment, now)| {
            segment.links().filter_map(|(key, table)| Some((key, now.get(table as usize).copied().flatten()?)))
        });
        write_links(&mut out, links.collect())?;
        out.finish(tables as usize)
    })
    .map_err(|error| match error {
        CorpusError::File(file) if file.reason.to_string().contains("is damaged") => damaged(path, file.reason),
        other => other,
    })
}
