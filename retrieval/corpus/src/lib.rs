//! Retrieval over a corpus of tables.
