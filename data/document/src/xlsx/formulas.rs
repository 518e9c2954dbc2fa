//! Formulas without a value: programs that write workbooks without calculating leave values out, or write 0 and ask to
//! calculate all of it when it is opened. Such a cell shows its formula.

use std::collections::HashMap;
use std::io::{Cursor, Read as _, Seek};

use calamine::{DataRef, XlsxCellReader, XlsxError, XlsxFormulaMetadata, expand_shared_formula};

use super::Cells;
use crate::grid::RawCell;

/// Characters of a formula that are shown.
const SHOWN: usize = 200;

/// The formulas of a workbook that have no value.
pub(super) struct Formulas {
    /// The workbook asks to be calculated when it is opened.
    to_be_calculated: bool,
    /// Sheets with such formulas, and how many.
    found: Vec<(String, usize)>,
}

impl Formulas {
    /// Of a workbook that is still to be read.
    pub fn new(workbook: &[u8]) -> Self {
        Self { to_be_calculated: is_to_be_calculated(workbook).unwrap_or(false), found: Vec::new() }
    }

    /// Whether a cell with this value may be a formula without one.
    pub fn may_lack(&self, value: &DataRef<'_>) -> bool {
        match value {
            DataRef::Empty => true,
            DataRef::Int(0) | DataRef::Float(0.0) => self.to_be_calculated,
            _ => false,
        }
    }

    /// Puts the formulas of a sheet in the place of the values that they do not have. Zeros are values where any
    /// formula of the sheet has another one.
    ///
    /// # Errors
    /// A sheet that cannot be read.
    pub fn show(
        &mut self,
        sheet: &str,
        reader: &mut XlsxCellReader<'_, impl std::io::Read + Seek>,
        cells: &mut Cells,
        max_cells: usize,
    ) -> Result<(), XlsxError> {
        let mut shared = HashMap::new();
        let (mut without, mut calculated) = (Vec::new(), false);
        while let Some(record) = reader.next_cell_with_formula_metadata()? {
            let at = record.pos;
            let formula = match record.formula {
                Some(XlsxFormulaMetadata::Normal { formula }) => formula,
                Some(XlsxFormulaMetadata::Shared { shared_index, formula, .. }) => {
                    shared.insert(shared_index, (formula.clone(), at));
                    formula
                }
                Some(XlsxFormulaMetadata::SharedDerived { shared_index }) => match shared.get(&shared_index) {
                    // One of any length could be shared by a million cells.
                    Some((formula, from)) if formula.len() <= SHOWN => {
                        expand_shared_formula(formula, *from, at).unwrap_or_default()
                    }
                    Some((formula, _)) => formula.chars().take(SHOWN + 1).collect(),
                    None => continue,
                },
                _ => continue,
            };
            if formula.trim().is_empty() {
                continue;
            }
            if !self.may_lack(&record.value) {
                calculated = true;
            } else if without.len() < max_cells {
                let mut shown: String = format!("={}", formula.trim()).chars().take(SHOWN).collect();
                if shown.len() <= formula.trim().len() {
                    shown.push('…');
                }
                without.push((at, shown, record.value == DataRef::Empty));
            }
        }
        without.retain(|(_, _, blank)| *blank || !calculated);
        if !without.is_empty() {
            self.found.push((sheet.to_owned(), without.len()));
        }
        for (at, formula, _) in without {
            if cells.len() < max_cells || cells.contains_key(&at) {
                let cell = cells.entry(at).or_insert_with(|| RawCell::new(""));
                (cell.text, cell.stored) = (formula, None);
            }
        }
        Ok(())
    }

    /// How many there are and what to do.
    pub fn warning(&self) -> Option<String> {
        let count: usize = self.found.iter().map(|(_, count)| count).sum();
        let sheets: Vec<String> = self.found.iter().map(|(sheet, count)| format!("{sheet:?}: {count}")).collect();
        (count > 0).then(|| {
            format!(
                "{count} formulas are not computed, their cells show the formula (sheets {}); open the workbook once in a \
                 spreadsheet program and save it there",
                sheets.join(", ")
            )
        })
    }
}

/// Whether the workbook asks to be calculated when it is opened.
fn is_to_be_calculated(workbook: &[u8]) -> Option<bool> {
    let mut archive = zip::ZipArchive::new(Cursor::new(workbook)).ok()?;
    let mut text = String::new();
    archive.by_name("xl/workbook.xml").ok()?.read_to_string(&mut text).ok()?;
    Some(["\"1\"", "\"true\""].iter().any(|yes| text.contains(&format!("fullCalcOnLoad={yes}"))))
}
