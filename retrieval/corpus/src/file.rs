//! The file of a segment: sections one after the other, at multiples of 64 bytes, and at the end where each lies, so that it
//! can be written as its content comes. All numbers are little-endian. A file that was cut off has no end to read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use memmap2::Mmap;
use tabsegnet_store::{FileError, sha256_file};

use crate::error::{CorpusError, damaged};

/// A part of a segment's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Section {
    /// JSON of each table.
    Records,
    /// `[tables + 1]` u64: where each begins.
    RecordOffsets,
    /// Ids, one after the other.
    Ids,
    /// `[tables + 1]` u64
    IdOffsets,
    /// `[tables]` u32: tables by rising id.
    IdOrder,
    /// `[tables]` u32: the number of the file that each is from.
    Sources,
    /// JSON list of the files.
    SourceNames,
    /// Terms, rising.
    Terms,
    /// `[terms + 1]` u64
    TermOffsets,
    /// For each term where it stands (`postings.rs`), with blocks whose bounds are those of BM25 by `Means`.
    Postings,
    /// `[terms + 1]` u64
    PostingOffsets,
    /// `[terms]` u32: tables with the term.
    Frequencies,
    /// `[tables, fields]` u32: words of each field.
    Lengths,
    /// `[fields]` f32: mean words of each field.
    Means,
    /// `[tables, dim]` f32 or i8.
    Vectors,
    /// `[tables]` f32: what i8 is multiplied by; empty for f32.
    Scales,
    /// `[links]` u64, rising: what tables share (`links.rs`).
    LinkKeys,
    /// `[links]` u32: the table of each.
    LinkTables,
}

const SECTIONS: usize = Section::LinkTables as usize + 1;
const ALIGNMENT: u64 = 64;
const MAGIC: [u8; 8] = *b"TSGSEG02";
/// The sections' offsets and lengths, how many tables, and what the file is.
const END: usize = SECTIONS * 16 + 8 + MAGIC.len();

/// Writes the sections of a segment, in any order, each once.
pub(crate) struct Sections<W: Write> {
    out: W,
    at: u64,
    places: [(u64, u64); SECTIONS],
}

impl<W: Write> Sections<W> {
    pub fn new(out: W) -> Self {
        Self { out, at: 0, places: [(0, 0); SECTIONS] }
    }

    /// Begins a section; what is written until the next one begins is its content.
    pub fn begin(&mut self, section: Section) -> io::Result<()> {
        let padding = self.at.next_multiple_of(ALIGNMENT) - self.at;
        self.out.write_all(&[0; ALIGNMENT as usize][..padding as usize])?;
        self.at += padding;
        self.places[section as usize] = (self.at, 0);
        Ok(())
    }

    pub fn push(&mut self, section: Section, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        self.places[section as usize].1 += bytes.len() as u64;
        Ok(())
    }

    /// A whole section.
    pub fn write(&mut self, section: Section, bytes: &[u8]) -> io::Result<()> {
        self.begin(section)?;
        self.push(section, bytes)
    }

    pub fn finish(mut self, tables: usize) -> io::Result<()> {
        for (offset, length) in self.places {
            self.out.write_all(&offset.to_le_bytes())?;
            self.out.write_all(&length.to_le_bytes())?;
        }
        self.out.write_all(&(tables as u64).to_le_bytes())?;
        self.out.write_all(&MAGIC)
    }
}

/// Little-endian bytes of numbers.
pub(crate) fn bytes_of<T: bytemuck::NoUninit>(numbers: &[T]) -> &[u8] {
    const { assert!(cfg!(target_endian = "little"), "segments are written as memory has them") };
    bytemuck::cast_slice(numbers)
}

/// A segment's file as it lies on the disk.
#[derive(Debug)]
pub(crate) struct MappedFile {
    map: Mmap,
    places: [(usize, usize); SECTIONS],
    tables: usize,
}

impl MappedFile {
    pub fn open(path: &Path) -> Result<Self, CorpusError> {
        let file = File::open(path).map_err(FileError::at(path, "read"))?;
        // SAFETY: nothing changes a segment's file once it has its name: writers write others and rename them.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(FileError::at(path, "map"))?;
        let Some(at) = map.len().checked_sub(END).filter(|_| map.ends_with(&MAGIC)) else {
            return Err(damaged(path, "is no whole segment of a corpus"));
        };
        let number = |at: usize| -> u64 {
            map.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(u64::MAX, u64::from_le_bytes)
        };
        let mut places = [(0, 0); SECTIONS];
        for (section, place) in places.iter_mut().enumerate() {
            let (offset, length) = (number(at + section * 16), number(at + section * 16 + 8));
            let end = offset.checked_add(length).filter(|end| *end <= at as u64);
            if end.is_none() || !offset.is_multiple_of(ALIGNMENT) {
                return Err(damaged(path, format!("section {section} lies outside of it")));
            }
            *place = (offset as usize, length as usize);
        }
        let tables = number(at + SECTIONS * 16) as usize;
        Ok(Self { map, places, tables })
    }

    pub fn tables(&self) -> usize {
        self.tables
    }

    pub fn bytes(&self, section: Section) -> &[u8] {
        let (offset, length) = self.places[section as usize];
        &self.map[offset..offset + length]
    }

    /// A section's numbers; `None` where its bytes are no whole number of them.
    pub fn numbers<T: bytemuck::AnyBitPattern>(&self, section: Section) -> Option<&[T]> {
        bytemuck::try_cast_slice(self.bytes(section)).ok()
    }
}

/// Writes a segment's file whole or not at all; its SHA-256.
pub(crate) fn write_segment(
    path: &Path,
    write: impl FnOnce(Sections<&mut BufWriter<&File>>) -> io::Result<()>,
) -> Result<String, CorpusError> {
    tabsegnet_store::write_atomic(path, |out| {
        write(Sections::new(out)).map_err(|error| CorpusError::File(FileError::at(path, "write")(error)))
    })?;
    Ok(sha256_file(path)?)
}
