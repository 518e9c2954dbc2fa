//! The features of all nodes for a question.

mod best;
mod near;
mod query;

use rayon::prelude::*;
use tabsegnet_graph::Node;
use tabsegnet_lexical::LexicalIndex;

use best::{Best, Bm25, Distinct};
use near::Near;
pub use query::QueryFeatures;

use crate::compare::{Column, Comparison, QueryWords};
use crate::config::FeaturesConfig;
use crate::marks::{Numbers, Order};
use crate::phrases::Phrases;
use crate::question::{EncodedQuery, QueryVectors, Question};
use crate::rows::all_rows;
use crate::strings::Strings;
use crate::vectors::{dot, inverse, normalised, products};
use crate::{context, coverage, marks, places, query as kinds, segments, spans, table_relevance, tables};

/// BM25 is told by tens.
const BM25_UNIT: f32 = 10.0;

/// What of a document's features no question changes.
#[derive(Debug, Clone)]
pub struct DocumentFeatures {
    config: FeaturesConfig,
    count: usize,
    strings: Strings,
    distinct: Distinct,
    /// `[nodes, places]`
    places: Vec<f32>,
    /// `[nodes, tables]`
    tables: Vec<f32>,
    /// `[nodes, sentences]` and `[nodes, cells]`
    marks: [Vec<f32>; 2],
    /// `[tables, table_relevance]`
    table_relevance: Vec<f32>,
    context_index: Option<ContextIndex>,
    spans: Option<spans::Spans>,
    /// Of the nodes' texts with their headers, and without.
    indices: Option<[LexicalIndex; 2]>,
    /// `[words, d_word]`, of length 1.
    words: Vec<f32>,
    /// Vectors of the compared strings, of length 1: each string's row, and the rows.
    rows: Vec<Option<u32>>,
    vectors: Vec<f32>,
    /// 1 / length of each node's vector.
    scales: Vec<f32>,
    d_enc: usize,
    /// For each node the number of its text, and one of its kind and its headers' paths; empty without phrases.
    duplicates: [Vec<u32>; 2],
}

/// What a document's texts say of a question, before vectors are known of it ([`DocumentFeatures::read`]).
pub struct Reading {
    /// Of each distinct string; no cosines.
    compared: Vec<Comparison>,
    bm25: Option<Bm25>,
    near: Option<Near>,
    segments: Vec<segments::Segment>,
    spans: Option<spans::QuerySpan>,
    kinds: [f32; kinds::NAMES.len()],
}

/// What phrases and context are made of.
#[derive(Debug, Clone)]
struct ContextIndex {
    phrases: Phrases,
    order: Order,
    lines: context::Lines,
}

