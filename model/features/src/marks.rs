//! What sentences and table cells look like, whatever the question: sentences that announce a table,
//! totals, opening and closing balances, percentages.

use std::collections::HashSet;

use tabsegnet_graph::{Node, NodeKind};

use crate::numbers::{Unit, Written, numbers};
use crate::phrases::Phrases;
use crate::strings::Strings;

pub(crate) const SENTENCES: [&str; 14] = [
    "colon",
    "announces",
    "before_table",
    "after_table",
    "numbers",
    "percents",
    "dollars",
    "blank",
    "numbers_of_table",
    "share_of_table",
    "large_units",
    "place",
    "density",
    "years",
];

pub(crate) const CELLS: [&str; 19] = [
    "total_row",
    "total_column",
    "starts_with_total",
    "opening",
    "closing",
    "net",
    "no_row",
    "years_from_last",
    "years_of_table",
    "columns_from_last",
    "rows_from_last",
    "percent",
    "dollar",
    "digit",
    "dash",
    "announced",
    "year_in_row",
    "words_of_row",
    "words_of_column",
];

/// A sentence of less is a number of a page or a broken piece.
const SENTENCE: usize = 4;
/// What announces a table.
const ANNOUNCING: [&str; 8] =
    ["following", "as follows", "below", "in millions", "in thousands", "summar", "table presents", "table shows"];

/// Where the sentences and tables of a document stand, by node.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) passages: Vec<usize>,
    /// The first and the last node of each table.
    pub(crate) ends: Vec<(usize, usize)>,
    /// The nearest sentence before each table and after it.
    pub(crate) near: Vec<[Option<usize>; 2]>,
    /// Rows and columns of each table.
    pub(crate) size: Vec<(usize, usize)>,
}

impl Order {
    pub(crate) fn new(nodes: &[Node], strings: &Strings) -> Self {
        let passages: Vec<usize> = (0..nodes.len()).filter(|&node| strings.table[node].is_none()).collect();
        let mut ends: Vec<Option<(usize, usize)>> = vec![None; strings.tables];
        let mut size = vec![(1, 1); strings.tables];
        for (number, (node, table)) in nodes.iter().zip(&strings.table).enumerate() {
            let (Some(table), Some(place)) = (table.map(|table| table as usize), &node.place) else { continue };
            ends[table] = Some((ends[table].map_or(number, |(first, _)| first), number));
            let (rows, cols) = &mut size[table];
            (*rows, *cols) = ((*rows).max(place.row + place.rowspan), (*cols).max(place.col + place.colspan));
        }
        let ends: Vec<(usize, usize)> = ends.into_iter().map(Option::unwrap_or_default).collect();
        let is_sentence = |&&node: &&usize| nodes[node].text.len() >= SENTENCE;
        let near = |&(first, last): &(usize, usize)| {
            let place = passages.partition_point(|&node| node < first);
            let before = passages[..place].iter().rev().find(is_sentence).copied();
            let after = passages[place..].iter().filter(|&&node| node > last).find(is_sentence).copied();
            [before, after]
        };
        Self { near: ends.iter().map(near).collect(), passages, ends, size }
    }
}

/// The numbers of each sentence and cell that tell something, and how many numbers there are.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    /// Of each node; empty for captions and headers.
    pub(crate) of_node: Vec<Vec<Written>>,
    /// Of the cells of each table, those that tell something.
    pub(crate) of_table: Vec<HashSet<String>>,
}

impl Numbers {
    pub(crate) fn new(nodes: &[Node], strings: &Strings) -> Self {
        let read = |node: &Node| match node.kind {
            NodeKind::Passage | NodeKind::Cell => numbers(&node.text),
            _ => Vec::new(),
        };
        let of_node: Vec<Vec<Written>> = nodes.iter().map(read).collect();
        let mut of_table = vec![HashSet::new(); strings.tables];
        for (own, table) in of_node.iter().zip(&strings.table) {
            if let Some(table) = table {
                let mentioned = own.iter().filter(|number| number.tells()).map(|number| number.digits.clone());
                of_table[*table as usize].extend(mentioned);
            }
        }
        Self { of_node, of_table }
    }
}

/// 1 of what holds, else 0.
#[inline]
pub(crate) fn flag(flag: bool) -> f32 {
    f32::from(u8::from(flag))
}

/// Whether a sentence ends in a colon.
pub(crate) fn ends_in_colon(text: &str) -> bool {
    text.trim_end_matches([' ', '.']).ends_with(':')
}

