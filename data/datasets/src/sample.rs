//! A labelled document: what every data set is read into.

use crate::document::Document;

/// A document and the questions put to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The document, distractors not yet added.
    pub document: Document,
    /// Questions with gold nodes. May be empty.
    pub questions: Vec<Question>,
}

/// A question and its gold nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Unique in its data set.
    pub id: String,
    /// The question as put.
    pub text: String,
    /// Ids of the gold nodes; empty where the gold is not known.
    pub gold: Vec<String>,
    /// The parts of the question that ask for one thing each, in the question's order, where the
    /// data set says which they are; else empty.
    pub segments: Vec<Segment>,
}

/// What a question asks for in one place: the phrase that names it, whole in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The phrase, such as `net income in fiscal 2024`.
    pub text: String,
    /// Ids of the nodes that tell it, all of them gold of the question.
    pub nodes: Vec<String>,
}

/// What questions are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// Gold nodes are needed: a question without what they are made from is an error, and one that
    /// has none is left out.
    Required,
    /// Gold nodes are taken where the file has them; every question stays.
    Optional,
}

/// A question that no measure can be taken of, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The question's id.
    pub question: String,
    /// Why it is left out; the same words for the same reason, so that they can be counted.
    pub reason: &'static str,
}

/// What a file of a data set holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// Documents in the order in which they first occur.
    pub samples: Vec<Sample>,
    /// Questions left out.
    pub left_out: Vec<LeftOut>,
}
