//! Documents taken in: chunks in an index, tables in a database, and which chunk is of which table.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabsegnet_corpus::{Corpus, IndexConfig, TableRef, Writer};
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_document::model::{Block, Document, Table};
use tabsegnet_encoder::{Encoder, EncoderConfig};
use tabsegnet_lexical::names::Named;
use tabsegnet_sql::tables::{FileDatabase, ImportedTable};
use tempfile::TempDir;

use crate::chunk::{Chunk, ChunkSettings, Span, cell, chunks, headers};
use crate::error::LibraryError;
use crate::links::Links;
use crate::schema::TableSchema;
use crate::search::Found;
use crate::siblings::{Meant, Siblings};

/// A document to take in.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file, or another name that no second document has.
    pub name: PathBuf,
    /// What it is about, for searching; of a file without a title its name without the ending.
    pub title: String,
    /// The folders and the file that it lies in, with `/` between, where these tell it from others.
    pub place: String,
    /// What it says.
    pub document: Document,
}

impl Source {
    /// A document that was read from a file. Its title is its outermost first heading, else the file's name.
    pub fn of_file(file: &Path, document: Document) -> Self {
        let heading = document.headings().min_by_key(|heading| heading.level).map(|heading| heading.text.clone());
        let stem = || file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let title = heading.filter(|text| !text.trim().is_empty()).unwrap_or_else(stem);
        Self { name: file.to_owned(), title, place: String::new(), document }
    }

    /// The same of a file in some folders ([`folders_below`](tabsegnet_corpus::folders_below)), whose names and its own then
    /// count as headings.
    #[must_use]
    pub fn in_folders(self, folders: &str) -> Self {
        let stem = self.name.file_stem().map(OsStr::to_string_lossy).filter(|stem| *stem != self.title);
        let parts = [Cow::Borrowed(folders)].into_iter().chain(stem);
        let place = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        Self { place, ..self }
    }

    /// What it is called: its title, its file, its folders.
    fn titles(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let stem = self.name.file_stem().map(OsStr::to_string_lossy);
        [self.title.as_str(), self.place.as_str()].into_iter().map(Cow::Borrowed).chain(stem)
    }

    /// All that it says.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.document.blocks.iter().flat_map(|block| match block {
            Block::Heading(heading) => vec![heading.text.as_str()],
            Block::Passage(text) => vec![text.as_str()],
            Block::Table(table) => {
                let cells = table.cells().iter().map(|cell| cell.text.as_str());
                [table.caption()].into_iter().chain(cells).collect()
            }
        })
    }

    fn says(&self, named: &Named) -> bool {
        self.titles().any(|title| named.is_said_in(&title)) || self.texts().any(|text| named.is_said_in(text))
    }
}

/// A table in the database, with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTable {
    /// The document, by its place.
    pub document: usize,
    /// The table's number in it.
    pub number: usize,
    /// What it is told as.
    pub schema: TableSchema,
}

/// Documents taken in, for questions. Index and database are temporary files, which go when this does.
pub struct Library {
    sources: Vec<Source>,
    chunks: Vec<Chunk>,
    tables: Vec<StoredTable>,
    /// Of each chunk the table that it is of, by its place in `tables`: the map f of the paper.
    table_of: Vec<Option<usize>>,
    database: FileDatabase,
    /// Tables of records, and those that they may be joined with, by name.
    records: HashSet<String>,
    index: Corpus,
    /// Of each chunk where the index has it.
    places: Vec<TableRef>,
    pub(crate) links: Links,
    /// Whether what is taken in is a part of what there is.
    is_part: bool,
    siblings: Siblings,
    _folder: TempDir,
}

