//! A dbt project as a schema: seeds and sources are tables, models are views, and what `.yml` files say of them is the
//! semantic file. Nothing is run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::jinja::{Named, named, render};
use super::lineage::lineage;
use super::problem::Problem;
use super::semantics::{Cardinality, Relation, Semantics};
use super::{SchemaGraph, SchemaGraphError, SqlDialect};
use crate::schema::{ColumnInfo, Schema, Table, View};
use crate::tables::FileDatabase;

/// A project that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DbtError {
    /// A file or folder.
    #[error("{}: {message}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// No model at all.
    #[error("{}: no model was found; expected .sql files in the folders that model-paths names", .0.display())]
    Empty(PathBuf),
    /// The graph that names are looked up in.
    #[error(transparent)]
    Graph(#[from] SchemaGraphError),
}

/// What a project defines.
#[derive(Debug, Clone, PartialEq)]
pub struct DbtProject {
    /// Seeds and tables of sources (`source.table`) as tables, models as views.
    pub schema: Schema,
    /// Descriptions, and relations of `relationships` tests.
    pub semantics: Semantics,
    /// What was left out, and why.
    pub problems: Vec<Problem>,
    /// That of the models, as far as it shows: the one that reads most.
    pub dialect: SqlDialect,
}

/// Bytes of a file, files of a project, and folders in each other.
const BYTES: u64 = 4_000_000;
const FILES: usize = 20_000;
const DEPTH: usize = 20;

/// What a `.yml` file says of a table or model.
#[derive(Debug, Default)]
struct Said {
    description: Option<String>,
    columns: Vec<SaidColumn>,
}

#[derive(Debug, Default)]
struct SaidColumn {
    name: String,
    kind: String,
    description: Option<String>,
    unique: bool,
    not_null: bool,
    /// Table and column that a test says it refers to.
    refers: Vec<(String, String)>,
}

/// What is read of a project's files.
#[derive(Debug, Default)]
struct Files {
    /// By name the text of a model, or why it is not read.
    models: BTreeMap<String, Result<String, String>>,
    reads: BTreeMap<String, Vec<Named>>,
    seeds: BTreeMap<String, Vec<ColumnInfo>>,
    said: BTreeMap<String, Said>,
    /// Tables of sources that a `.yml` file names.
    sources: BTreeSet<String>,
    problems: Vec<Problem>,
}

impl DbtProject {
    /// Whether a folder is a project.
    pub fn is_project(folder: &Path) -> bool {
        project_file(folder).is_some()
    }

    /// Reads a project. A model with more of Jinja than `ref`, `source` and `config` is a view without derivations, and told
    /// of; so is what a `.yml` file says of something that is not there.
    ///
    /// # Errors
    /// [`DbtError`].
    pub fn read(folder: &Path) -> Result<Self, DbtError> {
        let failed = |message: &str| DbtError::File { path: folder.to_owned(), message: message.to_owned() };
        let file = project_file(folder).ok_or_else(|| failed("has no dbt_project.yml"))?;
        let project = yaml(&file).map_err(|message| DbtError::File { path: file.clone(), message })?;
        let mut files = Files::default();
        let seeds = paths(&project, &["seed-paths", "data-paths"], &["seeds", "data"]);
        for folder in seeds.iter().map(|name| folder.join(name)) {
            for file in walk(&folder, &mut files.problems) {
                files.seed(&file);
            }
        }
        let models = paths(&project, &["model-paths", "source-paths"], &["models"]);
        for folder in models.iter().chain(&seeds).map(|name| folder.join(name)) {
            for file in walk(&folder, &mut files.problems) {
                files.add(&file);
            }
        }
        if files.models.is_empty() {
            return Err(DbtError::Empty(folder.to_owned()));
        }
        files.finish()
    }
}

fn project_file(folder: &Path) -> Option<PathBuf> {
    ["dbt_project.yml", "dbt_project.yaml"].iter().map(|name| folder.join(name)).find(|file| file.is_file())
}

fn paths(project: &Json, keys: &[&str], otherwise: &[&str]) -> Vec<String> {
    let named = keys.iter().find_map(|key| project.get(*key)?.as_array());
    let named = named.map(|all| all.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect());
    named.unwrap_or_else(|| otherwise.iter().map(|path| (*path).to_owned()).collect())
}

fn text(file: &Path) -> Result<String, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > BYTES {
        return Err(format!("has {size} bytes; at most {BYTES} are read"));
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

fn yaml(file: &Path) -> Result<Json, String> {
    let text = text(file)?;
    if text.trim().is_empty() {
        return Ok(Json::Null);
    }
    serde_saphyr::from_str(&text).map_err(|error| {
        let message = error.to_string();
        format!("is not YAML: {}", message.lines().next().unwrap_or_default())
    })
}

fn problem(file: &Path, message: impl Into<String>) -> Problem {
    Problem::File { file: file.display().to_string(), message: message.into() }
}

/// The files of a folder and of those in it, by their paths; none where it is not there.
fn walk(folder: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            // A link could lead around in a circle.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEPTH {
                open.push((path, depth + 1));
            } else if path.is_file() {
                found.push(path);
            }
        }
        if found.len() > FILES {
            problems.push(problem(&folder, format!("more than {FILES} files; the rest is not read")));
            break;
        }
    }
    found.sort();
    found
}