impl DocumentFeatures {
    /// Of a document's `nodes`, its `strings`, the encoder's vectors of the nodes `[nodes, d_enc]` and
    /// of the compared strings `[compared, d_enc]`, and those of the words `[words, d_word]`. The
    /// last two may be empty where `config` has neither cosines nor fits of tables, and no similar
    /// words.
    pub fn new(
        config: FeaturesConfig,
        nodes: &[Node],
        strings: Strings,
        node_vectors: &[f32],
        compared: &[f32],
        word_vectors: &[f32],
    ) -> Self {
        let d_enc = node_vectors.len() / nodes.len().max(1);
        let mut rows = vec![None; strings.len()];
        for (row, &string) in (0..).zip(strings.compared_numbers()) {
            rows[string as usize] = (!compared.is_empty()).then_some(row);
        }
        let unit = normalised(node_vectors, d_enc);
        let vectors = normalised(compared, d_enc);
        let node_vector = |node: usize| &unit[node * d_enc..(node + 1) * d_enc];
        let string_vector = |string: u32| match rows[string as usize] {
            Some(row) => &vectors[row as usize * d_enc..(row as usize + 1) * d_enc],
            None => &[],
        };
        let fits = match config.tables {
            true => tables::tables(nodes, &strings, &node_vector, &string_vector),
            false => Vec::new(),
        };
        let index =
            |text: &dyn Fn(usize) -> u32| LexicalIndex::new((0..nodes.len()).map(|node| strings.text(text(node))));
        let indices =
            config.bm25.then(|| [index(&|node| strings.nodes[node].parts[0]), index(&|node| strings.nodes[node].bare)]);
        let words = match config.similar_words {
            true => normalised(word_vectors, word_vectors.len() / strings.words().len().max(1)),
            false => Vec::new(),
        };
        let context_index = config.needs_context().then(|| {
            let order = Order::new(nodes, &strings);
            ContextIndex {
                phrases: Phrases::new(nodes, &strings),
                lines: context::Lines::new(nodes, &strings, &order),
                order,
            }
        });
        let numbers = (config.marks || config.table_relevance).then(|| Numbers::new(nodes, &strings));
        let (mut marks, mut table_relevance) = ([Vec::new(), Vec::new()], Vec::new());
        if let (Some(ContextIndex { phrases, order, .. }), Some(numbers)) = (&context_index, &numbers) {
            if config.marks {
                marks = [
                    marks::sentences(nodes, &strings, order, numbers, phrases),
                    marks::cells(nodes, &strings, order, phrases),
                ];
            }
            if config.table_relevance {
                table_relevance = table_relevance::table_relevance(&table_relevance::View {
                    nodes,
                    strings: &strings,
                    phrases,
                    order,
                    numbers,
                    node_vector: &node_vector,
                    string_vector: &string_vector,
                });
            }
        }
        let spans = context_index.as_ref().filter(|_| config.spans);
        let spans = spans.map(|ContextIndex { phrases, order, .. }| spans::Spans::new(nodes, &strings, phrases, order));
        let duplicates = match &context_index {
            Some(ContextIndex { phrases, .. }) => {
                [strings.nodes.iter().map(|node| node.bare).collect(), phrases.paths(nodes)]
            }
            None => [Vec::new(), Vec::new()],
        };
        Self {
            config,
            duplicates,
            marks,
            table_relevance,
            context_index,
            spans,
            count: config.count(),
            places: if config.places { places::places(nodes, &strings) } else { Vec::new() },
            tables: fits,
            indices,
            words,
            scales: node_vectors.chunks_exact(d_enc.max(1)).map(|vector| inverse(dot(vector, vector))).collect(),
            rows,
            vectors,
            d_enc,
            distinct: Distinct::new(&strings),
            strings,
        }
    }

    /// What each table has in common with the document's sentences, `[tables, TableScorer::FEATURES]`; empty
    /// where it is not wanted.
    pub fn table_relevance(&self) -> &[f32] {
        &self.table_relevance
    }

    /// The table of each node, from 0 by first node; none of passages.
    pub fn tables(&self) -> &[Option<u32>] {
        &self.strings.table
    }

    /// Features a node.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The features `[nodes, count]` for a question, of the document whose node vectors are
    /// `node_vectors` `[nodes, d_enc]`. `tables` are the scores of its tables
    /// ([`crate::TableScorer::scores`]), empty where they are not wanted.
    pub fn ask(&self, query: &EncodedQuery<'_>, node_vectors: &[f32], tables: &[f32]) -> Vec<f32> {
        let EncodedQuery { question, words, segments, vectors } = *query;
        let products = match self.compares_nodes() {
            true => products(node_vectors, &vectors.all()),
            false => Vec::new(),
        };
        let reading = self.read(question, words, segments);
        all_rows(&self.query(&reading, &vectors, &products, tables), self.count)
    }

    /// Whether the vectors of whole nodes are compared with the question's.
    fn compares_nodes(&self) -> bool {
        self.config.cosine || self.config.context || self.compares_segments()
    }

    fn compares_segments(&self) -> bool {
        self.config.segments && self.context_index.is_some()
    }

    /// What the document's texts say of a question: all that no vector of the ranker's encoder is needed for, so that it can
    /// be worked out while those are. `words` `[words, d_word]` are the vectors of the question's words.
    pub fn read(&self, question: &Question, words: &[f32], segments: &[Question]) -> Reading {
        let Self { config, strings, .. } = self;
        let compared = || {
            let words = match config.similar_words {
                true => normalised(words, words.len() / question.words().len().max(1)),
                false => Vec::new(),
            };
            QueryWords::new(question, strings, &self.words, &words).compare(strings)
        };
        let bm25 = || self.indices.as_ref().map(|indices| Bm25::of(indices, question, strings));
        let near = || {
            let context_index = self.context_index.as_ref().filter(|_| config.phrases || config.context)?;
            Some(Near::of(context_index, strings, question, *config))
        };
        let of_segments = || match &self.context_index {
            Some(context_index) if config.segments => {
                segments.par_iter().map(|segment| segments::Segment::of(segment, &context_index.phrases)).collect()
            }
            _ => Vec::new(),
        };
        let ((compared, bm25), (near, segments)) =
            rayon::join(|| rayon::join(compared, bm25), || rayon::join(near, of_segments));
        let spans = self.spans.as_ref().map(|spans| spans.ask(question));
        Reading { compared, bm25, near, segments, spans, kinds: kinds::kinds(question) }
    }

