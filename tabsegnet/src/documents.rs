//! Encoded documents kept between runs, in the store's space of documents.
//!
//! The key is the digest of what a document was made from: its bytes, the graph's settings, the
//! encoder. The value ends in a digest of key and content, and is read only where it has it.

use std::path::Path;

use rayon::prelude::*;
use safetensors::SafeTensorError;
use tabsegnet_datasets::prepared::READER;
use tabsegnet_graph::{EdgeType, GraphConfig};
use tabsegnet_store::{Digest, Space, Store, StoreError};

use crate::encoded::EncodedDocument;

/// Changes when the form that is kept or how vectors are made does; with how documents are read [`READER`] does.
const FORMAT: u32 = 4;
/// Bytes that the documents may take together unless a caller sets another limit: 1 GiB.
pub const LIMIT: u64 = 1 << 30;
/// Numbers of a document's vectors beyond which it is not kept: to write and read them takes longer than to make them
/// anew, and at least as much memory as all the rest.
const LARGEST: usize = 1 << 25;
/// Bytes that a task digests.
const CHUNK: usize = 1 << 19;

/// Encoded documents in a [`Store`].
#[derive(Clone)]
pub struct DocumentCache {
    store: Store,
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
        let digest =
            Digest::new().part("document").part(FORMAT.to_le_bytes()).part(READER).part(env!("CARGO_PKG_VERSION"));
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

impl DocumentCache {
    /// Opens the store in the directory `cache`, which is created. `limit` is how many bytes its
    /// documents may take together, [`LIMIT`] unless there is a reason.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open(cache: &Path, limit: u64) -> Result<Self, StoreError> {
        Ok(Self { store: Store::open(cache)?, limit })
    }

    /// Why the store was made anew ([`Store::notice`]).
    pub fn notice(&self) -> Option<String> {
        self.store.notice()
    }

    /// The document of a key, or nothing where it is not kept.
    ///
    /// # Errors
    /// A value that is cut short or changed, or cannot be read; to be made anew.
    pub fn read(&self, key: DocumentKey) -> Result<Option<EncodedDocument>, StoreError> {
        let kept = self.store.read(Space::Documents)?;
        let Some(bytes) = kept.get(&key.0)? else { return Ok(None) };
        let damaged = || self.store.error("read a document", "its bytes do not have their digest".to_owned());
        let document = decode(key, bytes).ok_or_else(damaged)?;
        // Best effort: a store that cannot be written can still be read.
        let _ = self.store.note_use(&key.0);
        Ok(Some(document))
    }

    /// Keeps a document, then removes those that were not used for longest until all fit the limit.
    /// One that alone is larger than the limit is not kept, and none of some hundred thousand nodes.
    ///
    /// # Errors
    /// A store that cannot be written, a full disk.
    pub fn write(&self, key: DocumentKey, document: &EncodedDocument) -> Result<(), StoreError> {
        if document.vectors().len() + document.compared().len() > LARGEST {
            return Ok(());
        }
        let bytes = encode(key, document).map_err(|error| self.store.error("keep a document", error.to_string()))?;
        self.store.keep_within(Space::Documents, &key.0, &bytes, self.limit)
    }
}

fn encode(key: DocumentKey, document: &EncodedDocument) -> Result<Vec<u8>, SafeTensorError> {
    let mut bytes = document.to_bytes()?;
    bytes.extend(digest(key, &bytes));
    Ok(bytes)
}

/// What [`encode`] made, or nothing where the bytes are others.
fn decode(key: DocumentKey, bytes: &[u8]) -> Option<EncodedDocument> {
    let (content, expected) = bytes.split_last_chunk()?;
    let (found, document) = rayon::join(|| digest(key, content), || EncodedDocument::from_bytes(content));
    document.filter(|_| found == *expected)
}

/// SHA-256 over the key and the SHA-256 of each chunk, so that the chunks can be taken at once.
fn digest(key: DocumentKey, bytes: &[u8]) -> [u8; 32] {
    let chunks: Vec<[u8; 32]> = bytes.par_chunks(CHUNK).map(|chunk| Digest::new().part(chunk).bytes()).collect();
    chunks.iter().fold(Digest::new().part(key.0), |digest, chunk| digest.part(chunk)).bytes()
}

#[cfg(test)]
mod tests;
