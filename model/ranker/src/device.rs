//! Which device the model runs on.

mod failure;
#[cfg(feature = "gpu")]
mod gpu;

use std::fmt;
use std::str::FromStr;

use burn::tensor::Device;

pub use failure::{DeviceFailure, guard};

/// What a user may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The best device there is: a GPU through CUDA, a GPU through wgpu, the processor. Never a GPU
    /// that is made of software.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A GPU through wgpu (Vulkan, Metal, DirectX 12): the first discrete one, else integrated, else
    /// virtual, else one of software.
    Wgpu,
    /// The first NVIDIA GPU, through CUDA.
    Cuda,
}

/// A device that is not to be had. Nothing falls back to another one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DeviceError {
    /// No such name.
    #[error("device {0:?} is unknown; expected auto, cpu, wgpu or cuda")]
    Unknown(String),
    /// Not part of this build.
    #[error("device {0} is not part of this build; build with `--features {0}`, or use --device cpu or auto")]
    NotBuilt(DeviceChoice),
    /// The machine has none.
    #[error("device {device}: {missing}; {remedy}")]
    Missing {
        /// What was requested.
        device: DeviceChoice,
        /// What was not found.
        missing: &'static str,
        /// What to install.
        remedy: &'static str,
    },
    /// There is one, but it does not work.
    #[error("device {device}: {message}; {remedy}")]
    Broken {
        /// What was requested.
        device: DeviceChoice,
        /// Its name, and what failed.
        message: String,
        /// What to install.
        remedy: &'static str,
    },
    /// A number type that the device does not compute in.
    #[error("precision {precision} is not to be had: {why}; set precision = \"f32\"{other}")]
    Precision {
        /// What was requested.
        precision: &'static str,
        /// Why not.
        why: &'static str,
        /// What else could be done.
        other: &'static str,
    },
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

/// A device, and words for it that a user can check.
///
/// # Errors
/// A device that this build or this machine does not have, or that does not work.
pub fn open_device(choice: DeviceChoice) -> Result<(Device, String), DeviceError> {
    match choice {
        DeviceChoice::Cpu => Ok(cpu()),
        #[cfg(feature = "gpu")]
        DeviceChoice::Auto => Ok(gpu::best(cpu)),
        #[cfg(feature = "gpu")]
        DeviceChoice::Wgpu => gpu::wgpu(true),
        #[cfg(feature = "gpu")]
        DeviceChoice::Cuda => gpu::cuda(),
        #[cfg(not(feature = "gpu"))]
        DeviceChoice::Auto => Ok(cpu()),
        #[cfg(not(feature = "gpu"))]
        DeviceChoice::Wgpu | DeviceChoice::Cuda => Err(DeviceError::NotBuilt(choice)),
    }
}

/// Has Mesa not ask a desktop which GPU it prefers where there is none (`NODEVICE_SELECT`): it says on stderr, at each look, that it
/// found none. The GPU is chosen by its kind whatever the desktop prefers.
///
/// # Safety
/// No other thread runs yet: it could read the environment while it changes.
#[allow(unsafe_code)]
pub unsafe fn look_without_a_desktop() {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    if !["XDG_RUNTIME_DIR", "MESA_VK_DEVICE_SELECT", NO_DESKTOP].into_iter().any(is_set) {
        // SAFETY: there is no other thread, as the caller sees to.
        unsafe { std::env::set_var(NO_DESKTOP, "1") };
    }
}

const NO_DESKTOP: &str = "NODEVICE_SELECT";

fn cpu() -> (Device, String) {
    (Device::flex(), format!("cpu ({} threads)", rayon::current_num_threads()))
}

/// Whether a device is the processor, with autodiff or without.
pub(crate) fn is_cpu(device: &Device) -> bool {
    device.clone().without_autodiff() == Device::flex()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_device_that_is_not_there_is_an_error() {
        assert!(open_device("cpu".parse().unwrap()).unwrap().1.starts_with("cpu"));
        assert!("gpu".parse::<DeviceChoice>().unwrap_err().to_string().contains("expected auto, cpu, wgpu or cuda"));
        #[cfg(not(feature = "wgpu"))]
        assert_eq!(open_device(DeviceChoice::Wgpu).unwrap_err(), DeviceError::NotBuilt(DeviceChoice::Wgpu));
        #[cfg(not(feature = "cuda"))]
        assert_eq!(open_device(DeviceChoice::Cuda).unwrap_err(), DeviceError::NotBuilt(DeviceChoice::Cuda));
    }

    /// In a process of its own, in which no other test runs.
    #[test]
    fn a_desktop_is_asked_where_there_is_one() {
        const INNER: &str = "TABSEGNET_TEST_DESKTOP";
        if std::env::var_os(INNER).is_some() {
            // SAFETY: the harness's other thread waits for this one.
            #[allow(unsafe_code)]
            unsafe {
                look_without_a_desktop();
            }
            println!("set: {:?}", std::env::var(NO_DESKTOP).ok());
            return;
        }
        let said = |desktop: Option<&str>| {
            let mut program = std::process::Command::new(std::env::current_exe().unwrap());
            program.args(["--exact", "--nocapture", "device::tests::a_desktop_is_asked_where_there_is_one"]);
            program
                .env_remove("MESA_VK_DEVICE_SELECT")
                .env_remove(NO_DESKTOP)
                .env_remove("XDG_RUNTIME_DIR")
                .env(INNER, "1");
            let output = program.envs(desktop.map(|folder| ("XDG_RUNTIME_DIR", folder))).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert!(said(None).contains("set: Some(\"1\")") && said(Some("/run/user/1")).contains("set: None"));
    }

    #[test]
    fn auto_takes_no_gpu_of_software() {
        let (device, name) = open_device(DeviceChoice::Auto).unwrap();
        assert!(!name.contains("software") && (is_cpu(&device) == name.starts_with("cpu")), "{name}");
    }
}
