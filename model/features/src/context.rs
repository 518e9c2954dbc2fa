//! What stands around a node: the sentence before its table, its table as a whole, its row and column.

use rayon::prelude::*;
use tabsegnet_graph::Node;

use crate::marks::Order;
use crate::phrases::{Phrases, QueryPhrases, Shared};
use crate::strings::Strings;

pub(crate) const NAMES: [&str; 21] = [
    "with_sentence",
    "with_sentence.of_table",
    "with_sentence.of_document",
    "table",
    "table.of_tables",
    "before.cosine",
    "before.stems",
    "before.cosine.of_tables",
    "before.stems.of_tables",
    "after.cosine",
    "after.cosine.of_tables",
    "previous.cosine",
    "next.cosine",
    "cosine.of_sentences",
    "rank_of_headers",
    "rank_of_row",
    "row_and_column",
    "row_and_column.of_table",
    "row.cosine",
    "column.cosine",
    "rarest",
];

/// Of a node.
pub(crate) type Row = [f32; NAMES.len()];

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

/// What it looks at of a document.
pub(crate) struct View<'a> {
    pub(crate) strings: &'a Strings,
    pub(crate) phrases: &'a Phrases,
    pub(crate) order: &'a Order,
    pub(crate) lines: &'a Lines,
}

/// What texts say, `[nodes, 21]`, those of the vectors left at 0. `shared` `[nodes]` is what the question has of a
/// node's headers, row and column paths.
pub(crate) fn of_texts(view: &View<'_>, query: &QueryPhrases, shared: &[Shared]) -> Vec<Row> {
    let View { strings, phrases, order, .. } = *view;
    let nodes = strings.table.len();
    // The share of the question's stems in the headers, the row path or the column path.
    let share = |node: usize, part: usize| shared[node][part][0];
    let mut out: Vec<Row> = vec![[0.0; NAMES.len()]; nodes];
    let held: Vec<u64> =
        (0..nodes).into_par_iter().with_min_len(256).map(|node| query.of_node(phrases, node).stems).collect();

    let mut of_table = vec![0_u64; strings.tables];
    for (held, table) in held.iter().zip(&strings.table) {
        if let Some(table) = table {
            of_table[*table as usize] |= held;
        }
    }
    out.par_iter_mut().with_min_len(256).enumerate().for_each(|(node, out)| {
        if let Some(table) = strings.table[node].map(|table| table as usize) {
            let [before, _] = order.near[table];
            let context_index = before.map_or(0, |sentence| held[sentence]) | held[order.ends[table].0];
            out[0] = query.share(held[node] | context_index);
            out[3] = query.share(of_table[table]);
            out[6] = before.map_or(0.0, |sentence| share(sentence, 0));
        }
        out[16] = (share(node, 1) + WITHOUT) * (share(node, 2) + WITHOUT);
        out[20] = query.greatest(held[node]) / 5.0;
    });
    for (from, to) in [(0, 1), (16, 17)] {
        within_tables(&mut out, strings, from, to);
    }
    for (from, to) in [(0, 2), (3, 4)] {
        let greatest = out.iter().map(|row| row[from]).fold(f32::NEG_INFINITY, f32::max);
        out.iter_mut().for_each(|row| row[to] = row[from] - greatest);
    }
    among_tables(&mut out, strings, 6, 8);
    let (headers, rows) = rayon::join(
        || ranks(shared.iter().map(|shared| shared[0][0])),
        // By the share of the row path's stems that the question has.
        || ranks(shared.iter().map(|shared| shared[1][1])),
    );
    out.iter_mut()
        .zip(headers.iter().zip(&rows))
        .for_each(|(out, (headers, rows))| (out[14], out[15]) = (*headers, *rows));
    out
}

/// Puts what vectors say into `out` `[nodes, 21]`; `cosines` `[nodes]` are those of node and question.
pub(crate) fn add_vectors(view: &View<'_>, cosines: &[f32], out: &mut [Row]) {
    let View { strings, order, .. } = *view;
    let cosine = |node: usize| cosines[node];
    for (table, out) in strings.table.iter().zip(&mut *out) {
        if let Some(table) = table {
            let [before, after] = order.near[*table as usize];
            (out[5], out[9]) = (before.map_or(0.0, cosine), after.map_or(0.0, cosine));
        }
    }
    for (from, to) in [(5, 7), (9, 10)] {
        among_tables(out, strings, from, to);
    }
    sentences(out, order, &cosine);
    lines(out, view.lines, &cosine);
}

/// A value less the greatest of all tables' nodes.
fn among_tables(out: &mut [Row], strings: &Strings, from: usize, to: usize) {
    let of_tables = out.iter().zip(&strings.table).filter(|(_, table)| table.is_some());
    let best = of_tables.map(|(row, _)| row[from]).fold(f32::NEG_INFINITY, f32::max);
    for (row, _) in out.iter_mut().zip(&strings.table).filter(|(_, table)| table.is_some()) {
        row[to] = row[from] - best;
    }
}

/// A value less the greatest of the node's table, or of all sentences.
fn within_tables(out: &mut [Row], strings: &Strings, from: usize, to: usize) {
    let group = |node: usize| strings.table[node].map_or(strings.tables, |table| table as usize);
    let mut best = vec![f32::NEG_INFINITY; strings.tables + 1];
    for (node, row) in out.iter().enumerate() {
        best[group(node)] = best[group(node)].max(row[from]);
    }
    for (node, row) in out.iter_mut().enumerate() {
        row[to] = row[from] - best[group(node)];
    }
}

fn sentences(out: &mut [Row], order: &Order, cosine: &dyn Fn(usize) -> f32) {
    let best = order.passages.iter().map(|&node| cosine(node)).fold(f32::NEG_INFINITY, f32::max);
    for (place, &node) in order.passages.iter().enumerate() {
        let at =
            |place: Option<usize>| place.and_then(|place| order.passages.get(place)).map_or(0.0, |&node| cosine(node));
        out[node][11] = at(place.checked_sub(1));
        out[node][12] = at(Some(place + 1));
        out[node][13] = cosine(node) - best;
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
fn lines(out: &mut [Row], lines: &Lines, cosine: &dyn Fn(usize) -> f32) {
    let mut best = vec![f32::NEG_INFINITY; lines.count];
    for (node, own) in lines.of_node.iter().enumerate() {
        for &line in own.iter().flatten() {
            best[line as usize] = best[line as usize].max(cosine(node));
        }
    }
    for (own, out) in lines.of_node.iter().zip(out) {
        if let Some([row, column]) = own {
            (out[18], out[19]) = (best[*row as usize], best[*column as usize]);
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
