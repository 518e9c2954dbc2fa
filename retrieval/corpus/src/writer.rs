//! Changing a corpus: tables are added, replaced and removed by the file they are from, and all of it counts at once or not
//! at all.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_document::folders::plain_path;
use tabsegnet_encoder::{Encoder, EncoderConfig, EncoderKind, Precision};
use tabsegnet_store::{FileError, create_dir};

use crate::build::{Batch, merge};
use crate::error::CorpusError;
use crate::fields::{Field, schema_text};
use crate::manifest::{Manifest, SegmentEntry, SourceFile, StoredFile};
use crate::segment::Segment;
use crate::sources::whole_path;
use crate::vectors::VectorKind;

/// How a corpus is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IndexConfig {
    /// How vectors are kept; of a corpus that is there already, its own counts.
    pub vectors: VectorKind,
    /// Megabytes that tables take before they are written as a segment.
    pub memory: usize,
    /// Segments beyond which the smallest are made one.
    pub segments: usize,
}

impl Default for IndexConfig {
    fn default() -> Self {
        Self { vectors: VectorKind::default(), memory: 256, segments: 12 }
    }
}

/// What a change did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// Tables added, those that took the place of others among them.
    pub added: usize,
    /// Tables removed or replaced.
    pub removed: usize,
    /// Tables of the corpus now.
    pub tables: usize,
    /// Its segments.
    pub segments: usize,
}

/// Tables that are prepared together.
const CHUNK: usize = 1024;
const LOCK: &str = "corpus.lock";

/// A corpus that is being changed, by one process at a time. Dropped without [`Writer::commit`], nothing has changed.
pub struct Writer<'e> {
    directory: PathBuf,
    encoder: &'e dyn Encoder,
    config: IndexConfig,
    manifest: Manifest,
    /// Those of the manifest, then those made since.
    segments: Vec<Segment>,
    /// Of each segment its file.
    stored: Vec<StoredFile>,
    /// Of each segment the tables that are removed.
    removed: Vec<BTreeSet<u32>>,
    /// Where each id of this change is: its file.
    added: HashMap<String, u32>,
    /// Names of the files of this change, as they were begun.
    sources: Vec<String>,
    /// The same, each once.
    begun: HashSet<String>,
    /// Tables of segments that are removed since the last file was begun: segment and number.
    replaced: Vec<(usize, u32)>,
    files: BTreeMap<String, SourceFile>,
    /// Names of files by where they lie; some may have gone.
    names: HashMap<PathBuf, String>,
    waiting: Vec<(TableRecord, u32)>,
    batch: Batch,
    /// Tables of the batch and of those that wait that are removed again.
    gone: BTreeSet<u32>,
    texts: Vec<String>,
    change: Change,
    _lock: Lock,
}

impl<'e> Writer<'e> {
    /// Opens a corpus to change it, or begins a new one.
    ///
    /// # Errors
    /// Another process is changing it; it holds vectors of another encoder; it is damaged.
    pub fn open(
        directory: &Path,
        encoder: &'e dyn Encoder,
        encoder_config: &EncoderConfig,
        config: &IndexConfig,
    ) -> Result<Self, CorpusError> {
        for (key, value) in [("memory", config.memory), ("segments", config.segments)] {
            if value == 0 {
                return Err(CorpusError::Setting { key, value: "0".into(), expected: "at least 1" });
            }
        }
        let lock = lock(directory)?;
        let manifest = match Manifest::read(directory) {
            Ok(manifest) => {
                same_encoder(directory, &manifest, encoder)?;
                // The same encoder may lie elsewhere now.
                Manifest { encoder: encoder_config.clone(), ..manifest }
            }
            Err(CorpusError::Missing { .. }) => {
                Manifest::new(encoder_config.clone(), encoder.identity(), encoder.dim(), config.vectors)
            }
            Err(error) => return Err(error),
        };
        clear(directory, &manifest)?;
        let segments = manifest.open(directory)?;
        let files = manifest.files(directory)?;
        let lies = files.iter().filter(|(_, file)| !file.path.is_empty());
        let names = lies.map(|(name, file)| (PathBuf::from(&file.path), name.clone())).collect();
        Ok(Self {
            directory: directory.to_owned(),
            encoder,
            config: config.clone(),
            removed: segments.iter().map(Segment::removed).collect(),
            stored: manifest.segments.iter().map(|entry| entry.file.clone()).collect(),
            files,
            names,
            manifest,
            segments,
            added: HashMap::new(),
            // Tables that are added before a file is begun are of none.
            sources: vec![String::new()],
            begun: HashSet::new(),
            replaced: Vec::new(),
            waiting: Vec::new(),
            batch: Batch::default(),
            gone: BTreeSet::new(),
            texts: Vec::new(),
            change: Change::default(),
            _lock: lock,
        })
    }

