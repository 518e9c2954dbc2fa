//! What `--database` names, opened: a file, a server, or definitions without rows.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Error, Result, anyhow};
use tabsegnet_sql::generate::Labels;
use tabsegnet_sql::schema_graph::{DbtProject, Hidden, Problem, Semantics, SqlDialect};
use tabsegnet_sql::tables::{FileDatabase, ImportError};
use tabsegnet_sql::{Database, Origins, QueryError, Rows, Sandbox, Schema, nearest, rows_behind, worker};

use super::shown::{is_of_server, is_postgres, shown};
use super::warn;

/// The database, or the definitions, of a question.
pub enum Source {
    /// A SQLite database, the user's own or one that tables of files were put into.
    File { path: PathBuf, files: Option<Box<FileDatabase>> },
    /// A PostgreSQL server's.
    Server(String),
    /// Definitions, of which there is the schema alone.
    Definitions(Box<Definitions>),
}

/// What definitions say.
pub struct Definitions {
    schema: Schema,
    semantics: Semantics,
    problems: Vec<Problem>,
    dialect: SqlDialect,
}

/// A database that reads, for a question.
pub enum Reader {
    File(Box<Database>),
    #[cfg(feature = "postgres")]
    Server(Box<tabsegnet_sql::postgres::Server>),
    Nothing,
}

/// What a statement answers.
pub struct Ran {
    pub rows: Rows,
    pub origins: Origins,
    /// Tables to be hidden that are not there.
    pub not_there: Vec<String>,
}

/// What is known of a database before a question.
pub struct Known {
    pub schema: Schema,
    pub semantics: Semantics,
    pub problems: Vec<Problem>,
    pub dialect: SqlDialect,
    /// What headers of files call columns.
    pub labels: Labels,
    pub reader: Reader,
    /// Tables to be hidden that are not there.
    pub not_there: Vec<String>,
}

impl Source {
    /// Opens it, and says what was left out.
    pub fn open(database: &Path) -> Result<Self> {
        let name = database.to_string_lossy();
        if is_postgres(&name) {
            return Ok(Self::Server(name.into_owned()));
        }
        anyhow::ensure!(
            database.exists() || !is_of_server(&name),
            "{} is no file, and of servers PostgreSQL's alone are read; expected postgres://USER:PASSWORD@HOST:PORT/DATABASE",
            shown(&name)
        );
        let is_other = std::fs::metadata(database).is_ok_and(|about| !about.is_file() && !about.is_dir());
        anyhow::ensure!(!is_other, "{} is neither a file nor a folder; expected a database", shown(&name));
        if begins_as_sqlite(database) {
            return Ok(Self::File { path: database.to_owned(), files: None });
        }
        if database.is_dir() && DbtProject::is_project(database) {
            let DbtProject { schema, semantics, problems, dialect } = DbtProject::read(database)?;
            return Ok(Self::Definitions(Box::new(Definitions { schema, semantics, problems, dialect })));
        }
        if is_ddl(database) {
            return Ok(Self::Definitions(Box::new(Definitions::of_ddl(database)?)));
        }
        // What is no file of a known kind is left to SQLite, which says what is wrong.
        let files = match database.is_dir() || FileDatabase::is_known(database) {
            true => match FileDatabase::open(database) {
                Ok(files) => Some(Box::new(files)),
                Err(error) => match Definitions::of_folder(database)? {
                    Some(definitions) => return Ok(Self::Definitions(Box::new(definitions))),
                    None if matches!(error, ImportError::Empty(_)) => {
                        return Err(anyhow!(
                            "{error}; or definitions: .sql files, a dbt project with its dbt_project.yml"
                        ));
                    }
                    None => return Err(error.into()),
                },
            },
            false => None,
        };
        for warning in files.iter().flat_map(|files| &files.warnings) {
            warn(warning);
        }
        let path = files.as_ref().map_or(database, |files| files.path()).to_owned();
        Ok(Self::File { path, files })
    }

