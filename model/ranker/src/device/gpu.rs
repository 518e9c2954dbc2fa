//! Looking for GPUs.

use burn::tensor::{Device, Tensor};
use burn_cubecl::CubeDevice;
use cubecl::device::{DeviceUnavailable, WgpuBackend, WgpuDevice, WgpuDeviceKind};

use super::{DeviceChoice, DeviceError, guard};

const WGPU_REMEDY: &str = "install the driver of the GPU with Vulkan, Metal or DirectX 12 (on Debian and Ubuntu \
                           mesa-vulkan-drivers serves AMD and Intel, and has a software GPU to try things on)";
const CUDA_REMEDY: &str = "CUDA needs NVIDIA's driver (nvidia-smi must list the GPU) and of the CUDA toolkit NVRTC and \
                           the headers, in CUDA_PATH or /usr/local/cuda";

/// The best GPU, or else what `cpu` gives; says why a GPU that is there was passed over.
pub(super) fn best(cpu: impl Fn() -> (Device, String)) -> (Device, String) {
    let mut passed_over = String::new();
    for found in [cuda(), wgpu(false)] {
        match found {
            Ok((device, name)) => return (device, name + &passed_over),
            Err(error @ DeviceError::Broken { .. }) => passed_over += &format!(", not {error}"),
            Err(_) => {}
        }
    }
    let (device, name) = cpu();
    (device, name + &passed_over)
}

/// The best adapter that wgpu finds; one of software only where `software` allows it.
pub(super) fn wgpu(software: bool) -> Result<(Device, String), DeviceError> {
    let gpus = [
        WgpuDeviceKind::DiscreteGpu(0),
        WgpuDeviceKind::IntegratedGpu(0),
        WgpuDeviceKind::VirtualGpu(0),
        WgpuDeviceKind::Other(0),
    ];
    for kind in gpus.into_iter().chain(software.then_some(WgpuDeviceKind::Cpu)) {
        let what = if kind == WgpuDeviceKind::Cpu { ", a software GPU" } else { "" };
        // Named one by one: wgpu's own choice may also be OpenGL, which nothing here is tested on.
        for api in [WgpuBackend::Vulkan, WgpuBackend::Metal, WgpuBackend::Dx12] {
            match CubeDevice::Wgpu(WgpuDevice::new(kind.clone())).on(api) {
                Ok(device) => return open(DeviceChoice::Wgpu, device, &format!(", {api:?}{what}"), WGPU_REMEDY),
                Err(DeviceUnavailable::NotLinked(_)) => return Err(DeviceError::NotBuilt(DeviceChoice::Wgpu)),
                Err(DeviceUnavailable::NoSuchDevice { .. }) => {}
            }
        }
    }
    let missing = "no graphics adapter was found";
    Err(DeviceError::Missing { device: DeviceChoice::Wgpu, missing, remedy: WGPU_REMEDY })
}

/// The first GPU that CUDA finds.
pub(super) fn cuda() -> Result<(Device, String), DeviceError> {
    match CubeDevice::cuda(0) {
        Ok(device) => open(DeviceChoice::Cuda, device, "", CUDA_REMEDY),
        Err(DeviceUnavailable::NotLinked(_)) => Err(DeviceError::NotBuilt(DeviceChoice::Cuda)),
        Err(DeviceUnavailable::NoSuchDevice { .. }) => {
            let missing = "no NVIDIA driver with a GPU was found";
            Err(DeviceError::Missing { device: DeviceChoice::Cuda, missing, remedy: CUDA_REMEDY })
        }
    }
}

/// Opens a device and lets it add two numbers: what a machine lacks, such as a compiler for kernels,
/// shows here and not in the midst of a training.
fn open(
    choice: DeviceChoice,
    device: CubeDevice,
    what: &str,
    remedy: &'static str,
) -> Result<(Device, String), DeviceError> {
    let device = Device::new(device);
    let broken = |message: String| DeviceError::Broken { device: choice, message, remedy };
    let identity = guard(&device, || device.identity()).map_err(|failure| broken(failure.to_string()))?;
    let name = identity.map_or_else(|| "unnamed".to_owned(), |identity| identity.name);
    let two = guard(&device, || (Tensor::<1>::ones([1], &device) + 1.0).try_into_data())
        .map_err(|failure| failure.to_string())
        .and_then(|read| read.map_err(|error| error.to_string()))
        .map_err(|message| broken(format!("{name}: {message}")))?;
    if two.iter::<f32>().ne([2.0]) {
        return Err(broken(format!("{name}: 1 + 1 is {two:?}")));
    }
    Ok((device, format!("{choice} ({name}{what})")))
}
