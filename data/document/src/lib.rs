//! Documents: the model (headings, passages and tables, [`model`]), and readers into it ([`read()`]).
//!
//! A reader finds paragraphs and tables; sentences, captions, header rows and columns and what
//! stands under what are worked out here in one way for all of them, and shown
//! ([`ReadDocument::tables`]) so that it can be overridden ([`ReadOptions`]).

mod builder;

mod decode;
mod delimited;
mod docling;
mod error;
pub mod facts;
pub mod folders;
mod format;
mod grid;
mod headers;
mod html;
mod kind;
pub mod layout;
mod locations;
mod markdown;
pub mod model;
pub mod months;
pub mod native;
pub mod node_id;
pub mod numbers;
mod options;
mod read;
pub mod sentences;
mod text;
mod texts;
mod xlsx;

pub use decode::decode;
pub use error::{ReadError, from_json};
pub use format::{Format, KNOWN, extension};
pub use layout::Layout;
pub use locations::{Location, Locations};
pub use options::{HeaderOverride, Limits, ReadOptions};
pub use read::{Cut, Inferred, ReadDocument, read, read_bytes, read_source};
pub use texts::{KnownTable, Region, table_of_html, table_of_texts, table_with};
