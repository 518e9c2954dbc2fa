//! What the tests share.

use std::sync::OnceLock;

use burn::tensor::Device;

use crate::device::{DeviceChoice, open_device};

/// Every device of the build: the processor, and a GPU where the build has wgpu, one of software too.
pub(crate) fn devices() -> Vec<Device> {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    let open = || {
        let gpu = cfg!(feature = "wgpu").then(|| match open_device(DeviceChoice::Wgpu) {
            Ok((device, _)) => device,
            Err(error) => panic!("the tests on GPUs cannot run: {error}"),
        });
        std::iter::once(Device::flex()).chain(gpu).collect()
    };
    DEVICES.get_or_init(open).clone()
}
