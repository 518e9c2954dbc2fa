//! The schema of a database as a graph, from the database, from its definitions, or from a dbt project.

mod calculated;
mod dbt;
mod ddl;
mod ddl_files;
mod export;
mod graph;
mod hiding;
mod jinja;
pub(crate) mod lineage;
mod problem;
mod semantics;

pub use dbt::{DbtError, DbtProject};
pub use ddl::{DdlError, SqlDialect};
pub use export::html;
pub use graph::{
    ColumnKind, ColumnNode, Join, JoinOrigin, SchemaGraph, SchemaGraphError, SchemaNode, SchemaNodeKind, TableNode,
    edge,
};
pub use hiding::Hidden;
pub use lineage::{Derived, LineageError, SourceColumn, lineage};
pub use problem::Problem;
pub use semantics::{Cardinality, ColumnSemantics, Relation, Semantics, SemanticsError, TableSemantics};

#[cfg(test)]
mod tests;
