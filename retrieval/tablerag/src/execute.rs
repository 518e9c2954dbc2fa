//! Statements in the sandbox, and the cells that their rows come from.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};
use tabsegnet_document::node_id;
use tabsegnet_sql::{Database, Origins, QueryError, Rows, Sandbox, Source, SourcedRows, rows_behind, worker};

use crate::library::Library;

/// Where statements run.
#[derive(Debug, Clone, Default)]
pub struct Execution {
    /// A program that serves [`worker`]: a statement then runs in a process of its own, which is what one that nobody
    /// vouches for needs. Without it in this process, read-only and within the same limits.
    pub program: Option<OsString>,
    /// The limits.
    pub sandbox: Sandbox,
}

/// Cells that are cited of the rows behind an aggregate.
const CITED: usize = 20;

/// A cell, or a passage, that an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// The document.
    pub document: String,
    /// Its node id, such as `t0:r3c2`.
    pub node: String,
    /// Its text as the document has it.
    pub text: String,
    /// Row-header path of a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_headers: Option<String>,
    /// Column-header path of a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column_headers: Option<String>,
    /// The table's number, the row and the column of its grid; none for a passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<(usize, usize, usize)>,
}

/// A statement that was run, and what its rows come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Executed {
    /// The statement.
    pub sql: String,
    /// Its rows.
    pub rows: Rows,
    /// Cells that they come from; of an aggregate the first ones that it was made of.
    pub cited: Vec<Cited>,
    /// Whether there are more such cells.
    pub more: bool,
    /// What speaks against the statement, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Execution {
    fn query(&self, library: &Library, sql: &str, sandbox: &Sandbox) -> Result<(Rows, Origins), QueryError> {
        let path = library.database().path();
        match &self.program {
            Some(program) => {
                let answer = worker::query_with_origins(program, path, sandbox, sql);
                Ok((answer.rows?, answer.origins))
            }
            None => Database::open(path, sandbox)?.query_with_origins(sql),
        }
    }

    /// Runs a statement over the tables of a library.
    ///
    /// # Errors
    /// It is refused, reaches a limit, or the database cannot be read.
    pub fn run(&self, library: &Library, sql: &str) -> Result<Executed, QueryError> {
        let (rows, origins) = self.query(library, sql, &self.sandbox)?;
        let files = library.database();
        let mut more = false;
        let mut cited = cells(library, &SourcedRows::new(rows.clone(), origins, Some(files)), &mut more);
        if cited.is_empty()
            && let Some(behind) = rows_behind(sql)
        {
            let few = Sandbox { rows: CITED, ..self.sandbox.clone() };
            // What cannot be shown is not cited: the rows stand.
            if let Ok((rows, origins)) = self.query(library, &behind, &few) {
                more = rows.truncated;
                cited = cells(library, &SourcedRows::new(rows, origins, Some(files)), &mut more);
            }
        }
        Ok(Executed { sql: sql.to_owned(), rows, cited, more, notes: Vec::new() })
    }
}

/// The cells of rows, each once, row by row.
fn cells(library: &Library, rows: &SourcedRows, more: &mut bool) -> Vec<Cited> {
    let mut found: Vec<Cited> = Vec::new();
    for Source { origin, cited } in rows.sources.iter().flatten().flatten() {
        // Of a row without a column, as of one that is counted, the first cell.
        let cited = cited.clone().or_else(|| library.database().first_cell(&origin.table, origin.row_id?));
        let Some(cited) = cited else { continue };
        if found.len() >= CITED {
            *more = true;
            break;
        }
        let stored =
            library.tables().iter().position(|table| table.schema.table_name.eq_ignore_ascii_case(&origin.table));
        let Some(cell) = stored.and_then(|table| cell(library, table, cited.row, cited.column)) else { continue };
        if !found.contains(&cell) {
            found.push(cell);
        }
    }
    found
}

pub(crate) fn cell(library: &Library, table: usize, row: usize, col: usize) -> Option<Cited> {
    let stored = library.tables().get(table)?;
    let document = library.sources().get(stored.document)?.name.display().to_string();
    let table = library.table(table)?;
    let cell = table.cell_at(row, col)?;
    let path = |headers: Vec<usize>| Some(table.path(&headers)).filter(|path| !path.is_empty());
    Some(Cited {
        document,
        node: node_id::cell(table, cell),
        text: cell.text.clone(),
        row_headers: path(table.row_headers_of(cell)),
        column_headers: path(table.column_headers_of(cell)),
        cell: Some((stored.number, cell.row, cell.col)),
    })
}
