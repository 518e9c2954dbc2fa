//! Read-only SQL on SQLite databases for statements that nobody vouches for, such as those a language model writes.
//!
//! [`Database`] runs one `SELECT` at a time behind SQLite's authorizer, with limits, a deadline and tables that can be
//! hidden. A few built-in functions of SQLite cannot be interrupted; [`worker`] therefore runs a statement in a child
//! process that is killed when its time is over, and is what the program `query` uses.

mod catalogue;
pub mod compose;
mod database;
mod derived;
mod error;
mod file;
#[cfg(feature = "polars")]
mod frame;
mod functions;
pub mod generate;
pub mod joins;
pub mod linking;
pub mod llm;
mod local_names;
mod narrowed;
mod nearest;
mod origins;
mod policy;
#[cfg(feature = "postgres")]
pub mod postgres;
mod propose;
mod refined;
mod rows;
mod rows_as_parquet;
mod rows_behind;
mod sandbox;
mod schema;
pub mod schema_graph;
mod sourced;
mod statement;
pub mod tables;
mod unsaid;
mod walk;
pub mod worker;
mod written;

pub use catalogue::{literal, quote};
pub use database::Database;
pub use error::QueryError;
pub use narrowed::{Narrowed, narrowed};
pub use nearest::nearest;
pub use origins::{Origin, Origins};
pub use propose::{ProposeError, Run, SEARCH, Target, Then, linked, named_as_records, propose, schema_graph_of};
pub use rows::{Column, Format, Rows, Value};
pub use rows_behind::rows_behind;
pub use sandbox::Sandbox;
pub use schema::{ColumnInfo, ForeignKey, Schema, Table, View};
pub use sourced::{Source, SourcedRows};
