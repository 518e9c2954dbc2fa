//! Rankings: the best nodes for a question, where each stands, and where its score comes from.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tabsegnet_datasets::prepared::PreparedQuestion;
use tabsegnet_document::Locations;
use tabsegnet_graph::{Node, NodeKind, section_path};
use tabsegnet_ranker::batch::best_segments;
use tabsegnet_ranker::best;

use crate::Embedded;
use crate::duplicates::{Distinct, Duplicate};

/// A node at its place in a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedNode {
    /// From 1.
    pub rank: usize,
    /// The node's id.
    pub id: String,
    /// What the node is.
    pub kind: NodeKind,
    /// The text as the document has it.
    pub text: String,
    /// The headings that it stands under, outermost first; empty where there is none.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub section: Arc<[String]>,
    /// Row-header path of a cell, `outer > inner`; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_headers: Option<String>,
    /// Column-header path of a cell, `outer > inner`; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column_headers: Option<String>,
    /// Of a cell or header, its table's caption and the corner of its headers, of which one often says the unit and the period;
    /// absent where the table has neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<Arc<str>>,
    /// Where it stands.
    pub position: Position,
    /// Where that is in the file, such as `'Q3 results'!E4`, `line 7` or `page 3`; absent where the file does not tell, as
    /// HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Other cells that show the same fact and would rank behind this one; empty unless each fact is listed once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<Duplicate>,
    /// The segment of the question that is nearest to the node; absent without segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<String>,
    /// Higher is more relevant; comparable within one question.
    pub score: f32,
    /// Where the score comes from; absent unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<NodeExplanation>,
}

impl RankedNode {
    /// The paths of its row headers and of its column headers, where it has them.
    pub fn headers(&self) -> impl Iterator<Item = &str> + Clone {
        [&self.row_headers, &self.column_headers].into_iter().flatten().map(String::as_str)
    }
}

/// Where a node's score comes from. Exact: an effect is the score less that without the edge, the
/// feature or the segment. Effects need not add up to the score. With a reranker they are those on the
/// score before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeExplanation {
    /// Where the score after the reranker comes from; absent where the ranker has none or passes the
    /// node over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranker: Option<RerankerExplanation>,
    /// The score if no edge led to the node.
    pub alone: f32,
    /// Edges into the node that it hears, the greatest effect by amount first.
    pub edges: Vec<NodeEdge>,
    /// Features of the node, the greatest effect by amount first; those without any are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<NodeFeature>,
    /// Segments of the question, in its order; empty for a model without segments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<SegmentEffect>,
}

/// Where the score of a node after the reranker comes from. Exact: the effects and `alone` add up to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RerankerExplanation {
    /// The score before.
    pub first_score: f32,
    /// What the trees say of a node of which they know nothing.
    pub alone: f32,
    /// What the trees looked at, the greatest effect by amount first; what they did not is left out. Names
    /// with `ranked.` are places among the scores before.
    pub features: Vec<NodeFeature>,
}

/// A feature of a node for a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeFeature {
    /// Its name, as `row.words`: what is compared with the question, and how.
    pub feature: String,
    /// Its value.
    pub value: f32,
    /// The score less that with the feature at its mean over the training part; in a reranker, what the
    /// feature adds.
    pub effect: f32,
}

/// What a segment of the question does to a node's score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentEffect {
    /// The segment.
    pub segment: String,
    /// The score less that without the segment; without the only one the question is its own.
    pub effect: f32,
}

/// An edge into a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeEdge {
    /// The node that it comes from.
    pub node: String,
    /// Its type.
    pub edge_type: String,
    /// s(e | q).
    pub strength: f32,
    /// The score less that without this edge.
    pub effect: f32,
}

/// How strongly a question makes a type of edge speak.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TypeStrength {
    /// The type.
    pub edge_type: String,
    /// s(e | q) (5).
    pub strength: f32,
}

/// Where a node stands in its document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Position {
    /// The n-th heading, from 0.
    Heading {
        /// From 0.
        heading: usize,
    },
    /// The n-th passage, from 0.
    Passage {
        /// From 0.
        passage: usize,
    },
    /// A cell or header, at its top-left place of the grid.
    Cell {
        /// The table's number.
        table: usize,
        /// From 0, header rows counted.
        row: usize,
        /// From 0, header columns counted.
        col: usize,
        /// Rows covered.
        rowspan: usize,
        /// Columns covered.
        colspan: usize,
    },
    // Behind the cell, which has a table too and would be read as one.
    /// A table's caption.
    Table {
        /// The table's number.
        table: usize,
    },
}

