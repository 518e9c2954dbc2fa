//! Features of a question and a node that need no model: words, numbers and years that they
//! share, cosines of their vectors, BM25, places in the table, how a table fits the document's sentences.
//!
//! A node is compared part by part: its own text, its row-header path, its column-header path and
//! its table. What no question changes is computed once a document ([`DocumentFeatures`]); a
//! question costs a pass over the document's distinct strings, and one over its nodes.
//!
//! Every feature is declared once, with its name and how it is computed ([`features!`]); `config.rs` lists the
//! declarations in order, each with the group that switches it.
//!
//! Vectors come from outside: those of the nodes and of the strings in [`Strings::compared`] from
//! the ranker's encoder, those of the single words in [`Strings::words`] from a table of word
//! vectors.

#[macro_use]
mod schema;

mod assemble;
mod bm25;
mod compare;
mod config;
mod context;
mod coverage;
mod dates;
mod kind;
mod marks;
mod naming;
mod numbers;
mod order;
mod phrases;
mod places;
mod query;
mod question;
pub mod reports;
pub mod rows;
mod sections;
mod segments;
mod spans;
mod stems;
mod strings;
mod table_relevance;
pub mod table_scorer;
mod tables;
pub mod vectors;
pub mod wanted;

pub use assemble::{DocumentFeatures, NodeFeatures, Reading};
pub use config::FeaturesConfig;
pub use coverage::Coverage;
pub use naming::Naming;
pub use query::{Query, QueryVectors};
pub use rows::FeatureRows;
pub use schema::{Feature, Schema, flag};
pub use strings::Strings;
pub use table_scorer::{TableScore, TableScorer};

/// Words of a question that are looked at, the first of them.
pub const QUESTION_WORDS: usize = 64;
