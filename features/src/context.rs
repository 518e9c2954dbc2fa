//! What stands around a node: the sentence before its table, its table as a whole, its row and column.

use rayon::prelude::*;
use tabsegnet_data::graph::Node;

use crate::marks::Order;
use crate::phrases::{Asked, Phrases};
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

/// What [`write`] looks at.
pub(crate) struct Sight<'a> {
    pub(crate) strings: &'a Strings,
    pub(crate) phrases: &'a Phrases,
    pub(crate) order: &'a Order,
    pub(crate) lines: &'a Lines,
    pub(crate) asked: &'a Asked,
    /// `[nodes]`: cosine of node and question.
    pub(crate) cosine: &'a [f32],
    /// `[nodes]`: shares of the question's stems in the headers, and in row and column paths.
    pub(crate) shares: &'a [[f32; 3]],
    /// `[nodes]`: the share of a row path's stems that the question has.
    pub(crate) row_text: &'a [f32],
}

/// `[nodes, 21]`
pub(crate) fn context(sight: &Sight<'_>) -> Vec<[f32; NAMES.len()]> {
    let Sight { strings, phrases, order, asked, shares, .. } = *sight;
    let nodes = strings.table.len();
    let cosine = |node: usize| sight.cosine[node];
    let mut out = vec![[0.0; NAMES.len()]; nodes];
    let held: Vec<u64> =
        (0..nodes).into_par_iter().with_min_len(256).map(|node| asked.of_node(phrases, node).stems).collect();

    let mut of_table = vec![0_u64; strings.tables];
    for (held, table) in held.iter().zip(&strings.table) {
        if let Some(table) = table {
            of_table[*table as usize] |= held;
        }
    }
    out.par_iter_mut().with_min_len(256).enumerate().for_each(|(node, out)| {
        if let Some(table) = strings.table[node].map(|table| table as usize) {
            let [before, after] = order.near[table];
            let around = before.map_or(0, |sentence| held[sentence]) | held[order.ends[table].0];
            out[0] = asked.share(held[node] | around);
            out[3] = asked.share(of_table[table]);
            out[5] = before.map_or(0.0, cosine);
            out[6] = before.map_or(0.0, |sentence| shares[sentence][0]);
            out[9] = after.map_or(0.0, cosine);
        }
        out[16] = (shares[node][1] + WITHOUT) * (shares[node][2] + WITHOUT);
        out[20] = asked.greatest(held[node]) / 5.0;
    });
    for (from, to) in [(0, 1), (16, 17)] {
        within_tables(&mut out, strings, from, to);
    }
    let best = |out: &[[f32; NAMES.len()]], at: usize| out.iter().map(|row| row[at]).fold(f32::NEG_INFINITY, f32::max);
    let greatest = best(&out, 0);
    out.iter_mut().for_each(|row| row[2] = row[0] - greatest);
    let union = best(&out, 3);
    out.iter_mut().for_each(|row| row[4] = row[3] - union);
    for (from, to) in [(5, 7), (6, 8), (9, 10)] {
        let of_tables = out.iter().zip(&strings.table).filter(|(_, table)| table.is_some());
        let best = of_tables.map(|(row, _)| row[from]).fold(f32::NEG_INFINITY, f32::max);
        for (row, _) in out.iter_mut().zip(&strings.table).filter(|(_, table)| table.is_some()) {
            row[to] = row[from] - best;
        }
    }
    sentences(&mut out, order, &cosine);
    ranks(&mut out, 14, &|node| shares[node][0]);
    ranks(&mut out, 15, &|node| sight.row_text[node]);
    lines(&mut out, sight.lines, &cosine);
    out
}

/// A value less the greatest of the node's table, or of all sentences.
fn within_tables(out: &mut [[f32; NAMES.len()]], strings: &Strings, from: usize, to: usize) {
    let group = |node: usize| strings.table[node].map_or(strings.tables, |table| table as usize);
    let mut best = vec![f32::NEG_INFINITY; strings.tables + 1];
    for (node, row) in out.iter().enumerate() {
        best[group(node)] = best[group(node)].max(row[from]);
    }
    for (node, row) in out.iter_mut().enumerate() {
        row[to] = row[from] - best[group(node)];
    }
}

fn sentences(out: &mut [[f32; NAMES.len()]], order: &Order, cosine: &dyn Fn(usize) -> f32) {
    let best = order.passages.iter().map(|&node| cosine(node)).fold(f32::NEG_INFINITY, f32::max);
    for (place, &node) in order.passages.iter().enumerate() {
        let at =
            |place: Option<usize>| place.and_then(|place| order.passages.get(place)).map_or(0.0, |&node| cosine(node));
        out[node][11] = at(place.checked_sub(1));
        out[node][12] = at(Some(place + 1));
        out[node][13] = cosine(node) - best;
    }
}

/// Ranks of the nodes by falling key, from 0 to 1; equal ones in document order.
fn ranks(out: &mut [[f32; NAMES.len()]], at: usize, key: &dyn Fn(usize) -> f32) {
    let mut order: Vec<(f32, usize)> = (0..out.len()).map(|node| (key(node), node)).collect();
    order.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let count = out.len() as f32;
    for (rank, (_, node)) in order.into_iter().enumerate() {
        out[node][at] = rank as f32 / count;
    }
}

/// The greatest cosine of a node's row, and of its column.
fn lines(out: &mut [[f32; NAMES.len()]], lines: &Lines, cosine: &dyn Fn(usize) -> f32) {
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