/// The ranked nodes of one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The question's id; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question_id: String,
    /// The question.
    pub question: String,
    /// The question as it is read; absent where no glossary changes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<String>,
    /// The document's id.
    pub document: String,
    /// Nodes of the document.
    pub nodes_in_document: usize,
    /// What was cut off, left out or guessed when the document was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The segments of the question that the ranking used.
    pub segments: Vec<String>,
    /// How strongly the question made each type of edge speak; empty unless explanations are wanted
    /// for. One for all types in a model that does not tell them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edge_strengths: Vec<TypeStrength>,
    /// The best nodes, best first; equal scores in document order.
    pub nodes: Vec<RankedNode>,
}

/// The `top_k` best nodes of a question by their scores.
pub fn ranking(embedded: &Embedded, question: usize, scores: &[f32], top_k: usize) -> Ranking {
    let document = embedded.document_of(question);
    let PreparedQuestion { id, text, .. } = &embedded.questions[question];
    let (vectors, d_enc) = (embedded.nodes_of(question), embedded.d_enc());
    let subject =
        Subject { id: &document.id, nodes: document.nodes(), locations: &Locations::default(), vectors, d_enc };
    let segments = &embedded.segments[question];
    let read_as = embedded.read_as[question].clone();
    let order: Vec<Distinct> = best(scores, top_k).into_iter().map(Distinct::alone).collect();
    let ranking = ranked(&subject, id, text, segments, embedded.segment_vectors(question), scores, &order);
    Ranking { read_as, ..ranking }
}

/// Best nodes among which [`likely`] shares the likelihood out.
const SHARED: usize = 20;

/// How many of the best nodes are likely to be needed: as many as hold `share` (0 to 1) of the likelihood together, at
/// least one where there is a node. The likelihood of a node is its part of the softmax over the best twenty of
/// `scores` `[nodes]`, which is what a reranker's trees are trained to give; a score far above the others leaves one,
/// scores that are equal take all up to the share.
pub fn likely(scores: &[f32], share: f32) -> usize {
    let order = best(scores, SHARED);
    let Some(&first) = order.first() else { return 0 };
    let weights: Vec<f64> = order.iter().map(|&node| f64::from(scores[node] - scores[first]).exp()).collect();
    let wanted = f64::from(share) * weights.iter().sum::<f64>();
    let mut held = 0.0;
    let before = weights.iter().take_while(|&&weight| {
        let short = held < wanted;
        held += weight;
        short
    });
    before.count().max(1)
}

/// Ranked nodes that a thread takes at least.
const NODES_AT_ONCE: usize = 512;

/// What is ranked: a document's name, nodes and vectors `[nodes, d_enc]`.
pub(crate) struct Subject<'a> {
    pub(crate) id: &'a str,
    pub(crate) nodes: &'a [Node],
    pub(crate) locations: &'a Locations,
    pub(crate) vectors: &'a [f32],
    pub(crate) d_enc: usize,
}

/// What stands over the tables, by their numbers: captions that are texts of their own, and corners.
fn captions(nodes: &[Node]) -> HashMap<usize, Arc<str>> {
    let mut captions: HashMap<usize, String> = HashMap::new();
    for node in nodes {
        let Some(place) = &node.place else { continue };
        let says = match node.kind {
            // One that is made of headers or cells says what these say.
            NodeKind::Caption => !node.text.contains(" | "),
            NodeKind::ColumnHeader => place.col == 0,
            _ => false,
        };
        if says && !node.text.trim().is_empty() {
            let caption = captions.entry(place.table).or_default();
            if !caption.contains(node.text.trim()) {
                let gap = if caption.is_empty() { "" } else { "; " };
                *caption += gap;
                *caption += node.text.trim();
            }
        }
    }
    captions.into_iter().map(|(table, caption)| (table, caption.into())).collect()
}

/// The headings that nodes stand under, by the innermost of them.
fn sections<'n>(nodes: &[Node], ranked: impl Iterator<Item = &'n Node>) -> HashMap<u32, Arc<[String]>> {
    let mut sections: HashMap<u32, Arc<[String]>> = HashMap::new();
    for node in ranked {
        if let Some(heading) = node.section {
            sections.entry(heading).or_insert_with(|| section_path(nodes, node).into());
        }
    }
    sections
}

