//! What the numbers in a table's cells say of each other, whatever the question: which cells hold one, which hold the same,
//! which are sums of others.

use std::collections::HashMap;
use std::hash::Hash;

use tabsegnet_data::graph::{Node, NodeKind, TablePlace};
use tabsegnet_data::numbers::parse_cell_number;

/// Numbers of a node, in order. Shares are of the cells of its row or column; −1 stands where a node has no such thing.
/// "Above" and "below" go along the column, "beside" along the row.
pub(crate) const NAMES: [&str; 13] = [
    "number",
    "numbers_of_row",
    "numbers_of_column",
    "hundred",
    "hundreds_of_row",
    "numbers_as_headers",
    "parts_above",
    "part_of_sum_below",
    "parts_beside",
    "part_of_sum_beside",
    "total_in_table",
    "sum_in_column",
    "sum_in_row",
];

/// Of a node outside tables.
const OUTSIDE: [f32; NAMES.len()] = [-1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0];

/// Numbers before one in its line that are tried as its parts, each a bit of a number.
const MOST_PARTS: usize = u64::BITS as usize;

/// What performance graphs begin with.
const HUNDRED: f64 = 100.0;

/// A number as a cell shows it.
#[derive(Debug, Clone, Copy)]
struct Amount {
    value: f64,
    decimals: i32,
}

impl Amount {
    /// Nothing of dashes, which are 0 elsewhere.
    fn of(text: &str) -> Option<Self> {
        let value = parse_cell_number(text).filter(|value| value.is_finite())?;
        let first = text.find(|c: char| c.is_ascii_digit())?;
        let shown = &text[first..];
        let whole = shown.find(|c: char| !(c.is_ascii_digit() || c == ',')).unwrap_or(shown.len());
        let decimals = shown[whole..]
            .strip_prefix('.')
            .map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count().min(12) as i32);
        Some(Self { value, decimals })
    }

    fn is_year(self) -> bool {
        self.value.fract() == 0.0 && (1950.0..2050.0).contains(&self.value)
    }

    /// Whether it is the sum of so many numbers, each rounded as it is.
    fn is_sum(self, sum: f64, parts: usize) -> bool {
        (sum - self.value).abs() <= 0.51 * 0.1_f64.powi(self.decimals) * parts.min(4) as f64
    }
}

/// Which cells are sums of others of their column, or of their row.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// By the part.
    of: HashMap<u32, u32>,
    /// By the sum.
    parts: HashMap<u32, Vec<u32>>,
}

impl Sums {
    /// The sum that a node is part of, the first after it.
    pub fn of(&self, node: u32) -> Option<u32> {
        self.of.get(&node).copied()
    }

    /// The parts of a node, none where it is no sum.
    pub fn parts(&self, node: u32) -> &[u32] {
        self.parts.get(&node).map_or(&[], Vec::as_slice)
    }

    fn insert(&mut self, sum: u32, parts: Vec<u32>) {
        for part in &parts {
            self.of.entry(*part).or_insert(sum);
        }
        self.parts.insert(sum, parts);
    }
}

/// A cell with what it shows.
#[derive(Debug, Clone, Copy)]
struct Shown {
    node: u32,
    row: usize,
    col: usize,
    amount: Option<Amount>,
}

impl Shown {
    /// What may be a sum or a part of one.
    fn addend(&self) -> Option<Amount> {
        self.amount.filter(|amount| !amount.is_year())
    }
}

/// What the cells of a row or a column show.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    cells: usize,
    numbers: usize,
    hundreds: usize,
    has_sum: bool,
}

impl Line {
    fn share(&self) -> f32 {
        if self.cells == 0 { -1.0 } else { self.numbers as f32 / self.cells as f32 }
    }
}

/// The numbers of a document's tables.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    /// `[nodes, NAMES]`
    pub(crate) rows: Vec<f32>,
    /// For each node a number of its amount, whatever the sign, in its table, and in its row; 0 without one.
    pub(crate) same: [Vec<u32>; 2],
    /// Along columns and along rows.
    pub(crate) sums: [Sums; 2],
}

