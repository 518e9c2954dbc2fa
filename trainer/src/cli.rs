//! What the programs' command lines share.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use burn::tensor::Device;
use signal_hook::consts::{SIGINT, SIGTERM};
use tabsegnet_datasets::DataError;
use tabsegnet_encoder::EncoderError;
use tabsegnet_ranker::device::{self, DeviceChoice, DeviceError, guard};
use tabsegnet_segmenter::SegmenterError;
use tabsegnet_store::{USAGE, eprintln};

use crate::config::ConfigError;

/// Prints an error and chooses the exit code: 2 where the command line or the config is at fault,
/// 1 else.
pub fn exit(result: Result<ExitCode>) -> ExitCode {
    tabsegnet_store::exit(result, |cause| {
        let is_usage = cause.is::<ConfigError>()
            || cause.downcast_ref().is_some_and(SegmenterError::is_setting)
            || matches!(cause.downcast_ref(), Some(DataError::Setting { .. }))
            || matches!(cause.downcast_ref(), Some(DeviceError::NotBuilt(_)))
            || cause.downcast_ref().is_some_and(EncoderError::is_setting);
        is_usage.then_some(USAGE)
    })
}

/// Prints a result to stdout. That nobody reads it any more, as in `evaluate … | head`, is no
/// error: the files are still to be written.
pub fn print(text: &str) -> Result<()> {
    tabsegnet_store::print_if_read(text).context("stdout: could not write")
}

/// Opens a device and says which.
pub fn open_device(choice: DeviceChoice) -> Result<Device> {
    let (device, name) = device::open_device(choice)?;
    eprintln!("device: {name}");
    Ok(device)
}

/// Does work on a device; that the device fails in the midst of it is an error, too.
pub fn on_device<T>(device: &Device, work: impl FnOnce() -> Result<T>) -> Result<T> {
    guard(device, work)?
}

/// A flag that the first SIGINT or SIGTERM sets; the second ends the program at once.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let registered = signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)));
        registered.context("signals cannot be handled")?;
    }
    let told = Arc::clone(&stop);
    // A step may take minutes, and silence looks like a signal that was not heard.
    std::thread::spawn(move || {
        while !told.load(Ordering::Relaxed) {
            std::thread::sleep(TOLD_WITHIN);
        }
        eprintln!("stops when the step in progress is done; once more ends it at once");
    });
    Ok(stop)
}

/// How soon a signal is answered.
const TOLD_WITHIN: Duration = Duration::from_millis(200);
