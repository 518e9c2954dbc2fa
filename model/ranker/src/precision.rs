//! The number type of the model's large matrix products.

use burn::tensor::{Device, FloatDType, Tensor};
use serde::{Deserialize, Serialize};

use crate::device::{DeviceError, is_cpu};
use crate::linear::linear;

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

    /// Whether a device rounds what it multiplies in f32 to TF32 (11 bits), as tensor cores of NVIDIA's do: scores and
    /// gradients are then within about 1e-3 of the CPU's, not 1e-5. Found by a product on the device.
    pub fn f32_is_tf32(device: &Device) -> bool {
        const SIDE: usize = 64;
        // Thirteen bits, of which TF32 keeps eleven.
        const ODD: f32 = 1.0 + 1.0 / 4096.0;
        let product = Tensor::<2>::full([SIDE, SIDE], ODD, device).matmul(Tensor::eye(SIDE, device));
        product.into_data().iter::<f32>().any(|value| value != ODD)
    }

    /// `a` `[n, k]` times `b` `[k, m]`, the product `[n, m]` in f32 again.
    pub fn product(self, a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
        match self.half() {
            None => linear(a, b),
            Some(half) => linear(a.cast(half), b.cast(half)).cast(FloatDType::F32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceChoice, open_device};
    use crate::testing::devices;

    #[test]
    fn only_tensor_cores_round_products_in_f32() {
        for device in devices() {
            let rounds = Precision::f32_is_tf32(&device);
            let cuda = DeviceChoice::Cuda;
            assert!(!rounds || open_device(cuda).is_ok_and(|(found, _)| found == device), "{device:?}");
        }
    }
}
