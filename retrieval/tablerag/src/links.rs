//! What words chunks have, and which rows of tables name what other chunks are about.

use std::collections::{BTreeSet, HashMap};

use tabsegnet_corpus::terms;
use tabsegnet_datasets::tables::TableRecord;

/// Words of a title that is looked for in cells, at most.
const LONGEST: usize = 8;
/// A title that more chunks have links none of them.
const MOST_OF_TITLE: usize = 20;
/// Chunks that one row links to, at most.
pub(crate) const MOST_OF_ROW: usize = 40;

/// Chunks of its own document that a chunk is seen beside, at most.
const MOST_BESIDE: usize = 20;

/// A row of a chunk that is of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Row {
    pub chunk: u32,
    pub row: u32,
}

/// The words of one chunk, as hashes, rising.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub title: Vec<u32>,
    /// Section, caption or text, and headers.
    pub body: Vec<u32>,
    pub rows: Vec<Vec<u32>>,
    /// Pairs of neighbouring words: of title and body, and of each row.
    pub pairs: Vec<u32>,
    pub row_pairs: Vec<Vec<u32>>,
    /// Of text every run of words of its title.
    pub title_runs: Vec<u32>,
    /// Of a table each cell of few words with its row and column.
    pub cells: Vec<(u32, u32, u32)>,
    /// Of a table the terms of each header.
    pub headers: Vec<Vec<String>>,
    pub is_table: bool,
}

impl Words {
    /// Adds the terms of a column's header, each once.
    pub fn add_header(&self, column: usize, known: &mut Vec<String>) {
        for term in self.headers.get(column).into_iter().flatten() {
            if !known.contains(term) {
                known.push(term.clone());
            }
        }
    }
}

/// Words of all chunks, and links between rows and chunks of text that are about what a cell of theirs names.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub words: Vec<Words>,
    /// Of each chunk of text the rows that name its title.
    pub rows_of: Vec<Vec<Row>>,
    /// Of each row the chunks of text that it names.
    pub texts_of: HashMap<Row, Vec<u32>>,
    /// Of each chunk of text the terms, each once, of the headers over the cells that name it: what kind of thing it is about.
    pub headers_of: Vec<Vec<String>>,
    /// Of each chunk those of text in the same document beside a table, and of text those of tables.
    pub beside: Vec<Vec<u32>>,
}

/// FNV-1a.
pub(crate) fn hash(term: &str) -> u32 {
    term.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn hashes<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
    let all: BTreeSet<u32> = texts.into_iter().flat_map(terms).map(|term| hash(&term)).collect();
    all.into_iter().collect()
}

/// The hash of two words beside each other.
pub(crate) fn pair(first: &str, second: &str) -> u32 {
    hash(first).rotate_left(5) ^ hash(second)
}

fn pairs<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
    let mut all = BTreeSet::new();
    for text in texts {
        let found = terms(text);
        all.extend(found.iter().zip(found.iter().skip(1)).map(|(first, second)| pair(first, second)));
    }
    all.into_iter().collect()
}

/// The hashes of every run of words of a title.
fn runs(title: &str) -> Vec<u32> {
    let words = terms(bare(title));
    let lengths = 1..=LONGEST.min(words.len());
    let all: BTreeSet<u32> = lengths.flat_map(|length| words.windows(length)).map(|run| hash(&run.join(" "))).collect();
    all.into_iter().collect()
}

/// The hashes of cells as a whole, each with its row and column.
fn whole_cells(rows: &[Vec<String>]) -> Vec<(u32, u32, u32)> {
    let mut all = Vec::new();
    for (row, cells) in (0..).zip(rows) {
        for (column, cell) in (0..).zip(cells) {
            let words = terms(cell);
            if (1..=LONGEST).contains(&words.len()) && words.iter().any(|word| word.chars().count() > 1) {
                all.push((hash(&words.join(" ")), row, column));
            }
        }
    }
    all
}

/// A title without what stands in parentheses at its end.
fn bare(title: &str) -> &str {
    match title.trim_end().strip_suffix(')').and_then(|rest| rest.rfind('(')) {
        Some(at) if at > 0 => title.get(..at).unwrap_or(title),
        _ => title,
    }
}

