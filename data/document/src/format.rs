//! Which form a file has, by its name and its content.

use std::path::Path;
use std::str::FromStr;

use crate::decode;
use crate::error::ReadError;

/// A form that documents can be read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The project's own JSON.
    Native,
    /// HTML and XHTML pages, with inline XBRL where there is.
    Html,
    /// Markdown with GitHub's tables.
    Markdown,
    /// Excel workbooks of 2007 and later.
    Xlsx,
    /// Values parted by commas, tabs, semicolons or bars.
    Csv,
    /// What docling writes as JSON: the way in for PDF, DOCX and PPTX.
    Docling,
    /// Plain text.
    Text,
}

/// Names of all forms with their extensions, for messages.
pub const KNOWN: &str = "native (.json), docling (.json), html (.html, .htm, .xhtml), markdown (.md), xlsx (.xlsx, .xlsm), csv (.csv, .tsv), text (.txt)";

impl Format {
    /// All forms.
    pub const ALL: [Self; 7] =
        [Self::Native, Self::Html, Self::Markdown, Self::Xlsx, Self::Csv, Self::Docling, Self::Text];

    /// The name, as [`FromStr`] reads it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Docling => "docling",
            Self::Text => "text",
        }
    }

    /// What a file of the form holds at least, for messages.
    pub(crate) fn content(self) -> &'static str {
        match self {
            Self::Native => "JSON with an id and blocks",
            Self::Html => "a page with text or a table",
            Self::Markdown => "text or a table",
            Self::Xlsx => "a workbook",
            Self::Csv => "records of values, one a line",
            Self::Docling => "the JSON that docling writes",
            Self::Text => "text",
        }
    }

    /// By the name alone.
    pub(crate) fn named(path: &Path) -> Option<Self> {
        Some(match extension(path).as_str() {
            "html" | "htm" | "xhtml" | "xht" => Self::Html,
            "md" | "markdown" => Self::Markdown,
            "csv" | "tsv" | "tab" => Self::Csv,
            "txt" | "text" => Self::Text,
            "xlsx" | "xlsm" => Self::Xlsx,
            "json" => Self::Native,
            _ => return None,
        })
    }
}

/// A file's ending, in small letters.
pub fn extension(path: &Path) -> String {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| format!("there is no input format {name}; known are {KNOWN}"))
    }
}

/// The form of a file. The content decides where it is unmistakable, the name else.
pub(crate) fn of(path: &Path, bytes: &[u8]) -> Result<Format, ReadError> {
    let refuse = |message: String| Err(ReadError::Format { file: path.display().to_string(), message });
    let named = Format::named(path);
    if bytes.starts_with(b"PK\x03\x04") {
        return if is_workbook(bytes) || named == Some(Format::Xlsx) {
            Ok(Format::Xlsx)
        } else {
            refuse(format!(
                "is an archive but no workbook; convert DOCX, PPTX or ODF with docling to JSON. Known forms: {KNOWN}"
            ))
        };
    }
    if bytes.starts_with(OFFICE_CONTAINER) && is_encrypted(bytes) {
        return refuse("is a workbook or document behind a password; open it and save it without one".into());
    }
    for (magic, what, advice) in [
        (&b"%PDF"[..], "a PDF", "convert it with docling to JSON"),
        (OFFICE_CONTAINER, "an Office file from before 2007", "save it as .xlsx"),
        (b"\x1f\x8b", "packed with gzip", "unpack it"),
        (b"SQLite format 3\0", "a SQLite database", "put the question to it with query --database"),
        (b"PAR1", "a Parquet file", "put the question to it with query --database"),
    ] {
        if bytes.starts_with(magic) {
            return refuse(format!("is {what}; {advice}. Known forms: {KNOWN}"));
        }
    }
    let head = &bytes[..bytes.len().min(8192)];
    if let (Some(at), None) = (head.iter().position(|byte| *byte == 0), decode::utf16(bytes)) {
        let before = &head[..at];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = at - before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1) + 1;
        return refuse(format!("is no text: line {line} has a byte 0 in place {column}. Known forms: {KNOWN}"));
    }
    Ok(match named {
        Some(format @ (Format::Html | Format::Markdown)) => format,
        Some(format @ (Format::Csv | Format::Text)) if !looks_like_html(head) => format,
        Some(Format::Xlsx) => {
            return refuse("is no workbook: an .xlsx file begins with the letters PK; save it again".into());
        }
        Some(Format::Native) => json(bytes),
        _ if looks_like_html(head) => Format::Html,
        _ if head.trim_ascii_start().starts_with(b"{") => json(bytes),
        _ => {
            return refuse(format!(
                "has no known extension and its content does not tell its form. Known forms: {KNOWN}"
            ));
        }
    })
}

/// How Office files from before 2007 begin, and those of today behind a password.
const OFFICE_CONTAINER: &[u8] = b"\xd0\xcf\x11\xe0";

/// A container whose directory names the encrypted file in it, in UTF-16.
fn is_encrypted(container: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    container.windows(name.len()).any(|window| window == name)
}

/// Docling writes its schema's name first or nearly so, which no other form has.
fn json(bytes: &[u8]) -> Format {
    let head = &bytes[..bytes.len().min(4096)];
    if String::from_utf8_lossy(head).contains("\"schema_name\"") { Format::Docling } else { Format::Native }
}

fn looks_like_html(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let start = head.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    start.starts_with("<!doctype html")
        || start.starts_with("<html")
        || (start.starts_with('<') && (head.contains("<html") || head.contains("<table") || head.contains("<body")))
}

/// Names of a workbook's parts stand unpacked in the archive.
fn is_workbook(bytes: &[u8]) -> bool {
    bytes.windows(3).any(|window| window == b"xl/")
}
