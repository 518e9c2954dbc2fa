//! What the end-to-end tests share: the programs, a place to run them in, and generated data.

mod data;
mod programs;
mod work;

pub use data::{native_lines, report, table_document};
pub use programs::{Outcome, interrupt, program, wait_for};
pub use work::{TINY, Work, files};

use std::io::Write as _;

/// Says on stderr that a test could not do what it is for; not by `eprintln`, which the harness
/// shows for tests that fail only.
pub fn skipped(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {test}: {why}\n");
}
