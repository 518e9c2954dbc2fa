//! The features of all nodes for a question.

mod best;
mod near;
mod row;

use rayon::prelude::*;
use tabsegnet_graph::Node;

use best::{Best, Distinct};
use near::Near;
pub use row::NodeFeatures;

use crate::bm25::{Bm25, Indices};
use crate::compare::{Column, Comparison, WordMatches};
use crate::config::{FeaturesConfig, Layout};
use crate::context;
use crate::coverage::{self, Coverage};
use crate::kind::{Kind, kind};
use crate::marks::{self, CellMarks, SentenceMarks};
use crate::naming::{Naming, NodeNaming};
use crate::numbers::Numbers;
use crate::order::{Order, View, sizes};
use crate::phrases::Phrases;
use crate::places::NodePlace;
use crate::query::{Query, QueryVectors};
use crate::rows::{all_rows, some_rows};
use crate::sections::Sections;
use crate::segments::{Segment, segments};
use crate::spans::{Spans, TableSpans};
use crate::strings::Strings;
use crate::table_relevance::table_inputs;
use crate::table_scorer::TableScore;
use crate::tables::{TableFit, tables};
use crate::vectors::{StringVectors, Vectors, dot, inverse, normalised, products};

/// What of a document's features no question changes.
#[derive(Debug, Clone)]
pub struct DocumentFeatures {
    config: FeaturesConfig,
    layout: Layout,
    strings: Strings,
    distinct: Distinct,
    /// `[nodes]`; these and what follows are empty where their group is off.
    places: Vec<NodePlace>,
    /// `[tables]`
    tables: Vec<TableFit>,
    /// `[nodes]`
    sentences: Vec<SentenceMarks>,
    cells: Vec<CellMarks>,
    /// `[tables, TableScorer::INPUTS]`
    table_inputs: Vec<f32>,
    context_index: Option<ContextIndex>,
    spans: Option<Spans>,
    sections: Option<Sections>,
    naming: Option<Naming>,
    bm25: Option<Indices>,
    /// `[words, d_word]`, of length 1.
    words: Vec<f32>,
    compared: StringVectors,
    /// 1 / length of each node's vector.
    scales: Vec<f32>,
    /// For each node the number of its text, and one of its kind and its headers' paths; empty without phrases.
    duplicates: [Vec<u32>; 2],
}

/// What a document's texts have of a question, before the encoder's vectors of it are known ([`DocumentFeatures::read`]).
pub struct Reading {
    /// Of each distinct string; no cosines.
    compared: Vec<Comparison>,
    bm25: Option<Bm25>,
    near: Option<Near>,
    segments: Vec<Segment>,
    spans: Option<TableSpans>,
    naming: Vec<NodeNaming>,
    kind: Kind,
}

/// What phrases and context come from.
#[derive(Debug, Clone)]
struct ContextIndex {
    phrases: Phrases,
    order: Order,
    lines: context::Lines,
}

impl ContextIndex {
    fn view<'a>(&'a self, strings: &'a Strings) -> context::View<'a> {
        let Self { phrases, order, lines } = self;
        context::View { strings, phrases, order, lines }
    }
}

/// What comes of texts compared with each other.
#[derive(Default)]
struct ComparedTexts {
    index: Option<ContextIndex>,
    sentences: Vec<SentenceMarks>,
    cells: Vec<CellMarks>,
    table_inputs: Vec<f32>,
    spans: Option<Spans>,
    duplicates: [Vec<u32>; 2],
}