/// Whether a sentence announces a table.
pub(crate) fn announces(text: &str) -> bool {
    let lower = text.to_lowercase();
    ANNOUNCING.iter().any(|words| lower.contains(words))
}

/// `[nodes, 14]`: [`SENTENCES`]; 0 elsewhere.
pub(crate) fn sentences(
    nodes: &[Node],
    strings: &Strings,
    order: &Order,
    numbers: &Numbers,
    phrases: &Phrases,
) -> Vec<f32> {
    let mut values = vec![0.0; nodes.len() * SENTENCES.len()];
    for (place, &node) in order.passages.iter().enumerate() {
        let text = nodes[node].text.as_str();
        let own = &numbers.of_node[node];
        let mentioned: Vec<&str> =
            own.iter().filter(|number| number.tells()).map(|number| number.digits.as_str()).collect();
        let held = |table: &HashSet<String>| mentioned.iter().filter(|number| table.contains(**number)).count();
        let most = numbers.of_table.iter().map(held).max().unwrap_or_default() as f32;
        let lower = text.to_lowercase();
        let count = |what: &str| lower.matches(what).count() as f32;
        let follows_table = node > 0 && strings.table[node - 1].is_some();
        let out = &mut values[node * SENTENCES.len()..(node + 1) * SENTENCES.len()];
        out.copy_from_slice(&[
            flag(ends_in_colon(text)),
            flag(announces(text)),
            flag(nodes.get(node + 1).is_some_and(|next| next.kind == NodeKind::Caption)),
            flag(follows_table),
            (own.len() as f32).ln_1p(),
            count("%"),
            count("$"),
            flag(text.len() < SENTENCE),
            most,
            most / mentioned.len().max(1) as f32,
            own.iter().filter(|number| number.unit == Unit::Large).count() as f32,
            place as f32 / order.passages.len() as f32,
            mentioned.len() as f32 / text.split_whitespace().count().max(1) as f32,
            phrases.years_of(node).len() as f32,
        ]);
    }
    values
}

/// `[nodes, 19]`: [`CELLS`] of all nodes of tables; 0 elsewhere.
pub(crate) fn cells(nodes: &[Node], strings: &Strings, order: &Order, phrases: &Phrases) -> Vec<f32> {
    let mut values = vec![0.0; nodes.len() * CELLS.len()];
    for ((number, node), out) in nodes.iter().enumerate().zip(values.chunks_exact_mut(CELLS.len())) {
        let (Some(table), Some(place)) = (strings.table[number].map(|table| table as usize), &node.place) else {
            continue;
        };
        let [row, column] = match node.kind {
            NodeKind::Cell | NodeKind::RowHeader | NodeKind::ColumnHeader => [1, 2],
            _ => [0, 0],
        }
        .map(|part| {
            if part == 0 { String::new() } else { strings.text(strings.nodes[number].parts[part]).to_lowercase() }
        });
        let of_row = |words: &[&str]| flag(row.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word)));
        let (years, of_table) = (phrases.years_of(number), &phrases.table_years[table]);
        let from_last = years.last().and_then(|last| of_table.iter().rev().position(|year| year == last));
        let [of_row_phrase, of_column_phrase] = phrases.paths_of(number);
        let (rows, cols) = order.size[table];
        let announced = order.near[table][0].is_some_and(|sentence| ends_in_colon(&nodes[sentence].text));
        let text = node.text.trim();
        out.copy_from_slice(&[
            flag(row.contains("total")),
            flag(column.contains("total")),
            flag(row.starts_with("total")),
            of_row(&["balance", "beginning", "opening"]),
            of_row(&["end", "ending"]),
            of_row(&["net"]),
            flag(row.trim().is_empty()),
            from_last.map_or(-1.0, |place| place as f32 / 5.0),
            of_table.len() as f32 / 5.0,
            cols.saturating_sub(place.col + 1) as f32 / 5.0,
            rows.saturating_sub(place.row + 1) as f32 / 10.0,
            flag(text.contains('%')),
            flag(text.contains('$')),
            flag(text.contains(|c: char| c.is_ascii_digit())),
            flag(matches!(text, "" | "-" | "–" | "—" | "2013" | "2014")),
            flag(announced),
            flag(years.iter().any(|year| of_row_phrase.years.contains(year))),
            of_row_phrase.stems.len() as f32,
            of_column_phrase.stems.len() as f32,
        ]);
    }
    values
}
