//! The graph of a schema: tables, columns and keys, and what leads from one to another.

mod build;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use serde::Serialize;
use tabsegnet_graph::{Graph, GraphError, NodeText};

use build::view_columns;

use super::ddl::SqlDialect;
use super::problem::Problem;
use super::semantics::{Cardinality, Semantics, SemanticsError};
use crate::catalogue::quote;
use crate::schema::{Schema, parts, quoted};

/// Names of columns that say nothing of what they hold.
const GENERIC: [&str; 9] = ["id", "code", "name", "key", "no", "number", "year", "date", "type"];
/// Joins that are guessed, at most.
const GUESSED: usize = 5000;

/// What leads from one node to another.
pub mod edge {
    /// From a column to its table.
    pub const COLUMN_OF: &str = "column_of";
    /// From a column to each column of its table's primary key (eq. 3 of SGAM).
    pub const PRIMARY_KEY: &str = "primary_key";
    /// From a column to one of its table without which it has no meaning (eq. 4).
    pub const CONTEXT: &str = "context";
    /// From a column of a foreign key or relation to the column it refers to (for eq. 5).
    pub const FOREIGN_KEY: &str = "foreign_key";
    /// From a column of a view to one that it is made of (eq. 6).
    pub const DERIVATION: &str = "derivation";
    /// From a column to a key that it is a part of.
    pub const PART_OF_KEY: &str = "part_of_key";
    /// From a key to the table that it is of (primary key) or refers to (foreign key).
    pub const KEY_OF: &str = "key_of";

    /// All of them.
    pub const ALL: [&str; 7] = [COLUMN_OF, PRIMARY_KEY, CONTEXT, FOREIGN_KEY, DERIVATION, PART_OF_KEY, KEY_OF];
}

/// What the values of a column are, as far as its declared type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Texts.
    Text,
    /// Numbers.
    Number,
    /// Dates and times.
    Date,
    /// Anything else, or nothing said.
    Other,
}

impl ColumnKind {
    pub(crate) fn of(declared: &str) -> Self {
        let lower = declared.to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        if has(&["date", "time", "year", "interval"]) {
            Self::Date
        } else if has(&["char", "text", "clob", "string", "uuid", "enum"]) {
            Self::Text
        } else if has(&["int", "num", "dec", "real", "floa", "doub", "serial", "money", "bool"]) {
            Self::Number
        } else {
            Self::Other
        }
    }
}

/// A table or view of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableNode {
    /// The name as it was created.
    pub name: String,
    /// On a server, the schema that has to be named with it, and that the name has before it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Whether it is a view.
    pub is_view: bool,
    /// Numbers of its columns.
    pub columns: Range<usize>,
    /// Numbers of the columns of its primary key, in the key's order.
    pub primary_key: Vec<usize>,
    /// What people call it, first what they call it most; empty where nothing but its name is known.
    pub names: Vec<String>,
    /// What it holds.
    pub description: Option<String>,
}

impl TableNode {
    /// The parts of the name: the schema where that has to be named, and the name in it.
    pub(super) fn parts(&self) -> Vec<&str> {
        parts(self.schema.as_deref(), &self.name)
    }

    /// The name without a server's schema before it.
    pub fn own_name(&self) -> &str {
        self.parts().pop().unwrap_or_default()
    }

    /// The name as a statement has it.
    pub fn quoted(&self) -> String {
        quoted(self.schema.as_deref(), &self.name)
    }
}

/// A column of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnNode {
    /// The name as it was created.
    pub name: String,
    /// The number of its table.
    pub table: usize,
    /// The type as it was declared.
    pub declared_type: String,
    /// What its values are.
    pub kind: ColumnKind,
    /// Whether it is a part of the table's primary key: π of SGAM.
    pub is_key: bool,
    /// What people call it, first what they call it most; empty where nothing but its name is known.
    pub names: Vec<String>,
    /// What it holds.
    pub description: Option<String>,
    /// Never proposed for a question.
    pub hidden: bool,
    /// Of a calculated field of the semantic file: its expression, columns with the table's name before them.
    pub expression: Option<String>,
}

/// What joins two tables: a foreign key, composite ones whole, or a relation of the semantic file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Join {
    /// The number of the table that refers.
    pub from: usize,
    /// The number of the table referred to; the same one where a table refers to itself.
    pub to: usize,
    /// Numbers of columns that are equal, of the first table and of the second.
    pub pairs: Vec<(usize, usize)>,
    /// How many rows meet how many.
    pub cardinality: Cardinality,
    /// Who says so.
    pub origin: JoinOrigin,
    /// What the one is for the other.
    pub role: Option<String>,
}