impl Values {
    pub(crate) fn new(nodes: &[Node]) -> Self {
        let mut values = Self {
            rows: OUTSIDE.repeat(nodes.len()),
            same: [vec![0; nodes.len()], vec![0; nodes.len()]],
            sums: [Sums::default(), Sums::default()],
        };
        let table = |node: &Node| node.place.as_ref().map(|place| place.table);
        let mut first = 0;
        let mut named = 0;
        for nodes in nodes.chunk_by(|a, b| table(a) == table(b)) {
            if nodes.first().and_then(table).is_some() {
                values.table(first, nodes, &mut named);
            }
            first += nodes.len();
        }
        values
    }

    /// Of the nodes of a table, the `first` of them by its number.
    fn table(&mut self, first: usize, nodes: &[Node], named: &mut u32) {
        let placed = || (first..).zip(nodes).filter_map(|(at, node)| Some((at, node, node.place.as_ref()?)));
        let mut cells: Vec<Shown> = placed()
            .filter(|(_, node, _)| node.kind == NodeKind::Cell)
            .map(|(at, node, place)| Shown {
                node: at as u32,
                row: place.row,
                col: place.col,
                amount: Amount::of(&node.text),
            })
            .collect();
        let bits = |cell: &Shown| cell.amount.map(|amount| amount.value.abs().to_bits());
        same(&mut self.same[0], named, &cells, |cell| bits(cell));
        same(&mut self.same[1], named, &cells, |cell| Some((cell.row, bits(cell)?)));

        cells.sort_unstable_by_key(|cell| (cell.row, cell.col));
        let mut rows: HashMap<usize, Line> = HashMap::new();
        for line in cells.chunk_by(|a, b| a.row == b.row) {
            rows.insert(line[0].row, Line::of(line, &mut self.sums[1], true));
        }
        cells.sort_unstable_by_key(|cell| (cell.col, cell.row));
        let mut columns: HashMap<usize, Line> = HashMap::new();
        for line in cells.chunk_by(|a, b| a.col == b.col) {
            columns.insert(line[0].col, Line::of(line, &mut self.sums[0], false));
        }
        let shown: HashMap<u32, Option<Amount>> = cells.iter().map(|cell| (cell.node, cell.amount)).collect();

        let headers = || nodes.iter().filter(|node| node.kind == NodeKind::ColumnHeader);
        let amounts = headers().filter(|node| Amount::of(&node.text).is_some_and(|amount| !amount.is_year())).count();
        let as_headers = amounts as f32 / headers().count().max(1) as f32;
        let has_total = nodes.iter().any(|node| node.kind == NodeKind::RowHeader && names_a_total(&node.text));
        for (at, node, place) in placed() {
            let (row, column) = (line(&rows, node, place, true), line(&columns, node, place, false));
            let amount = shown.get(&(at as u32)).copied().flatten();
            let [down, across] = &self.sums;
            let parts = |sums: &Sums| sums.parts(at as u32).len() as f32;
            let is_part = |sums: &Sums| flag(sums.of(at as u32).is_some());
            self.rows[at * NAMES.len()..(at + 1) * NAMES.len()].copy_from_slice(&[
                if node.kind == NodeKind::Cell { flag(amount.is_some()) } else { -1.0 },
                row.map_or(-1.0, |line| line.share()),
                column.map_or(-1.0, |line| line.share()),
                flag(amount.is_some_and(|amount| amount.value.abs() == HUNDRED)),
                row.map_or(0.0, |line| line.hundreds as f32),
                as_headers,
                parts(down),
                is_part(down),
                parts(across),
                is_part(across),
                flag(has_total),
                column.map_or(-1.0, |line| flag(line.has_sum)),
                row.map_or(-1.0, |line| flag(line.has_sum)),
            ]);
        }
    }
}

