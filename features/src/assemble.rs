//! The features of all nodes for a question.

mod best;
mod near;

use rayon::prelude::*;
use tabsegnet_data::graph::Node;
use tabsegnet_data::lexical::LexicalIndex;

use best::{Best, Bm25};
use near::Near;

use crate::compare::{Asked, Column, Comparison};
use crate::config::{FeaturesConfig, PARTS};
use crate::marks::{Numbers, Order};
use crate::phrases::Phrases;
use crate::question::{AskedQuestion, Question};
use crate::strings::Strings;
use crate::tables::dot;
use crate::{asked, belonging, context, coverage, head, marks, places, segments, tables};

/// BM25 is told by tens.
const BM25_UNIT: f32 = 10.0;

/// What of a document's features no question changes.
#[derive(Debug, Clone)]
pub struct DocumentFeatures {
    config: FeaturesConfig,
    count: usize,
    strings: Strings,
    /// `[nodes, places]`
    places: Vec<f32>,
    /// `[nodes, tables]`
    tables: Vec<f32>,
    /// `[nodes, sentences]` and `[nodes, cells]`
    marks: [Vec<f32>; 2],
    /// `[tables, belonging]`
    belonging: Vec<f32>,
    around: Option<Around>,
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
    alike: [Vec<u32>; 2],
}

impl DocumentFeatures {
    /// `[vectors][nodes]`: the cosines of vectors `[d_enc]` each and those of the nodes `[nodes, d_enc]`.
    /// A node's vector meets all of them while it is near: to bring it from memory takes longer than a product.
    fn cosines(&self, vectors: &[&[f32]], node_vectors: &[f32]) -> Vec<Vec<f32>> {
        if vectors.is_empty() {
            return Vec::new();
        }
        let scales: Vec<f32> = vectors.iter().map(|vector| inverse(dot(vector, vector))).collect();
        let mut by_node = vec![0.0; self.scales.len() * vectors.len()];
        by_node
            .par_chunks_exact_mut(vectors.len())
            .zip(node_vectors.par_chunks_exact(self.d_enc.max(1)).zip(&self.scales))
            .with_min_len(256)
            .for_each(|(out, (u, own))| {
                for ((out, vector), scale) in out.iter_mut().zip(vectors).zip(&scales) {
                    *out = dot(u, vector) * scale * own;
                }
            });
        let of = |at: usize| by_node.iter().skip(at).step_by(vectors.len()).copied().collect();
        (0..vectors.len()).map(of).collect()
    }
}

