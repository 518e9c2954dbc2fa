//! What sentences and table cells look like, whatever the question: sentences that announce a table,
//! totals, opening and closing balances, percentages.

use std::collections::HashSet;

use tabsegnet_graph::{Node, NodeKind, TablePlace};

use crate::numbers::{Unit, Written};
use crate::order::{SENTENCE, View};
use crate::phrases::Phrase;
use crate::schema::flag;

/// What announces a table.
const ANNOUNCING: [&str; 8] =
    ["following", "as follows", "below", "in millions", "in thousands", "summar", "table presents", "table shows"];

crate::features! {
    /// Of a sentence.
    pub(crate) struct SentenceMarks(view: &View<'_>, sentence: &Sentence<'_>) {
        colon: flag(ends_in_colon(sentence.text)),
        announces: flag(announces(sentence.text)),
        before_table: flag(view.nodes.get(sentence.node + 1).is_some_and(|next| next.kind == NodeKind::Caption)),
        after_table: flag(sentence.node > 0 && view.strings.table[sentence.node - 1].is_some()),
        numbers: (sentence.numbers.len() as f32).ln_1p(),
        percents: sentence.text.matches('%').count() as f32,
        dollars: sentence.text.matches('$').count() as f32,
        blank: flag(sentence.text.len() < SENTENCE),
        numbers_of_table: sentence.most_in_table,
        share_of_table: sentence.most_in_table / sentence.distinctive.max(1) as f32,
        large_units: sentence.numbers.iter().filter(|number| number.unit == Unit::Large).count() as f32,
        place: sentence.place as f32 / view.order.passages.len() as f32,
        density: sentence.distinctive as f32 / sentence.text.split_whitespace().count().max(1) as f32,
        years: view.phrases.years_of(sentence.node).len() as f32,
    }
}

/// A sentence and its numbers.
pub(crate) struct Sentence<'a> {
    node: usize,
    /// Its number among the sentences.
    place: usize,
    text: &'a str,
    numbers: &'a [Written],
    /// How many of its numbers are distinctive, and how many of those the table holds that holds most.
    distinctive: usize,
    most_in_table: f32,
}

impl<'a> Sentence<'a> {
    fn new(view: &View<'a>, place: usize, node: usize) -> Self {
        let numbers = view.numbers.of_node[node].as_slice();
        let distinctive: Vec<&str> =
            numbers.iter().filter(|number| number.is_distinctive()).map(|number| number.digits.as_str()).collect();
        let held = |table: &HashSet<String>| distinctive.iter().filter(|number| table.contains(**number)).count();
        let most_in_table = view.numbers.of_table.iter().map(held).max().unwrap_or_default() as f32;
        let text = view.nodes[node].text.as_str();
        Self { node, place, text, numbers, distinctive: distinctive.len(), most_in_table }
    }
}

crate::features! {
    /// Of a node of a table.
    pub(crate) struct CellMarks(cell: &Cell<'_>) {
        total_row: flag(cell.row.contains("total")),
        total_column: flag(cell.column.contains("total")),
        starts_with_total: flag(cell.row.starts_with("total")),
        opening: cell.row_has(&["balance", "beginning", "opening"]),
        closing: cell.row_has(&["end", "ending"]),
        net: cell.row_has(&["net"]),
        no_row: flag(cell.row.trim().is_empty()),
        years_from_last: cell.years_from_last().map_or(-1.0, |years| years as f32 / 5.0),
        years_of_table: cell.table_years.len() as f32 / 5.0,
        columns_from_last: cell.cols.saturating_sub(cell.place.col + 1) as f32 / 5.0,
        rows_from_last: cell.rows.saturating_sub(cell.place.row + 1) as f32 / 10.0,
        percent: flag(cell.text.contains('%')),
        dollar: flag(cell.text.contains('$')),
        digit: flag(cell.text.contains(|c: char| c.is_ascii_digit())),
        // What some conversions make of dashes among them (U+2013, U+2014).
        dash: flag(matches!(cell.text, "" | "-" | "–" | "—" | "2013" | "2014")),
        announced: flag(cell.announced),
        year_in_row: flag(cell.years.iter().any(|year| cell.row_phrase.years.contains(year))),
        words_of_row: cell.row_phrase.stems.len() as f32,
        words_of_column: cell.column_phrase.stems.len() as f32,
    }
}

/// A node of a table, and what its headers and its table hold.
pub(crate) struct Cell<'a> {
    text: &'a str,
    place: &'a TablePlace,
    /// Rows and columns of its table.
    rows: usize,
    cols: usize,
    /// The paths of its headers, in lower case.
    row: String,
    column: String,
    row_phrase: &'a Phrase,
    column_phrase: &'a Phrase,
    years: Vec<u16>,
    table_years: &'a [u16],
    /// The sentence before its table ends in a colon.
    announced: bool,
}

impl<'a> Cell<'a> {
    fn new(view: &View<'a>, number: usize, node: &'a Node) -> Option<Self> {
        let View { strings, phrases, order, nodes, .. } = *view;
        let (table, place) = (strings.table_of(number)?, node.place.as_ref()?);
        let paths = strings.nodes[number].parts;
        let path = |string: u32| match node.kind {
            NodeKind::Cell | NodeKind::RowHeader | NodeKind::ColumnHeader => strings.text(string).to_lowercase(),
            _ => String::new(),
        };
        let [row_phrase, column_phrase] = phrases.paths_of(number);
        let ([before, _], (rows, cols)) = (order.near[table], order.size[table]);
        Some(Self {
            text: node.text.trim(),
            place,
            rows,
            cols,
            row: path(paths.row),
            column: path(paths.column),
            row_phrase,
            column_phrase,
            years: phrases.years_of(number),
            table_years: &phrases.table_years[table],
            announced: before.is_some_and(|sentence| ends_in_colon(&nodes[sentence].text)),
        })
    }

    fn row_has(&self, words: &[&str]) -> f32 {
        flag(self.row.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word)))
    }

    /// How many years of the table are after its own last one.
    fn years_from_last(&self) -> Option<usize> {
        let last = self.years.last()?;
        self.table_years.iter().rev().position(|year| year == last)
    }
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

/// `[nodes]`; zeros where there is no sentence.
pub(crate) fn sentences(view: &View<'_>) -> Vec<SentenceMarks> {
    let mut marks = vec![SentenceMarks::default(); view.nodes.len()];
    for (place, &node) in view.order.passages.iter().enumerate() {
        marks[node] = SentenceMarks::of(view, &Sentence::new(view, place, node));
    }
    marks
}

/// `[nodes]`; zeros outside tables.
pub(crate) fn cells(view: &View<'_>) -> Vec<CellMarks> {
    let cells = view.nodes.iter().enumerate().map(|(number, node)| Cell::new(view, number, node));
    cells.map(|cell| cell.map_or_else(CellMarks::default, |cell| CellMarks::of(&cell))).collect()
}