    /// What the corpus calls a file: the name that it has it by, where it is the same file however the path is written, else
    /// the path as it is given, without `./`; where another file has that name already, the path from the root.
    pub fn name_of(&self, path: &Path) -> String {
        let whole = whole_path(path);
        if let Some(name) = self.names.get(&whole).filter(|name| self.files.contains_key(*name)) {
            return name.clone();
        }
        let name = plain_path(path).display().to_string();
        // A corpus that came from another machine knows places that are none here.
        let other = self.files.get(&name).is_some_and(|file| Path::new(&file.path).exists());
        if other { whole.display().to_string() } else { name }
    }

    /// Names of the files that a path means: the file itself, or all below a folder.
    pub fn files_of(&self, path: &Path) -> Vec<String> {
        let (whole, plain) = (whole_path(path), plain_path(path));
        let is_meant = |(name, file): &(&String, &SourceFile)| match Path::new(&file.path).starts_with(&whole) {
            false if file.path.is_empty() || !Path::new(&file.path).exists() => Path::new(name).starts_with(&plain),
            below => below,
        };
        self.files.iter().filter(is_meant).map(|(name, _)| name.clone()).collect()
    }

    /// Those of [`Writer::files_of`] that are not on the disk any more.
    pub fn gone_from(&self, path: &Path) -> Vec<String> {
        let is_gone = |name: &String| {
            let lies = self.files.get(name).map_or("", |file| file.path.as_str());
            !Path::new(lies).is_file() && !Path::new(name).is_file()
        };
        self.files_of(path).into_iter().filter(is_gone).collect()
    }

    /// Says where a file lies that has been begun, and in which folders below the one that was given.
    pub(crate) fn lies_at(&mut self, file: &str, path: &Path, folders: &str) {
        if let Some(of) = self.files.get_mut(file) {
            of.path = path.display().to_string();
            folders.clone_into(&mut of.folders);
            self.names.insert(path.to_owned(), file.to_owned());
        }
    }

    /// Names of the files that the corpus has.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Begins a file: its tables of before go, and those added from now on are of it.
    pub fn begin(&mut self, file: &str, sha256: &str) -> usize {
        self.replaced.clear();
        let removed = self.remove(file);
        self.files.insert(file.to_owned(), SourceFile { sha256: sha256.to_owned(), ..SourceFile::default() });
        self.sources.push(file.to_owned());
        self.begun.insert(file.to_owned());
        removed
    }

    /// Takes back what was done since a file was begun: its new tables go, and what they took the place of is there again,
    /// as the corpus `had` the file.
    pub(crate) fn take_back(&mut self, file: &str, had: Option<SourceFile>) {
        let replaced = std::mem::take(&mut self.replaced);
        let taken = self.remove(file);
        self.change.added -= taken;
        self.change.removed -= taken + replaced.len();
        for (segment, table) in replaced {
            if let Some(removed) = self.removed.get_mut(segment) {
                removed.remove(&table);
            }
        }
        if let Some(had) = had {
            self.files.insert(file.to_owned(), had);
        }
    }