/// What phrases and context are made of.
#[derive(Debug, Clone)]
struct Around {
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
        let around =
            (config.phrases || config.context || config.marks || config.belonging || config.segments).then(|| {
                let order = Order::new(nodes, &strings);
                Around {
                    phrases: Phrases::new(nodes, &strings),
                    lines: context::Lines::new(nodes, &strings, &order),
                    order,
                }
            });
        let numbers = (config.marks || config.belonging).then(|| Numbers::new(nodes, &strings));
        let (mut marks, mut belonging) = ([Vec::new(), Vec::new()], Vec::new());
        if let (Some(Around { phrases, order, .. }), Some(numbers)) = (&around, &numbers) {
            if config.marks {
                marks = [
                    marks::sentences(nodes, &strings, order, numbers, phrases),
                    marks::cells(nodes, &strings, order, phrases),
                ];
            }
            if config.belonging {
                belonging = belonging::belonging(&belonging::Sight {
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
        let alike = match &around {
            Some(Around { phrases, .. }) => {
                [strings.nodes.iter().map(|node| node.bare).collect(), phrases.paths(nodes)]
            }
            None => [Vec::new(), Vec::new()],
        };
        Self {
            config,
            alike,
            marks,
            belonging,
            around,
            count: config.count(),
            places: if config.places { places::places(nodes, &strings) } else { Vec::new() },
            tables: fits,
            indices,
            words,
            scales: node_vectors.chunks_exact(d_enc.max(1)).map(|vector| inverse(dot(vector, vector))).collect(),
            rows,
            vectors,
            d_enc,
            strings,
        }
    }

    /// What each table has in common with the document's sentences, `[tables, TableHead::FEATURES]`; empty
    /// where it is not wanted.
    pub fn belonging(&self) -> &[f32] {
        &self.belonging
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
    /// ([`crate::TableHead::scores`]), empty where they are not wanted.
    pub fn ask(&self, asked: &AskedQuestion<'_>, node_vectors: &[f32], tables: &[f32]) -> Vec<f32> {
        let mut values = Vec::new();
        self.ask_into(asked, node_vectors, tables, &mut values);
        values
    }

    /// [`DocumentFeatures::ask`] into a vector that was used before: to bring megabytes of new memory for every
    /// question takes a good part of its time.
    pub fn ask_into(&self, asked: &AskedQuestion<'_>, node_vectors: &[f32], tables: &[f32], values: &mut Vec<f32>) {
        let AskedQuestion { question, q, words: word_vectors, segments: asked_segments, segment_vectors } = *asked;
        let Self { config, strings, .. } = self;
        let asked_words = match config.similar_words {
            true => normalised(word_vectors, word_vectors.len() / question.words().len().max(1)),
            false => Vec::new(),
        };
        let asked = Asked::new(question, strings, &self.words, &asked_words);
        let mut compared = asked.compare(strings);
        let scale = inverse(dot(q, q));
        let cosine = Column::Cosine as usize;
        if config.cosine {
            compared.par_iter_mut().zip(&self.rows).with_min_len(256).for_each(|(comparison, row)| {
                if let Some(row) = row {
                    let row = *row as usize;
                    comparison[cosine] = dot(&self.vectors[row * self.d_enc..(row + 1) * self.d_enc], q) * scale;
                }
            });
        }
        let nodes = strings.nodes.len();
        // Of the question first, then of its segments.
        let (wants_question, wants_segments) =
            (config.cosine || config.context, config.segments && self.around.is_some());
        let compared_vectors: Vec<&[f32]> = wants_question
            .then_some(q)
            .into_iter()
            .chain(segment_vectors.chunks_exact(self.d_enc.max(1)).filter(|_| wants_segments))
            .collect();
        let mut of_segments = self.cosines(&compared_vectors, node_vectors);
        let cosines = match wants_question {
            true => of_segments.remove(0),
            false => Vec::new(),
        };
        let part = |node: usize, part: usize| -> Comparison {
            let mut comparison = compared[strings.nodes[node].parts[part] as usize];
            if part == 0 && config.cosine {
                comparison[cosine] = cosines[node];
            }
            comparison
        };
        let parts: Vec<[Comparison; PARTS.len()]> =
            (0..nodes).into_par_iter().with_min_len(256).map(|node| [0, 1, 2, 3].map(|p| part(node, p))).collect();
        let columns = config.columns();
        let relative: Vec<usize> =
            columns.iter().filter(|column| column.is_relative()).map(|column| *column as usize).collect();
        let best = config.relative.then(|| Best::of(&parts, strings));
        let bm25 = self.indices.as_ref().map(|indices| Bm25::of(indices, question, strings));

        let around = self.around.as_ref().filter(|_| config.phrases || config.context);
        let near = around.map(|around| Near::of(around, strings, question, &cosines, *config));
        let kinds = asked::kinds(question);
        let of_segments = match &self.around {
            Some(around) if config.segments => segments::segments(&around.phrases, asked_segments, &of_segments),
            _ => Vec::new(),
        };

        values.resize(nodes * self.count, 0.0);
        values.par_chunks_mut(self.count.max(1)).with_min_len(256).enumerate().for_each(|(node, out)| {
            out.fill(0.0); // what was in it before
            let mut out = Out { values: out, at: 0 };
            for part in &parts[node] {
                columns.iter().for_each(|column| out.push(part[*column as usize]));
            }
            if let Some(best) = &best {
                for (part, best) in parts[node].iter().zip(&best.of_document) {
                    relative.iter().for_each(|&column| out.push(part[column] - best[column]));
                }
                let table = strings.table[node].map(|table| &best.of_table[table as usize]);
                for part in [1, 2] {
                    for &column in &relative {
                        out.push(table.map_or(0.0, |table| parts[node][part][column] - table[part - 1][column]));
                    }
                }
                for &column in &relative {
                    out.push(table.map_or(0.0, |table| table[0][column] - best.of_document[1][column]));
                }
            }
            if let Some(bm25) = &bm25 {
                bm25.of_node(node, strings).into_iter().for_each(|value| out.push(value));
            }
            let fixed = |out: &mut Out<'_>, values: &[f32]| {
                let width = values.len() / nodes;
                out.take(width).copy_from_slice(&values[node * width..(node + 1) * width]);
            };
            fixed(&mut out, &self.places);
            fixed(&mut out, &self.tables);
            if let (Some(near), Some(around)) = (&near, &self.around) {
                near.write(around, strings, node, *config, &mut out);
            }
            self.marks.iter().for_each(|marks| fixed(&mut out, marks));
            if config.asked {
                out.take(kinds.len()).copy_from_slice(&kinds);
            }
            if config.belonging {
                let out = out.take(head::NAMES.len());
                let table = strings.table[node].map(|table| table as usize * head::NAMES.len());
                if let Some(scores) = table.and_then(|first| tables.get(first..first + head::NAMES.len())) {
                    out.copy_from_slice(scores);
                }
            }
            if let Some(of_segment) = of_segments.get(node) {
                out.take(of_segment.len()).copy_from_slice(of_segment);
            }
        });
    }
}

/// A question and the document that it is asked of.
#[derive(Debug, Clone, Copy)]
pub struct AskedOf<'a> {
    /// The document.
    pub document: &'a DocumentFeatures,
    /// The question.
    pub question: &'a Question,
    /// Its segments.
    pub segments: &'a [Question],
}

impl<'a> AskedOf<'a> {
    /// What nodes, best first, hold of the question and its segments beside those before them, `[order, COVERAGE]`
    /// ([`crate::COVERAGE`]); zeros where the document has no phrases, which it is told from.
    pub fn coverage(&self, order: &[u32]) -> Vec<f32> {
        let DocumentFeatures { around, strings, .. } = self.document;
        match around {
            Some(Around { phrases, .. }) => {
                coverage::coverage(phrases, &strings.table, self.question, self.segments, order)
            }
            None => vec![0.0; order.len() * coverage::NAMES.len()],
        }
    }

    /// For each node the number of its text, and one of its kind and its headers' paths, 0 without any: nodes with the
    /// same number say the same. Empty where the document has no phrases.
    pub fn alike(&self) -> [&'a [u32]; 2] {
        self.document.alike.each_ref().map(Vec::as_slice)
    }
}

/// Fills a row from the left.
struct Out<'a> {
    values: &'a mut [f32],
    at: usize,
}

impl Out<'_> {
    fn push(&mut self, value: f32) {
        self.take(1)[0] = value;
    }

    fn take(&mut self, count: usize) -> &mut [f32] {
        self.at += count;
        &mut self.values[self.at - count..self.at]
    }
}

fn inverse(square: f32) -> f32 {
    if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 }
}

/// Rows of width `d` brought to length 1; those of length 0 stay.
fn normalised(vectors: &[f32], d: usize) -> Vec<f32> {
    let mut unit = vectors.to_vec();
    for row in unit.chunks_exact_mut(d.max(1)) {
        let scale = inverse(dot(row, row));
        row.iter_mut().for_each(|value| *value *= scale);
    }
    unit
}

#[cfg(test)]
mod tests;
