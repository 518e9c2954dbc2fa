//! The steps in which the graph of a schema is made.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tabsegnet_graph::{Adjacency, Graph, GraphError, TypeNames};

use super::{ColumnKind, ColumnNode, Join, JoinOrigin, SchemaGraph, SchemaNode, SchemaNodeKind, TableNode, edge};
use crate::schema::{ColumnInfo, Schema, Table};
use crate::schema_graph::calculated::{Refused, calculated};
use crate::schema_graph::ddl::SqlDialect;
use crate::schema_graph::lineage::{Derived, lineage, tables_read};
use crate::schema_graph::problem::Problem;
use crate::schema_graph::semantics::{Cardinality, Semantics, SemanticsError, nearest};

/// A column to which more than so many others refer implies no joins.
const IMPLIED: usize = 20;

impl SchemaGraph {
    pub(super) fn add_table(
        &mut self,
        (name, schema): (&str, &Option<String>),
        is_view: bool,
        columns: &[ColumnInfo],
        problem: Option<&String>,
    ) {
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
            schema: schema.clone(),
            is_view,
            columns: first..self.columns.len(),
            primary_key: Vec::new(),
            names: Vec::new(),
            description: None,
        });
    }

    /// The calculated fields of the table that was added last.
    pub(super) fn add_calculated(
        &mut self,
        name: &str,
        semantics: &Semantics,
        dialect: SqlDialect,
    ) -> Result<(), SemanticsError> {
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
            let parts = self.tables.get(number).map(TableNode::parts).unwrap_or_default();
            let found = calculated(expression, &parts, dialect, &known).map_err(|refused| match refused {
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
    pub(super) fn read_views(&mut self, views: &[&crate::schema::View], dialect: SqlDialect) -> Vec<Vec<Derived>> {
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
                let tables = view.sql.as_deref().and_then(|sql| tables_read(sql, dialect)).unwrap_or_default();
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

    pub(super) fn add_derivations(&mut self, view: &str, derived: &[Derived]) {
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

    pub(super) fn add_keys(&mut self, number: usize, table: &Table, is_hidden: &dyn Fn(&str) -> bool) {
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

    pub(super) fn add_semantics(&mut self, semantics: &Semantics, schema: &Schema) -> Result<(), SemanticsError> {
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
    pub(super) fn add_implied(&mut self) {
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

    pub(super) fn make_graph(&self) -> Result<Graph<SchemaNode>, GraphError> {
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
pub(super) fn view_columns(told: &[ColumnInfo], derived: &[Derived]) -> Vec<ColumnInfo> {
    if !told.is_empty() {
        return told.to_vec();
    }
    let of = |derived: &Derived| ColumnInfo { name: derived.name.clone(), ..ColumnInfo::default() };
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