impl Library {
    /// Takes documents in.
    ///
    /// # Errors
    /// [`LibraryError`]: two documents of one name, settings that do not fit, no room on the disk, an encoder that fails.
    pub fn new(
        sources: Vec<Source>,
        encoder: &Arc<dyn Encoder>,
        config: &EncoderConfig,
        settings: ChunkSettings,
    ) -> Result<Self, LibraryError> {
        if let Some(problem) = settings.problem() {
            return Err(LibraryError::Setting(problem));
        }
        let mut of_name: HashMap<&Path, usize> = HashMap::new();
        for (number, source) in sources.iter().enumerate() {
            if of_name.insert(&source.name, number).is_some() {
                return Err(LibraryError::Twice(source.name.display().to_string()));
            }
        }
        let database = FileDatabase::of_documents(sources.iter().map(|of| (of.name.as_path(), &of.document)))?;
        let mut tables = Vec::new();
        let mut of_number: HashMap<(usize, usize), usize> = HashMap::new();
        for imported in &database.tables {
            let place = of_name.get(imported.file.as_path()).copied().zip(imported.number());
            let Some((document, number)) = place else { continue };
            let Some(table) = sources.get(document).and_then(|source| table_of(source, number)) else { continue };
            of_number.insert((document, number), tables.len());
            tables.push(StoredTable { document, number, schema: TableSchema::new(imported, table) });
        }
        let mut all: Vec<Chunk> = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            all.extend(chunks(&source.document, number, settings));
        }
        let siblings = Siblings::new(tables.iter().map(|stored| columns_and_names(stored, &sources, &all)));
        let table_of: Vec<Option<usize>> =
            all.iter().map(|chunk| of_number.get(&(chunk.document, chunk.span.table()?)).copied()).collect();
        let folder = tempfile::Builder::new().prefix("chunks").tempdir()?;
        let directory = folder.path().join("index");
        let mut writer = Writer::open(&directory, encoder.as_ref(), config, &IndexConfig::default())?;
        let records: Vec<TableRecord> =
            all.iter().enumerate().map(|(number, chunk)| record(chunk, number, &sources)).collect();
        let documents: Vec<usize> = all.iter().map(|chunk| chunk.document).collect();
        let links = Links::new(&records, &documents);
        for record in records {
            // Numbers are ids: none is taken.
            let _ = writer.add(record, &mut |_| ())?;
        }
        writer.commit(&mut |_| ())?;
        let index = Corpus::open_with(&directory, Arc::clone(encoder))?;
        let places = (0..all.len()).map(|number| index.find(&id(number))).collect::<Result<_, _>>()?;
        let of_records = with_records(&database);
        Ok(Self {
            sources,
            chunks: all,
            tables,
            table_of,
            database,
            records: of_records,
            index,
            places,
            links,
            is_part: false,
            siblings,
            _folder: folder,
        })
    }

    /// The same as a part of what there is: a name that it does not say may stand in the rest.
    #[must_use]
    pub fn of_part(self) -> Self {
        Self { is_part: true, ..self }
    }

    /// The documents.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The chunks, document by document.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The tables of the database.
    pub fn tables(&self) -> &[StoredTable] {
        &self.tables
    }

    /// The table that a chunk is of: its place in [`Library::tables`]. Nothing for text, and for a table that is not in
    /// the database, as one with too many columns.
    pub fn table_of(&self, chunk: usize) -> Option<usize> {
        self.table_of.get(chunk).copied().flatten()
    }

    /// The schema of the table that a chunk is of.
    pub fn schema_of(&self, chunk: usize) -> Option<&TableSchema> {
        self.tables.get(self.table_of(chunk)?).map(|table| &table.schema)
    }

    /// The database of the tables.
    pub fn database(&self) -> &FileDatabase {
        &self.database
    }

    /// The table as it was put into the database.
    pub fn imported(&self, table: usize) -> Option<&ImportedTable> {
        let name = &self.tables.get(table)?.schema.table_name;
        self.database.tables.iter().find(|imported| imported.name == *name)
    }

    /// The names of its tables of records ([`ImportedTable::is_of_records`]), and of those that have a column of the same name,
    /// which they may be joined by.
    pub(crate) fn records(&self) -> &HashSet<String> {
        &self.records
    }

    /// The table in its document.
    pub fn table(&self, table: usize) -> Option<&Table> {
        let stored = self.tables.get(table)?;
        table_of(self.sources.get(stored.document)?, stored.number)
    }

    /// The index of the chunks, in which a chunk is a table: of text its caption is the text.
    pub fn index(&self) -> &Corpus {
        &self.index
    }

    /// Of what a question names a name that no document says; nothing of one document alone, nor of a part of several.
    pub(crate) fn unknown_name(&self, question: &str) -> Option<String> {
        let named = Named::of(question);
        if self.is_part || self.sources.len() < 2 || named.is_empty() {
            return None;
        }
        named.names().iter().find_map(|name| {
            let one = named.only(name);
            (!self.sources.iter().any(|source| source.says(&one))).then(|| name.clone())
        })
    }

    /// Of each chunk that was found whether its document says nothing of what the question names and the title of another one
    /// does: of "Nike's revenue" the reports of other companies, where there is one of Nike's. Their numbers look like answers.
    pub(crate) fn of_others(&self, question: &str, found: &[Found]) -> Vec<bool> {
        let titles: Vec<Cow<'_, str>> = self.sources.iter().flat_map(Source::titles).collect();
        let named = Named::of(question).in_titles(titles.iter().map(AsRef::as_ref));
        if named.is_empty() {
            return vec![false; found.len()];
        }
        let mut says: HashMap<usize, bool> = HashMap::new();
        let mut is_of_others = |found: &Found| {
            let source = self.chunks.get(found.chunk).map(|chunk| chunk.document);
            source
                .and_then(|at| Some((at, self.sources.get(at)?)))
                .is_some_and(|(at, source)| !*says.entry(at).or_insert_with(|| source.says(&named)))
        };
        found.iter().map(&mut is_of_others).collect()
    }

    /// What a question means of the tables with the same columns as one.
    pub fn meant(&self, table: usize, question: &str) -> Meant {
        self.siblings.meant(table, question, |table| self.table(table))
    }

    /// Whether a question means another of the tables with the same columns as one ([`Meant::Another`]).
    pub fn means_another(&self, table: usize, question: &str) -> bool {
        self.siblings.means_another(table, question, |table| self.table(table))
    }

    /// The table of a document, by both their numbers, as [`Library::tables`] has it.
    pub fn stored(&self, document: usize, number: usize) -> Option<usize> {
        self.tables.iter().position(|table| (table.document, table.number) == (document, number))
    }

    /// Chunks that were found without those of tables of which the question means another one, which stands in their place.
    pub(crate) fn of_meant(&self, question: &str, found: Vec<Found>) -> Vec<Found> {
        let mut meant: HashMap<usize, bool> = HashMap::new();
        let mut kept: Vec<Found> = Vec::new();
        for of in found {
            let table = self.table_of(of.chunk);
            let is_meant =
                table.is_none_or(|table| *meant.entry(table).or_insert_with(|| !self.means_another(table, question)));
            let instead = table.filter(|_| !is_meant).map(|table| self.siblings.named_instead(table, question));
            let chunk_of = |table: usize| self.table_of.iter().position(|of| *of == Some(table));
            let instead = instead.into_iter().flatten().filter_map(chunk_of).map(|chunk| Found { chunk, ..of });
            for of in instead.chain([of].into_iter().filter(|_| is_meant)) {
                if !kept.iter().any(|other| other.chunk == of.chunk) {
                    kept.push(of);
                }
            }
        }
        kept
    }

    /// Where the index has a chunk.
    pub(crate) fn place(&self, chunk: usize) -> Option<TableRef> {
        self.places.get(chunk).copied()
    }

    /// The chunk at a place of the index.
    pub(crate) fn chunk_at(&self, place: TableRef) -> Option<usize> {
        self.index.id(place).parse().ok()
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library")
            .field("documents", &self.sources.len())
            .field("chunks", &self.chunks.len())
            .field("tables", &self.tables.len())
            .finish_non_exhaustive()
    }
}

