//! Weights from a safetensors file, with the shapes that the model expects.

use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::EncoderError;

/// The tensors of one file.
pub(crate) struct Tensors<'a> {
    path: PathBuf,
    /// Address of the file's first byte.
    start: usize,
    tensors: SafeTensors<'a>,
}

/// A matrix in a file.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Bytes before its first.
    pub(crate) start: u64,
    pub(crate) row_bytes: usize,
    pub(crate) float: Float,
}

/// How a file writes a floating-point number.
#[derive(Clone, Copy)]
pub(crate) enum Float {
    F32,
    F16,
    BF16,
}

impl Float {
    fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::BF16 => 2,
        }
    }

    pub(crate) fn decode(self, data: &[u8]) -> Vec<f32> {
        match self {
            Self::F32 => data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            Self::F16 => data.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
            Self::BF16 => data.as_chunks().0.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect(),
        }
    }
}

impl<'a> Tensors<'a> {
    /// Reads the header of `bytes`, the content of `path`.
    pub(crate) fn parse(path: &Path, bytes: &'a [u8]) -> Result<Self, EncoderError> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| EncoderError::Malformed {
            path: path.to_owned(),
            reason: format!("not a whole safetensors file ({} bytes read): {error}; get the file again", bytes.len()),
        })?;
        Ok(Self { path: path.to_owned(), start: bytes.as_ptr().addr(), tensors })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// The type and the shape of a tensor.
    pub(crate) fn describe(&self, name: &str) -> Result<(Dtype, Vec<usize>), EncoderError> {
        let view = self.view(name)?;
        Ok((view.dtype(), view.shape().to_vec()))
    }

    /// A tensor of floating-point numbers as f32, row-major.
    ///
    /// `origin` says what sets the shape ("hidden_size and vocab_size of config.json").
    pub(crate) fn floats(&self, name: &str, shape: &[usize], origin: &str) -> Result<Vec<f32>, EncoderError> {
        let view = self.shaped(name, shape, origin)?;
        let values = self.float(name, view.dtype())?.decode(view.data());
        self.check_finite(name, &values, 0)?;
        Ok(values)
    }

    /// That all of a tensor's numbers from `first` on are finite.
    fn check_finite(&self, name: &str, values: &[f32], first: usize) -> Result<(), EncoderError> {
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => {
                let at = first + at;
                Err(self.malformed(format!("`{name}` holds a number that is not finite, at position {at}")))
            }
            None => Ok(()),
        }
    }

    /// Where a matrix of floating-point numbers of `shape`, rows and columns, stands in the file.
    pub(crate) fn place(&self, name: &str, shape: [usize; 2], origin: &str) -> Result<Place, EncoderError> {
        let view = self.shaped(name, &shape, origin)?;
        let float = self.float(name, view.dtype())?;
        let [_, cols] = shape;
        let row_bytes = cols * float.bytes();
        for (row, data) in view.data().chunks_exact(row_bytes.max(1)).enumerate() {
            self.check_finite(name, &float.decode(data), row * cols)?;
        }
        let start = view.data().as_ptr().addr() - self.start;
        Ok(Place { start: start as u64, row_bytes, float })
    }

    fn float(&self, name: &str, dtype: Dtype) -> Result<Float, EncoderError> {
        match dtype {
            Dtype::F32 => Ok(Float::F32),
            Dtype::F16 => Ok(Float::F16),
            Dtype::BF16 => Ok(Float::BF16),
            other => Err(self.malformed(format!("`{name}` holds {other:?}; expected F32, F16 or BF16"))),
        }
    }

    /// A tensor of signed bytes, row-major.
    pub(crate) fn bytes(&self, name: &str, shape: &[usize], origin: &str) -> Result<Vec<i8>, EncoderError> {
        let view = self.shaped(name, shape, origin)?;
        match view.dtype() {
            Dtype::I8 => Ok(view.data().iter().map(|byte| i8::from_le_bytes([*byte])).collect()),
            other => Err(self.malformed(format!("`{name}` holds {other:?}; expected I8"))),
        }
    }

    pub(crate) fn malformed(&self, reason: String) -> EncoderError {
        EncoderError::Malformed { path: self.path.clone(), reason }
    }

    fn shaped(&self, name: &str, shape: &[usize], origin: &str) -> Result<TensorView<'a>, EncoderError> {
        let view = self.view(name)?;
        if view.shape() == shape {
            Ok(view)
        } else {
            Err(self.malformed(format!(
                "`{name}` has shape {:?}; expected {shape:?} by {origin}; the files are of different models",
                view.shape()
            )))
        }
    }

    fn view(&self, name: &str) -> Result<TensorView<'a>, EncoderError> {
        self.tensors.tensor(name).map_err(|_| {
            let mut names = self.tensors.names();
            names.sort_unstable();
            names.truncate(3);
            self.malformed(format!(
                "there is no tensor `{name}` among its {} tensors ({}, …)",
                self.tensors.len(),
                names.join(", ")
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Vec<u8> {
        let floats: Vec<u8> = [1.0f32, -2.0, 3.5, f32::NAN].iter().flat_map(|v| v.to_le_bytes()).collect();
        let halves: Vec<u8> = [0.5f32, -4.0].iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect();
        let tensors = [
            ("good", TensorView::new(Dtype::F32, vec![1, 3], &floats[..12]).unwrap()),
            ("bad", TensorView::new(Dtype::F32, vec![4], &floats).unwrap()),
            ("half", TensorView::new(Dtype::F16, vec![2], &halves).unwrap()),
            ("small", TensorView::new(Dtype::I8, vec![4], &floats[..4]).unwrap()),
        ];
        safetensors::serialize(tensors, None).unwrap()
    }

    #[test]
    fn floats_of_every_width_are_read_and_the_rest_is_said() {
        let bytes = file();
        let tensors = Tensors::parse(Path::new("model.safetensors"), &bytes).unwrap();
        assert_eq!(tensors.floats("good", &[1, 3], "test").unwrap(), [1.0, -2.0, 3.5]);
        assert_eq!(tensors.floats("half", &[2], "test").unwrap(), [0.5, -4.0]);
        assert_eq!(tensors.bytes("small", &[4], "test").unwrap().len(), 4);
        let message = |result: Result<Vec<f32>, EncoderError>| result.unwrap_err().to_string();
        assert_eq!(
            message(tensors.floats("good", &[3, 1], "config.json")),
            "model.safetensors: `good` has shape [1, 3]; expected [3, 1] by config.json; the files are of different models"
        );
        assert!(message(tensors.floats("bad", &[4], "test")).contains("not finite, at position 3"));
        assert!(message(tensors.floats("small", &[4], "test")).contains("holds I8"));
        assert!(
            message(tensors.floats("none", &[4], "test"))
                .contains("no tensor `none` among its 4 tensors (bad, good, half, …)")
        );
    }

    #[test]
    fn a_truncated_file_is_said_to_be_one() {
        let bytes = file();
        for length in [0, 4, 40, bytes.len() - 1] {
            let error = Tensors::parse(Path::new("model.safetensors"), &bytes[..length]).err().unwrap();
            let expected = format!("model.safetensors: not a whole safetensors file ({length} bytes read)");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }
}
