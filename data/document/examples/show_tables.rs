//! Prints what was read from a document: what was inferred for each table and the table itself,
//! header cells in brackets, a row under its outer rows indented; with `--all` the passages too.
//!
//! ```sh
//! cargo run --release -p tabsegnet-document --example show_tables -- FILE [TABLE | --all]
//! ```

use std::path::Path;

use anyhow::{Context as _, Result};
use tabsegnet_document::model::{Block, CellRole, Table};
use tabsegnet_document::{ReadOptions, read};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context("expected a file")?;
    let which = arguments.next();
    let all = which.as_deref() == Some("--all");
    let only: Option<usize> = which.filter(|_| !all).map(|n| n.parse().context("a table is a number")).transpose()?;
    let read = read(Path::new(&file), &ReadOptions::default())?;
    for block in &read.document.blocks {
        match block {
            Block::Passage(text) if all => println!("{text}"),
            Block::Table(table) if only.is_none_or(|only| only == table.number()) => {
                if let Some(inferred) = read.tables.iter().find(|inferred| inferred.number == table.number()) {
                    println!("== t{} {}: {}", inferred.number, inferred.source, inferred.why);
                }
                print(table);
            }
            _ => {}
        }
    }
    read.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    eprintln!("{} tables, {} passages", read.tables.len(), read.document.passages().count());
    Ok(())
}

fn print(table: &Table) {
    println!("   {}", table.caption());
    for row in 0..table.rows() {
        let depth = std::iter::successors(table.row_parent(row), |&parent| table.row_parent(parent)).count();
        let cells = table.cells().iter().filter(|cell| cell.row == row).map(|cell| {
            let span = if cell.colspan > 1 { format!("×{}", cell.colspan) } else { String::new() };
            match table.role(cell) {
                CellRole::Data => format!("{}{span}", cell.text),
                _ => format!("[{}]{span}", cell.text),
            }
        });
        println!("   {}{}", "    ".repeat(depth), cells.collect::<Vec<_>>().join(" | "));
    }
}
