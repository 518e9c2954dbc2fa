//! `corpus.json`: which segments a corpus has. It is replaced whole, so that a reader sees the corpus before a change or
//! after it, and a change that is cut off is none. The files that tables are from are a list of its own, which changes
//! alone read: a corpus of very many files opens as one of few.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabsegnet_encoder::EncoderConfig;
use tabsegnet_store::{FileError, read_bytes, read_text, sha256_file, write_bytes_atomic};

use crate::error::{CorpusError, damaged};
use crate::fields::Field;
use crate::file::bytes_of;
use crate::segment::Segment;
use crate::vectors::VectorKind;

const FILE: &str = "corpus.json";
/// The version of a corpus on the disk, raised when a file's content changes its meaning.
pub const FORMAT: u64 = 5;

/// What a corpus is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub(crate) format: u64,
    /// The encoder of its vectors.
    pub encoder: EncoderConfig,
    /// What that encoder's vectors depend on ([`tabsegnet_encoder::Encoder::identity`]).
    pub encoder_identity: String,
    /// Width of a vector.
    pub dim: usize,
    /// How vectors are kept.
    pub vectors: VectorKind,
    /// The segments, oldest first.
    pub segments: Vec<SegmentEntry>,
    /// The list of the files that tables are from; none where it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<StoredFile>,
    /// The number of the next segment.
    pub(crate) next: u64,
}

/// A file of a corpus; once it has its name nothing changes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredFile {
    /// Its name in the corpus' folder.
    pub name: String,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// A file that tables are from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// SHA-256 of its content; empty where it has to be read again, or is no file.
    pub sha256: String,
    /// Where it lay, from the root; empty where it is no file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The folders in which it lies below the one that was given, with `/` between.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folders: String,
}

/// A segment of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentEntry {
    /// Its file.
    pub file: StoredFile,
    /// The file with the numbers of removed tables, where there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<StoredFile>,
    /// Tables that are not removed.
    pub tables: usize,
    /// Words of their fields.
    pub words: [u64; Field::COUNT],
}

impl SegmentEntry {
    /// What is to be said of a segment without the tables `removed`, which a file of their own names.
    pub(crate) fn of(
        segment: &Segment,
        file: StoredFile,
        removed: &BTreeSet<u32>,
        removed_file: Option<StoredFile>,
    ) -> Self {
        let mut words = [0_u64; Field::COUNT];
        for (table, lengths) in (0_u32..).zip(segment.all_lengths()) {
            if !removed.contains(&table) {
                words.iter_mut().zip(lengths).for_each(|(sum, &length)| *sum += u64::from(length));
            }
        }
        Self { file, removed: removed_file, tables: segment.len() - removed.len(), words }
    }
}

impl Manifest {
    pub(crate) fn new(encoder: EncoderConfig, identity: &str, dim: usize, vectors: VectorKind) -> Self {
        Self {
            format: FORMAT,
            encoder,
            encoder_identity: identity.to_owned(),
            dim,
            vectors,
            segments: Vec::new(),
            files: None,
            next: 0,
        }
    }

    pub(crate) fn path(directory: &Path) -> PathBuf {
        directory.join(FILE)
    }

    /// Reads that of a directory.
    ///
    /// # Errors
    /// There is none, or it is of another version.
    pub fn read(directory: &Path) -> Result<Self, CorpusError> {
        let path = Self::path(directory);
        let text = match read_text(&path) {
            Ok(text) => text,
            Err(error) if error.reason.kind() == std::io::ErrorKind::NotFound => {
                return Err(CorpusError::Missing { directory: directory.display().to_string() });
            }
            Err(error) if error.reason.kind() == std::io::ErrorKind::NotADirectory => {
                return Err(CorpusError::NoFolder { file: directory.display().to_string() });
            }
            Err(error) => return Err(error.into()),
        };
        #[derive(Deserialize)]
        struct Version {
            format: u64,
        }
        let version: Version = serde_json::from_str(&text).map_err(|error| damaged(&path, error))?;
        if version.format != FORMAT {
            let file = path.display().to_string();
            return Err(CorpusError::OtherVersion { file, found: version.format, expected: FORMAT });
        }
        let manifest: Self = serde_json::from_str(&text).map_err(|error| damaged(&path, error))?;
        // Names are joined to the directory: nothing outside is read or removed.
        for StoredFile { name, .. } in manifest.stored() {
            if Path::new(name).file_name().is_none_or(|file| file != name.as_str()) {
                return Err(damaged(&path, format!("{name:?} is no file's name")));
            }
        }
        Ok(manifest)
    }

