//! Which device the model runs on.

use std::fmt;
use std::str::FromStr;

use burn::tensor::Device;

/// What a user may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The best device there is.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// Any GPU through wgpu.
    Wgpu,
    /// An NVIDIA GPU through CUDA.
    Cuda,
}

/// A device that is not to be had. Nothing falls back to another one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DeviceError {
    /// No such name.
    #[error("device {0:?} is unknown; expected auto, cpu, wgpu or cuda")]
    Unknown(String),
    /// Not part of this build.
    #[error("device {0} is not part of this version; use --device cpu or --device auto")]
    NotBuilt(DeviceChoice),
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Wgpu => "wgpu",
            Self::Cuda => "cuda",
        })
    }
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(name: &str) -> Result<Self, DeviceError> {
        [Self::Auto, Self::Cpu, Self::Wgpu, Self::Cuda]
            .into_iter()
            .find(|choice| choice.to_string() == name)
            .ok_or_else(|| DeviceError::Unknown(name.to_owned()))
    }
}

impl DeviceChoice {
    /// The device, and words for it that a user can check.
    ///
    /// # Errors
    /// A device that this build does not have.
    pub fn open(self) -> Result<(Device, String), DeviceError> {
        match self {
            Self::Auto | Self::Cpu => {
                let threads = rayon::current_num_threads();
                Ok((Device::flex(), format!("cpu ({threads} threads)")))
            }
            Self::Wgpu | Self::Cuda => Err(DeviceError::NotBuilt(self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_device_that_is_not_there_is_an_error() {
        assert!("auto".parse::<DeviceChoice>().unwrap().open().unwrap().1.starts_with("cpu"));
        assert_eq!(
            "wgpu".parse::<DeviceChoice>().unwrap().open().unwrap_err(),
            DeviceError::NotBuilt(DeviceChoice::Wgpu)
        );
        assert!("gpu".parse::<DeviceChoice>().unwrap_err().to_string().contains("expected auto, cpu, wgpu or cuda"));
    }
}