/// Who says that two tables can be joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JoinOrigin {
    /// The database.
    Declared,
    /// The semantic file.
    Curated,
    /// Two declared or curated ones that refer to the same column: what they refer to need not be read.
    Implied,
    /// Equal names ([`SchemaGraph::with_guessed_joins`]).
    Guessed,
}

/// A node of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaNode {
    /// `table`, `table.column`, or of a key `table.primary_key`, `table.foreign_key1`.
    pub id: String,
    /// What it is.
    pub kind: SchemaNodeKind,
    /// The number of its table.
    pub table: usize,
    /// The type of a column, the columns of a key.
    pub text: String,
}

/// What a node of the graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaNodeKind {
    /// A table.
    Table,
    /// A view.
    View,
    /// A column.
    Column,
    /// A primary key.
    PrimaryKey,
    /// A foreign key or a relation.
    ForeignKey,
}

impl NodeText for SchemaNode {
    fn id(&self) -> &str {
        &self.id
    }

    fn kind(&self) -> &str {
        match self.kind {
            SchemaNodeKind::Table => "table",
            SchemaNodeKind::View => "view",
            SchemaNodeKind::Column => "column",
            SchemaNodeKind::PrimaryKey => "primary_key",
            SchemaNodeKind::ForeignKey => "foreign_key",
        }
    }

    fn text(&self) -> &str {
        &self.text
    }
}

/// A schema as a graph.
///
/// Tables and columns have numbers from 0 in the order of the schema, tables before views. The nodes of
/// [`SchemaGraph::graph`] are the tables, then the columns, then the keys. As JSON it is its tables, columns, joins,
/// derivations, contexts and problems.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SchemaGraph {
    tables: Vec<TableNode>,
    columns: Vec<ColumnNode>,
    joins: Vec<Join>,
    derivations: Vec<(usize, usize)>,
    contexts: Vec<(usize, usize)>,
    problems: Vec<Problem>,
    #[serde(skip)]
    dialect: SqlDialect,
    #[serde(skip)]
    by_name: HashMap<String, Vec<usize>>,
    #[serde(skip)]
    columns_by_name: HashMap<(usize, String), Vec<usize>>,
    #[serde(skip)]
    graph: Graph<SchemaNode>,
}