    /// All files of the corpus beside `corpus.json`.
    pub fn stored(&self) -> impl Iterator<Item = &StoredFile> {
        let of_segments = self.segments.iter().flat_map(|entry| std::iter::once(&entry.file).chain(&entry.removed));
        of_segments.chain(&self.files)
    }

    /// Reads all files and compares them with their digests; what is wrong, a file each. Opening a corpus looks at lengths
    /// alone.
    pub fn check(&self, directory: &Path) -> Vec<CorpusError> {
        self.stored().filter_map(|file| self.same(directory, file).err()).collect()
    }

    /// That a file is as it was written.
    pub(crate) fn same(&self, directory: &Path, StoredFile { name, sha256 }: &StoredFile) -> Result<(), CorpusError> {
        let path = directory.join(name);
        match sha256_file(&path)? {
            found if found == *sha256 => Ok(()),
            found => Err(damaged(&path, format!("its content has SHA-256 {found}, expected {sha256}"))),
        }
    }

    pub(crate) fn write(&self, directory: &Path) -> Result<(), CorpusError> {
        let path = Self::path(directory);
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| damaged(&path, error))?;
        Ok(write_bytes_atomic(&path, &bytes)?)
    }

    /// A name that no file of the corpus has had.
    pub(crate) fn new_name(&mut self, end: &str) -> String {
        self.next += 1;
        format!("{:08}.{end}", self.next)
    }

    /// Writes the numbers of removed tables into a new file; its name.
    pub(crate) fn write_removed(&mut self, directory: &Path, removed: &BTreeSet<u32>) -> Result<StoredFile, FileError> {
        let name = self.new_name("removed");
        let numbers: Vec<u32> = removed.iter().copied().collect();
        let path = directory.join(&name);
        write_bytes_atomic(&path, bytes_of(&numbers))?;
        Ok(StoredFile { sha256: sha256_file(&path)?, name })
    }

    /// The files that tables are from, by name as it was given.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn files(&self, directory: &Path) -> Result<BTreeMap<String, SourceFile>, CorpusError> {
        let Some(StoredFile { name, .. }) = &self.files else { return Ok(BTreeMap::new()) };
        let path = directory.join(name);
        serde_json::from_slice(&read_bytes(&path)?).map_err(|error| damaged(&path, error))
    }

    /// Writes the list of files into a new file, where it is not the one that is there.
    pub(crate) fn set_files(
        &mut self,
        directory: &Path,
        files: &BTreeMap<String, SourceFile>,
    ) -> Result<(), CorpusError> {
        if self.files(directory)? == *files {
            return Ok(());
        }
        let name = self.new_name("files");
        let path = directory.join(&name);
        let bytes = serde_json::to_vec(files).map_err(|error| damaged(&path, error))?;
        write_bytes_atomic(&path, &bytes)?;
        self.files = Some(StoredFile { sha256: sha256_file(&path)?, name });
        Ok(())
    }

    /// Opens the segments.
    pub(crate) fn open(&self, directory: &Path) -> Result<Vec<Segment>, CorpusError> {
        self.segments.iter().map(|entry| self.open_segment(directory, entry)).collect()
    }

    pub(crate) fn open_segment(&self, directory: &Path, entry: &SegmentEntry) -> Result<Segment, CorpusError> {
        let removed = match &entry.removed {
            Some(file) => {
                let path = directory.join(&file.name);
                let bytes = read_bytes(&path)?;
                let (numbers, rest) = bytes.as_chunks::<4>();
                if !rest.is_empty() {
                    return Err(damaged(&path, "is cut off"));
                }
                numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
            }
            None => Vec::new(),
        };
        let segment = Segment::open(&directory.join(&entry.file.name), self.vectors, self.dim, &removed)?;
        if segment.live() != entry.tables {
            let message = format!("holds {} tables, expected {}", segment.live(), entry.tables);
            return Err(damaged(segment.path(), message));
        }
        Ok(segment)
    }

    /// Tables of all segments.
    pub fn tables(&self) -> usize {
        self.segments.iter().map(|entry| entry.tables).sum()
    }
}
