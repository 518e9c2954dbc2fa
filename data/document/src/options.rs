//! How to read a document: its form, what is known of its tables, and limits.

use std::collections::BTreeMap;

/// How to read a document. The default reads by name and content, infers all headers and has the
/// limits of [`Limits::default`].
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The form; by the file's name and content unless given.
    pub format: Option<crate::Format>,
    /// Header rows of every table; inferred unless given.
    pub header_rows: Option<usize>,
    /// Header columns of every table; inferred unless given.
    pub header_cols: Option<usize>,
    /// What holds for single tables, by number; comes before what holds for all.
    pub tables: BTreeMap<usize, HeaderOverride>,
    /// Bounds.
    pub limits: Limits,
}

/// What is known of one table's headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeaderOverride {
    /// Header rows; inferred unless given.
    pub header_rows: Option<usize>,
    /// Header columns; inferred unless given.
    pub header_cols: Option<usize>,
}

/// Bounds on what one document may take. A file beyond `max_file_bytes` or `max_unpacked_bytes` is
/// an error; beyond the others it is cut, and a warning says where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the file; 256 MiB.
    pub max_file_bytes: u64,
    /// Bytes that a packed file (XLSX) may unpack to; 512 MiB.
    pub max_unpacked_bytes: u64,
    /// Grid positions of one table; 1,000,000, never more than [`crate::model::MAX_GRID_POSITIONS`].
    pub max_cells_per_table: usize,
    /// Cells of all tables together; 4,000,000. Tables beyond are left out.
    pub max_cells: usize,
    /// How deep elements of a page may be nested; 512, as in browsers.
    pub max_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_file_bytes: 256 << 20,
            max_unpacked_bytes: 512 << 20,
            max_cells_per_table: 1_000_000,
            max_cells: 4_000_000,
            max_depth: 512,
        }
    }
}
