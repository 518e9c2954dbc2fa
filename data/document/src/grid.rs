//! A table as a reader found it: cells on a grid, with the markup that tells headers from data.

use crate::headers::names_scale;
use crate::kind::Kind;
use crate::model::{CellSource, Table, TableError, TableSource};

/// A cell on its way from a file to the grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RawCell {
    pub text: String,
    pub rowspan: usize,
    pub colspan: usize,
    pub style: Style,
    /// Indices of the tagged numbers in it.
    pub facts: Vec<usize>,
    /// What it holds, where its text shows less of it.
    pub stored: Option<Stored>,
}

/// A number of which a format shows a part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    /// With all its digits.
    pub text: String,
    /// As it is shown in full, where the format shows thousands or millions of it.
    pub in_full: Option<String>,
}

impl RawCell {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), rowspan: 1, colspan: 1, ..Self::default() }
    }
}

/// What a file says about a cell's look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Style {
    /// The file says that it is a header of its column or its row.
    pub header: bool,
    /// All of its text is bold.
    pub bold: bool,
    /// Space before its text; the unit is the file's own, only the order counts.
    pub indent: f32,
}

/// A cell at its place; a merged cell by its top-left position.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GridCell {
    pub row: usize,
    pub col: usize,
    pub rowspan: usize,
    pub colspan: usize,
    pub text: String,
    pub kind: Kind,
    pub style: Style,
    pub facts: Vec<usize>,
    pub stored: Option<Stored>,
}

impl GridCell {
    pub fn new(row: usize, col: usize, cell: RawCell) -> Self {
        let RawCell { text, rowspan, colspan, style, facts, stored } = cell;
        Self { row, col, rowspan, colspan, kind: Kind::of(&text), text, style, facts, stored }
    }

    pub fn is_empty(&self) -> bool {
        self.kind == Kind::Empty
    }
}

/// Cells that tile `rows × cols` positions without gap or overlap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    pub rows: usize,
    pub cols: usize,
    /// By row, then column.
    pub cells: Vec<GridCell>,
    /// The cell that covers each position, row-major.
    owner: Vec<u32>,
}

const FREE: u32 = u32::MAX;

impl Grid {
    /// Lays rows of cells out as HTML does: a cell takes the next free position of its row; where
    /// a span reaches into a cell that is there already, or out of the table, it is cut.
    /// Positions that no cell covers become empty cells. Rows and columns beyond the bounds are
    /// cut; the second value says where that happened: after how many rows of how many.
    pub fn place(rows: Vec<Vec<RawCell>>, max_cells: usize) -> (Self, Option<(usize, usize)>) {
        let (cols, narrowed) = width(&rows, max_cells);
        let fit = max_cells.checked_div(cols).unwrap_or(0).min(rows.len());
        let cut = (narrowed || fit < rows.len()).then_some((fit, rows.len()));
        let mut grid = Self { rows: fit, cols, cells: Vec::new(), owner: vec![FREE; fit * cols] };
        for (row, line) in rows.into_iter().take(fit).enumerate() {
            let mut col = 0;
            for cell in line {
                while col < cols && grid.owner[row * cols + col] != FREE {
                    col += 1;
                }
                if col >= cols {
                    break;
                }
                let wanted = cell.colspan.clamp(1, cols - col);
                let free = (0..wanted).take_while(|&c| grid.owner[row * cols + col + c] == FREE).count();
                col += grid.put(row, col, free.max(1), cell);
            }
        }
        grid.fill();
        (grid, cut)
    }

    /// Puts a cell at a free position and gives the columns it covers.
    fn put(&mut self, row: usize, col: usize, colspan: usize, cell: RawCell) -> usize {
        let wanted = cell.rowspan.clamp(1, self.rows - row);
        let free_row = |r: &usize| self.owner[r * self.cols + col..][..colspan].iter().all(|&o| o == FREE);
        let rowspan = (row..row + wanted).take_while(free_row).count().max(1);
        let index = self.cells.len() as u32;
        for r in row..row + rowspan {
            self.owner[r * self.cols + col..][..colspan].fill(index);
        }
        self.cells.push(GridCell::new(row, col, RawCell { rowspan, colspan, ..cell }));
        colspan
    }

    /// Empty cells where there is none, and all cells in order of their place.
    fn fill(&mut self) {
        for position in 0..self.owner.len() {
            if self.owner[position] == FREE {
                self.put(position / self.cols, position % self.cols, 1, RawCell::new(""));
            }
        }
        let mut order: Vec<u32> = (0..self.cells.len() as u32).collect();
        order.sort_by_key(|&index| (self.cells[index as usize].row, self.cells[index as usize].col));
        let mut rank = vec![0; order.len()];
        for (to, &from) in order.iter().enumerate() {
            rank[from as usize] = to as u32;
        }
        self.cells.sort_by_key(|cell| (cell.row, cell.col));
        for owner in &mut self.owner {
            *owner = rank[*owner as usize];
        }
    }

