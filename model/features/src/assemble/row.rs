//! The features of a question, node by node.

use std::ops::Range;

use super::DocumentFeatures;
use super::best::{Best, Paths};
use super::near::Near;
use crate::bm25::{Bm25, NodeBm25};
use crate::compare::{Column, Comparison};
use crate::context::Context;
use crate::kind::Kind;
use crate::naming::NodeNaming;
use crate::rows::FeatureRows;
use crate::schema::Schema;
use crate::sections::NodeSection;
use crate::segments::NodeSegment;
use crate::spans::TableSpans;
use crate::table_scorer::TableScore;

/// The features of a document's nodes for a question ([`DocumentFeatures::features`]).
pub struct NodeFeatures<'a> {
    pub(super) document: &'a DocumentFeatures,
    pub(super) tables: &'a [TableScore],
    /// Of each distinct string.
    pub(super) compared: Vec<Comparison>,
    /// `[nodes]`, of whole nodes; empty where they are not wanted.
    pub(super) cosines: Vec<f32>,
    pub(super) best: Option<Best>,
    pub(super) bm25: Option<Bm25>,
    pub(super) near: Option<Near>,
    /// `[nodes]`, or empty.
    pub(super) context: Vec<Context>,
    pub(super) segments: Vec<NodeSegment>,
    pub(super) spans: Option<TableSpans>,
    /// `[nodes]`, or empty.
    pub(super) sections: Vec<NodeSection>,
    /// `[nodes]`, or empty.
    pub(super) naming: Vec<NodeNaming>,
    pub(super) kind: Kind,
    /// The columns of a comparison that are wanted, and those of them that are relative too.
    pub(super) columns: Vec<usize>,
    pub(super) relative: Vec<usize>,
}

impl std::fmt::Debug for NodeFeatures<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeFeatures").field("nodes", &self.document.strings.nodes.len()).finish_non_exhaustive()
    }
}

impl FeatureRows for NodeFeatures<'_> {
    fn numbers(&self) -> usize {
        self.document.strings.nodes.len() * self.document.layout.count
    }

    fn write(&self, first: usize, width: usize, out: &mut [f32]) {
        assert_eq!(width, self.document.layout.count, "a document has as many features as its config says");
        (first..).zip(out.chunks_exact_mut(width.max(1))).for_each(|(node, out)| self.write_row(node, out));
    }
}

impl NodeFeatures<'_> {
    /// Every number of `out` is written: there are others in it from before.
    fn write_row(&self, node: usize, out: &mut [f32]) {
        let DocumentFeatures { layout, strings, places, tables, sentences, cells, .. } = self.document;
        let table = strings.table_of(node);
        self.write_comparisons(node, table, out);
        put(out, &layout.bm25, self.bm25.as_ref().map(|bm25| NodeBm25::of(bm25, node, table)));
        put(out, &layout.places, places.get(node).copied());
        put(out, &layout.tables, table.and_then(|table| tables.get(table)).copied());
        if let (false, Some(near), Some(index)) = (layout.phrases.is_empty(), &self.near, &self.document.context_index)
        {
            put(out, &layout.phrases, Some(near.phrases(index, table, node)));
        }
        put(out, &layout.context, self.context.get(node).copied());
        put(out, &layout.sentences, sentences.get(node).copied());
        put(out, &layout.cells, cells.get(node).copied());
        put(out, &layout.kind, Some(self.kind));
        put(out, &layout.table_relevance, table.and_then(|table| self.tables.get(table)).copied());
        put(out, &layout.segments, self.segments.get(node).copied());
        if let (Some(spans), Some(query)) = (&self.document.spans, &self.spans) {
            put(out, &layout.spans, Some(spans.of_node(query, node, table)));
        }
        put(out, &layout.sections, self.sections.get(node).copied());
        put(out, &layout.naming, self.naming.get(node).copied());
    }

    /// In the order of [`crate::compare::parts`] and [`crate::compare::relative`].
    fn write_comparisons(&self, node: usize, table: Option<usize>, out: &mut [f32]) {
        let Self { document: DocumentFeatures { layout, strings, .. }, columns, relative, .. } = self;
        let mut parts = strings.nodes[node].parts.map(|string| self.compared[string as usize]);
        if let Some(own) = self.cosines.get(node) {
            parts.own[Column::Cosine as usize] = *own;
        }
        let blocks = out[layout.parts.clone()].chunks_exact_mut(columns.len().max(1));
        for (part, out) in parts.each_ref().in_order().into_iter().zip(blocks) {
            out.iter_mut().zip(columns).for_each(|(out, &column)| *out = part[column]);
        }
        let Some(best) = &self.best else { return };
        let mut blocks = out[layout.relative.clone()].chunks_exact_mut(relative.len().max(1));
        let mut below = |part: &Comparison, best: &Comparison| {
            let out = blocks.next().unwrap_or_default();
            out.iter_mut().zip(relative).for_each(|(out, &column)| *out = part[column] - best[column]);
        };
        let of_document = best.of_document.each_ref();
        for (part, best) in parts.each_ref().in_order().into_iter().zip(of_document.in_order()) {
            below(part, best);
        }
        match table.map(|table| &best.of_table[table]) {
            Some(Paths { row, column }) => {
                below(&parts.row, row);
                below(&parts.column, column);
                below(row, of_document.row);
            }
            None => blocks.for_each(|out| out.fill(0.0)),
        }
    }
}

/// Writes features in their place, zeros where there are none; nothing where they are not wanted.
#[inline]
fn put(out: &mut [f32], place: &Range<usize>, features: Option<impl Schema>) {
    match (&mut out[place.clone()], features) {
        ([], _) => {}
        (out, Some(features)) => features.write(out),
        (out, None) => out.fill(0.0),
    }
}
