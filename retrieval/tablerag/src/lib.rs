//! Questions over documents of text and tables, after TableRAG (Yu et al. 2025, arXiv 2506.10380).
//!
//! A [`Library`] takes documents in, such as [`read_files`] reads from files and folders: chunks of text and of tables go
//! into an index, tables into a database, and each chunk of a table knows the table's schema. [`Rounds`] answer a question:
//! chunks are recalled and put in order, of those that are of tables the schemas lead to SQL, which runs in the sandbox,
//! and what rows and texts say is weighed. A [`Planner`] says what is looked for, which statement is run and which source
//! is believed: [`Rules`] without a language model,
//! [`ModelPlanner`] with one.

mod candidates;
mod chunk;
mod error;
mod execute;
mod files;
mod library;
mod links;
mod model;
mod partial_links;
mod planner;
mod reranker;
mod rounds;
mod rules;
mod schema;
mod search;
mod seen;
mod settings;
mod siblings;
mod statements;
mod trace;

pub use candidates::Candidates;
pub use chunk::{Chunk, ChunkSettings, Span, chunks};
pub use error::LibraryError;
pub use execute::{Cited, Executed, Execution};
pub use files::{ReadFiles, read_files};
pub use library::{Library, Source, StoredTable};
pub use model::ModelPlanner;
pub use planner::{Evidence, Need, Planner, State, Statement, Step, Trust, Weighed};
pub use reranker::{PROPOSING, Reranker};
pub use rounds::{Check, Outcome, RoundError, Rounds};
pub use rules::{Reader, Reading, Rules};
pub use schema::{SchemaColumn, TableSchema};
pub use search::{Found, Recalled};
pub use settings::RoundSettings;
pub use siblings::Meant;
pub use trace::{KeptChunk, RoundEvent};
