//! Tables of texts as tables of SQLite: names, types and values from a header and cells.
//!
//! A column becomes a number column where its cells are numbers as people write them; nothing is lost, as a column of
//! texts stands beside it wherever a cell says more than its number.

mod column;
mod files;
mod parquet_file;

use std::collections::HashSet;

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};
use serde::{Deserialize, Serialize};
use tabsegnet_document::numbers::Sign;

use crate::catalogue::quote;
use column::Inferred;
pub use files::{Cited, FileDatabase, ImportError, ImportedTable, is_of_records};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// Texts; dates too.
    Text,
}

impl ColumnType {
    /// As SQLite spells it.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Text => "TEXT",
        }
    }
}

/// A column of an imported table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedColumn {
    /// The name in the database: letters, digits and `_`; never empty, unique in its table in any case of letters.
    pub name: String,
    /// What the header says.
    pub header: String,
    /// The type.
    pub kind: ColumnType,
    /// What all numbers of the column count, by the sign beside them: `%`, a currency's sign or `#`.
    pub unit: Option<char>,
    /// The column of the file, from 0.
    pub source: usize,
    /// Whether it holds the texts of the number column before it.
    pub text_of_number: bool,
}

/// A table ready for a database.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    columns: Vec<ImportedColumn>,
    /// Per column the values, one a row.
    values: Vec<Vec<SqlValue>>,
    rows: usize,
}

/// The longest name of a table or column, in characters.
const NAME: usize = 60;

/// Most columns of a table; SQLite's own limit, and that of the sandbox.
pub const MAX_COLUMNS: usize = 2000;

impl Import {
    /// Infers names and types. Rows may be shorter or longer than the header: what is missing is NULL, and columns
    /// without a header get a name of their own.
    pub fn new(header: &[String], rows: &[Vec<String>]) -> Self {
        let width = rows.iter().map(Vec::len).max().unwrap_or(0).max(header.len());
        let mut names = Names::default();
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for source in 0..width {
            let header = header.get(source).map_or("", |text| text.trim());
            let cells: Vec<&str> = rows.iter().map(|row| row.get(source).map_or("", |text| text.trim())).collect();
            let Inferred { kind, sign, values: numbers, whole } = column::infer(&cells);
            let name = names.take(header, &format!("column_{}", source + 1));
            let unit = sign.map(|sign| match sign {
                Sign::Percent => '%',
                Sign::Currency(sign) => sign,
                Sign::Rank => '#',
            });
            let column = ImportedColumn {
                name: name.clone(),
                header: header.to_owned(),
                kind,
                unit,
                source,
                text_of_number: false,
            };
            columns.push(column.clone());
            values.push(numbers);
            if !whole {
                let name = names.take(&format!("{name}_text"), "text");
                columns.push(ImportedColumn {
                    name,
                    kind: ColumnType::Text,
                    unit: None,
                    text_of_number: true,
                    ..column
                });
                values.push(cells.into_iter().map(column::text).collect());
            }
        }
        Self { columns, values, rows: rows.len() }
    }

    /// The columns in their order.
    pub fn columns(&self) -> &[ImportedColumn] {
        &self.columns
    }

    /// Makes the table. Its row ids are the numbers of the rows, from 1.
    ///
    /// # Errors
    /// What SQLite gives; more than [`MAX_COLUMNS`] columns are one.
    pub fn write(&self, connection: &Connection, table: &str) -> rusqlite::Result<()> {
        let columns: Vec<String> =
            self.columns.iter().map(|column| format!("{} {}", quote(&column.name), column.kind.sql())).collect();
        connection.execute(&format!("CREATE TABLE {} ({})", quote(table), columns.join(", ")), [])?;
        let marks = vec!["?"; self.columns.len()].join(", ");
        let mut insert = connection.prepare(&format!("INSERT INTO {} VALUES ({marks})", quote(table)))?;
        for row in 0..self.rows {
            let values = self.values.iter().map(|column| column.get(row).unwrap_or(&SqlValue::Null));
            insert.execute(params_from_iter(values))?;
        }
        Ok(())
    }
}

