//! A table: cells at their places in a grid, the headers over and beside them, the rows under which rows stand.

mod source;

use std::collections::BTreeMap;
use std::fmt;

pub use source::{CellSource, MAX_GRID_POSITIONS, MAX_ROW_LEVELS, TableError, TableSource};

/// A cell at its place in the grid. Merged cells are one `Cell` at their top-left position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Top row of the grid, from 0.
    pub row: usize,
    /// Leftmost column of the grid, from 0.
    pub col: usize,
    /// Rows covered, at least 1.
    pub rowspan: usize,
    /// Columns covered, at least 1.
    pub colspan: usize,
    /// The cell's text.
    pub text: String,
}

/// A table whose cells tile a grid of `rows() × cols()` positions without gap or overlap.
#[derive(Clone, PartialEq)]
pub struct Table {
    number: usize,
    caption: String,
    header_rows: usize,
    header_cols: usize,
    rows: usize,
    cols: usize,
    cells: Vec<Cell>,
    /// The cell that covers each grid position, row-major.
    owner: Vec<u32>,
    /// Empty or one entry a row; no row stands under itself.
    row_parents: Vec<Option<usize>>,
    /// By the index of a cell what it holds, where its text shows less of it.
    stored: BTreeMap<usize, String>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("number", &self.number)
            .field("caption", &self.caption)
            .field("headers", &(self.header_rows, self.header_cols))
            .field("cells", &self.cells)
            .field("row_parents", &self.row_parents)
            .field("stored", &self.stored)
            .finish()
    }
}

impl Table {
    /// The number `n` of the node ids `t{n}…`. It stays with the table wherever it is placed.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The same table under another number, as when it is added to another document.
    #[must_use]
    pub fn with_number(mut self, number: usize) -> Self {
        self.number = number;
        self
    }

    /// The same table with what cells hold, by their indices, where their texts show less of it: `1234.567` of `1,235`.
    #[must_use]
    pub fn with_stored(mut self, stored: impl IntoIterator<Item = (usize, String)>) -> Self {
        self.stored.extend(stored.into_iter().filter(|(index, _)| *index < self.cells.len()));
        self
    }

    /// What a cell holds, by its index, where its text shows less of it.
    pub fn stored(&self, index: usize) -> Option<&str> {
        self.stored.get(&index).map(String::as_str)
    }

    /// What the cell at a grid position holds, to be computed with: as it is stored, else its text; nothing outside.
    pub fn value_at(&self, row: usize, col: usize) -> Option<&str> {
        let index = self.cell_index_at(row, col)?;
        self.stored(index).or_else(|| self.cells.get(index).map(|cell| cell.text.as_str()))
    }

    /// Gives each cell the text that `text` makes of it and of the table as it was.
    pub fn change_texts(&mut self, mut text: impl FnMut(&Self, &Cell) -> String) {
        let texts: Vec<String> = self.cells.iter().map(|cell| text(self, cell)).collect();
        self.cells.iter_mut().zip(texts).for_each(|(cell, text)| cell.text = text);
    }

    /// The caption; empty where the table has none.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// How many leading rows are column headers.
    pub fn num_header_rows(&self) -> usize {
        self.header_rows
    }

    /// How many leading columns are row headers.
    pub fn num_header_cols(&self) -> usize {
        self.header_cols
    }

    /// The row whose header is the next outer level of a row's own headers: one above it, or the balance that it leads to.
    pub fn row_parent(&self, row: usize) -> Option<usize> {
        self.row_parents.get(row).copied().flatten()
    }

    /// Rows of the grid.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the grid.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All cells, headers included, by row, then column of their top-left position.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Index into [`Table::cells`] of the cell that covers a grid position; `None` outside.
    pub fn cell_index_at(&self, row: usize, col: usize) -> Option<usize> {
        if col >= self.cols {
            return None;
        }
        self.owner.get(row * self.cols + col).map(|&index| index as usize)
    }

    /// The cell that covers a grid position; `None` outside.
    pub fn cell_at(&self, row: usize, col: usize) -> Option<&Cell> {
        self.cell_index_at(row, col).map(|index| &self.cells[index])
    }

    /// What a cell is by its top-left position. The corner, where header rows and header columns
    /// cross, counts as column headers.
    pub fn role(&self, cell: &Cell) -> CellRole {
        if cell.row < self.header_rows {
            CellRole::ColumnHeader
        } else if cell.col < self.header_cols {
            CellRole::RowHeader
        } else {
            CellRole::Data
        }
    }

