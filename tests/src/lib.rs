//! What the end-to-end tests share: the programs, a place to run them in, and generated data.

mod built;
mod data;
mod programs;
mod work;

pub use data::{native_lines, report, table_document};
pub use programs::{Outcome, interrupt, program, wait_for};
pub use work::{Files, TINY, Work, files};
