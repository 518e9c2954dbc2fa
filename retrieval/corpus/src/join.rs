//! Putting corpora together as one.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

use tabsegnet_store::{FileError, write_atomic};

use crate::error::CorpusError;
use crate::manifest::{Manifest, SegmentEntry, SourceFile, StoredFile};
use crate::segment::Segment;
use crate::writer::{Change, clear_but, lock};

/// Puts corpora together as one, such as those that several machines made of a part of the tables each: their segments are
/// taken as they are. Of files with one name and of tables with one id those of the first corpus count, as where one index is made
/// of all; with the change, what was left out so, in words.
///
/// # Errors
/// Corpora of different encoders or forms of vectors; a corpus that is there already; the disk.
pub fn join(directory: &Path, parts: &[PathBuf]) -> Result<(Change, Vec<String>), CorpusError> {
    // Before anything is made.
    for part in parts {
        Manifest::read(part)?;
    }
    let expected = "a directory without a corpus";
    let _lock = lock(directory)?;
    if Manifest::path(directory).exists() {
        return Err(CorpusError::Setting { key: "output", value: directory.display().to_string(), expected });
    }
    // What a call that failed left may be the very files of the parts, by another name.
    clear_but(directory, &BTreeSet::new())?;
    let mut joined: Option<Manifest> = None;
    let (mut change, mut problems) = (Change::default(), Vec::new());
    // Of each table the file that it is from.
    let mut ids: HashMap<String, String> = HashMap::new();
    let mut removed: Vec<BTreeSet<u32>> = Vec::new();
    let mut files: BTreeMap<String, SourceFile> = BTreeMap::new();
    for part in parts {
        let manifest = Manifest::read(part)?;
        let into =
            joined.get_or_insert_with(|| Manifest { segments: Vec::new(), files: None, next: 0, ..manifest.clone() });
        if (&into.encoder_identity, into.dim, into.vectors)
            != (&manifest.encoder_identity, manifest.dim, manifest.vectors)
        {
            return Err(CorpusError::OtherEncoder {
                directory: part.display().to_string(),
                of_index: format!("{} ({})", manifest.encoder_identity, manifest.dim),
                given: format!("{} ({}) as in the first", into.encoder_identity, into.dim),
            });
        }
        let mut twice: BTreeSet<String> = BTreeSet::new();
        for (name, file) in manifest.files(part)? {
            match files.entry(name) {
                Entry::Vacant(place) => drop(place.insert(file)),
                Entry::Occupied(first) => {
                    let (name, part) = (first.key(), part.display());
                    // One file that two have is no loss.
                    if first.get().sha256 != file.sha256 || file.sha256.is_empty() {
                        problems.push(format!(
                            "{part}: {name}: another file of this name is in an earlier corpus; index one of them by another path"
                        ));
                    }
                    twice.insert(name.clone());
                }
            }
        }
        for (entry, segment) in manifest.segments.iter().zip(manifest.open(part)?) {
            let name = into.new_name("segment");
            let (from, to) = (part.join(&entry.file.name), directory.join(&name));
            if std::fs::hard_link(&from, &to).is_err() {
                copy(&from, &to)?;
            }
            let mut gone = segment.removed();
            for table in (0..segment.len() as u32).filter(|&table| segment.is_live(table as usize)) {
                let (id, source) = (segment.id(table), segment.source(table));
                match ids.get(id) {
                    _ if twice.contains(source) => {}
                    None => {
                        ids.insert(id.to_owned(), source.to_owned());
                        change.added += 1;
                        continue;
                    }
                    Some(first) => {
                        problems.push(format!("{source}: table {id:?}: its id is taken by a table of {first}"));
                        // Read again when it is indexed, to be told so again.
                        for file in [first.as_str(), source] {
                            files.entry(file.to_owned()).and_modify(|file| file.sha256.clear());
                        }
                    }
                }
                gone.insert(table);
            }
            removed.push(gone);
            let file = StoredFile { name, sha256: entry.file.sha256.clone() };
            into.segments.push(SegmentEntry { file, ..entry.clone() });
        }
    }
    let expected = "at least one corpus";
    let mut manifest = joined.ok_or(CorpusError::Setting { key: "join", value: "empty".into(), expected })?;
    for (entry, removed) in std::mem::take(&mut manifest.segments).into_iter().zip(&removed) {
        let segment = Segment::open(&directory.join(&entry.file.name), manifest.vectors, manifest.dim, &[])?;
        let removed_file = match removed.is_empty() {
            true => None,
            false => Some(manifest.write_removed(directory, removed)?),
        };
        manifest.segments.push(SegmentEntry::of(&segment, entry.file, removed, removed_file));
    }
    manifest.segments.retain(|entry| entry.tables > 0);
    manifest.set_files(directory, &files)?;
    manifest.write(directory)?;
    change.tables = manifest.tables();
    change.segments = manifest.segments.len();
    Ok((change, problems))
}

/// Copies a file to a name that none has, whole or not at all.
fn copy(from: &Path, to: &Path) -> Result<(), FileError> {
    let mut file = File::open(from).map_err(FileError::at(from, "read"))?;
    write_atomic(to, |out| std::io::copy(&mut file, out).map(|_| ()).map_err(FileError::at(to, "write")))
}
