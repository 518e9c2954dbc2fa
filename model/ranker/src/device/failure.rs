//! A device that fails at work, as an error.
//!
//! Of a GPU that runs out of memory or refuses a kernel, burn learns when it reads a result, and
//! panics there; some failures panic on cubecl's own thread, and what is read later is whatever the
//! memory held. Neither comes as a `Result`, so [`guard`] catches both.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use burn::tensor::Device;

use super::is_cpu;

/// A GPU failed at work. What it computed since is not to be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DeviceFailure {
    /// It has not enough memory, at all or in one piece.
    #[error(
        "the device is out of memory ({0}); a smaller batch or document takes less, --device cpu takes the computer's \
         memory"
    )]
    OutOfMemory(String),
    /// Anything else.
    #[error("the device failed: {0}")]
    Other(String),
}

thread_local! {
    /// Whether this thread is in [`guard`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// How many threads are in [`guard`]: threads of rayon's then work for one of them.
static GUARDS: AtomicUsize = AtomicUsize::new(0);

/// What the first failure since the last look said.
static FAILURE: Mutex<Option<String>> = Mutex::new(None);

/// Does work on a device; a failure of the device is an error. On the processor nothing is caught: a
/// panic there is a defect of the program.
///
/// # Errors
/// The device fails. Nothing that the work has changed is to be used then.
pub fn guard<T>(device: &Device, work: impl FnOnce() -> T) -> Result<T, DeviceFailure> {
    if is_cpu(device) {
        return Ok(work());
    }
    listen();
    let outer = GUARDED.replace(true);
    GUARDS.fetch_add(1, Ordering::SeqCst);
    // Nothing is used after a failure that it might have left half changed.
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    GUARDS.fetch_sub(1, Ordering::SeqCst);
    let failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (result, failure) {
        (Ok(value), None) => Ok(value),
        (_, Some(message)) => Err(DeviceFailure::of(&message)),
        (Err(_), None) => Err(DeviceFailure::Other("it gave no reason".to_owned())),
    }
}

/// Keeps the messages of panics in [`guard`], on rayon's threads meanwhile and on cubecl's threads; all others go on to be printed.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let thread = std::thread::current();
            let of_cubecl = thread.name().is_some_and(|name| name.starts_with("DSU-") || name.starts_with("DSD-"));
            let of_rayon = rayon::current_thread_index().is_some() && GUARDS.load(Ordering::SeqCst) > 0;
            if !GUARDED.get() && !of_rayon && !of_cubecl {
                return before(info);
            }
            let message = info.payload_as_str().unwrap_or("a panic without a message").to_owned();
            FAILURE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
        }));
    });
}

impl DeviceFailure {
    /// Of a panic's message, which names causes from the outermost on, some with a backtrace.
    fn of(message: &str) -> Self {
        let message = message.replace("\\n", "\n");
        let last = message.rsplit("Caused by:").next().unwrap_or_default();
        let lines = last.lines().map(str::trim);
        let said: Vec<&str> = lines.take_while(|line| !line.to_lowercase().contains("backtrace")).collect();
        let said = said.join(" ").trim().to_owned();
        let lower = message.to_lowercase();
        if ["out of memory", "out of device memory", "can't allocate"].iter().any(|words| lower.contains(words)) {
            Self::OutOfMemory(said)
        } else {
            Self::Other(said)
        }
    }
}
