//! A node's context: the sentence before its table, its table as a whole, its row and column.

use rayon::prelude::*;
use tabsegnet_graph::Node;

use crate::order::Order;
use crate::phrases::{Overlap, Paths, PhraseMatches, Phrases};
use crate::strings::Strings;

crate::features! {
    /// [`of_texts`] fills those of texts, [`add_vectors`] the cosines.
    pub(crate) struct Context {
        with_sentence,
        with_sentence_of_table = "with_sentence.of_table",
        with_sentence_of_document = "with_sentence.of_document",
        table,
        table_of_tables = "table.of_tables",
        before_cosine = "before.cosine",
        before_stems = "before.stems",
        before_cosine_of_tables = "before.cosine.of_tables",
        before_stems_of_tables = "before.stems.of_tables",
        after_cosine = "after.cosine",
        after_cosine_of_tables = "after.cosine.of_tables",
        previous_cosine = "previous.cosine",
        next_cosine = "next.cosine",
        cosine_of_sentences = "cosine.of_sentences",
        rank_of_headers,
        rank_of_row,
        row_and_column,
        row_and_column_of_table = "row_and_column.of_table",
        row_cosine = "row.cosine",
        column_cosine = "column.cosine",
        rarest,
    }
}

/// Share of the question that a row or a column counts for without any of its stems.
const WITHOUT: f32 = 0.1;

/// Where nodes with a place in a table share rows and columns: groups by number.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    /// Row and column of each node among all tables'.
    of_node: Vec<Option<[u32; 2]>>,
    count: usize,
}

impl Lines {
    pub(crate) fn new(nodes: &[Node], strings: &Strings, order: &Order) -> Self {
        let mut first = Vec::with_capacity(order.size.len());
        let mut count = 0;
        for (rows, cols) in &order.size {
            first.push(count);
            count += rows + cols;
        }
        let line = |(node, table): (&Node, &Option<u32>)| {
            let (place, table) = (node.place.as_ref()?, table.map(|table| table as usize)?);
            let (rows, _) = order.size[table];
            Some([(first[table] + place.row) as u32, (first[table] + rows + place.col) as u32])
        };
        Self { of_node: nodes.iter().zip(&strings.table).map(line).collect(), count }
    }
}

/// A document as its nodes' context sees it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) strings: &'a Strings,
    pub(crate) phrases: &'a Phrases,
    pub(crate) order: &'a Order,
    pub(crate) lines: &'a Lines,
}

/// The context of each node, the cosines left at 0. `overlaps` `[nodes]` is what the question has in common with a
/// node's headers, row and column paths.
pub(crate) fn of_texts(view: &View<'_>, query: &PhraseMatches, overlaps: &[Paths<Overlap>]) -> Vec<Context> {
    let View { strings, phrases, order, .. } = *view;
    let nodes = strings.table.len();
    let held: Vec<u64> =
        (0..nodes).into_par_iter().with_min_len(256).map(|node| query.of_node(phrases, node).stems).collect();
    let mut of_table = vec![0_u64; strings.tables];
    for (held, table) in held.iter().zip(strings.tables_of_nodes()) {
        if let Some(table) = table {
            of_table[table] |= held;
        }
    }
    let of_node = |node: usize| {
        let Paths { headers: _, row, column } = &overlaps[node];
        let mut out = Context {
            row_and_column: (row.stems_of_question + WITHOUT) * (column.stems_of_question + WITHOUT),
            rarest: query.greatest(held[node]) / 5.0,
            ..Context::default()
        };
        if let Some(table) = strings.table_of(node) {
            let ([before, _], (first, _)) = (order.near[table], order.ends[table]);
            let near = before.map_or(0, |sentence| held[sentence]) | held[first];
            out.with_sentence = query.share(held[node] | near);
            out.table = query.share(of_table[table]);
            out.before_stems = before.map_or(0.0, |sentence| overlaps[sentence].headers.stems_of_question);
        }
        out
    };
    let mut out: Vec<Context> = (0..nodes).into_par_iter().with_min_len(256).map(of_node).collect();
    within_tables(&mut out, strings, |out| (out.with_sentence, &mut out.with_sentence_of_table));
    within_tables(&mut out, strings, |out| (out.row_and_column, &mut out.row_and_column_of_table));
    below_best(&mut out, |_| true, |out| (out.with_sentence, &mut out.with_sentence_of_document));
    below_best(&mut out, |_| true, |out| (out.table, &mut out.table_of_tables));
    let in_table = |node: usize| strings.table[node].is_some();
    below_best(&mut out, in_table, |out| (out.before_stems, &mut out.before_stems_of_tables));
    let (headers, rows) = rayon::join(
        || ranks(overlaps.iter().map(|paths| paths.headers.stems_of_question)),
        || ranks(overlaps.iter().map(|paths| paths.row.stems_of_text)),
    );
    for (out, (headers, row)) in out.iter_mut().zip(headers.into_iter().zip(rows)) {
        (out.rank_of_headers, out.rank_of_row) = (headers, row);
    }
    out
}

