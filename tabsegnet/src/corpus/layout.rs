//! Tables of a corpus laid out as a document: under their headings, those of documents as they stand there.

use std::ops::Range;
use std::path::Path;

use tabsegnet_corpus::CorpusError;
use tabsegnet_datasets::document::{Block, Heading, MAX_GRID_POSITIONS, Table, TableError, TableSource};
use tabsegnet_datasets::tables::{Excerpt, TableRecord};
use tabsegnet_document::native::DocumentJson;

use crate::RankingError;

/// What of a table goes into a document: its header, where it has one, is row 0, its first column names the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    columns: usize,
    /// Whether the header is a row.
    header: bool,
    /// Rows below it, and how many it has.
    rows: usize,
    of: usize,
}

impl Shape {
    pub(super) fn of(table: &TableRecord, most_cells: usize) -> Self {
        let columns = table.rows.iter().map(Vec::len).chain([table.column_headers.len()]).max().unwrap_or(0).max(1);
        let header = table.column_headers.iter().any(|text| !text.trim().is_empty()) || table.rows.is_empty();
        let lines = most_cells / columns;
        let rows = table.rows.len().min(lines.saturating_sub(usize::from(header)));
        Self { columns, header, rows, of: table.rows.len() }
    }

    /// The rows that are left, where not all are.
    pub(super) fn cut_to(self) -> Option<usize> {
        (self.rows < self.of).then_some(self.rows)
    }
}

/// A table in its document, with the sentences beside it.
pub(super) struct Standing {
    pub(super) table: Table,
    /// The sentences, `above` of them before the table.
    texts: Vec<String>,
    above: usize,
    /// The number of the first one.
    passage: usize,
}

impl Standing {
    /// `None` where the table is of no document.
    pub(super) fn of(record: &TableRecord) -> Result<Option<Self>, CorpusError> {
        let Some(Excerpt { document, passage }) = &record.excerpt else { return Ok(None) };
        let damaged = |message: String| CorpusError::Damaged { file: record.id.clone(), message };
        let json: DocumentJson<()> = serde_json::from_str(document).map_err(|error| damaged(error.to_string()))?;
        let document = json.into_document(Path::new(&record.id)).map_err(|error| damaged(error.to_string()))?;
        let (mut texts, mut table, mut above) = (Vec::new(), None, 0);
        for block in document.blocks {
            match block {
                Block::Passage(text) => texts.push(text),
                Block::Table(of) => (table, above) = (Some(of), texts.len()),
                Block::Heading(_) => {}
            }
        }
        let table = table.ok_or_else(|| damaged("its place in its document has no table; index it again".into()))?;
        Ok(Some(Self { table, texts, above, passage: *passage }))
    }

    pub(super) fn passages(&self) -> Range<usize> {
        self.passage..self.passage.saturating_add(self.texts.len())
    }
}

/// What of the sentences of a table is not `shown` beside another one of its file.
pub(super) fn unshown(mut passages: Range<usize>, shown: &[Range<usize>]) -> Range<usize> {
    // A table's sentences end at the next table: others have of them the first or the last ones.
    for other in shown {
        if other.contains(&passages.start) {
            passages.start = other.end.min(passages.end);
        } else if passages.contains(&other.start) {
            passages.end = other.start;
        }
    }
    passages
}

/// A table of a corpus as the blocks of a document: under its title, or its id, and headings, with a number, and of a table of
/// a document the sentences that stand beside it there. Beyond what a document may hold the first rows.
///
/// # Errors
/// A table of which no row fits; a damaged one.
pub fn blocks_of(table: &TableRecord, number: usize) -> Result<Vec<Block>, RankingError> {
    laid_out(table, number, None)
}