/// The row or the column that a node is part of; an empty one where it has no cells.
fn line(lines: &HashMap<usize, Line>, node: &Node, place: &TablePlace, is_row: bool) -> Option<Line> {
    let (header, at) = if is_row { (NodeKind::RowHeader, place.row) } else { (NodeKind::ColumnHeader, place.col) };
    (node.kind == NodeKind::Cell || node.kind == header).then(|| lines.get(&at).copied().unwrap_or_default())
}

impl Line {
    /// Of a row's or a column's cells, in order; its sums go to `sums`.
    fn of(cells: &[Shown], sums: &mut Sums, is_row: bool) -> Self {
        let found = find_sums(cells, is_row);
        let line = Self {
            cells: cells.len(),
            numbers: cells.iter().filter(|cell| cell.amount.is_some()).count(),
            hundreds: cells
                .iter()
                .filter(|cell| cell.amount.is_some_and(|amount| amount.value.abs() == HUNDRED))
                .count(),
            has_sum: !found.is_empty(),
        };
        for (sum, parts) in found {
            sums.insert(cells[sum].node, parts.into_iter().map(|part| cells[part].node).collect());
        }
        line
    }
}

/// Which cells of a line are sums of cells before them: of all those right before, or of those but the parts of sums among
/// them. In a row the first may be the sum of all others.
fn find_sums(cells: &[Shown], is_row: bool) -> Vec<(usize, Vec<usize>)> {
    let addends: Vec<Option<Amount>> = cells.iter().map(Shown::addend).collect();
    let mut known: Vec<Vec<usize>> = vec![Vec::new(); cells.len()];
    for at in 0..cells.len() {
        if let Some(parts) = parts(&addends, at, None).or_else(|| parts(&addends, at, Some(&known))) {
            known[at] = parts;
        }
    }
    let others: Vec<usize> = (1..cells.len()).filter(|&at| addends[at].is_some()).collect();
    if let Some(Some(first)) = addends.first()
        && is_row
        && others.len() >= 2
        && first.value != 0.0
        && first.is_sum(others.iter().filter_map(|&at| addends[at]).map(|addend| addend.value).sum(), others.len())
    {
        known[0] = others;
    }
    known.into_iter().enumerate().filter(|(_, parts)| !parts.is_empty()).collect()
}

/// The least parts of a number, nearest first, from those before it; without the parts of `known` sums that are among them.
fn parts(addends: &[Option<Amount>], at: usize, known: Option<&[Vec<usize>]>) -> Option<Vec<usize>> {
    let total = addends[at].filter(|total| total.value != 0.0)?;
    let (mut sum, mut parts) = (0.0, Vec::new());
    // By how far before it they stand: the last bit is the nearest.
    let mut left_out = 0_u64;
    let bit = |other: usize| 1_u64.checked_shl((at - 1 - other) as u32).unwrap_or(0);
    for before in (at.saturating_sub(MOST_PARTS)..at).rev() {
        let Some(addend) = addends[before].filter(|_| left_out & bit(before) == 0) else { continue };
        sum += addend.value;
        parts.push(before);
        if let Some(known) = known {
            left_out |= known[before].iter().fold(0, |set, &part| set | bit(part));
        }
        if parts.len() >= 2 && total.is_sum(sum, parts.len()) {
            return Some(parts);
        }
    }
    None
}

/// Numbers cells by a key from `named` + 1 on.
fn same<K: Hash + Eq>(numbers: &mut [u32], named: &mut u32, cells: &[Shown], key: impl Fn(&Shown) -> Option<K>) {
    let mut known: HashMap<K, u32> = HashMap::new();
    for cell in cells {
        if let Some(key) = key(cell) {
            numbers[cell.node as usize] = *known.entry(key).or_insert_with(|| {
                *named += 1;
                *named
            });
        }
    }
}

/// Whether "total" is a word of a header.
fn names_a_total(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("total"))
}

fn flag(flag: bool) -> f32 {
    f32::from(u8::from(flag))
}

#[cfg(test)]
mod tests;
