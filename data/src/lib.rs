//! Documents, data sets, graphs: everything before the first vector.
//!
//! The document model and the readers of single documents are those of `tabsegnet-document`.
//! A data set is read into [`sample::Sample`]s ([`native`], [`finqa`], [`synthetic`]), distractor
//! tables are added ([`distractors`]), each document becomes a typed graph ([`graph`]), and the
//! whole is kept as Parquet ([`prepared`]).

pub mod config;
pub mod distractors;
pub mod error;
pub mod finqa;
pub mod graph;
pub mod lexical;
pub mod native;
pub mod prepared;
pub mod sample;
pub mod synthetic;

pub use error::DataError;
pub use tabsegnet_document::{model as document, node_id, numbers};
