//! Readings of real files, where they are there: annual reports with inline XBRL in the folder that
//! `TABSEGNET_SEC` names. The examples `sec_facts` and `headers_hitab` print the figures.

use std::path::{Path, PathBuf};

use tabsegnet_document::facts::FactPlace;
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_document::{ReadOptions, read};
use tabsegnet_test_support::path_in;

fn filings() -> Option<Vec<PathBuf>> {
    let what = "a folder with annual reports (HTML with inline XBRL)";
    let folder = path_in("TABSEGNET_SEC", "tagged_numbers_of_filings_are_found_in_their_cells", what)?;
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("TABSEGNET_SEC={}: {error}", folder.display()));
    let html = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "html" || extension == "htm");
    Some(entries.map(|entry| entry.unwrap().path()).filter(html).collect())
}

#[test]
fn tagged_numbers_of_filings_are_found_in_their_cells() {
    let Some(files) = filings() else { return };
    for file in files {
        let (all, right) = plain_amounts(&file);
        assert!(right * 100 >= all * 99, "{}: {right} of {all}", file.display());
    }
}

/// Tagged numbers in tables, and those whose cell shows just that number.
fn plain_amounts(file: &Path) -> (usize, usize) {
    let read = read(file, &ReadOptions::default()).unwrap();
    let tables: Vec<_> = read.document.tables().collect();
    let (mut all, mut right) = (0, 0);
    for fact in read.facts.numbers.iter().filter(|fact| fact.in_table) {
        let Some(value) = fact.value() else { continue };
        let FactPlace::Cell { table, row, col } = fact.place else {
            all += 1;
            continue;
        };
        let cell = tables[table].cell_at(row, col).unwrap();
        // Cells with words or several numbers in them are the example's matter.
        if cell.text.chars().any(char::is_alphabetic) || cell.text.len() > fact.text.len() + 4 {
            continue;
        }
        all += 1;
        let shown = parse_cell_number(&cell.text).map(|shown| fact.apply(shown));
        right += usize::from(shown.is_some_and(|shown| (shown - value).abs() <= 1e-9 * value.abs()));
    }
    (all, right)
}
