//! Which rows and columns of a grid are headers, and which rows stand under which.
//!
//! Markup decides where there is any (`th`, `thead`); else spans, types and emptiness: a header
//! row has words or years where the rows below have numbers, a header column has words where the
//! columns beside it have numbers. Rows that hold nothing but a title are the outer header level
//! of the rows below them.

mod columns;
mod outline;
mod rows;

use crate::grid::Grid;

/// What was inferred, and from what.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Headers {
    pub rows: usize,
    pub cols: usize,
    /// Empty, or one entry a row.
    pub parents: Vec<Option<usize>>,
    /// For people: one clause for the rows, one for the columns, one for outer levels.
    pub why: String,
}

/// What is known beforehand: said by the user, or by the format.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    pub rows: Option<usize>,
    pub cols: Option<usize>,
}

impl Headers {
    /// Lets a total behind a blank row stand beside the group above that row and not in it: `Total assets` below the non-current
    /// ones. `rows` are the places of the rows in their sheet.
    pub fn end_groups(&mut self, grid: &Grid, rows: &[u32]) {
        for row in 0..self.parents.len().min(rows.len()) {
            let is_total = grid.at(row, 0).text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("total"));
            while is_total
                && let Some(parent) = self.parents[row]
                && rows[parent..=row].windows(2).any(|two| two[1] > two[0] + 1)
            {
                self.parents[row] = self.parents[parent];
            }
        }
    }
}

/// Infers what is not known.
pub(crate) fn infer(grid: &Grid, known: Known) -> Headers {
    let (rows, why_rows) = match known.rows {
        Some(rows) => (rows.min(grid.rows), "given"),
        None => rows::infer(grid),
    };
    let (cols, why_cols) = match known.cols {
        Some(cols) => (cols.min(grid.cols), "given"),
        None => columns::infer(grid, rows),
    };
    // In a single column every row is a title.
    let mut parents = if grid.cols > 1 { outline::infer(grid, rows) } else { Vec::new() };
    without_names_beside(grid, cols, &mut parents);
    let under = parents.iter().flatten().count();
    let mut why = format!("header rows: {why_rows}; header columns: {why_cols}");
    if under > 0 {
        why += &format!("; {under} rows stand under a title row");
    }
    Headers { rows, cols, parents, why }
}

/// Where the first of several header columns names a group of rows, a row of the group stands under that name and not
/// under what the group's first row has beside it: of `Humira | United States` and below it ` | Total` the total is that of
/// Humira.
fn without_names_beside(grid: &Grid, cols: usize, parents: &mut [Option<usize>]) {
    for row in 0..parents.len() {
        let names =
            |row: usize| (0..cols).filter(move |&col| !grid.at(row, col).is_empty() && grid.at(row, col).row == row);
        let blank = names(row).next().is_some_and(|first| first > 0);
        while blank
            && let Some(parent) = parents[row]
            && names(parent).any(|col| col == 0)
            && names(parent).count() > 1
        {
            parents[row] = parents[parent];
        }
    }
}

/// A corner that says what the numbers are counted in.
pub(crate) fn unit_in_corner(grid: &Grid, header_rows: usize) -> Option<&str> {
    (0..header_rows.min(grid.rows)).map(|row| grid.at(row, 0).text.as_str()).find(|text| is_unit_line(text))
}

/// What the first row below the headers says the numbers are counted in, where it says nothing else.
pub(crate) fn unit_below(grid: &Grid, header_rows: usize) -> Option<&str> {
    if header_rows >= grid.rows {
        return None;
    }
    let mut texts = (0..grid.cols).map(|col| grid.at(header_rows, col).text.as_str()).filter(|text| !text.is_empty());
    // A name may stand before it that heads the rows below: `Inventories: | (In millions)`.
    let unit = texts.find(|text| is_unit_line(text))?;
    let name = (!is_unit_line(&grid.at(header_rows, 0).text)).then_some(grid.at(header_rows, 0).text.as_str());
    let mut all = (0..grid.cols).map(|col| grid.at(header_rows, col).text.as_str());
    all.all(|text| text.is_empty() || text == unit || Some(text) == name).then_some(unit)
}

/// Whether the headers of any column say what its numbers are counted in.
pub(crate) fn has_unit(grid: &Grid, header_rows: usize) -> bool {
    let header_rows = 0..header_rows.min(grid.rows);
    header_rows.into_iter().any(|row| (0..grid.cols).any(|col| names_unit(&grid.at(row, col).text)))
}

/// Whether a text of any length says what numbers are counted in.
pub(crate) fn names_unit(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["million", "thousand", "billion", "in percent", "in dollars", "percentage"].iter().any(|unit| lower.contains(unit))
}

/// Whether a text of any length says that numbers are shown in thousands, millions or billions: `Sales (£000)` too.
pub(crate) fn names_scale(text: &str) -> bool {
    let lower = text.to_lowercase();
    let zeros = |(at, _): (usize, &str)| !lower[..at].ends_with(|c: char| c.is_ascii_digit() || c == ',' || c == '.');
    ["million", "thousand", "billion"].iter().any(|scale| lower.contains(scale))
        || lower.match_indices("000").any(zeros)
        || is_scale_alone(&lower)
}

/// `(In millions, except par value)`, `Dollars in thousands`.
pub(crate) fn is_unit_line(text: &str) -> bool {
    let lower = text.to_lowercase();
    text.len() <= 160
        && ["in millions", "in thousands", "in billions", "in percent", "in dollars", "$ million", "($000", "unaudited"]
            .iter()
            .any(|unit| lower.contains(unit))
        || is_scale_alone(&lower)
}

/// A line of nothing but a scale, with what is counted: `USD million`, `(£ thousand)`, `€m`, `Amounts in £'000`.
fn is_scale_alone(lower: &str) -> bool {
    const SCALES: &str = "thousand thousands million millions billion billions m mn mm bn k 000 000s '000 ’000";
    const COUNTED: &str = "$ us$ £ € ¥ usd eur gbp chf sek nok dkk jpy cny aud cad dollars euros pounds amounts";
    const BETWEEN: &str = "in of all figures are values";
    let is_of = |words: &str, word: &str| words.split_whitespace().any(|of| of == word);
    let words = lower.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';' | ':' | '.'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let glued = |word: &str| {
        let mut scales = COUNTED.split_whitespace().filter_map(|counted| word.strip_prefix(counted));
        scales.any(|scale| is_of(SCALES, scale))
    };
    let is_scale = |word: &&str| is_of(SCALES, word) && word.len() > 1 || glued(word);
    let is_money = |word: &&str| is_of(COUNTED, word) || glued(word);
    let is_known = |word: &&str| is_scale(word) || is_money(word) || is_of(BETWEEN, word);
    (1..=6).contains(&words.len())
        && words.iter().any(is_scale)
        && words.iter().any(is_money)
        && words.iter().all(is_known)
}

#[cfg(test)]
mod tests;
