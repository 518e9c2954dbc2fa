//! Any file as a document.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use tabsegnet_store::FileError;

use crate::builder::Builder;
use crate::decode::decode;
use crate::error::ReadError;
use crate::facts::Facts;
use crate::format::{self, Format};
use crate::layout::Layout;
use crate::model::{Block, Document, Heading};
use crate::options::ReadOptions;
use crate::{delimited, docling, html, markdown, native, text, xlsx};

/// A document as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadDocument {
    /// The document; its id is the file's name without the extension, or what the file says.
    pub document: Document,
    /// Which of its passages form a paragraph, and where its nodes stand in the file.
    pub layout: Layout,
    /// The form it was read as.
    pub format: Format,
    /// The numbers that the page tags (HTML with inline XBRL only).
    pub facts: Facts,
    /// What was inferred for each table, in order of their numbers.
    pub tables: Vec<Inferred>,
    /// What was cut off, left out or guessed; each names its place in the file.
    pub warnings: Vec<String>,
    /// Of the warnings, those that say that something was cut off.
    pub cuts: Vec<Cut>,
    /// What the file calls itself (the `<title>` of HTML only). It is no part of the document.
    pub title: Option<String>,
}

/// A table, or a sheet of tables, of which not all was read: what is computed over it is not of all its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Rows that were read; of a sheet the last of them may lack cells.
    pub rows: usize,
    /// Rows that there are; nothing where reading ended before they were counted. No more than were read where columns
    /// alone are missing.
    pub of: Option<usize>,
    /// Where it stands and where it was cut, as the warning says it.
    pub warning: String,
}

/// What was inferred for a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    /// The table's number.
    pub number: usize,
    /// Header rows.
    pub header_rows: usize,
    /// Header columns.
    pub header_cols: usize,
    /// What rows and columns were inferred from, for people.
    pub why: String,
    /// Where it stands: a line of the file, or a sheet and a range of its cells.
    pub source: String,
}

impl std::fmt::Display for Inferred {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, header_rows, header_cols, why, source } = self;
        write!(f, "t{number} ({source}): {header_rows} header rows, {header_cols} header columns ({why})")
    }
}

/// Reads a file as a document.
///
/// # Errors
/// The file cannot be read, is of no known form or not of the form its name says, is beyond a
/// limit, or holds neither text nor table.
pub fn read(path: &Path, options: &ReadOptions) -> Result<ReadDocument, ReadError> {
    read_bytes(path, read_source(path, options)?, options)
}

/// The bytes of a file for [`read_bytes`].
///
/// # Errors
/// The file cannot be read, or is larger than the options allow.
pub fn read_source(path: &Path, options: &ReadOptions) -> Result<Vec<u8>, ReadError> {
    let limit = options.limits.max_file_bytes;
    let size = std::fs::metadata(path).map_err(FileError::at(path, "read"))?.len();
    if size > limit {
        return Err(ReadError::TooLarge { file: path.display().to_string(), what: "the file", found: size, limit });
    }
    // What is no file, such as a device, has no size.
    let mut bytes = Vec::new();
    let at = || FileError::at(path, "read");
    File::open(path).map_err(at())?.take(limit + 1).read_to_end(&mut bytes).map_err(at())?;
    let found = bytes.len() as u64;
    match found > limit {
        true => Err(ReadError::TooLarge { file: path.display().to_string(), what: "the file", found, limit }),
        false => Ok(bytes),
    }
}

/// Bytes of text for each picture below which a file is taken for scanned pages.
const LETTERS_A_PICTURE: usize = 40;

/// What to do with scanned pages.
const RECOGNISE: &str = "pages that were scanned have to be recognised first (OCR), as docling does with a PDF";

/// Reads the bytes of a file as a document; `path` names it in messages and gives its form and id.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(path: &Path, bytes: Vec<u8>, options: &ReadOptions) -> Result<ReadDocument, ReadError> {
    if is_blank(&bytes) {
        let expected = options.format.or(Format::named(path)).map_or(format::KNOWN, Format::content);
        let message = format!("the file is empty; expected {expected}");
        return Err(ReadError::Format { file: path.display().to_string(), message });
    }
    let format = match options.format {
        Some(format) => format,
        None => format::of(path, &bytes)?,
    };
    let id = path.file_stem().map_or_else(|| "document".into(), |stem| stem.to_string_lossy().into_owned());
    let mut builder = Builder::new(options);
    if format == Format::Xlsx {
        xlsx::read(path, bytes, &options.limits, &mut builder)?;
        return finish(path, 0, builder.finish(id, format));
    }
    let (text, warning) = decode(bytes);
    if let Some(warning) = warning {
        builder.warn(warning);
    }
    match format {
        Format::Native => {
            let document = native::parse(path, &text)?;
            let tables = document.tables().map(|table| Inferred {
                number: table.number(),
                header_rows: table.num_header_rows(),
                header_cols: table.num_header_cols(),
                why: "given".into(),
                source: format!("table {}", table.number()),
            });
            let tables = tables.collect();
            return finish(path, 0, ReadDocument { document, tables, ..builder.finish(id, format) });
        }
        Format::Docling => docling::read(path, &text, &options.limits, &mut builder)?,
        Format::Html => html::read(&text, &options.limits, &mut builder),
        Format::Markdown => markdown::read(&text, &options.limits, &mut builder),
        Format::Csv => delimited::read(path, &text, options, &mut builder)?,
        Format::Text => text::read(&text, &mut builder),
        Format::Xlsx => {}
    }
    finish(path, builder.pictures, builder.finish(id, format))
}

/// Whether there is nothing in a file but blanks, a byte order mark aside.
fn is_blank(bytes: &[u8]) -> bool {
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let unmarked = marks.iter().find_map(|mark| bytes.strip_prefix(*mark)).unwrap_or(bytes);
    unmarked.trim_ascii().is_empty()
}

/// There must be something to rank.
fn finish(path: &Path, pictures: usize, mut read: ReadDocument) -> Result<ReadDocument, ReadError> {
    let blank = |block: &Block| match block {
        Block::Heading(Heading { text, .. }) | Block::Passage(text) => text.trim().is_empty(),
        Block::Table(table) => {
            table.caption().trim().is_empty() && table.cells().iter().all(|cell| cell.text.trim().is_empty())
        }
    };
    let file = path.display().to_string();
    if !read.document.blocks.iter().all(blank) {
        let letters: usize = read.document.passages().map(str::len).sum();
        if read.tables.is_empty() && letters < pictures.saturating_mul(LETTERS_A_PICTURE) {
            read.warnings.push(format!("the file has {pictures} pictures and hardly any text; {RECOGNISE}"));
        }
        return Ok(read);
    }
    let expected = "expected a sentence, or a table with a cell that is not empty";
    Err(match read.format {
        Format::Native => {
            let message = format!("hold no text; {expected}");
            ReadError::Record { file, record: read.document.id, field: "blocks".into(), message }
        }
        _ if pictures > 0 => {
            ReadError::Format { file, message: format!("has {pictures} pictures and no text; {RECOGNISE}") }
        }
        Format::Html => {
            let message = format!("holds no text; {expected}; a page that a script fills has to be saved by a browser");
            ReadError::Format { file, message }
        }
        _ => ReadError::Format { file, message: format!("holds no text; {expected}") },
    })
}
