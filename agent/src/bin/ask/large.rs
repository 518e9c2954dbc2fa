//! Documents with tables that go through SQL.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tabsegnet::corpus::{Corpus, RankedTable};
use tabsegnet::{OpenDocument, Opening, Session, TableRanking};
use tabsegnet_agent::large::{Large, Texts, has_records};
use tabsegnet_agent::{Answer, Folder, Policy};
use tabsegnet_document::model::Document;
use tabsegnet_document::native::document_json;
use tabsegnet_store::{counted, eprintln, write_bytes_atomic};
use tabsegnet_tablerag::RoundSettings;
use tempfile::TempDir;

/// Such a document, open between questions.
pub struct LargeDocument {
    large: Large,
    /// What is left of it for the ranker.
    rest: Rest,
    /// Where its file is, if it was made of tables of a corpus; it goes when this does.
    folder: Option<TempDir>,
}

/// Of a ranking's tables the first, among which one of records has to be.
const FIRST: usize = 3;

enum Rest {
    Nothing,
    Document(OpenDocument),
    /// Its documents, each for the questions that are about it.
    Folder(Folder),
}

impl From<Option<OpenDocument>> for Rest {
    fn from(rest: Option<OpenDocument>) -> Self {
        rest.map_or(Self::Nothing, Self::Document)
    }
}

/// Reads a document, where it has tables of `cells` cells or more, which are told on stderr, or, where `records` are wanted, is
/// tables of records or lists alone.
pub fn read(path: &Path, cells: usize, records: bool) -> Result<Option<Large>> {
    let Some(large) = Large::read(path, cells, records, program()?)? else { return Ok(None) };
    for warning in &large.warnings {
        eprintln!("warning: {}: {warning}", path.display());
    }
    for (number, rows, columns) in &large.tables {
        eprintln!(
            "t{number} goes through SQL: {rows} rows of {columns} cells are too many for the graph (--sql-cells)"
        );
    }
    if large.tables.is_empty() {
        eprintln!("{}: its tables go through SQL too; the surer answers", path.display());
    }
    Ok(Some(large))
}

fn program() -> Result<OsString> {
    Ok(std::env::current_exe().context("the program does not find itself")?.into_os_string())
}

/// A document of tables of a corpus in a file, which goes when its folder does.
fn kept(document: &Document) -> Result<(TempDir, PathBuf)> {
    let folder = tempfile::Builder::new().prefix("tables").tempdir().context("no folder for tables of the corpus")?;
    let path = folder.path().join("corpus.json");
    write_bytes_atomic(&path, document_json(document).as_bytes())?;
    Ok((folder, path))
}

impl LargeDocument {
    /// Opens a folder of documents.
    pub fn of_folder(path: &Path, cells: usize, opening: Opening) -> Result<Self> {
        let large = Large::read_folder(path, cells, program()?)?;
        large.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        if let Some([documents, tables]) = large.in_folder() {
            let (documents, tables) = (counted(documents, "document"), counted(tables, "table"));
            eprintln!("{}: {documents}; SQL goes through {tables}", path.display());
        }
        Ok(Self { large, rest: Rest::Folder(Folder::new(opening.finish()?)), folder: None })
    }

    /// Opens what the ranker is to see of it.
    pub fn open(large: Large, opening: Opening) -> Result<Self> {
        let rest = if large.has_rest() { large.open_rest(&opening.finish()?)? } else { None };
        Ok(Self { large, rest: rest.into(), folder: None })
    }

    /// The tables of a corpus for one question, of which `document` is made, as such a document, where one of them has `cells`
    /// cells or more.
    ///
    /// Nothing too where a table has more rows than a document holds: SQL over the first of them looks like SQL over all.
    pub fn of_tables(
        document: &Document,
        tables: &TableRanking,
        session: &Session,
        cells: usize,
    ) -> Result<Option<Self>> {
        if tables.tables.iter().any(|table| table.rows_in_document.is_some()) {
            return Ok(None);
        }
        if document.tables().all(|table| table.rows() * table.cols() < cells.max(1)) {
            return Ok(None);
        }
        let (folder, path) = kept(document)?;
        let Some(large) = read(&path, cells, false)? else { return Ok(None) };
        let rest = large.open_rest(session)?;
        Ok(Some(Self { large, rest: rest.into(), folder: Some(folder) }))
    }

    /// The tables of a corpus for one question, of which `document` is made, where one of the first is of records or a list of
    /// things in a file of tables alone: all such tables go through SQL, beside the ranker.
    ///
    /// Nothing too where a table has more rows than a document holds: SQL over the first of them looks like SQL over all.
    pub fn of_records(
        corpus: &Corpus,
        document: &Document,
        tables: &TableRanking,
        session: &Session,
    ) -> Result<Option<Self>> {
        if tables.tables.iter().any(|table| table.rows_in_document.is_some()) {
            return Ok(None);
        }
        let is_alone =
            |table: &RankedTable| !table.left_out && table.in_file.as_ref().is_none_or(|in_file| in_file.passages == 0);
        let mut files: Vec<&str> = Vec::new();
        for table in tables.tables.iter().filter(|table| is_alone(table)) {
            if !files.contains(&table.file.as_str()) {
                files.push(&table.file);
            }
        }
        let of_file = |file: &str| {
            let is =
                |number: usize| tables.tables.get(number).is_some_and(|table| table.file == file && is_alone(table));
            corpus.document_of(file, tables, is).map(|document| (PathBuf::from(file), document))
        };
        let mut documents: Vec<(PathBuf, Document)> =
            files.iter().map(|file| of_file(file)).collect::<Result<_, _>>()?;
        documents.retain(|(_, document)| has_records(document));
        let is_kept = |table: &RankedTable| documents.iter().any(|(file, _)| file == Path::new(&table.file));
        if !tables.tables.iter().filter(|table| !table.left_out).take(FIRST).any(is_kept) {
            return Ok(None);
        }
        let (folder, path) = kept(document)?;
        let large = Large::of_files(&path, documents, program()?)?;
        let rest = Rest::Document(session.open_made("corpus.json", document)?);
        Ok(Some(Self { large, rest, folder: Some(folder) }))
    }

    /// Whether it is made of tables of a corpus.
    pub fn is_of_tables(&self) -> bool {
        self.folder.is_some()
    }

    /// Its large tables.
    pub fn tables(&self) -> &Large {
        &self.large
    }

    /// Answers by rules; `policy` answers from the rest.
    pub fn answer(&self, question: (&str, &str), policy: &dyn Policy, settings: &RoundSettings) -> Result<Answer> {
        let texts = match &self.rest {
            Rest::Nothing => None,
            Rest::Document(document) => Some(Texts::Document(document)),
            Rest::Folder(folder) => Some(Texts::Folder(folder)),
        };
        Ok(self.large.answer(question, texts.map(|texts| (texts, policy)), settings)?)
    }
}
