//! The number type of the model's large matrix products.

use burn::tensor::{Device, FloatDType, Tensor};
use serde::{Deserialize, Serialize};

use crate::device::{DeviceError, is_cpu};

/// The number type that the matrix products over all nodes are computed in. Weights, all other
/// operations, gradients of weights and the optimiser are f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 24 bits of precision; every device.
    #[default]
    F32,
    /// 8 bits, the range of f32; CUDA.
    Bf16,
    /// 11 bits, numbers up to 65,504; CUDA, and GPUs whose driver has 16-bit floats in shaders.
    F16,
}

impl Precision {
    /// Its name in a config.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }

    fn half(self) -> Option<FloatDType> {
        match self {
            Self::F32 => None,
            Self::Bf16 => Some(FloatDType::BF16),
            Self::F16 => Some(FloatDType::F16),
        }
    }

    /// Whether a device can compute in it.
    ///
    /// # Errors
    /// Half precision on the processor, or on a GPU whose driver has not that type.
    pub fn check(self, device: &Device) -> Result<(), DeviceError> {
        let unfit = |why, other| Err(DeviceError::Precision { precision: self.name(), why, other });
        match self.half() {
            None => Ok(()),
            Some(_) if is_cpu(device) => unfit("the processor computes in f32 alone", " or train on a GPU"),
            Some(half) if device.supports_dtype(half) => Ok(()),
            Some(FloatDType::BF16) => unfit("this device has no bf16, which CUDA alone offers", " or \"f16\""),
            Some(_) => unfit("this GPU's driver has no 16-bit floats in shaders", ""),
        }
    }

    /// `a` `[n, k]` times `b` `[k, m]`, the product `[n, m]` in f32 again.
    pub fn product(self, a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
        match self.half() {
            None => a.matmul(b),
            Some(half) => a.cast(half).matmul(b.cast(half)).cast(FloatDType::F32),
        }
    }
}
