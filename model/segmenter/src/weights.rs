//! A model's files: a directory or a repository of the hub, weights in one file or several.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::tensor::{Dtype, Metadata, TensorInfo, TensorView};
use serde::Deserialize;
use tabsegnet_encoder::{Source, hub_name};
use tabsegnet_store::{FileError, read_bytes, sha256_file};

use crate::SegmenterError;

const WEIGHTS: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// No header of a model is near as long; a longer one is damage.
const LONGEST_HEADER: u64 = 100_000_000;

/// The files of one model.
pub struct ModelFiles(Source);

impl ModelFiles {
    /// Those of a directory.
    pub fn directory(path: &Path) -> Self {
        Self(Source::directory(path))
    }

    /// Those of what the configuration's `key` names: a directory, or else a repository of the hub.
    ///
    /// # Errors
    /// No directory and no hub name; a hub that takes no questions.
    pub fn named(model: &str, revision: &str, key: &'static str) -> Result<Self, SegmenterError> {
        let path = Path::new(model);
        if path.is_dir() {
            return Ok(Self::directory(path));
        }
        match hub_name(model) {
            Some((owner, name)) => Ok(Self(Source::hub(owner, name, revision, key)?)),
            None if model.is_empty() => Err(SegmenterError::Setting {
                key,
                value: "\"\"".to_owned(),
                expected:
                    "the directory of a T5 in Hugging Face layout, or a hub name such as \"google/flan-t5-small\""
                        .to_owned(),
            }),
            None => Err(SegmenterError::NoDirectory { path: path.to_owned(), key }),
        }
    }

    /// Path and content of a file that must be there.
    ///
    /// # Errors
    /// It is not there or cannot be read.
    pub fn read(&self, file: &'static str) -> Result<(PathBuf, Vec<u8>), SegmenterError> {
        match self.0.get(file)? {
            Some(path) => {
                let bytes = read_bytes(&path)?;
                Ok((path, bytes))
            }
            None => Err(self.missing(file, "")),
        }
    }

    /// Path and content of a file that need not be there.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read_if_there(&self, file: &str) -> Result<Option<(PathBuf, Vec<u8>)>, SegmenterError> {
        match self.0.get(file)? {
            Some(path) => {
                let bytes = read_bytes(&path)?;
                Ok(Some((path, bytes)))
            }
            None => Ok(None),
        }
    }

    fn missing(&self, file: &'static str, hint: &'static str) -> SegmenterError {
        SegmenterError::MissingFile { place: self.0.place(), file, hint }
    }

    /// Opens the weights: reads the headers, not the numbers.
    ///
    /// # Errors
    /// No weights; a file that is cut short; an index that names a file that is not there.
    pub fn weights(&self) -> Result<Weights, SegmenterError> {
        if let Some(path) = self.0.get(WEIGHTS)? {
            return Weights::open(vec![path], None);
        }
        let Some((index, bytes)) = self.read_if_there(INDEX)? else {
            let hint = match self.0.get("pytorch_model.bin")? {
                Some(_) => {
                    "; this one has pytorch_model.bin alone: open it with Python's transformers and save it again"
                }
                None => "",
            };
            return Err(self.missing(WEIGHTS, hint));
        };
        #[derive(Deserialize)]
        struct Index {
            weight_map: BTreeMap<String, String>,
        }
        let malformed = |reason: String| SegmenterError::Malformed { path: index.clone(), reason };
        let map: Index = serde_json::from_slice(&bytes)
            .map_err(|error| malformed(format!("is no index of safetensors files: {error}")))?;
        let mut names: Vec<&String> = map.weight_map.values().collect();
        names.sort_unstable();
        names.dedup();
        let mut paths = Vec::with_capacity(names.len());
        for name in names {
            // A name is that of a file beside the index and of nothing else.
            if Path::new(name).file_name() != Some(name.as_ref()) {
                return Err(malformed(format!("names the file {name:?}; expected one beside it")));
            }
            let found = self.0.get(name)?;
            paths.push(found.ok_or_else(|| malformed(format!("names the file {name}, which is not there")))?);
        }
        Weights::open(paths, Some(index))
    }
}

struct Place {
    file: usize,
    info: TensorInfo,
}

/// The tensors of a model. Numbers are read one tensor at a time: a model is in memory once.
pub struct Weights {
    files: Vec<(PathBuf, u64)>,
    places: HashMap<String, Place>,
    /// What messages name.
    named: PathBuf,
}

impl Weights {
    fn open(paths: Vec<PathBuf>, index: Option<PathBuf>) -> Result<Self, SegmenterError> {
        let mut files = Vec::with_capacity(paths.len());
        let mut places = HashMap::new();
        for (number, path) in paths.iter().enumerate() {
            let (start, metadata) = header(path)?;
            for (name, info) in metadata.tensors() {
                places.insert(name, Place { file: number, info: info.clone() });
            }
            files.push((path.clone(), start));
        }
        let named = index.or_else(|| paths.into_iter().next()).unwrap_or_default();
        Ok(Self { files, places, named })
    }