impl ComparedTexts {
    fn new(config: FeaturesConfig, nodes: &[Node], strings: &Strings, vectors: &Vectors<'_>) -> Self {
        let order = Order::new(nodes, strings);
        let (phrases, (lines, numbers)) = rayon::join(
            || Phrases::new(nodes, strings),
            || (context::Lines::new(nodes, strings, &order), Numbers::new(nodes, strings)),
        );
        let view = View { nodes, strings, phrases: &phrases, order: &order, numbers: &numbers };
        let ((sentences, cells), (table_inputs, spans)) = rayon::join(
            || (wanted(config.marks, || marks::sentences(&view)), wanted(config.marks, || marks::cells(&view))),
            || {
                (
                    wanted(config.table_relevance, || table_inputs(&view, vectors)),
                    config.spans.then(|| Spans::new(&view)),
                )
            },
        );
        let duplicates = [strings.nodes.iter().map(|node| node.bare).collect(), phrases.paths(nodes)];
        let index = Some(ContextIndex { phrases, order, lines });
        Self { index, sentences, cells, table_inputs, spans, duplicates }
    }
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
        let compared = StringVectors::new(compared, d_enc, strings.compared_numbers(), strings.len());
        let vectors = Vectors { nodes: node_vectors, strings: &compared };
        let of_words = || normalised(word_vectors, word_vectors.len() / strings.words().len().max(1));
        let places = || {
            let sizes = sizes(nodes, &strings);
            let of_node = |(node, table): (&Node, Option<usize>)| NodePlace::of(node, table.map(|table| sizes[table]));
            nodes.iter().zip(strings.tables_of_nodes()).map(of_node).collect()
        };
        // What compares texts takes as long as all the rest.
        let (compared_texts, rest) = rayon::join(
            || config.needs_context().then(|| ComparedTexts::new(config, nodes, &strings, &vectors)),
            || {
                (
                    (wanted(config.places, places), wanted(config.tables, || tables(nodes, &strings, &vectors))),
                    (wanted(config.similar_words, of_words), config.sections.then(|| Sections::new(nodes))),
                    (config.naming.then(|| Naming::new(nodes)), config.bm25.then(|| Indices::new(&strings))),
                    node_vectors.chunks_exact(d_enc.max(1)).map(|vector| inverse(dot(vector, vector))).collect(),
                    Distinct::new(&strings),
                )
            },
        );
        let ((places, tables), (words, sections), (naming, bm25), scales, distinct) = rest;
        let compared_texts = compared_texts.unwrap_or_default();
        let ComparedTexts { index, sentences, cells, table_inputs, spans, duplicates } = compared_texts;
        Self {
            config,
            layout: Layout::new(config),
            places,
            tables,
            sentences,
            cells,
            table_inputs,
            context_index: index,
            spans,
            sections,
            naming,
            bm25,
            words,
            scales,
            duplicates,
            distinct,
            compared,
            strings,
        }
    }

    /// What each table has in common with the document's sentences, `[tables, TableScorer::INPUTS]`; empty
    /// where it is not wanted.
    pub fn table_inputs(&self) -> &[f32] {
        &self.table_inputs
    }

    /// The table of each node, from 0 by first node; none of passages.
    pub fn tables(&self) -> &[Option<u32>] {
        &self.strings.table
    }

    /// Features of a node.
    pub fn count(&self) -> usize {
        self.layout.count
    }

    /// The features `[nodes, count]` for a question, of the document whose node vectors are
    /// `node_vectors` `[nodes, d_enc]`; those `of` some nodes where wanted, else of all. `tables` are the scores of its
    /// tables ([`crate::TableScorer::scores`]), empty where they are not wanted.
    pub fn rows(
        &self,
        query: &Query,
        vectors: &QueryVectors<'_>,
        node_vectors: &[f32],
        tables: &[TableScore],
        of: Option<&[u32]>,
    ) -> Vec<f32> {
        let FeaturesConfig { cosine, context, segments, sections, .. } = self.config;
        let products = wanted(cosine || context || segments || sections, || products(node_vectors, &vectors.all()));
        let features = self.features(self.read(query), vectors, &products, tables);
        match of {
            Some(nodes) => some_rows(&features, self.count(), nodes),
            None => all_rows(&features, self.count()),
        }
    }

    /// Compares the document's texts with a question: all that no vector of the ranker's encoder is needed for, so that it
    /// can be done while those are computed.
    pub fn read(&self, query: &Query) -> Reading {
        let Self { config, strings, .. } = self;
        let question = query.question();
        let compared = || {
            let vectors = query.word_vectors();
            let words =
                wanted(config.similar_words, || normalised(vectors, vectors.len() / question.words().len().max(1)));
            WordMatches::new(question, strings, &self.words, &words).compare(strings)
        };
        let bm25 = || self.bm25.as_ref().map(|indices| Bm25::new(indices, question, strings));
        let near = || {
            let context_index =
                self.context_index.as_ref().filter(|_| config.phrases || config.context || config.sections)?;
            Some(Near::new(context_index, strings, question, config.context))
        };
        let of_segments = || match &self.context_index {
            Some(ContextIndex { phrases, .. }) if config.segments => {
                query.segments().par_iter().map(|segment| Segment::new(segment, phrases)).collect()
            }
            _ => Vec::new(),
        };
        let of_naming = || match &self.naming {
            Some(naming) => naming.of_question(question, strings.nodes.len()),
            None => Vec::new(),
        };
        let ((compared, bm25), (near, (segments, naming))) =
            rayon::join(|| rayon::join(compared, bm25), || rayon::join(near, || rayon::join(of_segments, of_naming)));
        let spans = self.spans.as_ref().map(|spans| spans.of_question(question));
        Reading { compared, bm25, near, segments, spans, naming, kind: kind(question) }
    }

    /// The features for a question that was read, computed row by row. `products` are the nodes' dot products
    /// ([`crate::vectors::products`]) with [`QueryVectors::all`], `[nodes, all]`; `tables` as in [`DocumentFeatures::rows`].
    pub fn features<'a>(
        &'a self,
        reading: Reading,
        vectors: &QueryVectors<'_>,
        products: &[f32],
        tables: &'a [TableScore],
    ) -> NodeFeatures<'a> {
        let Self { config, strings, .. } = self;
        let Reading { mut compared, bm25, mut near, segments: read_segments, spans, naming, kind } = reading;
        let width = products.len() / strings.nodes.len().max(1);
        let scale = inverse(dot(vectors.q, vectors.q));
        let mut cosines = wanted(config.cosine || config.context || config.sections, || {
            let of_question = products.iter().step_by(width.max(1));
            of_question.zip(&self.scales).map(|(product, own)| product * scale * own).collect()
        });
        let mut context = near.as_mut().map(|near| std::mem::take(&mut near.context)).unwrap_or_default();
        if let (false, Some(context_index)) = (context.is_empty(), &self.context_index) {
            context::add_vectors(&context_index.view(strings), &cosines, &mut context);
        }
        let sections = match (&self.sections, &self.context_index, &near) {
            (Some(sections), Some(index), Some(near)) => near.sections(index, sections, &cosines),
            _ => Vec::new(),
        };
        if config.cosine {
            compared.par_iter_mut().enumerate().with_min_len(256).for_each(|(string, comparison)| {
                if let Some(vector) = self.compared.get(string) {
                    comparison[Column::Cosine as usize] = dot(vector, vectors.q) * scale;
                }
            });
        } else {
            cosines = Vec::new();
        }
        let of_segments = match &self.context_index {
            Some(ContextIndex { phrases, .. }) if config.segments => {
                let scales: Vec<f32> =
                    vectors.segments.chunks_exact(vectors.q.len().max(1)).map(|s| inverse(dot(s, s))).collect();
                // The last products are those with the segments.
                let first = width.saturating_sub(scales.len());
                segments(phrases, &read_segments[..read_segments.len().min(scales.len())], |node, segment| {
                    products[node * width + first + segment] * scales[segment] * self.scales[node]
                })
            }
            _ => Vec::new(),
        };
        NodeFeatures {
            document: self,
            tables,
            best: config.relative.then(|| Best::of(&self.distinct, &compared, &cosines)),
            compared,
            cosines,
            bm25,
            near,
            context,
            segments: of_segments,
            spans,
            sections,
            naming,
            kind,
            columns: Column::wanted(*config, false).map(|column| column as usize).collect(),
            relative: Column::wanted(*config, true).map(|column| column as usize).collect(),
        }
    }

    /// What nodes, best first, hold of the question and its segments beside those before them, one of each of `order`;
    /// zeros where the document has no phrases, which it comes from.
    pub fn coverage(&self, query: &Query, order: &[u32]) -> Vec<Coverage> {
        match &self.context_index {
            Some(ContextIndex { phrases, .. }) => coverage::coverage(phrases, &self.strings.table, query, order),
            None => vec![Coverage::default(); order.len()],
        }
    }

    /// Which passages its rows name; nothing where that is not wanted.
    pub fn naming(&self) -> Option<&Naming> {
        self.naming.as_ref()
    }

    /// For each node the number of its text, and one of its kind and its headers' paths, 0 without any: nodes with the
    /// same number are duplicates. Empty where the document has no phrases.
    pub fn duplicates(&self) -> [&[u32]; 2] {
        self.duplicates.each_ref().map(Vec::as_slice)
    }
}

fn wanted<T>(wanted: bool, values: impl FnOnce() -> Vec<T>) -> Vec<T> {
    if wanted { values() } else { Vec::new() }
}

#[cfg(test)]
mod tests;
