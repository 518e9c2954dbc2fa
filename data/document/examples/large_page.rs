//! Makes a page of 20 MB with 500 tables, reads it, and prints how long that took and the most
//! memory the process had (Linux).
//!
//! ```sh
//! cargo run --release -p tabsegnet-document --example large_page
//! ```

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use tabsegnet_document::{ReadOptions, read_bytes};

fn main() -> Result<()> {
    let page = page(500, 20_000_000);
    let bytes = page.len();
    let start = Instant::now();
    let read = read_bytes(Path::new("page.html"), page.into_bytes(), &ReadOptions::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let cells: usize = read.document.tables().map(|table| table.cells().len()).sum();
    println!(
        "{:.1} MB, {} tables, {cells} cells, {} passages: {seconds:.2} s, peak memory {}",
        bytes as f64 / 1e6,
        read.tables.len(),
        read.document.passages().count(),
        peak_memory()
    );
    Ok(())
}

/// Tables as filings write them, styles in every cell, with paragraphs between them.
fn page(tables: usize, bytes: usize) -> String {
    let style = "background-color:#cceeff;padding:2px 1pt 2px 7.75pt;text-align:left;vertical-align:bottom";
    let mut page = String::from("<html><body>");
    for table in 0..tables {
        let _ = write!(page, "<p>Table {table} follows. It was made in the U.S. by a program.</p><table>");
        let _ = write!(
            page,
            "<tr><td></td><td colspan=\"3\"><b>2024</b></td><td></td><td colspan=\"3\"><b>2023</b></td></tr>"
        );
        let end = bytes / tables * (table + 1);
        let mut row = 0;
        while page.len() < end {
            let _ = write!(
                page,
                "<tr><td style=\"{style}\"><span style=\"font-weight:400\">Line {row}</span></td><td style=\"{style}\">$</td>\
                 <td style=\"{style}\">{0},{1:03}</td><td></td><td></td><td style=\"{style}\">$</td><td style=\"{style}\">({1},{0:03}</td><td>)</td></tr>",
                row % 1000,
                (row * 7) % 1000,
            );
            row += 1;
        }
        page += "</table>";
    }
    page + "</body></html>"
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "not known".into(), |peak| peak.trim().to_owned())
}
