//! What is wrong with a schema that is used nevertheless.

use serde::Serialize;

/// What is wrong with a part of a schema. The part is left out of the graph as each case says; the rest stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A definition that cannot be parsed; it defines nothing.
    #[error("the definition in line {line} is left out: {message}")]
    Definition {
        /// Where it begins, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// A foreign key to a table or column that is not there; nothing is joined by it.
    #[error("a foreign key of {table} ({}) leads nowhere: to {referenced}", .columns.join(", "))]
    DanglingKey {
        /// The table that has it.
        table: String,
        /// Its columns.
        columns: Vec<String>,
        /// The table it names.
        referenced: String,
    },
    /// A primary key that names a column that the table has not; the column is left out of it.
    #[error("the primary key of {table} names {column}, which the table does not have")]
    KeyColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A table or view whose columns cannot be read; it has none.
    #[error("{name} cannot be read: {message}")]
    Unreadable {
        /// The table or view.
        name: String,
        /// Why.
        message: String,
    },
    /// A view that reads itself, also through others; its columns have no derivation.
    #[error("the view {view} reads itself")]
    CyclicView {
        /// The view.
        view: String,
    },
    /// A table or view that has a name that is taken, whatever the case; it is left out.
    #[error("{name} is there twice; the second one is left out")]
    SameName {
        /// The name of the second.
        name: String,
    },
    /// A file of a project of which something is left out.
    #[error("{file}: {message}")]
    File {
        /// Which.
        file: String,
        /// What, and why.
        message: String,
    },
    /// Something said of what is not there.
    #[error("{message}")]
    Said {
        /// Of what.
        message: String,
    },
}