    /// From cells whose places are known. A cell that begins on an earlier one is dropped, one that
    /// reaches into it is cut.
    pub fn from_cells(rows: usize, cols: usize, cells: Vec<GridCell>) -> Self {
        let mut grid = Self { rows, cols, cells: Vec::with_capacity(cells.len()), owner: vec![FREE; rows * cols] };
        for GridCell { row, col, rowspan, colspan, text, style, facts, stored, .. } in cells {
            let free = |c: &usize| grid.owner.get(row * cols + c) == Some(&FREE);
            let colspan = (col..(col + colspan).min(cols)).take_while(free).count();
            if row < rows && colspan > 0 {
                grid.put(row, col, colspan, RawCell { text, rowspan, colspan, style, facts, stored });
            }
        }
        grid.fill();
        grid
    }

    /// Takes the leading rows off that hold one text and nothing beside it, where a table remains
    /// below: they are its title. Gives their cells.
    pub fn take_titles(&mut self) -> Vec<GridCell> {
        let is_title = |row: usize| {
            let mut filled = self.filled(row);
            let only = filled.next().filter(|_| filled.next().is_none());
            only.is_some_and(|cell| cell.row == row && cell.col == 0 && cell.rowspan == 1 && cell.kind == Kind::Text)
        };
        let titles = (0..self.rows).take_while(|&row| is_title(row)).count();
        // "Assets" over a balance sheet without column headers is no title of it.
        let mut values_below =
            titles < self.rows && self.filled(titles).any(|cell| cell.col > 0 && cell.kind.is_value());
        if titles == 1 && self.filled(0).all(|cell| crate::headers::is_unit_line(&cell.text)) {
            values_below = false;
        }
        if titles == 0 || titles == self.rows || values_below {
            return Vec::new();
        }
        let (taken, mut rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.cells).into_iter().partition(|cell| cell.row < titles);
        rest.iter_mut().for_each(|cell| cell.row -= titles);
        *self = Self::from_cells(self.rows - titles, self.cols, rest);
        taken.into_iter().filter(|cell| !cell.is_empty()).collect()
    }

    /// Where a name in the first of several header columns holds for the rows below it too, until
    /// the next name or a row without names, makes it one cell with the blanks below it.
    pub fn fill_stubs(&mut self, header_rows: usize, header_cols: usize) {
        for col in 0..header_cols.saturating_sub(1) {
            let mut above: Option<u32> = None;
            for row in header_rows..self.rows {
                let index = self.owner[row * self.cols + col];
                let cell = &self.cells[index as usize];
                let single = cell.row == row && cell.rowspan == 1 && cell.colspan == 1;
                let named_beside = !self.at(row, col + 1).is_empty();
                match above {
                    Some(above) if cell.is_empty() && single && named_beside => {
                        self.owner[row * self.cols + col] = above;
                        self.cells[above as usize].rowspan += 1;
                        self.cells[index as usize].rowspan = 0;
                    }
                    _ => above = (single && !cell.is_empty() && named_beside).then_some(index),
                }
            }
        }
        if self.cells.iter().any(|cell| cell.rowspan == 0) {
            let cells = std::mem::take(&mut self.cells).into_iter().filter(|cell| cell.rowspan > 0).collect();
            *self = Self::from_cells(self.rows, self.cols, cells);
        }
    }

    /// Lets the title of a row that has nothing else span the row.
    pub fn widen_titles(&mut self, rows: impl Iterator<Item = usize>) {
        let mut widened = false;
        for row in rows {
            let index = self.owner[row * self.cols] as usize;
            let free = (1..self.cols).all(|col| {
                let cell = self.at(row, col);
                (cell.is_empty() || std::ptr::eq(cell, &self.cells[index])) && cell.row == row && cell.rowspan == 1
            });
            let title = &mut self.cells[index];
            if free && title.row == row && title.rowspan == 1 && !title.is_empty() && title.colspan < self.cols {
                title.colspan = self.cols;
                widened = true;
            }
        }
        if widened {
            // The wide cells come first in their rows; the blanks they cover are dropped.
            *self = Self::from_cells(self.rows, self.cols, std::mem::take(&mut self.cells));
        }
    }

    /// The cell that covers a position; the position must be inside.
    pub fn at(&self, row: usize, col: usize) -> &GridCell {
        &self.cells[self.owner[row * self.cols + col] as usize]
    }

