//! Generated data: reports ([`synthetic`]), questions from the tags of filings with inline XBRL ([`ixbrl`]),
//! questions from the headers of tables by templates ([`headers`]), and corpora of tables cut in parts, with questions
//! that need all parts of one ([`multitable`]).
//!
//! Everything here is a function of its settings and a seed, on every platform.

mod dice;
pub mod headers;
pub mod ixbrl;
pub mod multitable;
pub mod synthetic;

use tabsegnet_datasets::{Dataset, Registry};

/// All data sets: those that are read from files, and those that are generated; one line each.
pub fn registry() -> Registry {
    let generated = [&ixbrl::Ixbrl as &dyn Dataset, &synthetic::Synthetic];
    Registry::new(tabsegnet_datasets::registry().iter().chain(generated))
}
