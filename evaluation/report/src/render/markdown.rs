//! The report as Markdown (GitHub's dialect), with tables aligned for plain text.

use super::content;
use super::tables::{Cell, Table};
use super::text::escape_markdown;
use crate::measures::Measure;
use crate::report::Report;

/// The whole document.
pub(crate) fn render(report: &Report) -> String {
    let mut parts = vec![
        format!("# {}", escape_markdown(&report.title)),
        escape_markdown(&format!(
            "{}, {}: {}. {}",
            report.dataset.name,
            report.dataset.part,
            content::extent(report),
            report.created
        )),
        "## Methods".to_owned(),
        table(&content::measures(report, false)),
        table(&content::intervals(report)),
    ];
    let described = report.methods.iter().filter(|method| !method.description.is_empty());
    let list: Vec<String> = described
        .map(|method| format!("- **{}**: {}", escape_markdown(&method.name), escape_markdown(&method.description)))
        .collect();
    if !list.is_empty() {
        parts.push(list.join("\n"));
    }
    parts.extend(["## Recall by number of nodes read".to_owned(), table(&content::curve(report))]);
    if let Some(comparisons) = content::comparisons(report) {
        parts.extend(["## Differences between methods".to_owned(), table(&comparisons)]);
    }
    parts.push("## Parts of the questions".to_owned());
    for (group, slices) in content::slice_groups(report) {
        parts.push(format!("### {}", escape_markdown(&content::group_title(group))));
        for measure in Measure::MAIN {
            parts.push(table(&content::slices(group, &slices, measure)));
        }
    }
    parts.extend(["## Data and settings".to_owned(), facts(report)]);
    parts.push("## How the figures were computed".to_owned());
    parts.extend(content::method(report).iter().map(|paragraph| escape_markdown(paragraph)));
    if !report.notes.is_empty() {
        parts.push("## Notes".to_owned());
        parts.extend(report.notes.iter().map(|note| escape_markdown(note)));
    }
    parts.join("\n\n") + "\n"
}

fn facts(report: &Report) -> String {
    let rows = content::facts(report).into_iter().map(|(name, value)| vec![Cell::new(name), Cell::new(value)]);
    let columns = ["Name", "Value"].map(str::to_owned).to_vec();
    aligned(&Table { caption: String::new(), label_columns: 2, columns, rows: rows.collect() })
}

fn table(table: &Table) -> String {
    format!("{}:\n\n{}", escape_markdown(&table.caption), aligned(table))
}

/// Columns padded to their widest cell; words to the left, numbers to the right.
pub(super) fn aligned(table: &Table) -> String {
    let columns = table.columns.iter().map(|text| escape_markdown(text)).collect();
    let mut rows: Vec<Vec<String>> = vec![columns];
    rows.extend(table.rows.iter().map(|row| row.iter().map(cell).collect()));
    let length = |text: &String| text.chars().count();
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(length).max().unwrap_or(0).max(3))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (text, width))| {
            if column < table.label_columns { format!(" {text:<width$} |") } else { format!(" {text:>width$} |") }
        });
        format!("|{}", cells.collect::<String>())
    };
    let rules = widths.iter().enumerate().map(|(column, &width)| {
        let dashes = "-".repeat(width);
        if column < table.label_columns { format!(" {dashes} |") } else { format!(" {}: |", &dashes[1..]) }
    });
    let rule = format!("|{}", rules.collect::<String>());
    let mut lines = rows.iter().map(line);
    let columns = lines.next();
    columns.into_iter().chain([rule]).chain(lines).collect::<Vec<String>>().join("\n")
}

fn cell(cell: &Cell) -> String {
    let mut text = escape_markdown(&cell.text);
    if cell.best {
        text = format!("**{text}**");
    }
    if !cell.detail.is_empty() {
        text = format!("{text} {}", escape_markdown(&cell.detail));
    }
    text
}