    /// The cells that cover a row's positions, each once, from the left.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &GridCell> {
        let owner = &self.owner[row * self.cols..(row + 1) * self.cols];
        (0..self.cols)
            .filter(move |&col| col == 0 || owner[col] != owner[col - 1])
            .map(move |col| &self.cells[owner[col] as usize])
    }

    /// The cells of a row that have a text.
    pub fn filled(&self, row: usize) -> impl Iterator<Item = &GridCell> {
        self.row(row).filter(|cell| !cell.is_empty())
    }

    /// Shows in full what is shown in thousands or millions, where neither the caption nor a header says so.
    pub fn show_in_full(&mut self, caption: &str, header_rows: usize) {
        let says = |cell: &GridCell| names_scale(&cell.text);
        if names_scale(caption) || (0..header_rows.min(self.rows)).any(|row| self.row(row).any(says)) {
            return;
        }
        let of_rows: Vec<bool> = (0..self.rows).map(|row| self.row(row).any(says)).collect();
        for cell in self.cells.iter_mut().filter(|cell| !of_rows.get(cell.row).is_some_and(|says| *says)) {
            if let Some(in_full) = cell.stored.as_mut().and_then(|stored| stored.in_full.take()) {
                cell.text = in_full;
            }
        }
    }

    /// The table of the document model.
    pub fn into_table(
        self,
        number: usize,
        caption: String,
        (header_rows, header_cols): (usize, usize),
        row_parents: Vec<Option<usize>>,
    ) -> Result<Table, TableError> {
        let mut rows: Vec<Vec<CellSource>> = (0..self.rows).map(|_| Vec::new()).collect();
        let mut stored = Vec::new();
        for (index, cell) in self.cells.into_iter().enumerate() {
            stored.extend(cell.stored.map(|of| (index, of.text)));
            rows[cell.row].push(CellSource { text: cell.text, rowspan: cell.rowspan, colspan: cell.colspan });
        }
        let table = Table::new(TableSource { number, caption, header_rows, header_cols, rows, row_parents })?;
        Ok(table.with_stored(stored))
    }
}

/// The number of columns, and whether it had to be cut. The last cell of a row counts as one column:
/// what it spans beyond every other row holds nothing, and pages write `colspan="99"` off as well.
fn width(rows: &[Vec<RawCell>], max_cells: usize) -> (usize, bool) {
    // Columns that earlier rows' cells still cover: (until row, columns).
    let mut reaching: Vec<(usize, usize)> = Vec::new();
    let mut cols = 0;
    for (row, line) in rows.iter().enumerate() {
        reaching.retain(|&(until, _)| until > row);
        let mut full = reaching.iter().fold(0usize, |sum, &(_, cols)| sum.saturating_add(cols));
        for (index, cell) in line.iter().enumerate() {
            let colspan = cell.colspan.clamp(1, MAX_COLSPAN);
            full = full.saturating_add(if index + 1 < line.len() { colspan } else { 1 });
            if cell.rowspan > 1 {
                reaching.push((row.saturating_add(cell.rowspan), colspan));
            }
        }
        cols = cols.max(full);
    }
    (cols.min(max_cells), cols > max_cells)
}

/// The widest colspan HTML knows.
const MAX_COLSPAN: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(text: &str, rowspan: usize, colspan: usize) -> RawCell {
        RawCell { rowspan, colspan, ..RawCell::new(text) }
    }

    #[test]
    fn spans_are_cut_where_they_do_not_fit() {
        let rows = vec![
            vec![span("a", 2, 1), span("b", 1, 1_000_000_000)],
            vec![span("c", 9, 1), span("d", 1, 1)],
            vec![span("e", 1, 1)],
        ];
        let (grid, cut) = Grid::place(rows, 1000);
        assert_eq!((grid.rows, grid.cols, cut), (3, 3, None));
        assert_eq!(
            (grid.at(0, 2).text.as_str(), grid.at(1, 0).text.as_str(), grid.at(2, 1).text.as_str()),
            ("b", "a", "c")
        );
        assert!(grid.at(2, 2).is_empty());
    }

    proptest! {
        /// Each position belongs to one cell, and a cell to exactly the positions it says.
        #[test]
        fn every_position_is_covered_once(
            rows in prop::collection::vec(prop::collection::vec((0usize..5, 0usize..6), 0..6), 0..8),
            max_cells in 1usize..200,
        ) {
            let rows = rows.into_iter().map(|row| row.into_iter().map(|(r, c)| span("x", r, c)).collect()).collect();
            let (grid, _) = Grid::place(rows, max_cells);
            prop_assert!(grid.rows * grid.cols <= max_cells);
            let covered: usize = grid.cells.iter().map(|cell| cell.rowspan * cell.colspan).sum();
            prop_assert_eq!(covered, grid.rows * grid.cols);
            for cell in &grid.cells {
                for (row, col) in (cell.row..cell.row + cell.rowspan).flat_map(|r| (cell.col..cell.col + cell.colspan).map(move |c| (r, c))) {
                    prop_assert_eq!(grid.at(row, col), cell);
                }
            }
            if grid.rows * grid.cols > 0 {
                prop_assert!(grid.into_table(0, String::new(), (0, 0), Vec::new()).is_ok());
            }
        }
    }
}
