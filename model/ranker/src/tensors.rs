//! Named tensors as safetensors files.

use std::collections::BTreeMap;
use std::path::Path;

use burn::tensor::DType;
pub use burn::tensor::TensorData;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::checkpoint::{CheckpointError, content};

/// Values, row-major.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 32-bit integers.
    I32(Vec<i32>),
}

/// Tensors by name, each as its shape and its values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedTensors(pub BTreeMap<String, (Vec<usize>, Values)>);

impl NamedTensors {
    /// The tensors of a safetensors file.
    ///
    /// # Errors
    /// A file that is cut short; tensors of numbers other than f32 and i32.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let tensors = SafeTensors::deserialize(bytes)
            .map_err(|error| content(path, format!("is no whole safetensors file: {error}")))?;
        let mut named = BTreeMap::new();
        for (name, view) in tensors.iter() {
            let numbers = view.data().as_chunks::<4>().0.iter();
            let values = match view.dtype() {
                Dtype::F32 => Values::F32(numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect()),
                Dtype::I32 => Values::I32(numbers.map(|bytes| i32::from_le_bytes(*bytes)).collect()),
                other => return Err(content(path, format!("tensor {name} is {other:?}, expected F32 or I32"))),
            };
            named.insert(name.to_owned(), (view.shape().to_vec(), values));
        }
        Ok(Self(named))
    }

    /// Shape and values of a tensor of floats.
    ///
    /// # Errors
    /// In words, that there is none of this name, or one of integers.
    pub fn floats(&self, name: &str) -> Result<(&[usize], &[f32]), String> {
        match self.get(name)? {
            (shape, Values::F32(values)) => Ok((shape, values)),
            (_, Values::I32(_)) => Err(format!("tensor {name} is I32, expected F32")),
        }
    }

    /// The values of a tensor of integers.
    ///
    /// # Errors
    /// In words, that there is none of this name, or one of floats.
    pub fn integers(&self, name: &str) -> Result<&[i32], String> {
        match self.get(name)? {
            (_, Values::I32(values)) => Ok(values),
            (_, Values::F32(_)) => Err(format!("tensor {name} is F32, expected I32")),
        }
    }

    fn get(&self, name: &str) -> Result<&(Vec<usize>, Values), String> {
        self.0.get(name).ok_or_else(|| format!("has no tensor {name}"))
    }
}

/// Named tensors of f32 or i32 as the bytes of a safetensors file.
///
/// # Errors
/// Other numbers; two tensors of one name.
pub fn serialize(tensors: &[(String, TensorData)], path: &Path) -> Result<Vec<u8>, CheckpointError> {
    let failed = |error: &dyn std::fmt::Display| content(path, format!("cannot be written: {error}"));
    let mut views = Vec::with_capacity(tensors.len());
    for (name, data) in tensors {
        let dtype = match data.dtype() {
            DType::F32 => Dtype::F32,
            DType::I32 => Dtype::I32,
            other => return Err(failed(&format!("tensor {name} is {other:?}, expected F32 or I32"))),
        };
        let shape = data.shape().iter().copied().collect();
        let view = TensorView::new(dtype, shape, data.as_bytes()).map_err(|error| failed(&error))?;
        views.push((name.as_str(), view));
    }
    safetensors::serialize(views, None).map_err(|error| failed(&error))
}