fn is_empty(section: &[String]) -> bool {
    section.is_empty()
}

/// Some nodes with their `scores` `[nodes]`, each with the nearest of the segments.
pub(crate) fn ranked(
    subject: &Subject<'_>,
    question_id: &str,
    question: &str,
    segments: &[String],
    segment_vectors: &[f32],
    scores: &[f32],
    order: &[Distinct],
) -> Ranking {
    let captions = captions(subject.nodes);
    let sections = sections(subject.nodes, order.iter().map(|distinct| &subject.nodes[distinct.node]));
    // Answers want all nodes of a document, which may be ten thousand.
    let order = order.par_iter().with_min_len(NODES_AT_ONCE).enumerate();
    let nodes = order.map(|(rank, &Distinct { node: index, ref duplicates })| {
        let node = &subject.nodes[index];
        let path = |path: &str| (node.kind == NodeKind::Cell && !path.is_empty()).then(|| path.to_owned());
        let u = &subject.vectors[index * subject.d_enc..(index + 1) * subject.d_enc];
        RankedNode {
            rank: rank + 1,
            id: node.id.clone(),
            kind: node.kind,
            text: node.text.clone(),
            section: node.section.and_then(|heading| sections.get(&heading).cloned()).unwrap_or_default(),
            row_headers: node.place.as_ref().and_then(|place| path(&place.row_path)),
            column_headers: node.place.as_ref().and_then(|place| path(&place.column_path)),
            caption: node
                .place
                .as_ref()
                .filter(|_| node.kind != NodeKind::Caption)
                .and_then(|place| captions.get(&place.table).cloned()),
            location: location_of(subject.locations, &node.into()),
            position: node.into(),
            duplicates: duplicates.iter().map(|&other| Duplicate::of(subject, &subject.nodes[other])).collect(),
            segment: best_segments(u, segment_vectors, subject.d_enc)
                .first()
                .map(|&best| segments[best as usize].clone()),
            score: scores[index],
            explanation: None,
        }
    });
    Ranking {
        question_id: question_id.to_owned(),
        question: question.to_owned(),
        read_as: None,
        document: subject.id.to_owned(),
        nodes_in_document: subject.nodes.len(),
        warnings: Vec::new(),
        segments: segments.to_vec(),
        edge_strengths: Vec::new(),
        nodes: nodes.collect(),
    }
}

/// Where a node stands in the file that its document was read from, as far as that is known.
pub fn location_of(locations: &Locations, position: &Position) -> Option<String> {
    let location = match *position {
        Position::Heading { heading } => locations.heading(heading),
        Position::Passage { passage } => locations.passage(passage),
        Position::Cell { table, row, col, .. } => locations.cell(table, row, col),
        Position::Table { table } => locations.table(table),
    };
    location.map(|location| location.to_string())
}

impl From<&Node> for Position {
    fn from(node: &Node) -> Self {
        match (&node.place, node.kind) {
            (Some(place), NodeKind::Caption) => Self::Table { table: place.table },
            (Some(place), _) => Self::Cell {
                table: place.table,
                row: place.row,
                col: place.col,
                rowspan: place.rowspan,
                colspan: place.colspan,
            },
            // The id is a letter and the number of the heading or passage.
            (None, kind) => {
                let number = node.id.get(1..).and_then(|number| number.parse().ok()).unwrap_or_default();
                match kind {
                    NodeKind::Heading => Self::Heading { heading: number },
                    _ => Self::Passage { passage: number },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_nodes_are_likely_as_the_scores_say() {
        assert_eq!(likely(&[], 0.9), 0);
        assert_eq!(likely(&[-3.0], 0.9), 1);
        // One far above the others, two of them, all alike.
        assert_eq!(likely(&[0.0, 9.0, 1.0, 0.5], 0.9), 1);
        assert_eq!(likely(&[0.0, 9.0, 1.0, 8.5], 0.9), 2);
        assert_eq!(likely(&[2.0; 10], 0.75), 8);
        assert_eq!((likely(&[2.0; 10], 0.0), likely(&[2.0; 10], 1.0)), (1, 10));
        // The many far below, which no reranker looked at, take nothing from the best.
        let mut scores = vec![-6.0; 20_000];
        scores[777] = 0.0;
        assert_eq!(likely(&scores, 0.7), 1);
        // However large scores are.
        assert_eq!(likely(&[1e30, -1e30, 1e30], 0.9), 2);
    }
}
