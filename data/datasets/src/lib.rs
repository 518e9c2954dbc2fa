//! Data sets: documents with questions and gold nodes.
//!
//! A data set ([`Dataset`]) is read into [`sample::Samples`]. Those that are read from files are registered here
//! ([`registry`]), one module each, what is generated in `tabsegnet-generate`, and [`mix`] puts several together.
//! [`source`] says which files one is read from, each document becomes a typed graph, and the whole is ready for
//! training and ranking ([`prepared`]).

mod aitqa;
pub mod config;
pub mod dataset;
mod distractors;
pub mod error;
mod files;
mod finqa;
mod hitab;
mod hybridqa;
pub mod mix;
mod multihiertt;
pub mod native;
pub mod prepared;
mod record;
pub mod sample;
pub mod silver;
pub mod source;
mod table_questions;
pub mod tables;
mod tatqa;
#[cfg(test)]
mod testing;
pub mod values;

pub use dataset::{AnswerRule, Dataset, Extra, Inputs, Registry};
pub use error::DataError;
pub use tabsegnet_document::{model as document, node_id, numbers};

/// The data sets that are read from files; one line each.
pub fn registry() -> Registry {
    Registry::new([
        &finqa::Finqa as &dyn Dataset,
        &multihiertt::Multihiertt,
        &tatqa::Tatqa,
        &hybridqa::Hybridqa,
        &hitab::HITAB,
        &aitqa::AITQA,
        &native::Native,
        &files::OwnFiles,
    ])
}