/// Puts the cosines into `out` `[nodes]`; `cosines` `[nodes]` are those of node and question.
pub(crate) fn add_vectors(view: &View<'_>, cosines: &[f32], out: &mut [Context]) {
    let View { strings, order, lines, .. } = *view;
    let cosine = |node: usize| cosines[node];
    for (table, out) in strings.tables_of_nodes().zip(&mut *out) {
        if let Some(table) = table {
            let [before, after] = order.near[table];
            (out.before_cosine, out.after_cosine) = (before.map_or(0.0, cosine), after.map_or(0.0, cosine));
        }
    }
    let in_table = |node: usize| strings.table[node].is_some();
    below_best(out, in_table, |out| (out.before_cosine, &mut out.before_cosine_of_tables));
    below_best(out, in_table, |out| (out.after_cosine, &mut out.after_cosine_of_tables));
    sentences(out, order, &cosine);
    in_lines(out, lines, &cosine);
}

/// Writes each value of some nodes less the greatest of them.
fn below_best(out: &mut [Context], of_node: impl Fn(usize) -> bool, of: impl Fn(&mut Context) -> (f32, &mut f32)) {
    let mut best = f32::NEG_INFINITY;
    for (_, out) in out.iter_mut().enumerate().filter(|(node, _)| of_node(*node)) {
        best = best.max(of(out).0);
    }
    for (_, out) in out.iter_mut().enumerate().filter(|(node, _)| of_node(*node)) {
        let (value, out) = of(out);
        *out = value - best;
    }
}

/// Writes each value less the greatest of the node's table, or of all sentences.
fn within_tables(out: &mut [Context], strings: &Strings, of: impl Fn(&mut Context) -> (f32, &mut f32)) {
    let mut best = vec![f32::NEG_INFINITY; strings.tables + 1];
    let group = |table: Option<usize>| table.unwrap_or(strings.tables);
    for (table, out) in strings.tables_of_nodes().zip(&mut *out) {
        let best = &mut best[group(table)];
        *best = best.max(of(out).0);
    }
    for (table, out) in strings.tables_of_nodes().zip(out) {
        let (value, out) = of(out);
        *out = value - best[group(table)];
    }
}

fn sentences(out: &mut [Context], order: &Order, cosine: &dyn Fn(usize) -> f32) {
    let best = order.passages.iter().map(|&node| cosine(node)).fold(f32::NEG_INFINITY, f32::max);
    for (place, &node) in order.passages.iter().enumerate() {
        let at =
            |place: Option<usize>| place.and_then(|place| order.passages.get(place)).map_or(0.0, |&node| cosine(node));
        let out = &mut out[node];
        out.previous_cosine = at(place.checked_sub(1));
        out.next_cosine = at(Some(place + 1));
        out.cosine_of_sentences = cosine(node) - best;
    }
}

/// Ranks of numbers, the greatest first, from 0 to 1; equal ones in their order.
fn ranks(keys: impl Iterator<Item = f32>) -> Vec<f32> {
    // Rising as the numbers fall, below them the place.
    let mut order: Vec<u64> = (0..)
        .zip(keys)
        .map(|(place, key): (u64, f32)| {
            let bits = key.to_bits();
            let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
            u64::from(!rising) << 32 | place
        })
        .collect();
    order.sort_unstable();
    let count = order.len() as f32;
    let mut ranks = vec![0.0; order.len()];
    for (rank, place) in order.into_iter().enumerate() {
        ranks[(place & u64::from(u32::MAX)) as usize] = rank as f32 / count;
    }
    ranks
}

/// The greatest cosine of a node's row, and of its column.
fn in_lines(out: &mut [Context], lines: &Lines, cosine: &dyn Fn(usize) -> f32) {
    let mut best = vec![f32::NEG_INFINITY; lines.count];
    for (node, own) in lines.of_node.iter().enumerate() {
        for &line in own.iter().flatten() {
            best[line as usize] = best[line as usize].max(cosine(node));
        }
    }
    for (own, out) in lines.of_node.iter().zip(out) {
        if let Some([row, column]) = own {
            (out.row_cosine, out.column_cosine) = (best[*row as usize], best[*column as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ranks;

    proptest! {
        #[test]
        fn ranks_fall_with_the_numbers_and_equal_ones_keep_their_order(
            keys in proptest::collection::vec(prop_oneof![Just(0.5_f32), Just(0.0), -2.0..2.0_f32], 0..60),
        ) {
            let ranks = ranks(keys.iter().copied());
            for (a, x) in keys.iter().enumerate() {
                let before = keys.iter().enumerate().filter(|(b, y)| *y > x || (*y == x && *b < a)).count();
                prop_assert_eq!(ranks[a], before as f32 / keys.len() as f32);
            }
        }
    }
}
