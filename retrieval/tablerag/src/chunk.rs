//! Documents cut into chunks: text by words, tables by rows as Markdown, each with where it stands.

use std::fmt::Write as _;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tabsegnet::context::tokens;
use tabsegnet_document::model::{Block, Document, Heading, Outline, Table};
use tabsegnet_document::node_id;
use tabsegnet_store::one_line;

/// How documents are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChunkSettings {
    /// Tokens of a chunk at most, as [`tokens`] counts them; a single word or row that has more is a chunk of its own.
    pub tokens: usize,
    /// Tokens at the end of a chunk, at most, that begin the next one too.
    pub overlap: usize,
}

impl Default for ChunkSettings {
    /// Those of the paper.
    fn default() -> Self {
        Self { tokens: 1000, overlap: 200 }
    }
}

impl ChunkSettings {
    /// What is wrong with them, in words, where something is.
    pub fn problem(&self) -> Option<String> {
        if self.tokens == 0 {
            return Some("tokens is 0; expected at least 1".to_owned());
        }
        (self.overlap >= self.tokens)
            .then(|| format!("overlap is {}; expected less than tokens, {}", self.overlap, self.tokens))
    }
}

/// Where a chunk stands in its document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Span {
    /// Passages, from a byte of the first to a byte of the last.
    Text {
        /// The first passage and the byte in it.
        from: (usize, usize),
        /// The last passage and the byte behind the chunk in it.
        to: (usize, usize),
    },
    /// Rows of a table.
    Table {
        /// The table's number.
        table: usize,
        /// Rows of its grid, header rows counted and not among them; empty where it has no others.
        rows: Range<usize>,
    },
}

impl Span {
    /// The table that it is of.
    pub fn table(&self) -> Option<usize> {
        match self {
            Self::Text { .. } => None,
            Self::Table { table, .. } => Some(*table),
        }
    }

    /// As a person names it: `p3..p5`, `t0 rows 1..20`.
    pub fn name(&self) -> String {
        match self {
            Self::Text { from: (first, _), to: (last, _) } if first == last => node_id::passage(*first),
            Self::Text { from: (first, _), to: (last, _) } => {
                format!("{}..{}", node_id::passage(*first), node_id::passage(*last))
            }
            Self::Table { table, rows } => {
                format!("{} rows {}..{}", node_id::caption(*table), rows.start, rows.end.saturating_sub(1))
            }
        }
    }
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The document, by its place.
    pub document: usize,
    /// Where it stands.
    pub span: Span,
    /// The headings above it, joined with " -- ".
    pub section: String,
    /// Its text; of a table the caption, the header and its rows in Markdown.
    pub text: String,
}

/// Cuts a document. Text is cut between words and where a heading or a table begins; a table between rows, each of its
/// chunks with caption and header. Every word and every row below a header is in at least one chunk; a table without such
/// rows has one chunk.
pub fn chunks(document: &Document, number: usize, settings: ChunkSettings) -> Vec<Chunk> {
    let mut outline: Outline<&str> = Outline::default();
    let mut found = Vec::new();
    let mut passage = 0;
    let mut run: Vec<(usize, &str)> = Vec::new();
    let section = |outline: &Outline<&str>| outline.path().collect::<Vec<_>>().join(" -- ");
    for block in &document.blocks {
        match block {
            Block::Passage(text) => {
                run.push((passage, text));
                passage += 1;
            }
            Block::Heading(Heading { level, text }) => {
                cut_text(&mut run, number, &section(&outline), settings, &mut found);
                outline.enter(*level, text.as_str());
            }
            Block::Table(table) => {
                cut_text(&mut run, number, &section(&outline), settings, &mut found);
                cut_table(table, number, &section(&outline), settings, &mut found);
            }
        }
    }
    cut_text(&mut run, number, &section(&outline), settings, &mut found);
    found
}

/// How many of the items from `start` on fit, at least one, and where the next chunk begins: as early as the overlap
/// lets it, and behind `start`.
fn fit(sizes: &[usize], start: usize, settings: ChunkSettings) -> (usize, usize) {
    let mut sum = 0;
    let mut end = start;
    while let Some(size) = sizes.get(end).filter(|size| end == start || sum + **size <= settings.tokens) {
        sum += size;
        end += 1;
    }
    let mut next = end;
    let mut shared = 0;
    while next > start + 1 && end < sizes.len() {
        let Some(size) = sizes.get(next - 1).filter(|size| shared + **size <= settings.overlap) else { break };
        shared += size;
        next -= 1;
    }
    (end, next)
}

/// A word of a passage: the passage's place in the run, and its bytes.
struct Word {
    passage: usize,
    bytes: Range<usize>,
}

