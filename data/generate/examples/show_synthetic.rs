//! Prints generated reports with their questions and the texts of the gold nodes.
//!
//! ```text
//! cargo run --release -p tabsegnet-generate --example show_synthetic -- [train|dev] [FIRST] [COUNT]
//! ```

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use tabsegnet_datasets::config::{Part, SyntheticConfig};
use tabsegnet_document::model::{Block, Document, Table};
use tabsegnet_generate::synthetic::generate;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let part = match arguments.first().map(String::as_str) {
        None | Some("dev") => Part::Dev,
        Some("train") => Part::Train,
        Some(other) => {
            eprintln!("unknown part {other:?}: expected train or dev");
            return ExitCode::from(2);
        }
    };
    let number = |position: usize, otherwise: usize| match arguments.get(position) {
        None => Ok(otherwise),
        Some(text) => text.parse().map_err(|_| format!("{text:?} is not a number of documents")),
    };
    let (first, count) = match (number(1, 0), number(2, 1)) {
        (Ok(first), Ok(count)) => (first, count),
        (Err(message), _) | (_, Err(message)) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let documents = first.saturating_add(count);
    let config = SyntheticConfig { train_documents: documents, dev_documents: documents, ..Default::default() };
    match print(&config, part, first) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("could not write: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn print(config: &SyntheticConfig, part: Part, first: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for sample in generate(config, part).into_iter().skip(first) {
        writeln!(out, "==== {}", sample.document.id)?;
        print_document(&mut out, &sample.document)?;
        for question in &sample.questions {
            writeln!(out, "\n{}: {}", question.id, question.text)?;
            for node in &question.gold {
                writeln!(out, "    {node}: {}", node_text(&sample.document, node).unwrap_or_default())?;
            }
        }
        writeln!(out)?;
    }
    out.flush()
}

fn print_document(out: &mut impl Write, document: &Document) -> io::Result<()> {
    let mut passages = 0..;
    for block in &document.blocks {
        match block {
            Block::Passage(text) => writeln!(out, "p{}  {text}", passages.next().unwrap_or_default())?,
            Block::Table(table) => print_table(out, table)?,
        }
    }
    Ok(())
}

fn print_table(out: &mut impl Write, table: &Table) -> io::Result<()> {
    writeln!(out, "\n  t{}  {}", table.number(), table.caption())?;
    let width = |col: usize| {
        let cells = table.cells().iter().filter(|cell| cell.col == col && cell.colspan == 1);
        cells.map(|cell| cell.text.chars().count()).max().unwrap_or_default()
    };
    for row in 0..table.rows() {
        let mut line = String::new();
        for cell in table.cells().iter().filter(|cell| cell.row == row) {
            let before: usize = (0..cell.col).map(|col| width(col) + 2).sum();
            let used = line.chars().count();
            line.push_str(&" ".repeat(before.saturating_sub(used)));
            line.push_str(&cell.text);
            line.push_str("  ");
        }
        writeln!(out, "      {}", line.trim_end())?;
    }
    writeln!(out)
}

/// A passage, or a cell as `row path | column path | value`.
fn node_text(document: &Document, node: &str) -> Option<String> {
    if let Some(passage) = node.strip_prefix('p') {
        return document.passages().nth(passage.parse().ok()?).map(str::to_owned);
    }
    let (table, place) = node.strip_prefix('t')?.split_once(":r")?;
    let (row, col) = place.split_once('c')?;
    let number: usize = table.parse().ok()?;
    let table = document.tables().find(|table| table.number() == number)?;
    let cell = table.cell_at(row.parse().ok()?, col.parse().ok()?)?;
    let (rows, columns) = (table.row_headers_of(cell), table.column_headers_of(cell));
    Some(format!("{} | {} | {}", table.path(&rows), table.path(&columns), cell.text))
}
