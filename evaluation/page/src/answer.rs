//! What is to be shown of a question, in plain types.

/// A question and how the document's nodes were ranked for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The question.
    pub question: String,
    /// Its segments; empty where the ranking used none.
    pub segments: Vec<String>,
    /// How strongly the question lets each type of edge speak; may be empty.
    pub strengths: Vec<EdgeStrength>,
    /// The top nodes, best first: tens of them, each stands in the page's list.
    pub nodes: Vec<RankedNode>,
    /// Node id and score of all nodes, equal scores in document order; what nodes are shaded by.
    /// May be empty: then only the top nodes are marked.
    pub scores: Vec<(String, f32)>,
    /// What is said to the question, where something is: `nodes` are then those that it rests on.
    pub reply: Option<Reply>,
}

/// What is said to a question, and how it was come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The answer with its unit and scale; empty where nothing is said.
    pub text: String,
    /// What stands below it, such as an answer that did not hold; may be empty.
    pub note: String,
    /// How likely it is right, from 0 to 1; of what was refused where nothing is said.
    pub confidence: f32,
    /// What else is known, such as ("answered by", "learnt").
    pub facts: Vec<(String, String)>,
    /// The program, step by step: what is done, and what it gives.
    pub program: Vec<(String, String)>,
    /// What was looked at, and whether it holds.
    pub checks: Vec<(String, bool)>,
    /// The way over the document's nodes, step by step; may be empty.
    pub path: Vec<PathStep>,
}

/// A step of a way over the document's nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PathStep {
    /// Such as `Round 1`.
    pub title: String,
    /// What was thought; may be empty.
    pub thought: String,
    /// What was done, in order.
    pub moves: Vec<Move>,
}

/// One move: nodes that are looked at from others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Move {
    /// What was done, in short.
    pub action: String,
    /// What was seen; may be empty.
    pub seen: String,
    /// Ids of the nodes that it began at.
    pub from: Vec<String>,
    /// Ids of the nodes that it came to or saw.
    pub to: Vec<String>,
}

/// The strength of a type of edge, s(e | q).
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeStrength {
    /// The type's name, such as `row_header_to_cell`.
    pub edge_type: String,
    /// The strength.
    pub strength: f32,
}

/// A node among the top.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedNode {
    /// The node's id, as [`tabsegnet_document::node_id`] gives it.
    pub id: String,
    /// Its rank, from 1.
    pub rank: usize,
    /// Its score.
    pub score: f32,
    /// Index of the segment nearest to it, into [`Answer::segments`].
    pub segment: Option<usize>,
    /// Ids of other nodes that show the same fact and are not among the top for this one.
    pub duplicates: Vec<String>,
    /// Where its score comes from, if that was worked out.
    pub explanation: Option<Explanation>,
}

/// Where a node's score comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The score before the reranker, which neighbours speak to; none where there was no reranker.
    pub before: Option<f32>,
    /// The score that the node would have if no neighbour spoke.
    pub alone: f32,
    /// The edges that lead to the node, in any order; the page shows those of the greatest effect.
    /// Effects need not add up: where the strongest neighbour counts alone, most are 0.
    pub edges: Vec<InEdge>,
}

/// An edge that leads to a node.
#[derive(Debug, Clone, PartialEq)]
pub struct InEdge {
    /// Id of the node it comes from.
    pub node: String,
    /// Name of its type.
    pub edge_type: String,
    /// Its strength, s(e | q).
    pub strength: f32,
    /// The node's score minus its score without this edge.
    pub effect: f32,
}

/// An answer does not fit the document.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum PageError {
    /// A node that is not there.
    #[error(
        "question {question:?}: {place} names the node {node:?}, which document {document:?} has not; \
         give the document that was ranked"
    )]
    UnknownNode {
        /// The question.
        question: String,
        /// `nodes`, `scores`, `path`, or `the explanation of` a node.
        place: String,
        /// The node's id.
        node: String,
        /// The document's id.
        document: String,
    },
    /// A segment that is not there.
    #[error("question {question:?}: node {node} is put to segment {segment}, of {segments} (from 0)")]
    UnknownSegment {
        /// The question.
        question: String,
        /// The node's id.
        node: String,
        /// The segment, from 0.
        segment: usize,
        /// How many segments the question has.
        segments: usize,
    },
    /// A node that stands among the top twice.
    #[error("question {question:?}: node {node} is ranked twice; expected each node once")]
    RankedTwice {
        /// The question.
        question: String,
        /// The node's id.
        node: String,
    },
    /// A number that is none.
    #[error("question {question:?}: {what} is {value}; expected a finite number")]
    NotFinite {
        /// The question.
        question: String,
        /// What it is, in words.
        what: String,
        /// The number.
        value: f32,
    },
}
