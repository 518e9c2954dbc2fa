//! Encoded documents kept between runs: one file each in the directory `documents` of the cache.
//!
//! A file is named after the digest of what it was made from: the document's bytes, the graph's
//! settings, the encoder. It is written whole or not at all and read only where it has the digests
//! that it says. Several processes may use one directory: who finds a file has it whole, and
//! whoever removes it meanwhile takes it from the next one only.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tabsegnet_graph::{EdgeType, GraphConfig};
use tabsegnet_store::{Digest, FileError, create_dir, read_bytes, write_bytes_atomic};

use crate::encoded::EncodedDocument;

/// Changes when the same bytes and settings give another graph, other texts or other vectors.
const FORMAT: u32 = 2;
/// Bytes that the files may take together unless said: 1 GiB.
pub const LIMIT: u64 = 1 << 30;
const EXTENSION: &str = "doc";
/// After this time a half-written file is what a killed program left.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Encoded documents in a directory.
#[derive(Debug, Clone)]
pub struct DocumentCache {
    directory: PathBuf,
    limit: u64,
}

/// Of what an encoded document was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentKey([u8; 32]);

impl DocumentKey {
    /// `source` is the document's own bytes, `reading` whatever else says how they are read (name,
    /// form, known headers), `encoder` the identity of the encoder.
    /// `compares` is whether the features want vectors of header paths and tables too.
    pub fn new(source: &[u8], reading: &str, graph: &GraphConfig, encoder: &str, compares: bool) -> Self {
        // Every key is named here, so that none can be added without a part of its own.
        let GraphConfig { cell_text } = graph;
        let digest = Digest::new().part("document").part(FORMAT.to_le_bytes()).part(env!("CARGO_PKG_VERSION"));
        let edge_types = EdgeType::ALL.map(EdgeType::name).join(" ");
        let digest = digest
            .part(edge_types)
            .part(source)
            .part(reading)
            .part(format!("{cell_text:?}"))
            .part(encoder)
            .part([u8::from(compares)]);
        Self(digest.bytes())
    }
}

/// A file that is there but cannot be trusted, or not be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct Damaged {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub reason: String,
}

impl DocumentCache {
    /// The directory `documents` below `cache`, which is created. `limit` is how many bytes its
    /// files may take together, [`LIMIT`] unless there is a reason.
    ///
    /// # Errors
    /// A directory that cannot be created.
    pub fn open(cache: &Path, limit: u64) -> Result<Self, FileError> {
        let directory = cache.join("documents");
        create_dir(&directory)?;
        Ok(Self { directory, limit })
    }

    fn path(&self, key: DocumentKey) -> PathBuf {
        let name = key.0.iter().fold(String::new(), |name, byte| name + &format!("{byte:02x}"));
        self.directory.join(name).with_extension(EXTENSION)
    }

    /// The document of a key, or nothing where it is not kept.
    ///
    /// # Errors
    /// A file that is cut short, changed or foreign, or cannot be read; to be made anew.
    pub fn read(&self, key: DocumentKey) -> Result<Option<EncodedDocument>, Damaged> {
        let path = self.path(key);
        let damaged = |reason: String| Damaged { file: path.display().to_string(), reason };
        let bytes = match read_bytes(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.reason.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(damaged(error.reason.to_string())),
        };
        let document = EncodedDocument::from_bytes(&bytes, &key.0).map_err(|reason| damaged(reason.into()))?;
        // Used last now. Best effort: a cache that cannot be written can still be read.
        let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Ok(Some(document))
    }

    /// Keeps a document, then removes those that were not used for longest until all fit the limit.
    /// One that alone is larger than the limit is not kept.
    ///
    /// # Errors
    /// A directory that cannot be written, a full disk.
    pub fn write(&self, key: DocumentKey, document: &EncodedDocument) -> Result<(), FileError> {
        let bytes = document.to_bytes(&key.0);
        if bytes.len() as u64 > self.limit {
            return Ok(());
        }
        let path = self.path(key);
        write_bytes_atomic(&path, &bytes)?;
        self.make_room(&path)
    }

    fn make_room(&self, newest: &Path) -> Result<(), FileError> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(FileError::at(&self.directory, "read"))? {
            // What another process has removed meanwhile takes no room.
            let Ok(entry) = entry else { continue };
            let Ok((metadata, modified)) =
                entry.metadata().and_then(|metadata| Ok((metadata.clone(), metadata.modified()?)))
            else {
                continue;
            };
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                kept.push((modified, metadata.len(), path));
            } else if entry.file_name().to_string_lossy().starts_with(".writing-")
                && modified.elapsed().is_ok_and(|age| age > ABANDONED)
            {
                let _ = fs::remove_file(path);
            }
        }
        let mut size: u64 = kept.iter().map(|(_, size, _)| size).sum();
        kept.sort();
        for (_, own, path) in kept.iter().filter(|(_, _, path)| path != newest) {
            if size <= self.limit {
                break;
            }
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(FileError::at(path, "remove")(error));
                }
                _ => size -= own,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
