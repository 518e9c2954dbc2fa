//! Retrieval over a corpus of tables.

pub mod gtr;
