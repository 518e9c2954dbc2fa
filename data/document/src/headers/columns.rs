//! Header columns.

use crate::grid::{Grid, GridCell};
use crate::kind::{Kind, is_date_in_words};
use crate::numbers::parse_cell_number;

/// How many leading columns are row headers, and why.
pub(super) fn infer(grid: &Grid, header_rows: usize) -> (usize, &'static str) {
    let body = header_rows..grid.rows;
    if grid.cols < 2 || body.is_empty() {
        return (0, "one column only");
    }
    let most = grid.cols - 1;
    let marked = (0..most).take_while(|&col| is_marked(grid, header_rows, col)).count();
    if marked > 0 {
        return (marked, "marked");
    }
    let kinds: Vec<Share> = (0..grid.cols).map(|col| Share::of(grid, header_rows, col)).collect();
    let names = |col: usize| col == 0 || !kinds[col].is_data();
    // A header that spans rows has its children in the next column, unless that holds the numbers.
    let merged = |col: &usize| body.clone().any(|row| is_merged_header(grid.at(row, *col), header_rows));
    let spans = (0..most).take_while(|col| merged(col) && names(*col)).count();
    // Where some column headers have levels, those without stand over the row headers.
    let levelled = header_rows > 1
        && (0..grid.cols).any(|col| grid.at(0, col).colspan > 1 && grid.at(0, col).rowspan < header_rows);
    if levelled && spans == 0 {
        let under_nothing = (0..most).take_while(|&col| stands_under_nothing(grid, header_rows, col)).count();
        if under_nothing > 0 && has_levels(grid.at(0, under_nothing), header_rows) && (0..under_nothing).all(names) {
            return (under_nothing, "columns under no upper header");
        }
    }
    // Counts beside two names or more, such as games played beside season and team, are part of
    // what the row is.
    let plain = |&col: &usize| {
        grid.at(0, col).rowspan >= header_rows
            && grid.at(0, col).colspan == 1
            && (names(col) || (col >= 2 && holds_counts(grid, header_rows, col)))
    };
    let plain = if levelled { (0..most).take_while(plain).count() } else { 0 };
    if spans > 0 {
        return if spans < most && kinds[spans].bare * 2 <= kinds[spans].filled {
            ((spans + 1).max(plain), "merged headers have their children beside them")
        } else {
            (spans.max(plain), "merged headers")
        };
    }
    if plain > 1 {
        return (plain, "column headers without levels");
    }
    if most >= 2 && is_stub(grid, header_rows) {
        return (2, "names in the first column hold for several rows");
    }
    if kinds[0].is_data() {
        // A rank or a number of its own before the name; versions before their dates are named by themselves.
        let named = kinds[1].values * 4 < kinds[1].filled && kinds[1].dates * 2 <= kinds[1].filled && most >= 2;
        return if named && !(levelled && grid.at(0, 1).rowspan < header_rows) {
            (2, "numbered rows")
        } else {
            (1, "the first column")
        };
    }
    (1, "the first column")
}

/// Whether rows without a name in the first column have one in the second, and so have most rows
/// with a name.
fn is_stub(grid: &Grid, header_rows: usize) -> bool {
    let (mut blank, mut blank_named, mut named, mut both) = (0, 0, 0, 0);
    for row in header_rows..grid.rows {
        let (first, second) = (grid.at(row, 0), grid.at(row, 1));
        if grid.filled(row).count() < 2 || first.colspan > 1 {
            continue;
        }
        let text = second.kind == Kind::Text || second.kind == Kind::Year;
        if first.is_empty() {
            blank += 1;
            blank_named += usize::from(text);
        } else {
            named += 1;
            both += usize::from(text);
        }
    }
    blank >= 2 && blank_named * 10 >= blank * 9 && both * 2 > named
}

/// Whether a column has a header of its own in the last header row and none above it.
fn stands_under_nothing(grid: &Grid, header_rows: usize, col: usize) -> bool {
    let (top, last) = (grid.at(0, col), grid.at(header_rows - 1, col));
    matches!(top.kind, Kind::Empty | Kind::Missing) && top.colspan == 1 && !last.is_empty() && last.row > 0
}

fn has_levels(cell: &GridCell, header_rows: usize) -> bool {
    cell.colspan > 1 && cell.rowspan < header_rows && !cell.is_empty()
}

/// Whether the numbers of a column are small and whole.
fn holds_counts(grid: &Grid, header_rows: usize, col: usize) -> bool {
    (header_rows..grid.rows)
        .map(|row| grid.at(row, col))
        .filter(|cell| cell.col == col && cell.kind == Kind::Number)
        .all(|cell| parse_cell_number(&cell.text).is_some_and(|count| count.fract() == 0.0 && count.abs() < 1000.0))
}

fn is_merged_header(cell: &GridCell, header_rows: usize) -> bool {
    cell.row >= header_rows && cell.rowspan > 1 && !cell.is_empty()
}

fn is_marked(grid: &Grid, header_rows: usize, col: usize) -> bool {
    let cells: Vec<_> = (header_rows..grid.rows).map(|row| grid.at(row, col)).filter(|cell| !cell.is_empty()).collect();
    !cells.is_empty() && cells.iter().filter(|cell| cell.style.header).count() * 2 > cells.len()
}

/// What a column's cells below the header rows look like.
struct Share {
    filled: usize,
    values: usize,
    /// Values without a letter: not `200 m`.
    bare: usize,
    /// Years, and dates in numbers or words.
    dates: usize,
}

impl Share {
    /// Whether the column rather holds numbers than names.
    fn is_data(&self) -> bool {
        self.values * 2 > self.filled
    }

    fn of(grid: &Grid, header_rows: usize, col: usize) -> Self {
        let mut share = Self { filled: 0, values: 0, bare: 0, dates: 0 };
        for row in header_rows..grid.rows {
            let cell = grid.at(row, col);
            if cell.col == col && !cell.is_empty() {
                share.filled += 1;
                let is_value = matches!(cell.kind, Kind::Number | Kind::Missing);
                share.values += usize::from(is_value);
                share.bare += usize::from(is_value && !cell.text.contains(char::is_alphabetic));
                share.dates += usize::from(cell.kind == Kind::Year || is_date_in_words(&cell.text));
            }
        }
        share
    }
}