/// A schema of which no graph can be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SchemaGraphError {
    /// The semantic file does not fit the schema.
    #[error(transparent)]
    Semantics(#[from] SemanticsError),
    /// The graph itself, which is a defect here.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl SchemaGraph {
    /// The graph of a schema with what is known beside it. `dialect` is that of the views, and of what reads the tables.
    ///
    /// What is wrong with the schema is in [`SchemaGraph::problems`] and left out of the graph.
    ///
    /// # Errors
    /// Where the semantic file names what the schema does not have.
    pub fn new(schema: &Schema, semantics: &Semantics, dialect: SqlDialect) -> Result<Self, SchemaGraphError> {
        let mut this = Self {
            tables: Vec::new(),
            columns: Vec::new(),
            joins: Vec::new(),
            derivations: Vec::new(),
            contexts: Vec::new(),
            problems: Vec::new(),
            dialect,
            by_name: HashMap::new(),
            columns_by_name: HashMap::new(),
            graph: Graph::default(),
        };
        let is_hidden = |name: &str| {
            semantics.tables.iter().any(|(table, of)| of.hidden && table.to_lowercase() == name.to_lowercase())
        };
        for table in schema.tables.iter().filter(|table| !is_hidden(&table.name)) {
            this.add_table((&table.name, &table.schema), false, &table.columns, table.problem.as_ref());
            this.add_calculated(&table.name, semantics, dialect)?;
        }
        let views: Vec<_> = schema.views.iter().filter(|view| !is_hidden(&view.name)).collect();
        let derived = this.read_views(&views, dialect);
        for (view, derived) in views.iter().zip(&derived) {
            let columns = view_columns(&view.columns, derived);
            this.add_table((&view.name, &view.schema), true, &columns, view.problem.as_ref());
            this.add_calculated(&view.name, semantics, dialect)?;
        }
        for (view, derived) in views.iter().zip(&derived) {
            this.add_derivations(&view.name, derived);
        }
        this.derivations.sort_unstable();
        this.derivations.dedup();
        for table in &schema.tables {
            if let Some(number) = this.table(&table.name) {
                this.add_keys(number, table, &is_hidden);
            }
        }
        this.add_semantics(semantics, schema)?;
        this.hide_derived();
        this.add_implied();
        this.graph = this.make_graph()?;
        Ok(this)
    }

    /// A view's column that is made of a hidden one is hidden too.
    fn hide_derived(&mut self) {
        let is_hidden = |&column: &usize| self.columns.get(column).is_some_and(|node| node.hidden);
        let views: BTreeSet<usize> = self.derivations.iter().map(|(view, _)| *view).collect();
        let hidden: Vec<usize> =
            views.into_iter().filter(|view| self.base_columns(*view).iter().any(is_hidden)).collect();
        for column in hidden {
            self.columns.get_mut(column).into_iter().for_each(|node| node.hidden = true);
        }
    }

    /// The tables, by number, views after all others.
    pub fn tables(&self) -> &[TableNode] {
        &self.tables
    }

    /// The columns, by number.
    pub fn columns(&self) -> &[ColumnNode] {
        &self.columns
    }

    /// What joins tables: foreign keys in the order of declaration, relations of the semantic file, what they imply,
    /// guesses.
    pub fn joins(&self) -> &[Join] {
        &self.joins
    }

    /// Columns of views with what they are made of.
    pub fn derivations(&self) -> &[(usize, usize)] {
        &self.derivations
    }

    /// Columns with those without which they have no meaning.
    pub fn contexts(&self) -> &[(usize, usize)] {
        &self.contexts
    }

    /// What is wrong with the schema.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The same with what was wrong with the files that the schema comes from.
    #[must_use]
    pub fn with_problems(mut self, mut problems: Vec<Problem>) -> Self {
        problems.append(&mut self.problems);
        self.problems = problems;
        self
    }

    /// The typed graph ([`edge`] names the types); [`Graph::to_petgraph`] makes it one of petgraph's.
    pub fn graph(&self) -> &Graph<SchemaNode> {
        &self.graph
    }

    /// Whose SQL the views are, and what reads the tables.
    pub fn dialect(&self) -> SqlDialect {
        self.dialect
    }

    /// The number of a table by its name: as written, else in any case.
    pub fn table(&self, name: &str) -> Option<usize> {
        let found = self.by_name.get(&name.to_lowercase())?;
        found.iter().copied().find(|&at| self.tables.get(at).is_some_and(|t| t.name == name)).or(found.first().copied())
    }

    /// The number of a column of a table by its name: as written, else in any case.
    pub fn column(&self, table: usize, name: &str) -> Option<usize> {
        let found = self.columns_by_name.get(&(table, name.to_lowercase()))?;
        let exact = found.iter().copied().find(|&at| self.columns.get(at).is_some_and(|c| c.name == name));
        exact.or(found.first().copied())
    }

    /// `table.column` of a column's number, empty for one that is not there.
    pub fn column_id(&self, column: usize) -> String {
        let Some(node) = self.columns.get(column) else { return String::new() };
        let table = self.tables.get(node.table).map(|table| table.name.as_str()).unwrap_or_default();
        format!("{table}.{}", node.name)
    }

    /// A column as a statement names it, with its table's name before it where that is wanted; the expression of a
    /// calculated one. `NULL` for one that is not there.
    pub fn column_sql(&self, column: usize, qualified: bool) -> String {
        let Some(node) = self.columns.get(column) else { return "NULL".to_owned() };
        match (&node.expression, self.tables.get(node.table).filter(|_| qualified)) {
            (Some(expression), _) => expression.clone(),
            (None, Some(table)) => format!("{}.{}", table.quoted(), quote(&node.name)),
            (None, None) => quote(&node.name),
        }
    }

    /// The columns of tables that a column is made of in the end, through all views; itself where it is of a table.
    pub fn base_columns(&self, column: usize) -> BTreeSet<usize> {
        let (mut seen, mut base) = (BTreeSet::from([column]), BTreeSet::new());
        let mut open = vec![column];
        while let Some(next) = open.pop() {
            let start = self.derivations.partition_point(|&(view, _)| view < next);
            let of = self.derivations.get(start..).unwrap_or_default().iter().take_while(|(view, _)| *view == next);
            let sources: Vec<usize> = of.map(|&(_, source)| source).collect();
            let node = self.columns.get(next).filter(|node| node.expression.is_none());
            let is_table = node.and_then(|c| self.tables.get(c.table)).is_some_and(|table| !table.is_view);
            if is_table {
                base.insert(next);
            }
            open.extend(sources.into_iter().filter(|source| seen.insert(*source)));
        }
        base
    }

    /// The graph with joins guessed from names as well, for databases that declare few: a column with the name of the
    /// primary key of another table, unless that says nothing ("id", "name"), or with the name of that table before
    /// it ("start_station_id" for "id" of "station"), and one with the name of a column that is declared to join a third table.
    /// Tables that are joined already get none. They are taken where
    /// nothing that is declared joins as closely, and marked ([`JoinOrigin::Guessed`]).
    #[must_use]
    pub fn with_guessed_joins(mut self) -> Self {
        let mut joined: BTreeSet<(usize, usize)> = BTreeSet::new();
        for join in self.joins.iter().filter(|join| join.origin != JoinOrigin::Implied) {
            joined.extend([(join.from, join.to), (join.to, join.from)]);
        }
        let simple = |name: &str| -> String { name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect() };
        // By the names that would refer to a key: the column.
        let mut keys: HashMap<String, Vec<usize>> = HashMap::new();
        for table in &self.tables {
            let [key] = table.primary_key.as_slice() else { continue };
            let Some(name) = self.columns.get(*key).map(|column| simple(&column.name)) else { continue };
            let table_name = simple(table.own_name());
            let single = table_name.strip_suffix('s').unwrap_or(&table_name);
            keys.entry(format!("{single}{name}")).or_default().push(*key);
            if !GENERIC.contains(&name.as_str()) {
                keys.entry(name).or_default().push(*key);
            }
        }
        let mut guessed = self.joins_by_namesakes(&simple, &joined);
        for (number, column) in self.columns.iter().enumerate() {
            let name = simple(&column.name);
            // The name itself, or what ends it after other words.
            let parts: Vec<&str> = column.name.split(['_', ' ']).collect();
            let endings = (0..parts.len().min(4)).map(|at| simple(&parts.get(at..).unwrap_or_default().concat()));
            for ending in std::iter::once(name).chain(endings.skip(1)) {
                for &key in keys.get(&ending).into_iter().flatten() {
                    let Some(to) = self.columns.get(key).map(|key| key.table) else { continue };
                    if to != column.table && !joined.contains(&(column.table, to)) && guessed.len() < GUESSED {
                        guessed.push(Join {
                            from: column.table,
                            to,
                            pairs: vec![(number, key)],
                            cardinality: Cardinality::ManyToOne,
                            origin: JoinOrigin::Guessed,
                            role: None,
                        });
                    }
                }
            }
        }
        guessed.dedup();
        self.joins.extend(guessed);
        self
    }

    /// A declared join with a column of the same name, in a third table, in place of one of its two.
    fn joins_by_namesakes(&self, simple: &dyn Fn(&str) -> String, joined: &BTreeSet<(usize, usize)>) -> Vec<Join> {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, column) in self.columns.iter().enumerate() {
            by_name.entry(simple(&column.name)).or_default().push(number);
        }
        let namesakes = |column: usize| {
            let name = self.columns.get(column).map(|column| simple(&column.name)).unwrap_or_default();
            let same = if GENERIC.contains(&name.as_str()) { None } else { by_name.get(&name) };
            same.into_iter().flatten().copied()
        };
        let table = |column: usize| self.columns.get(column).map_or(usize::MAX, |column| column.table);
        // Two columns that refer to one key are joined by it already.
        let implied = self.joins.iter().filter(|join| join.origin == JoinOrigin::Implied);
        let mut seen: BTreeSet<(usize, usize)> =
            implied.flat_map(|join| &join.pairs).map(|&(a, b)| (a.min(b), a.max(b))).collect();
        let is_key = |column: usize| {
            self.tables.get(table(column)).is_some_and(|table| table.primary_key.as_slice() == [column].as_slice())
        };
        let mut found = Vec::new();
        let declared = self.joins.iter().filter(|join| join.origin != JoinOrigin::Implied);
        for join in declared {
            let &[(a, b)] = join.pairs.as_slice() else { continue };
            for (from, to) in namesakes(a).map(|other| (other, b)).chain(namesakes(b).map(|other| (a, other))) {
                let tables = (table(from), table(to));
                let new =
                    tables.0 != tables.1 && !joined.contains(&tables) && seen.insert((from.min(to), from.max(to)));
                if new && found.len() < GUESSED {
                    // The one with many rows refers.
                    let (from, to) = if is_key(from) && !is_key(to) { (to, from) } else { (from, to) };
                    found.push(Join {
                        from: table(from),
                        to: table(to),
                        pairs: vec![(from, to)],
                        cardinality: if is_key(to) { Cardinality::ManyToOne } else { Cardinality::ManyToMany },
                        origin: JoinOrigin::Guessed,
                        role: None,
                    });
                }
            }
        }
        found
    }
}
