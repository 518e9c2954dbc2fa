//! Documents, data sets, graphs: everything before the first vector.
//!
//! The document model and the readers of single documents are those of `tabsegnet-document`.
//! A data set is read into [`sample::Sample`]s ([`native`], [`finqa`], [`multihiertt`], [`tatqa`],
//! [`hybridqa`], [`hitab`], [`ixbrl`], [`synthetic`], several of them by [`mix`]; [`source`] says which),
//! distractor tables are added ([`distractors`]), each document becomes a typed graph (crate `tabsegnet-graph`),
//! and the whole is ready for training and ranking ([`prepared`]).

pub mod config;
mod dice;
pub mod distractors;
pub mod error;
pub mod finqa;
pub mod generated;
pub mod hitab;
pub mod hybridqa;
pub mod ixbrl;
pub mod lexical;
pub mod mix;
pub mod months;
pub mod multihiertt;
pub mod native;
pub mod prepared;
mod record;
pub mod sample;
pub mod silver;
pub mod source;
pub mod synthetic;
pub mod tatqa;
mod values;

pub use error::DataError;
pub use tabsegnet_document::{model as document, node_id, numbers};
