//! A document with large tables cut down to the rows that answers rest on, for a page.

use std::collections::{BTreeMap, BTreeSet};

use tabsegnet::ranking::Position;
use tabsegnet_document::model::{Block, CellSource, Document, Table, TableError, TableSource};
use tabsegnet_document::numbers::grouped;
use tabsegnet_document::{Layout, ReadOptions, read};

use crate::answer::Citation;
use crate::large::{Large, LargeError};

/// Rows that are shown before and behind a cited one.
const AROUND: usize = 2;
/// Rows behind the headers that are shown of a table without cited ones.
const FIRST: usize = 5;

/// What a page shows of a document with large tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Excerpt {
    /// The document, its large tables cut.
    pub document: Document,
    /// Its paragraphs and headings.
    pub layout: Layout,
    /// Of each table that is cut the row of the whole table that each of its rows is; of a row that stands for others the
    /// first of these.
    pub rows: BTreeMap<usize, Vec<usize>>,
}

impl Large {
    /// The document as a page shows it: of each large table its header rows, and the cited rows with a few around them.
    ///
    /// # Errors
    /// [`LargeError`]: it is read again, since it is not kept.
    pub fn excerpt(&self, citations: &[Citation]) -> Result<Excerpt, LargeError> {
        let mut read = read(&self.path, &ReadOptions::default())?;
        let mut rows = BTreeMap::new();
        for block in &mut read.document.blocks {
            let Block::Table(table) = block else { continue };
            let number = table.number();
            if !self.tables.iter().any(|(large, _, _)| *large == number) {
                continue;
            }
            let cited = citations.iter().filter_map(|citation| match citation.position {
                Position::Cell { table, row, .. } if table == number => Some(row),
                _ => None,
            });
            let (cut, of) = cut(table, &cited.collect())?;
            *table = cut;
            rows.insert(number, of);
        }
        Ok(Excerpt { document: read.document, layout: read.layout, rows })
    }
}

/// The rows of a table that are shown: header rows, cited ones and what is around them, and the rows that those stand under.
fn kept(table: &Table, cited: &BTreeSet<usize>) -> BTreeSet<usize> {
    let heads = table.num_header_rows();
    let mut kept: BTreeSet<usize> = (0..heads).collect();
    if cited.is_empty() {
        kept.extend(heads..heads + FIRST);
    }
    for &row in cited {
        kept.extend(row.saturating_sub(AROUND)..=row.saturating_add(AROUND));
    }
    kept.retain(|row| *row < table.rows());
    let mut above: Vec<usize> = kept.iter().copied().collect();
    while let Some(row) = above.pop() {
        if let Some(parent) = table.row_parent(row)
            && kept.insert(parent)
        {
            above.push(parent);
        }
    }
    kept
}

/// A table of the rows that are shown, and of each which row it was. Where rows are left out, one says how many.
fn cut(table: &Table, cited: &BTreeSet<usize>) -> Result<(Table, Vec<usize>), TableError> {
    let kept = kept(table, cited);
    let (mut rows, mut of, mut parents) = (Vec::new(), Vec::new(), Vec::new());
    let mut place_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut next = 0;
    let ends = [table.rows()];
    for &row in kept.iter().chain(&ends) {
        if row > next {
            let text = match row - next {
                1 => "… 1 row is not shown".to_owned(),
                many => format!("… {} rows are not shown", grouped(many as u64)),
            };
            rows.push(vec![CellSource { text, rowspan: 1, colspan: table.cols() }]);
            of.push(next);
            parents.push(None);
        }
        if row == table.rows() {
            break;
        }
        place_of.insert(row, rows.len());
        rows.push(row_of(table, row, &kept));
        of.push(row);
        parents.push(table.row_parent(row));
        next = row + 1;
    }
    let source = TableSource {
        number: table.number(),
        caption: table.caption().to_owned(),
        header_rows: table.num_header_rows(),
        header_cols: table.num_header_cols(),
        rows,
        row_parents: parents.into_iter().map(|parent| parent.and_then(|row| place_of.get(&row).copied())).collect(),
    };
    Ok((Table::new(source)?, of))
}