/// With those sentences alone whose numbers in their document are `wanted`, where some are.
pub(super) fn laid_out(
    record: &TableRecord,
    number: usize,
    wanted: Option<Range<usize>>,
) -> Result<Vec<Block>, RankingError> {
    let title = if record.title.is_empty() { &record.id } else { &record.title };
    let section = Some(&record.section).filter(|section| !section.is_empty());
    let mut blocks: Vec<Block> = [(1, Some(title)), (2, section)]
        .into_iter()
        .filter_map(|(level, text)| Some(Block::Heading(Heading { level, text: text?.clone() })))
        .collect();
    let Some(standing) = Standing::of(record)? else {
        blocks.push(Block::Table(grid(record, number, MAX_GRID_POSITIONS)?));
        return Ok(blocks);
    };
    let numbered = standing.passages().zip(standing.texts);
    let is_wanted = |number: &usize| wanted.as_ref().is_none_or(|wanted| wanted.contains(number));
    let passage = |(number, text)| is_wanted(&number).then_some(Block::Passage(text));
    let (above, below): (Vec<_>, Vec<_>) =
        numbered.partition(|(number, _)| *number < standing.passage.saturating_add(standing.above));
    blocks.extend(above.into_iter().filter_map(passage));
    blocks.push(Block::Table(standing.table.with_number(number)));
    blocks.extend(below.into_iter().filter_map(passage));
    Ok(blocks)
}

/// A table of the corpus as one of a document.
fn grid(table: &TableRecord, number: usize, most_cells: usize) -> Result<Table, RankingError> {
    let shape = Shape::of(table, most_cells);
    let line = |texts: &[String]| {
        (0..shape.columns).map(|column| texts.get(column).map_or("", String::as_str).into()).collect::<Vec<_>>()
    };
    let header = shape.header.then(|| line(&table.column_headers));
    let rows: Vec<_> = header.into_iter().chain(table.rows.iter().take(shape.rows).map(|row| line(row))).collect();
    let header_rows = usize::from(shape.header && rows.len() > 1);
    let header_cols = usize::from(shape.columns > 1);
    let source =
        TableSource { number, caption: table.caption.clone(), header_rows, header_cols, rows, row_parents: Vec::new() };
    // Every place has a cell of its own: only a table of which no row fits is refused.
    Table::new(source).map_err(|reason: TableError| RankingError::Table { id: table.id.clone(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&str], rows: &[&[&str]]) -> TableRecord {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| texts(row)).collect();
        TableRecord { id: "t".into(), column_headers: texts(columns), rows, ..TableRecord::default() }
    }

    #[test]
    fn a_table_beyond_what_a_document_holds_is_cut_and_says_so() {
        let of = table(&["a", "b"], &[&["1", "2"], &["3"], &["5", "6"]]);
        let texts = |grid: &Table| {
            let rows = 0..grid.rows();
            rows.map(|row| grid.cell_at(row, 0).unwrap().text.clone()).collect::<Vec<_>>().join(" ")
        };
        for (most_cells, cut_to, expected) in
            [(8, None, "a 1 3 5"), (7, Some(2), "a 1 3"), (5, Some(1), "a 1"), (2, Some(0), "a")]
        {
            assert_eq!(Shape::of(&of, most_cells).cut_to(), cut_to, "{most_cells}");
            let made = grid(&of, 4, most_cells).unwrap();
            assert_eq!((texts(&made).as_str(), made.number(), made.cols()), (expected, 4, 2));
        }
        let bare = table(&["", " "], &[&["1", "2"], &["3", "4"]]);
        assert_eq!(Shape::of(&bare, 2).cut_to(), Some(1));
        assert_eq!(texts(&grid(&bare, 0, 2).unwrap()), "1");
        // One whose first row does not fit is an error that names it.
        let error = grid(&bare, 0, 1).unwrap_err().to_string();
        assert!(error.starts_with("table \"t\": "), "{error}");
        assert_eq!(Shape::of(&table(&[], &[]), 100).cut_to(), None);
        assert_eq!(grid(&table(&[], &[]), 0, 100).unwrap().rows(), 1);
    }
}