    /// Whether there is a tensor of that name.
    pub fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// SHA-256 of each file.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn digests(&self) -> Result<Vec<String>, SegmenterError> {
        self.files.iter().map(|(path, _)| Ok(sha256_file(path)?)).collect()
    }

    /// A tensor of floating-point numbers as f32, row-major.
    ///
    /// # Errors
    /// It is not there, has another shape or type, or holds a number that is not finite.
    pub fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, SegmenterError> {
        let Some(Place { file, info }) = self.places.get(name) else {
            let mut names: Vec<&str> = self.places.keys().map(String::as_str).collect();
            names.sort_unstable();
            names.truncate(3);
            return Err(malformed(
                &self.named,
                format!(
                    "there is no tensor `{name}` among its {} tensors ({}, …); config.json needs it, so the files are of \
                     different models or not of a T5",
                    self.places.len(),
                    names.join(", ")
                ),
            ));
        };
        let Some((path, start)) = self.files.get(*file) else {
            return Err(malformed(&self.named, "no file".to_owned()));
        };
        if info.shape != shape {
            return Err(malformed(
                path,
                format!(
                    "`{name}` has shape {:?}; expected {shape:?} by config.json; the files are of different models",
                    info.shape
                ),
            ));
        }
        let (begin, end) = info.data_offsets;
        let mut bytes = vec![0; end.saturating_sub(begin)];
        let mut file = File::open(path).map_err(FileError::at(path, "read"))?;
        file.seek(SeekFrom::Start(start + begin as u64)).map_err(FileError::at(path, "read"))?;
        file.read_exact(&mut bytes).map_err(FileError::at(path, "read"))?;
        let values: Vec<f32> = match info.dtype {
            Dtype::F32 => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            Dtype::F16 => bytes.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
            Dtype::BF16 => bytes.as_chunks().0.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect(),
            other => return Err(malformed(path, format!("`{name}` holds {other:?}; expected F32, F16 or BF16"))),
        };
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(malformed(path, format!("`{name}` holds a number that is not finite, at position {at}"))),
            None => Ok(values),
        }
    }
}

fn malformed(path: &Path, reason: String) -> SegmenterError {
    SegmenterError::Malformed { path: path.to_owned(), reason }
}

/// Where the numbers of a safetensors file begin, and what is in it.
fn header(path: &Path) -> Result<(u64, Metadata), SegmenterError> {
    let read = |error| FileError::at(path, "read")(error);
    let mut file = File::open(path).map_err(read)?;
    let length = file.metadata().map_err(read)?.len();
    let cut = |reason: &str| {
        malformed(path, format!("not a whole safetensors file ({length} bytes): {reason}; get the file again"))
    };
    let mut size = [0; 8];
    file.read_exact(&mut size).map_err(|_| cut("it ends within its header"))?;
    let size = u64::from_le_bytes(size);
    if size > LONGEST_HEADER || size + 8 > length {
        return Err(cut("it ends within its header"));
    }
    let mut json = vec![0; size as usize];
    file.read_exact(&mut json).map_err(|_| cut("it ends within its header"))?;
    let metadata: Metadata = serde_json::from_slice(&json).map_err(|error| cut(&error.to_string()))?;
    let end = metadata.tensors().values().map(|info| info.data_offsets.1).max().unwrap_or(0);
    if 8 + size + end as u64 > length {
        return Err(cut("it ends within its numbers"));
    }
    Ok((8 + size, metadata))
}

/// Named tensors `(name, shape, row-major values)` as the bytes of a safetensors file, in f16 where
/// `half`.
///
/// # Errors
/// A number too large for f16.
pub fn serialize(
    tensors: &[(String, Vec<usize>, Vec<f32>)],
    half: bool,
    path: &Path,
) -> Result<Vec<u8>, SegmenterError> {
    let mut stored = Vec::with_capacity(tensors.len());
    for (name, shape, values) in tensors {
        let bytes: Vec<u8> = if half {
            let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            if largest > f16::MAX.to_f32() {
                return Err(malformed(path, format!("`{name}` holds {largest}, too large for f16; store it as f32")));
            }
            values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
        } else {
            values.iter().flat_map(|value| value.to_le_bytes()).collect()
        };
        stored.push((name, shape, bytes));
    }
    let failed = |error: safetensors::SafeTensorError| malformed(path, format!("cannot be written: {error}"));
    let dtype = if half { Dtype::F16 } else { Dtype::F32 };
    let mut views = Vec::with_capacity(stored.len());
    for (name, shape, bytes) in &stored {
        views.push((name.as_str(), TensorView::new(dtype, shape.to_vec(), bytes).map_err(failed)?));
    }
    // Python's transformers needs it stated.
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::serialize(views, Some(metadata)).map_err(failed)
}

/// A file of expected numbers, for tests.
#[cfg(test)]
pub(crate) struct Reference(Vec<u8>);

#[cfg(test)]
impl Reference {
    pub(crate) fn read(path: &Path) -> Self {
        Self(std::fs::read(path).unwrap())
    }

    pub(crate) fn floats(&self, name: &str) -> Vec<f32> {
        let tensors = safetensors::SafeTensors::deserialize(&self.0).unwrap();
        tensors.tensor(name).unwrap().data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    pub(crate) fn ints(&self, name: &str) -> Vec<u32> {
        let tensors = safetensors::SafeTensors::deserialize(&self.0).unwrap();
        let data = tensors.tensor(name).unwrap();
        data.data().as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes) as u32).collect()
    }
}
