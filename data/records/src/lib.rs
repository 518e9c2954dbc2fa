//! Files of records, as documents with a table each: Parquet, JSON lines, and SQLite databases with all their tables.
//!
//! [`parquet_file`] and [`sqlite`] also give values as they are, and connections that write nothing, for what queries them.

mod error;
pub mod iso;
mod lines;
pub mod parquet_file;
mod records;
pub mod sqlite;
mod values;

pub use error::RecordsError;
pub use records::{ReadFile, has_records, json_lines, read_file, read_records};
pub use sqlite::{is_database, read_database};
pub use values::hex;