impl Links {
    /// Looks at all chunks, of which `documents` says the document.
    pub fn new(records: &[TableRecord], documents: &[usize]) -> Self {
        let is_table = |record: &TableRecord| !record.column_headers.is_empty() || !record.rows.is_empty();
        let words: Vec<Words> = records
            .iter()
            .map(|record| Words {
                title: hashes([record.title.as_str()]),
                body: hashes(
                    [record.section.as_str(), &record.caption]
                        .into_iter()
                        .chain(record.column_headers.iter().map(String::as_str)),
                ),
                rows: record.rows.iter().map(|row| hashes(row.iter().map(String::as_str))).collect(),
                pairs: pairs(
                    [record.title.as_str(), &record.section, &record.caption]
                        .into_iter()
                        .chain(record.column_headers.iter().map(String::as_str)),
                ),
                row_pairs: record.rows.iter().map(|row| pairs(row.iter().map(String::as_str))).collect(),
                title_runs: if is_table(record) { Vec::new() } else { runs(&record.title) },
                cells: whole_cells(&record.rows),
                headers: record.column_headers.iter().map(|header| terms(header)).collect(),
                is_table: is_table(record),
            })
            .collect();
        let mut titles: HashMap<String, Vec<u32>> = HashMap::new();
        for (chunk, record) in (0..).zip(records).filter(|(_, record)| !is_table(record)) {
            let found = terms(bare(&record.title));
            // A bare number or a letter names too much.
            if found.len() <= LONGEST
                && found.iter().any(|term| term.len() > 1 && term.chars().all(char::is_alphabetic))
            {
                titles.entry(found.join(" ")).or_default().push(chunk);
            }
        }
        titles.retain(|_, chunks| chunks.len() <= MOST_OF_TITLE);
        let mut of_document: HashMap<usize, (Vec<u32>, Vec<u32>)> = HashMap::new();
        for ((chunk, words), document) in (0..).zip(&words).zip(documents) {
            let (texts, tables) = of_document.entry(*document).or_default();
            if words.is_table { tables.push(chunk) } else { texts.push(chunk) }
        }
        let none = (Vec::new(), Vec::new());
        let beside = words.iter().zip(documents).map(|(words, document)| {
            let (texts, tables) = of_document.get(document).unwrap_or(&none);
            let other = if words.is_table { texts } else { tables };
            other.iter().copied().take(MOST_BESIDE).collect()
        });
        let beside = beside.collect();
        let rows_of = vec![Vec::new(); records.len()];
        let headers_of = vec![Vec::new(); records.len()];
        let mut links = Self { words, rows_of, texts_of: HashMap::new(), headers_of, beside };
        for ((chunk, record), words) in (0..).zip(records).zip(&links.words) {
            for (row, cells) in (0..).zip(&record.rows) {
                let named = named(cells, &titles);
                if named.is_empty() {
                    continue;
                }
                let row = Row { chunk, row };
                for &(text, column) in &named {
                    if let Some(rows) = links.rows_of.get_mut(text as usize) {
                        rows.push(row);
                    }
                    if let Some(known) = links.headers_of.get_mut(text as usize) {
                        words.add_header(column, known);
                    }
                }
                links.texts_of.insert(row, named.into_iter().map(|(text, _)| text).collect());
            }
        }
        links
    }
}

/// The chunks that cells name by a title, each with the first column that does: a cell as a whole, or two words or more in it.
fn named(cells: &[String], titles: &HashMap<String, Vec<u32>>) -> Vec<(u32, usize)> {
    let mut found: Vec<(u32, usize)> = Vec::new();
    for (column, cell) in cells.iter().enumerate() {
        let of_cell = terms(cell);
        for length in (1..=LONGEST.min(of_cell.len())).rev() {
            if length == 1 && of_cell.len() > 1 {
                continue;
            }
            for part in of_cell.windows(length) {
                for &chunk in titles.get(&part.join(" ")).into_iter().flatten() {
                    if found.len() < MOST_OF_ROW && found.iter().all(|(other, _)| *other != chunk) {
                        found.push((chunk, column));
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lead_to_what_they_name() {
        let text =
            |title: &str| TableRecord { title: title.into(), caption: "about it".into(), ..TableRecord::default() };
        let table = TableRecord {
            title: "Athletes".into(),
            column_headers: vec!["Name".into(), "Town".into()],
            rows: vec![vec!["Chi Cheng ( ROC )".into(), "Munich".into()], vec!["1972".into(), "Old Munich".into()]],
            ..TableRecord::default()
        };
        let links = Links::new(&[text("Chi Cheng (athlete)"), text("Munich"), text("1972"), table], &[0, 1, 2, 2]);
        let row = |row| Row { chunk: 3, row };
        assert_eq!(links.texts_of.get(&row(0)).map(Vec::as_slice), Some(&[0, 1][..]));
        assert_eq!(links.texts_of.get(&row(1)), None);
        assert_eq!(links.beside, [vec![], vec![], vec![3], vec![2]]);
        assert_eq!(links.rows_of, [vec![row(0)], vec![row(0)], vec![], vec![]]);
        assert_eq!(links.headers_of, [terms("Name"), terms("Town"), vec![], vec![]]);
    }
}
