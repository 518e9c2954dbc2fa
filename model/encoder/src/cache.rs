//! Vectors kept by content: a text is encoded once for each encoder.
//!
//! In the store's space of vectors. Key: SHA-256 of the encoder's identity and the text. Value: the
//! vector, little-endian f32.

use std::collections::HashMap;
use std::path::Path;

use tabsegnet_store::{Digest, Key, Space, Store, StoreError};

use crate::{Encoder, EncoderError};

/// Texts between two commits: what an interrupted run loses at most.
const CHUNK: usize = 2048;

/// Vectors by content in a [`Store`].
#[derive(Clone)]
pub struct EmbeddingCache {
    store: Store,
}

impl EmbeddingCache {
    /// Opens the store in the directory `cache`, which is created where it is not there.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open(cache: &Path) -> Result<Self, EncoderError> {
        Ok(Self { store: Store::open(cache)? })
    }

    /// Why the store was made anew ([`Store::notice`]).
    pub fn notice(&self) -> Option<String> {
        self.store.notice()
    }

    /// The vectors of `texts`, row-major `[texts, encoder.dim()]`: those that are kept from the
    /// cache, the others from `encoder`, each text once. New vectors are kept as they come, so that
    /// a run that is interrupted has them the next time.
    ///
    /// `progress` is called with the number of texts that are done so far: it never falls and ends
    /// at `texts.len()`.
    ///
    /// # Errors
    ///
    /// What `encoder` returns; a kept value of another length than the encoder's vectors, which
    /// damage alone can cause; a full disk or store.
    pub fn embed(
        &self,
        encoder: &dyn Encoder,
        texts: &[&str],
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, EncoderError> {
        let dim = encoder.dim();
        let identity = Digest::new().part(encoder.identity());
        let mut vectors = vec![0.0; texts.len() * dim];
        let mut missing = Missing::default();
        let mut done = 0;
        {
            let kept = self.store.read(Space::Vectors)?;
            let rows = vectors.chunks_exact_mut(dim.max(1));
            for (row, (text, vector)) in texts.iter().zip(rows).enumerate() {
                let key = identity.clone().part(text).bytes();
                match kept.get(&key)? {
                    Some(bytes) => {
                        self.decode(bytes, vector)?;
                        done += 1;
                    }
                    None => missing.add(key, text, row),
                }
            }
        }
        progress(done);
        for chunk in missing.texts.chunks(CHUNK) {
            let new: Vec<&str> = chunk.iter().map(|missing| missing.text).collect();
            let mut encoded = encoder.encode(&new, &mut |n| progress(done + n))?;
            self.keep(chunk.iter().map(|missing| missing.key), &mut encoded, dim)?;
            for (missing, vector) in chunk.iter().zip(encoded.chunks_exact(dim.max(1))) {
                for row in &missing.rows {
                    let start = row * dim;
                    if let Some(place) = vectors.get_mut(start..start + dim) {
                        place.copy_from_slice(vector);
                    }
                }
                done += missing.rows.len();
            }
            progress(done);
        }
        Ok(vectors)
    }

    /// Keeps the rows of `encoded`, in one transaction. Where another process was faster its
    /// vectors stand and replace those of `encoded`, so that all runs go on with the same ones.
    fn keep(&self, keys: impl Iterator<Item = Key>, encoded: &mut [f32], dim: usize) -> Result<(), EncoderError> {
        let bytes = |vector: &[f32]| -> Vec<u8> { vector.iter().flat_map(|value| value.to_le_bytes()).collect() };
        let mut faster = Vec::new();
        let entries = keys.zip(encoded.chunks_exact(dim.max(1)).map(bytes));
        self.store.keep(Space::Vectors, entries, |row, kept| {
            let mut vector = vec![0.0; dim];
            self.decode(kept, &mut vector)?;
            faster.push((row, vector));
            Ok::<_, EncoderError>(())
        })?;
        let mut rows: Vec<&mut [f32]> = encoded.chunks_exact_mut(dim.max(1)).collect();
        for (row, vector) in faster {
            if let Some(place) = rows.get_mut(row) {
                place.copy_from_slice(&vector);
            }
        }
        Ok(())
    }

    fn decode(&self, bytes: &[u8], vector: &mut [f32]) -> Result<(), StoreError> {
        let (values, rest) = bytes.as_chunks();
        if values.len() != vector.len() || !rest.is_empty() {
            let (found, numbers) = (bytes.len(), vector.len());
            let reason = format!(
                "it has {found} bytes; expected {} (4 for each of {numbers} numbers); the store is damaged: delete the directory",
                numbers * 4
            );
            return Err(self.store.error("read a vector", reason));
        }
        for (value, bytes) in vector.iter_mut().zip(values) {
            *value = f32::from_le_bytes(*bytes);
        }
        Ok(())
    }
}

/// Text made of text, such as the segments of a question, is kept in the same store.
impl EmbeddingCache {
    /// What was kept for each of `texts` by a maker of that identity; none where nothing was.
    ///
    /// # Errors
    ///
    /// A store that cannot be read; a kept value that is no text, which damage alone can cause.
    pub fn generated_texts(&self, identity: &str, texts: &[&str]) -> Result<Vec<Option<String>>, EncoderError> {
        let kept = self.store.read(Space::Texts)?;
        let text = |bytes: &[u8]| {
            let reason = "it is no UTF-8; the store is damaged: delete the directory";
            String::from_utf8(bytes.to_vec()).map_err(|_| self.store.error("read a text", reason.to_owned()).into())
        };
        texts.iter().map(|source| kept.get(&generated_key(identity, source))?.map(text).transpose()).collect()
    }

    /// Keeps what was made of each text. Where another process was faster its stand.
    ///
    /// # Errors
    ///
    /// A full disk or store.
    pub fn keep_generated_texts(&self, identity: &str, made: &[(&str, String)]) -> Result<(), EncoderError> {
        let entries = made.iter().map(|(text, made)| (generated_key(identity, text), made));
        self.store.keep(Space::Texts, entries, |_, _| Ok(()))
    }
}

fn generated_key(identity: &str, text: &str) -> Key {
    Digest::new().part(identity).part(text).bytes()
}

/// Texts without a kept vector, each once, in order of their first row.
#[derive(Default)]
struct Missing<'a> {
    texts: Vec<MissingText<'a>>,
    by_key: HashMap<Key, usize>,
}

struct MissingText<'a> {
    key: Key,
    text: &'a str,
    rows: Vec<usize>,
}

impl<'a> Missing<'a> {
    fn add(&mut self, key: Key, text: &'a str, row: usize) {
        let at = *self.by_key.entry(key).or_insert(self.texts.len());
        match self.texts.get_mut(at) {
            Some(known) => known.rows.push(row),
            None => self.texts.push(MissingText { key, text, rows: vec![row] }),
        }
    }
}