    /// Indices of the column headers above a cell, outermost level first, each once.
    pub fn column_headers_of(&self, cell: &Cell) -> Vec<usize> {
        let mut headers = Vec::new();
        for level in 0..self.header_rows.min(cell.row) {
            for col in cell.col..cell.col + cell.colspan {
                self.push_header(level, col, CellRole::ColumnHeader, &mut headers);
            }
        }
        headers
    }

    /// Indices of the row headers of a cell, outermost level first, each once: those of the rows
    /// that its row stands under, then those left of it.
    pub fn row_headers_of(&self, cell: &Cell) -> Vec<usize> {
        let mut outer = Vec::new();
        let mut row = cell.row;
        while let Some(parent) = self.row_parent(row) {
            outer.push(parent);
            row = parent;
        }
        let mut headers = Vec::new();
        for &row in outer.iter().rev() {
            for index in self.title_of_row(row) {
                if !headers.contains(&index) {
                    headers.push(index);
                }
            }
        }
        for level in 0..self.header_cols.min(cell.col) {
            for row in cell.row..cell.row + cell.rowspan {
                self.push_header(row, level, CellRole::RowHeader, &mut headers);
            }
        }
        headers
    }

    /// Indices of the cells that name a row: its row headers, or its first cell with a text where
    /// they are blank, as in a line "percent" over the data columns. Outermost level first.
    pub fn title_of_row(&self, row: usize) -> Vec<usize> {
        let mut cells: Vec<usize> = (0..self.cols).filter_map(|col| self.cell_index_at(row, col)).collect();
        cells.dedup();
        // A corner that reaches down into the row does not name it.
        cells.retain(|&index| {
            let cell = &self.cells[index];
            !cell.text.trim().is_empty() && (cell.row == row || self.role(cell) != CellRole::ColumnHeader)
        });
        let headers = cells.iter().filter(|&&index| self.role(&self.cells[index]) == CellRole::RowHeader).count();
        cells.truncate(headers.max(1));
        cells
    }

    fn push_header(&self, row: usize, col: usize, role: CellRole, headers: &mut Vec<usize>) {
        if let Some(index) = self.cell_index_at(row, col)
            && self.role(&self.cells[index]) == role
            && !headers.contains(&index)
        {
            headers.push(index);
        }
    }

    /// The texts of the given cells as a path, `outer > inner`, empty texts left out.
    pub fn path(&self, cells: &[usize]) -> String {
        let texts = cells.iter().filter_map(|&index| self.cells.get(index));
        join_non_empty(texts.map(|cell| cell.text.as_str()), " > ")
    }

    /// What stands for the whole table: the caption, or the header rows where there is none, or
    /// the first row where there are no header rows either.
    pub fn caption_text(&self) -> String {
        if !self.caption.trim().is_empty() {
            return self.caption.clone();
        }
        let rows = self.header_rows.max(1);
        let top = self.cells.iter().take_while(|cell| cell.row < rows);
        join_non_empty(top.map(|cell| cell.text.as_str()), " | ")
    }
}

/// What a cell of the grid is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellRole {
    /// In a header row.
    ColumnHeader,
    /// In a header column below the header rows.
    RowHeader,
    /// Any other.
    Data,
}