    /// What the corpus knows of a file.
    pub(crate) fn file(&self, file: &str) -> Option<&SourceFile> {
        self.files.get(file)
    }

    /// Forgets what a file's content was, so that it is read again the next time.
    pub(crate) fn forget(&mut self, file: &str) {
        forget(&mut self.files, file);
    }

    /// Removes the tables of a file, those added in this change too; how many there were.
    pub fn remove(&mut self, file: &str) -> usize {
        if self.files.remove(file).is_none() {
            return 0;
        }
        let mut count = 0;
        let sources = &self.sources;
        let is_of = |source: u32| sources.get(source as usize).is_some_and(|name| name == file);
        if self.begun.contains(file) {
            self.added.retain(|_, source| !is_of(*source));
            let waiting = self.waiting.iter().map(|(_, source)| *source);
            for (table, source) in (0_u32..).zip(self.batch.sources().iter().copied().chain(waiting)) {
                count += usize::from(is_of(source) && self.gone.insert(table));
            }
        }
        for (at, (segment, removed)) in self.segments.iter().zip(&mut self.removed).enumerate() {
            for &table in segment.of_source(file) {
                if removed.insert(table) {
                    self.replaced.push((at, table));
                    count += 1;
                }
            }
        }
        self.change.removed += count;
        count
    }