    /// [`DocumentFeatures::ask`] of what was read before, row by row. `products` are the nodes' dot products
    /// ([`crate::vectors::products`]) with [`QueryVectors::all`], `[nodes, all]`.
    pub fn query<'a>(
        &'a self,
        reading: &'a Reading,
        vectors: &QueryVectors<'_>,
        products: &[f32],
        tables: &'a [f32],
    ) -> QueryFeatures<'a> {
        let Self { config, strings, .. } = self;
        let Reading { compared, near, segments: of_segments, .. } = reading;
        let nodes = strings.nodes.len();
        let width = products.len() / nodes.max(1);
        let cosine = Column::Cosine as usize;
        let scale = inverse(dot(vectors.q, vectors.q));
        let cosines: Vec<f32> = match config.cosine || config.context {
            true => products.chunks(width.max(1)).zip(&self.scales).map(|(of, own)| of[0] * scale * own).collect(),
            false => Vec::new(),
        };
        let mut compared = compared.clone();
        if config.cosine {
            compared.par_iter_mut().zip(&self.rows).with_min_len(256).for_each(|(comparison, row)| {
                if let Some(row) = row {
                    let row = *row as usize;
                    comparison[cosine] =
                        dot(&self.vectors[row * self.d_enc..(row + 1) * self.d_enc], vectors.q) * scale;
                }
            });
        }
        let columns = config.columns();
        let relative: Vec<usize> =
            columns.iter().filter(|column| column.is_relative()).map(|column| *column as usize).collect();
        let columns: Vec<usize> = columns.into_iter().map(|column| column as usize).collect();
        let best = config.relative.then(|| {
            let of_nodes: &[f32] = if config.cosine { &cosines } else { &[] };
            Best::of(&self.distinct, &compared, of_nodes)
        });
        let context = match (near, &self.context_index) {
            (Some(near), Some(context_index)) => near.context(context_index, strings, &cosines),
            _ => Vec::new(),
        };
        let of_segments = match &self.context_index {
            Some(context_index) if config.segments => {
                let scales: Vec<f32> =
                    vectors.segments.chunks_exact(self.d_enc.max(1)).map(|s| inverse(dot(s, s))).collect();
                // The last products are those with the segments.
                let first = width.saturating_sub(scales.len());
                segments::segments(
                    &context_index.phrases,
                    &of_segments[..of_segments.len().min(scales.len())],
                    |node, segment| products[node * width + first + segment] * scales[segment] * self.scales[node],
                )
            }
            _ => Vec::new(),
        };
        QueryFeatures {
            document: self,
            reading,
            tables,
            compared,
            cosines: if config.cosine { cosines } else { Vec::new() },
            best,
            context,
            of_segments,
            columns,
            relative,
        }
    }
}

/// A question and the document that it is put to.
#[derive(Debug, Clone, Copy)]
pub struct DocumentQuery<'a> {
    /// The document.
    pub document: &'a DocumentFeatures,
    /// The question.
    pub question: &'a Question,
    /// Its segments.
    pub segments: &'a [Question],
}

impl<'a> DocumentQuery<'a> {
    /// What nodes, best first, hold of the question and its segments beside those before them, `[order, COVERAGE]`
    /// ([`crate::COVERAGE`]); zeros where the document has no phrases, which it is told from.
    pub fn coverage(&self, order: &[u32]) -> Vec<f32> {
        let DocumentFeatures { context_index, strings, .. } = self.document;
        match context_index {
            Some(ContextIndex { phrases, .. }) => {
                coverage::coverage(phrases, &strings.table, self.question, self.segments, order)
            }
            None => vec![0.0; order.len() * coverage::NAMES.len()],
        }
    }

    /// For each node the number of its text, and one of its kind and its headers' paths, 0 without any: nodes with the
    /// same number say the same. Empty where the document has no phrases.
    pub fn duplicates(&self) -> [&'a [u32]; 2] {
        self.document.duplicates.each_ref().map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests;