/// Joins the parts that are not blank.
pub fn join_non_empty<'a>(parts: impl Iterator<Item = &'a str>, separator: &str) -> String {
    let mut joined = String::new();
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        if !joined.is_empty() {
            joined.push_str(separator);
        }
        joined.push_str(part);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, rowspan: usize, colspan: usize) -> CellSource {
        CellSource { text: text.into(), rowspan, colspan }
    }

    fn table(num_header_rows: usize, header_cols: usize, rows: Vec<Vec<CellSource>>) -> Result<Table, TableError> {
        Table::new(TableSource { header_rows: num_header_rows, header_cols, rows, ..TableSource::default() })
    }

    /// ```text
    /// (corner 2×1) | Revenue (1×2)
    ///              | 2018 | 2019
    /// Products     | 1    | 2
    /// ```
    fn two_levels() -> Table {
        table(
            2,
            1,
            vec![
                vec![span("", 2, 1), span("Revenue", 1, 2)],
                vec!["2018".into(), "2019".into()],
                vec!["Products".into(), "1".into(), "2".into()],
            ],
        )
        .unwrap()
    }

    #[test]
    fn merged_cells_take_their_positions_as_in_html() {
        let table = two_levels();
        assert_eq!((table.rows(), table.cols(), table.cells().len()), (3, 3, 7));
        assert_eq!(table.cell_at(1, 0), table.cell_at(0, 0));
        assert_eq!(table.cell_at(1, 2).unwrap().text, "2019");
        assert_eq!(table.cell_at(0, 3), None);
        assert_eq!(table.cell_at(3, 0), None);
    }

    #[test]
    fn header_paths_run_from_the_outermost_level() {
        let table = two_levels();
        let cell = table.cell_at(2, 2).unwrap();
        assert_eq!(table.path(&table.column_headers_of(cell)), "Revenue > 2019");
        assert_eq!(table.path(&table.row_headers_of(cell)), "Products");
        assert_eq!(table.role(cell), CellRole::Data);
        assert_eq!(table.role(table.cell_at(1, 0).unwrap()), CellRole::ColumnHeader);
        assert_eq!(table.caption_text(), "Revenue | 2018 | 2019");
    }

    #[test]
    fn a_row_stands_under_the_rows_that_its_parents_name() {
        let rows = [["", "2018"], ["Assets", ""], ["Current:", ""], ["Cash", "1"], ["", "percent"], ["Tax", "2"]];
        let rows = rows.map(|row| row.map(CellSource::from).to_vec()).to_vec();
        let row_parents = vec![None, None, Some(1), Some(2), None, Some(4)];
        let source = TableSource { header_rows: 1, header_cols: 1, rows, row_parents, ..TableSource::default() };
        let table = Table::new(source.clone()).unwrap();
        let path = |row, col| table.path(&table.row_headers_of(table.cell_at(row, col).unwrap()));
        assert_eq!(path(3, 1), "Assets > Current: > Cash");
        assert_eq!(path(3, 0), "Assets > Current:");
        assert_eq!(path(5, 1), "percent > Tax");
        for wrong in [vec![Some(0)], vec![None, Some(1), None, None, None, None]] {
            let refused = Table::new(TableSource { row_parents: wrong, ..source.clone() });
            assert!(matches!(refused.unwrap_err(), TableError::RowParent { rows: 6, .. }));
        }
        let circle =
            Table::new(TableSource { row_parents: vec![None, None, Some(3), Some(2), None, None], ..source.clone() });
        assert_eq!(circle.unwrap_err(), TableError::RowLevels { row: 2 });
        let below =
            Table::new(TableSource { row_parents: vec![None, None, None, Some(5), None, None], ..source.clone() });
        let below = below.unwrap();
        assert_eq!(below.path(&below.row_headers_of(below.cell_at(3, 1).unwrap())), "Tax > Cash");
        let rows = vec![vec![CellSource::from("a")]; 100];
        let row_parents = (0..100).map(|row: usize| row.checked_sub(1)).collect();
        let deep = Table::new(TableSource { rows, row_parents, ..TableSource::default() });
        assert_eq!(deep.unwrap_err(), TableError::RowLevels { row: 33 });
    }

    #[test]
    fn what_does_not_tile_a_grid_is_refused_with_its_place() {
        let ragged = table(0, 0, vec![vec!["a".into(), "b".into()], vec!["c".into()]]);
        assert_eq!(ragged.unwrap_err(), TableError::Ragged { row: 1, expected: 2, found: 1 });
        let wide = table(0, 0, vec![vec!["a".into()], vec!["b".into(), "c".into()]]);
        assert_eq!(wide.unwrap_err(), TableError::Ragged { row: 1, expected: 1, found: 2 });
        let beyond = table(0, 0, vec![vec![span("a", 2, 1)]]);
        assert!(matches!(beyond.unwrap_err(), TableError::SpanBeyondEnd { rowspan: 2, .. }));
        let overlap = table(0, 0, vec![vec!["a".into(), span("b", 2, 1), "c".into()], vec![span("d", 1, 2)]]);
        assert_eq!(overlap.unwrap_err(), TableError::Overlap { row: 1, cell: 0 });
        assert_eq!(table(0, 0, vec![]).unwrap_err(), TableError::Empty);
        assert!(matches!(table(0, 0, vec![vec![span("a", 0, 1)]]).unwrap_err(), TableError::ZeroSpan { .. }));
        assert!(matches!(table(0, 0, vec![vec![span("a", 1, 0)]]).unwrap_err(), TableError::ZeroSpan { .. }));
        assert!(matches!(table(2, 0, vec![vec!["a".into()]]).unwrap_err(), TableError::Headers { .. }));
        let huge = table(0, 0, vec![vec![span("a", 1, usize::MAX)]]);
        assert_eq!(huge.unwrap_err(), TableError::TooLarge);
    }

    #[test]
    fn a_table_of_one_row_and_one_of_100_000_cells_are_tables() {
        assert_eq!(table(1, 1, vec![vec!["a".into(), "b".into()]]).unwrap().cells().len(), 2);
        let rows = (0..1000).map(|_| (0..100).map(|_| CellSource::from("1")).collect()).collect();
        assert_eq!(table(1, 1, rows).unwrap().cells().len(), 100_000);
    }
}
