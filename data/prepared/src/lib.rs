//! Prepared data sets as files: documents, nodes, edges, questions and their segments as five Parquet files, kept
//! under a digest of everything they depend on, so that the same data are prepared once.
//!
//! | file | columns |
//! |---|---|
//! | `documents.parquet` | `document` u32, `id` str, `tables` u32, `passages` u32 |
//! | `nodes.parquet` | `document` u32, `node` u32, `id` str, `kind` str, `text` str, `ranking_text` str, and for nodes of a table (else null) `table`, `row`, `col`, `rowspan`, `colspan` u32, `row_path`, `column_path` str |
//! | `edges.parquet` | `document` u32, `source` u32, `destination` u32, `type` str, by document, destination, source, type |
//! | `questions.parquet` | `id` str, `document` u32, `question` str, `gold` list of u32 (node numbers) |
//! | `segments.parquet` | `question` u32, `text` str, `nodes` list of u32, by question, then in the question's order |
//!
//! `document` and `question` count from 0, `node` counts the nodes of a document from 0, in order.
//! `statistics.json` beside them holds [`tabsegnet_datasets::prepared::Statistics`].

mod parquet;

use std::path::{Path, PathBuf};

use tabsegnet_datasets::DataError;
use tabsegnet_datasets::prepared::{PrepareSettings, Prepared, digest, make};
use tabsegnet_datasets::source::Source;
use tabsegnet_document::from_json;
use tabsegnet_store::{Staging, read_text, write_bytes_atomic};

/// Where a prepared data set came from in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Made now and written to this directory.
    Prepared(PathBuf),
    /// Read from this directory.
    Read(PathBuf),
}

/// Prepares `source`, or reads what an earlier run prepared from the same bytes with the same
/// settings under `cache`.
///
/// # Errors
/// What is wrong with the inputs; a gold id that names no node; a prepared file that cannot be
/// written, or read back (delete its directory then).
pub fn prepare(source: &Source, settings: &PrepareSettings, cache: &Path) -> Result<(Prepared, Origin), DataError> {
    let digest = digest(source, settings)?;
    let directory = cache.join("prepared").join(&digest[..32]);
    if directory.join(STATISTICS).is_file() {
        let prepared = read(&directory, digest)?;
        return Ok((prepared, Origin::Read(directory)));
    }
    let prepared = make(source, settings, digest)?;
    write(&prepared, &directory)?;
    Ok((prepared, Origin::Prepared(directory)))
}

const STATISTICS: &str = "statistics.json";

fn write(prepared: &Prepared, directory: &Path) -> Result<(), DataError> {
    let staging = Staging::new(directory)?;
    parquet::write(prepared, staging.path())?;
    // Statistics are numbers and names: there is nothing JSON cannot hold.
    let statistics = serde_json::to_string(&prepared.statistics).unwrap_or_default();
    write_bytes_atomic(&staging.path().join(STATISTICS), statistics.as_bytes())?;
    // Another program may have written the same meanwhile, and be reading it.
    let written = || directory.join(STATISTICS).is_file();
    if written() {
        return Ok(());
    }
    match staging.commit() {
        Err(_) if written() => Ok(()),
        result => Ok(result?),
    }
}

fn read(directory: &Path, digest: String) -> Result<Prepared, DataError> {
    let path = directory.join(STATISTICS);
    let statistics = from_json(&path, &read_text(&path)?)?;
    let (documents, questions) = parquet::read(directory)?;
    Ok(Prepared { digest, documents, questions, statistics })
}

#[cfg(test)]
mod tests;
