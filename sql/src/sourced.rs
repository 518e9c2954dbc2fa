//! Rows with where their cells come from, as they are written.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::origins::{Origin, Origins};
use crate::rows::{Column, Format, Rows, Value, plain};
use crate::tables::{Cited, FileDatabase};

/// Where a value of a result comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// The cell of the database.
    #[serde(flatten)]
    pub origin: Origin,
    /// The cell of the file, where the database was made from files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cited: Option<Cited>,
}

impl Source {
    /// `items:3`, the table and the row's id, `items:id=3`, the table and the row's key, or `sales.csv t0:r3c1`, the file
    /// and the cell's node id.
    fn short(&self) -> String {
        match &self.cited {
            None => {
                let id = self.origin.row_id.map(|row_id| row_id.to_string());
                let key = self.origin.key.iter().map(|(column, value)| format!("{column}={}", plain(value)));
                format!("{}:{}", self.origin.table, id.into_iter().chain(key).collect::<Vec<_>>().join(","))
            }
            Some(cited) => {
                let file = cited.file.file_name().unwrap_or(cited.file.as_os_str()).to_string_lossy();
                format!("{file} {}", cell_of(cited))
            }
        }
    }
}

/// A cell of a file: its node id, else its row and column.
pub(crate) fn cell_of(cited: &Cited) -> String {
    cited.node.clone().unwrap_or_else(|| format!("r{}c{}", cited.row, cited.column))
}

/// Cells that an aggregate was made of, of which a column tells.
const CELLS: usize = 12;

/// Rows with where their cells come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourcedRows {
    /// The rows.
    #[serde(flatten)]
    pub rows: Rows,
    /// Per row, per column; empty where nothing is known of any.
    pub sources: Vec<Vec<Option<Source>>>,
    /// The rows that an aggregate was made of, where these are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<Box<SourcedRows>>,
}

impl SourcedRows {
    /// Puts rows and origins together, and looks the cells up in the files that the database was made from.
    pub fn new(rows: Rows, origins: Origins, files: Option<&FileDatabase>) -> Self {
        let source = |origin: Origin| {
            let cited = files.and_then(|files| files.cited(&origin.table, origin.row_id?, &origin.column));
            Source { origin, cited }
        };
        let sources = origins.into_iter().map(|row| row.into_iter().map(|cell| cell.map(source)).collect()).collect();
        Self { rows, sources, behind: None }
    }

    /// The cells that a row comes from, each once.
    fn named(&self, row: usize) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for source in self.sources.get(row).into_iter().flatten().flatten() {
            let short = source.short();
            if !named.contains(&short) {
                named.push(short);
            }
        }
        named
    }

    /// The first cells that a row of aggregates was made of. Of several rows each is of a group, whose key stands first behind them;
    /// nothing where the rows do not show it.
    fn cells_behind(&self, row: usize) -> Vec<String> {
        let Some(behind) = &self.behind else { return Vec::new() };
        let key = || {
            let key = behind.rows.columns.first().filter(|key| key.column.is_some())?;
            let is_key = |column: &Column| (&column.table, &column.column) == (&key.table, &key.column);
            self.rows.rows.get(row)?.get(self.rows.columns.iter().position(is_key)?)
        };
        let of_group = match self.rows.rows.len() {
            1 => None,
            _ => match key() {
                Some(key) => Some(key),
                None => return Vec::new(),
            },
        };
        let is_of = |at: &usize| match of_group {
            Some(key) => behind.rows.rows.get(*at).and_then(|row| row.first()) == Some(key),
            None => true,
        };
        let cells = (0..behind.sources.len()).filter(is_of).flat_map(|at| behind.named(at));
        let mut cells: Vec<String> = cells.take(CELLS + 1).collect();
        if cells.len() > CELLS {
            cells.truncate(CELLS);
            cells.push("…".to_owned());
        }
        cells
    }

    /// Writes the rows as [`Rows::write`] does, with the sources as `sources` in JSON, else in a last column `source`
    /// that names each cell once.
    ///
    /// # Errors
    /// What the output gives.
    pub fn write(&self, format: Format, output: &mut impl Write) -> io::Result<()> {
        if format == Format::Json {
            serde_json::to_writer(&mut *output, self)?;
            return writeln!(output);
        }
        let mut rows = self.rows.clone();
        rows.columns.push(Column { name: "source".to_owned(), table: None, column: None });
        for (at, row) in rows.rows.iter_mut().enumerate() {
            let mut named = self.named(at);
            if named.is_empty() {
                named = self.cells_behind(at);
            }
            row.push(if named.is_empty() { Value::Null } else { Value::Text(named.join(", ")) });
        }
        rows.write(format, output)
    }
}
