//! What the tests share.

use std::sync::OnceLock;

use burn::tensor::Device;

use crate::Precision;
use crate::device::open_device;

/// Every device of the build: the processor and, where the build has GPUs, the one that TABSEGNET_TEST_DEVICE names
/// (wgpu or cuda). Unless it is set that is wgpu's where the build has wgpu, one of software too, else CUDA's.
pub(crate) fn devices() -> Vec<Device> {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    let open = || {
        let gpu = cfg!(feature = "gpu").then(|| {
            let usual = if cfg!(feature = "wgpu") { "wgpu" } else { "cuda" };
            let name = std::env::var("TABSEGNET_TEST_DEVICE").unwrap_or_else(|_| usual.to_owned());
            match name.parse().and_then(open_device) {
                Ok((device, _)) => device,
                Err(error) => panic!("the tests on GPUs cannot run: {error}"),
            }
        });
        std::iter::once(Device::flex()).chain(gpu).collect()
    };
    DEVICES.get_or_init(open).clone()
}

/// How far results of products may be from others': `tolerance`, or what TF32 makes of it.
pub(crate) fn of_products(device: &Device, tolerance: f32) -> f32 {
    if Precision::f32_is_tf32(device) { tolerance.max(1e-2) } else { tolerance }
}
