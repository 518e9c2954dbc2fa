//! Workbooks: every sheet, and on it every block of cells that blank rows or columns set apart.

mod blocks;
mod formulas;
mod hidden;
mod number;

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::Path;

use calamine::{DataRef, Reader as _, SheetVisible, Xlsx, XlsxError};

use crate::builder::Builder;
use crate::error::ReadError;
use crate::grid::{RawCell, Style};
use crate::options::Limits;
use crate::texts::Region;
use formulas::Formulas;

/// A sheet's filled cells by row and column, both from 0.
type Cells = BTreeMap<(u32, u32), RawCell>;

/// Reads a workbook.
pub(crate) fn read(path: &Path, bytes: Vec<u8>, limits: &Limits, builder: &mut Builder) -> Result<(), ReadError> {
    check_unpacked_size(path, &bytes, limits.max_unpacked_bytes)?;
    check_string_count(path, &bytes)?;
    let mut formulas = Formulas::new(&bytes);
    let hidden = hidden::warnings(&bytes);
    let broken = |error: XlsxError| ReadError::Format {
        file: path.display().to_string(),
        message: format!(
            "is no workbook that can be read: {error}; open it in a spreadsheet program and save it again"
        ),
    };
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(broken)?;
    for sheet in workbook.sheets_metadata().to_vec() {
        if sheet.visible != SheetVisible::Visible || sheet.typ != calamine::SheetType::WorkSheet {
            if sheet.visible != SheetVisible::Visible {
                builder.warn(format!("sheet {:?} is hidden and left out", sheet.name));
            }
            continue;
        }
        let merged = workbook.merge_cells_by_sheet_name(&sheet.name).map_err(broken)?;
        let merged: Vec<Region> = merged
            .into_iter()
            .map(|region| Region {
                first_row: region.start.0 as usize,
                last_row: region.end.0 as usize,
                first_col: region.start.1 as usize,
                last_col: region.end.1 as usize,
            })
            .collect();
        let mut cells = Cells::new();
        let mut may_lack = false;
        let mut reader = workbook.worksheet_cells_reader(&sheet.name).map_err(broken)?;
        while let Some((cell, style)) = reader.next_cell_with_style_id().map_err(broken)? {
            let style = reader.styles().get(style);
            let format = style.and_then(|style| style.number_format.as_ref()).map_or("", |format| &format.format_code);
            let text = text(cell.get_value(), format);
            may_lack |= formulas.may_lack(cell.get_value());
            if text.is_empty() {
                continue;
            }
            if cells.len() == limits.max_cells_per_table {
                let rows = cells.last_key_value().map_or(0, |((row, _), _)| *row as usize + 1);
                let most = limits.max_cells_per_table;
                builder.cut(rows, None, format!("sheet {:?} is cut off after {most} cells", sheet.name));
                break;
            }
            let look = Style {
                header: false,
                bold: style.and_then(|style| style.font.as_ref()).is_some_and(|font| font.is_bold()),
                indent: style.and_then(|style| style.alignment.as_ref()?.indent).map_or(0.0, f32::from)
                    + leading_blanks(cell.get_value()),
            };
            let stored = match cell.get_value() {
                DataRef::Int(number) => number::stored(*number as f64, format),
                DataRef::Float(number) => number::stored(*number, format),
                _ => None,
            };
            cells.insert(cell.get_position(), RawCell { style: look, stored, ..RawCell::new(text) });
        }
        drop(reader);
        if may_lack {
            let mut reader = workbook.worksheet_cells_reader(&sheet.name).map_err(broken)?;
            // What is no formula that can be read is no reason to refuse the sheet.
            if let Err(error) = formulas.show(&sheet.name, &mut reader, &mut cells, limits.max_cells_per_table) {
                builder.warn(format!("sheet {:?}: its formulas could not be looked at: {error}", sheet.name));
            }
        }
        blocks::read(&sheet.name, cells, merged, limits, builder);
    }
    hidden.into_iter().chain(formulas.warning()).for_each(|warning| builder.warn(warning));
    Ok(())
}

/// Unpacks everything once and throws it away: the sizes that an archive declares may be lies.
fn check_unpacked_size(path: &Path, bytes: &[u8], limit: u64) -> Result<(), ReadError> {
    let broken = |error: &dyn std::fmt::Display| ReadError::Format {
        file: path.display().to_string(),
        message: format!("is a damaged archive: {error}; open it in a spreadsheet program and save it again"),
    };
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let mut total = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| broken(&error))?;
        let mut bounded = entry.take(limit - total + 1);
        total += std::io::copy(&mut bounded, &mut std::io::sink()).map_err(|error| broken(&error))?;
        if total > limit {
            let file = path.display().to_string();
            return Err(ReadError::TooLarge { file, what: "what it unpacks to", found: total, limit });
        }
    }
    Ok(())
}

/// How many texts a workbook says that it has: room is made for as many before the first is read.
fn check_string_count(path: &Path, bytes: &[u8]) -> Result<(), ReadError> {
    const START: u64 = 4096;
    let mut start = Vec::new();
    let archive = zip::ZipArchive::new(Cursor::new(bytes)).ok();
    let size = archive.and_then(|mut archive| {
        let place = archive
            .file_names()
            .position(|name| name.is_ok_and(|name| name.eq_ignore_ascii_case("xl/sharedStrings.xml")))?;
        let entry = archive.by_index(place).ok()?;
        let size = entry.size();
        entry.take(START).read_to_end(&mut start).ok()?;
        Some(size)
    });
    let start = String::from_utf8_lossy(&start);
    let said = start.split("niqueCount").nth(1).map(|rest| rest.trim_start_matches(['=', ' ', '"', '\'']));
    let said = said.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    // Each has a tag of its own.
    let fits =
        |said: &String| said.is_empty() || said.parse().is_ok_and(|count: u64| size.is_some_and(|size| count <= size));
    match said.filter(|said| !fits(said)) {
        Some(said) => Err(ReadError::Format {
            file: path.display().to_string(),
            message: format!(
                "is no workbook that can be read: it says that it has {said} texts, more than it has bytes for; open it in a \
                 spreadsheet program and save it again"
            ),
        }),
        None => Ok(()),
    }
}

/// Days of the calendar of workbooks.
const DAYS: f64 = 2_958_466.0;

/// A value as the sheet shows it.
fn text(value: &DataRef<'_>, format: &str) -> String {
    match value {
        DataRef::Int(number) => number::format(*number as f64, format),
        DataRef::Float(number) => number::format(*number, format),
        DataRef::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        DataRef::SharedString(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        DataRef::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        // What is no day of the calendar, which begins in 1900 and ends with 9999, is a number.
        DataRef::DateTime(date) if date.is_datetime() && !(0.0..DAYS).contains(&date.as_f64()) => {
            number::format(date.as_f64(), "General")
        }
        DataRef::DateTime(date) if date.is_datetime() => {
            let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
            if date.as_f64() < 1.0 {
                format!("{hour:02}:{minute:02}:{second:02}")
            } else if (hour, minute, second) == (0, 0, 0) {
                format!("{year:04}-{month:02}-{day:02}")
            } else {
                format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
            }
        }
        DataRef::DateTime(duration) => number::duration(duration.as_f64()),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.trim_end_matches("T00:00:00").to_owned(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn leading_blanks(value: &DataRef<'_>) -> f32 {
    let text = match value {
        DataRef::String(text) => text.as_str(),
        DataRef::SharedString(text) => text,
        _ => "",
    };
    (text.len() - text.trim_start().len()).min(100) as f32 / 2.0
}

#[cfg(test)]
mod tests;