    /// Adds a table of the file that was begun last; the names of files of which it takes a table's place, as one of another file
    /// with the same id is replaced, and that file read again the next time: two that are taken in together are told of the id that
    /// both have.
    ///
    /// # Errors
    /// The id came already in this change (the name of the file it came with); the disk.
    pub fn add(
        &mut self,
        table: TableRecord,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Result<Vec<String>, String>, CorpusError> {
        let source = self.sources.len().saturating_sub(1) as u32;
        if let Some(&first) = self.added.get(&table.id) {
            return Ok(Err(self.sources.get(first as usize).cloned().unwrap_or_default()));
        }
        let mut others = Vec::new();
        for (at, (segment, removed)) in self.segments.iter().zip(&mut self.removed).enumerate() {
            for &number in segment.find(&table.id) {
                if (number as usize) < segment.len() && removed.insert(number) {
                    self.replaced.push((at, number));
                    self.change.removed += 1;
                    others.push(segment.source(number).to_owned());
                    forget(&mut self.files, segment.source(number));
                }
            }
        }
        self.added.insert(table.id.clone(), source);
        self.waiting.push((table, source));
        self.change.added += 1;
        if self.waiting.len() >= CHUNK {
            self.take_waiting();
            if self.batch.bytes() >= self.config.memory.saturating_mul(1 << 20) {
                self.flush(progress)?;
            }
        }
        Ok(Ok(others))
    }

    fn take_waiting(&mut self) {
        self.texts.extend(self.waiting.iter().map(|(table, _)| schema_text(table)));
        self.batch.extend(&self.waiting);
        self.waiting.clear();
    }

    /// Writes what waits as a segment. `progress` gets the number of tables done since the last time it was called.
    fn flush(&mut self, progress: &mut dyn FnMut(usize)) -> Result<(), CorpusError> {
        self.take_waiting();
        if self.batch.len() == 0 {
            return Ok(());
        }
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let mut done = 0;
        let vectors = self.encoder.encode(&texts, &mut |texts| {
            progress(texts - done);
            done = texts;
        })?;
        let name = self.manifest.new_name("segment");
        let path = self.directory.join(&name);
        let batch = std::mem::take(&mut self.batch);
        let sha256 = batch.write(&path, &vectors, self.manifest.vectors, &self.sources)?;
        self.stored.push(StoredFile { name, sha256 });
        self.texts.clear();
        self.segments.push(Segment::open(&path, self.manifest.vectors, self.manifest.dim, &[])?);
        self.removed.push(std::mem::take(&mut self.gone));
        Ok(())
    }

    /// Makes everything count. `progress` gets the number of tables done since it was called last.
    ///
    /// # Errors
    /// The disk; the corpus is then as before.
    pub fn commit(mut self, progress: &mut dyn FnMut(usize)) -> Result<Change, CorpusError> {
        self.flush(progress)?;
        let directory = self.directory.clone();
        // With what is removed now.
        let mut entries: Vec<SegmentEntry> = Vec::new();
        let old = std::mem::take(&mut self.manifest.segments);
        let segments = std::mem::take(&mut self.segments);
        let removed = std::mem::take(&mut self.removed);
        let stored = std::mem::take(&mut self.stored);
        let mut opened = Vec::new();
        for (number, ((segment, removed), file)) in segments.into_iter().zip(removed).zip(stored).enumerate() {
            if removed.len() == segment.len() {
                continue;
            }
            let before = old.get(number).and_then(|entry| entry.removed.clone());
            let removed_file = match removed.len() + segment.live() == segment.len() {
                true => before,
                false => Some(self.manifest.write_removed(&directory, &removed)?),
            };
            let entry = SegmentEntry::of(&segment, file, &removed, removed_file);
            opened.push(self.manifest.open_segment(&directory, &entry)?);
            entries.push(entry);
        }
        self.merge_smallest(&mut entries, &mut opened)?;
        self.manifest.segments = entries;
        self.manifest.set_files(&directory, &self.files)?;
        self.manifest.write(&directory)?;
        // It counts now; what cannot be cleared is left to the next writer.
        let _ = clear(&directory, &self.manifest);
        self.change.tables = self.manifest.tables();
        self.change.segments = self.manifest.segments.len();
        Ok(self.change)
    }

    /// Makes one of the smallest segments where there are too many, and anew those of which most is removed.
    fn merge_smallest(
        &mut self,
        entries: &mut Vec<SegmentEntry>,
        opened: &mut Vec<Segment>,
    ) -> Result<(), CorpusError> {
        let mut order: Vec<usize> = (0..opened.len()).collect();
        order.sort_by_key(|&at| opened[at].live());
        let too_many = match opened.len() > self.config.segments {
            true => opened.len() - self.config.segments.div_ceil(2) + 1,
            false => 0,
        };
        let mut chosen: Vec<usize> = order[..too_many].to_vec();
        chosen.extend(order[too_many..].iter().copied().filter(|&at| opened[at].live() * 2 < opened[at].len()));
        if chosen.is_empty() {
            return Ok(());
        }
        chosen.sort_unstable();
        // What is damaged would have a digest of its own again.
        for &at in &chosen {
            self.manifest.same(&self.directory, &entries[at].file)?;
        }
        let name = self.manifest.new_name("segment");
        let path = self.directory.join(&name);
        let sha256 = merge(&chosen.iter().map(|&at| &opened[at]).collect::<Vec<_>>(), &path)?;
        let mut words = [0; Field::COUNT];
        for &at in &chosen {
            words.iter_mut().zip(entries[at].words).for_each(|(sum, words)| *sum += words);
        }
        let tables = chosen.iter().map(|&at| entries[at].tables).sum();
        for &at in chosen.iter().rev() {
            entries.remove(at);
            opened.remove(at);
        }
        let entry = SegmentEntry { file: StoredFile { name, sha256 }, removed: None, tables, words };
        opened.push(self.manifest.open_segment(&self.directory, &entry)?);
        entries.push(entry);
        Ok(())
    }
}

/// A corpus that is locked for changing.
pub(crate) struct Lock(File);

impl Drop for Lock {
    /// Closing the file is not enough: a process that is being started just now has it open too, for a moment.
    fn drop(&mut self) {
        // Where it fails the lock goes with the last one that has the file open.
        let _ = self.0.unlock();
    }
}

/// Whether a folder is a corpus, and not one of somebody's with a file of that name.
pub fn is_corpus(directory: &Path) -> bool {
    Manifest::path(directory).is_file() && directory.join(LOCK).is_file()
}

/// Makes the folder where there is none, and locks it. One that was no corpus has no file that would be taken for a corpus' own.
pub(crate) fn lock(directory: &Path) -> Result<Lock, CorpusError> {
    create_dir(directory)?;
    let is_new = !directory.join(LOCK).exists() && !Manifest::path(directory).exists();
    if let Some(file) = if is_new { own_files(directory)?.pop() } else { None } {
        return Err(CorpusError::NoRoom { file: file.display().to_string() });
    }
    let path = directory.join(LOCK);
    let lock = File::create(&path).map_err(FileError::at(&path, "write"))?;
    match lock.try_lock() {
        Ok(()) => Ok(Lock(lock)),
        Err(TryLockError::WouldBlock) => Err(CorpusError::Locked { directory: directory.display().to_string() }),
        Err(TryLockError::Error(error)) => Err(FileError::at(&path, "lock")(error).into()),
    }
}

/// Marks a file as one that has to be read again.
fn forget(files: &mut BTreeMap<String, SourceFile>, file: &str) {
    if let Some(file) = files.get_mut(file) {
        file.sha256.clear();
    }
}

pub(crate) fn same_encoder(directory: &Path, manifest: &Manifest, encoder: &dyn Encoder) -> Result<(), CorpusError> {
    if manifest.encoder_identity == encoder.identity() && manifest.dim == encoder.dim() {
        return Ok(());
    }
    Err(CorpusError::OtherEncoder {
        directory: directory.display().to_string(),
        of_index: format!("{} ({} of width {})", named(&manifest.encoder), manifest.encoder_identity, manifest.dim),
        given: format!("{} of width {}", encoder.identity(), encoder.dim()),
    })
}

/// What people call an encoder.
fn named(encoder: &EncoderConfig) -> String {
    match (encoder.kind, encoder.precision) {
        (EncoderKind::Static, _) => "the static encoder".to_owned(),
        (EncoderKind::Bert, Precision::Int8) => format!("{} as int8", encoder.model),
        (EncoderKind::Bert, Precision::F32) => format!("{} as f32", encoder.model),
    }
}

/// Removes files of a corpus that the manifest does not name: what changes that were cut off, or are replaced, left.
fn clear(directory: &Path, manifest: &Manifest) -> Result<(), CorpusError> {
    let named: BTreeSet<&str> = manifest.stored().map(|file| file.name.as_str()).collect();
    clear_but(directory, &named)
}

pub(crate) fn clear_but(directory: &Path, named: &BTreeSet<&str>) -> Result<(), CorpusError> {
    for path in own_files(directory)? {
        if !path.file_name().and_then(|name| name.to_str()).is_some_and(|name| named.contains(name)) {
            std::fs::remove_file(&path).map_err(FileError::at(&path, "remove"))?;
        }
    }
    Ok(())
}

/// Files of a folder that have names as a corpus gives them to those that it has many of.
fn own_files(directory: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(FileError::at(directory, "read"))? {
        let path = entry.map_err(FileError::at(directory, "read"))?.path();
        if has_own_name(&path) && path.is_file() {
            found.push(path);
        }
    }
    Ok(found)
}

fn has_own_name(path: &Path) -> bool {
    let is_number = |stem: &str| stem.len() >= 8 && stem.bytes().all(|byte| byte.is_ascii_digit());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = [".segment", ".removed", ".files"].into_iter().find_map(|end| name.strip_suffix(end));
    stem.is_some_and(is_number) || name.starts_with(".writing-")
}

/// Whether a file is one of those that make up a corpus: there may be others in its folder.
pub(crate) fn is_of_corpus(path: &Path) -> bool {
    let Some(folder) = path.parent() else { return false };
    let of_all = [Manifest::path(folder), folder.join(LOCK)];
    (has_own_name(path) || of_all.iter().any(|own| own == path)) && is_corpus(folder)
}
