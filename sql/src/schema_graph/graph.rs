//! The graph of a schema: tables, columns and keys, and what leads from one to another.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use serde::Serialize;
use tabsegnet_graph::{Adjacency, Graph, GraphError, NodeText, TypeNames};

use super::calculated::{Refused, calculated};
use super::ddl::SqlDialect;
use super::lineage::{Derived, lineage, tables_read};
use super::problem::Problem;
use super::semantics::{Cardinality, Semantics, SemanticsError, nearest};
use crate::catalogue::quote;
use crate::schema::{ColumnInfo, Schema, Table};

/// A column to which more than so many others refer implies no joins.
const IMPLIED: usize = 20;

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
    fn of(declared: &str) -> Self {
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
    /// The graph of a schema with what is known beside it. `dialect` is that of the views.
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
            by_name: HashMap::new(),
            columns_by_name: HashMap::new(),
            graph: Graph::default(),
        };
        let is_hidden = |name: &str| {
            semantics.tables.iter().any(|(table, of)| of.hidden && table.to_lowercase() == name.to_lowercase())
        };
        for table in schema.tables.iter().filter(|table| !is_hidden(&table.name)) {
            this.add_table(&table.name, false, &table.columns, table.problem.as_ref());
            this.add_calculated(&table.name, semantics, dialect)?;
        }
        let views: Vec<_> = schema.views.iter().filter(|view| !is_hidden(&view.name)).collect();
        let derived = this.read_views(&views, dialect);
        for (view, derived) in views.iter().zip(&derived) {
            let columns = view_columns(&view.columns, derived);
            this.add_table(&view.name, true, &columns, view.problem.as_ref());
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
        this.add_implied();
        this.graph = this.make_graph()?;
        Ok(this)
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
            (None, Some(table)) => format!("{}.{}", quote(&table.name), quote(&node.name)),
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

    fn add_table(&mut self, name: &str, is_view: bool, columns: &[ColumnInfo], problem: Option<&String>) {
        let key = name.to_lowercase();
        let same = self.by_name.get(&key).into_iter().flatten();
        if same.filter_map(|&at| self.tables.get(at)).any(|table| table.name == name) {
            return self.problems.push(Problem::SameName { name: name.to_owned() });
        }
        if let Some(message) = problem {
            self.problems.push(Problem::Unreadable { name: name.to_owned(), message: message.clone() });
        }
        let number = self.tables.len();
        let first = self.columns.len();
        for column in columns {
            let at = self.columns.len();
            self.columns_by_name.entry((number, column.name.to_lowercase())).or_default().push(at);
            self.columns.push(ColumnNode {
                name: column.name.clone(),
                table: number,
                declared_type: column.declared_type.clone(),
                kind: ColumnKind::of(&column.declared_type),
                is_key: false,
                names: Vec::new(),
                description: None,
                hidden: false,
                expression: None,
            });
        }
        self.by_name.entry(key).or_default().push(number);
        self.tables.push(TableNode {
            name: name.to_owned(),
            is_view,
            columns: first..self.columns.len(),
            primary_key: Vec::new(),
            names: Vec::new(),
            description: None,
        });
    }

    /// The calculated fields of the table that was added last.
    fn add_calculated(&mut self, name: &str, semantics: &Semantics, dialect: SqlDialect) -> Result<(), SemanticsError> {
        let Some(number) = self.tables.len().checked_sub(1).filter(|&last| self.table(name) == Some(last)) else {
            return Ok(());
        };
        let of_table = semantics.tables.iter().filter(|(table, _)| table.to_lowercase() == name.to_lowercase());
        let fields = of_table.flat_map(|(table, of)| of.columns.iter().map(move |(field, of)| (table, field, of)));
        let mut added = Vec::new();
        for (table, field, of) in fields {
            let Some(expression) = &of.expression else { continue };
            let place = format!("tables.{table}.columns.{field}");
            let failed = |message: String| SemanticsError::Expression { place: place.clone(), message };
            if self.column(number, field).is_some() {
                return Err(failed("the table has a column of this name; expected a new one".into()));
            }
            let known = |name: &str| Some(self.columns.get(self.column(number, name)?)?.name.clone());
            let found = calculated(expression, name, dialect, &known).map_err(|refused| match refused {
                Refused::Because(message) => failed(message),
                Refused::Column(column) => match self.known_column(number, &column, &format!("{place}.expression")) {
                    Err(error) => error,
                    Ok(_) => failed(format!("{column} is of another table")),
                },
            })?;
            added.push((field.clone(), found));
        }
        for (field, found) in added {
            let at = self.columns.len();
            let sources = found.columns.iter().filter_map(|name| self.column(number, name));
            let sources: Vec<(usize, usize)> = sources.map(|source| (at, source)).collect();
            self.derivations.extend(sources);
            self.columns_by_name.entry((number, field.to_lowercase())).or_default().push(at);
            self.columns.push(ColumnNode {
                name: field,
                table: number,
                declared_type: found.declared_type.to_owned(),
                kind: ColumnKind::of(found.declared_type),
                is_key: false,
                names: Vec::new(),
                description: None,
                hidden: false,
                expression: Some(found.sql),
            });
        }
        let end = self.columns.len();
        if let Some(table) = self.tables.get_mut(number) {
            table.columns.end = end;
        }
        Ok(())
    }

    /// What the columns of views are made of, views that others read before those.
    fn read_views(&mut self, views: &[&crate::schema::View], dialect: SqlDialect) -> Vec<Vec<Derived>> {
        // By the whole name, and by what stands behind the name of a server's schema.
        let mut places: HashMap<String, usize> = HashMap::new();
        for (view, at) in views.iter().zip(0..) {
            let name = view.name.to_lowercase();
            if let Some((_, last)) = name.rsplit_once('.') {
                places.entry(last.to_owned()).or_insert(at);
            }
        }
        places.extend(views.iter().zip(0..).map(|(view, at)| (view.name.to_lowercase(), at)));
        let mut done: Vec<Option<Vec<Derived>>> = vec![None; views.len()];
        // A view is read again once those that it reads are known, so that each round settles one level.
        let reads: Vec<BTreeSet<usize>> = views
            .iter()
            .map(|view| {
                let tables = view.sql.as_deref().map(|sql| tables_read(sql, dialect)).unwrap_or_default();
                tables.iter().filter_map(|table| places.get(&table.to_lowercase()).copied()).collect()
            })
            .collect();
        let order = in_order(&reads);
        for (at, is_cyclic) in order {
            let Some(view) = views.get(at) else { continue };
            let mut found = Vec::new();
            if is_cyclic {
                self.problems.push(Problem::CyclicView { view: view.name.clone() });
            } else if let Some(sql) = &view.sql {
                let known = |name: &str| -> Option<Vec<String>> {
                    if let Some(table) = self.named_in_sql(name) {
                        let columns = self.tables.get(table).map(|table| table.columns.clone()).unwrap_or_default();
                        return Some(self.columns.get(columns)?.iter().map(|column| column.name.clone()).collect());
                    }
                    let other = *places.get(&name.to_lowercase())?;
                    let view = views.get(other)?;
                    let derived = done.get(other)?.as_deref().unwrap_or_default();
                    Some(view_columns(&view.columns, derived).into_iter().map(|column| column.name).collect())
                };
                match lineage(sql, dialect, &known) {
                    Ok(derived) => found = derived,
                    Err(error) => {
                        let (name, message) = (view.name.clone(), format!("what it reads is not known: {error}"));
                        self.problems.push(Problem::Unreadable { name, message });
                    }
                }
            }
            if let Some(place) = done.get_mut(at) {
                *place = Some(found);
            }
        }
        done.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// A table by its name without those of databases before it, as views name it: of a server's other schemas the only
    /// one that ends so.
    fn named_in_sql(&self, name: &str) -> Option<usize> {
        self.table(name).or_else(|| {
            let ending = format!(".{}", name.to_lowercase());
            let mut others = self.tables.iter().zip(0..).filter(|(t, _)| t.name.to_lowercase().ends_with(&ending));
            let found = others.next().map(|(_, at)| at);
            found.filter(|_| others.next().is_none())
        })
    }

    fn add_derivations(&mut self, view: &str, derived: &[Derived]) {
        let Some(table) = self.table(view) else { return };
        let columns = self.tables.get(table).map(|table| table.columns.clone()).unwrap_or_default();
        for (column, derived) in columns.zip(derived) {
            for (table, name) in &derived.sources {
                if let Some(source) = self.named_in_sql(table).and_then(|table| self.column(table, name)) {
                    self.derivations.push((column, source));
                }
            }
        }
    }

    fn add_keys(&mut self, number: usize, table: &Table, is_hidden: &dyn Fn(&str) -> bool) {
        for name in &table.primary_key {
            let Some(column) = self.column(number, name) else {
                let problem = Problem::KeyColumn { table: table.name.clone(), column: name.clone() };
                self.problems.push(problem);
                continue;
            };
            if let Some(node) = self.columns.get_mut(column) {
                node.is_key = true;
            }
            if let Some(node) = self.tables.get_mut(number) {
                node.primary_key.push(column);
            }
        }
        for key in &table.foreign_keys {
            if is_hidden(&key.table) {
                continue;
            }
            let to = self.table(&key.table);
            let pair =
                |(from, to_name): (&String, &String)| Some((self.column(number, from)?, self.column(to?, to_name)?));
            let pairs: Option<Vec<_>> = key.columns.iter().zip(&key.referenced).map(pair).collect();
            match (to, pairs) {
                (Some(to), Some(pairs)) if !key.dangling && !pairs.is_empty() => self.joins.push(Join {
                    from: number,
                    to,
                    pairs,
                    cardinality: Cardinality::ManyToOne,
                    origin: JoinOrigin::Declared,
                    role: None,
                }),
                _ => self.problems.push(Problem::DanglingKey {
                    table: table.name.clone(),
                    columns: key.columns.clone(),
                    referenced: key.table.clone(),
                }),
            }
        }
        // Where the columns that refer are the whole primary key, one row refers to one.
        let keys: Vec<usize> = self.tables.get(number).map(|t| t.primary_key.clone()).unwrap_or_default();
        for join in self.joins.iter_mut().filter(|join| join.from == number) {
            let own: BTreeSet<usize> = join.pairs.iter().map(|pair| pair.0).collect();
            if !keys.is_empty() && own == keys.iter().copied().collect() {
                join.cardinality = Cardinality::OneToOne;
            }
        }
    }

    fn add_semantics(&mut self, semantics: &Semantics, schema: &Schema) -> Result<(), SemanticsError> {
        let all_tables =
            || schema.tables.iter().map(|t| t.name.as_str()).chain(schema.views.iter().map(|v| v.name.as_str()));
        let unknown_table = |place: &str, name: &str| SemanticsError::UnknownName {
            place: place.to_owned(),
            name: name.to_owned(),
            nearest: nearest(name, all_tables()),
        };
        for (name, of) in &semantics.tables {
            let Some(table) = self.table(name) else {
                if of.hidden && all_tables().any(|known| known.to_lowercase() == name.to_lowercase()) {
                    continue;
                }
                return Err(unknown_table("tables", name));
            };
            if let Some(node) = self.tables.get_mut(table) {
                node.names = of.name.iter().chain(&of.synonyms).cloned().collect();
                node.description.clone_from(&of.description);
            }
            for (column_name, of) in &of.columns {
                let place = format!("tables.{name}.columns");
                let column = self.known_column(table, column_name, &place)?;
                for other in &of.context {
                    let other = self.known_column(table, other, &format!("{place}.{column_name}.context"))?;
                    self.contexts.push((column, other));
                }
                if let Some(node) = self.columns.get_mut(column) {
                    node.names = of.name.iter().chain(&of.synonyms).cloned().collect();
                    node.description.clone_from(&of.description);
                    node.hidden = of.hidden;
                }
            }
        }
        for (place, relation) in semantics.relations.iter().enumerate() {
            let (left, right) = (relation.from_columns.len(), relation.to_columns.len());
            if left != right || left == 0 {
                return Err(SemanticsError::Columns {
                    from: relation.from.clone(),
                    to: relation.to.clone(),
                    left,
                    right,
                });
            }
            let place = format!("relations[{place}]");
            let is_hidden =
                |name: &str| self.table(name).is_none() && all_tables().any(|known| known.eq_ignore_ascii_case(name));
            if is_hidden(&relation.from) || is_hidden(&relation.to) {
                continue;
            }
            let from = self.table(&relation.from).ok_or_else(|| unknown_table(&place, &relation.from))?;
            let to = self.table(&relation.to).ok_or_else(|| unknown_table(&place, &relation.to))?;
            let mut pairs = Vec::with_capacity(left);
            for (a, b) in relation.from_columns.iter().zip(&relation.to_columns) {
                pairs.push((self.known_column(from, a, &place)?, self.known_column(to, b, &place)?));
            }
            // A relation that says more of a declared key replaces what is known of it.
            let (cardinality, role) = (relation.cardinality, relation.role.clone());
            match self.joins.iter_mut().find(|join| (join.from, join.to) == (from, to) && join.pairs == pairs) {
                Some(join) => (join.cardinality, join.role) = (cardinality, role),
                None => self.joins.push(Join { from, to, pairs, cardinality, origin: JoinOrigin::Curated, role }),
            }
        }
        Ok(())
    }

    /// Joins of tables that refer to the same column. A column to which very many refer implies none.
    fn add_implied(&mut self) {
        let mut referring: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut joined: BTreeSet<(usize, usize)> = BTreeSet::new();
        for join in &self.joins {
            joined.extend([(join.from, join.to), (join.to, join.from)]);
            if let [(from, to)] = join.pairs.as_slice()
                && join.cardinality != Cardinality::ManyToMany
            {
                referring.entry(*to).or_default().insert(*from);
            }
        }
        for columns in referring.values().filter(|columns| columns.len() <= IMPLIED) {
            let columns: Vec<(usize, usize)> =
                columns.iter().filter_map(|&at| Some((at, self.columns.get(at)?.table))).collect();
            for (place, &(a, from)) in columns.iter().enumerate() {
                for &(b, to) in columns.iter().skip(place + 1) {
                    if from != to && !joined.contains(&(from, to)) {
                        self.joins.push(Join {
                            from,
                            to,
                            pairs: vec![(a, b)],
                            cardinality: Cardinality::ManyToMany,
                            origin: JoinOrigin::Implied,
                            role: None,
                        });
                    }
                }
            }
        }
    }

    /// The graph with joins guessed from names as well, for databases that declare few: a column with the name of the
    /// primary key of another table, unless that says nothing ("id", "name"), or with the name of that table before
    /// it ("start_station_id" for "id" of "station"). Tables that are joined already get none. They are taken where
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
            let generic =
                ["id", "code", "name", "key", "no", "number", "year", "date", "type"].contains(&name.as_str());
            let table_name = simple(&table.name);
            let single = table_name.strip_suffix('s').unwrap_or(&table_name);
            keys.entry(format!("{single}{name}")).or_default().push(*key);
            if !generic {
                keys.entry(name).or_default().push(*key);
            }
        }
        let mut guessed = Vec::new();
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

    fn known_column(&self, table: usize, name: &str, place: &str) -> Result<usize, SemanticsError> {
        self.column(table, name).ok_or_else(|| {
            let columns = self.tables.get(table).and_then(|table| self.columns.get(table.columns.clone()));
            let known = columns.into_iter().flatten().map(|column| column.name.as_str());
            SemanticsError::UnknownName {
                place: place.to_owned(),
                name: name.to_owned(),
                nearest: nearest(name, known),
            }
        })
    }

    fn make_graph(&self) -> Result<Graph<SchemaNode>, GraphError> {
        let mut nodes = Vec::with_capacity(self.tables.len() + self.columns.len() + self.joins.len());
        for (number, table) in self.tables.iter().enumerate() {
            let kind = if table.is_view { SchemaNodeKind::View } else { SchemaNodeKind::Table };
            let text = table.names.first().cloned().unwrap_or_default();
            nodes.push(SchemaNode { id: table.name.clone(), kind, table: number, text });
        }
        let first_column = nodes.len();
        for (number, column) in self.columns.iter().enumerate() {
            let id = self.column_id(number);
            let text = column.expression.clone().unwrap_or_else(|| column.declared_type.clone());
            nodes.push(SchemaNode { id, kind: SchemaNodeKind::Column, table: column.table, text });
        }
        let names = TypeNames::new(edge::ALL)?;
        let mut edges: Vec<(u32, u32, u8)> = Vec::new();
        let mut add = |from: usize, to: usize, name: &str| -> Result<(), GraphError> {
            edges.push((from as u32, to as u32, names.number(name)?));
            Ok(())
        };
        let listed = |columns: &[usize]| -> String {
            let names: Vec<&str> =
                columns.iter().filter_map(|&c| self.columns.get(c)).map(|c| c.name.as_str()).collect();
            names.join(", ")
        };
        for (number, table) in self.tables.iter().enumerate() {
            for column in table.columns.clone() {
                add(first_column + column, number, edge::COLUMN_OF)?;
                for &key in table.primary_key.iter().filter(|&&key| key != column) {
                    add(first_column + column, first_column + key, edge::PRIMARY_KEY)?;
                }
            }
            if !table.primary_key.is_empty() {
                let key = nodes.len();
                for &column in &table.primary_key {
                    add(first_column + column, key, edge::PART_OF_KEY)?;
                }
                add(key, number, edge::KEY_OF)?;
                let id = format!("{}.primary_key", table.name);
                let text = listed(&table.primary_key);
                nodes.push(SchemaNode { id, kind: SchemaNodeKind::PrimaryKey, table: number, text });
            }
        }
        let mut counts: HashMap<usize, usize> = HashMap::new();
        let said = |join: &&Join| matches!(join.origin, JoinOrigin::Declared | JoinOrigin::Curated);
        for join in self.joins.iter().filter(said) {
            let key = nodes.len();
            for &(from, to) in &join.pairs {
                add(first_column + from, key, edge::PART_OF_KEY)?;
                add(first_column + from, first_column + to, edge::FOREIGN_KEY)?;
            }
            add(key, join.to, edge::KEY_OF)?;
            let count = counts.entry(join.from).or_default();
            *count += 1;
            let table = self.tables.get(join.from).map(|table| table.name.as_str()).unwrap_or_default();
            let id = format!("{table}.foreign_key{count}");
            let text = listed(&join.pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
            nodes.push(SchemaNode { id, kind: SchemaNodeKind::ForeignKey, table: join.from, text });
        }
        for &(column, other) in &self.contexts {
            add(first_column + column, first_column + other, edge::CONTEXT)?;
        }
        for &(column, source) in &self.derivations {
            add(first_column + column, first_column + source, edge::DERIVATION)?;
        }
        let adjacency = Adjacency::new(nodes.len(), names, &edges)?;
        Graph::new(nodes, adjacency)
    }
}

/// The columns of a view: as the database tells them, else as its statement makes them.
fn view_columns(told: &[ColumnInfo], derived: &[Derived]) -> Vec<ColumnInfo> {
    if !told.is_empty() {
        return told.to_vec();
    }
    let of = |derived: &Derived| ColumnInfo {
        name: derived.name.clone(),
        declared_type: String::new(),
        not_null: false,
        generated: false,
    };
    derived.iter().map(of).collect()
}

/// An order in which each comes after those that it reads, with whether it is in a circle.
fn in_order(reads: &[BTreeSet<usize>]) -> Vec<(usize, bool)> {
    let mut graph = petgraph::graph::DiGraph::<usize, (), u32>::new();
    let nodes: Vec<_> = (0..reads.len()).map(|at| graph.add_node(at)).collect();
    for (at, read) in reads.iter().enumerate() {
        for other in read {
            if let (Some(&from), Some(&to)) = (nodes.get(at), nodes.get(*other)) {
                graph.add_edge(from, to, ());
            }
        }
    }
    // Tarjan's components come in reverse topological order: what is read first.
    let mut order = Vec::with_capacity(reads.len());
    for mut component in petgraph::algo::tarjan_scc(&graph) {
        component.sort_unstable();
        let is_cyclic = component.len() > 1 || component.iter().any(|&node| graph.contains_edge(node, node));
        order.extend(
            component.into_iter().map(|node| (graph.node_weight(node).copied().unwrap_or_default(), is_cyclic)),
        );
    }
    order
}