/// Names that were given, in lower case.
#[derive(Debug, Default)]
struct Names(HashSet<String>);

impl Names {
    /// A name of letters, digits and `_` from a text, or the other one where nothing is left; with a number behind it
    /// where it was given before. SQLite's names of row ids are never given.
    fn take(&mut self, text: &str, otherwise: &str) -> String {
        let mut name = String::new();
        for letter in text.chars() {
            match letter {
                _ if letter.is_alphanumeric() => name.extend(letter.to_lowercase()),
                '%' => name.push_str("_percent_"),
                '#' => name.push_str("_number_"),
                _ if !name.ends_with('_') => name.push('_'),
                _ => {}
            }
        }
        let name: String = name.trim_matches('_').chars().take(NAME).collect();
        let mut name = name.trim_end_matches('_').replace("__", "_");
        if name.is_empty() {
            otherwise.clone_into(&mut name);
        } else if name.starts_with(|first: char| first.is_numeric()) {
            name.insert(0, '_');
        }
        let row_id = ["rowid", "oid", "_rowid_"].contains(&name.as_str()) || name.starts_with("sqlite_");
        let base = if row_id { format!("{name}_of_row") } else { name };
        let mut found = base.clone();
        let mut number = 2;
        while !self.0.insert(found.clone()) {
            found = format!("{base}_{number}");
            number += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn import(header: &[&str], rows: &[&[&str]]) -> Import {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Import::new(&own(header), &rows.iter().map(|row| own(row)).collect::<Vec<_>>())
    }

    fn names(import: &Import) -> Vec<&str> {
        import.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn names_are_unique_and_never_empty() {
        let found = import(&["Name", "name", "", "NAME_2", "rowid", "%", "2008", "Größe (m)", "a.b"], &[&["x"]]);
        assert_eq!(
            names(&found),
            ["name", "name_2", "column_3", "name_2_2", "rowid_of_row", "percent", "_2008", "größe_m", "a_b"]
        );
        assert_eq!(found.columns[0].header, "Name");
    }

    #[test]
    fn a_text_column_keeps_what_a_number_does_not_say() {
        let found = import(&["Pop"], &[&["1,115"], &["–"], &["2,300 (est.)"]]);
        assert_eq!(names(&found), ["pop", "pop_text"]);
        assert_eq!(found.values[0], [SqlValue::Integer(1115), SqlValue::Null, SqlValue::Integer(2300)]);
        assert_eq!(found.values[1][2], SqlValue::Text("2,300 (est.)".to_owned()));
        let plain = import(&["Pop"], &[&["1,115"], &["–"], &["(2.5)"]]);
        assert_eq!((names(&plain), plain.columns[0].kind), (vec!["pop"], ColumnType::Real));
    }

    #[test]
    fn ragged_rows_and_no_rows() {
        let found = import(&["a"], &[&["1", "x"], &[]]);
        assert_eq!(names(&found), ["a", "column_2"]);
        assert_eq!(found.values[1], [SqlValue::Text("x".to_owned()), SqlValue::Null]);
        assert!(import(&[], &[]).columns.is_empty());
        assert_eq!(import(&["a"], &[]).columns[0].kind, ColumnType::Text);
    }

    proptest! {
        /// Any header and any cells make a table that SQLite takes, with all rows.
        #[test]
        fn any_texts_make_a_table(
            header in proptest::collection::vec("\\PC{0,8}", 1..6),
            rows in proptest::collection::vec(proptest::collection::vec("[-0-9a,.%$() \\PC]{0,8}", 0..6), 0..8),
        ) {
            let found = Import::new(&header, &rows);
            let connection = Connection::open_in_memory().unwrap();
            found.write(&connection, "a \" table").unwrap();
            let count: i64 = connection.query_row("SELECT count(*) FROM \"a \"\" table\"", [], |row| row.get(0)).unwrap();
            prop_assert_eq!(count, rows.len() as i64);
            let names: HashSet<String> = found.columns.iter().map(|column| column.name.to_lowercase()).collect();
            prop_assert_eq!(names.len(), found.columns.len());
        }
    }
}