fn cut_text(
    run: &mut Vec<(usize, &str)>,
    document: usize,
    section: &str,
    settings: ChunkSettings,
    found: &mut Vec<Chunk>,
) {
    let mut words = Vec::new();
    let mut sizes = Vec::new();
    for (passage, (_, text)) in run.iter().enumerate() {
        let mut at = 0;
        for part in text.split_inclusive(char::is_whitespace) {
            let word = part.trim_end();
            if !word.is_empty() {
                words.push(Word { passage, bytes: at..at + word.len() });
                sizes.push(tokens(word));
            }
            at += part.len();
        }
    }
    let mut start = 0;
    while start < words.len() {
        let (end, next) = fit(&sizes, start, settings);
        if let (Some(first), Some(last)) = (words.get(start), words.get(end - 1)) {
            let mut text = String::new();
            for (at, (_, passage)) in run.iter().enumerate().take(last.passage + 1).skip(first.passage) {
                let from = if at == first.passage { first.bytes.start } else { 0 };
                let to = if at == last.passage { last.bytes.end } else { passage.len() };
                let part = passage.get(from..to).unwrap_or("").trim();
                if !text.is_empty() && !part.is_empty() {
                    text.push(' ');
                }
                text.push_str(part);
            }
            let number = |word: &Word| run.get(word.passage).map_or(0, |(number, _)| *number);
            let span = Span::Text { from: (number(first), first.bytes.start), to: (number(last), last.bytes.end) };
            found.push(Chunk { document, span, section: section.to_owned(), text });
        }
        start = next;
        if end == words.len() {
            break;
        }
    }
    run.clear();
}

fn cut_table(table: &Table, document: usize, section: &str, settings: ChunkSettings, found: &mut Vec<Chunk>) {
    let head = head(table);
    let body: Vec<usize> = (table.num_header_rows()..table.rows()).collect();
    let lines: Vec<String> = body.iter().map(|&row| line(table, row)).collect();
    let sizes: Vec<usize> = lines.iter().map(|line| tokens(line)).collect();
    let room = settings.tokens.saturating_sub(tokens(&head)).max(1);
    let settings = ChunkSettings { tokens: room, overlap: settings.overlap.min(room - 1) };
    let first = table.num_header_rows();
    let mut add = |rows: Range<usize>, lines: &[String]| {
        let text =
            std::iter::once(head.as_str()).chain(lines.iter().map(String::as_str)).collect::<Vec<_>>().join("\n");
        let span = Span::Table { table: table.number(), rows: first + rows.start..first + rows.end };
        found.push(Chunk { document, span, section: section.to_owned(), text });
    };
    if lines.is_empty() {
        return add(0..0, &[]);
    }
    let mut start = 0;
    while start < lines.len() {
        let (end, next) = fit(&sizes, start, settings);
        add(start..end, lines.get(start..end).unwrap_or_default());
        if end == lines.len() {
            break;
        }
        start = next;
    }
}

/// The header of each column, its levels from the outermost on, each once.
pub fn headers(table: &Table) -> Vec<String> {
    let header = |col: usize| {
        let mut levels: Vec<&str> = Vec::new();
        for text in (0..table.num_header_rows()).map(|row| cell(table, row, col).trim()) {
            if !text.is_empty() && levels.last() != Some(&text) {
                levels.push(text);
            }
        }
        levels.join(" ")
    };
    (0..table.cols()).map(header).collect()
}

/// The text of the cell that covers a position.
pub fn cell(table: &Table, row: usize, col: usize) -> &str {
    table.cell_at(row, col).map_or("", |cell| cell.text.as_str())
}

fn head(table: &Table) -> String {
    let mut text = String::new();
    if !table.caption().trim().is_empty() {
        let _ = writeln!(text, "{}", one_line(table.caption()));
    }
    let names = headers(table);
    let _ = writeln!(text, "{}", joined(names.iter().map(String::as_str)));
    text + "|" + &"---|".repeat(names.len().max(1))
}

fn line(table: &Table, row: usize) -> String {
    joined((0..table.cols()).map(|col| cell(table, row, col)))
}

