//! Markdown with GitHub's tables; HTML blocks in it are read as HTML.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::builder::Builder;
use crate::grid::{Grid, RawCell};
use crate::html;
use crate::locations::{Location, TableLocation};
use crate::options::Limits;

/// The level of a bold line: below those that are marked.
const BOLD_LINE: u8 = 7;

/// Reads a text.
pub(crate) fn read(text: &str, limits: &Limits, builder: &mut Builder) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_at = |at: usize| ends.partition_point(|&end| end < at) as u32 + 1;
    let mut reading = Reading::default();
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        if reading.text.is_empty() {
            reading.line = line_at(range.start);
        }
        match event {
            // Settings of whoever shows it.
            Event::Start(Tag::MetadataBlock(_)) => reading.settings = true,
            Event::End(TagEnd::MetadataBlock(_)) => reading.settings = false,
            _ if reading.settings => {}
            Event::Text(part) | Event::Code(part) if !reading.html => reading.push(&part),
            Event::Html(part) | Event::Text(part) => reading.text += &part,
            Event::SoftBreak | Event::HardBreak | Event::InlineHtml(_) => reading.text.push(' '),
            Event::Start(Tag::HtmlBlock) => {
                reading.paragraph(builder);
                reading.html = true;
            }
            Event::End(TagEnd::HtmlBlock) => {
                reading.html = false;
                builder.at = Some(Location::Line(reading.line));
                html::read(&std::mem::take(&mut reading.text), limits, builder);
            }
            Event::Start(Tag::Heading { level, .. }) => {
                reading.paragraph(builder);
                reading.heading = Some(level as u8);
            }
            Event::Start(Tag::Image { .. }) => builder.pictures += 1,
            Event::Start(Tag::Strong) => reading.strong += 1,
            Event::End(TagEnd::Strong) => reading.strong -= 1,
            Event::Start(Tag::Table(_)) => {
                reading.paragraph(builder);
                // Header cells stand in the table itself, the others in its rows.
                reading.in_head = true;
                reading.row(line_at(range.start));
            }
            Event::Start(Tag::TableRow) => {
                reading.in_head = false;
                reading.row(line_at(range.start));
            }
            Event::End(TagEnd::TableCell) => reading.cell(),
            Event::End(TagEnd::Table) => {
                reading.in_head = false;
                reading.table(limits, builder);
            }
            Event::Start(
                Tag::Item | Tag::Paragraph | Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::FootnoteDefinition(_),
            )
            | Event::End(TagEnd::Item | TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock)
            | Event::Rule => reading.paragraph(builder),
            _ => {}
        }
    }
    reading.paragraph(builder);
}

#[derive(Default)]
struct Reading {
    text: String,
    heading: Option<u8>,
    html: bool,
    /// Within the block of settings that a file may begin with.
    settings: bool,
    strong: usize,
    /// Characters of the text that are bold.
    bold: usize,
    rows: Vec<Vec<RawCell>>,
    /// The lines of `rows`.
    lines: Vec<u32>,
    in_head: bool,
    /// The line on which `text` begins.
    line: u32,
}

impl Reading {
    fn push(&mut self, part: &str) {
        self.text += part;
        self.bold += if self.strong > 0 { part.len() } else { 0 };
    }

    fn take(&mut self) -> (String, bool) {
        let text = std::mem::take(&mut self.text).split_whitespace().collect::<Vec<_>>().join(" ");
        let bold = std::mem::take(&mut self.bold) >= text.len();
        (text, bold)
    }

    fn row(&mut self, line: u32) {
        self.rows.push(Vec::new());
        self.lines.push(line);
    }

    fn paragraph(&mut self, builder: &mut Builder) {
        builder.at = Some(Location::Line(self.line));
        let (text, bold) = self.take();
        match self.heading.take().or((bold && text.len() <= 160).then_some(BOLD_LINE)) {
            Some(level) => builder.heading(&text, level),
            None => drop(builder.paragraph::<()>(&text, &[])),
        }
    }

    fn cell(&mut self) {
        let (text, bold) = self.take();
        let mut cell = RawCell::new(text);
        cell.style.header = self.in_head;
        cell.style.bold = bold;
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    fn table(&mut self, limits: &Limits, builder: &mut Builder) {
        let (grid, cut) = Grid::place(std::mem::take(&mut self.rows), limits.max_cells_per_table);
        let lines = std::mem::take(&mut self.lines);
        let first = Location::Line(lines.first().copied().unwrap_or(self.line));
        let place = first.to_string();
        if let Some((rows, of)) = cut {
            let most = limits.max_cells_per_table;
            builder.cut(rows, Some(of), format!("{place}: the table is cut off after {most} cells"));
        }
        builder.table(grid, "", place, Some(TableLocation { first, rows: lines, cols: Vec::new() }));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{ReadOptions, read_bytes};

    #[test]
    fn regression_front_matter_is_no_heading() {
        let text = "---\ntitle: Releases\nauthor: me\n---\n\n# Plan\n\nIt is on.\n";
        let read = read_bytes(Path::new("x.md"), text.into(), &ReadOptions::default()).unwrap();
        assert_eq!(read.document.headings().map(|heading| heading.text.as_str()).collect::<Vec<_>>(), ["Plan"]);
        assert_eq!(read.document.passages().collect::<Vec<_>>(), ["It is on."]);
    }

    #[test]
    fn tables_headings_and_lists() {
        let text = "# Report\n\nRevenue rose in the U.S. by 3 %. Costs\nfell.\n\n- one\n- two\n\n## Segments\n\n\
            | Segment | 2023 | 2024 |\n|:--|--:|--:|\n| **Cloud** | 1 | 2 |\n| a \\| b | 3 |\n";
        let read = read_bytes(Path::new("x.md"), text.into(), &ReadOptions::default()).unwrap();
        let passages: Vec<&str> = read.document.passages().collect();
        assert_eq!(passages, ["Revenue rose in the U.S. by 3 %.", "Costs fell.", "one", "two"]);
        let headings: Vec<_> = read.document.headings().map(|heading| (heading.level, heading.text.as_str())).collect();
        assert_eq!(headings, [(1, "Report"), (2, "Segments")]);
        let table = read.document.tables().next().unwrap();
        assert_eq!((table.caption(), table.num_header_rows(), table.num_header_cols()), ("Segments", 1, 1));
        assert_eq!((table.rows(), table.cols()), (3, 3));
        assert_eq!(table.cell_at(2, 0).unwrap().text, "a | b");
        assert_eq!(read.tables[0].source, "line 11");
        assert_eq!(read.layout.paragraphs, [0..2, 2..3, 3..4]);
    }

    #[test]
    fn html_tables_in_markdown_are_tables() {
        let text = "Before.\n\n<table><tr><th>a</th><th>b</th></tr>\n<tr><td>x</td><td>1</td></tr></table>\n\nAfter.\n";
        let read = read_bytes(Path::new("x.md"), text.into(), &ReadOptions::default()).unwrap();
        assert_eq!(read.document.blocks.len(), 3);
        assert_eq!(read.document.tables().next().unwrap().num_header_rows(), 1);
    }
}