    /// A name for people; of a URL nothing but the database's.
    pub fn title(&self, database: &Path) -> String {
        match self {
            Self::Server(url) => {
                let name = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map(|(_, name)| name);
                let name = name.and_then(|name| name.split('?').next()).filter(|name| !name.is_empty());
                name.unwrap_or("PostgreSQL").to_owned()
            }
            _ => database.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    /// The files that the database was made from.
    pub fn files(&self) -> Option<&FileDatabase> {
        match self {
            Self::File { files, .. } => files.as_deref(),
            _ => None,
        }
    }

    /// Runs a statement behind the fence.
    pub fn run(&self, sandbox: &Sandbox, sql: &str, origins: bool) -> Result<Ran> {
        match self {
            Self::File { path, .. } => {
                let program = std::env::current_exe().context("the program does not find itself")?;
                let run = if origins { worker::query_with_origins } else { worker::query };
                let answer = run(program.as_os_str(), path, sandbox, sql);
                // Told of also where the statement fails, as the name may be why.
                if answer.rows.is_err() {
                    answer.not_there.iter().for_each(|name| super::hidden_is_not_there(name));
                }
                Ok(Ran { rows: answer.rows?, origins: answer.origins, not_there: answer.not_there })
            }
            Self::Server(url) => on_server(url, sandbox, sql, origins),
            Self::Definitions(_) => Err(no_rows().into()),
        }
    }

    /// A refusal, with what there is in place of a table or column that is not there.
    pub fn with_nearest(&self, error: Error, sandbox: &Sandbox, sql: &str) -> Error {
        let Some(QueryError::Refused { reason }) = error.downcast_ref() else { return error };
        let schema = || Some(self.known(&sandbox.for_reading(), Semantics::default()).ok()?.schema);
        match reason.starts_with("no such ").then(schema).flatten().and_then(|schema| nearest(reason, sql, &schema)) {
            Some(near) => QueryError::Refused { reason: format!("{reason}; {near}") }.into(),
            None => error,
        }
    }

    /// A statement that shows the rows behind a statement's aggregates; none where it has none, and none for a server.
    pub fn rows_behind(&self, sql: &str) -> Option<String> {
        matches!(self, Self::File { .. }).then(|| rows_behind(sql)).flatten()
    }

    /// An error where there are no rows.
    pub fn with_rows(&self) -> Result<()> {
        match self {
            Self::Definitions(_) => Err(no_rows().into()),
            _ => Ok(()),
        }
    }

    /// What is known of it, with what reads it.
    pub fn known(&self, sandbox: &Sandbox, semantics: Semantics) -> Result<Known> {
        let labels = self.files().map(FileDatabase::labels).unwrap_or_default();
        let (schema, dialect, reader, not_there) = match self {
            Self::File { path, .. } => {
                let database = Database::open(path, sandbox)?;
                let not_there = database.not_there().to_vec();
                (database.schema()?, SqlDialect::Sqlite, Reader::File(Box::new(database)), not_there)
            }
            Self::Server(url) => {
                let (schema, reader, not_there) = server(url, sandbox)?;
                (schema, SqlDialect::Postgres, reader, not_there)
            }
            Self::Definitions(of) => {
                let schema = &of.schema;
                let names = schema.tables.iter().map(|t| &t.name).chain(schema.views.iter().map(|v| &v.name));
                let names: Vec<String> = names.map(|name| name.to_lowercase()).collect();
                let missing = sandbox.hidden.iter().filter(|name| !names.contains(&name.to_lowercase())).cloned();
                let not_there = missing.collect();
                let hidden = Hidden::of(schema, &sandbox.hidden, of.dialect);
                let semantics = semantics.or(hidden.semantics(&of.semantics));
                return Ok(Known {
                    schema: hidden.schema(schema),
                    semantics,
                    problems: hidden.problems(&of.problems),
                    dialect: of.dialect,
                    labels,
                    reader: Reader::Nothing,
                    not_there,
                });
            }
        };
        Ok(Known { schema, semantics, problems: Vec::new(), dialect, labels, reader, not_there })
    }
}

impl Definitions {
    /// A file of `CREATE` statements, in the dialect that reads most of it.
    fn of_ddl(file: &Path) -> Result<Self> {
        let place = || file.display().to_string();
        let text = text_of(file).with_context(place)?;
        let dialect = SqlDialect::that_reads_most(|dialect| {
            Schema::from_ddl(&text, dialect).map_or(usize::MAX, |(_, problems)| problems.len())
        });
        let (schema, problems) = Schema::from_ddl(&text, dialect).with_context(place)?;
        anyhow::ensure!(
            !schema.tables.is_empty() || !schema.views.is_empty(),
            "{}: no definition was found; expected CREATE TABLE or CREATE VIEW",
            file.display()
        );
        Ok(Self { schema, semantics: Semantics::default(), problems, dialect })
    }

    /// The files of `CREATE` statements of a folder (not of folders in it), by their names, as one; none where it has none.
    fn of_folder(folder: &Path) -> Result<Option<Self>> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> = entries.filter(|path| path.is_file() && is_ddl(path)).collect();
        paths.sort();
        let mut files = Vec::new();
        for path in &paths {
            let text = text_of(path).with_context(|| path.display().to_string())?;
            files.push((path.display().to_string(), text));
        }
        if files.is_empty() {
            return Ok(None);
        }
        let dialect = SqlDialect::that_reads_most(|dialect| {
            Schema::from_ddl_files(&files, dialect).map_or(usize::MAX, |(_, problems)| problems.len())
        });
        let place = || folder.display().to_string();
        let (schema, problems) = Schema::from_ddl_files(&files, dialect).with_context(place)?;
        anyhow::ensure!(
            !schema.tables.is_empty() || !schema.views.is_empty(),
            "{}: no definition was found in its .sql files; expected CREATE TABLE or CREATE VIEW",
            folder.display()
        );
        Ok(Some(Self { schema, semantics: Semantics::default(), problems, dialect }))
    }
}

/// A file's text; what is not UTF-8 is taken for Latin-1, as older dumps are.
fn text_of(file: &Path) -> std::io::Result<String> {
    let bytes = std::fs::read(file)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect()))
}