fn with_records(database: &FileDatabase) -> HashSet<String> {
    let names = |table: &ImportedTable| -> HashSet<String> {
        table.columns.iter().map(|column| column.name.to_lowercase()).collect()
    };
    let all = &database.tables;
    let of_records: HashSet<String> = all.iter().filter(|table| table.is_of_records()).flat_map(names).collect();
    let shares = |table: &&ImportedTable| names(table).iter().any(|name| of_records.contains(name));
    all.iter().filter(shares).map(|table| table.name.clone()).collect()
}

fn table_of(source: &Source, number: usize) -> Option<&Table> {
    source.document.tables().find(|table| table.number() == number)
}

/// What a table's columns are called, and all that names the table.
fn columns_and_names(stored: &StoredTable, sources: &[Source], chunks: &[Chunk]) -> (Vec<String>, String) {
    let columns = stored.schema.columns.iter().map(|column| column.0.clone()).collect();
    let is_of = |chunk: &&Chunk| (chunk.document, chunk.span.table()) == (stored.document, Some(stored.number));
    let section = chunks.iter().find(is_of).map_or("", |chunk| chunk.section.as_str());
    let source = sources.get(stored.document);
    let caption = source.and_then(|source| table_of(source, stored.number)).map_or("", Table::caption);
    let stem = source.and_then(|source| Some(source.name.file_stem()?.to_string_lossy())).unwrap_or_default();
    let place = source.map_or("", |source| source.place.as_str());
    (columns, [place, &stem, section, caption].join(" "))
}

/// Ids sort as the chunks do.
fn id(chunk: usize) -> String {
    format!("{chunk:09}")
}

/// A chunk as the index takes it.
fn record(chunk: &Chunk, number: usize, sources: &[Source]) -> TableRecord {
    let source = sources.get(chunk.document);
    let mut record = TableRecord {
        id: id(number),
        title: source.map_or_else(String::new, |source| source.title.clone()),
        section: match source.map_or("", |source| source.place.as_str()) {
            "" => chunk.section.clone(),
            place => format!("{place} {}", chunk.section),
        },
        ..TableRecord::default()
    };
    match &chunk.span {
        Span::Text { .. } => record.caption.clone_from(&chunk.text),
        Span::Table { table, rows } => {
            if let Some(table) = source.and_then(|source| table_of(source, *table)) {
                table.caption().clone_into(&mut record.caption);
                record.column_headers = headers(table);
                let row = |row: usize| (0..table.cols()).map(|col| cell(table, row, col).to_owned()).collect();
                record.rows = rows.clone().map(row).collect();
            }
        }
    }
    record
}
