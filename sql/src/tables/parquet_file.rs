//! Parquet files as tables of a database.

use std::path::Path;

use rusqlite::{Connection, params_from_iter};
use tabsegnet_records::parquet_file::{self, Kind};

use super::{ColumnType, ImportError, ImportedColumn, MAX_COLUMNS, Names};
use crate::catalogue::quote;

/// Makes a table of a file; its columns, those of digits behind their own.
///
/// # Errors
/// A file that cannot be read, or has a value that SQLite cannot hold.
pub(super) fn import(file: &Path, connection: &Connection, table: &str) -> Result<Vec<ImportedColumn>, ImportError> {
    parquet_file::with(file, |parquet| {
        let (mut names, mut imported, mut definitions) = (Names::default(), Vec::new(), Vec::new());
        for (source, column) in parquet.columns().iter().enumerate() {
            let kind = match column.kind {
                Kind::Integer => ColumnType::Integer,
                Kind::Real | Kind::Decimal { .. } => ColumnType::Real,
                _ => ColumnType::Text,
            };
            let declared = match column.kind {
                Kind::Date => "DATE",
                Kind::Timestamp { .. } => "TIMESTAMP",
                Kind::Bytes => "BLOB",
                _ => kind.sql(),
            };
            let of_file = |name: String, kind: ColumnType, text_of_number: bool| ImportedColumn {
                name,
                header: column.name.clone(),
                kind,
                unit: None,
                source,
                text_of_number,
            };
            let name = names.take(&column.name, &format!("column_{}", source + 1));
            definitions.push(format!("{} {declared}", quote(&name)));
            imported.push(of_file(name.clone(), kind, false));
            if column.has_digits() {
                let name = names.take(&format!("{name}_text"), "text");
                definitions.push(format!("{} TEXT", quote(&name)));
                imported.push(of_file(name, ColumnType::Text, true));
            }
        }
        let count = imported.len();
        if count > MAX_COLUMNS || count == 0 {
            let message = format!("has {count} columns; a table can have 1 to {MAX_COLUMNS}");
            return Err(ImportError::File { path: file.to_owned(), message });
        }
        connection.execute(&format!("CREATE TABLE {} ({})", quote(table), definitions.join(", ")), [])?;
        let marks = vec!["?"; count].join(", ");
        let mut insert = connection.prepare(&format!("INSERT INTO {} VALUES ({marks})", quote(table)))?;
        for values in parquet.rows()? {
            insert.execute(params_from_iter(values?))?;
        }
        Ok(imported)
    })
}