/// The cells that a row begins. One that began above, in rows that are not shown or before such, begins here anew.
fn row_of(table: &Table, row: usize, kept: &BTreeSet<usize>) -> Vec<CellSource> {
    let mut cells = Vec::new();
    let mut col = 0;
    while col < table.cols() {
        let Some(cell) = table.cell_at(row, col) else {
            cells.push(CellSource::from(""));
            col += 1;
            continue;
        };
        let goes_on = cell.row < row && row.checked_sub(1).is_some_and(|above| kept.contains(&above));
        if !goes_on {
            let end = (row..cell.row + cell.rowspan).take_while(|row| kept.contains(row)).count().max(1);
            cells.push(CellSource { text: cell.text.clone(), rowspan: end, colspan: cell.colspan });
        }
        col = (cell.col + cell.colspan).max(col + 1);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(named_by: usize) -> Table {
        let mut rows: Vec<Vec<CellSource>> = vec![["name", "sum"].map(CellSource::from).to_vec()];
        rows.extend((1..2000).map(|row| vec![format!("row {row}").into(), row.to_string().into()]));
        Table::new(TableSource { header_rows: 1, header_cols: named_by, rows, ..TableSource::default() }).unwrap()
    }

    fn texts(table: &Table, row: usize) -> Vec<&str> {
        table.cells().iter().filter(|cell| cell.row == row).map(|cell| cell.text.as_str()).collect()
    }

    #[test]
    fn cited_rows_stand_among_those_around_them_and_what_is_left_out_is_said() {
        let (cut, of) = cut(&table(1), &BTreeSet::from([1500, 1999])).unwrap();
        assert_eq!(of, [0, 1, 1498, 1499, 1500, 1501, 1502, 1503, 1997, 1998, 1999]);
        assert_eq!(texts(&cut, 1), ["… 1,497 rows are not shown"]);
        assert_eq!(texts(&cut, 4), ["row 1500", "1500"]);
        assert_eq!((texts(&cut, 7), cut.rows()), (vec!["… 494 rows are not shown"], of.len()));
        let (none, of) = super::cut(&table(0), &BTreeSet::new()).unwrap();
        assert_eq!((of, texts(&none, 6)), (vec![0, 1, 2, 3, 4, 5, 6], vec!["… 1,994 rows are not shown"]));
        assert_eq!(super::cut(&table(0), &BTreeSet::from([usize::MAX, 5000])).unwrap().1, [0, 1]);
    }

    #[test]
    fn merged_cells_and_outer_rows_are_kept() {
        let merged = |text: &str, rowspan| CellSource { text: text.into(), rowspan, colspan: 1 };
        let mut rows: Vec<Vec<CellSource>> = vec![["name", "sum"].map(CellSource::from).to_vec()];
        rows.push(vec!["Assets:".into(), "".into()]);
        rows.push(vec![merged("long", 100), "2".into()]);
        rows.extend((3..102).map(|row| vec![row.to_string().into()]));
        let mut row_parents = vec![None, None];
        row_parents.extend((2..102).map(|_| Some(1)));
        let table =
            Table::new(TableSource { header_rows: 1, header_cols: 1, rows, row_parents, ..TableSource::default() });
        let (cut, of) = cut(&table.unwrap(), &BTreeSet::from([50])).unwrap();
        assert_eq!(of, [0, 1, 2, 48, 49, 50, 51, 52, 53]);
        assert_eq!((texts(&cut, 1), texts(&cut, 3)), (vec!["Assets:", ""], vec!["long", "48"]));
        assert_eq!((texts(&cut, 5), cut.row_parent(5)), (vec!["50"], Some(1)));
        assert_eq!(cut.cell_at(5, 0).map(|cell| (cell.row, cell.rowspan)), Some((3, 5)));
    }
}