/// Cells as a row of a Markdown table: what would end a cell or the row does not.
fn joined<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let mut line = "|".to_owned();
    for cell in cells {
        let _ = write!(line, " {} |", one_line(cell).replace('\\', "\\\\").replace('|', "\\|"));
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabsegnet_document::{KnownTable, table_with};

    use super::*;

    fn table(number: usize, rows: &[Vec<String>]) -> Table {
        let known = KnownTable { number, header_rows: Some(1.min(rows.len() - 1)), ..KnownTable::default() };
        table_with(rows, &[], known).unwrap().0
    }

    #[test]
    fn text_is_cut_between_words_with_an_overlap() {
        let document = Document {
            id: "d".into(),
            blocks: vec![
                Block::Heading(Heading { level: 1, text: "One".into() }),
                Block::Passage("aa bb cc".into()),
                Block::Passage("dd ee".into()),
                Block::Heading(Heading { level: 2, text: "Two".into() }),
                Block::Passage("ff".into()),
            ],
        };
        let found = chunks(&document, 7, ChunkSettings { tokens: 3, overlap: 1 });
        let told: Vec<(&str, &str, String)> =
            found.iter().map(|chunk| (chunk.section.as_str(), chunk.text.as_str(), chunk.span.name())).collect();
        assert_eq!(
            told,
            [
                ("One", "aa bb cc", "p0".to_owned()),
                ("One", "cc dd ee", "p0..p1".to_owned()),
                ("One -- Two", "ff", "p2".to_owned()),
            ]
        );
        assert_eq!(found[1].span, Span::Text { from: (0, 6), to: (1, 5) });
    }

    #[test]
    fn a_table_is_cut_between_rows_each_under_the_header() {
        let texts = |row: &[&str]| row.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let rows = [texts(&["a", "b"]), texts(&["1|2", "x\ny"]), texts(&["3", "4"]), texts(&["5", "6"])];
        let document = Document { id: "d".into(), blocks: vec![Block::Table(table(3, &rows))] };
        let whole = chunks(&document, 0, ChunkSettings::default());
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0].text, "| a | b |\n|---|---|\n| 1\\|2 | x y |\n| 3 | 4 |\n| 5 | 6 |");
        assert_eq!(whole[0].span, Span::Table { table: 3, rows: 1..4 });
        let cut = chunks(&document, 0, ChunkSettings { tokens: 1, overlap: 0 });
        assert_eq!(
            cut.iter().map(|chunk| chunk.span.name()).collect::<Vec<_>>(),
            ["t3 rows 1..1", "t3 rows 2..2", "t3 rows 3..3"]
        );
        assert!(cut.iter().all(|chunk| chunk.text.starts_with("| a | b |\n|---|---|\n")));
    }

    proptest! {
        /// Whatever is cut: nothing is lost, nothing is longer than it may be, and a chunk's text is that of its place.
        #[test]
        fn nothing_is_lost(
            passages in proptest::collection::vec("[a-z é]{0,30}", 0..6),
            rows in proptest::collection::vec(proptest::collection::vec("[a-z|\\\\ ]{0,6}", 1..4), 1..12),
            most in 1_usize..12,
            overlap in 0_usize..6,
        ) {
            let settings = ChunkSettings { tokens: most, overlap: overlap.min(most - 1) };
            let table = table(0, &rows);
            let mut blocks: Vec<Block> = passages.iter().cloned().map(Block::Passage).collect();
            blocks.insert(passages.len() / 2, Block::Table(table.clone()));
            let document = Document { id: "d".into(), blocks };
            let mut words: Vec<Vec<bool>> = passages.iter().map(|text| vec![false; text.len()]).collect();
            let mut seen = vec![false; table.rows()];
            for chunk in chunks(&document, 0, settings) {
                match &chunk.span {
                    Span::Text { from, to } => {
                        let mut text = Vec::new();
                        for passage in from.0..=to.0 {
                            let start = if passage == from.0 { from.1 } else { 0 };
                            let end = if passage == to.0 { to.1 } else { passages[passage].len() };
                            words[passage][start..end].iter_mut().for_each(|seen| *seen = true);
                            text.push(passages[passage][start..end].trim());
                        }
                        text.retain(|part| !part.is_empty());
                        prop_assert_eq!(&chunk.text, &text.join(" "));
                        let count = chunk.text.split_whitespace().count();
                        let sum: usize = chunk.text.split_whitespace().map(tokens).sum();
                        prop_assert!(sum <= settings.tokens || count == 1);
                    }
                    Span::Table { table: number, rows } => {
                        prop_assert_eq!(*number, 0);
                        let lines: Vec<String> = rows.clone().map(|row| line(&table, row)).collect();
                        let head = head(&table);
                        prop_assert_eq!(&chunk.text, &[vec![head.clone()], lines].concat().join("\n"));
                        prop_assert!(rows.len() <= 1 || tokens(&chunk.text) <= settings.tokens);
                        rows.clone().for_each(|row| seen[row] = true);
                    }
                }
            }
            for (passage, text) in words.iter().zip(&passages) {
                prop_assert!(text.bytes().zip(passage).all(|(byte, seen)| *seen || byte == b' '));
            }
            prop_assert!(seen.iter().skip(table.num_header_rows()).all(|seen| *seen));
        }
    }
}
