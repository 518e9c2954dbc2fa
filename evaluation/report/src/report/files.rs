//! A report as files.

use std::path::Path;

use tabsegnet_store::{read_text, write_bytes_atomic};

use super::{FORMAT, Report, ReportError};
use crate::render;

impl Report {
    /// The report as indented JSON, keys in the order of the fields, ending in a newline. Numbers
    /// are written so that they are read back as the same numbers.
    pub fn to_json(&self) -> String {
        // Serialising to a string fails only for map keys that are no strings; there are no maps.
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }

    /// The report as Markdown with tables (GitHub's dialect) that are aligned in plain text too.
    pub fn to_markdown(&self) -> String {
        render::markdown::render(self)
    }

    /// The report as one self-contained HTML page with inline plots: no scripts, no network.
    pub fn to_html(&self) -> String {
        render::html::render(self)
    }

    /// Writes `report.json`, `report.md` and `report.html` into `dir`, each whole or not at all.
    pub fn write(&self, dir: &Path) -> Result<(), ReportError> {
        write_bytes_atomic(&dir.join("report.json"), self.to_json().as_bytes())?;
        write_bytes_atomic(&dir.join("report.md"), self.to_markdown().as_bytes())?;
        write_bytes_atomic(&dir.join("report.html"), self.to_html().as_bytes())?;
        Ok(())
    }

    /// Reads a `report.json`.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let text = read_text(path)?;
        let fail = |reason| ReportError::Json { path: path.display().to_string(), reason };
        let report: Self =
            serde_json::from_str(&text).map_err(|error| fail(format!("this is no report of this program: {error}")))?;
        if report.format != FORMAT {
            let found = report.format;
            return Err(fail(format!("field format: found {found}, this version reads {FORMAT}")));
        }
        Ok(report)
    }
}
