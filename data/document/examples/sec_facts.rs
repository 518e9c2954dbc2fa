//! Reads annual reports with inline XBRL and measures the reading against their tags: for each
//! number tagged inside a `<table>`, whether it is found again as a cell whose number, with scale
//! and sign, is the tagged value, and whether that cell has a row path and a column path. Numbers
//! inside tables are also counted in the page's source, so that none gets lost unseen.
//!
//! ```sh
//! cargo run --release -p tabsegnet-document --example sec_facts -- DIR [--show N]
//! ```
//!
//! `--show N` prints the first N misses of each file.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result};
use tabsegnet_document::facts::{Fact, FactPlace, number_in_words};
use tabsegnet_document::model::{CellRole, Table};
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_document::{ReadDocument, ReadOptions, read};

#[derive(Default)]
struct Counts {
    seconds: f64,
    tables: usize,
    passages: usize,
    in_source: usize,
    in_tables: usize,
    right: usize,
    with_paths: usize,
    /// Those of them that stand in a header's words and have no column header above them.
    in_headers: usize,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.tables += other.tables;
        self.passages += other.passages;
        self.in_source += other.in_source;
        self.in_tables += other.in_tables;
        self.right += other.right;
        self.with_paths += other.with_paths;
        self.in_headers += other.in_headers;
    }

    fn print(&self, name: &str) {
        let share = |count: usize| 100.0 * count as f64 / self.in_source.max(1) as f64;
        println!(
            "{name:28} {:6.2} s {:5} tables {:6} passages {:6} tagged in tables ({:6} read) {:6.2} % found {:6.2} % with both paths ({} in headers)",
            self.seconds,
            self.tables,
            self.passages,
            self.in_source,
            self.in_tables,
            share(self.right),
            share(self.with_paths),
            self.in_headers
        );
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().context("expected a directory with HTML files")?;
    let show: usize = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--show"), Some(count)) => count.parse().context("--show takes a number")?,
        _ => 0,
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&directory)
        .with_context(|| format!("{directory}: could not be read"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "html" || extension == "htm"))
        .collect();
    files.sort();
    let mut all = Counts::default();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let start = Instant::now();
        let document = read(&file, &ReadOptions::default())?;
        let seconds = start.elapsed().as_secs_f64();
        let source = std::fs::read_to_string(&file).with_context(|| format!("{name}: could not be read"))?;
        let counts = Counts { seconds, in_source: tagged_in_tables(&source), ..measure(&document, show) };
        counts.print(&name);
        all.add(&counts);
    }
    all.print("all");
    Ok(())
}

/// Tags with a value between `<table` and `</table` in the text of the page.
fn tagged_in_tables(source: &str) -> usize {
    let lower = source.to_ascii_lowercase();
    let (mut depth, mut count) = (0usize, 0);
    for (at, _) in lower.match_indices('<') {
        let rest = &lower[at + 1..];
        if rest.starts_with("table") {
            depth += 1;
        } else if rest.starts_with("/table") {
            depth = depth.saturating_sub(1);
        } else if depth > 0 && rest.starts_with("ix:nonfraction") {
            let tag = rest.split('>').next().unwrap_or_default();
            count += usize::from(!tag.contains("xsi:nil=\"true\""));
        }
    }
    count
}

fn measure(read: &ReadDocument, show: usize) -> Counts {
    let tables: Vec<&Table> = read.document.tables().collect();
    let mut counts = Counts { tables: tables.len(), passages: read.document.passages().count(), ..Counts::default() };
    let mut shown = 0;
    for fact in read.facts.numbers.iter().filter(|fact| fact.in_table && !fact.nil) {
        counts.in_tables += 1;
        let cell = match fact.place {
            FactPlace::Cell { table, row, col } => {
                tables.iter().find(|t| t.number() == table).and_then(|t| Some((t, t.cell_at(row, col)?)))
            }
            _ => None,
        };
        let Some((table, cell)) = cell else {
            miss(&mut shown, show, &format!("no cell: {} {:?} {:?}", fact.name, fact.text, fact.place));
            continue;
        };
        if !shows(&cell.text, fact) {
            miss(&mut shown, show, &format!("other number: {} {:?} in {:?}", fact.name, fact.text, cell.text));
            continue;
        }
        counts.right += 1;
        // A number inside a header's words has the header itself for a path.
        let (rows, columns) = (table.path(&table.row_headers_of(cell)), table.path(&table.column_headers_of(cell)));
        if table.role(cell) != CellRole::Data {
            counts.with_paths += 1;
            counts.in_headers += usize::from(columns.is_empty());
        } else if !rows.is_empty() && !columns.is_empty() {
            counts.with_paths += 1;
        } else {
            let why = read.tables.iter().find(|inferred| inferred.number == table.number());
            let place = why.map_or(String::new(), |i| {
                format!("{} headers {}x{} {}", i.source, i.header_rows, i.header_cols, i.why)
            });
            let caption: String = table.caption().chars().take(80).collect();
            miss(
                &mut shown,
                show,
                &format!("path: {:?} row [{rows}] column [{columns}] {place} «{caption}»", cell.text),
            );
        }
    }
    counts
}

fn miss(shown: &mut usize, show: usize, text: &str) {
    *shown += 1;
    if *shown <= show {
        println!("    {text}");
    }
}

/// Whether the cell's number is the fact's value; where it has words besides, one of the numbers
/// among them.
fn shows(text: &str, fact: &Fact) -> bool {
    let Some(value) = fact.value() else { return false };
    let same = |shown: f64| {
        let found = fact.apply(shown);
        (found - value).abs() <= 1e-9 * value.abs()
    };
    if let Some(number) = parse_cell_number(text) {
        return same(number);
    }
    let words =
        text.split(|c: char| c.is_whitespace() || matches!(c, '$' | '€' | '£' | '/' | '(' | ')' | '%' | '-' | '–'));
    let trimmed = words.map(|word| word.trim_matches([',', '.', ';', ':']));
    let mut numbers = trimmed.filter_map(|word| parse_cell_number(word).or_else(|| number_in_words(word)));
    numbers.any(same) || (value == 0.0 && text.contains(['—', '–', '-']))
}
