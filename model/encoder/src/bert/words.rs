//! The words' vectors, each read from the weights' file when a text first has the word: they are half
//! of a small model, and a whole report has a fifth of the words.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use tabsegnet_store::FileError;

use crate::EncoderError;
use crate::tensors::Place;

/// A model's file, open for as long as the model is: one that is written over it under the same name
/// does not reach it.
pub(super) struct WeightsFile {
    path: PathBuf,
    file: File,
    state: (u64, SystemTime),
}

impl WeightsFile {
    /// The file and its bytes.
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<u8>), EncoderError> {
        let mut file = File::open(path).map_err(FileError::at(path, "read"))?;
        let state = state(&file).map_err(FileError::at(path, "read"))?;
        let mut bytes = Vec::with_capacity(usize::try_from(state.0).unwrap_or_default());
        file.read_to_end(&mut bytes).map_err(FileError::at(path, "read"))?;
        Ok((Self { path: path.to_owned(), file, state }, bytes))
    }

    fn read(&mut self, start: u64, length: usize) -> Result<Vec<u8>, EncoderError> {
        let mut bytes = vec![0; length];
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut bytes));
        // The time first: a file cut short is one that was written to.
        if state(&self.file).is_ok_and(|state| state != self.state) {
            let reason = "written to since the encoder was opened; open it again".to_owned();
            return Err(EncoderError::Malformed { path: self.path.clone(), reason });
        }
        read.map_err(FileError::at(&self.path, "read a word's vector"))?;
        Ok(bytes)
    }
}

/// What changes when a file is written to: its length and the time.
fn state(file: &File) -> std::io::Result<(u64, SystemTime)> {
    let metadata = file.metadata()?;
    Ok((metadata.len(), metadata.modified()?))
}

/// `[vocab, hidden]`, in the file.
pub(super) struct Words {
    file: Mutex<WeightsFile>,
    place: Place,
    rows: Box<[OnceLock<Box<[f32]>>]>,
}

impl Words {
    pub(super) fn new(file: WeightsFile, place: Place, vocab: usize) -> Self {
        Self { file: Mutex::new(file), place, rows: std::iter::repeat_with(OnceLock::new).take(vocab).collect() }
    }

    /// The vector of word `id`, which must be of the vocabulary.
    ///
    /// # Errors
    /// A file that cannot be read any more, or has been written to.
    pub(super) fn row(&self, id: u32) -> Result<&[f32], EncoderError> {
        let row = &self.rows[id as usize];
        if let Some(vector) = row.get() {
            return Ok(vector);
        }
        let Place { start, row_bytes, float } = self.place;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = file.read(start + u64::from(id) * row_bytes as u64, row_bytes)?;
        Ok(row.get_or_init(|| float.decode(&bytes).into()))
    }
}
