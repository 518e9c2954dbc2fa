//! Retrieval over a corpus of tables.
//!
//! A corpus is a folder that a [`Writer`] fills and [`Corpus::open`] opens: immutable, memory-mapped segments with the
//! tables, their words by field, a vector each and what links them, a list of the files that they are from, and
//! `corpus.json`, which names all of these and is replaced whole. A question becomes a [`Query`]; [`Retriever`]s rank the
//! tables for it.

mod adapter;
mod build;
mod candidates;
mod cells;
mod corpus;
mod error;
mod fields;
mod file;
mod graph_retriever;
pub mod gtr;
mod join;
mod link_rank;
pub mod links;
mod listwise;
mod manifest;
mod named;
mod postings;
mod pruned;
mod rerank;
mod retrieve;
mod scores;
mod segment;
mod sources;
#[cfg(test)]
mod testing;
mod vectors;
mod writer;

pub use adapter::QueryAdapter;
pub use candidates::{CandidateConfig, Candidates};
pub use corpus::{Corpus, Hit, Query, TableRef};
pub use error::CorpusError;
pub use fields::{Field, schema_text, terms};
pub use graph_retriever::GtrRetriever;
pub use join::join;
pub use link_rank::LinkRank;
pub use listwise::Listwise;
pub use manifest::{FORMAT, Manifest, SegmentEntry, SourceFile, StoredFile};
pub use named::of_others;
pub use rerank::Rerank;
pub use retrieve::{Fusion, Retriever, Rrf, Weights};
pub use scores::Scores;
pub use segment::Segment;
pub use sources::{FileChange, files, folders_below};
pub use vectors::VectorKind;
pub use writer::{Change, IndexConfig, Writer, is_corpus};
