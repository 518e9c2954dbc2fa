//! What the tests share.

use burn::tensor::Device;

/// Every device of the build: the processor, and a GPU where the build has wgpu, one of software too.
pub(crate) fn devices() -> Vec<Device> {
    let gpu = cfg!(feature = "wgpu").then(|| match crate::device::DeviceChoice::Wgpu.open() {
        Ok((device, _)) => device,
        Err(error) => panic!("the tests on GPUs cannot run: {error}"),
    });
    std::iter::once(Device::flex()).chain(gpu).collect()
}
