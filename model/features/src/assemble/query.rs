//! The features of a question, node by node.

use super::best::Best;
use super::{DocumentFeatures, Reading};
use crate::compare::{Column, Comparison};
use crate::rows::FeatureRows;
use crate::{context, segments, table_scorer};

/// The features of a document's nodes for a question ([`DocumentFeatures::query`]).
pub struct QueryFeatures<'a> {
    pub(super) document: &'a DocumentFeatures,
    pub(super) reading: &'a Reading,
    pub(super) tables: &'a [f32],
    pub(super) compared: Vec<Comparison>,
    /// `[nodes]`, of whole nodes; empty where they are not wanted.
    pub(super) cosines: Vec<f32>,
    pub(super) best: Option<Best>,
    pub(super) context: Vec<context::Row>,
    pub(super) of_segments: Vec<segments::Row>,
    pub(super) columns: Vec<usize>,
    pub(super) relative: Vec<usize>,
}

impl std::fmt::Debug for QueryFeatures<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryFeatures").field("nodes", &self.document.strings.nodes.len()).finish_non_exhaustive()
    }
}

impl FeatureRows for QueryFeatures<'_> {
    fn numbers(&self) -> usize {
        self.document.strings.nodes.len() * self.document.count
    }

    fn write(&self, first: usize, width: usize, out: &mut [f32]) {
        assert_eq!(width, self.document.count, "a document has as many features as its config says");
        (first..).zip(out.chunks_exact_mut(width.max(1))).for_each(|(node, out)| self.write_row(node, out));
    }
}

impl QueryFeatures<'_> {
    /// Every number of `out` is written: there are others in it from before.
    fn write_row(&self, node: usize, out: &mut [f32]) {
        let Self { document, reading, tables, columns, relative, .. } = self;
        let DocumentFeatures { config, strings, .. } = document;
        let nodes = strings.nodes.len();
        let mut out = Out { values: out, at: 0 };
        let mut parts = strings.nodes[node].parts.map(|string| self.compared[string as usize]);
        if let Some(own) = self.cosines.get(node) {
            parts[0][Column::Cosine as usize] = *own;
        }
        for part in &parts {
            out.put(columns, |column| part[column]);
        }
        if let Some(best) = &self.best {
            for (part, best) in parts.iter().zip(&best.of_document) {
                out.put(relative, |column| part[column] - best[column]);
            }
            match strings.table[node].map(|table| &best.of_table[table as usize]) {
                Some(table) => {
                    for (part, best) in parts[1..].iter().zip(table) {
                        out.put(relative, |column| part[column] - best[column]);
                    }
                    out.put(relative, |column| table[0][column] - best.of_document[1][column]);
                }
                None => out.take(3 * relative.len()).fill(0.0),
            }
        }
        if let Some(bm25) = &reading.bm25 {
            bm25.of_node(node, strings).into_iter().for_each(|value| out.push(value));
        }
        let fixed = |out: &mut Out<'_>, values: &[f32]| {
            let width = values.len() / nodes;
            out.take(width).copy_from_slice(&values[node * width..(node + 1) * width]);
        };
        fixed(&mut out, &document.places);
        fixed(&mut out, &document.tables);
        if let (Some(near), Some(context_index)) =
            (&reading.near, document.context_index.as_ref().filter(|_| config.phrases))
        {
            near.write_phrases(context_index, strings.table[node].map(|table| table as usize), node, &mut out);
        }
        if let Some(context) = self.context.get(node) {
            out.take(context.len()).copy_from_slice(context);
        }
        document.marks.iter().for_each(|marks| fixed(&mut out, marks));
        if config.question_kind {
            out.take(reading.kinds.len()).copy_from_slice(&reading.kinds);
        }
        if config.table_relevance {
            let out = out.take(table_scorer::NAMES.len());
            let table = strings.table[node].map(|table| table as usize * table_scorer::NAMES.len());
            match table.and_then(|first| tables.get(first..first + table_scorer::NAMES.len())) {
                Some(scores) => out.copy_from_slice(scores),
                None => out.fill(0.0),
            }
        }
        if let Some(of_segment) = self.of_segments.get(node) {
            out.take(of_segment.len()).copy_from_slice(of_segment);
        }
        if let (Some(spans), Some(query)) = (&document.spans, &reading.spans) {
            let of_node = spans.of_node(query, node, strings.table[node].map(|table| table as usize));
            out.take(of_node.len()).copy_from_slice(&of_node);
        }
    }
}

/// Fills a row from the left.
pub(super) struct Out<'a> {
    values: &'a mut [f32],
    at: usize,
}

impl Out<'_> {
    pub(super) fn push(&mut self, value: f32) {
        self.take(1)[0] = value;
    }

    pub(super) fn put(&mut self, columns: &[usize], value: impl Fn(usize) -> f32) {
        self.take(columns.len()).iter_mut().zip(columns).for_each(|(out, column)| *out = value(*column));
    }

    pub(super) fn take(&mut self, count: usize) -> &mut [f32] {
        self.at += count;
        &mut self.values[self.at - count..self.at]
    }
}