fn plain(text: Option<&Json>) -> Option<String> {
    text?.as_str().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

fn list<'a>(value: &'a Json, key: &str) -> &'a [Json] {
    value.get(key).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}

impl Files {
    fn seed(&mut self, file: &Path) {
        if file.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("csv")) {
            return;
        }
        let Some(name) = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { return };
        match FileDatabase::open(file) {
            Ok(database) => {
                let columns = database.tables.iter().take(1).flat_map(|table| &table.columns);
                let column = |column: &crate::tables::ImportedColumn| ColumnInfo {
                    name: column.header.clone(),
                    declared_type: column.kind.sql().to_owned(),
                    ..ColumnInfo::default()
                };
                self.seeds.insert(name, columns.filter(|column| !column.text_of_number).map(column).collect());
            }
            Err(error) => self.problems.push(problem(file, error.to_string())),
        }
    }

    fn add(&mut self, file: &Path) {
        let extension = file.extension().map(|of| of.to_string_lossy().to_lowercase()).unwrap_or_default();
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        match extension.as_str() {
            "sql" => {
                let rendered = text(file).and_then(|text| render(&text));
                if let Err(message) = &rendered {
                    self.problems.push(problem(file, format!("what the model reads is not known: {message}")));
                }
                if let Ok(rendered) = &rendered {
                    self.reads.insert(name.clone(), rendered.reads.clone());
                }
                if self.models.insert(name, rendered.map(|rendered| rendered.sql)).is_some() {
                    self.problems.push(problem(file, "a model of this name is there already; this one counts"));
                }
            }
            "py" => {
                self.models.insert(name, Err("Python".to_owned()));
                self.problems.push(problem(file, "what the model reads is not known: it is written in Python"));
            }
            "yml" | "yaml" => match yaml(file) {
                Ok(said) => self.say(file, &said),
                Err(message) => self.problems.push(problem(file, message)),
            },
            _ => {}
        }
    }

    fn say(&mut self, file: &Path, said: &Json) {
        for kind in ["models", "seeds", "snapshots"] {
            for of in list(said, kind) {
                if let Some(name) = plain(of.get("name")) {
                    let said = self.said_of(file, &name, of);
                    self.said.insert(name, said);
                }
            }
        }
        for source in list(said, "sources") {
            for table in list(source, "tables") {
                let (Some(source), Some(table_name)) = (plain(source.get("name")), plain(table.get("name"))) else {
                    continue;
                };
                let name = Named::Source(source, table_name).name();
                let said = self.said_of(file, &name, table);
                self.sources.insert(name.clone());
                self.said.insert(name, said);
            }
        }
    }

    fn said_of(&mut self, file: &Path, name: &str, of: &Json) -> Said {
        let mut said = Said { description: self.description(file, name, of), columns: Vec::new() };
        for column in list(of, "columns") {
            let Some(column_name) = plain(column.get("name")) else { continue };
            let place = format!("{name}.{column_name}");
            let mut found = SaidColumn {
                kind: plain(column.get("data_type")).unwrap_or_default(),
                description: self.description(file, &place, column),
                name: column_name,
                ..SaidColumn::default()
            };
            for test in list(column, "tests").iter().chain(list(column, "data_tests")) {
                found.unique |= test.as_str() == Some("unique") || test.get("unique").is_some();
                found.not_null |= test.as_str() == Some("not_null") || test.get("not_null").is_some();
                let Some(relation) = test.get("relationships") else { continue };
                let relation = relation.get("arguments").unwrap_or(relation);
                let to = plain(relation.get("to")).and_then(|call| named(&call).flatten());
                match (to, plain(relation.get("field"))) {
                    (Some(to), Some(field)) => found.refers.push((to.name(), field)),
                    _ => self.problems.push(problem(
                        file,
                        format!("relationships of {place}: expected to: ref('model') or source('a', 'b'), and field"),
                    )),
                }
            }
            said.columns.push(found);
        }
        said
    }

    fn description(&mut self, file: &Path, place: &str, of: &Json) -> Option<String> {
        let text = plain(of.get("description"))?;
        if text.contains("{{") || text.contains("{%") {
            self.problems.push(problem(file, format!("the description of {place} is left out: its Jinja is not read")));
            return None;
        }
        Some(text)
    }

    fn finish(mut self) -> Result<DbtProject, DbtError> {
        let dialect = self.dialect();
        let mut tables: Vec<Table> = Vec::new();
        for (name, columns) in &self.seeds {
            tables.push(table(name, columns.clone()));
        }
        let used = self.reads.values().flatten().filter(|named| matches!(named, Named::Source(..))).map(Named::name);
        let sources: BTreeSet<String> = used.chain(self.sources.iter().cloned()).collect();
        let found = self.columns_read(&sources, dialect);
        for source in &sources {
            let said = self.said.get(source).map(|said| said.columns.as_slice()).unwrap_or_default();
            let mut columns: Vec<ColumnInfo> = said.iter().map(info).collect();
            for name in found.get(source).into_iter().flatten() {
                if !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
                    columns.push(info(&SaidColumn { name: name.clone(), ..SaidColumn::default() }));
                }
            }
            tables.push(table(source, columns));
        }
        for table in &mut tables {
            let said = self.said.get(&table.name).map(|said| said.columns.as_slice()).unwrap_or_default();
            let key = said.iter().find(|column| {
                column.unique && column.not_null && table.columns.iter().any(|of| of.name == column.name)
            });
            table.primary_key.extend(key.map(|column| column.name.clone()));
        }
        let views = self.models.iter().map(|(name, sql)| View {
            name: name.clone(),
            schema: None,
            // Of a model that is not read, what is said of it.
            columns: match (sql, self.said.get(name)) {
                (Err(_), Some(said)) => said.columns.iter().map(info).collect(),
                _ => Vec::new(),
            },
            sql: sql.as_ref().ok().cloned(),
            problem: None,
        });
        let schema = Schema { views: views.collect(), tables };
        let graph = SchemaGraph::new(&schema, &Semantics::default(), dialect)?;
        let semantics = self.semantics(&graph);
        Ok(DbtProject { schema, semantics, problems: self.problems, dialect })
    }

    /// The dialect that most models are read in, of several the first.
    fn dialect(&self) -> SqlDialect {
        let texts: Vec<&String> = self.models.values().filter_map(|sql| sql.as_ref().ok()).collect();
        SqlDialect::that_reads_most(|dialect| {
            texts.iter().filter(|sql| lineage(sql, dialect, &|_| None).is_err()).count()
        })
    }

    /// What models read of sources that no file tells the columns of.
    fn columns_read(&self, sources: &BTreeSet<String>, dialect: SqlDialect) -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for sql in self.models.values().filter_map(|sql| sql.as_ref().ok()) {
            let known = |name: &str| -> Option<Vec<String>> {
                let seed = self.seeds.get(name)?;
                Some(seed.iter().map(|column| column.name.clone()).collect())
            };
            for (table, column) in
                lineage(sql, dialect, &known).unwrap_or_default().into_iter().flat_map(|of| of.sources)
            {
                if sources.contains(&table) && column != "*" {
                    found.entry(table).or_default().insert(column);
                }
            }
        }
        found
    }

    /// What is said of what is there; the rest is told of.
    fn semantics(&mut self, graph: &SchemaGraph) -> Semantics {
        let mut semantics = Semantics::default();
        let mut missing = Vec::new();
        for (name, said) in &self.said {
            let Some(table) = graph.table(name) else {
                missing.push(format!("{name} is described and not there"));
                continue;
            };
            let of = semantics.tables.entry(name.clone()).or_default();
            of.description.clone_from(&said.description);
            for column in &said.columns {
                if graph.column(table, &column.name).is_none() {
                    missing.push(format!("{name}.{} is described and not there", column.name));
                    continue;
                }
                if column.description.is_some() {
                    let told = of.columns.entry(column.name.clone()).or_default();
                    told.description.clone_from(&column.description);
                }
                for (to, field) in &column.refers {
                    if graph.table(to).and_then(|table| graph.column(table, field)).is_none() {
                        missing.push(format!("{name}.{} refers to {to}.{field}, which is not there", column.name));
                        continue;
                    }
                    semantics.relations.push(Relation {
                        from: name.clone(),
                        from_columns: vec![column.name.clone()],
                        to: to.clone(),
                        to_columns: vec![field.clone()],
                        cardinality: if column.unique { Cardinality::OneToOne } else { Cardinality::ManyToOne },
                        role: None,
                    });
                }
            }
        }
        self.problems.extend(missing.into_iter().map(|message| Problem::Said { message }));
        semantics
    }
}

fn info(column: &SaidColumn) -> ColumnInfo {
    ColumnInfo {
        name: column.name.clone(),
        declared_type: column.kind.clone(),
        not_null: column.not_null,
        generated: false,
    }
}

fn table(name: &str, columns: Vec<ColumnInfo>) -> Table {
    Table { name: name.to_owned(), columns, ..Table::default() }
}

#[cfg(test)]
mod tests;
