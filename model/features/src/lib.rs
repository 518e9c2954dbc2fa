//! What can be said of a question and a node without a model: words, numbers and years that they
//! share, likeness of their vectors, BM25, places in the table, how a table fits the text around it.
//!
//! A node is compared part by part: its own text, its row-header path, its column-header path and
//! its table. What no question changes is worked out once a document ([`DocumentFeatures`]); a
//! question costs a pass over the document's distinct strings, and one over its nodes.
//!
//! Vectors come from outside: those of the nodes and of the strings in [`Strings::compared`] from
//! the ranker's encoder, those of the single words in [`Strings::words`] from a table of word
//! vectors.

mod assemble;
mod compare;
mod config;
mod context;
mod coverage;
mod dates;
mod marks;
mod numbers;
mod phrases;
mod places;
mod query;
mod question;
pub mod rows;
mod segments;
mod spans;
mod stems;
mod strings;
mod table_relevance;
pub mod table_scorer;
mod tables;
pub mod vectors;

pub use assemble::{DocumentFeatures, DocumentQuery, QueryFeatures, Reading};
pub use config::FeaturesConfig;
pub use question::{EncodedQuery, QueryVectors, Question};
pub use rows::FeatureRows;
pub use strings::Strings;
pub use table_scorer::TableScorer;

/// Names of [`DocumentQuery::coverage`], in order.
pub const COVERAGE: [&str; 26] = coverage::NAMES;

/// Words of a question that are looked at, the first of them.
pub const QUESTION_WORDS: usize = 64;
