//! What a table of the database is told as: its name, and of each column name, type and examples.

use serde::{Deserialize, Serialize};
use tabsegnet_document::model::Table;
use tabsegnet_sql::tables::ImportedTable;
use tabsegnet_store::one_line;

use crate::chunk::cell;

/// Examples of a column.
const EXAMPLES: usize = 3;
/// Characters of an example.
const LENGTH: usize = 40;

/// A table's schema, in the form of the paper's template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSchema {
    /// The table in the database.
    pub table_name: String,
    /// Of each column name, type and examples.
    pub columns: Vec<SchemaColumn>,
}

/// A column: name, type as SQLite spells it, and cells as the document has them, with commas between.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaColumn(pub String, pub String, pub String);

impl TableSchema {
    /// The schema of a table that was put into the database.
    pub(crate) fn new(imported: &ImportedTable, table: &Table) -> Self {
        let column = |column: &tabsegnet_sql::tables::ImportedColumn| {
            let mut examples: Vec<String> = Vec::new();
            for row in imported.header_rows()..table.rows() {
                let text = one_line(cell(table, row, column.source));
                let text: String = text.chars().take(LENGTH).collect();
                if !text.is_empty() && !examples.contains(&text) {
                    examples.push(text);
                }
                if examples.len() == EXAMPLES {
                    break;
                }
            }
            SchemaColumn(column.name.clone(), column.kind.sql().to_owned(), examples.join(", "))
        };
        Self { table_name: imported.name.clone(), columns: imported.columns.iter().map(column).collect() }
    }
}
