//! Questions over documents of text and tables, after TableRAG (Yu et al. 2025, arXiv 2506.10380).
//!
//! A [`Library`] takes documents in: chunks of text and of tables go into an index, tables into a database, and each chunk
//! of a table knows the table's schema. A question is answered in rounds: chunks are recalled and put in order, of those
//! that are of tables the schemas lead to SQL, which runs in the sandbox, and what rows and texts say is weighed.

mod chunk;
mod error;
mod library;
mod links;
mod schema;
mod search;

pub use chunk::{Chunk, ChunkSettings, Span, chunks};
pub use error::LibraryError;
pub use library::{Library, Source, StoredTable};
pub use schema::{SchemaColumn, TableSchema};
pub use search::{Candidates, Found, PROPOSING, Recall, Reranker};