fn is_ddl(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sql"))
}

impl Reader {
    /// Runs a statement that reads; nothing is there to be read of definitions.
    pub fn query(&mut self, sql: &str) -> Result<Rows, QueryError> {
        match self {
            Self::File(database) => database.query(sql),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.query(sql),
            Self::Nothing => Err(QueryError::Refused { reason: "definitions have no rows".to_owned() }),
        }
    }
}

fn no_rows() -> QueryError {
    let reason = "definitions have no rows; take --schema, or a question with --explain";
    QueryError::Refused { reason: reason.to_owned() }
}

/// Whether a file begins as a SQLite database.
fn begins_as_sqlite(path: &Path) -> bool {
    let mut start = [0; 16];
    let begins = File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    begins && start == *b"SQLite format 3\0"
}

#[cfg(feature = "postgres")]
fn on_server(url: &str, sandbox: &Sandbox, sql: &str, origins: bool) -> Result<Ran> {
    let mut server = tabsegnet_sql::postgres::Server::connect(url, sandbox)?;
    if origins {
        let (rows, origins, not_there) = server.query_with_origins(sql)?;
        return Ok(Ran { rows, origins, not_there });
    }
    let (rows, not_there) = server.query_and_not_there(sql)?;
    Ok(Ran { rows, origins: Origins::new(), not_there })
}

#[cfg(feature = "postgres")]
fn server(url: &str, sandbox: &Sandbox) -> Result<(Schema, Reader, Vec<String>)> {
    let mut server = tabsegnet_sql::postgres::Server::connect(url, sandbox)?;
    let (schema, not_there) = server.schema_and_not_there()?;
    Ok((schema, Reader::Server(Box::new(server)), not_there))
}

#[cfg(not(feature = "postgres"))]
fn on_server(_: &str, _: &Sandbox, _: &str, _: bool) -> Result<Ran> {
    anyhow::bail!("this program was built without PostgreSQL; build it with the feature postgres")
}

#[cfg(not(feature = "postgres"))]
fn server(url: &str, sandbox: &Sandbox) -> Result<(Schema, Reader, Vec<String>)> {
    on_server(url, sandbox, "", false).and_then(|_| anyhow::bail!("no PostgreSQL"))
}
